"""Count the functions and modules of ridedash/ that nine common walks enter.

Use: `python -m bench.walks [--names]`.

A function counts once however often it is called, and its module with it. Methods, properties and
lambdas count. Comprehensions, generator expressions and the methods that a dataclass generates
don't: newer releases of Python run most comprehensions inside the function that holds them. Each
walk is run twice in a process and counted the second time, so that work done once per process
(compiling a statement, loading a template) is left out.

An eventful poll is the first answer that names a driver; a plain poll is the next one, with the cab
elsewhere. The form with its cars is its page with the prices of a trip; the press of Book on the
desk is answered with an empty form. The kiosk's end is the report with which the visit of a guest
who booked nothing ends. The polls of a ride's page and of the board are counted with
the poll layer off, where every answer is made anew, and with it on, after a change of the ride.
"""

import argparse
import contextlib
import html
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import update

import ridedash
from bench import frame
from ridedash.places import SandboxPlaces
from ridedash.rides.orders.place import place
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.store.kiosks import begin
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.orders import Order
from ridedash.views.poll_cache.cache import EXTENSION
from ridedash.views.web.devices import cookie_name
from tests.rides.desk_world import World
from tests.views.fake_service import FakeService
from tests.views.ride_pages import Desk, make_desk

PACKAGE: Final = Path(ridedash.__file__).parent
CAB: Final = {
    "booking_id": "C1",
    "booking_status": "CALL_DRIVER",
    "driver_name": "Driver Cedar",
    "driver_number": "+10000000001",
    "vehicle_number": "PM 01 AB 1234",
    "driver_lat": -38.51,
    "driver_lng": -128.01,
    "price_details": {"fare": 90, "service_tax": 4.5},
}
VISIT_LENGTH: Final = 32
NOWHERE: Final = "http://127.0.0.1:9"
TRIP: Final = {
    "pickup": "Lobby",
    "pickup_lat": "-38.5",
    "pickup_lng": "-128",
    "drop": "Airport",
    "drop_lat": "-38.55",
    "drop_lng": "-128.06",
}
MOVED: Final = CAB | {"driver_lat": -38.52}


@dataclass(frozen=True)
class Walk:
    """The code that one walk entered."""

    codes: frozenset[CodeType]

    @property
    def modules(self) -> list[str]:
        """Paths of the entered modules, relative to ridedash/."""
        return sorted({str(Path(code.co_filename).relative_to(PACKAGE)) for code in self.codes})

    def functions_of(self, module: str) -> list[str]:
        """Qualified names of the entered functions of one module."""
        path = str(PACKAGE / module)
        return sorted(code.co_qualname for code in self.codes if code.co_filename == path)


def entered(walk: Callable[[], object]) -> Walk:
    """Run an action, and record the functions that it enters in this thread and in new threads."""
    codes: set[CodeType] = set()
    ours = f"{PACKAGE}/"

    def note(caller: FrameType, event: str, _argument: object) -> None:
        code = caller.f_code
        if event == "call" and code.co_filename.startswith(ours) and is_function(code):
            codes.add(code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Walk(frozenset(codes))


def is_function(code: CodeType) -> bool:
    """Whether code is a function, not a comprehension, class body or module."""
    return code.co_name == "<lambda>" or not code.co_name.startswith("<")


def order_walks() -> dict[str, Walk]:
    """From a booking request to the first polls of the service, by one worker.

    Its service answers at once.
    """
    with frame.folder() as folder:
        world = World(folder)
        try:
            with world.worker() as worker:
                return _order_walks(world, worker)
        finally:
            world.close()


def _order_walks(world: World, worker: Worker) -> dict[str, Walk]:
    found: dict[str, Walk] = {}
    request, placed = world.request(), []
    found["order placed"] = entered(lambda: placed.append(place(world.db, world.clock, request)))
    order_id = placed[0].order_id
    found["sent"] = entered(lambda: worker.sender.send(order_id))
    for name, answer in (("an eventful poll", CAB), ("a plain poll", MOVED)):
        world.service.tracks["C1"] = [answer]
        _wait_until_due(world, order_id)
        found[name] = entered(lambda: _poll(worker))
    return {
        name: found[name] for name in ("order placed", "sent", "a plain poll", "an eventful poll")
    }


def _wait_until_due(world: World, order_id: int) -> None:
    due = world.ride(order_id).next_poll_at
    assert due is not None
    world.clock.go(max(0.0, (due - world.clock()).total_seconds()))


def _poll(worker: Worker) -> None:
    """What the worker does with a ride whose poll is due, without its other jobs."""
    tracker = worker.tracker
    claims = tracker.claim(1)
    assert len(claims) == 1, "no poll is due, so none would be counted"
    tracker.record([tracker.ask(claim) for claim in claims])


def booking_walks() -> dict[str, Walk]:
    """The cars of a trip on the page of the booking form, and the press of Book beside the board.

    The service answers at once.
    """
    service = FakeService()
    with Http(service.transport()) as http, _signed_in("off") as (desk, _order_id, browser):
        desk.services.client = RideClient(http, NOWHERE, "the key")
        desk.services.geocoder = SandboxPlaces(http, NOWHERE)
        found, pages = {}, []
        for number in range(2):  # what is done once for each property is not counted
            found["the form with its cars"] = entered(
                lambda: pages.append(browser.get("/rides/new", query_string=TRIP | {"show": "1"}))
            )
            form = _filled(pages[-1].text) | {"guest_name": "Guest Heron"}
            form["guest_phone"] = f"+91 98450 0000{number}"
            found["a press of Book on the desk"] = entered(lambda form=form: _press(browser, form))
        return found


def _filled(page: str) -> dict[str, str]:
    """What a browser would send of the form on this page."""
    tags = re.findall(r"<input[^>]*>", page[page.index('id="book"') :])
    inputs = [dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) for tag in tags if _is_sent(tag)]
    return {each["name"]: html.unescape(each.get("value", "")) for each in inputs}


def _is_sent(tag: str) -> bool:
    choice = re.search(r'type="(?:radio|checkbox)"', tag)
    return "name=" in tag and (choice is None or re.search(r"\schecked\b", tag) is not None)


def _press(browser: FlaskClient, form: dict[str, str]) -> None:
    answer = browser.post("/rides/new", data=form, headers={"Accept": "application/json"})
    if answer.status_code != 201:
        raise RuntimeError(f"the press was answered {answer.status_code}")


def kiosk_walks() -> dict[str, Walk]:
    """The end of a guest's visit at a kiosk."""
    with _signed_in("off") as (desk, _order_id, _browser):
        desk.app.config["WTF_CSRF_ENABLED"] = False  # the token is in the page of the kiosk
        kiosk = desk.app.test_client()
        with desk.app.app_context():
            cookie = cookie_name(KioskKind.KIOSK)
        kiosk.set_cookie(cookie, _paired(desk), secure=cookie.startswith("__Host-"))
        for number in range(2):  # the first request of a process does more
            found = entered(lambda number=number: _end(kiosk, f"{number}" * VISIT_LENGTH))
        return {"the kiosk's end": found}


def _paired(desk: Desk) -> str:
    """Pair a new kiosk of the property. Returns its token."""
    with desk.services.db.write() as s:
        now = desk.services.clock()
        kiosk = Kiosk(property_id=1, kind="kiosk", name="Lobby", rule="driver", made_at=now)
        s.add(kiosk)
        s.flush()
        return begin(kiosk, now)


def _end(kiosk: FlaskClient, visit: str) -> None:
    form = {"visit": visit, "lang": "en", "how": "left", "screen": "name", "seconds": "40"}
    answer = kiosk.post("/kiosk/end", data=form)
    if answer.status_code != 204:
        raise RuntimeError(f"the end was answered {answer.status_code}")


def page_walks(poll_layer: str) -> dict[str, Walk]:
    """A poll of a ride's page and one of the board, each after the ride has changed."""
    with _signed_in(poll_layer) as (desk, order_id, browser):
        found = {}
        for name, path in (
            ("a page's poll made anew", f"/rides/{order_id}/snapshot.json"),
            ("the board's poll", "/board.json"),
        ):
            _get(browser, path)  # not counted: a browser's first request does more
            _change(desk, order_id)
            found[name] = entered(lambda path=path: _get(browser, path))
        return found


@contextlib.contextmanager
def _signed_in(poll_layer: str) -> Iterator[tuple[Desk, int, FlaskClient]]:
    with frame.folder() as folder:
        desk = make_desk(folder, POLL_LAYER=poll_layer)
        try:
            order_id = desk.order("BOOKED", "CALL_DRIVER")
            yield desk, order_id, desk.client()
        finally:
            desk.close()


def _get(browser: FlaskClient, path: str) -> None:
    answer = browser.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")


def _change(desk: Desk, order_id: int) -> None:
    with desk.services.db.write() as s:
        s.execute(update(Order).where(Order.id == order_id).values(version=Order.version + 1))
    remembered: Any = desk.app.extensions.get(EXTENSION)
    if remembered is not None:  # let a second pass: then the cache queries the database again
        later = remembered.monotonic() + 1.0
        remembered.monotonic = lambda: later


def main() -> None:
    """Print a line for each walk; with `--names`, also the entered functions."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.walks", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--names", action="store_true", help="list the functions, module by module")
    names = parser.parse_args().names
    parts: tuple[tuple[str, Callable[[], dict[str, Walk]]], ...] = (
        ("", booking_walks),
        ("", order_walks),
        ("", kiosk_walks),
        ("", lambda: page_walks("off")),
        (", poll layer on", lambda: page_walks("on")),
    )
    for note, walks in parts:
        walks()  # without counting: work that is done once per process
        for name, walk in walks().items():
            print(f"{name + note:42}{len(walk.codes):4} functions{len(walk.modules):4} modules")
            for module in walk.modules if names else ():
                print(f"  {module}: {', '.join(walk.functions_of(module))}")


if __name__ == "__main__":
    main()
