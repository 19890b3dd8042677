"""The roll-up of the insights: whatever happens, its figures equal those counted from orders."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, delete, func, select, update
from sqlalchemy.sql import visitors

from ridedash.rides.privacy.retention import forget_guest
from ridedash.store import insight_queries as queries
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.history import RideFilter, totals
from ridedash.store.insight_rollup import _valid_figures, rolled_up
from ridedash.store.insights import Insights, Span, insights, span_of
from ridedash.store.models.orders import (
    Action,
    InsightChange,
    InsightSpan,
    Offer,
    Order,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Guest
from tests.store.test_insights import Place, place, ride
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
# April, the last two thirds of March, and days on both sides; in Lord Howe clocks change
FIRST, LAST = date(2026, 3, 8), date(2026, 5, 3)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
ZONES = ("Asia/Kolkata", "Australia/Lord_Howe", "America/New_York")
MIGRATION = "0028_insight_rollup"


def span(where: Place) -> Span:
    return span_of(FIRST, LAST, where.prop.tz)


def direct(desk: Desk, where: Place) -> Insights:
    with desk.services.db.read() as s:
        return sorted_(insights(s, where.prop, span(where)))


def look(desk: Desk, where: Place) -> Insights:
    """What a reader gets from the roll-up; reading also stores the spans that it lacks."""
    wanted = [(where.prop, span(where))]
    db = desk.services.db
    with rolled_up(db, wanted, NOW) as rollup, db.read() as s:
        return sorted_(rollup.insights(s, *wanted[0]))


def sorted_(found: Insights) -> Insights:
    found.cancelled.sort(key=repr)
    return found


def stored(desk: Desk) -> int:
    """How many spans have figures that no later change has made invalid."""
    noted = select(InsightChange.token)
    query = select(func.count()).where(
        InsightSpan.figures.is_not(None), InsightSpan.token.not_in(noted)
    )
    with desk.services.db.read() as s:
        return s.scalar(query) or 0


class Story:
    """Rides of a property, to which anything may happen at any time."""

    def __init__(self, desk: Desk, zone: str) -> None:
        self.desk, self.where = desk, place(desk, zone)
        self.orders: list[int] = []

    def happens(self, what: str, n: int, minute: int) -> None:
        """One event: a booking `minute` minutes after the span begins, or a change of a ride."""
        if what == "books" or not self.orders:
            self._books(n, minute)
            return
        order_id = self.orders[n % len(self.orders)]
        with self.desk.services.db.write() as s:
            getattr(self, f"_{what}")(s, s.get_one(Order, order_id), n, minute)

    def _books(self, n: int, minute: int) -> None:
        at = span(self.where).since + minute * MINUTE
        staff = self.where.staff[n % 2] if n % 3 else None
        over = {"allotted_at": at, "ended_at": at + 9 * MINUTE}
        order_id = ride(self.desk, self.where, at, staff_id=staff, facts={"ride": over})
        self.orders.append(order_id)

    def _ends(self, _s: Any, order: Order, n: int, minute: int) -> None:
        order.ended_as, order.driver_s, order.guest_s = "COMPLETED", minute, n * 7
        order.total_minor, order.currency = n * 100 + 1, "EUR" if n % 4 == 0 else "INR"

    def _is_cancelled(self, s: Any, order: Order, n: int, minute: int) -> None:
        order.ended_as, order.total_minor = "BOOKING_CANCELLED", None
        self._acts(s, order, "abort" if n % 2 else "cancel", {}, minute)

    def _is_redirected(self, s: Any, order: Order, n: int, minute: int) -> None:
        self._acts(s, order, "drop", {"lat": 1.0, "name": f"Harbour {n}"}, minute)

    def _acts(self, s: Any, order: Order, name: str, payload: Any, minute: int) -> None:
        s.add(
            Action(
                property_id=order.property_id,
                staff_id=None,
                kiosk_id=None,
                account_id=order.account_id,
                order_id=order.id,
                name=name,
                payload=payload,
                state="done",
                calls=1,
                made_at=NOON + minute * MINUTE,
                settled_at=NOON,
            )
        )

    def _is_corrected(self, s: Any, order: Order, n: int, _minute: int) -> None:
        values = {"total_minor": n, "cost_centre_id": self.where.centres[n % 2]}
        s.execute(update(Order).where(Order.id == order.id).values(values))

    def _is_unknown(self, s: Any, order: Order, n: int, _minute: int) -> None:
        order.state = "UNKNOWN" if n % 2 else "CLOSED_NOT_BOOKED"
        s.add(
            TimelineEvent(
                property_id=order.property_id,
                order_id=order.id,
                what="order",
                name="UNKNOWN",
                detail=None,
                at=NOON,
            )
        )

    def _is_moved(self, _s: Any, order: Order, _n: int, minute: int) -> None:
        order.pickup_at = span(self.where).since + minute * MINUTE

    def _had_a_driver(self, s: Any, order: Order, n: int, minute: int) -> None:
        at = NOON + minute * MINUTE if n % 2 else None
        s.execute(update(Ride).where(Ride.order_id == order.id).values(allotted_at=at))

    def _is_erased(self, s: Any, order: Order, _n: int, _minute: int) -> None:
        forget_guest(s, s.get_one(Guest, order.guest_id), NOW, "key")

    def _is_repriced(self, s: Any, order: Order, n: int, _minute: int) -> None:
        policy = {"charge": str(n)}
        values = {"drop_name": f"Pier {n}", "cancellation": policy}
        s.execute(update(Offer).where(Offer.id == order.offer_id).values(values))

    def _is_lost(self, s: Any, order: Order, _n: int, _minute: int) -> None:
        self.orders.remove(order.id)
        for table in (TimelineEvent, Action, Ride):
            s.execute(delete(table).where(table.order_id == order.id))
        s.execute(delete(Order).where(Order.id == order.id))

    def _moves_the_property(self, _s: Any, _order: Order, n: int, _minute: int) -> None:
        tz = ZoneInfo(ZONES[n % len(ZONES)])
        self.where.prop = replace(self.where.prop, tz=tz)


HAPPENS = ["books", *(name[1:] for name in vars(Story) if re.match("_(is|ends|had|moves)", name))]
events = st.tuples(st.sampled_from(HAPPENS), st.integers(0, 40), st.integers(-60, 58 * 24 * 60))


@settings(
    max_examples=14, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(zone=st.sampled_from(ZONES), happened=st.lists(st.lists(events, max_size=6), max_size=5))
def test_whatever_happens_the_roll_up_has_the_counts_of_the_orders(
    desk: Desk, zone: str, happened: list[list[tuple[str, int, int]]]
) -> None:
    story = Story(desk, zone)
    look(desk, story.where)
    for between_two_looks in happened:
        for event in between_two_looks:
            story.happens(*event)
        expected = direct(desk, story.where)
        assert look(desk, story.where) == expected
        assert look(desk, story.where) == expected  # from the figures just stored
        assert_of_history(desk, story.where, expected)


def assert_of_history(desk: Desk, where: Place, found: Insights) -> None:
    since, until = span(where).since, span(where).until
    with desk.services.db.read() as s:
        all_ = totals(s, where.prop.id, RideFilter(since, until), where.prop.currency)
    mine = found.total
    assert (mine.rides, mine.completed, mine.cancelled) == (
        all_.rides,
        all_.completed,
        all_.cancelled,
    )
    assert mine.sums == dict(all_.sums)


@pytest.mark.parametrize("what", HAPPENS)
def test_each_kind_of_change_is_noted_once_the_days_are_stored(desk: Desk, what: str) -> None:
    story = Story(desk, ZONES[0])
    for n in (0, 1):
        story.happens("books", n, 40 * 24 * 60)  # in April
    for each in ("ends", "is_cancelled", "is_redirected"):
        story.happens(each, 0, 3)
    before = look(desk, story.where)
    story.happens(what, 4, 39 * 24 * 60 + 5)
    expected = direct(desk, story.where)
    assert expected != before
    assert look(desk, story.where) == expected


def test_days_that_are_over_are_added_up_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(desk, ZONES[0])
    story.happens("books", 0, 30 * 24 * 60)
    expected, read = look(desk, story.where), []
    assert stored(desk) == len(STORED)
    counted = "ridedash.store.insight_rollup.insights"
    monkeypatch.setattr(counted, lambda *args: read.append(args[2]) or insights(*args))
    assert look(desk, story.where) == expected
    assert read == []


def test_the_counts_of_a_time_zone_that_the_property_has_left_are_not_kept(desk: Desk) -> None:
    story = Story(desk, ZONES[0])
    story.happens("books", 0, 40 * 24 * 60)
    look(desk, story.where)
    moved = replace(story.where, prop=replace(story.where.prop, tz=ZoneInfo(ZONES[2])))
    assert look(desk, moved) == direct(desk, moved)
    with desk.services.db.read() as s:
        assert set(s.scalars(select(InsightSpan.zone))) == {ZONES[2]}


def test_days_that_ended_less_than_a_day_ago_are_not_stored(desk: Desk) -> None:
    where = place(desk, "UTC")
    ride(desk, where, datetime(2026, 4, 10, 12, tzinfo=UTC))
    wanted, db = (where.prop, span(where)), desk.services.db
    ended = datetime(2026, 4, 11, tzinfo=UTC)  # when the first third of April was over
    for now, spans in ((ended + DAY - MINUTE, 3), (ended + DAY, 4)):
        with rolled_up(db, [wanted], now) as rollup, db.read() as s:
            assert sorted_(rollup.insights(s, *wanted)) == direct(desk, where)
        assert stored(desk) == spans


@pytest.mark.parametrize("when", ["before it is read", "after it is read"])
def test_a_change_while_counts_are_added_up_is_never_lost(desk: Desk, when: str) -> None:
    story, db = Story(desk, ZONES[0]), desk.services.db
    story.happens("books", 1, 40 * 24 * 60)
    wanted = story.where.prop, span(story.where)
    with rolled_up(db, [wanted], NOW) as rollup:
        if when.startswith("before"):
            story.happens("ends", 1, 5)
        with db.read() as s:
            seen = sorted_(rollup.insights(s, *wanted))
        if when.startswith("after"):
            story.happens("ends", 1, 5)
    assert seen.total.completed == int(when.startswith("before"))
    assert look(desk, story.where) == direct(desk, story.where)
    assert direct(desk, story.where).total.completed == 1


def test_two_readers_at_once_store_one_truth(desk: Desk) -> None:
    story, db = Story(desk, ZONES[0]), desk.services.db
    story.happens("books", 1, 40 * 24 * 60)
    wanted = story.where.prop, span(story.where)
    with rolled_up(db, [wanted], NOW) as slow:
        with db.read() as s:
            slow.insights(s, *wanted)
        story.happens("ends", 1, 5)
        assert look(desk, story.where) == direct(desk, story.where)
    assert look(desk, story.where) == direct(desk, story.where)


def test_nothing_is_stored_beside_a_change_that_is_not_committed(desk: Desk) -> None:
    """Only on PostgreSQL, where writers run side by side: the reader does not wait for them."""
    if desk.services.db.dialect == "sqlite":
        pytest.skip("one writer at a time")
    story = Story(desk, ZONES[0])
    story.happens("books", 1, 40 * 24 * 60)
    with desk.services.db.write() as s:
        s.execute(update(Order).where(Order.id == story.orders[0]).values(ended_as="COMPLETED"))
        assert look(desk, story.where).total.completed == 0
        assert stored(desk) == 0
    assert look(desk, story.where).total.completed == 1
    assert stored(desk) == len(STORED)


def test_a_busy_database_still_answers(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> Any:
        raise DatabaseBusy("full")

    story = Story(desk, ZONES[0])
    story.happens("books", 1, 40 * 24 * 60)
    expected = direct(desk, story.where)
    monkeypatch.setattr(desk.services.db, "write", busy)
    assert look(desk, story.where) == expected
    assert stored(desk) == 0


def test_the_place_to_which_a_ride_was_redirected_leaves_the_roll_up(desk: Desk) -> None:
    story = Story(desk, ZONES[0])
    story.happens("books", 1, 40 * 24 * 60)
    story.happens("is_redirected", 0, 1)
    look(desk, story.where)
    with desk.services.db.read() as s:
        assert any("Harbour 0" in each for each in s.scalars(select(InsightSpan.figures)))
    story.happens("is_erased", 0, 1)
    with desk.services.db.read() as s:
        figures = s.scalars(select(InsightSpan.figures)).all()
    assert len(figures) == len(STORED) - 1
    assert not any("Harbour" in each for each in figures if each)


def stored_spans(desk: Desk, where: Place) -> set[date]:
    """The first day of each stored span of a property."""
    query = select(InsightSpan.since).where(InsightSpan.property_id == where.prop.id)
    with desk.services.db.read() as s:
        return {at.astimezone(where.prop.tz).date() for at in s.scalars(query)}


def true_spans(desk: Desk, where: Place) -> set[date]:
    """The first day of each stored span of a property whose figures are still valid."""
    tz = where.prop.tz
    firsts = sorted(STORED)
    lasts = [*(first - DAY for first in firsts[1:]), LAST]
    spans = [span_of(*days, tz) for days in zip(firsts, lasts, strict=True)]
    with desk.services.db.read() as s:
        return {each.since.astimezone(tz).date() for each in _valid_figures(s, where.prop, spans)}


# first days: two thirds of March, the whole of April, and the days before and after these parts
STORED = {FIRST, *(date(2026, *day) for day in ((3, 11), (3, 21), (4, 1), (5, 1)))}


def test_what_is_forgotten_of_a_ride_is_in_its_own_days_alone(desk: Desk) -> None:
    """Two redirected rides: one at the first instant of April, and one nine days earlier."""
    story, elsewhere = Story(desk, "UTC"), Story(desk, "UTC")
    april = (date(2026, 4, 1) - FIRST).days * 24 * 60
    for minute in (april, april - 9 * 24 * 60):
        story.happens("books", 1, minute)
    for n in (0, 1):
        story.happens("is_redirected", n, 1)
    for each in (story, elsewhere):
        look(desk, each.where)
    story.happens("is_erased", 0, 1)
    assert stored_spans(desk, story.where) == STORED - {date(2026, 4, 1)}
    assert stored_spans(desk, elsewhere.where) == STORED, "of another property"
    look(desk, story.where)
    story.happens("is_erased", 1, 1)
    assert stored_spans(desk, story.where) == STORED - {date(2026, 3, 21)}


def test_a_ride_that_was_never_redirected_names_no_place_to_forget(desk: Desk) -> None:
    story = Story(desk, "UTC")
    story.happens("books", 1, 40 * 24 * 60)
    story.happens("is_cancelled", 0, 1)
    look(desk, story.where)
    story.happens("is_erased", 0, 1)
    assert stored_spans(desk, story.where) == STORED


def test_a_reader_of_one_property_loses_no_change_of_another(desk: Desk) -> None:
    one, other = Story(desk, ZONES[0]), Story(desk, ZONES[0])
    for each in (one, other):
        each.happens("books", 1, 40 * 24 * 60)
    look(desk, one.where)
    one.happens("ends", 1, 5)
    look(desk, other.where)  # it claims its missing spans, and deletes changes without a span
    assert true_spans(desk, other.where) == STORED, "what changed is none of its own"
    assert true_spans(desk, one.where) == STORED - {date(2026, 4, 1)}
    assert look(desk, one.where) == direct(desk, one.where)


@pytest.mark.parametrize("last", [date(2026, 4, 30), date(2026, 6, 30)])
def test_a_whole_month_or_quarter_is_one_span_and_what_another_release_has_counted_goes(
    desk: Desk, last: date
) -> None:
    story, db = Story(desk, ZONES[0]), desk.services.db
    story.happens("books", 1, 40 * 24 * 60)
    look(desk, story.where)
    with db.write() as s:
        s.execute(update(InsightSpan).values(counted_by="another release"))
    whole = span_of(date(2026, 4, 1), last, story.where.prop.tz)
    wanted = story.where.prop, whole
    with rolled_up(db, [wanted], NOW + 40 * DAY) as rollup, db.read() as s:
        assert rollup.insights(s, *wanted).total.rides == 1
    assert stored_spans(desk, story.where) == {date(2026, 4, 1)}


def test_days_beside_whole_parts_are_stored_for_the_latest_request_alone(desk: Desk) -> None:
    """Otherwise a daily look at the last days would leave another row each time."""
    story, elsewhere, db = Story(desk, "UTC"), Story(desk, "UTC"), desk.services.db
    for each in (story, elsewhere):
        look(desk, each.where)
    later = story.where.prop, span_of(FIRST + DAY, LAST + DAY, story.where.prop.tz)
    with rolled_up(db, [later], NOW) as rollup, db.read() as s:
        rollup.insights(s, *later)
    assert stored_spans(desk, story.where) == STORED - {FIRST} | {FIRST + DAY}
    assert stored_spans(desk, elsewhere.where) == STORED, "of another property"


def test_triggers_cover_all_that_the_insights_read() -> None:
    """A change that counts another column must add a trigger for it."""
    counted = import_module(f"ridedash.store.migrations.versions.{MIGRATION}").COUNTED
    statements = [*queries.WAITS.values(), queries.CHANGED, queries.WAS_UNKNOWN, queries.CANCELLED]
    for grouped in (queries.GROUPS, queries.DESTINATIONS, *queries.times("sqlite", 1)):
        statements += [grouped.usual, grouped.others]
    read = {
        (column.table.name, column.name)
        for statement in statements
        for column in visitors.iterate(statement)
        if isinstance(column, Column) and column.table.name in counted
    }
    keys = {(table, "id") for table in counted}
    named = {(table, column) for table, columns in counted.items() for column in columns}
    assert len(read - keys) > 20
    assert read - keys <= named
