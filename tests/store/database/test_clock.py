"""All machines follow the database's clock. The monotonic clock continues it between readings;
the machine's own wall clock counts only before the first reading.
"""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ridedash.store.database.database import (
    CLOCK_AGAIN_S,
    CLOCK_EVERY_S,
    Database,
    DatabaseClock,
    Reading,
)
from tests.databases import POSTGRESQL, new_database

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Machine:
    """A machine's monotonic and wall clock, and a database that may differ or give no answer."""

    def __init__(self) -> None:
        self.passed, self.wall_off, self.database_off, self.requests, self.away = (
            0.0,
            3600.0,
            0.0,
            0,
            False,
        )
        self.clock = DatabaseClock(self.ask, self.wall, lambda: self.passed)

    def wall(self) -> datetime:
        return NOON + timedelta(seconds=self.passed + self.wall_off)

    def ask(self, monotonic: object) -> Reading | None:
        self.requests += 1
        return (
            None
            if self.away
            else (NOON + timedelta(seconds=self.passed + self.database_off), self.passed)
        )


def test_the_databases_clock_is_followed_whatever_the_wall_says() -> None:
    machine = Machine()
    assert machine.clock() == NOON
    machine.passed, machine.wall_off = 30.0, -7200.0
    assert machine.clock() == NOON + timedelta(seconds=30)


def test_the_database_clock_is_read_once_a_minute() -> None:
    machine = Machine()
    for second in range(0, 300, 5):
        machine.passed = float(second)
        machine.clock()
    assert machine.requests == 300 / CLOCK_EVERY_S
    machine.database_off = 2.0
    machine.passed = 310.0
    assert machine.clock() == NOON + timedelta(seconds=312), (
        "another server took over: its clock counts now"
    )


def test_without_an_answer_the_last_time_is_continued_and_read_again_soon() -> None:
    machine = Machine()
    machine.away = True
    assert machine.clock() == machine.wall(), "never heard: the wall must do"
    machine.passed, machine.away = CLOCK_AGAIN_S, False
    assert machine.clock() == NOON + timedelta(seconds=CLOCK_AGAIN_S)
    machine.passed, machine.away = 400.0, True
    assert machine.clock() == NOON + timedelta(seconds=400)


def test_a_sleep_of_the_machine_counts_although_its_monotonic_clock_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    awake, slept = 100.0, 0.0
    with_sleep = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    monkeypatch.setattr(
        time, "clock_gettime", lambda which: awake + slept if which == with_sleep else awake
    )
    monkeypatch.setattr(time, "monotonic", lambda: awake)
    readings: list[Reading | None] = [(NOON, awake), None]
    clock = DatabaseClock(lambda _monotonic: readings.pop(0), lambda: NOON)
    assert clock() == NOON
    slept = 40.0
    assert clock() == NOON + timedelta(seconds=40), "no reading is due"
    slept = 600.0
    assert clock() == NOON + timedelta(seconds=600), "one is due, and the database is away"


def test_a_file_has_no_clock_and_a_server_has(tmp_path: Path, postgres: str) -> None:
    def wall() -> datetime:
        return NOON

    file = Database(f"sqlite:///{tmp_path}/file.sqlite")
    assert file.clock(wall) is wall
    file.close()
    server = Database(new_database(tmp_path, POSTGRESQL))
    read_time = server.clock(wall)()
    with server.read() as s:
        there = s.connection().exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    assert abs(there - read_time) < timedelta(minutes=5)
    assert read_time != NOON
    server.close()
