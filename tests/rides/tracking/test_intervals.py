"""How often a ride is polled, how old its facts are, and until when cancelling is free."""

from datetime import UTC, datetime, timedelta

import pytest

from ridedash.rides.tracking.intervals import (
    cancel_free_until,
    freshness,
    next_poll_s,
    search_ends,
)
from ridedash.service_time import REAL, ServiceTime
from ridedash.wire import Kind

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "kind", "eta_s", "seconds"),
    [
        (None, Kind.SHARE, None, 3),
        ("ALLOTMENT_PENDING", Kind.POINT_TO_POINT, None, 3),
        ("ALLOTMENT_RETRYING", Kind.AUTO, None, 3),
        ("CALL_DRIVER", Kind.AUTO, None, 4),
        ("CALL_DRIVER", Kind.AUTO, 180.5, 4),
        ("CALL_DRIVER", Kind.AUTO, 180, 3),
        ("CALL_DRIVER", Kind.AUTO, 0, 3),
        ("CLIENT_LOCATED", Kind.SHARE, None, 3),
        ("IN_PROGRESS", Kind.SHARE, 10, 5),
        ("INVOICE", Kind.AUTO, None, 5),
        ("INVOICE", Kind.SHARE, None, 3),
        ("INVOICE", Kind.POINT_TO_POINT, None, 3),
        ("COMPLETED", Kind.SHARE, None, 60),
        ("BOOKING_CANCELLED", Kind.AUTO, None, 60),
        ("ALLOTMENT_FAILED", Kind.POINT_TO_POINT, None, 60),
    ],
)
def test_each_status_has_its_interval_and_a_fast_clock_a_shorter_one(
    status: str | None, kind: Kind, eta_s: float | None, seconds: float
) -> None:
    assert next_poll_s(status, kind, eta_s, 1) == seconds
    assert next_poll_s(status, kind, eta_s, 2) == seconds / 2
    assert next_poll_s(status, kind, eta_s, 1000) == 0.5


@pytest.mark.parametrize(
    ("age_s", "interval_s", "word"),
    [
        (0, 3, "fresh"),
        (10, 3, "fresh"),
        (10.001, 3, "aging"),
        (12, 6, "fresh"),
        (12.001, 6, "aging"),
        (60, 3, "aging"),
        (60.001, 3, "stale"),
        (300, 3, "stale"),
        (300.001, 3, "lost"),
        (599, 300, "fresh"),
        (601, 300, "lost"),
    ],
)
def test_facts_age_by_the_interval_and_by_the_clock(
    age_s: float, interval_s: float, word: str
) -> None:
    assert freshness(NOW - timedelta(seconds=age_s), NOW, interval_s) == word


def test_facts_that_were_never_seen_are_stale() -> None:
    assert freshness(None, NOW, 3) == "stale"


def test_cancelling_is_free_from_the_first_driver_on_by_the_services_clock() -> None:
    assert cancel_free_until(300, NOW, REAL) == NOW + timedelta(seconds=300)
    assert cancel_free_until(300, NOW, ServiceTime(pace=60)) == NOW + timedelta(seconds=5)
    assert cancel_free_until(0, NOW, REAL) == NOW
    assert cancel_free_until(None, NOW, REAL) is None
    assert cancel_free_until(300, None, REAL) is None


def test_the_search_ends_its_time_after_the_answer_by_the_services_clock() -> None:
    assert search_ends(None, NOW, 300, REAL) == NOW + timedelta(seconds=300)
    assert search_ends(None, NOW, 300, ServiceTime(pace=60)) == NOW + timedelta(seconds=5)
    assert search_ends(None, None, 300, REAL) is None
    assert search_ends(None, NOW, None, REAL) is None


def test_an_end_of_the_search_that_an_earlier_release_stored_holds() -> None:
    stored = NOW + timedelta(seconds=90)
    assert search_ends(stored, NOW, 300, REAL) == stored
    assert search_ends(stored, None, None, REAL) == stored
