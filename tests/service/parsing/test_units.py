"""Units and times: the limits of what can be read."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ridedash.service.parsing.units import (
    duration,
    length,
    length_unit,
    measured_length,
    measured_time,
    service_time,
    time_unit,
)

YEAR_S = 366 * 86_400


@pytest.mark.parametrize(
    ("value", "unit", "seconds"),
    [
        (366, "days", YEAR_S),
        (YEAR_S + 1, "sec", None),
        (2, "Hrs", 7200),
        (1.5, "", 90),
        (-1, "min", None),
        (1, "fortnight", None),
    ],
)
def test_a_span_of_up_to_a_year_is_read(value: Any, unit: Any, seconds: int | None) -> None:
    for read in (duration(value, unit), measured_time({"value": value, "unit": unit})):
        assert (read.seconds if read else None) == seconds


def test_a_bare_number_counts_in_the_unit_that_is_usual_there() -> None:
    spans = measured_time(3), measured_time(3, "second"), duration(3)
    assert [span.seconds for span in spans if span] == [180, 3, 180]
    lengths = measured_length(5, "metre"), measured_length(5, "mile"), length(5)
    assert [each.metres for each in lengths if each] == [5, 8047, 5000]
    far = measured_length({"value": 2, "unit": "KMs"}, "metre")
    assert far is not None
    assert far.metres == 2000
    assert measured_length({"value": -2, "unit": "km"}, "metre") is None


def test_a_unit_that_is_missing_is_the_usual_one_and_another_word_is_none() -> None:
    assert [time_unit(""), time_unit(None, None), time_unit("week")] == ["minute", None, None]
    assert [length_unit(""), length_unit(None, None), length_unit("yard")] == [
        "kilometre",
        None,
        None,
    ]


def at(hour: int, minute: int, micros: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, 0, micros, UTC)


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-03-01T14:00:00.1234567+05:30", at(8, 30, 123456)),
        ("2026-03-01 14:00:00,5 -3:30", at(17, 30, 500_000)),
        ("2026-03-01T23:59+23:59", at(0, 0)),
        ("2026-03-01T14:00+24:00", None),
        ("2026-03-01T14:00-24:01", None),
        ("2026-03-01T14:00 gmt", at(14, 0)),
        ("2026-03-01t14:00:00z", at(14, 0)),
        ("2026-03-01T14:00:00+05", at(9, 0)),
        ("2026-03-01 14:00:00-3", at(17, 0)),
        ("2026-03-01T14:00 Europe/Paris", at(13, 0)),
        ("2026-03-01T14:00 Mars/Base", None),
        ("2026-03-01T14:00 IST", None),
        ("2026-02-30T14:00Z", None),
        ("2026-03-01T14:00", None),
    ],
)
def test_an_instant_is_read_to_the_microsecond_where_its_zone_is_known(
    written: str, instant: datetime | None
) -> None:
    read = service_time(written)
    assert read is not None
    assert (read.text, read.at) == (written, instant)
