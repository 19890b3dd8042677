"""The database: concurrent migrations, writers that wait their turn, instants stored in UTC."""

import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import OperationalError, StatementError

from ridedash.store.audit import AuditRow, record
from ridedash.store.database.database import (
    Base,
    CommitUnknown,
    Database,
    DatabaseBusy,
    UnknownRevision,
    retry_conflict,
)
from ridedash.store.database.migrate import HalfMigrated, OldRevision, alembic_config, known
from ridedash.store.database.postgresql import BoundedConnection, lift_limits
from ridedash.store.models import orders, people
from ridedash.store.properties import add_property
from tests.databases import POSTGRESQL, SQLITE, empty_database

pytestmark = pytest.mark.database
NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


def upgrade(address: str) -> None:
    db = Database(address)
    db.upgrade()
    db.close()


@pytest.fixture
def db(database: str) -> Iterator[Database]:
    made = Database(database, busy_s=0.05)
    yield made
    made.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Database]:
    made = Database(empty_database(tmp_path))
    yield made
    made.close()


def test_an_upgrade_makes_the_tables_of_the_models_and_may_be_repeated(empty: Database) -> None:
    assert not empty.revision_ok()
    with pytest.raises(OldRevision, match=r"without tables.*ridedash db upgrade"):
        empty.require_current()
    empty.upgrade()
    empty.upgrade()
    assert empty.revision_ok()
    empty.require_current()
    with empty.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_commits_are_promises_on_either_kind_of_database(db: Database) -> None:
    with db.write() as s:
        if db.dialect == SQLITE:
            assert s.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert s.execute(text("PRAGMA synchronous")).scalar() == 2
        else:
            assert s.execute(text("SHOW synchronous_commit")).scalar() == "on"
            assert s.execute(text("SHOW lock_timeout")).scalar() == "50ms"


def test_each_migration_stands_in_a_file_that_is_named_after_its_revision() -> None:
    scripts = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    assert [script.revision for script in scripts] == known()[::-1]


def test_threads_and_processes_may_upgrade_one_database_at_once(empty: Database) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=upgrade, args=(empty.url,)) for _ in range(2)]
    threads = [threading.Thread(target=upgrade, args=(empty.url,)) for _ in range(2)]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join(300)
    assert [process.exitcode for process in processes] == [0, 0]
    empty.require_current()


@pytest.mark.sqlite_only
def test_an_upgrade_waits_longer_for_another_one_than_writers_do(tmp_path: Path) -> None:
    impatient = Database(empty_database(tmp_path), busy_s=0.01)
    with impatient.engine.connect():
        pass  # creates the file, as if an older version had left it
    other = sqlite3.connect(impatient.engine.url.database or "", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.5, other.rollback)
    done.start()
    try:
        impatient.upgrade()
        assert impatient.revision_ok()
        with impatient.write() as s:
            assert s.scalar(text("PRAGMA busy_timeout")) == 10
    finally:
        done.join()
        other.close()
        impatient.close()


SPOILT = [
    (
        "UPDATE alembic_version SET version_num = '9999'",
        UnknownRevision,
        "revision '9999', which this version",
    ),
    (
        "DELETE FROM alembic_version",
        HalfMigrated,
        "half migrated .it names no revision, yet has the tables accounts",
    ),
    ("INSERT INTO alembic_version VALUES ('0001')", HalfMigrated, "names the revisions 0001 and"),
    (
        "ALTER TABLE heartbeats DROP COLUMN silent_since",
        HalfMigrated,
        r"it lacks heartbeats\.silent_since",
    ),
]


@pytest.mark.parametrize(("spoil", "kind", "message"), SPOILT)
def test_a_foreign_or_half_done_migration_is_refused_by_name_and_left_as_it_is(
    db: Database, spoil: str, kind: type[Exception], message: str
) -> None:
    with db.write() as s:
        s.execute(text(spoil))
    before = revisions(db)
    for check in (db.upgrade, db.require_current):
        with pytest.raises(kind, match=message) as refused:
            check()
        assert "RIDEDASH_DATABASE_URL" in str(refused.value)
    assert revisions(db) == before


def revisions(db: Database) -> list[str]:
    with db.read() as s:
        return sorted(s.execute(text("SELECT version_num FROM alembic_version")).scalars())


@pytest.mark.sqlite_only
def test_writers_queue_and_none_is_refused(database: str) -> None:
    db = Database(database)

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
        assert sorted(int(row.result) for row in s.query(AuditRow)) == list(range(200)), (
            "no write was lost"
        )
    db.close()


def write_often(address: str) -> None:
    db = Database(address)
    for number in range(100):
        with db.write() as s:
            record(s, "cli", "count", "audit:0", str(number), NOW)
    db.close()


def test_four_processes_that_write_side_by_side_are_never_turned_away(db: Database) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write_often, args=(db.url,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * 4
    with db.read() as s:
        assert s.execute(text("SELECT count(*) FROM audit")).scalar() == 400


def test_a_database_that_stays_busy_raises_database_busy(db: Database) -> None:
    holder = Database(db.url)
    with holder.write() as holding:
        if db.dialect != SQLITE:
            holding.execute(text("LOCK TABLE properties IN EXCLUSIVE MODE"))
        with pytest.raises(DatabaseBusy, match="nothing was written"), db.write() as s:
            add_property(s, "Harbour Clinic", "UTC", NOW)
        with db.read() as s:
            assert s.execute(text("SELECT count(*) FROM properties")).scalar() == 0, (
                "reading goes on"
            )
    holder.close()


class Deadlock(Exception):
    """Like psycopg's error for a deadlock."""

    sqlstate = "40P01"


def test_what_the_server_undid_because_of_a_deadlock_is_done_again(db: Database) -> None:
    tries = []

    def attempt() -> int:
        with db.write() as s:
            add_property(s, f"House {len(tries)}", "UTC", NOW)
            tries.append(s)
            if len(tries) < 3:
                raise OperationalError("UPDATE", {}, Deadlock())
            return s.scalar(text("SELECT count(*) FROM properties")) or 0

    assert (retry_conflict(attempt), len(tries)) == (1, 3)


def test_an_exception_undoes_all_of_a_write(db: Database) -> None:

    def half_done() -> None:
        with db.write() as s:
            add_property(s, "Harbour Clinic", "UTC", NOW)
            raise KeyError

    with pytest.raises(KeyError):
        half_done()
    with db.read() as s:
        assert s.execute(text("SELECT count(*) FROM properties")).scalar() == 0


def test_an_instant_comes_back_in_utc_and_a_naive_one_is_refused(db: Database) -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    with db.write() as s:
        row_id = add_property(s, "Grand Meridian Hotel", "Asia/Kolkata", NOW.astimezone(india)).id
    with db.read() as s:
        row = s.get_one(people.Property, row_id)
    assert (row.created_at, row.created_at.tzinfo) == (NOW, UTC)
    with pytest.raises(StatementError, match="without a zone"), db.write() as s:
        add_property(s, "Harbour Clinic", "UTC", datetime(2026, 1, 1))


def test_several_rows_are_written_by_one_transaction(db: Database) -> None:
    with db.write() as s:
        for number in range(3):
            record(
                s, "worker", "order.move", f"orders:{number}\0", "UNKNOWN", NOW, property_id=None
            )
    with db.read() as s:
        assert sorted(row.subject.replace("\0", "") for row in s.query(AuditRow)) == [
            "orders:0",
            "orders:1",
            "orders:2",
        ]


def test_text_with_a_nul_or_longer_than_meant_is_no_failure(db: Database) -> None:
    with db.write() as s:
        row_id = add_property(
            s, "Harbour\0 Clinic" + "x" * 300, "UTC", NOW, currency="a currency of many letters"
        ).id
    with db.read() as s:
        row = s.get_one(people.Property, row_id)
    assert row.name.replace("\0", "") == "Harbour Clinic" + "x" * 300


def test_ids_have_sixty_four_bits(db: Database) -> None:
    with db.read() as s:
        assert s.get(people.Property, 2**53) is None
        assert s.get(orders.Order, 2**63 - 1) is None


@pytest.fixture
def server_of_many(tmp_path: Path) -> Iterator[Database]:
    made = Database(empty_database(tmp_path, POSTGRESQL), busy_s=0.5)
    yield made
    made.close()


def test_a_database_that_gives_no_answer_costs_a_limited_time_and_its_connection(
    server_of_many: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedConnection, "answer_s", 0.3)
    with (
        pytest.raises(OperationalError, match="gave no answer") as caught,
        server_of_many.read() as s,
    ):
        s.execute(text("SELECT pg_sleep(12)"))
    assert caught.value.connection_invalidated
    monkeypatch.undo()
    with server_of_many.read() as s:  # opens a new connection
        assert s.scalar(text("SELECT 1")) == 1
    assert server_of_many.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert server_of_many.lost_connections == 1


def test_a_connection_that_ended_while_it_was_not_used_counts_as_lost(
    server_of_many: Database,
) -> None:
    """This happens when another server takes over: clients do not learn that connections ended."""
    ends = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with server_of_many.read() as s, server_of_many.read() as other:
        assert s.scalar(text("SELECT 1")) == other.scalar(text("SELECT 1")) == 1
    with server_of_many.read() as s:
        s.execute(ends)
    assert server_of_many.lost_connections == 0
    with server_of_many.read() as s, server_of_many.read() as other:
        assert s.scalar(text("SELECT 1")) == other.scalar(text("SELECT 1")) == 1
    assert server_of_many.lost_connections == 1


def test_a_commit_without_an_answer_is_of_unknown_outcome(
    server_of_many: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = """CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(12); RETURN NEW; END'"""
    with server_of_many.write() as s:
        s.execute(text("CREATE TABLE kept (id int)"))
        s.execute(text(slow))
        s.execute(
            text(
                "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON kept INITIALLY DEFERRED "
                "FOR EACH ROW EXECUTE FUNCTION slow()"
            )
        )
    monkeypatch.setattr(BoundedConnection, "answer_s", 0.3)
    with pytest.raises(CommitUnknown), server_of_many.write() as s:
        s.execute(text("INSERT INTO kept VALUES (1)"))


def test_a_statement_has_a_limit_on_the_server_unless_the_address_sets_its_own(
    server_of_many: Database,
) -> None:
    with server_of_many.read() as s:
        assert s.scalar(text("SHOW statement_timeout")) == "15s"
    address = f"{server_of_many.url}&options=-c%20statement_timeout%3D7000"
    other = Database(address)
    with other.read() as s:
        assert s.scalar(text("SHOW statement_timeout")) == "7s"
        assert s.connection().connection.dbapi_connection.answer_s == 20  # type: ignore[union-attr]
    other.close()


def test_a_longer_limit_of_the_address_is_waited_for(server_of_many: Database) -> None:
    address = f"{server_of_many.url}&options=-c%20statement_timeout%3D90s"
    other = Database(address)
    with other.read() as s:
        assert s.connection().connection.dbapi_connection.answer_s == 95  # type: ignore[union-attr]
    other.close()


def test_a_process_opens_no_more_connections_than_its_pool_allows(tmp_path: Path) -> None:
    db = Database(empty_database(tmp_path, POSTGRESQL), busy_s=0.2, connections=2)
    with db.read() as one, db.read() as two:
        assert one.scalar(text("SELECT 1")) == two.scalar(text("SELECT 1")) == 1
        with pytest.raises(DatabaseBusy), db.write():
            pass
    with db.write() as s:
        assert s.scalar(text("SELECT 1")) == 1
    assert 0 < (db.server_connections() or 0) < 1000
    db.close()


def test_migrations_have_no_limit_and_leave_none_lifted(server_of_many: Database) -> None:
    with server_of_many.engine.begin() as connection:
        lift_limits(connection)
        assert connection.scalar(text("SHOW statement_timeout")) == "0"
        assert connection.connection.dbapi_connection.answer_s is None  # type: ignore[union-attr]
    with server_of_many.read() as s:
        assert s.scalar(text("SHOW statement_timeout")) == "15s"
    server_of_many.upgrade()
    assert server_of_many.revision_ok()
