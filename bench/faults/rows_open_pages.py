"""Pages that were open before the database went back in time poll on and press every button.

Row 39 of the fault matrix (docs/reliability.md 2).
"""

import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from bench.faults.scoreboard import POSTGRESQL, SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, database_in, shop
from ridedash.extensions import limiter
from ridedash.rides.orders.place import place
from ridedash.store.models.orders import Offer, Order
from tests.hostile import Form, Forms
from tests.rides.desk_world import DROP, PICKUP
from tests.rides.dumps import Dump, dump, restore

TRIP: Final = {
    "pickup": "Lobby",
    "pickup_lat": str(PICKUP.lat),
    "pickup_lng": str(PICKUP.lng),
    "drop": "Airport",
    "drop_lat": str(DROP.lat),
    "drop_lng": str(DROP.lng),
}
AT_ONE_DESK: Final = 10  # restores of one database, before the next one is made
# how the orders of a press are made
PRESSES: Final = ("now", "planned", "series", "two cars")
OF_A_RIDE: Final = re.compile(r"/(rides|groups|series)/(\d+)(/|$)")
PAPERS: Final = ("", "/card", "/receipt")
POLLS: Final = ("/snapshot.json", "/path.json", "/drop-price.json?drop_lat=-38.51&drop_lng=-128.01")
# calls of the service that do something to a booking
ACTIONS: Final = frozenset({"abort", "cancel", "drop_location", "feedback"})
# columns that only polls of the service and heartbeats change
FOLLOWED: Final = frozenset({"seen_at", "next_poll_at", "poll_seq", "merged_seq", "interval_s"})
OF_AN_ORDER: Final = ("orders", "rides", "actions", "attention", "links", "moments")


@dataclass
class Counts:
    """The counts of all rounds, and messages about the first violations."""

    restores: int = 0
    polls: int = 0
    presses: int = 0
    refused: int = 0  # answers 409
    strangers: int = 0  # presses and polls while there was a ride that was made after the restore
    shown: int = 0  # pages that showed another's ride
    acted: int = 0  # actions on another's ride
    errors500: int = 0
    messages: list[str] = field(default_factory=list)

    def find(self, what: str, words: str) -> None:
        """Count one violation."""
        setattr(self, what, getattr(self, what) + 1)
        self.messages = [*self.messages, f"{what}: {words}"][:3]


@dataclass
class OpenPages:
    """What a browser has open of the rides of one press: addresses to poll, and its forms."""

    polls: list[str] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    categories: dict[str, str] = field(default_factory=dict)  # of the offers of an open form


@row(39, "Pages open while the database is restored, SQLite")
def pages_sqlite(case: Case) -> Verdict:
    """200 restores of SQLite under open pages."""
    return _restores(case, SQLITE)


@row(39, "The same on PostgreSQL, with its sequences", database=POSTGRESQL)
def pages_postgresql(case: Case) -> Verdict:
    """200 restores of PostgreSQL under open pages."""
    return _restores(case, POSTGRESQL)


def _restores(case: Case, kind: str) -> Verdict:
    counts, wanted = Counts(), case.size(200, 5)
    while counts.restores < wanted:
        service, url = Service(), database_in(case.sub(f"{kind}-{counts.restores}"), kind)
        folder = case.sub(f"{kind}-{counts.restores}-desk")
        with shop(folder, service.handle, url=url, durable=False) as desk:
            for _ in range(min(AT_ONE_DESK, wanted - counts.restores)):
                _Round(desk, service, case.rng, counts).play()
    note = (
        f"{counts.polls} polls, {counts.presses} presses, {counts.strangers} of them beside rides "
        f"that were made after the restore, {counts.refused} answered 409; "
        + ("; ".join(counts.messages) or "none showed or touched another's ride")
    )
    tried = min(counts.polls, counts.presses, counts.strangers, counts.refused)
    ok = tried > 0 and not (counts.shown or counts.acted)
    return Verdict(counts.restores, errors500=counts.errors500, ok=ok, note=note)


class _Round:
    """A backup, rides made after it whose pages stay open, the restore, and rides made after it."""

    def __init__(self, desk: Shop, service: Service, rng: random.Random, counts: Counts) -> None:
        self.desk, self.service, self.rng, self.counts = desk, service, rng, counts
        self.number = counts.restores

    def play(self) -> None:
        self.counts.restores += 1
        self._go_on()
        browser = self.desk.browser()
        self.desk.worker.step()
        backup = dump(self.desk.s.db)
        lost = self._book("Lost")
        self._follow(lost)
        pages = self._open(browser, lost)
        # as long as no worker has noticed the restore, and afterwards
        restore(self.desk.s.db, backup)
        self._go_on()
        noticed = self.rng.random() < 0.5
        after = self._book("After")
        if noticed:
            self._follow(after)
        self._use(browser, pages, lost)
        self._follow(after)
        self._use(browser, pages, lost)

    def _go_on(self) -> None:
        """Row numbers are made of the machine's time: the clock of this desk follows it."""
        self.desk.clock.now = datetime.now(UTC)
        with self.desk.app.app_context():
            limiter.reset()

    def _book(self, name: str) -> list[int]:
        """Make the orders of one press of each kind; their guests have this name."""
        desk, made = self.desk, list[int]()
        for number, kind in enumerate(PRESSES):
            guest = f"{name} {kind} {self.number}"
            phone = f"+9198765{number}{self.number:04}"
            soon = desk.clock() + timedelta(minutes=self.rng.choice((15, 40)))
            facts = {
                "now": {},
                "planned": {"pickup_at": soon},
                "series": {"pickup_at": soon, "series": (soon, soon + timedelta(days=1))},
                "two cars": {"cars": 2},
            }[kind]
            request = desk.request(guest_name=guest, guest_phone=phone, **facts)
            placed = place(desk.s.db, desk.clock, request)
            made += placed.order_ids or (placed.order_id,)
        return made

    def _follow(self, orders: list[int]) -> None:
        """Send what is ready, and let the service name a driver."""
        self.desk.worker.step()
        for order in self.desk.orders():
            if order.id in orders and order.booking_id:
                self.service.tracks[order.booking_id] = [_coming(order)]
        self.desk.worker.step()

    def _open(self, browser: FlaskClient, orders: list[int]) -> OpenPages:
        """Open every page of these orders, and a booking form with its prices."""
        pages = OpenPages()
        for path in [f"/{kind}/{o}" for kind, o in product(("rides", "groups", "series"), orders)]:
            kept = [path + paper for paper in PAPERS] if path.startswith("/rides") else [path]
            for each in kept:
                answer = browser.get(each)
                if answer.status_code == 200:
                    pages.polls.append(each)
                    pages.forms += [form for form in Forms(answer.text).found if _is_kept(form)]
        pages.polls += [f"/rides/{order}{poll}" for order, poll in product(orders, POLLS)]
        board = browser.get("/board.json").get_json()
        known = f"{board['v']}~{''.join(each['rev'] for each in board['rows'])}"
        pages.polls += [f"/board.json?since={known}&ride={order}" for order in orders]
        trip = "&".join(f"{name}={value}" for name, value in TRIP.items())
        form = browser.get(f"/rides/new?show=1&{trip}").text
        pages.forms += [each for each in Forms(form).found if each.method == "post"]
        with self.desk.s.db.read() as s:
            pages.categories = {str(o.id): o.category for o in s.scalars(select(Offer))}
        return pages

    def _use(self, browser: FlaskClient, pages: OpenPages, lost: list[int]) -> None:
        """Poll every address and press every button, and look at what came and what changed."""
        strangers = {order.id: order for order in self.desk.orders()}
        ours = frozenset(strangers)
        before, calls = self._rows(ours), len(self.service.calls)
        for address in pages.polls:
            self.counts.polls += 1
            self._judge_shown(address, browser.get(address), lost)
        for form in pages.forms:
            self._go_on()
            self.counts.presses += 1
            fields = form.fields | form.buttons | _filled(form.fields)
            if form.method == "get":
                answer = browser.get(form.action, query_string=fields)
            else:
                answer = browser.post(form.action, data=fields)
            self._judge_shown(f"{form.method} {form.action}", answer, lost)
            self._judge_order(fields, pages, answer)
        self.counts.strangers += len(ours) > 0
        for name, body in self.service.calls[calls:]:
            if name in ACTIONS:
                self.counts.find("acted", f"{name} of {body.get('booking_id')}")
        changed = [key for key, row_ in self._rows(ours).items() if before.get(key) != row_]
        if changed:
            self.counts.find("acted", f"changed: {changed[:3]}")

    def _judge_shown(self, what: str, answer: TestResponse, lost: list[int]) -> None:
        """Whether an answer to an old page shows a ride that was made after the restore."""
        self.counts.errors500 += answer.status_code >= 500
        self.counts.refused += answer.status_code == 409
        text = answer.text
        if what.startswith("/board.json"):
            body = answer.get_json() if answer.status_code == 200 else {"rows": []}
            text = str(body.get("ride", "")) + str([r for r in body["rows"] if r["id"] in lost])
            if set(body.get("order", ())) & set(lost):
                self.counts.find("shown", f"{what}: the lost rows stay")
        elif not OF_A_RIDE.search(what):
            return  # a booking form: _judge_order
        if "After " in text or "AFTER" in text:
            self.counts.find("shown", f"{what} answered {answer.status_code}")

    def _judge_order(self, fields: dict[str, str], pages: OpenPages, answer: TestResponse) -> None:
        """Whether a form of before the restore has ordered another car than it showed."""
        placed = OF_A_RIDE.search(answer.headers.get("Location", ""))
        if placed is None or "offer" not in fields:
            return
        made = self.desk.order(int(placed[2]))
        if made.category != pages.categories.get(fields["offer"]):
            self.counts.find("acted", f"a form ordered {made.category}")

    def _rows(self, orders: frozenset[int]) -> dict[tuple[str, int], dict[str, Any]]:
        """All rows of these orders, without the columns that polls of the service change."""
        tables: Dump = dump(self.desk.s.db)
        return {
            (name, each["id"]): {k: v for k, v in each.items() if k not in FOLLOWED}
            for name in OF_AN_ORDER
            for each in tables[name]
            if (each["id"] if name == "orders" else each["order_id"]) in orders
        }


def _coming(order: Order) -> dict[str, Any]:
    """What the service says of a booking whose driver comes; the plate has the booking's number."""
    return {
        "status": "SUCCESS",
        "booking_id": order.booking_id,
        "booking_status": "CALL_DRIVER",
        "vehicle_number": f"CAB {order.booking_id}",
        "driver_name": "Driver",
        "driver_lat": PICKUP.lat,
        "driver_lng": PICKUP.lng,
    }


def _is_kept(form: Form) -> bool:
    """Whether a form is about a ride, not about the person or the page."""
    return bool(OF_A_RIDE.search(form.action)) or form.action.startswith("/rides/new")


def _filled(fields: dict[str, str]) -> dict[str, str]:
    """What a person types into empty fields: a place, a reason, a booking number."""
    place_ = {"drop_lat": str(DROP.lat), "drop_lng": str(DROP.lng), "lat": "-38.51", "lng": "-128"}
    return {name: place_.get(name, "typed") for name, value in fields.items() if not value.strip()}
