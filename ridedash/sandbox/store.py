"""The SQLite file of the sandbox: connections, transactions and tables.

Times are the service's, in seconds since 1970; `wall`, the end of an outage and the expiry of codes
and tokens are wall time. `stops` has the time at which the clock is to stop, if one was set.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

BUSY_SECONDS: Final = 10.0
CACHE_SIZE: Final = 4096  # query results cached for one version of the database

T = TypeVar("T")

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS clock (
    one INTEGER PRIMARY KEY CHECK (one = 1), wall REAL NOT NULL, service REAL NOT NULL,
    speed REAL NOT NULL, pace REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS stops (
    one INTEGER PRIMARY KEY CHECK (one = 1), wall REAL NOT NULL, service REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS turns (
    n INTEGER PRIMARY KEY AUTOINCREMENT, wall REAL NOT NULL, service REAL NOT NULL,
    speed REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS dice (
    one INTEGER PRIMARY KEY CHECK (one = 1), seed INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS bookings (
    n INTEGER PRIMARY KEY AUTOINCREMENT, booking_id TEXT NOT NULL UNIQUE, txn_id TEXT UNIQUE,
    merchant_txn_id TEXT, user TEXT NOT NULL, category TEXT NOT NULL, city TEXT NOT NULL,
    created_at REAL NOT NULL, scenario TEXT NOT NULL, request TEXT NOT NULL, plan TEXT NOT NULL,
    ended_status TEXT, ended_at REAL, reason TEXT,
    revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE IF NOT EXISTS feedback (
    booking_id TEXT PRIMARY KEY, rating INTEGER NOT NULL, feedback TEXT, comments TEXT,
    at REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS scenarios (
    id INTEGER PRIMARY KEY AUTOINCREMENT, scenario TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, fault TEXT NOT NULL,
    left INTEGER NOT NULL, seconds REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS outages (
    operation TEXT PRIMARY KEY, until REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS codes (
    hash TEXT PRIMARY KEY, user TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL,
    scope TEXT NOT NULL, expires_at REAL NOT NULL, family TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS tokens (
    hash TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL, family TEXT NOT NULL,
    scope TEXT NOT NULL, expires_at REAL NOT NULL, spent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS tokens_family ON tokens (family);
"""


class StoreUnusable(Exception):
    """The file can't be used: it is damaged, or it is the database of another program.

    The message says what to do.
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} can't be used as the sandbox's database ({why}): move it away, a new one is "
            "made"
        )


class Store:
    """A small pool of connections to one database file.

    It is thread-safe, and several processes may share the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._watcher_lock = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        self._version = -1
        self._cache = ReadCache(self)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.read() as connection:
                _refuse_foreign(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(SCHEMA)
        except sqlite3.DatabaseError as error:
            self.close()
            raise StoreUnusable(path, str(error)) from None

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading; each statement sees what is committed."""
        yield from self._borrow()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction (BEGIN IMMEDIATE): commit at the end, roll back on an error."""
        with self.read() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def read_cache(self) -> "ReadCache":
        """The query results cached since the last write to the file by any process.

        The check for a newer version is one cheap PRAGMA.
        """
        with self._watcher_lock:
            if self._watcher is None:
                self._watcher = self._open()
                self._version = -1
            # The version changes when any other connection commits; this connection never writes.
            version = self._watcher.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version, self._cache = version, ReadCache(self)
            return self._cache

    def close(self) -> None:
        """Close every idle connection; a later use opens new ones."""
        with self._watcher_lock:
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
        while self._idle:
            self._idle.pop().close()

    def _borrow(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()  # atomic: no other thread gets the same connection
        except IndexError:
            connection = self._open()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def delete_bookings(connection: sqlite3.Connection) -> None:
    """Delete bookings, feedback, scenarios, faults and outages; bookings are numbered anew."""
    for table in ("bookings", "feedback", "scenarios", "faults", "outages"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constant names
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'bookings'")


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError for a damaged file or one whose tables are not ours.

    The file is not changed.
    """
    found = _columns(connection)
    if not found:
        return
    damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        raise sqlite3.DatabaseError(" ".join(damage.split()))
    with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(SCHEMA)
        ours = _columns(fresh)
    for table, columns in found.items():
        if not ours.get(table, set()) or not columns >= ours[table]:
            raise sqlite3.DatabaseError(f"its table {table} is not the sandbox's")


def _columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of each table."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    names = [row[0] for row in tables]
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: {row[0] for row in connection.execute(columns, (name,))} for name in names}


class ReadCache:
    """Query results that stay valid until the database is written to.

    Each request gets the current cache from Store.read_cache().
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[Any, Any] = {}

    def get(self, key: Any, read: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `read` that is cached under `key`; `read` runs now if there is none."""
        try:
            found: T = self._found[key]
        except KeyError:
            # Results for unknown tokens and ids are cached too, so any client can fill the cache.
            if len(self._found) >= CACHE_SIZE:
                self._found.clear()
            found = self._found[key] = self.read(read)
        return found

    def read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Run `read` now, without the cache."""
        with self._store.read() as connection:
            return read(connection)
