"""Heartbeats: readiness, the pages and the metrics agree which workers are alive."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ridedash.rides.health import (
    AHEAD,
    ALIVE,
    can_send,
    counts,
    heartbeat_age,
    is_alive,
    service_silent_since,
    write_end,
    write_heartbeat,
)
from ridedash.store.database.database import Database

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def db(database: str) -> Iterator[Database]:
    made = Database(database)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("beat_at", "alive"),
    [
        (NOW - ALIVE - SECOND, False),
        (NOW - ALIVE, True),
        (NOW, True),
        (NOW + AHEAD, True),
        (NOW + AHEAD + SECOND, False),  # its clock has stepped back since
    ],
)
def test_a_heartbeat_counts_for_all_or_for_none(
    db: Database, beat_at: datetime, alive: bool
) -> None:
    write_heartbeat(db, "desk:1:a", beat_at, silent_since=NOW - timedelta(minutes=2))
    with db.read() as s:
        found = counts(s, NOW)
        assert is_alive(heartbeat_age(s, NOW)) is alive
        assert can_send(s, NOW) is alive
        assert (service_silent_since(s, NOW) is not None) is alive
        assert found.worker_silent_s == heartbeat_age(s, NOW)
    assert found.workers == int(alive)
    assert found.service_silent_s == (120.0 if alive else 0.0)


def test_a_heartbeat_of_the_future_hides_no_worker_and_proves_none(db: Database) -> None:
    write_heartbeat(db, "desk:1:a", NOW - ALIVE)
    write_heartbeat(db, "desk:2:b", NOW + timedelta(hours=1), silent_since=NOW - SECOND)
    with db.read() as s:
        found = counts(s, NOW)
    assert (found.workers, found.worker_silent_s) == (1, ALIVE.total_seconds())
    assert found.service_silent_s == 0.0


def test_a_worker_that_was_stopped_is_heard_a_while_and_is_no_worker(db: Database) -> None:
    write_heartbeat(db, "desk:1:a", NOW)
    write_end(db, "desk:1:a")
    with db.read() as s:
        found = counts(s, NOW + 10 * SECOND)
    assert (found.workers, found.worker_silent_s) == (0, 10.0)


def test_a_worker_that_can_store_no_answer_is_alive_and_can_not_send(db: Database) -> None:
    write_heartbeat(db, "desk:1:a", NOW, ready=False)
    with db.read() as s:
        assert is_alive(heartbeat_age(s, NOW))
        assert not can_send(s, NOW)
    write_heartbeat(db, "desk:2:b", NOW)
    with db.read() as s:
        assert can_send(s, NOW), "another one can"
        assert counts(s, NOW).workers == 2
