"""When a kiosk is open, and what keeps every kiosk from booking."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.health import Alarms, write_heartbeat
from ridedash.rides.kiosk.opening import Problem, current_problem, is_open, takes_orders
from ridedash.store.models.kiosks import Kiosk
from tests.rides.desk_world import World

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
DAY, NIGHT = {"mon": [["06:00", "12:00"], ["14:00", "23:00"]]}, {"sun": [["22:00", "02:00"]]}


@pytest.mark.parametrize(
    ("hours", "at", "opened"),
    [
        ({}, "03:00", True),
        (DAY, "05:59", False),
        (DAY, "06:00", True),
        (DAY, "11:59", True),
        (DAY, "12:00", False),
        (DAY, "22:59", True),
        (DAY, "23:00", False),
        (NIGHT, "01:59", True),
        (NIGHT, "02:00", False),
        (NIGHT, "22:00", False),
        ({"tue": [["00:00", "23:59"]]}, "12:00", False),
        # from eight o'clock until eight o'clock on the next day
        ({"mon": [["08:00", "08:00"]]}, "07:59", False),
        ({"mon": [["08:00", "08:00"]]}, "08:00", True),
        ({"sun": [["08:00", "08:00"]]}, "07:59", True),
        ({"sun": [["08:00", "08:00"]]}, "08:00", False),
    ],
)
def test_a_kiosk_is_open_always_or_by_the_hours_of_each_day(
    hours: dict[str, list[list[str]]], at: str, opened: bool
) -> None:
    hour, minute = map(int, at.split(":"))
    assert is_open(Kiosk(hours=hours), MONDAY.replace(hour=hour, minute=minute)) is opened


def test_a_night_begins_on_its_own_day(world: World) -> None:
    sunday = MONDAY - timedelta(days=1)
    assert is_open(Kiosk(hours=NIGHT), sunday.replace(hour=22))
    assert not is_open(Kiosk(hours=NIGHT), sunday.replace(hour=1))


def test_silence_a_refused_key_or_a_stopped_worker_is_a_problem_of_every_kiosk(
    world: World,
) -> None:
    def now() -> Problem:
        with world.db.read() as s:
            return current_problem(s, world.clock())

    assert now() is Problem.WORKER
    write_heartbeat(world.db, "w", world.clock())
    assert now() is Problem.NONE
    write_heartbeat(world.db, "w", world.clock(), Alarms(world.clock()))
    assert now() is Problem.SERVICE
    write_heartbeat(world.db, "w", world.clock(), Alarms(key_refused_since=world.clock()))
    assert now() is Problem.SERVICE
    world.clock.go(3600)
    assert now() is Problem.WORKER


@pytest.mark.parametrize(
    ("at", "taken"), [("00:29", False), ("00:30", True), ("17:34", True), ("17:35", False)]
)
def test_who_stood_there_at_closing_time_has_five_minutes_more(at: str, taken: bool) -> None:
    """Hours are in the property's time zone: 06:00 in Kolkata is 00:30 in UTC."""
    kiosk, (hour, minute) = Kiosk(hours={"mon": [["06:00", "23:00"]]}), map(int, at.split(":"))
    now = MONDAY.replace(hour=hour, minute=minute)
    assert takes_orders(kiosk, now, ZoneInfo("Asia/Kolkata")) is taken
