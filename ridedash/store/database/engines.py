"""How connections are set up: SQLite's durability and transactions, PostgreSQL's timeouts.

Write transactions begin with BEGIN IMMEDIATE on SQLite: a deferred one that turns into a write
fails at once when another writer got in between, an immediate one waits its turn. WAL lets readers
pass beside the writer; synchronous=FULL makes a commit a promise that survives a power cut
(docs/booking-protocol.md 1.3).

On PostgreSQL writers run side by side (READ COMMITTED): an order that a write session reads is held
by it until its end, so that two of them never build on the same old state of one order. Claims are
conditional UPDATEs.
"""

import sqlite3
from typing import Any, Final

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

POOL: Final = 20  # connections of a process to PostgreSQL, whose own default is 100 for all
BUSY_S: Final = 5.0  # seconds that a writer waits for another one
# that each connection to a file keeps prepared: of ours each takes tens of kilobytes
STATEMENTS: Final = 24
# of a file that each connection keeps for itself; the system keeps the rest once for all
PAGES_KB: Final = 512
WRITE: Final = "ridedash_write"  # the execution option of write sessions
# a process that stops in the middle of a transaction holds its locks no longer than this
IDLE_MS: Final = 60_000
# no statement of ours takes seconds: one that does would hold a thread and its locks
STATEMENT_MS: Final = 15_000
# A server that vanishes is given up after seconds, not after the system's minutes.
PATIENCE: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
SETTINGS: Final = """SELECT set_config('lock_timeout', %s, false),
    set_config(
        'statement_timeout',
        coalesce(nullif(current_setting('statement_timeout'), '0'), %s),
        false
    ),
    set_config('idle_in_transaction_session_timeout', %s, false),
    set_config(
        'synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false
    )"""


def make_engine(address: str, busy_s: float, connections: int = POOL) -> Engine:
    """An engine for either kind of database. Raises ArgumentError or ImportError.

    `connections` to PostgreSQL are opened at most; a thread that needs one more waits `busy_s`.
    """
    url = make_url(address)
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    # the connection used last, so that few stay open
    pool: dict[str, Any] = {"pool_timeout": busy_s, "pool_use_lifo": True}
    if url.get_backend_name() == "postgresql":
        return _postgresql(url, pool | {"pool_size": connections, "max_overflow": 0}, busy_s)
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
    write = connection.get_execution_options().get(WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _postgresql(url: URL, pool: dict[str, Any], busy_s: float) -> Engine:
    patience = {name: value for name, value in PATIENCE.items() if name not in url.query}
    # finds a restarted server again
    engine = create_engine(url, **pool, pool_pre_ping=True, connect_args=patience)

    def connected(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        with connection.cursor() as cursor:  # type: ignore[attr-defined] # a psycopg cursor closes itself
            limits = round(busy_s * 1000), STATEMENT_MS, IDLE_MS
            cursor.execute(SETTINGS, tuple(map(str, limits)))
        connection.commit()

    event.listen(engine, "do_connect", _bounded)
    event.listen(engine, "connect", connected)
    event.listen(engine, "before_cursor_execute", _without_nul, retval=True)
    return engine


def _bounded(
    _dialect: object, _entry: object, args: list[Any], named: dict[str, Any]
) -> DBAPIConnection:
    # imported here: SQLite needs no psycopg, which only production installs
    from ridedash.store.database.bounded import connect

    made: Any = connect(*args, **named)
    return made  # type: ignore[no-any-return]


def lift_limits(connection: Connection) -> None:
    """Let the statements of this connection take any time; it is closed at its end, not reused."""
    connection.detach()
    connection.exec_driver_sql("SET statement_timeout = 0")
    connection.connection.dbapi_connection.answer_s = None  # type: ignore[union-attr]


def _without_nul(
    _connection: Connection,
    _cursor: object,
    statement: str,
    parameters: Any,
    _context: object,
    _many: bool,
) -> tuple[str, Any]:
    """Remove NUL characters from parameters, because PostgreSQL stores none in text."""
    # not by `_many`: rows that are inserted by one statement come as one mapping
    if isinstance(parameters, list):
        return statement, [_cleaned(each) for each in parameters]
    return statement, _cleaned(parameters)


def _cleaned(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        if not any(isinstance(value, str) and "\0" in value for value in parameters.values()):
            return parameters
        return {name: _text(value) for name, value in parameters.items()}
    return type(parameters)(_text(value) for value in parameters) if parameters else parameters


def _text(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
