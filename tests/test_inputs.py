"""Numbers, days and times from outside: read in one place, bounded, never an exception."""

from datetime import UTC, date, datetime, time

import pytest

from ridedash.inputs import MAX_ID, calendar_day, row_id, time_of_day, utc_instant, whole_number
from tests.hostile import DAYS, INTEGERS, TEXTS


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("007", 7), (" 12 ", 12), (str(MAX_ID), MAX_ID), (str(MAX_ID + 1), None)]
    + [(text, None) for text in ("", "+1", "-1", "1_000", "1.0", "0x1", "1 2", "²", "9" * 5000)],
)
def test_the_id_of_a_row_is_positive_and_fits_the_database(text: str, number: int | None) -> None:
    assert row_id(text) == number


def test_a_number_outside_its_bounds_is_none() -> None:
    assert [whole_number(text, 1, 6) for text in "0167"] == [None, 1, 6, None]
    assert whole_number("0") == 0


@pytest.mark.parametrize(
    ("text", "day"),
    [("2026-03-05", date(2026, 3, 5)), ("2028-02-29", date(2028, 2, 29))]
    + [(text, None) for text in ("20260305", "2026-W10-4", "2026-3-5", "26-03-05", "1999-12-31")]
    + [
        (text, None) for text in ("2200-01-01", "2026-13-01", "\u0662026-03-05", "2026-03-05T10:00")
    ],
)
def test_a_day_is_written_in_full_and_of_these_centuries(text: str, day: date | None) -> None:
    assert calendar_day(text) == day


@pytest.mark.parametrize(
    ("text", "clock"),
    [("05:10", time(5, 10)), ("23:59:30", time(23, 59, 30))]
    + [(text, None) for text in ("5:10", "24:00", "05", "T05:10", "05:10Z", "05:10+01:00")],
)
def test_a_time_has_no_zone(text: str, clock: time | None) -> None:
    assert time_of_day(text) == clock


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-05T05:10:00.25", datetime(2026, 3, 5, 5, 10, 0, 250_000, UTC)),
        ("2026-03-05T05:10:00+01:00", None),
        ("0001-01-01T00:00:00", None),
        ("2026-03-05", datetime(2026, 3, 5, tzinfo=UTC)),
        ("2026-03-05Tnoon", None),
    ],
)
def test_an_instant_is_of_utc(text: str, at: datetime | None) -> None:
    assert utc_instant(text) == at


@pytest.mark.parametrize("text", [*INTEGERS.values(), *DAYS.values(), *TEXTS.values()])
def test_no_text_makes_a_reader_fail(text: str) -> None:
    for read in (whole_number, row_id, calendar_day, time_of_day, utc_instant):
        read(text)
