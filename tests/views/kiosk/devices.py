"""Paired devices for tests of their pages."""

from flask.testing import FlaskClient

from ridedash.store import kiosks
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.models.people import Property
from tests.views.ride_pages import Desk, token

PIN = "482159"


def new_device(desk: Desk, kind: str = "kiosk", who: str = "desk") -> int:
    """Add a device that is not paired yet; returns its id."""
    with desk.services.db.write() as s:
        home = desk.ids[f"{who}.property"]
        return kiosks.new_device(s, home, KioskKind(kind), f"The {kind}", desk.now).id


def give_pickup(desk: Desk, who: str = "desk") -> None:
    """Give a property its pickup point: a kiosk without one can't book."""
    place = {"pickup_name": "Main Entrance", "pickup_lat": -38.5, "pickup_lng": -128.0}
    with desk.services.db.write() as s:
        home = s.get_one(Property, desk.ids[f"{who}.property"])
        for name, value in place.items():
            setattr(home, name, value)


def code_of(desk: Desk, kiosk_id: int) -> str:
    """A fresh pairing code of a device."""
    with desk.services.db.write() as s:
        return kiosks.make_pairing_code(s.get_one(Kiosk, kiosk_id), desk.ids["desk"], desk.now)


def pair(
    desk: Desk, kind: str = "kiosk", who: str = "desk", client: FlaskClient | None = None
) -> tuple[FlaskClient, int]:
    """A browser that was paired by a typed code, and the id of its device."""
    browser = client or desk.client(signed_in=False)
    kiosk_id = new_device(desk, kind, who)
    form = {"csrf_token": token(browser), "code": code_of(desk, kiosk_id)}
    answer = browser.post("/kiosk/pair", data=form)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/{kind}"), answer.text
    return browser, kiosk_id


def row_of(desk: Desk, kiosk_id: int) -> Kiosk:
    """A device as it is stored."""
    with desk.services.db.read() as s:
        found: Kiosk = s.get_one(Kiosk, kiosk_id)
        return found
