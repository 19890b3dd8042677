"""The display at the door: the next cars, and the doorman's marks on guests.

A paired device of kind "door", at `/door`. Its page has no links and no controls, except the
doorman's two buttons if the display's settings allow them.
"""

import json
import zlib
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.inputs import row_id
from ridedash.rides.actions.door_marks import MARKS, mark
from ridedash.store.actors import by_kiosk
from ridedash.store.doors import cars_at_door, ended_without_ride, ticket_numbers
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.models.people import Property
from ridedash.store.orders import orders_by_ids
from ridedash.views.door.rows import LEFT_FOR, DoorList, door_list, is_light
from ridedash.views.kiosk.device import release, the_kiosk
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web import devices
from ridedash.views.web.face import face_of
from ridedash.views.web.formatting import stamp, zone
from ridedash.views.web.own_words import languages_for
from ridedash.views.web.permissions import DOOR, SHARED, needs
from ridedash.views.web.responses import PollBody, locale, poll_response, reading
from ridedash.wording.readers import negotiate
from ridedash.wording.say import speak

bp = Blueprint("door", __name__)
POLL_MS: Final = 4_000  # the interval of polls, as on the board


@bp.get("/door")
@needs(SHARED)
def show() -> str | BaseResponse:
    """Show the display, with its first rows; polls bring the next ones.

    A browser that is not a paired display is redirected to the page for pairing.
    """
    device, now = devices.device(KioskKind.DOOR), services().clock()
    if device is None:
        return redirect("/kiosk/pair", code=303)
    home = _home(device)
    speak(_language(device, home))
    return render_template(
        "door/page.html",
        face=face_of(home),
        look=_look(device, home, now),
        timezone=zone(home.timezone).key,
        mm_per_px=device.mm_per_px,
        marks=device.marks,
        poll_ms=POLL_MS,
        server_now=stamp(now),
        points=_body(device, home, now),
        **reading(),
    )


@bp.get("/door/rows.json")
@needs(DOOR)
def rows() -> BaseResponse:
    """The rows of the display now; 304 if nothing changed."""
    device, now = the_kiosk(), services().clock()
    home = _home(device)
    speak(_language(device, home))
    body = json.dumps(_body(device, home, now), ensure_ascii=False, separators=(",", ":")).encode()
    return poll_response(PollBody(body, f"door-{zlib.crc32(body):x}", ""), now)


@bp.post("/door/mark")
@needs(DOOR)
@limiter.limit("60/minute", key_func=lambda: f"door-{the_kiosk().id}")
def press() -> BaseResponse | tuple[BaseResponse, int]:
    """Store the doorman's mark on a ride: the guest is in the car, or not at the door."""
    device = the_kiosk()
    order_id = request.form.get("order", type=row_id)
    name = request.form.get("mark", "")
    if order_id is None or name not in MARKS:
        return jsonify(state="invalid"), 422
    app, who = services(), by_kiosk(device.id)
    may = device.marks
    if not may or not mark(app.db, app.clock(), who, device.property_id, order_id, name):
        return jsonify(state="gone"), 409
    return jsonify(state="ok")


def _home(device: Kiosk) -> Property:
    """The property of the display."""
    with services().db.read() as s:
        return s.get_one(Property, device.property_id)


def _language(device: Kiosk, home: Property) -> str:
    """The display's own language, or the property's: no one chooses a language at a door."""
    tags = filter(None, (device.default_language, home.language, "en"))
    return negotiate(tags, languages_for(home))


def _look(device: Kiosk, home: Property, now: datetime) -> str:
    return "light" if is_light(device, now.astimezone(zone(home.timezone))) else "dark"


def _body(device: Kiosk, home: Property, now: datetime) -> dict[str, Any]:
    """The rows, the appearance of the display, and the release of its page."""
    facts = {"release": release(), "look": _look(device, home, now)}
    return facts | _list(device, now).as_json()


def _list(device: Kiosk, now: datetime) -> DoorList:
    app = services()
    with app.db.read() as s:
        ids = cars_at_door(s, device.property_id, now - LEFT_FOR)
        ids += ended_without_ride(s, device.property_id, now)
        pages = orders_by_ids(s, device.property_id, ids, light=True)
        numbers = ticket_numbers(s, ids)
    rides = (RideFacts(page, now, app.time(), locale()) for page in pages)
    return door_list(rides, numbers, device.shows)
