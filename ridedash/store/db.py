"""The database: one engine, short sessions for reading and for writing, migrations at start.

Write transactions begin with BEGIN IMMEDIATE on SQLite: a deferred one that turns into a write fails at once
when another writer got in between, an immediate one waits its turn. WAL lets readers pass beside the writer;
synchronous=FULL makes a commit a promise that survives a power cut (booking-protocol.md 1.3).
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import DateTime, Dialect, Engine, create_engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.types import JSON, TypeDecorator

BUSY_TIMEOUT_MS: Final = 5_000
MIGRATIONS: Final = Path(__file__).parent / "migrations"
_upgrading = threading.Lock()  # Alembic keeps its environment in a module: one upgrade at a time in a process


class DatabaseBusy(Exception):
    """Another writer held the database for longer than we wait; nothing was written."""


class BadDatabaseUrl(ValueError):
    """A database URL that can't be used: malformed, or of a kind whose driver is not installed."""


class UnknownRevision(Exception):
    """The database was made by another version of the program, which this one does not know."""

    def __init__(self, revision: str, url: str) -> None:
        super().__init__(
            f"the database {url} is at revision {revision!r}, which this version of ridedash does not know: "
            "run the version that made it, or point RIDEDASH_DATABASE_URL at another database"
        )
        self.revision = revision


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: aware, in UTC, in and out. A naive datetime is refused, it would be a guess."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone can't be stored")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The parent of all tables."""

    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON(none_as_null=True)}  # noqa: RUF012 - read once


class Database:
    """One database by URL. Safe to share between threads; each `with` is one short transaction.

    Raises BadDatabaseUrl.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            self.engine = _engine(url)
        except (ArgumentError, ImportError) as error:
            raise BadDatabaseUrl(f"{type(error).__name__}: {error}") from None
        self._writing = self.engine.execution_options(ridedash_write=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading one consistent state. Rows stay usable after it is closed."""
        with Session(self.engine, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that holds the right to write, commits at its end, and undoes all on an exception.

        Raises DatabaseBusy when that right is not had within five seconds.
        """
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            try:
                session.connection()
            except OperationalError as error:
                raise DatabaseBusy("the database is busy: nothing was written") from error
            yield session

    def upgrade(self) -> None:
        """Bring the tables to this version's revision; safe when several processes start at once.

        Raises UnknownRevision for a database of a newer or foreign version.
        """
        with _upgrading, self._writing.begin() as connection:
            self._refuse_unknown(connection)
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def revision_ok(self) -> bool:
        """Whether the tables are exactly those of this version."""
        with self.engine.connect() as connection:
            return _current(connection) == ScriptDirectory.from_config(_config()).get_current_head()

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()

    def _refuse_unknown(self, connection: Connection) -> None:
        current = _current(connection)
        known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
        if current is not None and current not in known:
            raise UnknownRevision(current, self.engine.url.render_as_string(hide_password=True))


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _engine(url: str) -> Engine:
    engine = create_engine(url, pool_size=20, max_overflow=20)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_connect)
        event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # BEGIN is ours to say: the driver would say it late and deferred
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _sqlite_begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("ridedash_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
