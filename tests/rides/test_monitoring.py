"""What /readyz and /metrics answer, with a database that responds in time and without one."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ridedash.observability.metrics import GaugeReading, Metrics
from ridedash.rides import monitoring
from ridedash.rides.health import HealthCounts, write_heartbeat
from ridedash.rides.monitoring import Monitor, Probe, database_gauges, kiosk_gauges
from ridedash.store.database.database import Database
from ridedash.store.kiosk_desk import KioskCounts
from tests.databases import empty_database

pytestmark = pytest.mark.database
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
COUNTS = HealthCounts({"READY": 2, "UNKNOWN": 1}, 90.0, 7, 3, 1.5, 2, 4.0, 8.0)


def ready(db: Database) -> set[str]:
    found = Monitor(db, lambda: NOW, Metrics()).readiness()
    assert tuple(found) == ("database", "migrations", "worker", "sending")
    return {name for name, holds in found.items() if holds}


def values(gauges: Iterator[GaugeReading]) -> dict[str, dict[tuple[str, ...], float]]:
    return {each.name.removeprefix("ridedash_"): dict(each.values) for each in gauges}


def test_a_process_is_ready_with_a_worker_that_may_send(db: Database) -> None:
    assert ready(db) == {"database", "migrations"}
    write_heartbeat(db, "a:1:b", NOW, ready=False)
    assert ready(db) == {"database", "migrations", "worker"}
    write_heartbeat(db, "a:1:b", NOW)
    assert ready(db) == {"database", "migrations", "worker", "sending"}
    write_heartbeat(db, "a:1:b", NOW - timedelta(minutes=1))
    assert ready(db) == {"database", "migrations"}


def test_a_database_without_tables_is_not_queried_for_a_worker(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    bare = Database(empty_database(tmp_path_factory.mktemp("bare")))
    assert ready(bare) == {"database"}
    metrics = Monitor(bare, lambda: NOW, Metrics()).metrics().decode()
    assert "ridedash_database_up 0.0" in metrics
    assert "ridedash_kiosks" not in metrics
    bare.close()


def test_the_metrics_have_what_the_database_counts(db: Database) -> None:
    metrics = Monitor(db, lambda: NOW, Metrics()).metrics().decode()
    assert "ridedash_database_up 1.0" in metrics
    assert 'ridedash_kiosks{state="alive"} 0.0' in metrics


def test_each_count_is_a_gauge(monkeypatch: pytest.MonkeyPatch) -> None:
    assert values(database_gauges(None)) == {"database_up": {(): 0.0}}
    whole = values(database_gauges(COUNTS))
    assert whole == {
        "database_up": {(): 1.0},
        "orders_open": {("READY",): 2.0, ("UNKNOWN",): 1.0},
        "unknown_oldest_seconds": {(): 90.0},
        "rides_followed": {(): 7.0},
        "rides_overdue": {(): 3.0},
        "poll_lag_seconds": {(): 1.5},
        "workers": {(): 2.0},
        "worker_silent_seconds": {(): 4.0},
        "service_silent_seconds": {(): 8.0},
    }
    never = values(database_gauges(COUNTS._replace(worker_silent_s=None)))
    assert never == {k: v for k, v in whole.items() if k != "worker_silent_seconds"}
    assert values(kiosk_gauges(KioskCounts(1, 2, 3, 59.0))) == {
        "kiosks": {("alive",): 1.0, ("silent",): 2.0, ("out_of_order",): 3.0},
        "kiosk_beats_missed": {(): 2.0},
    }


def test_a_check_that_hangs_is_waited_for_once_and_its_answer_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, begun, calls = threading.Event(), threading.Event(), []

    def check() -> str:
        calls.append(threading.current_thread())
        begun.set()
        assert go.wait(60)
        return "fine"

    monkeypatch.setattr(monitoring, "DEADLINE_S", 0.05)
    probe = Probe(check)
    assert probe.result() is None
    assert begun.wait(60)
    assert probe.result() is None
    [thread] = calls
    assert thread.daemon, "a check that hangs keeps no process from ending"
    go.set()
    thread.join(60)
    monkeypatch.setattr(monitoring, "DEADLINE_S", 60)
    assert probe.result() == "fine"
    assert len(calls) == 2, "a check that has ended is made anew"


def test_an_error_of_a_check_is_raised_where_its_result_is_requested() -> None:
    with pytest.raises(ZeroDivisionError):
        Probe(lambda: 1 // 0).result()


def test_after_its_deadline_a_check_that_hangs_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, waits = threading.Event(), list[float]()

    def result(_future: object, timeout: float) -> None:
        waits.append(timeout)
        raise TimeoutError

    monkeypatch.setattr(monitoring.Future, "result", result)
    monkeypatch.setattr(monitoring, "DEADLINE_S", -1.0)
    probe = Probe(lambda: go.wait(60))
    assert (probe.result(), probe.result()) == (None, None)
    go.set()
    assert waits == [0.0, 0.0]


def test_a_database_that_hangs_makes_no_process_ready(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Probe, "result", lambda _self: None)
    assert ready(db) == set()
    assert "ridedash_database_up 0.0" in Monitor(db, lambda: NOW, Metrics()).metrics().decode()
