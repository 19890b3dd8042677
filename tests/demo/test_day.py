"""The day of a new demo: database, history, insights and the sandbox's ledger tell one story.

Two days are made for the whole file: one with its week, and a short one that is interrupted.
"""

import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import func, select

from ridedash import wire
from ridedash.cli import demo, demo_day
from ridedash.cli.commands import make_worker
from ridedash.cli.sandbox_process import sandbox_settings
from ridedash.demo.day import plan
from ridedash.demo.day.playing import PHONE
from ridedash.demo.day.progress import EXTENSION, Progress, after_the_day, words
from ridedash.factory import create_app
from ridedash.forms.phones import read_phone
from ridedash.geo import LatLng
from ridedash.rides.worker import Worker
from ridedash.sandbox import create_sandbox
from ridedash.sandbox.bookings.snapshots import by_booking
from ridedash.sandbox.city.city import cities
from ridedash.sandbox.pricing.categories import tariff_of
from ridedash.sandbox.settings import SandboxSettings
from ridedash.service.errors import NoAnswer
from ridedash.service.transport.http import Answer, Http, Request
from ridedash.service_time import ServiceTime
from ridedash.services import Services
from ridedash.store import demo_marks
from ridedash.store.audit import AuditRow
from ridedash.store.guests import usual
from ridedash.store.models.orders import Action, Heartbeat, Order, OrderState, Ride
from ridedash.store.models.people import Guest, Property
from ridedash.store.properties import cost_centres_of, favourites_of
from ridedash.turns import turns_of
from tests.databases import new_database

pytestmark = pytest.mark.database

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)  # 15:00 in Port Meridian
TRIP_LINES = ("amount", "convenience_charge", "discount")
KOLKATA = ZoneInfo("Asia/Kolkata")


class StopsAfter(threading.Event):
    """An event that is set after that many looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def is_set(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@dataclass
class Hotel:
    """A demo whose clock stands still, without a web server and without a running sandbox."""

    app: Flask
    worker: Worker

    @property
    def services(self) -> Services:
        found: Services = self.app.extensions["ridedash"]
        return found

    @property
    def progress(self) -> Progress:
        found: Progress = self.app.extensions[EXTENSION]
        return found

    def start(self, days: int, stop: threading.Event) -> bool:
        """Do what `ridedash up` does. Returns whether there was a day to make."""
        demo.seed(self.services)
        day = demo_day.wanted(self.app, days)
        if day is not None:
            day.make(self.worker, stop)
        return day is not None

    def rows(self) -> list[tuple[Order, Ride | None, Guest]]:
        with self.services.db.read() as s:
            query = select(Order, Ride, Guest).join(Guest, Guest.id == Order.guest_id)
            found = s.execute(query.outerjoin(Ride, Ride.order_id == Order.id).order_by(Order.id))
            return [(order, ride, guest) for order, ride, guest in found]

    def facts(self) -> list[tuple[Any, ...]]:
        """Facts of all rides, without our own references, which are random."""
        return [
            (guest.name, guest.room, order.category, order.state, order.code, order.created_at)
            + (
                (ride.status, ride.booking_id, ride.plate, ride.total_minor, ride.ended_at)
                if ride
                else (order.pickup_at,)
            )
            for order, ride, guest in self.rows()
        ]

    def mark(self) -> str:
        with self.services.db.read() as s:
            found = demo_marks.mark_of(s)
            return found.day if found else ""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("days")


def hotel(folder: Path, **settings: str) -> Hotel:
    folder.mkdir()
    environ = {
        "RIDEDASH_INSTANCE": str(folder),
        "RIDEDASH_DATABASE_URL": new_database(folder),
        "RIDEDASH_SANDBOX_PORT": "1",
        **{f"RIDEDASH_{name}": value for name, value in settings.items()},
    }
    app = create_app(environ, clock=lambda: NOW)
    return Hotel(app, make_worker(app.extensions["ridedash"]))


@pytest.fixture(scope="module")
def made(folders: Path) -> Iterator[Hotel]:
    found = hotel(folders / "made")
    found.start(plan.DAYS, threading.Event())
    yield found
    found.services.db.close()


class Ledger:
    """What the sandbox itself has of the bookings, at the start."""

    def __init__(self, services: Services) -> None:
        settings_before = sandbox_settings(services.settings)
        settings = SandboxSettings(**{**vars(settings_before), "clock": lambda: NOW})
        self.app = create_sandbox(settings)
        self.sandbox = self.app.extensions["sandbox"]
        with self.sandbox.store.read() as connection:
            self.bookings = self.sandbox.ledger.all(connection)
        self.turns = turns_of({"turns": [turn._asdict() for turn in self.sandbox.clock.turns()]})

    def seen(self, booking: Any) -> dict[str, Any]:
        city = self.sandbox.city(booking.city)
        tariff = tariff_of(city.currency)
        body = by_booking(booking, tariff, city.timezone, NOW.timestamp())
        return dict(json.loads(body)) if isinstance(body, str) else dict(body)


def test_a_new_demo_has_a_ride_at_each_stage_and_one_of_each_problem(made: Hotel) -> None:
    assert made.mark() == demo_marks.MADE
    today = [row for row in made.rows() if row[0].created_at > NOW - plan.BEGINS]
    assert 24 <= len(today) <= 28
    states = Counter(order.state for order, _, _ in today)
    assert states[OrderState.SCHEDULED] == 5
    assert states[OrderState.UNKNOWN] == 1
    assert states[OrderState.REJECTED] == 1
    assert [o.code for o, _, _ in today if o.state == OrderState.REJECTED] == [wire.OUTSTANDING_DUE]
    status = Counter(ride.status for _, ride, _ in today if ride)
    assert status[wire.BOOKING_CANCELLED] == 1
    assert status[wire.ALLOTMENT_FAILED] == 1
    assert status[wire.COMPLETED] >= 10
    live = [r for _, r, _ in today if r and r.next_poll_at and r.status != wire.COMPLETED]
    assert len(live) >= 5
    assert len({ride.status for ride in live}) >= 3
    assert any(ride.retried for _, ride, _ in today if ride)  # another driver came
    assert any(ride.txn_id for _, ride, _ in today if ride)  # a shared ride was handed over
    assert len({guest.language for _, _, guest in today}) >= 6
    fee = next(ride for _, ride, _ in today if ride and ride.status == wire.BOOKING_CANCELLED)
    assert fee.ended_at is not None
    assert fee.allotted_at is not None
    assert fee.ended_at - fee.allotted_at > timedelta(minutes=4)  # cancelling is free until then


def test_the_week_is_in_history_insights_and_audit_log(made: Hotel) -> None:
    rows = made.rows()
    days = Counter(order.created_at.astimezone(KOLKATA).date() for order, _, _ in rows)
    assert len(days) >= plan.DAYS
    for order, ride, _ in rows:
        assert order.created_at <= NOW
        if ride and ride.status == wire.COMPLETED and ride.ended_at:
            assert ride.allotted_at is not None
            assert order.created_at < ride.allotted_at < ride.ended_at <= NOW
            assert ride.total_minor
    with made.services.db.read() as s:
        placed = s.scalars(select(AuditRow.at).where(AuditRow.what == "order.place")).all()
        assert sorted(placed) == sorted(order.created_at for order, _, _ in rows)
        who = set(s.scalars(select(AuditRow.who).where(AuditRow.what == "order.place")))
        assert len(who) == 1
        rated = select(func.count()).where(Action.name == "feedback", Action.state == "done")
        assert (s.scalar(rated) or 0) >= 5
        home = s.scalars(select(Property)).one()
        drops = {slot for kind, slot in favourites_of(s, home.id) if kind == "drop"}
        assert drops == set(range(1, 10))
        assert [each.name for each in cost_centres_of(s, home.id)] == sorted(plan.CENTRES)
        assert home.phone
        order, _, guest = next(row for row in rows if row[1])
        assert usual(s, guest.id).places
    web = made.app.test_client()
    assert web.get("/demo/day.json").status_code == 401


def test_the_ledger_has_every_booking_to_the_cent(made: Hotel) -> None:
    ledger = Ledger(made.services)
    by_reference = {each.merchant_txn_id: each for each in ledger.bookings}
    ordered = {
        order.mtx: (order, ride)
        for order, ride, _ in made.rows()
        if order.state in (OrderState.BOOKED, OrderState.UNKNOWN)
    }
    assert set(by_reference) == set(ordered)
    billed = 0
    for reference, (order, ride) in ordered.items():
        booking = by_reference[reference]
        placed = datetime.fromtimestamp(booking.created_at, UTC)
        assert abs(placed - order.created_at) < timedelta(seconds=2)
        if ride is None:
            continue
        assert ride.booking_id in (booking.booking_id, None)
        if ride.status not in wire.TERMINAL:
            continue
        theirs = ledger.seen(booking)
        assert ride.status == theirs["booking_status"]
        if ride.total_minor is not None:
            assert ride.total_minor == billed_minor(theirs)
            billed += 1
    assert billed > 40
    # the sandbox's clock always showed people's time
    line = ServiceTime(ledger.turns)
    assert [turn.speed for turn in ledger.turns] == [1.0]
    assert line.shown(NOW - timedelta(days=3)) == NOW - timedelta(days=3)
    ledger.sandbox.close()


def test_a_day_that_was_interrupted_begins_again_and_is_the_same(folders: Path) -> None:
    whole, cut = hotel(folders / "whole"), hotel(folders / "cut")
    assert whole.start(0, threading.Event())
    assert cut.start(0, StopsAfter(60))
    assert cut.mark() == demo_marks.WANTED
    assert not cut.progress.going_on
    assert 0 < len(cut.rows()) < len(whole.rows())
    assert cut.start(0, threading.Event())
    assert cut.facts() == whole.facts()
    assert cut.mark() == demo_marks.MADE
    assert not cut.start(0, threading.Event())  # it is made once
    with cut.services.db.read() as s:
        assert s.scalar(select(func.count()).select_from(Heartbeat)) == 1
    for each in (whole, cut):
        assert each.progress.done == each.progress.of == len(each.rows())
        each.services.db.close()


def test_a_day_is_made_on_a_machine_that_is_slow_now_and_then(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, call = itertools.count(1), Http.call

    def slow(http: Http, request: Request) -> Answer:
        parts = ("/control/", "/products")
        if any(part in request.url for part in parts) and next(calls) % 7 == 0:
            takes_s = 20.0
            if request.total_s < takes_s:
                raise NoAnswer("ReadTimeout", sent=True)
        return call(http, request)

    monkeypatch.setattr(Http, "call", slow)
    made = hotel(folders / "slow")
    assert made.start(0, threading.Event())
    assert made.mark() == demo_marks.MADE
    assert made.progress.done == made.progress.of == len(made.rows())
    made.services.db.close()


def test_an_empty_demo_has_no_rides(folders: Path) -> None:
    bare = hotel(folders / "bare", DEMO="empty")
    assert not bare.start(plan.DAYS, threading.Event())
    assert bare.mark() == demo_marks.NONE
    assert bare.rows() == []
    bare.services.db.close()


def test_the_same_time_and_seed_plan_the_same_rides() -> None:
    first = plan.ride_requests(NOW, KOLKATA, 7)
    assert first == plan.ride_requests(NOW, KOLKATA, 7)
    assert first != plan.ride_requests(NOW, KOLKATA, 8)
    places = {each.to for each in first}
    assert places <= set(city_places())
    for hour in range(24):
        day = plan.ride_requests(NOW + timedelta(hours=hour), KOLKATA, 1)
        assert [each.at for each in day] == sorted(each.at for each in day)
        assert all(each.at > plan.begins_at(NOW + timedelta(hours=hour)) for each in day)
        late = [e.pickup_at - (NOW + timedelta(hours=hour)) for e in day if e.pickup_at]
        assert len(late) == 5
        assert min(late) > timedelta(minutes=15)


def city_places() -> dict[str, LatLng]:
    return {place.name: place.position for place in cities()[0].places}


def billed_minor(answer: dict[str, Any]) -> int:
    """What an answer of track_ride bills, in hundredths."""
    trip = answer.get("trip_info")
    if trip is not None:
        lines = {name: Decimal(str(trip.get(name, 0))) for name in TRIP_LINES}
        return int((lines["amount"] + lines["convenience_charge"] - lines["discount"]) * 100)
    price = {name: Decimal(str(value)) for name, value in answer["price_details"].items()}
    parts = price["fare"] + price["service_tax"] + price["toll_charges"] - price["discount_value"]
    return int(parts * 100)


def test_a_press_of_the_director_waits_for_the_end_of_the_day(made: Hotel) -> None:
    made.progress.begin(26)
    waited = threading.Event()

    def press() -> None:
        with made.app.test_request_context("/demo/next", method="POST"):
            after_the_day()
            waited.set()

    pressed = threading.Thread(target=press)
    pressed.start()
    early = waited.wait(0.2)
    made.progress.end()
    pressed.join(60)
    assert (early, waited.is_set()) == (False, True)


def test_every_press_of_the_director_waits_and_nothing_else_does(made: Hotel) -> None:
    waiting = {
        name for name, hooks in made.app.before_request_funcs.items() if after_the_day in hooks
    }
    pressed = {
        rule.endpoint.partition(".")[0]
        for rule in made.app.url_map.iter_rules()
        if str(rule).startswith("/demo/") and "POST" in (rule.methods or ())
    }
    assert {"demo", "demo_stories", "lens"} <= pressed <= waiting
    director = {
        rule.endpoint for rule in made.app.url_map.iter_rules() if str(rule).startswith("/demo")
    }
    assert waiting <= {name.partition(".")[0] for name in director}


def test_the_line_says_how_far_the_day_is_and_goes_away(made: Hotel) -> None:
    with made.app.test_request_context("/"):
        assert words() == ""
        made.progress.going_on, made.progress.done, made.progress.of = True, 12, 26
        assert words() == "The day is being prepared: 12 of 26 rides."
        made.progress.going_on = False
        assert words() == ""


def test_the_phone_of_a_demos_property_is_a_number_that_the_settings_accept() -> None:
    assert read_phone(PHONE, "IN") == PHONE
