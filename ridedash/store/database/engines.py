"""Sets up connections: the database of a URL, SQLite's durability, the pools.

Write transactions begin with BEGIN IMMEDIATE on SQLite, which waits for other writers. A deferred
transaction would fail at its first write, without waiting, if another one had written since its
first read. WAL lets readers work beside the writer; with synchronous=FULL a commit survives a power
failure (docs/booking-protocol.md 1.3).

On PostgreSQL writers run side by side (READ COMMITTED). A write session locks each order that it
reads and holds the lock until it ends, so that no two sessions start from the same old state of an
order. Claims are conditional UPDATEs.
"""

import sqlite3
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

# PostgreSQL connections of one process; the server's default is 100 for all processes
POOL: Final = 20
BUSY_S: Final = 5.0  # seconds for which a writer waits for another one
# prepared statements that each SQLite connection caches; one takes tens of kilobytes
STATEMENTS: Final = 24
# page cache of each SQLite connection; the system caches the file once for all of them
PAGES_KB: Final = 512
WRITE: Final = "ridedash_write"  # the execution option of write sessions
# execution option of migrations: seconds to wait for another migration
PATIENT: Final = "ridedash_patient"


def make_engine(address: str, busy_s: float, connections: int = POOL) -> Engine:
    """An engine for either kind of database. Raises ArgumentError or ImportError.

    At most `connections` to PostgreSQL are opened; a thread that needs another one waits `busy_s`.
    """
    url = make_url(address)
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    # prefer the connection used last, so that few stay open
    pool: dict[str, Any] = {"pool_timeout": busy_s, "pool_use_lifo": True}
    if url.get_backend_name() == "postgresql":
        # imported here: SQLite needs no psycopg, which only production installs
        from ridedash.store.database.postgresql import postgresql_engine

        pool |= {"pool_size": connections, "max_overflow": 0}
        return postgresql_engine(url, pool, busy_s)
    # Opening a file is fast, but each connection takes a megabyte: rarely used ones are closed.
    pool |= {"pool_size": 4, "max_overflow": 36}
    engine = create_engine(url, **pool, connect_args={"cached_statements": STATEMENTS})
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_connect(busy_s))
        event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_connect(busy_s: float) -> Any:
    def connected(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        assert isinstance(connection, sqlite3.Connection)
        # We send BEGIN ourselves: the driver would send it late and deferred.
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={round(busy_s * 1000)}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"cache_size=-{PAGES_KB}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    return connected


def _sqlite_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if PATIENT in options:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={options[PATIENT] * 1000}").close()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITE) else "BEGIN")
