"""What a web process stores between polls: for how long, for whom, and which events end it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest

from ridedash.store.models.orders import Order
from ridedash.store.poll_marks import Revision, revisions
from ridedash.views.poll_cache.cache import (
    BEHIND_S,
    FRESH_S,
    KNOWN_S,
    LATE_S,
    LOOK_S,
    MAX_CREDENTIAL,
    OVERLAP_S,
    CacheEntry,
    Key,
    PollCache,
    Viewer,
)
from tests.rides.conftest import world
from tests.rides.desk_world import START, World

__all__ = ["world"]
pytestmark = pytest.mark.database
PAGE = Key("/rides/1", (1, "concierge"), "en")
OTHER = Key("/rides/2", (1, "concierge"), "en")


class Hands:
    """The seconds that the cache counts, and the last turn of the service's clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.turned: datetime | None = None


class Desk:
    """A cache over the database of a small desk, which fails while `away` is set."""

    def __init__(self, world: World) -> None:
        self.world, self.hands = world, Hands()
        self.reads, self.away = 0, False
        db: Any = self
        self.cache = PollCache(db, lambda: self.hands.now, lambda: self.hands.turned)

    @contextmanager
    def read(self) -> Iterator[Any]:
        self.reads += 1
        if self.away:
            raise OSError("the database is away")
        with self.world.db.read() as s:
            yield s

    def go(self, seconds: float) -> None:
        self.hands.now += seconds

    def shared(self, value: str, key: Key = PAGE, **facts: Any) -> str:
        """The answer of the cache, which is `value` if none is stored."""
        given = {"revision": None, "serves_s": 600.0, **facts}
        return str(self.cache.share(key, lambda _before: CacheEntry(value, **given)).value)

    def revision(self, order_id: int) -> Revision:
        with self.world.db.read() as s:
            return next(iter(revisions(s, [order_id])))


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


@pytest.mark.parametrize(("serves_s", "lasts"), [(600.0, FRESH_S), (7.0, 7.0)])
def test_an_answer_is_sent_again_until_time_changes_it_or_for_half_a_minute(
    desk: Desk, serves_s: float, lasts: float
) -> None:
    assert desk.shared("one", serves_s=serves_s) == "one"
    desk.go(lasts - 0.001)
    assert desk.shared("two") == "one"
    desk.go(0.001)
    assert desk.shared("three") == "three"


def test_an_answers_time_begins_before_it_is_made(desk: Desk) -> None:
    def slowly(_before: str | None) -> CacheEntry[str]:
        desk.go(4)
        return CacheEntry("one", None, 10.0)

    desk.cache.share(PAGE, slowly)
    desk.go(5.9)
    assert desk.shared("two") == "one"
    desk.go(0.2)
    assert desk.shared("three") == "three"


def test_what_changes_at_once_is_not_stored(desk: Desk) -> None:
    for serves_s in (0.0, -1.0):
        assert desk.shared("one", serves_s=serves_s) == "one"
    assert desk.cache.entries == {}


def test_the_next_answer_is_made_from_the_last_one_and_each_page_has_its_own(desk: Desk) -> None:
    seen: list[str | None] = []

    def made(before: str | None) -> CacheEntry[str]:
        seen.append(before)
        return CacheEntry(f"{len(seen)}", None, 5.0)

    for _ in range(2):
        desk.cache.share(PAGE, made)
        desk.go(5)
    desk.cache.share(OTHER, made)
    assert seen == [None, "1", None]


def test_while_one_thread_makes_an_answer_the_last_one_serves_for_a_second(desk: Desk) -> None:
    desk.shared("one", serves_s=5.0)
    found: list[object] = []

    def remade(_before: str | None) -> CacheEntry[str]:
        for late in (0.0, LATE_S - 0.001, 0.001):
            desk.go(late)
            found.append(desk.cache.valid(PAGE) is not None)
        return CacheEntry("two", None, 5.0)

    desk.go(5)
    assert desk.cache.valid(PAGE) is None, "no thread makes another"
    assert desk.cache.share(PAGE, remade).value == "two"
    assert found == [True, True, False]


def test_an_answer_that_can_not_be_made_is_tried_again(desk: Desk) -> None:
    def fails(_before: str | None) -> CacheEntry[str]:
        raise OSError("the database is away")

    for _ in range(2):
        with pytest.raises(OSError, match="away"):
            desk.cache.share(PAGE, fails)
    assert desk.shared("one") == "one"


@pytest.mark.parametrize("meanwhile", ["a write", "a turn of the clock"])
def test_what_may_be_older_than_something_that_happened_meanwhile_is_not_stored(
    desk: Desk, meanwhile: str
) -> None:
    def made(_before: str | None) -> CacheEntry[str]:
        if meanwhile == "a write":
            desk.cache.look_again()
        else:
            desk.hands.turned = START
        return CacheEntry("one", None, 600.0)

    assert desk.cache.share(PAGE, made).value == "one"
    assert desk.shared("two") == "two"


def test_after_a_write_an_answer_with_a_revision_is_compared_first(desk: Desk) -> None:
    order_id = desk.world.place()
    revision = desk.revision(order_id)

    def made(_before: str | None) -> CacheEntry[str]:
        desk.cache.look_again()
        return CacheEntry("one", revision, 600.0)

    desk.cache.share(PAGE, made)
    reads = desk.reads
    assert desk.shared("two") == "one"
    assert desk.reads == reads + 1


def test_an_answer_ends_when_its_order_has_another_revision_and_no_other_does(desk: Desk) -> None:
    first, second = desk.world.place(), desk.world.place()
    desk.shared("one", revision=desk.revision(first))
    desk.shared("other", OTHER, revision=desk.revision(second))
    assert desk.cache.in_touch()
    with desk.world.db.write() as s:
        s.get_one(Order, first).version += 1
    desk.go(LOOK_S - 0.001)
    assert desk.shared("two") == "one"
    desk.go(0.001)
    assert desk.shared("three", revision=desk.revision(first)) == "three"
    assert desk.shared("four", OTHER) == "other"


def test_within_a_quarter_of_a_second_the_database_is_read_once(desk: Desk) -> None:
    assert desk.cache.in_touch()
    desk.go(LOOK_S - 0.001)
    assert desk.cache.in_touch()
    assert desk.reads == 1
    desk.go(0.001)
    assert desk.cache.in_touch()
    assert desk.reads == 2


def test_while_another_thread_reads_the_recent_result_is_used(desk: Desk) -> None:
    assert desk.cache.in_touch()
    with desk.cache._looking:
        desk.go(BEHIND_S - 0.001)
        assert desk.cache.in_touch()
        desk.go(0.001)
        assert not desk.cache.in_touch()


def test_that_the_database_is_away_is_logged_once_until_it_was_there_again(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    desk.shared("one")
    for away, logged in ((True, 1), (True, 1), (False, 1), (True, 2)):
        desk.away = away
        desk.go(LOOK_S)
        assert desk.cache.in_touch() is not away
        assert desk.shared("two", OTHER, serves_s=0.0) == "two"
        assert len(caplog.records) == logged


def test_a_write_of_this_process_ends_what_shows_more_than_an_order(desk: Desk) -> None:
    order_id = desk.world.place()
    desk.shared("board")
    desk.shared("ride", OTHER, revision=desk.revision(order_id))
    reads = desk.reads
    desk.cache.look_again()
    assert desk.cache.writes == 1
    assert desk.shared("new board") == "new board"
    assert desk.shared("new ride", OTHER) == "ride"
    assert desk.reads == reads + 1


def test_nothing_of_rows_that_were_deleted_is_sent_again(desk: Desk) -> None:
    order_id = desk.world.place()
    desk.shared("ride", revision=desk.revision(order_id))
    entry = desk.cache.entries[PAGE]
    desk.cache.forget()
    assert (desk.cache.entries, desk.cache.writes, entry.until) == ({}, 1, float("-inf"))
    assert desk.shared("new", revision=desk.revision(order_id)) == "new"


def test_a_clock_turn_expires_every_answer_at_the_next_look(desk: Desk) -> None:
    order_id = desk.world.place()
    desk.shared("ride", revision=desk.revision(order_id))
    desk.hands.turned = START
    desk.go(LOOK_S)
    assert desk.shared("turned", revision=desk.revision(order_id)) == "turned"
    desk.go(LOOK_S)
    assert desk.shared("later", revision=desk.revision(order_id)) == "turned", "once"


def test_answers_that_are_not_requested_are_dropped_half_a_minute_after_their_expiry(
    desk: Desk,
) -> None:
    desk.shared("one", serves_s=5.0)
    desk.go(5 + FRESH_S - 0.001)
    desk.cache.in_touch()
    assert list(desk.cache.entries) == [PAGE]
    desk.go(LOOK_S)
    desk.cache.in_touch()
    assert desk.cache.entries == {}


@pytest.mark.parametrize(
    ("credential", "cached"),
    [
        (("cookie", ""), True),
        (("", "10.0.0.1"), False),
        (("c" * (MAX_CREDENTIAL - 1), "a"), True),
        (("c" * MAX_CREDENTIAL, "a"), False),
    ],
)
def test_a_viewer_is_known_by_a_credential_of_usual_length(
    desk: Desk, credential: tuple[str, str], cached: bool
) -> None:
    desk.cache.admit(credential, Viewer("secret", (1, "concierge"), 1.0))
    assert (credential in desk.cache.viewers) is cached


def test_a_viewer_who_is_verified_again_is_the_newest(desk: Desk) -> None:
    for name in ("a", "b", "a"):
        desk.cache.admit((name, ""), Viewer("secret", (1, "concierge"), desk.hands.now))
        desk.go(1)
    assert [name for name, _ in desk.cache.viewers] == ["b", "a"]
    assert desk.cache.viewers["a", ""].until == 1002.0


def test_ended_secrets_are_known_while_their_viewers_may_be_and_read_again_for_a_minute(
    desk: Desk,
) -> None:
    note = desk.cache._note_ended
    note([(5, "five"), (7, "seven")], 1000.0)
    note([(6, "six"), (5, "five")], 1010.0)  # six was committed late
    assert desk.cache.ended == {"five": 1000.0, "seven": 1000.0, "six": 1010.0}
    assert [number for _, number in desk.cache._numbers] == [0, 5, 7]
    note([], 1000.0 + OVERLAP_S)
    assert desk.cache._numbers[0][1] == 0, "read again for so long"
    note([], 1000.001 + OVERLAP_S)
    assert desk.cache._numbers[0][1] == 7
    note([], 1000.0 + KNOWN_S + OVERLAP_S)
    assert len(desk.cache.ended) == 3
    note([], 1000.001 + KNOWN_S + OVERLAP_S)
    assert list(desk.cache.ended) == ["six"]
