"""Insights: figures equal the history's in any zone, currency and state; waits; unknown ones."""

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridedash.store import accounts, properties
from ridedash.store.history import RideFilter, RideOutcome, outcome_of, records, totals
from ridedash.store.insights import (
    COUNTS,
    Destination,
    Figures,
    Insights,
    InsightsProperty,
    Keys,
    Span,
    insights,
    span_of,
)
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.orders import TimelineEvent
from ridedash.store.orders import Order, OrderState
from tests.views.ride_pages import HASH, NOON, Desk, action_row

pytestmark = pytest.mark.database
ZONES = ("Asia/Kolkata", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe", "UTC")
DAY = timedelta(days=1)
# clocks change in the first week in New York, in the second on Lord Howe, by half an hour
WEEKS = (date(2026, 3, 5), date(2026, 10, 1))
ENDS = (None, "COMPLETED", "BOOKING_CANCELLED", "ALLOTMENT_FAILED")
numbers = itertools.count(1)


@dataclass
class Place:
    """A property of a test, with two members of staff and two cost centres."""

    name: str
    prop: InsightsProperty
    staff: list[int]
    centres: list[int]

    def span(self, first: date, last: date) -> Span:
        def midnight(day: date) -> datetime:
            return datetime.combine(day, time(), self.prop.tz).astimezone(UTC)

        return Span(midnight(first), midnight(last + DAY))


def place(desk: Desk, zone: str, currency: str | None = "INR") -> Place:
    name = f"p{next(numbers)}"
    with desk.services.db.write() as s:
        prop = properties.add_property(s, f"House {name}", zone, NOON, currency=currency)
        staff = [
            properties.add_staff(s, prop.id, f"{who} {name}", HASH, "concierge", NOON).id
            for who in ("Wren", "Lark")
        ]
        account = accounts.add_account(s, desk.services.vault, prop.id, "House", "token", NOON)
        centres = [CostCentre(property_id=prop.id, name=each, closed_at=None) for each in "AB"]
        s.add_all(centres)
        s.flush()
        desk.ids |= {name: staff[0], f"{name}.property": prop.id, f"{name}.account": account.id}
        insights_property = InsightsProperty(prop.id, ZoneInfo(zone), currency)
        return Place(name, insights_property, staff, [each.id for each in centres])


def ride(desk: Desk, where: Place, at: datetime, **columns: Any) -> int:
    """An order of the property at an instant, with these columns."""
    state, kind = columns.pop("state", "BOOKED"), columns.pop("kind", "point_to_point")
    facts = columns.pop("facts", {})
    order_id = desk.order(state, kind=kind, prop=where.name, **facts)
    with desk.services.db.write() as s:
        order = s.get(Order, order_id)
        order.created_at = at
        for name, value in columns.items():
            setattr(order, name, value)
    return order_id


def read(desk: Desk, where: Place, span: Span) -> Insights:
    with desk.services.db.read() as s:
        return insights(s, where.prop, span)


def of_history(desk: Desk, where: Place, span: Span, **filters: Any) -> Figures:
    """The figures according to the history's totals, with one query for each outcome."""

    def totals_with(**more: Any) -> Any:
        wanted = RideFilter(span.since, span.until, **filters | more)
        return totals(s, where.prop.id, wanted, where.prop.currency)

    with desk.services.db.read() as s:
        all_ = totals_with()
        counts = {each: totals_with(outcome=each).rides for each in RideOutcome}
        return Figures(
            rides=all_.rides,
            completed=all_.completed,
            cancelled=all_.cancelled,
            no_driver=counts[RideOutcome.NO_DRIVER],
            not_booked=counts[RideOutcome.NOT_BOOKED],
            unknown=counts[RideOutcome.UNKNOWN],
            priced=all_.completed - all_.unpriced,
            sums=dict(all_.sums),
        )


orders = st.lists(
    st.fixed_dictionaries(
        {
            "minute": st.integers(-60, 8 * 24 * 60),
            "state": st.sampled_from([str(each) for each in OrderState]),
            "ended_as": st.sampled_from(ENDS),
            "total_minor": st.none() | st.integers(0, 10**9),
            "currency": st.sampled_from(["INR", "EUR", None]),
            "kind": st.sampled_from(["point_to_point", "auto"]),
            "staff": st.sampled_from([0, 1, None]),
            "centre": st.sampled_from([0, 1, None]),
            "drop": st.sampled_from(["Airport", "=1+1", None]),
            "known": st.booleans(),
        }
    ),
    max_size=12,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    zone=st.sampled_from(ZONES),
    currency=st.sampled_from(["INR", None]),
    first=st.sampled_from(WEEKS),
    made=orders,
)
def test_every_total_equals_that_of_the_history_to_the_cent(
    desk: Desk, zone: str, currency: str | None, first: date, made: list[dict[str, Any]]
) -> None:
    where, last = place(desk, zone, currency), first + 6 * DAY
    span = where.span(first, last)
    for each in made:
        columns = {name: each[name] for name in ("state", "ended_as", "total_minor", "currency")}
        ride(
            desk,
            where,
            span.since + timedelta(minutes=each["minute"]),
            kind=each["kind"],
            staff_id=None if each["staff"] is None else where.staff[each["staff"]],
            cost_centre_id=None if each["centre"] is None else where.centres[each["centre"]],
            facts={"drop_name": each["drop"], "drop_lat": -38.4 if each["known"] else None},
            **columns,
        )
    found = read(desk, where, span)
    assert found.total == of_history(desk, where, span)
    for n in range(7):
        day = first + n * DAY
        expected = of_history(desk, where, where.span(day, day))
        assert found.days.get(day, Figures()) == expected, day
    for what, groups, names in (
        ("category", found.categories, ["mini", "auto"]),
        ("staff_id", found.staff, where.staff),
        ("centre_id", found.centres, where.centres),
    ):
        for name in names:
            expected = of_history(desk, where, span, **{what: name})
            assert groups.get(name, Figures()) == expected, (what, name)
    groups_of_rides: tuple[dict[Any, Figures], ...] = (
        found.days,
        found.week,
        found.categories,
        found.staff,
        found.centres,
        found.destinations,
    )
    for groups in groups_of_rides:
        summed = Figures()
        for figures in groups.values():
            summed.add(figures)
        assert summed == found.total
    assert_hours_and_places(desk, where, span, found)


def assert_hours_and_places(desk: Desk, where: Place, span: Span, found: Insights) -> None:
    """Check that hours of the week and destinations agree with the list of rides."""
    with desk.services.db.read() as s:
        query = s.query(Order.id).filter(Order.property_id == where.prop.id)
        within = (Order.happens_at >= span.since, Order.happens_at < span.until)
        listed = records(s, where.prop.id, [row[0] for row in query.filter(*within)])
    here = [each.at.astimezone(where.prop.tz) for each in listed]
    assert {key: each.rides for key, each in found.week.items()} == Counter(
        (at.weekday(), at.hour) for at in here
    )
    assert {key: each.rides for key, each in found.destinations.items()} == Counter(
        Destination(each.drop if each.has_drop else None, each.has_drop) for each in listed
    )


def test_a_ride_is_of_its_own_day_and_hour_up_to_the_last_instant(desk: Desk) -> None:
    where = place(desk, "Australia/Lord_Howe")
    change = datetime(2026, 10, 3, 15, 30, tzinfo=UTC)  # 02:00 becomes 02:30
    midnight = datetime(2026, 10, 4, 13, 0, tzinfo=UTC)
    instant = timedelta(microseconds=1)
    for at in (change - instant, change, midnight - instant, midnight):
        ride(desk, where, at)
    found = read(desk, where, where.span(date(2026, 10, 4), date(2026, 10, 5)))
    assert {day: each.rides for day, each in found.days.items()} == {
        date(2026, 10, 4): 3,
        date(2026, 10, 5): 1,
    }
    hours = {key: each.rides for key, each in found.week.items()}
    assert hours == {(6, 1): 1, (6, 2): 1, (6, 23): 1, (0, 0): 1}


def test_a_ride_counts_where_it_went_after_a_change_of_drop(desk: Desk) -> None:
    where = place(desk, "Asia/Kolkata")
    taken = ("drop", "done", {"payload": {"lat": -38.6, "lng": -128.1, "name": "Old Harbour"}})
    without = ("drop", "done", {"payload": {"name": "Nowhere"}})
    refused = ("drop", "refused", {"payload": {"lat": -38.7, "lng": -128.2, "name": "Nowhere"}})
    over = {"ended_as": "COMPLETED", "total_minor": 24_000, "currency": "INR"}
    for actions in ([taken, refused], [taken], [without], []):
        ride(desk, where, NOON, facts={"actions": actions}, **over)
    found = read(desk, where, where.span(NOON.date(), NOON.date()))
    assert found.destinations == {
        Destination("Old Harbour", True): Figures(2, 2, priced=2, sums={"INR": 48_000}),
        Destination("Meridian Airport, Departures", True): Figures(
            2, 2, priced=2, sums={"INR": 48_000}
        ),
    }


def test_waits_are_added_up_and_counted_to_the_second(desk: Desk) -> None:
    where = place(desk, "Asia/Kolkata")
    for driver_s, guest_s in ((59, 60), (60, None), (9_000, 3_599), (None, None)):
        ride(desk, where, NOON, driver_s=driver_s, guest_s=guest_s)
    found = read(desk, where, where.span(NOON.date(), NOON.date()))
    assert found.driver_waits == {59: 1, 60: 1, 9_000: 1}
    assert found.guest_waits == {60: 1, 3_599: 1}
    for figures in (found.total, found.categories["mini"], found.days[NOON.date()]):
        assert (figures.driver_n, figures.driver_s) == (3, 9_119)
        assert (figures.guest_n, figures.guest_s) == (2, 3_659)


def test_an_order_that_was_unknown_counts_once_also_when_it_is_known_now(desk: Desk) -> None:
    where = place(desk, "Asia/Kolkata")
    ids = [
        ride(desk, where, NOON, state=state)
        for state in ("UNKNOWN", "BOOKED", "CLOSED_NOT_BOOKED", "BOOKED")
    ]
    with desk.services.db.write() as s:
        for order_id in (*ids[:3], ids[1]):  # the second one was unknown twice
            s.add(
                TimelineEvent(
                    property_id=where.prop.id,
                    order_id=order_id,
                    what="order",
                    name="UNKNOWN",
                    detail=None,
                    at=NOON,
                )
            )
    found = read(desk, where, where.span(NOON.date(), NOON.date()))
    for figures in (found.total, found.staff[where.staff[0]], found.centres[None]):
        assert (figures.rides, figures.unknown, figures.cleared) == (4, 1, 2)


def test_cancelled_rides_come_with_what_tells_whether_a_fee_was_due(desk: Desk) -> None:
    where, minute = place(desk, "Asia/Kolkata"), timedelta(minutes=1)
    stopped = ("cancel", "done", {})  # pressed at noon
    for columns in ({"allotted_at": NOON - 6 * minute}, {"allotted_at": None}):
        facts = {"actions": [stopped]}
        order_id = desk.order(
            "BOOKED",
            "BOOKING_CANCELLED",
            prop=where.name,
            ride=columns | {"ended_at": NOON + minute},
            **facts,
        )
        desk.add(
            lambda s, each=order_id: setattr(s.get(Order, each), "ended_as", "BOOKING_CANCELLED")
        )
    (one,) = read(desk, where, where.span(NOON.date(), NOON.date())).cancelled
    assert (one.allotted_at, one.stopped_at) == (NOON - 6 * minute, NOON)
    assert json.loads(one.policy or "{}").get("charge") == "30"
    assert (one.currency, one.aborted) == ("INR", False)


@pytest.mark.parametrize(
    ("actions", "stopped_at", "aborted"),
    [
        ([("cancel", "done", 2), ("drop", "done", 4), ("abort", "refused", 5)], 2, False),
        ([("abort", "done", 3), ("cancel", "refused", 6)], 3, True),
        ([("drop", "done", 4), ("feedback", "done", 9)], 7, False),
        ([("cancel", "refused", 1)], 7, False),
        ([], 7, False),
    ],
)
def test_a_ride_was_stopped_by_the_press_that_ended_it_and_else_when_it_ended(
    desk: Desk, actions: list[tuple[str, str, int]], stopped_at: int, aborted: bool
) -> None:
    """Another ride was aborted later: its actions must not count for this one."""
    where, minute = place(desk, "Asia/Kolkata"), timedelta(minutes=1)
    facts = {"allotted_at": NOON, "ended_at": NOON + 7 * minute}
    for pressed in (actions, [("abort", "done", 30)]):
        order_id = desk.order("BOOKED", "BOOKING_CANCELLED", prop=where.name, ride=facts)
        with desk.services.db.write() as s:
            order = s.get_one(Order, order_id)
            order.ended_as = "BOOKING_CANCELLED"
            for name, state, after in pressed:
                s.add(action_row(order, name, state, NOON + after * minute, {}))
    one, _other = sorted(
        read(desk, where, where.span(NOON.date(), NOON.date())).cancelled,
        key=lambda each: each.stopped_at,
    )
    assert (one.stopped_at, one.aborted) == (NOON + stopped_at * minute, aborted)


def test_the_days_of_a_span_begin_and_end_at_their_own_midnight() -> None:
    zone = ZoneInfo("Australia/Lord_Howe")  # on this day its clock goes forward by half an hour
    span = span_of(date(2026, 10, 4), date(2026, 10, 4), zone)
    midnights = datetime(2026, 10, 3, 13, 30, tzinfo=UTC), datetime(2026, 10, 4, 13, tzinfo=UTC)
    assert (span.since, span.until) == midnights
    assert span_of(date(2026, 10, 3), date(2026, 10, 4), zone).since == midnights[0] - DAY


def test_other_properties_and_other_days_are_never_counted(desk: Desk) -> None:
    where, other = place(desk, "Asia/Kolkata"), place(desk, "Asia/Kolkata")
    ride(desk, where, NOON)
    for elsewhere, at in ((other, NOON), (where, NOON - DAY), (where, NOON + DAY)):
        ride(desk, elsewhere, at, facts={"actions": [("drop", "done", {"payload": {"lat": 1.0}})]})
    found = read(desk, where, where.span(NOON.date(), NOON.date()))
    assert found.total == Figures(rides=1)
    assert len(found.destinations) == 1


def test_every_count_of_other_rides_is_added() -> None:
    one, other = (Figures(*range(n, n + len(COUNTS)), sums={"INR": n}) for n in (1, 100))
    one.add(other)
    assert [getattr(one, name) for name in COUNTS] == [101 + 2 * n for n in range(len(COUNTS))]
    assert one.sums == {"INR": 101}


def test_outcomes_of_this_test_are_all_of_them() -> None:
    assert {outcome_of(state, end) for state in OrderState for end in ENDS} == set(RideOutcome)


def test_what_a_place_was_paid_in_another_currency_is_its_own(desk: Desk) -> None:
    where, day = place(desk, "UTC"), date(2026, 4, 8)
    span = where.span(day, day)
    for name, minor in (("Airport", 700), ("Pier", 900)):
        ride(
            desk,
            where,
            span.since + timedelta(hours=1),
            ended_as="COMPLETED",
            total_minor=minor,
            currency="EUR",
            facts={"drop_name": name},
        )
    found = read(desk, where, span)
    sums = {key.name: each.sums for key, each in found.destinations.items()}
    assert sums == {"Airport": {"EUR": 700}, "Pier": {"EUR": 900}}


def test_completed_rides_without_a_price_are_counted() -> None:
    assert Figures(completed=3, priced=2).unpriced == 1


def test_a_ride_that_was_unknown_is_counted_where_it_went(desk: Desk) -> None:
    where, day = place(desk, "UTC"), date(2026, 4, 8)
    span = where.span(day, day)
    at = span.since + timedelta(hours=1)
    cleared, *_others = (ride(desk, where, at, facts={"drop_name": n}) for n in ("Pier", "Airport"))
    with desk.services.db.write() as s:
        event = {"what": "order", "name": "UNKNOWN", "detail": None, "at": NOON}
        s.add(TimelineEvent(property_id=where.prop.id, order_id=cleared, **event))
    found = read(desk, where, span).destinations
    assert {key.name: each.cleared for key, each in found.items()} == {"Pier": 1, "Airport": 0}


def test_what_a_late_cancellation_costs_is_counted_wherever_its_ride_is() -> None:
    found = Insights(ZoneInfo("Asia/Kolkata"))
    keys = Keys(NOON, "mini", 3, None, Destination("Pier", True))
    for currency, minor in (("INR", 3_000), ("EUR", 250), ("INR", 1_000)):
        found.charge(keys, currency, minor)
    day = NOON.astimezone(found.tz)
    groups = (
        found.total,
        found.days[day.date()],
        found.week[day.weekday(), day.hour],
        found.categories["mini"],
        found.staff[3],
        found.centres[None],
        found.destinations[keys.destination],
    )
    assert groups == (Figures(charged=3, fees={"INR": 4_000, "EUR": 250}),) * 7
    assert len(found.week) == len(found.staff) == 1
