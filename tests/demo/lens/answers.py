"""Rides made from the service's answers, and what each page then shows under each element's name.

The answers are read, merged and judged by the program's own code; only the rows are written here,
so that one changed field costs milliseconds.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any, Final

from flask import render_template_string
from flask.testing import FlaskClient
from sqlalchemy import update

from ridedash.rides.orders.request import offered
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.rides.state.outcome import classify
from ridedash.rides.tracking.merge import RideState, merge
from ridedash.rides.tracking.record import otp_of
from ridedash.service.types.bookings import CreateAnswer, CreateBody, Done, FeedbackOptions
from ridedash.service.types.products import ProductList
from ridedash.service.types.tracking import Snapshot
from ridedash.service_time import REAL
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Guest
from ridedash.store.orders import Action, Offer, Order, Ride, order_page
from ridedash.views.board.rows import item
from ridedash.views.kiosk.ride_view import view_json
from ridedash.views.rides.facts import RideFacts
from ridedash.wire import Kind
from tests.views.fake_service import SHARE, category, metered, upfront
from tests.views.ride_pages import NOON, Desk

Bodies = dict[str, Any]  # operation -> the body of its answer; track_ride: a list, oldest first
Shown = dict[str, tuple[str, ...]]  # "surface:element" -> its texts and attributes
BOARD_ROW: Final = "{% from 'board/_row.html' import ride_row with context %}{{ ride_row(row) }}"
ATTRIBUTES: Final = ("href", "class", "data-icon", "aria-label", "hidden")
VOID: Final = frozenset({"meta", "link", "input", "img", "br", "use", "path", "image", "hr"})
NO_TEXT: Final = frozenset({"script", "template", "head", "noscript", "style"})


@dataclass(frozen=True)
class Scene:
    """A ride of a kind in a status, and the answers that made it."""

    kind: str
    status: str | None
    bodies: Bodies
    facts: dict[str, Any] = field(default_factory=dict)  # for tests.views.ride_pages.Desk.order
    state: str = "BOOKED"
    language: str | None = None  # of the guest


def driven(status: str, **more: Any) -> dict[str, Any]:
    """A snapshot of a share or point-to-point ride, as in docs/service-interface.md 5."""
    return {
        "status": "SUCCESS",
        "request_type": "TRACK_RIDE",
        "booking_id": "CRN000001",
        "booking_status": status,
        "pickup_location": {"lat": -38.5, "lng": -128.0},
        "drop_location": {"lat": -38.48, "lng": -127.97},
        "driver_name": "Cedar Driver",
        "driver_number": "+910000012345",
        "driver_image_url": "https://pictures.example/cedar.png",
        "driver_rating": 4.7,
        "vehicle_type": "mini",
        "vehicle_number": "KA01AB1234",
        "vehicle_color": "white",
        "price_details": {
            "fare": 210,
            "service_tax": 18.5,
            "discount_percentage": 10,
            "discount_value": 23.5,
            "toll_charges": 35,
        },
        "bearing": 73,
        "speed": 22,
        "share_ride_url": "https://rides.example/follow/CRN000001",
        "duration": {"value": 4, "unit": "MINUTE"},
        "distance": {"value": 1450, "unit": "METER"},
        "driver_lat": -38.505,
        "driver_lng": -128.004,
        "promotional_message": "Sharing keeps a car off the road.",
    } | more


SHARED: Final = {
    "passengers": [{"name": "Rider Wren"}, {"name": "Rider Finch"}],
    "route": [
        {"name": "Rider Wren", "state": "pickup", "lat": -38.494, "lng": -127.99},
        {"name": "Rider Wren", "state": "drop", "lat": -38.485, "lng": -127.98},
    ],
}
OTP: Final = {"otp": {"start_trip": {"text": "Start code", "value": "4821"}}}
AUTO: Final = {"status": "SUCCESS", "request_type": "TRACK_RIDE", "booking_id": "CRN000001"}
AUTO_COMES: Final = AUTO | {
    "booking_status": "CALL_DRIVER",
    "driver_name": "Cedar Driver",
    "driver_number": "+910000012345",
    "driver_image_url": "https://pictures.example/cedar.png",
    "driver_rating": "4.7",
    "vehicle_type": "auto",
    "vehicle_number": "KA01AB1234",
    "driver_lat": -38.505,
    "driver_lng": -128.004,
    "duration": {"value": 4, "unit": "MINUTES"},
    "distance": {"value": 1450, "unit": "METER"},
}
BILL: Final = {
    "billing_enabled": True,
    "discount": 10,
    "advance": 20,
    "convenience_charge": 15,
    "amount": 181,
    "distance": {"value": 7.2, "unit": "KMS"},
    "night_charges_applied": True,
    "night_charge_ratio": "1.5",
}
AUTO_BILLED: Final = AUTO | {
    "booking_status": "INVOICE",
    "svc_money_balance": 42.5,
    "trip_info": BILL
    | {"payable_amount": 170, "trip_time": {"value": 23, "unit": "MINUTE"}, "discount": 12},
}
AUTO_OVER: Final = AUTO | {
    "booking_status": "COMPLETED",
    "svc_money_balance": 42.5,
    "pickup_time": "2026-05-04T13:20:00+05:30",
    "trip_info": BILL | {"cash_paid": 100, "ride_time": {"value": 23, "unit": "MINUTE"}},
}
OVER: Final = (  # what a snapshot of COMPLETED no longer has
    *("price_details", "bearing", "speed", "share_ride_url", "duration", "distance"),
    *("driver_lat", "driver_lng", "driver_rating", "promotional_message"),
)
OPTIONS: Final = {
    "status": "SUCCESS",
    "driver_feedback_options": {str(n): ["Car quality", "Late"] for n in range(1, 6)},
}


def over(**more: Any) -> dict[str, Any]:
    body = {k: v for k, v in driven("COMPLETED").items() if k not in OVER}
    return body | {"price_details": driven("")["price_details"]} | more


def products(*categories: dict[str, Any], estimate: Any = ()) -> dict[str, Any]:
    return {"categories": list(categories), "ride_estimate": estimate}


BOOKED: Final = {
    "status": "SUCCESS",
    "booking_id": "CRN000001",
    "message": "Your driver will call you.",
    "booking_timeout": 240,
    "booking_timeout_unit": "SECONDS",
}
METERED: Final = products(category("mini", "Mini"), estimate=[metered("mini", 210, 260)])
UPFRONT: Final = products(category("mini", "Mini"), estimate=[upfront("mini", 240, "F1")])
SHARE_PRICED: Final = products(category("share", "Share"), estimate=[SHARE])
AUTO_PRICED: Final = products(category("auto", "Auto"), estimate=[metered("auto", 150, 190)])
CASH: Final = {"payment": "cash"}


class Elements(HTMLParser):
    """The texts and attributes of a page by the name of the innermost element around them."""

    def __init__(self, surface: str) -> None:
        super().__init__()
        self.surface = surface
        self.open: list[tuple[str, str]] = []
        self.found: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        name = next((v for k in ("data-slot", "data-cell", "data-from") if (v := known.get(k))), "")
        outer = self.open[-1][1] if self.open else ""
        if name:
            looks = [f"{k}={known[k] or ''}" for k in ATTRIBUTES if k in known]
            self.found.setdefault(name, []).extend(looks)
        elif tag == "use":
            self.found.setdefault(outer, []).append(known.get("href") or "")
        if tag not in VOID:
            self.open.append((tag, name or outer))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(tag in NO_TEXT for tag, _ in self.open) or not data.strip():
            return
        self.found.setdefault(self.open[-1][1] if self.open else "", []).append(data.strip())

    def shown(self) -> Shown:
        return {f"{self.surface}:{name}": tuple(values) for name, values in self.found.items()}


@lru_cache(maxsize=16)  # most changes of an answer leave most pages as they are
def elements_of(surface: str, html: str) -> Shown:
    parser = Elements(surface)
    parser.feed(html)
    return parser.shown()


@dataclass
class Play:
    """One scene on a desk: what its pages show after its answers, or after changed ones."""

    desk: Desk
    scene: Scene
    web: FlaskClient
    order_id: int
    token: str

    def rows(self, bodies: Bodies) -> dict[str, Any]:
        """What the program stores of these answers, by table and column."""
        kind = Kind(self.scene.kind)
        product = ProductList.from_wire(bodies["products"]).products[0]
        offer = vars(offered(product)).copy()
        created = CreateBody.from_wire(bodies["create"])
        answer = CreateAnswer(http_status=200, body=created, readable=True)
        outcome = classify(answer, "")
        ride = RideState(kind, booking_id=outcome.booking_id, txn_id=outcome.txn_id)
        done = {
            name: Done.from_wire(bodies[name])
            for name in ("drop_location", "cancel", "abort")
            if name in bodies
        }
        for seq, body in enumerate(bodies.get("track_ride", ()), 1):
            # all answers came two seconds ago, so a replaced plate (shown for 30 s) is still shown
            at = NOON - timedelta(seconds=2)
            ride = merge(ride, Snapshot.from_wire(body), seq, at).ride
        return {
            "offer": {name: offer[name] for name in OFFER},
            "order": {name: getattr(outcome, name) for name in ORDER}
            | {"booking_id": ride.booking_id},
            "ride": {name: getattr(ride, name) for name in RIDE}
            | {"facts": json.loads(ride.facts.model_dump_json())},
            "otp": ride.otp,
            "said": {
                name: (d.code or bodies[name].get("reason"), d.header, d.text or d.message)
                for name, d in done.items()
            },
            "options": FeedbackOptions.from_wire(bodies["options"]).options,
        }

    def show(self, rows: dict[str, Any]) -> Shown:
        """What all pages show of these rows."""
        self._store(rows)
        options = FeedbackOptions(options=rows["options"])
        self.desk.services.client = SimpleNamespace(feedback_options=lambda *_: options)
        address = f"/rides/{self.order_id}"
        # if the ride has a code, the button "Show code" is pressed
        shown = self.web.post(f"{address}/code") if rows["otp"] else self.web.get(address)
        ride = shown.text
        link = self.web.get(f"/t/{self.token}").text
        card = self.web.post(f"{address}/card", data={"token": self.token, "code": "1"}).text
        return {
            **elements_of("ride", ride),
            **points_of("ride", ride),
            **elements_of("link", link),
            **points_of("link", link),
            **elements_of("card", card),
            **elements_of("receipt", self.web.get(f"{address}/receipt").text),
            **self._board(),
        }

    def _board(self) -> Shown:
        with self.desk.services.db.read() as s:
            page = order_page(s, self.desk.ids["desk.property"], self.order_id)
        assert page is not None
        with self.desk.app.test_request_context():
            facts = RideFacts(page, self.desk.now, REAL, "en")
            row = item(facts, stale=False, paused=False).row
            html = render_template_string(BOARD_ROW, row=row)
            kiosk = view_json(page, self.desk.now, REAL, "en")
        timer = ("",) if row.timer is None else tuple(map(str, row.timer.values()))
        ticket = {f"ticket:{name}": (str(kiosk[name]),) for name in OF_KIOSK}
        if kiosk["code_due"]:
            ticket["ticket:code"] = (str(otp_of(page.ride, self.desk.services.vault)),)
        return elements_of("board", html) | {"board:timer": timer} | ticket

    def _store(self, rows: dict[str, Any]) -> None:
        with self.desk.services.db.write() as s:
            order = s.get_one(Order, self.order_id)
            order.version += 1
            put(order, rows["order"])
            put(s.get_one(Offer, order.offer_id), rows["offer"])
            ride = s.query(Ride).filter(Ride.order_id == order.id).one_or_none()
            if ride is not None:
                put(ride, rows["ride"] | self.scene.facts.get("ride", {}))
                code, vault = rows["otp"], self.desk.services.vault
                ride.otp_enc = vault.encrypt(code, "rides", ride.id, "otp") if code else None
            for name, (code, header, text) in rows["said"].items():
                known = {"drop_location": "drop"}.get(name, name)
                query = s.query(Action).filter(Action.order_id == order.id, Action.name == known)
                put(query.one(), {"code": code, "header": header, "text": text})


OFFER: Final = (*("display_name", "currency", "product", "fare_id", "seat_prices", "cancellation"),)
ORDER: Final = ("code", "message", "booking_id", "txn_id", "booking_timeout_s", "next_retry")
RIDE: Final = ("booking_id", "status", "reported", "previous_plate", "swapped_at")


OF_KIOSK: Final = (
    *("headline", "detail", "plate", "old_plate", "car", "minutes", "meet", "price", "pays"),
)


def put(row: Any, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)


def points_of(surface: str, html: str) -> Shown:
    """What the map of a page is drawn from."""
    text = html.split("data-points", 1)[1].split(">", 1)[1].split("</script>", 1)[0]
    snapshot = json.loads(text)["snapshot"]
    names = ("position", "route", "eta", "pickup", "drop")
    return {f"{surface}:map": tuple(json.dumps(snapshot.get(name)) for name in names)}


def play(desk: Desk, scene: Scene) -> Play:
    """Put a scene on a desk and sign in there. Rides of earlier scenes lose their booking ids."""
    with desk.services.db.write() as s:
        s.execute(update(Order).values(booking_id=None))
        s.execute(update(Ride).values(booking_id=None))
    order_id = desk.order(scene.state, scene.status, scene.kind, **(CASH | scene.facts))
    with desk.services.db.write() as s:
        order = s.get_one(Order, order_id)
        order.seats = 1 if scene.kind == "share" else None
        s.get_one(Guest, order.guest_id).language = scene.language
        order.state = "BOOKED"  # a link can't be made in every state
    actor = by_staff(desk.ids["desk"])
    place, kind = desk.ids["desk.property"], LinkKind.RIDER
    token = make_link(desk.services.db, desk.now, place, order_id, kind, actor)
    with desk.services.db.write() as s:
        s.get_one(Order, order_id).state = scene.state
    return Play(desk, scene, desk.client(), order_id, token)


def leaves(body: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a body that is no object and no array, with its JSON pointer."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from leaves(value, f"{pointer}/{name}")
    elif isinstance(body, list):
        for n, value in enumerate(body):
            yield from leaves(value, f"{pointer}/{n}")
    else:
        yield pointer, body


def changed(bodies: Bodies, operation: str, pointer: str) -> Bodies:
    """The answers with another value at a pointer; of track_ride, in each that has the pointer."""
    made = copy.deepcopy(bodies)
    if operation in ("create", "track_ride") and pointer == "/booking_id":  # both answer it
        _change(made["create"], pointer)
        operation = "track_ride"
    for body in made.get(operation, []) if operation == "track_ride" else [made[operation]]:
        _change(body, pointer)
    return made


def _change(body: Any, pointer: str) -> None:
    *path, last = pointer.split("/")[1:]
    try:
        for step in path:
            body = body[int(step) if isinstance(body, list) else step]
        key: Any = int(last) if isinstance(body, list) else last
        body[key] = other(last, body[key])
    except LookupError:
        return


UNITS: Final = {
    "MINUTE": "HOUR",
    "MINUTES": "HOUR",
    "METER": "KM",
    "KMS": "METER",
    "minute": "hour",
}
UNITS_MORE: Final = {"kilometre": "metre", "SECONDS": "MINUTES", "INR": "EUR", "mini": "prime"}
OTHERS: Final[dict[str, Callable[[Any], Any]]] = {
    "text": lambda text: f"{text} It costs 30.",
    "message": lambda text: f"{text} It costs 30.",
    "code": lambda _: "OUTSTANDING_DUE",
    "reason": lambda _: "RIDE_IN_PROGRESS",
    "vehicle_number": lambda text: text[:-1] + "7",
    "driver_number": lambda text: text[:-1] + "9",
    "driver_rating": lambda stars: 3.1 if isinstance(stars, float) else "3.1",
    "pickup_time": lambda _: "2026-05-04T12:10:00+05:30",
    "next_retry_time": lambda _: "2026-05-04T14:02:00+05:30",
    "state": lambda text: "drop" if text == "pickup" else "pickup",
    "seats": lambda n: 3 - n,
}


def other(name: str, value: Any) -> Any:
    """Another value of the same sort."""
    if name in OTHERS:
        return OTHERS[name](value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return round(value + 0.013, 4) if name.endswith(("lat", "lng")) else value + 3
    if value is None:
        return None
    known = UNITS | UNITS_MORE
    if value in known:
        return known[value]
    return str(float(value) + 3) if value.replace(".", "").isdigit() else f"Z{value}"
