"""An application for rendering pages: a SQLite file, a signed-in browser, a fake service."""

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any, Final

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from bench import frame
from ridedash.extensions import limiter
from ridedash.geo import LatLng
from ridedash.places import SandboxPlaces
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from tests.views.fake_service import ZONE, FakeService
from tests.views.ride_pages import Desk, make_desk, token

TRIP: Final = {
    "pickup": "Gate 1",
    "pickup_lat": "-38.5",
    "pickup_lng": "-127.995",
    "drop": "Airport",
    "drop_lat": "-38.55",
    "drop_lng": "-128.06",
}
SERVICE: Final = "http://127.0.0.1:9"
RING: Final = tuple(LatLng(*corner) for corner in ZONE["hotspot_boundary"])


@dataclass
class Pages:
    """The application and its browser."""

    desk: Desk
    browser: FlaskClient
    service: FakeService
    token: str = ""  # the CSRF token of forms

    def get(self, path: str, **query: str | list[str]) -> bytes:
        """Get a page, which must succeed. The path may have a query of its own."""
        answer = self.browser.get(path, query_string=query or None)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        return bytes(answer.data)

    def post(self, path: str, **form: str) -> TestResponse:
        """The answer to a form."""
        self.token = self.token or token(self.browser)
        answer = self.browser.post(path, data=form | {"csrf_token": self.token})
        if answer.status_code not in (200, 303):
            raise RuntimeError(f"{path} answered {answer.status_code}")
        return answer


@contextlib.contextmanager
def pages(points: int = 50, **settings: str) -> Iterator[Pages]:
    """An application with a property at a hotspot with that many pickup points."""
    with frame.folder() as folder:
        desk, service = make_desk(folder, **settings), FakeService()
        service.zone = zone(points)
        http = Http(transport=service.transport())
        desk.services.client = RideClient(http, SERVICE, "partner-key")
        desk.services.geocoder = SandboxPlaces(http, SERVICE)
        limiter.enabled = False  # a bench sends more requests than people may
        try:
            yield Pages(desk, desk.client(), service)
        finally:
            http.close()
            desk.close()


def zone(points: int) -> dict[str, Any]:
    """The hotspot with `points` named pickup points in rows."""
    listed = [
        {
            "id": 100 + n,
            "name": f"Gate {n}",
            "lat": -38.5005 - n // 10 * 0.0015,
            "lng": -127.9995 + n % 10 * 0.0009,
        }
        for n in range(points)
    ]
    return copy.deepcopy(ZONE) | {"pickup_points": listed, "default_pickup_point_id": 100}


def points_of(service: FakeService) -> list[tuple[LatLng, str]]:
    """Places and names of the pickup points."""
    assert service.zone is not None
    return [
        (LatLng(each["lat"], each["lng"]), each["name"]) for each in service.zone["pickup_points"]
    ]


def cpu_ms(times: int, work: Any) -> float:
    """Milliseconds of CPU time of this process for one action, as the mean of many."""
    began = process_time()
    for _ in range(times):
        work()
    return (process_time() - began) * 1000 / times
