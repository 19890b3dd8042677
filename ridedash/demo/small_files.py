"""The two small SQLite files of a demo beside its database: demo.db and lens.db.

Each may be deleted at any time. A file that is damaged, or was made by another release, is replaced
by an empty one: the demo goes on without its contents.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

WAITS_S: Final = 5.0  # how long to wait for another process that writes


@dataclass(frozen=True)
class SmallFile:
    """A small SQLite file. `tables`: the SQL that creates the tables of this `version`."""

    path: Path
    version: int
    tables: str

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that may write. Raises sqlite3.Error."""
        try:
            db = self._opened()
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                raise
            self._remove()
            db = self._opened()
        try:
            yield db
        except sqlite3.DatabaseError as error:
            if _is_broken(error):  # damaged further inside: the next caller starts with a new file
                self._remove()
            raise
        finally:
            db.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that reads; None while the file is absent or can't be read.

        Raises sqlite3.Error for a file that is damaged further inside.
        """
        db = self._opened_to_read()
        try:
            yield db
        finally:
            if db is not None:
                db.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            if not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self.path.touch(mode=0o600)
        except OSError as error:
            raise sqlite3.OperationalError(str(error)) from error
        db = sqlite3.connect(self.path, timeout=WAITS_S, isolation_level="IMMEDIATE")
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = OFF")  # the contents may be lost in a power failure
            if self._is_other(db):
                self._make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _opened_to_read(self) -> sqlite3.Connection | None:
        if not self.path.exists():
            return None
        db = None
        try:
            db = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", timeout=WAITS_S, uri=True)
            if not self._is_other(db):
                return db
        except sqlite3.Error:  # the next writer replaces a damaged file
            pass
        if db is not None:
            db.close()
        return None

    def _is_other(self, db: sqlite3.Connection) -> bool:
        return bool(db.execute("PRAGMA user_version").fetchone()[0] != self.version)

    def _make(self, db: sqlite3.Connection) -> None:
        with db:
            db.execute("BEGIN IMMEDIATE")
            if not self._is_other(db):  # another process has replaced the file already
                return
            query = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            for (name,) in db.execute(query).fetchall():
                db.execute(f'DROP TABLE "{name}"')
            for statement in self.tables.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {self.version}")

    def _remove(self) -> None:
        for end in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is damaged or is no database. False if it is locked, full or out of reach.

    For these, and for other mistakes, sqlite3 raises subclasses of DatabaseError.
    """
    return type(error) is sqlite3.DatabaseError
