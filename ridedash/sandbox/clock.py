"""The service's clock: it stands still, or runs 1 to 60 times as fast as wall time.

The clock is stored in the database, so that every process reads the same time. A turn is a change
of the clock: to another speed or another time. Each turn is stored in the transaction that changes
the clock. One turn, the stop, may lie in the future: the clock then runs until that time and stops.
"""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from ridedash.sandbox.store import ReadCache, Store, delete_bookings

SLOWEST: Final = 1.0
FASTEST: Final = 60.0
HELD: Final = 0.0
STORED_TURNS: Final = 1_000
CLOCK: Final = (
    "SELECT clock.*, stops.wall AS stop_wall, stops.service AS stop_service"
    " FROM clock LEFT JOIN stops USING (one)"
)
ROUNDING_S: Final = 0.001  # a fare_id contains a service time rounded to this


class ClockTurn(NamedTuple):
    """At `wall` the clock is set to `service`, then runs at `speed`; in seconds since 1970."""

    wall: float
    service: float
    speed: float


class SetBack(Exception):
    """The clock can't be set back while there are bookings: their rides would run backwards."""


class ServiceClock:
    """Service time in seconds since 1970, computed from the last turn."""

    def __init__(self, store: Store, wall: Callable[[], datetime], pace: float) -> None:
        self._store = store
        self._wall = wall
        check_speed(pace)
        with store.write() as connection:
            row = connection.execute(CLOCK).fetchone()
            if row is None or row["pace"] != pace:
                service = self.wall() if row is None else self._at(row)
                self._save(connection, row, ClockTurn(self.wall(), service, pace), pace)
            elif not connection.execute("SELECT 1 FROM turns").fetchone():
                # the file is of a release that did not store turns
                _add_turn(connection, ClockTurn(row["wall"], row["service"], row["speed"]))

    def wall(self) -> float:
        """Wall time in seconds since 1970; tokens expire by it."""
        return self._wall().timestamp()

    def now(self, cache: ReadCache | None = None) -> float:
        """The service's time now, read through `cache` if the caller has one."""
        return self._at((cache or self._store.read_cache()).get("clock", _clock_row))

    def speed(self) -> float:
        """How many service seconds pass in one second of wall time; 0 if the clock is stopped."""
        return self._speed(self._store.read_cache().get("clock", _clock_row))

    def turns(self) -> tuple[ClockTurn, ...]:
        """The last turns, the oldest first."""
        cache = self._store.read_cache()
        turns = cache.get("turns", _turns)
        stop = _stop(cache.get("clock", _clock_row))
        if stop is None or stop.wall > self.wall():
            return turns
        return (*turns, stop)

    def stop(self) -> ClockTurn | None:
        """The future turn that stops the clock; None without one."""
        stop = _stop(self._store.read_cache().get("clock", _clock_row))
        if stop is None or stop.wall <= self.wall():
            return None
        return stop

    def wall_seconds_since(self, since: float) -> float:
        """How many seconds of wall time ago the clock last showed the service time `since`.

        If the clock has leapt over `since`, the time since that leap is returned.
        """
        until = self.wall()
        for turn in reversed(self.turns()):
            if turn.service <= since + ROUNDING_S:
                ran = (since - turn.service) / turn.speed if turn.speed else until - turn.wall
                return self.wall() - min(until, turn.wall + ran)
            until = turn.wall
        return self.wall() - until

    def change(
        self, *, at: float | None = None, leap: float = 0.0, speed: float | None = None
    ) -> None:
        """Set the clock to `at`, move it forward by `leap`, and let it run at `speed` from there.

        Values that aren't given stay as they are, but a future stop is always dropped. Raises
        ValueError for a speed that is neither 0 nor 1 to 60, and SetBack for an earlier time while
        there are bookings.
        """
        if speed:
            check_speed(speed)
        with self._store.write() as connection:
            row = connection.execute(CLOCK).fetchone()
            now = self._at(row)
            runs = self._speed(row)
            if at is not None and at < now and _has_bookings(connection):
                raise SetBack
            then = (now if at is None else at) + leap
            will_run = runs if speed is None else speed
            stops = bool(runs) and _stop(row) is not None
            if stops or (then, will_run) != (now, runs):
                self._save(connection, row, ClockTurn(self.wall(), then, will_run), row["pace"])

    def run_until(self, then: float, speed: float) -> None:
        """Let the clock run at a speed of 1 to 60 until a service time, and stop it then.

        It stops at once if that time has passed. Raises ValueError for another speed.
        """
        check_speed(speed)
        with self._store.write() as connection:
            row = connection.execute(CLOCK).fetchone()
            turn = ClockTurn(self.wall(), self._at(row), speed)
            stops = turn.wall + max(0.0, then - turn.service) / speed
            self._save(connection, row, turn, row["pace"])
            connection.execute(
                "INSERT INTO stops (one, wall, service) VALUES (1, ?, ?)",
                (stops, max(then, turn.service)),
            )

    def _at(self, row: sqlite3.Row) -> float:
        wall = self.wall()
        stop = _stop(row)
        if stop is not None and stop.wall <= wall:
            return stop.service
        return float(row["service"] + (wall - row["wall"]) * row["speed"])

    def _speed(self, row: sqlite3.Row) -> float:
        stop = _stop(row)
        if stop is not None and stop.wall <= self.wall():
            return HELD
        return float(row["speed"])

    def _save(
        self,
        connection: sqlite3.Connection,
        before: sqlite3.Row | None,
        turn: ClockTurn,
        pace: float,
    ) -> None:
        stop = None if before is None else _stop(before)
        if stop is not None and stop.wall <= turn.wall:
            _add_turn(connection, stop)
        connection.execute("DELETE FROM stops")
        connection.execute(
            "REPLACE INTO clock (one, wall, service, speed, pace) VALUES (1, ?, ?, ?, ?)",
            (*turn, pace),
        )
        _add_turn(connection, turn)


def begin_led(store: Store, wall: float, pace: float) -> None:
    """Delete a sandbox's bookings, faults and turns; set its clock to `wall`, at normal speed.

    `wall` (seconds since 1970) may be days ago: cli/demo_day.py then makes bookings of past days,
    with a wall clock of its own. Tokens are kept. `pace` is stored as the configured pace, so that
    a start of the sandbox doesn't change the speed; the caller sets that speed when the bookings
    are made.
    """
    with store.write() as connection:
        delete_bookings(connection)
        connection.execute("DELETE FROM turns")
        connection.execute("DELETE FROM stops")
        connection.execute(
            "REPLACE INTO clock (one, wall, service, speed, pace) VALUES (1, ?, ?, ?, ?)",
            (wall, wall, SLOWEST, pace),
        )
        _add_turn(connection, ClockTurn(wall, wall, SLOWEST))


def _add_turn(connection: sqlite3.Connection, turn: ClockTurn) -> None:
    connection.execute("INSERT INTO turns (wall, service, speed) VALUES (?, ?, ?)", turn)
    connection.execute(
        "DELETE FROM turns WHERE n <= (SELECT MAX(n) FROM turns) - ?", (STORED_TURNS,)
    )


def _clock_row(connection: sqlite3.Connection) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute(CLOCK).fetchone()
    return row


def _stop(row: sqlite3.Row) -> ClockTurn | None:
    if row["stop_wall"] is None:
        return None
    return ClockTurn(row["stop_wall"], row["stop_service"], HELD)


def _turns(connection: sqlite3.Connection) -> tuple[ClockTurn, ...]:
    rows = connection.execute("SELECT wall, service, speed FROM turns ORDER BY n").fetchall()
    return tuple(ClockTurn(*row) for row in rows)


def _has_bookings(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM bookings LIMIT 1").fetchone() is not None


def check_speed(speed: float) -> None:
    """Raise ValueError unless the speed is 1 to 60."""
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError("speed must be from 1 to 60")
