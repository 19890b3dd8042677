"""Local pickup times as instants, at clock changes too, and when a ride has to be ordered for
one.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.orders.schedule_times import NoSuchTime, due_at, eta_of, local_time, wait_after

BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)  # clocks go 02:00 → 03:00, and 03:00 → 02:00
NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("day", "clock", "utc"),
    [
        (date(2026, 3, 28), time(2, 30), datetime(2026, 3, 28, 1, 30, tzinfo=UTC)),
        (SPRING, time(1, 59), datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),
        (SPRING, time(3, 0), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        (SPRING, time(5, 10), datetime(2026, 3, 29, 3, 10, tzinfo=UTC)),
        (AUTUMN, time(1, 59), datetime(2026, 10, 24, 23, 59, tzinfo=UTC)),
        (AUTUMN, time(3, 0), datetime(2026, 10, 25, 2, 0, tzinfo=UTC)),
    ],
)
def test_a_local_time_beside_a_clock_change_is_one_instant(
    day: date, clock: time, utc: datetime
) -> None:
    found = local_time(day, clock, BERLIN)
    assert (found.at, found.twice) == (utc, False)


@pytest.mark.parametrize("minute", [0, 1, 30, 59])
def test_a_local_time_that_a_clock_change_leaves_out_is_refused_with_the_next_one_that_exists(
    minute: int,
) -> None:
    with pytest.raises(NoSuchTime) as refused:
        local_time(SPRING, time(2, minute), BERLIN)
    assert refused.value.after == time(3, 0)


@pytest.mark.parametrize("minute", [0, 30, 59])
def test_a_local_time_that_comes_twice_is_the_first_instant_and_marked(minute: int) -> None:
    found = local_time(AUTUMN, time(2, minute), BERLIN)
    assert (found.at, found.twice) == (datetime(2026, 10, 25, 0, minute, tzinfo=UTC), True)


def test_a_clock_change_of_half_an_hour_and_one_at_midnight_are_found_too() -> None:
    with pytest.raises(NoSuchTime) as lord_howe:
        local_time(date(2026, 10, 4), time(2, 15), ZoneInfo("Australia/Lord_Howe"))
    assert lord_howe.value.after == time(2, 30)
    with pytest.raises(NoSuchTime) as beirut:
        local_time(date(2026, 3, 29), time(0, 20), ZoneInfo("Asia/Beirut"))
    assert beirut.value.after == time(1, 0)


def test_a_lead_is_kept_across_a_clock_change_in_real_minutes() -> None:
    at = local_time(SPRING, time(3, 5), BERLIN).at
    due = due_at(at, {"eta": {"seconds": 600}}, timedelta(minutes=10), NOW)
    assert due.astimezone(BERLIN).time() == time(1, 45), (
        "20 minutes before 03:05 of a night without an hour from 2 to 3"
    )


@pytest.mark.parametrize(
    ("product", "lead"),
    [
        ({"eta": {"seconds": 600}}, 20),
        ({"eta": {"seconds": 0}}, 10),
        ({"eta": {"seconds": 9_000}}, 70),
        ({"eta": None}, 20),
        ({"eta": {"seconds": "soon"}}, 20),
        ({"eta": 4}, 20),
        ({}, 20),
    ],
)
def test_a_ride_is_ordered_its_cabs_way_and_a_margin_before_the_pickup(
    product: dict[str, object], lead: int
) -> None:
    pickup = NOW + timedelta(hours=5)
    assert due_at(pickup, product, timedelta(minutes=10), NOW) == pickup - timedelta(minutes=lead)


def test_a_lead_that_has_begun_already_orders_at_once() -> None:
    soon = NOW + timedelta(minutes=15)
    assert due_at(soon, {"eta": {"seconds": 600}}, timedelta(minutes=10), NOW) == NOW
    assert eta_of({}) > timedelta(0)


def test_waits_between_tries_double_up_to_a_minute() -> None:
    assert [wait_after(n).total_seconds() for n in (1, 2, 3, 4, 5, 6, 40)] == [
        5,
        10,
        20,
        40,
        60,
        60,
        60,
    ]
