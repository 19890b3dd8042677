"""Heartbeats: readiness, pages and metrics agree on which workers are alive."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.health import (
    AHEAD,
    ALIVE,
    ENDED,
    Alarms,
    absent_hosts,
    alarms,
    can_send,
    counts,
    heartbeat_age,
    is_alive,
    this_host,
    write_end,
    write_heartbeat,
)
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Heartbeat
from tests.views.ride_pages import make_desk

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_machine_is_named_by_the_beginning_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "desk" + "-of-the-night" * 9)
    assert this_host() == ("desk" + "-of-the-night" * 9)[:40]


@pytest.mark.parametrize(
    ("last_seen", "alive"),
    [
        (NOW - ALIVE - SECOND, False),
        (NOW - ALIVE, True),
        (NOW, True),
        (NOW + AHEAD, True),
        (NOW + AHEAD + SECOND, False),  # the worker's clock has stepped back since then
    ],
)
def test_a_heartbeat_counts_for_all_or_for_none(
    db: Database, last_seen: datetime, alive: bool
) -> None:
    write_heartbeat(db, "desk:1:a", last_seen, Alarms(NOW - timedelta(minutes=2)))
    with db.read() as s:
        found = counts(s, NOW)
        assert is_alive(heartbeat_age(s, NOW)) is alive
        assert can_send(s, NOW) is alive
        assert (alarms(s, NOW).silent_since is not None) is alive
        assert found.worker_silent_s == heartbeat_age(s, NOW)
    assert found.workers == int(alive)
    assert found.service_silent_s == (120.0 if alive else 0.0)


def test_a_heartbeat_of_the_future_hides_no_worker_and_proves_none(db: Database) -> None:
    write_heartbeat(db, "desk:1:a", NOW - ALIVE)
    write_heartbeat(db, "desk:2:b", NOW + timedelta(hours=1), Alarms(NOW - SECOND))
    with db.read() as s:
        found = counts(s, NOW)
    assert (found.workers, found.worker_silent_s) == (1, ALIVE.total_seconds())
    assert found.service_silent_s == 0.0


def test_a_stopped_worker_has_a_recent_heartbeat_for_a_while_and_is_no_worker(db: Database) -> None:
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


def test_heartbeats_of_a_day_ago_and_of_a_stopped_worker_are_deleted_by_the_next(
    db: Database,
) -> None:
    day = timedelta(days=1)

    def workers() -> set[str]:
        with db.read() as s:
            return set(s.scalars(select(Heartbeat.worker)))

    write_heartbeat(db, "old", NOW - day - SECOND)
    write_heartbeat(db, "yesterday", NOW - day)
    write_heartbeat(db, "stopped", NOW)
    write_end(db, "stopped")
    write_end(db, "never begun")
    assert workers() == {"yesterday", ENDED}
    write_heartbeat(db, "new", NOW)
    assert workers() == {"yesterday", "new"}


def test_a_stopped_worker_leaves_its_last_heartbeat_as_it_was(db: Database) -> None:
    for worker, at in (("a", NOW), ("b", NOW + SECOND)):
        silent = at - timedelta(minutes=2)
        wrong = Alarms(silent, silent, 90.0)
        write_heartbeat(db, worker, at, wrong, ready=False)
        write_heartbeat(db, worker, at + SECOND, wrong, ready=False)
    for worker, at in (("a", NOW), ("b", NOW + SECOND)):
        write_end(db, worker)
        with db.read() as s:
            row = s.get_one(Heartbeat, ENDED)
            assert (row.beat_at, row.unready_since) == (at + SECOND, at), worker
            assert row.silent_since == row.key_refused_since == at - timedelta(minutes=2)
            assert row.clock_ahead_s == 90.0
    write_heartbeat(db, "c", NOW, ready=False)
    write_heartbeat(db, "c", NOW)
    with db.read() as s:
        assert s.get_one(Heartbeat, "c").unready_since is None


def test_what_is_written_beside_a_heartbeat_is_in_its_transaction(db: Database) -> None:
    def also_write(s: Session) -> None:
        row = s.get_one(Heartbeat, "a")
        row.silent_since = NOW

    write_heartbeat(db, "a", NOW, also_write=also_write)
    with db.read() as s:
        assert s.get_one(Heartbeat, "a").silent_since == NOW


def test_machines_without_a_worker_that_is_alive_are_absent(db: Database) -> None:
    last_seen_of = {
        "away:1:a": NOW - 2 * ALIVE,
        "away:2:b": NOW - ALIVE - SECOND,
        "back:1:a": NOW - 2 * ALIVE,
        "back:2:b": NOW - ALIVE,
        f"{this_host()}:1:a": NOW - 2 * ALIVE,
        "gone:1:a": NOW - 2 * ALIVE,
    }
    for worker, at in last_seen_of.items():
        write_heartbeat(db, worker, at)
    with db.read() as s:
        absent = {"away": NOW - ALIVE - SECOND, "gone": NOW - 2 * ALIVE}
        assert absent_hosts(s, NOW) == absent
    write_end(db, "gone:1:a")
    with db.read() as s:
        assert set(absent_hosts(s, NOW)) == {"away"}
    assert len(this_host()) <= 40


@pytest.mark.database
def test_orders_and_rides_are_counted_with_how_long_the_oldest_has_waited(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    with desk.services.db.read() as s:
        none = counts(s, desk.now)
    assert (none.unknown_oldest_s, none.followed, none.overdue, none.late_s) == (0.0, 0, 0, 0.0)
    for age_s in (30, 90):
        desk.order("UNKNOWN", age_s=age_s)
    desk.order("READY", age_s=300)
    desk.order("MATCHING", age_s=300)
    desk.order("REJECTED")
    for due_s in (-1, 0, 7):
        due = desk.now - timedelta(seconds=due_s)
        desk.order("BOOKED", "CALL_DRIVER", ride={"next_poll_at": due})
    desk.order("BOOKED", "COMPLETED", ride={"next_poll_at": None})
    with desk.services.db.read() as s:
        found = counts(s, desk.now)
    desk.close()
    open_ones = {"UNKNOWN": 2, "READY": 1, "MATCHING": 1}
    others = dict.fromkeys(("SCHEDULED", "WAITING", "SENDING"), 0)
    assert found.orders == open_ones | others
    assert (found.unknown_oldest_s, found.followed) == (90.0, 3)
    assert (found.overdue, found.late_s) == (2, 7.0)


@pytest.mark.database
def test_a_poll_that_is_due_right_now_is_not_late_yet(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    desk.order("BOOKED", "CALL_DRIVER", ride={"next_poll_at": desk.now})
    with desk.services.db.read() as s:
        found = counts(s, desk.now)
    desk.close()
    assert (found.overdue, found.late_s) == (1, 0.0)


def test_a_machine_whose_name_has_a_colon_is_named_whole(db: Database) -> None:
    write_heartbeat(db, "rack:7:1:a", NOW - 2 * ALIVE)
    write_heartbeat(db, "here:1:a", NOW)
    with db.read() as s:
        assert absent_hosts(s, NOW) == {"rack:7": NOW - 2 * ALIVE}
