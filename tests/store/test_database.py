"""The database: migrations that may meet, writers that wait their turn, instants that keep their zone."""

import multiprocessing
import sqlite3
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import StatementError

from ridedash.store import order_tables, people_tables  # noqa: F401 - their tables are compared
from ridedash.store.audit import AuditRow, record
from ridedash.store.db import Base, Database, DatabaseBusy, UnknownRevision
from ridedash.store.people import add_property

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


def url(folder: Path) -> str:
    return f"sqlite:///{folder}/desk.sqlite"


def upgrade(address: str) -> None:
    db = Database(address)
    db.upgrade()
    db.close()


def test_an_upgrade_makes_the_tables_of_the_models_and_may_be_repeated(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    assert not db.revision_ok()
    db.upgrade()
    db.upgrade()
    assert db.revision_ok()
    with db.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    db.close()


def test_threads_and_processes_may_upgrade_one_database_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=upgrade, args=(url(tmp_path),)) for _ in range(3)]
    threads = [threading.Thread(target=upgrade, args=(url(tmp_path),)) for _ in range(3)]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    db = Database(url(tmp_path))
    assert db.revision_ok()
    db.close()


def test_a_database_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    db.upgrade()
    with db.write() as s:
        s.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert not db.revision_ok()
    with pytest.raises(UnknownRevision, match=r"desk\.sqlite.*'9999'"):
        db.upgrade()
    db.close()


def test_writers_wait_their_turn_and_none_is_turned_away(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    db.upgrade()

    def count() -> None:
        for _ in range(50):
            with db.write() as s:
                seen = s.execute(text("SELECT count(*) FROM audit")).scalar_one()
                record(s, "cli", "count", "audit:0", str(seen), NOW)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with db.read() as s:
        assert sorted(int(row.result) for row in s.query(AuditRow)) == list(range(200)), "no write was lost"
    db.close()


def test_a_database_that_stays_busy_is_said_to_be(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    db.upgrade()
    holder = sqlite3.connect(tmp_path / "desk.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with db.engine.connect() as connection:  # the five seconds of production, shortened on the one pooled connection
        connection.execute(text("PRAGMA busy_timeout=50"))
    with pytest.raises(DatabaseBusy), db.write():
        raise AssertionError("not reached")
    with db.read() as s:
        assert s.execute(text("SELECT count(*) FROM orders")).scalar() == 0, "reading goes on"
    holder.close()
    db.close()


def test_an_exception_undoes_all_of_a_write(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    db.upgrade()

    def half_done() -> None:
        with db.write() as s:
            add_property(s, "Harbour Clinic", "UTC", NOW)
            raise KeyError

    with pytest.raises(KeyError):
        half_done()
    with db.read() as s:
        assert s.execute(text("SELECT count(*) FROM properties")).scalar() == 0
    db.close()


def test_an_instant_comes_back_in_utc_and_a_naive_one_is_refused(tmp_path: Path) -> None:
    db = Database(url(tmp_path))
    db.upgrade()
    india = timezone(timedelta(hours=5, minutes=30))
    with db.write() as s:
        row_id = add_property(s, "Grand Meridian Hotel", "Asia/Kolkata", NOW.astimezone(india)).id
    with db.read() as s:
        row = s.get_one(people_tables.Property, row_id)
    assert (row.created_at, row.created_at.tzinfo) == (NOW, UTC)
    with pytest.raises(StatementError, match="without a zone"), db.write() as s:
        add_property(s, "Harbour Clinic", "UTC", datetime(2026, 1, 1))
    db.close()
