"""No hostile value of any field or number of a route causes a failure or a database error."""

import logging
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete
from werkzeug.routing import Rule

from ridedash.extensions import limiter
from ridedash.forms.booking import TripForm
from ridedash.geo import LatLng
from ridedash.places import SandboxPlaces
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from ridedash.store import own_phones
from ridedash.store.actors import by_staff
from ridedash.store.invitations import invite
from ridedash.store.kiosks import begin, new_device, set_pin
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Property, Staff, Throttle
from ridedash.store.models.restores import LostOrder
from ridedash.store.orders import Order
from tests import databases, foreign_values
from tests.hostile import DAYS, OF_DATABASES, VALUES, Forms, Watched, WatchedRequest, endpoint_of
from tests.views.fake_service import FakeService
from tests.views.ride_pages import Desk, make_desk, token
from tests.views.web.test_permissions import ROWS, routes, rows_of

pytestmark = pytest.mark.database
SERVICE: Final = "http://127.0.0.1:9"
TRIP: Final = "pickup_lat=-38.5&pickup_lng=-128&drop=A&drop_lat=-38.55&drop_lng=-128.06&show=1"
BODY: Final = NewBooking(pickup=LatLng(-38.5, -128.0), category="mini").model_dump_json()
BOOKING: Final = {"account", "cars", "change", "guest_id", "offer", "supersedes", "version"}
State = tuple[str, str | None]
STATES: Final[tuple[State, ...]] = (  # of orders whose pages have different forms
    ("BOOKED", "CALL_DRIVER"),
    ("BOOKED", "COMPLETED"),
    ("UNKNOWN", None),
    ("SCHEDULED", None),
    ("WAITING", None),
    ("NOT_SENT", None),
)
ROUNDS: Final = 3  # a view may look up more names once the names found so far have values
# Routes that refuse every request of this test. Those without a comment need a secret, or a field
# that only forms of an earlier release have.
REFUSING: Final = {
    *("auth.sign_in_post", "accounts.callback", "outgoing.forward_links"),
    "kiosk_desk.hand_over",  # this kiosk is no tablet of the desk
    "group_stop.cancel_all",  # a press is for the rows on its page; these are newer
    "lists.book",  # a press is for the lines on its page, and their prices
    "demo_pictures.keep",  # its body is a picture
} | {f"{page}.forward_change" for page in ("admin_staff", "admin_accounts")}
# What scripts send; no page has forms with these fields.
VISIT: Final = {"visit": "visit-0123456789", "lang": "en"}
DROP: Final = {"drop_lat": "-38.55", "drop_lng": "-128.06", "drop_name": "Airport", "point": ""}
GUEST: Final = {"seats": "", "name": "Heron", "phone": "", "code": ""}
OF_SCRIPTS: Final[dict[str, dict[str, str]]] = {
    "demo_presenter.press": {"do": "play"},
    "kiosk.beat": VISIT | {"screen": "start", "clock_ms": "1", "mode": ""},
    "kiosk_visit.places": VISIT | {"q": "airport", "tab": ""},
    "kiosk_visit.cars": VISIT | DROP,
    "kiosk_visit.ask_help": VISIT | {"screen": "cars"},
    "kiosk_visit.end": VISIT | {"how": "done", "screen": "cars", "aids": "large", "seconds": "9"},
    "kiosk_orders.order": VISIT | GUEST | {"form_token": "form-0123456789abcdef", "offer": "1"},
    "kiosk_orders.ride": VISIT | {"number": "K1", "pin": "4821", "code": "1"},
    "kiosk_orders.cancel": VISIT | {"number": "K1", "pin": "4821"},
    "kiosk_pairing.pair": {
        "pin": "482159",
        "deed": "calibrate",
        "mm_per_px": "0.24800",
        "bottom_mm": "700",
        "code": "",
    },
    "kiosk_desk.answer": {"answer": "approve", "reason": ""},
}
SHARES: Final = 6  # tests, which may run side by side; each sends to its share of the routes
FILES: Final = {"static", "faces.file"}  # these routes read no field
TOKENS: Final = {"csrf_token", "form_token"}  # their values differ on every page


class Service(FakeService):
    """A service that answers products and places, and nothing else."""

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith(("/products", "/places", "/near", "/city.json")):
            raise httpx.ConnectError("not answered", request=request)
        return super()._answer(request)


def lost_order(
    desk: Desk, reference: str = "RD-LOST", of: str | None = "desk.property"
) -> LostOrder:
    """A lost order: with one, the page about a restored database has a form to take it up."""
    return LostOrder(
        mtx=reference,
        property_id=desk.ids[of] if of else None,
        account_id=desk.ids["desk.account"],
        category="mini",
        attempt=1,
        sent_at=desk.now,
        listed_at=desk.now,
        outcome=None,
        closed_at=None,
        order_id=None,
    )


def without_tokens(fields: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name not in TOKENS}


@dataclass
class Sweep:
    """An admin's browser, and the forms and rows for its requests."""

    desk: Desk
    client: FlaskClient
    csrf: str = ""
    # by endpoint: the fields of each form and link that leads there
    forms: dict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))
    # the same without tokens: forms that differ only in tokens count as one
    known: dict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))
    states: dict[str, State] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)
    # names that the views of the last requests looked up
    looked_up: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)  # endpoints that accepted at least one request
    failed: list[tuple[str, str, str, int]] = field(default_factory=list)
    # by kind: the tokens of the devices as which the browser is paired
    devices: dict[str, str] = field(default_factory=dict)

    def sign_in(self) -> None:
        """Sign in, although wrong passwords were sent before."""
        self.desk.add(lambda s: s.execute(delete(Throttle)))
        self.client = self.desk.client()
        for kind, token_of_device in self.devices.items():
            self.client.set_cookie(f"ridedash_{kind}", token_of_device, samesite="Strict")
        self.csrf = token(self.client)

    def renew(self, rule: Rule, state: State | None = None) -> None:
        """Make new rows for the numbers and tokens of an address: older ones may be used up."""
        if "order_id" in rule.arguments or rule.endpoint.startswith("guest."):
            self.rows["order_id"] = self.new_order(state or self.states.get(rule.endpoint))
        elif rule.arguments & set(ROWS):
            self.rows |= rows_of(self.desk, "desk")
        staff, home = self.desk.ids["desk"], self.desk.ids["desk.property"]
        now, db = self.desk.now, self.desk.services.db
        if rule.endpoint.startswith("guest."):
            order_id = self.rows["order_id"]
            self.rows["token"] = make_link(db, now, home, order_id, LinkKind.RIDER, by_staff(staff))
        elif rule.endpoint.startswith("own_phone."):  # a link that this browser opens below
            with db.write() as s:
                kiosk = new_device(s, home, KioskKind.KIOSK, "Lobby", now)
                made = own_phones.make_link(s, kiosk.id, home, "v" * 20, now)
            self.rows |= {"token": made, "step": "where"}
            if str(rule) != "/k/<token>":
                self.client.post(f"/k/{made}", data={"session": "s" * 32})
        elif rule.endpoint.startswith("invitations."):
            with db.write() as s:
                self.rows["token"] = invite(s, home, "concierge", "Wren", staff, now)[1]

    def new_order(self, state: State | None) -> int:
        name, status = state or STATES[0]
        order_id = self.desk.order(name, status, otp="4821" if status == "CALL_DRIVER" else None)
        self.desk.add(lambda s: self.prepare(s.get_one(Order, order_id)))
        return order_id

    @staticmethod
    def prepare(order: Order) -> None:
        """Put the order in a group, so that the pages of the group exist too."""
        order.body, order.group_key = BODY, f"G-{order.id}"

    def address(self, rule: Rule, **changed: str) -> str:
        values = self.rows | changed
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(values.get(m[1], "x")), str(rule))

    def send(self, method: str, rule: Rule, what: str, fields: dict[str, str], **path: str) -> None:
        """Send a request and note its failure; sign in again when it ended the sign-in."""
        sent = fields | {"csrf_token": self.csrf}
        Watched.names.clear()
        answer = self.client.open(
            self.address(rule, **path),
            method=method,
            query_string=fields if method == "GET" else None,
            data=sent if method == "POST" else None,
        )
        self.looked_up |= Watched.names
        if answer.status_code < 400 or answer.status_code == 422:
            self.reached.add(rule.endpoint)
        if answer.status_code >= 500:
            self.failed.append((method, str(rule), what, answer.status_code))
        if answer.status_code == 303 and method == "POST" and rule.arguments:
            self.renew(rule)
        if answer.status_code == 401 or answer.headers.get("Location", "").startswith("/sign-in"):
            self.sign_in()
        elif "Set-Cookie" in answer.headers:  # a new sign-in, with a new token for forms
            self.csrf = token(self.client)

    def read_pages(self) -> None:
        """Learn from each page which forms there are, and what their fields hold."""
        self.rows = rows_of(self.desk, "desk")  # pages of settings list some of these rows
        self.desk.add(lambda s: s.add(lost_order(self.desk)))
        self.desk.add(lambda s: s.add(lost_order(self.desk, "RD-HOMELESS", None)))
        gets = [rule for method, rule in routes(self.desk.app) if method == "GET"]
        for state in STATES:
            for rule in gets:
                if state == STATES[0] or "order_id" in rule.arguments:
                    self.renew(rule, state)
                    self.learn(self.address(rule), state)
        self.learn(f"/rides/new?{TRIP}", STATES[0])
        for endpoint, fields in OF_SCRIPTS.items():
            self.forms[endpoint].append(fields)
        self.forms["kiosk_orders.order"][0]["offer"] = self.offer()

    def offer(self) -> str:
        """The id of the first offer that the kiosk shows for a trip."""
        sent = VISIT | DROP | {"csrf_token": self.csrf}
        answer = self.client.post("/kiosk/cars", data=sent).json or {}
        assert answer["state"] == "ok"
        return str(answer["cars"][0]["offer"])

    def learn(self, path: str, state: State) -> None:
        answer = self.client.get(path)
        if not answer.mimetype.startswith("text/html"):
            return
        for form in Forms(answer.text).found:
            endpoint = endpoint_of(self.desk.app, form.action or path, form.method.upper())
            if endpoint and without_tokens(form.fields) not in self.known[endpoint]:
                self.known[endpoint].append(without_tokens(form.fields))
                self.forms[endpoint].append(form.fields)
                self.states.setdefault(endpoint, state)

    def names(self, method: str, rule: Rule) -> set[str]:
        """The names of the fields that a route reads: those of its forms, and those it looks up."""
        forms = self.forms[rule.endpoint]
        found: set[str] = set().union(*forms)
        for _round in range(ROUNDS):
            self.looked_up = set()
            for fields in ({}, dict.fromkeys(found, "1"), *forms):
                self.send(method, rule, "probe", fields)
            if self.looked_up <= found:
                break
            found |= self.looked_up
        return found - {"csrf_token"}

    def fields(self, rule: Rule, name: str = "") -> dict[str, str]:
        """The other fields of a request that sends the field `name`: those of the largest form.

        Forms that have this field come first. A view that only reads needs no other field.
        """
        forms = [] if "GET" in (rule.methods or ()) else self.forms[rule.endpoint]
        return max(forms, key=lambda form: (name in form, len(form)), default={})


def paired(desk: Desk) -> dict[str, str]:
    """Pair a kiosk and a door display of the property. Returns their tokens."""
    with desk.services.db.write() as s:
        home, now = desk.ids["desk.property"], desk.now
        rows = {kind: new_device(s, home, kind, "Lobby", now) for kind in KioskKind}
        rows[KioskKind.DOOR].marks = True
        set_pin(rows[KioskKind.KIOSK], "482159")
        return {kind.value: begin(row, now) for kind, row in rows.items()}


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sweep]:
    desk = make_desk(tmp_path, POLL_LAYER="on", SERVICE_URL=SERVICE)
    http = Http(Service().transport())
    services = desk.services
    services.client = RideClient(http, SERVICE, "the key")
    services.geocoder = SandboxPlaces(http, SERVICE)
    with services.db.write() as s:
        s.get_one(Staff, desk.ids["desk"]).role = "admin"
        home = s.get_one(Property, desk.ids["desk.property"])
        home.pickup_name, home.pickup_lat, home.pickup_lng = "Lobby", -38.5, -128.0
    monkeypatch.setattr(limiter, "enabled", False)
    desk.app.request_class = WatchedRequest
    made = Sweep(desk, desk.client(signed_in=False), devices=paired(desk))
    made.sign_in()
    yield made
    http.close()
    desk.close()


def hostile_values() -> dict[str, str]:
    return VALUES if databases.kind() == databases.SQLITE else OF_DATABASES


def attack(sweep: Sweep, every: Sequence[tuple[str, Rule]]) -> dict[str, set[str]]:
    """Send each hostile value in each field of these routes. Their fields, by endpoint."""
    swept: dict[str, set[str]] = {}
    for method, rule in every:
        if rule.endpoint in FILES:
            continue
        sweep.renew(rule)
        swept[rule.endpoint] = sweep.names(method, rule)
        for name in sorted(swept[rule.endpoint]):
            fields = sweep.fields(rule, name)
            for what, value in hostile_values().items():
                sweep.send(method, rule, f"{name}: {what}", fields | {name: value})
        for name in sorted(rule.arguments):
            for what in hostile_values().keys() - DAYS.keys():
                changed = {name: VALUES[what]}
                sweep.send(method, rule, f"<{name}>: {what}", sweep.fields(rule), **changed)
    return swept


# On PostgreSQL the first share runs. What only PostgreSQL refuses is looked for in the statements
# of all shares on SQLite.
@pytest.mark.parametrize("share", range(SHARES if databases.kind() == databases.SQLITE else 1))
def test_no_value_of_any_field_makes_a_route_fail(
    sweep: Sweep, caplog: pytest.LogCaptureFixture, share: int
) -> None:
    caplog.set_level(logging.ERROR)
    # reading routes first: the others add rows, which make pages and exports longer
    every = sorted(routes(sweep.desk.app), key=lambda route: (route[0], str(route[1])))
    with foreign_values.watched() as foreign:
        sweep.read_pages()
        swept = attack(sweep, every[share::SHARES])
    assert sweep.failed == []
    assert foreign == []
    assert [record.getMessage() for record in caplog.records] == []
    refusing = REFUSING & swept.keys()
    assert swept.keys() - sweep.reached == refusing, "only these routes refuse each request"
    known: dict[str, Collection[str]] = {**OF_SCRIPTS}
    known["booking.create"] = {each.name for each in TripForm()} | BOOKING
    assert all(swept[endpoint] >= set(known[endpoint]) for endpoint in known.keys() & swept.keys())
    assert known.keys() | REFUSING <= {rule.endpoint for _, rule in every}
