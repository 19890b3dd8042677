"""The service's clock, 1 to 60 times as fast as wall time.

It is stored in the database, so that every process reads the same time.
"""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Final

from ridedash.sandbox.store import ReadCache, Store

SLOWEST: Final = 1.0
FASTEST: Final = 60.0


class ServiceClock:
    """Service time in seconds since 1970, computed from one stored point and the stored speed."""

    def __init__(self, store: Store, wall: Callable[[], datetime], pace: float) -> None:
        self._store = store
        self._wall = wall
        check_speed(pace)
        with store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            if row is None or row["pace"] != pace:
                service = self.wall() if row is None else self._at(row)
                self._save(connection, service, pace, pace)

    def wall(self) -> float:
        """Wall time in seconds since 1970; tokens expire by it."""
        return self._wall().timestamp()

    def now(self, cache: ReadCache | None = None) -> float:
        """The service's time now, read through `cache` if the caller has one."""
        return self._at((cache or self._store.read_cache()).get("clock", _clock_row))

    def speed(self) -> float:
        """How many service seconds pass in one second of wall time."""
        return float(self._store.read_cache().get("clock", _clock_row)["speed"])

    def set_speed(self, speed: float) -> None:
        """Continue at another speed. Raises ValueError unless it is 1 to 60."""
        check_speed(speed)
        with self._store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            self._save(connection, self._at(row), speed, row["pace"])

    def advance(self, seconds: float) -> None:
        """Move the clock forward by a number of service seconds."""
        with self._store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            self._save(connection, self._at(row) + seconds, row["speed"], row["pace"])

    def _at(self, row: sqlite3.Row) -> float:
        return float(row["service"] + (self.wall() - row["wall"]) * row["speed"])

    def _save(
        self, connection: sqlite3.Connection, service: float, speed: float, pace: float
    ) -> None:
        connection.execute(
            "REPLACE INTO clock (one, wall, service, speed, pace) VALUES (1, ?, ?, ?, ?)",
            (self.wall(), service, speed, pace),
        )


def _clock_row(connection: sqlite3.Connection) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute("SELECT * FROM clock").fetchone()
    return row


def check_speed(speed: float) -> None:
    """Raise ValueError unless the speed is 1 to 60."""
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError("speed must be from 1 to 60")
