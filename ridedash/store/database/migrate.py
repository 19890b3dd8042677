"""Runs migrations in one transaction, one process at a time, or refuses if they don't apply.

Alembic is imported only when a migration runs, so that it takes no memory in other processes.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import MetaData, inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, ProgrammingError

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS: Final = Path(__file__).parents[1] / "migrations"
# the error of a statement that can't be compiled: mostly "no such table", "no such column"
SQLITE_ERROR: Final = 1
LOCK: Final = 7_413_020_931  # number of PostgreSQL's advisory lock for migrations
WAIT_S: Final = 60  # how long to wait for another process that migrates
# Alembic stores its environment in a module, so a process can run only one upgrade at a time
_upgrading = threading.Lock()


class WrongTables(Exception):
    """The tables are not those of this version of the program; the message says what to do."""


class UnknownRevision(WrongTables):
    """The database was created by another version of the program, unknown to this one."""

    def __init__(self, revision: str, url: str) -> None:
        super().__init__(
            f"the database {url} is at revision {revision!r}, which this version of ridedash does "
            "not know: "
            "run the version that made it, or point RIDEDASH_DATABASE_URL at another database"
        )
        self.revision = revision


class HalfMigrated(WrongTables):
    """The revision that the database records does not match its tables."""

    def __init__(self, why: str, url: str) -> None:
        super().__init__(
            f"the database {url} is half migrated ({why}): bring back its last backup, "
            "or point RIDEDASH_DATABASE_URL at another database"
        )


class OldRevision(WrongTables):
    """The database has the tables of an older version and needs an upgrade."""

    def __init__(self, revision: str | None, url: str) -> None:
        at = "without tables"
        if revision:
            at = f"at revision {revision!r}, older than this version of ridedash"
        super().__init__(
            f"the database {url} is {at}, so not current: run `ridedash db upgrade` first"
        )


def upgrade(connection: Connection, tables: MetaData, url: str) -> None:
    """Bring the tables to this version's revision in the connection's transaction.

    Raises WrongTables.
    """
    with _upgrading:
        # SQLite runs one write transaction at a time: this one has waited for any other.
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_S}s'")
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        _refuse_foreign(connection, tables, url)
        _run(connection)
        _refuse_gaps(connection, tables, url)


def require(connection: Connection, tables: MetaData, url: str) -> None:
    """Raise WrongTables unless revision and columns are those of this version.

    It is OldRevision for an older revision, UnknownRevision for one that this version does not
    know, and HalfMigrated if a column is missing or the revision does not match the tables.
    """
    _refuse_foreign(connection, tables, url)
    revisions = _revisions(connection)
    if revisions != (head(),):
        raise OldRevision(revisions[0] if revisions else None, url)
    _refuse_gaps(connection, tables, url)


def is_current(connection: Connection) -> bool:
    """Whether the revision that the database records is this version's; fast."""
    return _revisions(connection) == (head(),)


def known() -> list[str]:
    """All revisions of this version in order: the first four digits of the files' names."""
    return sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def head() -> str:
    """This version's revision."""
    return known()[-1]


def misses_tables(error: BaseException) -> bool:
    """Whether a statement failed as it does when its table or column is missing."""
    cause = error if isinstance(error, DBAPIError) else error.__cause__
    if not isinstance(cause, DBAPIError):
        return False
    return (
        isinstance(cause, ProgrammingError)
        or getattr(cause.orig, "sqlite_errorcode", None) == SQLITE_ERROR
    )


def _refuse_foreign(connection: Connection, tables: MetaData, url: str) -> None:
    revisions = _revisions(connection)
    if len(revisions) > 1:
        raise HalfMigrated("it names the revisions " + " and ".join(sorted(revisions)), url)
    for revision in revisions:
        if revision not in known():
            raise UnknownRevision(revision, url)
    found = sorted(set(inspect(connection).get_table_names()) & set(tables.tables))
    if not revisions and found:
        raise HalfMigrated(f"it names no revision, yet has the tables {', '.join(found)}", url)


def _refuse_gaps(connection: Connection, tables: MetaData, url: str) -> None:
    seen = inspect(connection)
    there = {
        (table, column["name"])
        for table in seen.get_table_names()
        for column in seen.get_columns(table)
    }
    wanted = {
        (table.name, column.name) for table in tables.sorted_tables for column in table.columns
    }
    missing = sorted(f"{table}.{column}" for table, column in wanted - there)
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise HalfMigrated(f"it lacks {', '.join(missing[:3])}{more}", url)


def _revisions(connection: Connection) -> tuple[str, ...]:
    if not inspect(connection).has_table("alembic_version"):
        return ()
    return tuple(connection.scalars(text("SELECT version_num FROM alembic_version")))


def _run(connection: Connection) -> None:
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def alembic_config() -> "Config":
    """The Alembic configuration, with the folder of the migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
