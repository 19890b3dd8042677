"""Visits of a kiosk: how far they came, how they ended, and which of them are open."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ridedash.store import kiosk_visits
from ridedash.store.kiosk_visits import ENDED_VISITS, Visit, VisitEnd
from ridedash.store.models.kiosks import Kiosk, KioskVisit
from tests.locks import locked
from tests.store.lobby import NOON, Lobby
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)
LATER = NOON + MINUTE


@pytest.fixture
def lobby(database: str) -> Iterator[Lobby]:
    made = Lobby(database)
    yield made
    made.db.close()


def mine(lobby: Lobby, name: str = "mine") -> Visit:
    return Visit(name, lobby.lobby, lobby.id)


def test_a_visit_is_made_by_its_first_word_and_keeps_its_furthest_screen(lobby: Lobby) -> None:
    with lobby.db.write() as s:
        with locked(s) as tables:
            row = kiosk_visits.touch(s, mine(lobby), NOON, "car")
        assert row is not None
        assert tables == {"kiosk_visits"}
        assert (row.kiosk_id, row.property_id, row.began_at) == (lobby.lobby, lobby.id, NOON)
        screens = [("place", "car"), ("no such", "car"), ("who", "who"), ("", "who")]
        for screen, known in screens:
            assert kiosk_visits.touch(s, mine(lobby), LATER, screen) is row
            assert row.screen == known
        assert row.began_at == NOON
        stranger = Visit("mine", lobby.theirs, lobby.other)
        assert kiosk_visits.touch(s, stranger, NOON, "ride") is None
        assert row.screen == "who"
        first = kiosk_visits.touch(s, mine(lobby, "new"), NOON, "start")
        assert first is not None
        assert first.screen == "start"


def test_the_ticket_of_the_order_that_a_visit_made_is_shown_or_not(lobby: Lobby) -> None:
    with lobby.db.write() as s:
        me = mine(lobby)
        kiosk_visits.touch(s, me, NOON, "unknown")
        kiosk_visits.note_order(s, me, 7, NOON)
        row = s.get_one(KioskVisit, "mine")
        assert (row.order_id, row.screen) == (7, "sending")
        assert not kiosk_visits.shows_ticket(s, me, 7)
        assert kiosk_visits.shows_ticket(s, me, 8), "another visit's order"
        assert kiosk_visits.shows_ticket(s, mine(lobby, "none"), 7)
        kiosk_visits.note_ticket(s, me, 8, NOON)
        assert row.screen == "sending"
        kiosk_visits.note_ticket(s, me, 7, NOON)
        assert row.screen == "booked"
        assert kiosk_visits.shows_ticket(s, me, 7)
        kiosk_visits.touch(s, me, NOON, "ride")
        kiosk_visits.note_ticket(s, me, 7, NOON)
        assert row.screen == "ride"
        assert kiosk_visits.shows_ticket(s, me, 7)
        stranger = Visit("mine", lobby.theirs, lobby.other)
        kiosk_visits.note_order(s, stranger, 9, NOON)
        kiosk_visits.note_ticket(s, stranger, 7, NOON)
        assert (row.order_id, row.screen) == (7, "ride")


def test_help_rings_again_after_an_answer_and_ends_an_earlier_guests_call(
    lobby: Lobby,
) -> None:
    two_hours, ringing = LATER - 120 * MINUTE, {"help_at": NOON - 90 * MINUTE}
    facts: dict[str, dict[str, Any]] = {
        "asked": {"began": two_hours + MILLISECOND, **ringing},
        "long ago": {"began": two_hours, **ringing},
        "calm": {},
        "ended": {"ended_at": NOON - MINUTE, **ringing},
        "theirs": {"kiosk_id": lobby.theirs, "property_id": lobby.other, **ringing},
    }
    lobby.add(*(lobby.visit(name, **each) for name, each in facts.items()))
    me = mine(lobby)
    with lobby.db.write() as s:
        with locked(s) as tables:
            assert kiosk_visits.ask_help(s, me, "car", LATER)
        assert tables == {"kiosk_visits"}
        ended = {name: s.get_one(KioskVisit, name).how for name in facts}
        assert {name for name, how in ended.items() if how == "lost"} == {"asked"}
        row = s.get_one(KioskVisit, "mine")
        assert (row.help_at, row.screen) == (LATER, "car")
        assert kiosk_visits.ask_help(s, me, "", LATER + MINUTE)
        assert row.help_at == LATER, "it rings since then"
        row.help_answered_at, row.help_answered_by = LATER, lobby.staff
        row.ended_at, row.how = LATER, "done"
        assert kiosk_visits.ask_help(s, me, "", LATER + MINUTE)
        assert (row.help_at, row.help_answered_at) == (LATER + MINUTE, None)
        assert (row.help_answered_by, row.ended_at, row.how) == (None, None, None)
        stranger = Visit("mine", lobby.theirs, lobby.other)
        assert kiosk_visits.ask_help(s, stranger, "", NOON) is False


def test_help_that_is_requested_again_after_a_silence_rings_again(lobby: Lobby) -> None:
    me = mine(lobby)
    with lobby.db.write() as s:
        kiosk_visits.ask_help(s, me, "car", NOON)
        kiosk_visits.end_lost(s, me.id, LATER)
        assert kiosk_visits.ask_help(s, me, "", LATER + MINUTE)
        row = s.get_one(KioskVisit, me.id)
        assert (row.help_at, row.ended_at, row.how) == (LATER + MINUTE, None, None)


def test_the_first_word_about_the_end_of_a_visit_counts(lobby: Lobby) -> None:
    end = VisitEnd("idle", "car", "hi", ("speech", "magic", "large"), 300)
    with lobby.db.write() as s:
        kiosk_visits.end(s, mine(lobby), end, NOON)
        row = s.get_one(KioskVisit, "mine")
        assert (row.ended_at, row.how, row.screen, row.language) == (NOON, "idle", "car", "hi")
        assert (row.aids, row.seconds) == (["large", "speech"], 300)
        assert row.began_at == NOON - 5 * MINUTE, "its page was there before its first word"
        kiosk_visits.end(s, mine(lobby), VisitEnd("done"), LATER)
        kiosk_visits.end_lost(s, "mine", LATER)
        assert (row.ended_at, row.how) == (NOON, "idle")
        kiosk_visits.touch(s, mine(lobby, "short"), NOON - MINUTE)
        kiosk_visits.end(s, mine(lobby, "short"), VisitEnd("bored", seconds=1), NOON)
        short = s.get_one(KioskVisit, "short")
        assert (short.how, short.language, short.began_at) == ("left", None, NOON - MINUTE)
        kiosk_visits.end(s, mine(lobby, "bare"), VisitEnd(), NOON)
        bare = s.get_one(KioskVisit, "bare")
        assert (bare.how, bare.seconds, bare.aids, bare.began_at) == ("left", None, [], NOON)
        kiosk_visits.touch(s, mine(lobby, "silent"), NOON)
        with locked(s) as tables:
            kiosk_visits.end_lost(s, "silent", LATER)
        assert tables == {"kiosk_visits"}
        assert s.get_one(KioskVisit, "silent").ended_at == LATER
        kiosk_visits.end_lost(s, "none", NOON)
        kiosk_visits.end(s, Visit("bare", lobby.theirs, lobby.other), VisitEnd("done"), NOON)
        ends = [("idle", 300), ("left", 1), ("left", None), ("lost", None)]
        assert s.info[ENDED_VISITS] == ends


def test_what_another_process_has_written_of_a_visit_counts(lobby: Lobby) -> None:
    with lobby.db.write() as s:
        for name in ("mine", "lost"):
            kiosk_visits.touch(s, mine(lobby, name), NOON, "car")
        s.flush()
        rows = s.query(KioskVisit).all()
        s.connection().exec_driver_sql(
            "UPDATE kiosk_visits SET screen = 'booked', ended_at = began_at, how = 'done'"
        )
        kiosk_visits.touch(s, mine(lobby), LATER, "where")
        kiosk_visits.end_lost(s, "lost", LATER)
        assert [(row.screen, row.how) for row in rows] == [("booked", "done")] * 2


def test_visits_that_were_not_ended_are_open_while_their_kiosk_is_silent(lobby: Lobby) -> None:
    ten, day = NOON - 10 * MINUTE, NOON - timedelta(days=1)
    alive = lobby.kiosk("heard", id=11, seen_at=ten)
    silent = lobby.kiosk("silent", id=12, seen_at=ten - MILLISECOND)
    never = lobby.kiosk("never", id=13)
    lobby.add(alive, silent, never)
    begun: dict[str, tuple[int, datetime]] = {
        "quiet": (12, ten - MILLISECOND),
        "new": (12, ten),
        "never heard": (13, ten - MILLISECOND),
        "goes on": (11, NOON - 120 * MINUTE),
        "too long": (11, NOON - 120 * MINUTE - MILLISECOND),
        "out of sight": (12, day),
        "in sight": (12, day + MILLISECOND),
    }
    lobby.add(*(lobby.visit(name, at, kiosk_id=where) for name, (where, at) in begun.items()))
    lobby.add(
        lobby.visit("ended", ten - MINUTE, kiosk_id=12, ended_at=NOON),
        lobby.visit("of another", ten - MINUTE),
    )
    with lobby.db.read() as s:
        found = kiosk_visits.still_open(s, [11, 12, 13], NOON)
    assert sorted(found) == ["in sight", "never heard", "quiet", "too long"]


def test_orders_whose_ticket_was_never_shown_are_found_for_a_day(tmp_path: Path) -> None:
    desk: Desk = make_desk(tmp_path)
    now, day = desk.now, desk.now - timedelta(days=1)
    of_property = {"property_id": desk.ids["desk.property"]}
    facts = {"kind": "kiosk", "name": "Lobby", "made_at": now, **of_property}
    desk.add(lambda s: s.add_all([Kiosk(id=1, **facts), Kiosk(id=2, **facts)]))
    rows = {
        "unshown": (1, now, "sending", 1),
        "old": (1, day, "sending", 1),
        "seen lately": (1, day + MILLISECOND, "sending", 1),
        "shown": (1, now, "booked", 1),
        "fresh": (1, now, "sending", 0),
        "elsewhere": (2, now, "sending", 1),
    }
    orders = {}
    for name, (kiosk, began, screen, age_s) in rows.items():
        orders[name] = desk.order("BOOKED", age_s=age_s)
        columns = {"kiosk_id": kiosk, "screen": screen, "order_id": orders[name], "aids": []}
        visit = KioskVisit(id=name, began_at=began, **columns, **of_property)
        desk.add(lambda s, visit=visit: s.add(visit))
    with desk.services.db.read() as s:
        found = kiosk_visits.without_ticket(s, [1], now)
    assert sorted(found) == sorted((orders["unshown"], orders["seen lately"]))
    desk.close()


def test_a_ticket_is_due_although_the_page_ended_where_it_asked_the_desk(tmp_path: Path) -> None:
    """The desk is asked after Book is pressed, and its approval makes the order."""
    desk: Desk = make_desk(tmp_path)
    now, home = desk.now, desk.ids["desk.property"]
    device = Kiosk(id=1, kind="kiosk", name="Lobby", made_at=now, property_id=home)
    desk.add(lambda s: s.add(device))
    made, me = desk.order("BOOKED"), Visit("mine", 1, home)
    with desk.services.db.write() as s:
        for screen in ("sending", "asking"):
            kiosk_visits.touch(s, me, now, screen)
        assert s.get_one(KioskVisit, "mine").screen == "asking", "the furthest one so far"
        kiosk_visits.note_order(s, me, made, now)
        kiosk_visits.end(s, me, VisitEnd("lost", "asking"), now)
        assert not kiosk_visits.shows_ticket(s, me, made)
        assert kiosk_visits.without_ticket(s, [1], now + MINUTE) == [made]
    desk.close()
