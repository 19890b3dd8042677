"""Kiosks as the desk sees them: what rings and for how long, counted visits, silent devices."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from ridedash.store import kiosk_desk
from ridedash.store.kiosk_desk import KioskCounts, Ring, Visits
from ridedash.store.models.kiosks import KioskAsk, KioskVisit, PickupHint
from tests.locks import locked
from tests.store.lobby import NOON, Lobby

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def lobby(database: str) -> Iterator[Lobby]:
    made = Lobby(database)
    yield made
    made.db.close()


def rings(lobby: Lobby) -> list[Ring]:
    with lobby.db.read() as s:
        return kiosk_desk.rings(s, lobby.id, NOON)


def test_help_rings_for_half_an_hour_until_it_is_answered_or_the_visit_ends(lobby: Lobby) -> None:
    ringing, half = {"help_at": NOON - MINUTE}, NOON - 30 * MINUTE
    theirs = {"kiosk_id": lobby.theirs, "property_id": lobby.other}
    lobby.add(
        lobby.visit("late", half + MILLISECOND, help_at=NOON),
        lobby.visit("now", **ringing),
        lobby.visit("over", half, **ringing),
        lobby.visit("calm"),
        lobby.visit("answered", help_answered_at=NOON, **ringing),
        lobby.visit("ended", ended_at=NOON, **ringing),
        lobby.visit("theirs", **ringing, **theirs),
    )
    assert rings(lobby) == [
        Ring("help", "now", NOON - MINUTE, lobby.lobby, "Lobby"),
        Ring("help", "late", NOON, lobby.lobby, "Lobby"),
    ]


def test_an_ask_rings_for_three_minutes_while_it_waits(lobby: Lobby) -> None:
    def ask(age: timedelta, state: str = "waiting", mine: bool = True) -> KioskAsk:
        place = (lobby.id, lobby.lobby) if mine else (lobby.other, lobby.theirs)
        facts = dict(zip(("property_id", "kiosk_id"), place, strict=True))
        return KioskAsk(visit_id="v", offer_id=1, state=state, asked_at=NOON - age, **facts)

    waits = ask(3 * MINUTE - MILLISECOND)
    lobby.add(waits, ask(3 * MINUTE), ask(MINUTE, "approved"), ask(MINUTE, mine=False))
    [ring] = rings(lobby)
    assert ring.what == "ask"
    assert ring[2:] == (NOON - 3 * MINUTE + MILLISECOND, lobby.lobby, "Lobby")


def test_a_paired_kiosk_in_order_rings_when_it_was_not_seen_for_three_minutes(
    lobby: Lobby,
) -> None:
    late, out = NOON - 3 * MINUTE - MILLISECOND, {"out_of_order": True}
    lobby.add(
        lobby.kiosk("silent", seen_at=late),
        lobby.kiosk("heard", seen_at=NOON - 3 * MINUTE),
        lobby.kiosk("never", seen_at=None),
        lobby.kiosk("unpaired", seen_at=late, token_hash=None),
        lobby.kiosk("window of a demo", seen_at=late, paired_by=None),
        lobby.kiosk("revoked", seen_at=late, revoked_at=NOON),
        lobby.kiosk("broken", seen_at=late, **out),
        lobby.kiosk("theirs", seen_at=late, property_id=lobby.other),
    )
    [ring] = rings(lobby)
    assert (ring.what, ring.at, ring.kiosk) == ("silent", late, "silent")
    assert ring.key == str(ring.kiosk_id)


def test_kiosks_are_counted_as_alive_for_a_minute(lobby: Lobby) -> None:
    def counts() -> KioskCounts:
        with lobby.db.read() as s:
            return kiosk_desk.kiosk_counts(s, NOON)

    assert counts() == KioskCounts(0, 0, 0, 0.0)
    lobby.add(
        lobby.kiosk("heard", seen_at=NOON - MINUTE),
        lobby.kiosk("late", seen_at=NOON - 61 * MINUTE / 60),
        lobby.kiosk("later", seen_at=NOON - 2 * MINUTE),
        lobby.kiosk("broken", seen_at=NOON - 9 * MINUTE, out_of_order=True),
        lobby.kiosk("unpaired", seen_at=NOON, token_hash=None),
        lobby.kiosk("revoked", seen_at=NOON, revoked_at=NOON),
        lobby.kiosk("never", seen_at=None),
    )
    assert counts() == KioskCounts(1, 2, 1, 120.0)


def test_hints_are_of_one_property_in_the_order_in_which_they_were_added(lobby: Lobby) -> None:
    with lobby.db.write() as s:
        rows = [PickupHint(property_id=lobby.id, words={"en": text}) for text in "ab"]
        s.add_all([*rows, PickupHint(property_id=lobby.other, words={})])
        s.flush()
        assert kiosk_desk.hints_of(s, lobby.id) == rows
        assert kiosk_desk.hint_of(s, lobby.id, rows[1].id) is rows[1]
        assert kiosk_desk.hint_of(s, lobby.other, rows[1].id) is None
        assert kiosk_desk.hint_of(s, lobby.id, 1_000) is None


def test_visits_are_counted_by_kiosk_with_where_guests_left(lobby: Lobby) -> None:
    def over(name: str, hours: int, screen: str | None, **facts: object) -> KioskVisit:
        began = NOON + timedelta(hours=hours)
        return lobby.visit(name, began, screen=screen, ended_at=began, **facts)

    lobby.add(
        lobby.visit("before", NOON - MILLISECOND, seconds=1),
        over("a", 0, "place", seconds=10, language="hi"),
        over("b", 1, "where", seconds=90, help_at=NOON),
        over("c", 2, "where", seconds=20, language="de", help_at=NOON),
        over("d", 3, "booked", order_id=7, seconds=50),
        over("e", 4, "code"),
        over("f", 5, None),
        lobby.visit("still here", NOON + timedelta(hours=6), screen="who"),
        lobby.visit("theirs", kiosk_id=lobby.theirs, property_id=lobby.other),
        lobby.visit("not asked for", kiosk_id=lobby.theirs + 1, property_id=lobby.other),
        lobby.kiosk("third", id=lobby.theirs + 1),
    )
    with lobby.db.read() as s:
        assert kiosk_desk.visits_of(s, [lobby.lobby, lobby.theirs], NOON) == {
            lobby.lobby: Visits(
                *(7, 1, 2, (("where", 2), ("code", 1), ("place", 1)), 50, "de"),
                asked=(("where", "", 1), ("where", "de", 1)),
            ),
            lobby.theirs: Visits(begun=1),
        }
        assert kiosk_desk.visits_of(s, [], NOON) == {}
    assert Visits() == (0, 0, 0, (), None, None, ())


def test_who_answers_help_first_is_noted_in_their_own_property(lobby: Lobby) -> None:
    lobby.add(lobby.visit("asks", help_at=NOON), lobby.visit("calm"))
    with lobby.db.write() as s:
        answer = kiosk_desk.answer_help
        assert answer(s, lobby.other, "asks", lobby.staff, NOON) is None
        assert answer(s, lobby.id, "calm", lobby.staff, NOON) is None
        assert answer(s, lobby.id, "none", lobby.staff, NOON) is None
        with locked(s) as tables:
            row = answer(s, lobby.id, "asks", lobby.staff, NOON)
        assert row is not None
        assert tables == {"kiosk_visits"}
        assert (row.help_answered_at, row.help_answered_by) == (NOON, lobby.staff)
        assert answer(s, lobby.id, "asks", None, NOON + MINUTE) is row  # type: ignore[arg-type]
        assert (row.help_answered_at, row.help_answered_by) == (NOON, lobby.staff)
