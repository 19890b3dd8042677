"""The service's clock: 1 to 60 times as fast as the wall's, and stored, so that every process reads
the same.
"""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Final

from ridedash.sandbox.store import Known, Store

SLOWEST: Final = 1.0
FASTEST: Final = 60.0


class ServiceClock:
    """Service time in seconds since 1970: a straight line through one stored point, with the stored
    speed.
    """

    def __init__(self, store: Store, wall: Callable[[], datetime], pace: float) -> None:
        self._store = store
        self._wall = wall
        check_speed(pace)
        with store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            if row is None or row["pace"] != pace:
                service = self.wall() if row is None else self._at(row)
                self._put(connection, service, pace, pace)

    def wall(self) -> float:
        """Wall time in seconds since 1970; tokens live by it."""
        return self._wall().timestamp()

    def now(self, known: Known | None = None) -> float:
        """The service's time now; `known` is what the request at hand knows of the database
        already.
        """
        return self._at((known or self._store.known()).get("clock", _row))

    def speed(self) -> float:
        """How many service seconds pass in a second."""
        return float(self._store.known().get("clock", _row)["speed"])

    def set_speed(self, speed: float) -> None:
        """Go on from the present moment at another speed, 1 to 60; ValueError beyond."""
        check_speed(speed)
        with self._store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            self._put(connection, self._at(row), speed, row["pace"])

    def advance(self, seconds: float) -> None:
        """Leap forward."""
        with self._store.write() as connection:
            row = connection.execute("SELECT * FROM clock").fetchone()
            self._put(connection, self._at(row) + seconds, row["speed"], row["pace"])

    def _at(self, row: sqlite3.Row) -> float:
        return float(row["service"] + (self.wall() - row["wall"]) * row["speed"])

    def _put(
        self, connection: sqlite3.Connection, service: float, speed: float, pace: float
    ) -> None:
        connection.execute(
            "REPLACE INTO clock (one, wall, service, speed, pace) VALUES (1, ?, ?, ?, ?)",
            (self.wall(), service, speed, pace),
        )


def _row(connection: sqlite3.Connection) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute("SELECT * FROM clock").fetchone()
    return row


def check_speed(speed: float) -> None:
    """ValueError unless the speed is 1 to 60."""
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError("speed must be from 1 to 60")
