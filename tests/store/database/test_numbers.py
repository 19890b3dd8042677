"""Row numbers: each is given once, whatever becomes of the database, its rows and its clock."""

import ast
import multiprocessing
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Integer, Table, insert, inspect, select, text
from sqlalchemy.orm import Session

import ridedash
from ridedash.store.audit import AuditRow
from ridedash.store.database import numbers
from ridedash.store.database.database import Base, Database
from ridedash.store.database.numbers import SMALL, made_at, numbered, postgresql_default
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Guest
from ridedash.store.models.restores import Restore
from ridedash.store.properties import add_property, add_staff
from tests.databases import POSTGRESQL, SQLITE, new_database
from tests.store.migrated import migrate

pytestmark = pytest.mark.database
NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
EXACT = 2**53  # JavaScript counts all whole numbers below it
DAY = timedelta(days=1).total_seconds()
Turn = Callable[[float], None]


@pytest.fixture
def db(database: str) -> Iterator[Database]:
    made = Database(database)
    yield made
    made.close()


@pytest.fixture
def turn(db: Database, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """A function that sets the clock of new numbers of the audit log, in seconds from now."""

    def by(seconds: float) -> None:
        if db.dialect == SQLITE:
            ahead = int(seconds * 10**9)
            clock = SimpleNamespace(time_ns=lambda: time.time_ns() + ahead)
            monkeypatch.setattr(numbers, "time", clock)
            return
        with db.write() as s:
            turn_postgresql(s, seconds)

    return by


def turn_postgresql(s: Session, seconds: float) -> None:
    turned = f"(statement_timestamp() + interval '{seconds} seconds')"
    default = postgresql_default("audit").replace("statement_timestamp()", turned)
    s.execute(text(f"ALTER TABLE audit ALTER COLUMN id SET DEFAULT {default}"))


def entry() -> AuditRow:
    return AuditRow(at=NOW, who="cli", what="count", subject="audit:0", result="ok", facts={})


def add(s: Session, count: int = 1) -> list[int]:
    """Add rows to the audit log. Their numbers, in the order in which they were added."""
    rows = [entry() for _ in range(count)]
    s.add_all(rows)
    s.flush()
    return [row.id for row in rows]


def added(db: Database, count: int = 1) -> list[int]:
    """The same, in a transaction of its own."""
    with db.write() as s:
        return add(s, count)


def made(number: int) -> datetime:
    found = made_at(number)
    assert found is not None
    return found


def rising(found: list[int]) -> bool:
    return found == sorted(set(found))


def test_numbers_rise_within_a_transaction_and_over_several(db: Database) -> None:
    given = added(db, 300)
    with db.write() as s:
        given += add(s)
        undone = s.begin_nested()
        add(s, 3)
        undone.rollback()
        given += add(s, 2)
    with db.write() as s:
        add(s, 5)
        s.rollback()
    for _ in range(20):
        given += added(db, 2)
    assert rising(given)
    with db.read() as s:
        assert list(s.scalars(select(AuditRow.id).order_by(AuditRow.id))) == given


def test_a_sequence_that_goes_back_within_a_second_gives_other_numbers(db: Database) -> None:
    """On PostgreSQL; on SQLite the fraction of the second is most of the number."""
    if db.dialect == SQLITE:
        pytest.skip("SQLite has no sequences")
    found = []
    with db.write() as s:
        for part in range(16):
            s.execute(text("SELECT setval('audit_id_seq', 5)"))
            at = f"(timestamptz '2026-03-01 14:00:00Z' + interval '{part / 16} seconds')"
            number = postgresql_default("audit").replace("statement_timestamp()", at)
            found.append(s.scalar(text(f"SELECT {number}")))
    assert rising(found)


def test_tables_are_numbered_one_beside_the_other(db: Database) -> None:
    entries: list[int] = []
    restores: list[int] = []
    with db.write() as s:
        for _ in range(3):
            restore = Restore(noticed_at=NOW)
            s.add(restore)
            s.flush()
            restores.append(restore.id)
            entries += add(s)
    assert rising(entries)
    assert rising(restores)


def write(address: str, results: Any, count: int) -> None:
    db = Database(address)
    results.put([number for _ in range(count) for number in added(db, 2)])
    db.close()


def test_threads_and_processes_that_write_side_by_side_get_no_number_twice(db: Database) -> None:
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    arguments = (db.url, results, 20)
    writers: list[Any] = [spawn.Process(target=write, args=arguments) for _ in range(2)]
    writers += [threading.Thread(target=write, args=arguments) for _ in range(3)]
    for writer in writers:
        writer.start()
    given: list[list[int]] = [results.get(timeout=120) for _ in writers]
    for writer in writers:
        writer.join(60)
    assert all(rising(each) for each in given)
    every = [number for each in given for number in each]
    assert (len(every), len(set(every))) == (200, 200)


def test_numbers_are_exact_in_javascript_until_2090(db: Database, turn: Turn) -> None:
    assert 0 < added(db)[0] < EXACT
    if db.dialect == POSTGRESQL:
        with db.write() as s:  # as a tool does that copies a database
            s.execute(text(f"SELECT setval('audit_id_seq', {EXACT - 1})"))
    turn((datetime(2090, 1, 1, tzinfo=UTC) - datetime.now(UTC)).total_seconds())
    given = added(db, 100)
    assert rising(given)
    assert made(given[0]).year == 2090
    assert given[-1] < EXACT


@pytest.mark.sqlite_only
def test_a_backup_that_is_put_in_place_of_its_file_gives_no_number_again(tmp_path: Path) -> None:
    db = Database(new_database(tmp_path, SQLITE))
    kept = added(db, 3)
    db.close()
    file = Path(db.engine.url.database or "")
    shutil.copy(file, tmp_path / "backup")
    lost = added(db, 50)
    db.close()
    for leftover in (f"{file}-wal", f"{file}-shm"):
        Path(leftover).unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup", file)
    restored = Database(db.url)
    with restored.read() as s:
        assert list(s.scalars(select(AuditRow.id).order_by(AuditRow.id))) == kept
    assert rising([*kept, *lost, *added(restored, 50)])
    restored.close()


def sequences(s: Session) -> list[tuple[str, int | None]]:
    """All sequences of PostgreSQL, each with the last number that it has given."""
    query = "SELECT sequencename, last_value FROM pg_sequences ORDER BY sequencename"
    return [(row[0], row[1]) for row in s.execute(text(query))]


def test_a_replica_that_takes_over_without_the_last_rows_gives_no_number_again(
    tmp_path: Path,
) -> None:
    db = Database(new_database(tmp_path, POSTGRESQL))
    kept = added(db, 3)
    with db.read() as s:
        then = sequences(s)
    assert "audit_id_seq" in dict(then)
    lost = added(db, 50)
    with db.write() as s:
        s.execute(text(f"DELETE FROM audit WHERE id > {kept[-1]}"))
        for name, last in then:
            s.execute(text(f"SELECT setval('{name}', {last or 1}, {last is not None})"))
        assert sequences(s) == then
        turn_postgresql(s, 1)  # taking over takes longer
    assert rising([*kept, *lost, *added(db, 50)])
    db.close()


def test_a_clock_that_was_set_back_gives_no_number_again(db: Database, turn: Turn) -> None:
    given = added(db, 20)
    for seconds in (-1, -DAY, -2 * 365 * DAY):
        turn(seconds)
        again = added(db, 20)
        assert min(again) > 0
        assert rising(again)
        assert not set(again) & set(given)
        if db.dialect == SQLITE:
            assert again[0] > given[-1]
        given += again


@pytest.mark.sqlite_only
def test_a_table_that_was_emptied_goes_on_with_higher_numbers(db: Database) -> None:
    given: list[int] = []
    for _ in range(5):
        given += added(db, 3)
        with db.write() as s:
            s.execute(AuditRow.__table__.delete())
    assert rising(given)


def test_the_time_of_a_number_is_that_of_its_insert(db: Database) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    (number,) = added(db)
    assert before <= made(number) <= datetime.now(UTC)
    for other in (0, -1, 1, 100_000, 2**63 - 1):
        assert made_at(other) is None, "of a release without such numbers, or of no row"


def numbered_models() -> list[tuple[type[Any], Table]]:
    """The models whose rows are numbered by the time, each with its table."""
    found = []
    for mapper in Base.registry.mappers:
        table = mapper.local_table
        assert isinstance(table, Table)
        has_number = "id" in table.c and isinstance(table.c.id.type, Integer)
        if has_number and table.name not in SMALL:
            found.append((mapper.class_, table))
    return sorted(found, key=lambda each: each[1].name)


@pytest.mark.sqlite_only
def test_each_model_is_numbered_by_the_time_on_sqlite(db: Database) -> None:
    assert len(numbered_models()) > 15
    with db.write() as s:
        for model, table in numbered_models():
            row: Any = model(name="Otter") if model is Guest else model()
            mapper = inspect(model)
            mapper.dispatch.before_insert(mapper, s.connection(), inspect(row))
            assert made(row.id) > datetime.now(UTC) - timedelta(minutes=2), table.name


DEFAULT = """SELECT column_default FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = :table AND column_name = 'id'"""


def test_each_table_is_numbered_by_the_time_on_postgresql(tmp_path: Path) -> None:
    """A migration that adds a table with numbers calls `number_rows` for it."""
    db = Database(new_database(tmp_path, POSTGRESQL))
    with db.read() as s:
        for model, table in numbered_models():
            default = s.scalar(text(DEFAULT), {"table": table.name}) or ""
            call = f"number_rows(op.get_bind(), {table.name!r})"
            assert "statement_timestamp()" in default, f"{model.__name__}: {call}"
        for name in SMALL:
            assert s.scalar(text(DEFAULT), {"table": name}).startswith("nextval(")
    db.close()


def test_no_column_of_postgresql_is_too_narrow_for_a_number(tmp_path: Path) -> None:
    db = Database(new_database(tmp_path, POSTGRESQL))
    narrow = "table_schema = current_schema() AND data_type IN ('integer', 'smallint')"
    query = f"SELECT table_name, column_name FROM information_schema.columns WHERE {narrow}"
    with db.read() as s:
        assert s.execute(text(query)).all() == []
    db.close()


def test_what_people_set_up_keeps_small_numbers(db: Database) -> None:
    with db.write() as s:
        houses = [add_property(s, f"House {n}", "UTC", NOW).id for n in range(2)]
        assert houses == [1, 2]
        staff = [add_staff(s, 1, f"Otter {n}", "hash", "concierge", NOW).id for n in range(2)]
        assert staff == [1, 2]
        centre = CostCentre(property_id=1, name="Spa", closed_at=None)
        s.add(centre)
        s.flush()
        assert centre.id == 1


def test_numbering_is_undone_and_done_again_without_a_number_that_was_given(db: Database) -> None:
    given = added(db, 3)
    migrate(db, "0032", "downgrade")
    given += added(db, 3)
    if db.dialect == POSTGRESQL:
        assert given[3:] == [given[3] + n for n in range(3)], "numbers of the sequence alone"
    migrate(db, "0032", "upgrade")
    given += added(db, 3)
    assert rising(given)
    assert given[-1] < EXACT


# the statements that insert rows without objects, and number them themselves
BY_HAND = {("PathPoint", "rides/tracking/record.py"), ("EndedSignIn", "store/sign_ins.py")}


def test_no_other_rows_are_inserted_without_objects() -> None:
    """SQLite gives such rows the number after the table's last, unless they bring their own."""
    models = {model.__name__ for model, _table in numbered_models()}
    root, found = Path(ridedash.__file__).parent, set()
    for path in root.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            numbered_here = any(given.arg == "id" for given in call.keywords)
            if call.func.id in ("insert", "insert_if_new") and not numbered_here:
                names = {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
                found |= {(name, str(path.relative_to(root))) for name in names & models}
    assert found == BY_HAND


def test_rows_without_objects_get_numbers_above_those_with_and_below_the_next(
    db: Database,
) -> None:
    given: list[int] = []
    row = {each.name: getattr(entry(), each.name) for each in AuditRow.__table__.c}
    del row["id"]
    for _ in range(3):
        with db.write() as s:
            given += add(s)
            rows = numbered(s.connection(), "audit", [row, row])
            s.connection().execute(insert(AuditRow), rows)
            given += reversed(s.scalars(select(AuditRow.id).order_by(AuditRow.id.desc())).all()[:2])
            given += add(s)
    assert rising(given)
    assert len(given) == 12
