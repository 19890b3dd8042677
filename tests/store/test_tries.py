"""Tries at a short secret: each is counted for its kiosk, for ten minutes, before it is checked."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from ridedash.store import tries
from ridedash.store.database.database import Database
from ridedash.store.models.people import Throttle
from tests.locks import locked
from tests.store.lobby import NOON

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
TEN = timedelta(minutes=10)


def test_each_kiosk_and_kind_of_secret_has_its_own_key() -> None:
    keys = [tries.pins_of(7), tries.codes_of(7, phone=False), tries.codes_of(7, phone=True)]
    assert keys == ["kiosk-pins:7", "kiosk-codes:7", "phone-codes:7"]


def test_tries_are_counted_down_and_are_free_again_after_ten_minutes(db: Database) -> None:
    with db.write() as s:

        def left(minutes_later: timedelta = MILLISECOND, key: str = "k") -> int:
            return tries.tries_left(s, key, 3, NOON + minutes_later)

        assert [left() for _ in range(5)] == [3, 2, 1, 0, 0]
        assert left(key="another") == 3
        row = s.get_one(Throttle, "k")
        assert (row.fails, row.since) == (3, NOON + MILLISECOND)
        row.blocked_until = NOON
        assert left(TEN) == 0, "not before ten minutes have passed"
        assert row.blocked_until is None
        assert left(TEN + MILLISECOND) == 3
        assert (row.fails, row.since) == (1, NOON + TEN + MILLISECOND)
        assert left(MILLISECOND) == 3, "a clock that was ahead counts no try of the future"
        row.fails, row.since = 1, NOON
        assert left(timedelta(0)) == 2


def test_a_right_try_takes_its_own_count_back_and_no_other(db: Database) -> None:
    with db.write() as s:
        for _ in range(2):
            tries.tries_left(s, "k", 3, NOON)
        row = s.get_one(Throttle, "k")
        with locked(s) as tables:
            tries.was_right(s, "k")
        assert tables == {"throttles"}
        assert row.fails == 1
        for _ in range(2):
            tries.was_right(s, "k")
        assert row.fails == 0
        tries.was_right(s, "never tried")
        with locked(s) as tables:
            tries.tries_left(s, "k", 3, NOON)
        assert tables == {"throttles"}


def test_what_a_try_counts_is_the_row_as_it_is_now(db: Database) -> None:
    """Another process may have counted since this session read the row."""
    with db.write() as s:
        tries.tries_left(s, "k", 3, NOON)
        row = s.get_one(Throttle, "k")
        s.flush()
        for run, counted in (
            (lambda: tries.tries_left(s, "k", 3, NOON), 3),
            (lambda: tries.was_right(s, "k"), 1),
        ):
            s.connection().exec_driver_sql("UPDATE throttles SET fails = 2")
            run()
            assert row.fails == counted
            s.flush()


def test_a_demo_that_begins_anew_forgets_kiosks_and_not_sign_ins(db: Database) -> None:
    with db.write() as s:
        for key in (tries.pins_of(1), tries.codes_of(2, phone=False), "kiosk-pin", "name:x"):
            tries.tries_left(s, key, 3, NOON)
        tries.tries_left(s, tries.codes_of(3, phone=True), 3, NOON)
        tries.forget_all(s)
        assert set(s.scalars(select(Throttle.key))) == {"kiosk-pin", "name:x"}
