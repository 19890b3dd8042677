"""A service that is away for ten minutes, or comes and goes: few calls, nothing lost, all fresh soon, never a burst."""

import random
from pathlib import Path

import pytest

from bench.faults.outage import RATE, flap, most_within, outage, peak, town

pytestmark = [pytest.mark.database, pytest.mark.sqlite_only]


def test_ten_minutes_away_with_300_rides_cost_few_calls_and_all_are_fresh_soon_after(tmp_path: Path) -> None:
    with town(tmp_path, random.Random(14)) as place:
        found = outage(place, 300, before_s=5.0, away_s=600.0, after_s=45.0)
    assert found.calls <= 60
    assert found.told_s <= 5.0
    assert found.fresh_s < 45.0
    assert found.peak <= RATE
    assert found.lost == 0


def test_a_service_that_flaps_toggles_the_breaker_twelve_times_a_minute_at_most_and_no_state_is_lost(
    tmp_path: Path,
) -> None:
    with town(tmp_path, random.Random(15)) as place:
        toggles = flap(place, 20, minutes=10.0)
        seen = place.seen_since(place.now() - 30.0)
        assert toggles <= 12
        assert place.lost() == 0
        assert len(seen) == len(place.service.bookings)  # each ride is followed again
        assert peak([asked.at for asked in place.asked]) <= RATE


def test_the_most_of_any_span_is_counted_without_its_end() -> None:
    assert most_within([], 1.0) == 0
    assert most_within([0.0, 0.5, 1.0, 1.4], 1.0) == 3
    assert most_within([0.0, 1.0, 2.0], 1.0) == 1
