"""The database: one engine, short sessions for reading and for writing, its clock, migrations."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Select, String, Text, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionLeft
from sqlalchemy.orm import DeclarativeBase, ORMExecuteState, Session
from sqlalchemy.types import JSON, TypeDecorator, TypeEngine

from ridedash.store.database import migrate
from ridedash.store.database.engines import BUSY_S, PATIENT, POOL, WRITE, make_engine
from ridedash.store.database.migrate import UnknownRevision, WrongTables
from ridedash.store.database.numbers import keep_numbers

__all__ = [
    "BadDatabaseUrl",
    "Base",
    "Clock",
    "CommitUnknown",
    "Database",
    "DatabaseBusy",
    "ShortText",
    "UnknownRevision",
    "UtcDateTime",
    "WrongTables",
    "insert_if_new",
    "retry_conflict",
]


T = TypeVar("T")
Clock = Callable[[], datetime]  # the present time: aware, in UTC
Monotonic = Callable[[], float]
Reading = tuple[datetime, float]  # the database's time, and the monotonic time at the same instant

# A monotonic clock that goes on while the machine sleeps: on Linux CLOCK_MONOTONIC stands still
# then, on macOS it does not.
THROUGH_SLEEP: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

# primary result codes of SQLite for a database that is busy or full
SQLITE_BUSY: Final = 5
SQLITE_FULL: Final = 13
# SQLSTATEs of PostgreSQL; "57P" is the prefix of those with which the server ends a connection
DEADLOCK: Final = "40P01"
GOING_DOWN: Final = "57P"
# how many connections PostgreSQL leaves to clients that are not superusers
CONNECTION_LIMIT: Final = """SELECT CAST(current_setting('max_connections') AS integer)
    - CAST(current_setting('superuser_reserved_connections') AS integer)"""
LOCKED_TABLE: Final = "orders"  # by name: this package imports no table
CLOCK_EVERY_S: Final = 60.0  # the server's clock is read this often at most
CLOCK_AGAIN_S: Final = 5.0  # the wait before the next attempt after the server gave no answer


class DatabaseBusy(Exception):
    """The database accepted no write: it was locked for too long, is unreachable or is full.

    Nothing was written.
    """


class Deadlocked(DatabaseBusy):
    """Two transactions waited for each other; the server rolled this one back. Try again."""


class CommitUnknown(SQLAlchemyError):
    """The connection was lost during a commit: everything was written, or nothing.

    Reading again shows which.
    """


class BadDatabaseUrl(ValueError):
    """A database URL that can't be used: malformed, or its driver is not installed."""


class UtcDateTime(TypeDecorator[datetime]):
    """An instant, aware and in UTC when it is stored and read. A naive datetime is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone can't be stored")
        value = value.astimezone(UTC)
        if dialect.name == "sqlite":
            return value.replace(tzinfo=None)
        return value

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)


def ShortText(length: int) -> TypeEngine[str]:  # noqa: N802 - named like the types it stands beside
    """Text that is meant to be short. Input is limited elsewhere; the database accepts more."""
    return String(length).with_variant(Text(), "postgresql")


class Base(DeclarativeBase):
    """The parent of all tables."""

    type_annotation_map = {  # noqa: RUF012 - read once
        datetime: UtcDateTime,
        dict[str, Any]: JSON(none_as_null=True),
        int: BigInteger().with_variant(Integer(), "sqlite"),  # SQLite's INTEGER has 64 bits
    }


keep_numbers(Base)


class Database:
    """One database by URL. Safe to share between threads; each `with` is one short transaction.

    `busy_s` is how long a writer waits for others. At most `connections` are opened to PostgreSQL.
    Raises BadDatabaseUrl.
    """

    def __init__(self, url: str, *, busy_s: float = BUSY_S, connections: int = POOL) -> None:
        self.url = url
        # counts connections that ended unexpectedly, or that were found closed
        self.lost_connections = 0
        try:
            self.engine = make_engine(url, busy_s, connections)
            event.listen(self.engine, "invalidate", self._lost)
            # called with `session.info` after the commit of each write session
            self.after_commit: Callable[[dict[Any, Any]], None] = lambda _info: None
        # TypeError: an SQLite database in memory takes no pool options
        except (ArgumentError, ImportError, TypeError) as error:
            raise BadDatabaseUrl(f"{type(error).__name__}: {error}") from None
        reading: dict[str, Any] = {}
        writing: dict[str, Any] = {WRITE: True}
        if self.dialect == "postgresql":
            reading |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            writing |= {"isolation_level": "READ COMMITTED"}
        self._reading = self.engine.execution_options(**reading)
        self._writing = self.engine.execution_options(**writing)

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading one consistent state. Rows stay usable after it is closed."""
        with Session(self._reading, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session for writing: commits at its end, and rolls back on an exception.

        Raises DatabaseBusy when nothing was written: a lock or a connection was not free within
        `busy_s`, or the database is unreachable or full. Raises CommitUnknown when the connection
        was lost in the commit.
        """
        with LockingSession(self._writing, expire_on_commit=False) as session:
            try:
                session.connection()
                yield session
                session.flush()
            except (OperationalError, NoConnectionLeft) as error:
                busy = Deadlocked if _sqlstate(error) == DEADLOCK else DatabaseBusy
                raise busy("the database takes no write: nothing was written") from error
            _commit(session)
            self.after_commit(session.info)

    def clock(self, wall: Clock) -> Clock:
        """The clock of all processes on this database: PostgreSQL's own; for SQLite `wall`."""
        if self.dialect != "postgresql":
            return wall
        return DatabaseClock(self._time, wall)

    def upgrade(self) -> None:
        """Migrate the tables to this version's revision; safe when several processes start at once.

        Raises WrongTables for a database of a newer or unknown version, or a half migrated one.
        """
        patient = self._writing.execution_options(**{PATIENT: migrate.WAIT_S})
        with patient.begin() as connection:
            if self.dialect == "postgresql":
                # imported here: SQLite needs no psycopg, which only production installs
                from ridedash.store.database.postgresql import lift_limits

                lift_limits(connection)  # a new index on a large table takes minutes
            else:
                # closed at the end, so that no other session gets its long busy timeout
                connection.detach()
            migrate.upgrade(connection, Base.metadata, self._shown_url())

    def require_current(self) -> None:
        """Raise WrongTables unless the tables are exactly those of this version."""
        with self.engine.connect() as connection:
            migrate.require(connection, Base.metadata, self._shown_url())

    def revision_ok(self) -> bool:
        """Whether the revision that the database records is this version's."""
        with self.engine.connect() as connection:
            return migrate.is_current(connection)

    def server_connections(self) -> int | None:
        """How many connections the server allows for all its clients together; None for SQLite."""
        if self.dialect != "postgresql":
            return None
        with self.engine.connect() as connection:
            return int(connection.scalar(text(CONNECTION_LIMIT)) or 0)

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()

    def _lost(self, *_connection: object) -> None:
        self.lost_connections += 1

    def _shown_url(self) -> str:
        return self.engine.url.render_as_string(hide_password=True)

    def _time(self, monotonic: Callable[[], float]) -> Reading | None:
        """The server's time, and the monotonic time halfway between query and answer.

        None when the server gave no answer.
        """
        try:
            with self._reading.connect() as connection:
                # open the connection before the clock is read
                connection.execute(text("SELECT 1"))
                before = monotonic()
                reading = connection.scalar(text("SELECT clock_timestamp()"))
                return reading.astimezone(UTC), (before + monotonic()) / 2
        except SQLAlchemyError:
            return None


def insert_if_new(s: Session, row: type[Base], **values: Any) -> None:
    """Insert a row of the table `row`, unless one with its key exists already."""
    make = postgresql.insert if s.get_bind().dialect.name == "postgresql" else sqlite.insert
    s.execute(make(row).values(**values).on_conflict_do_nothing())


def retry_conflict(attempt: Callable[[], T]) -> T:
    """The result of `attempt`, which is made up to three times if there are conflicts.

    The attempt after an IntegrityError sees the row that the other transaction has inserted. A
    deadlock occurs when two people book for the same guests at once and each transaction waits for
    the other's rows.
    """
    for _ in range(2):
        try:
            return attempt()
        except (IntegrityError, Deadlocked):
            time.sleep(0)  # lets another thread continue, which may hold the other transaction
    return attempt()


def since_boot() -> float:
    """Monotonic seconds, including those during which the machine slept."""
    return time.clock_gettime(THROUGH_SLEEP)


class DatabaseClock:
    """The database's time: read once a minute, continued by a monotonic clock. Safe to share.

    Until the database has answered once, the machine's own clock is used.
    """

    def __init__(
        self,
        ask: Callable[[Monotonic], Reading | None],
        wall: Clock,
        monotonic: Monotonic = since_boot,
    ) -> None:
        self._ask = ask
        self._wall = wall
        self._monotonic = monotonic
        self._asking = threading.Lock()
        self._known: Reading | None = None
        self._next = float("-inf")

    def __call__(self) -> datetime:
        if self._monotonic() >= self._next and self._asking.acquire(blocking=self._known is None):
            try:
                self._measure()
            finally:
                self._asking.release()
        known = self._known
        if known is None:
            return self._wall()
        return known[0] + timedelta(seconds=self._monotonic() - known[1])

    def _measure(self) -> None:
        if self._monotonic() < self._next:  # another thread has just read the clock
            return
        reading = self._ask(self._monotonic)
        self._next = self._monotonic() + (CLOCK_AGAIN_S if reading is None else CLOCK_EVERY_S)
        self._known = reading or self._known


class LockingSession(Session):
    """A session that locks the row of each order that it reads: no other transaction can change it.

    SQLite runs one write transaction at a time anyway: SQLAlchemy writes no lock into its
    statements. Code that changes a ride, an action or the timeline of an order reads the order
    first: one lock protects everything that belongs to the order.
    """


@event.listens_for(LockingSession, "do_orm_execute")
def _lock_orders(state: ORMExecuteState) -> None:
    statement: Any = state.statement
    if not isinstance(statement, Select) or statement._for_update_arg is not None:
        return
    for column in statement.column_descriptions:
        row = column["entity"]
        if row is not None and row is column["expr"] and row.__tablename__ == LOCKED_TABLE:
            state.statement = statement.with_for_update(of=row, key_share=True)


def _commit(session: Session) -> None:
    try:
        session.commit()
    except DBAPIError as error:
        if isinstance(error, IntegrityError):
            raise
        if _undone(error):
            raise DatabaseBusy("the database did not commit: nothing was written") from error
        raise CommitUnknown("the database went away while committing") from error


def _undone(error: DBAPIError) -> bool:
    """Whether a failed commit certainly wrote nothing, because the database itself refused it."""
    if error.connection_invalidated:
        return False
    code = _sqlstate(error)
    if code:
        return not code.startswith(GOING_DOWN)
    return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in (SQLITE_BUSY, SQLITE_FULL)


def _sqlstate(error: Exception) -> str:
    """PostgreSQL's code of an error; "" for one of SQLite, or without a server's answer."""
    return str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")
