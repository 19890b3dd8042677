"""Local pickup times as instants, also at clock changes, and when a planned ride is due."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.times.schedule_times import (
    NoSuchTime,
    SeriesRide,
    dates_key,
    departure_of,
    due_at,
    eta_of,
    local_time,
    ride_on,
    series_rides,
    wait_after,
)

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


def test_a_lead_is_preserved_across_a_clock_change_in_real_minutes() -> None:
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
def test_a_ride_is_ordered_its_cabs_approach_time_and_a_margin_before_the_pickup(
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


def test_a_local_time_is_of_a_whole_minute() -> None:
    shown = time(12, 30, 59, 7)
    assert local_time(date(2026, 3, 28), shown, BERLIN).at == datetime(
        2026, 3, 28, 11, 30, tzinfo=UTC
    )


def test_a_series_has_a_ride_on_each_chosen_weekday_from_day_to_day() -> None:
    friday, sunday = date(2026, 3, 27), date(2026, 3, 29)
    rides = series_rides((friday, sunday), {4, 6}, time(2, 30), BERLIN)
    assert rides == [
        SeriesRide(friday, datetime(2026, 3, 27, 1, 30, tzinfo=UTC)),
        SeriesRide(sunday, datetime(2026, 3, 29, 1, 0, tzinfo=UTC), moved=True),
    ]
    assert series_rides((friday, friday), {4}, time(2, 30), BERLIN) == rides[:1]
    assert series_rides((friday, date.max), set(), time(2, 30), BERLIN) == []
    assert series_rides((sunday, friday), {4, 6}, time(2, 30), BERLIN) == []
    every = range(7)
    assert len(series_rides((friday, date.max), every, time(2, 30), BERLIN)) == 61
    utc = ZoneInfo("UTC")
    assert len(series_rides((date.max, date.max), every, time(2, 30), utc)) == 1


def test_the_dates_that_a_form_has_shown_are_named_by_a_short_text() -> None:
    rides = [ride_on(date(2026, 3, day), time(12), BERLIN) for day in (1, 2, 3)]
    keys = [dates_key(rides[:count]) for count in range(4)]
    assert len(set(keys)) == 4
    assert {len(key) for key in keys} == {16}
    assert dates_key(rides) == keys[3]


@pytest.mark.parametrize(
    ("leaves", "departs"),
    [
        ((1, 12, 30), (8, 12, 30)),  # half an hour after the first pickup
        ((2, 6, 0), (9, 6, 0)),  # the next morning
        ((3, 6, 0), (10, 6, 0)),
        # no later than the first pickup: the next departure at the same local time
        ((1, 12, 0), (9, 12, 0)),
        ((1, 11, 0), (9, 11, 0)),
        ((0, 13, 0), (8, 13, 0)),
        ((0, 12, 0), (9, 12, 0)),
    ],
)
def test_the_flight_of_a_ride_leaves_as_many_days_after_its_own_pickup(
    leaves: tuple[int, int, int], departs: tuple[int, int, int]
) -> None:
    def at(day: int, hour: int, minute: int) -> datetime:
        return datetime(2026, 5, 1, hour, minute, tzinfo=BERLIN) + timedelta(days=day - 1)

    found = departure_of(at(8, 12, 0), at(1, 12, 0), at(*leaves), BERLIN)
    assert found == at(*departs)


def test_a_series_has_every_one_of_its_weekdays_from_its_first_day_to_its_last() -> None:
    monday = date(2026, 3, 2)
    rides = series_rides((monday, date(2026, 3, 10)), {0, 1, 6}, time(9, 0), BERLIN)
    assert [each.day.day for each in rides] == [2, 3, 8, 9, 10]
