"""Approvals of kiosk orders: how long they wait, who answers, what they allow, when they end."""

import json
from datetime import timedelta
from typing import Any

import pytest

from ridedash.rides.kiosk import approvals, watch
from ridedash.rides.kiosk.approvals import AskAnswer, AskNow, GuestRequest, NewAsk
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused
from ridedash.store.audit import AuditRow
from ridedash.store.kiosks import revoke
from ridedash.store.models.kiosks import AskState, Kiosk, KioskAsk
from tests.locks import locked
from tests.rides.desk_world import START, World
from tests.rides.kiosk_world import add_kiosk, kiosk_of, kiosk_offer

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
LASTS = 180 * SECOND
REQUEST = GuestRequest("Ana", "412", "+910000012345", 2)


class AskDesk:
    """A kiosk that needs approvals, and what it asks."""

    def __init__(self, world: World) -> None:
        self.world, self.kiosk = world, add_kiosk(world, rule="approval")
        self.offer = kiosk_offer(world, self.kiosk)

    def ask(self, at: timedelta = timedelta(0), visit: str = "v", **facts: Any) -> int:
        given = {"kiosk_id": self.kiosk, "token": "t", "offer_id": self.offer, "request": REQUEST}
        new = NewAsk(property_id=self.world.property_id, visit_id=visit, **{**given, **facts})
        with self.world.db.write() as s:
            return approvals.ask(s, self.world.vault, new, START + at)

    def answer(self, ask_id: int, at: timedelta = timedelta(0), **facts: Any) -> bool:
        given = {"property_id": self.world.property_id, "staff_id": 1, "approved": True}
        decision = AskAnswer(ask_id, **{**given, **facts})
        return approvals.answer_ask(self.world.db, START + at, decision)

    def row(self, ask_id: int) -> KioskAsk:
        with self.world.db.read() as s:
            return s.get_one(KioskAsk, ask_id)

    def now(
        self,
        at: timedelta = timedelta(0),
        token: str = "t",
        offer: int | None = None,
        other: int = 0,
    ) -> AskNow | None:
        key = (self.kiosk + other, token, offer or self.offer)
        with self.world.db.read() as s:
            return approvals.ask_of(s, self.world.vault, key, START + at)


@pytest.fixture
def asks(world: World) -> AskDesk:
    return AskDesk(world)


def test_an_ask_is_stored_without_a_name_in_the_clear(asks: AskDesk) -> None:
    ask_id = asks.ask()
    row = asks.row(ask_id)
    assert (row.kiosk_id, row.visit_id, row.state) == (asks.kiosk, "v", "waiting")
    assert (row.asked_at, row.house_pays, row.offer_id) == (START, False, asks.offer)
    assert row.wish == {"token": "t", "posted": asks.offer, "seats": 2}
    with asks.world.db.read() as s:
        entry = s.query(AuditRow).filter_by(what="kiosk.asked").one()
        assert (entry.subject, entry.property_id) == (f"kiosk_asks:{ask_id}", row.property_id)
        assert (entry.at, entry.facts) == (START, {"offer": asks.offer})
        [seen] = approvals.waiting_asks(s, asks.world.vault, row.property_id, START)
        assert (seen.id, seen.kiosk_id, seen.kiosk, seen.visit_id) == (
            ask_id,
            asks.kiosk,
            "Lobby",
            "v",
        )
        assert (seen.name, seen.room, seen.seats, seen.offer.id) == ("Ana", "412", 2, asks.offer)
        assert (seen.asked_at, seen.until) == (START, START + LASTS)


def test_thirty_asks_in_an_hour_and_no_more(asks: AskDesk) -> None:
    for n in range(30):
        asks.ask(visit=f"v{n}")
    with pytest.raises(KioskRefused) as error:
        asks.ask(timedelta(hours=1) - MILLISECOND)
    assert error.value.why == KioskRefusal.HOURLY
    asks.ask(kiosk_id=add_kiosk(asks.world))
    asks.ask(timedelta(hours=1))


def test_an_ask_is_found_by_the_form_and_the_car_of_its_page_for_an_hour(asks: AskDesk) -> None:
    ask_id = asks.ask()
    hour = timedelta(hours=1)
    waiting = AskNow(ask_id, AskState.WAITING, False, "", asks.offer, REQUEST, asks.offer)
    assert asks.now() == waiting
    assert asks.now(LASTS - MILLISECOND) == waiting
    late = asks.now(LASTS)
    assert late is not None
    assert late.state is AskState.EXPIRED
    assert asks.now(hour - MILLISECOND)
    assert asks.now(hour) is None
    assert asks.now(token="another") is None
    assert asks.now(offer=asks.offer + 1) is None
    assert asks.now(other=1) is None
    assert asks.answer(ask_id)
    fresh = kiosk_offer(asks.world, asks.kiosk)
    with asks.world.db.write() as s, locked(s) as tables:
        approvals.reprice(s, ask_id, fresh, same=True, now=START)
    assert tables == {"kiosk_asks"}
    for offer in (asks.offer, fresh):
        found = asks.now(offer=offer)
        assert found is not None
        assert (found.offer_id, found.posted) == (fresh, asks.offer)
    again = asks.ask(visit="another")
    newest = asks.now()
    assert newest is not None
    assert newest.id == again, "the newest of two"


def test_the_desk_answers_within_three_minutes_and_once(asks: AskDesk) -> None:
    first = asks.ask(visit="a")
    assert not asks.answer(first, LASTS)
    assert not asks.answer(first, property_id=asks.world.property_id + 1)
    assert not asks.answer(first + 100)
    assert asks.answer(first, LASTS - MILLISECOND, house_pays=True)
    row = asks.row(first)
    assert (row.state, row.house_pays, row.reason) == ("approved", True, None)
    assert (row.answered_by, row.answered_at) == (1, START + LASTS - MILLISECOND)
    assert row.wish_enc is not None
    assert not asks.answer(first)
    second = asks.ask(visit="b")
    with pytest.raises(ValueError, match="say why"):
        asks.answer(second, approved=False, reason="other")
    assert asks.answer(second, approved=False, house_pays=True, reason="full")
    row = asks.row(second)
    assert (row.state, row.house_pays, row.reason) == ("declined", False, "full")
    assert row.wish_enc is None
    with asks.world.db.read() as s:
        entries = s.query(AuditRow).filter_by(what="kiosk.answered").order_by(AuditRow.id).all()
        assert [(e.result, e.facts["house_pays"], e.who) for e in entries] == [
            ("approved", True, "staff:1"),
            ("declined", False, "staff:1"),
        ]


def test_the_desk_sees_its_own_that_wait_the_longest_first(asks: AskDesk) -> None:
    young, old = asks.ask(visit="a"), asks.ask(-LASTS + MILLISECOND, "b")
    asks.ask(-LASTS, "c")
    assert asks.answer(asks.ask(visit="d"))
    with asks.world.db.read() as s:
        found = approvals.waiting_asks(s, asks.world.vault, asks.world.property_id, START)
        assert [each.id for each in found] == [old, young]
        assert approvals.waiting_asks(s, asks.world.vault, 1_000, START) == []


def test_an_approval_orders_one_car_within_three_minutes_of_the_answer(asks: AskDesk) -> None:
    ask_id = asks.ask()
    key = (asks.kiosk, "t", asks.offer)

    def may(at: timedelta = timedelta(0), wanted: tuple[int, str, int] = key) -> bool:
        with asks.world.db.write() as s:
            found = approvals.may_use(s, ask_id, wanted, START + at)
        assert found in (None, AskNow(ask_id, AskState.APPROVED, True, "", asks.offer, None))
        return found is not None

    assert not may(), "no one has answered"
    assert asks.answer(ask_id, house_pays=True)
    assert [may(LASTS), may(LASTS + MILLISECOND)] == [True, False]
    assert not may(wanted=(asks.kiosk + 1, "t", asks.offer))
    assert not may(wanted=(asks.kiosk, "u", asks.offer))
    assert not may(wanted=(asks.kiosk, "t", asks.offer + 1))
    for hold, tables in ((False, set()), (True, {"kiosk_asks"})):
        with asks.world.db.write() as s, locked(s) as found:
            assert approvals.may_use(s, ask_id, key, START, hold=hold)
        assert found == tables
    with asks.world.db.write() as s:
        assert approvals.may_use(s, 1_000, key, START) is None
        with locked(s) as found:
            approvals.use_ask(s, ask_id, 7)
        assert found == {"kiosk_asks"}
    assert (asks.row(ask_id).order_id, asks.row(ask_id).wish_enc) == (7, None)
    assert not may()
    fresh = asks.offer + 1
    with asks.world.db.write() as s:
        approvals.reprice(s, ask_id, fresh, same=True, now=START)
    assert asks.row(ask_id).offer_id == asks.offer, "it is used"


def test_another_price_ends_an_approval_only_if_the_property_pays(asks: AskDesk) -> None:
    fresh = asks.offer + 1
    for house_pays, same, stays in (
        (True, True, True),
        (True, False, False),
        (False, True, True),
        (False, False, True),
    ):
        ask_id = asks.ask(visit=f"{house_pays}{same}")
        assert asks.answer(ask_id, house_pays=house_pays)
        with asks.world.db.write() as s:
            approvals.reprice(s, ask_id, fresh, same=same, now=START + SECOND)
        row = asks.row(ask_id)
        assert (row.state, row.reason) == (("approved", None) if stays else ("expired", "price"))
        assert row.offer_id == (fresh if stays else asks.offer)
        assert row.answered_at == START
    waits = asks.ask(visit="waits")
    with asks.world.db.write() as s:
        approvals.reprice(s, waits, fresh, same=True, now=START)
    assert asks.row(waits).offer_id == asks.offer


def test_the_desk_is_away_for_ten_minutes_after_a_guest_waited_in_vain(asks: AskDesk) -> None:
    ten, home = timedelta(minutes=10), asks.world.property_id

    def away(at: timedelta, where: int = home) -> bool:
        with asks.world.db.read() as s:
            found = approvals.desk_is_away(s, where, START + at)
            row = kiosk_of(asks.world, asks.kiosk)
            if where == home:
                assert approvals.waits_in_vain(s, row, START + at) is found
                row.rule = "code"
                assert not approvals.waits_in_vain(s, row, START + at)
            return found

    assert not away(timedelta(0))
    asks.ask(visit="a")
    times = (LASTS - MILLISECOND, LASTS, LASTS + ten - MILLISECOND, LASTS + ten)
    assert [away(at) for at in times] == [False, True, True, False]
    assert not away(LASTS, home + 1)
    with asks.world.db.write() as s:
        assert approvals.expire_asks(s, START + LASTS) == 1
    assert away(LASTS)
    left = asks.ask(SECOND, "b")
    with asks.world.db.write() as s:
        approvals.end_asks(s, asks.kiosk, "b", START + 2 * SECOND)
    assert asks.row(left).reason == "left"
    assert away(LASTS + SECOND), "a guest who left tells nothing of the desk"
    answered = asks.ask(2 * SECOND, "c")
    assert asks.answer(answered, 3 * SECOND, approved=False, reason="ask")
    assert not away(LASTS + SECOND), "an answer counts before its request would have expired"
    assert not away(LASTS + 3 * SECOND)


def test_what_waits_too_long_ends_and_nothing_earlier(asks: AskDesk) -> None:
    ask_id = asks.ask(visit="a")
    assert asks.answer(asks.ask(visit="b"))

    def late(at: timedelta) -> tuple[bool, int]:
        with asks.world.db.write() as s, locked(s) as tables:
            found = approvals.has_late(s, START + at), approvals.expire_asks(s, START + at)
        assert tables == {"kiosk_asks"}
        return found

    assert late(LASTS - MILLISECOND) == (False, 0)
    assert late(LASTS) == (True, 1)
    row = asks.row(ask_id)
    assert (row.state, row.reason, row.wish_enc) == ("expired", None, None)
    assert row.answered_at == START + LASTS


def test_an_unused_approval_stores_no_name_longer_than_it_may_be_used(asks: AskDesk) -> None:
    unused, used = asks.ask(), asks.ask(visit="w", token="u")
    assert asks.answer(unused, MILLISECOND)
    assert asks.answer(used, MILLISECOND)
    with asks.world.db.write() as s:
        approvals.use_ask(s, used, 7)
    for at, is_stored in ((LASTS + MILLISECOND, True), (LASTS + 2 * MILLISECOND, False)):
        with asks.world.db.write() as s:
            ended = approvals.has_late(s, START + at), approvals.expire_asks(s, START + at)
        assert ended == (not is_stored, int(not is_stored))
        assert bool(asks.row(unused).wish_enc) is is_stored
    assert asks.row(unused).state == AskState.EXPIRED
    assert asks.row(used).state == AskState.APPROVED


def test_a_guest_who_goes_away_ends_what_became_no_order(asks: AskDesk) -> None:
    waits, approved = asks.ask(), asks.ask()
    assert asks.row(waits).reason == "left", "one of a visit waits"
    assert asks.answer(approved)
    theirs = asks.ask(kiosk_id=add_kiosk(asks.world))
    other, late = asks.ask(visit="other"), asks.ask(-LASTS, "late")
    ordered = asks.ask(visit="ordered")
    assert asks.answer(ordered)
    with asks.world.db.write() as s:
        approvals.use_ask(s, ordered, 7)
        with locked(s) as tables:
            for visit in ("v", "late", "ordered"):
                approvals.end_asks(s, asks.kiosk, visit, START)
        assert tables == {"kiosk_asks"}
    states = [asks.row(each).state for each in (waits, approved, theirs, other, late, ordered)]
    assert states == ["expired", "expired", "waiting", "waiting", "expired", "approved"]
    assert (asks.row(approved).reason, asks.row(late).reason) == ("left", None)


def test_the_desks_no_stays_a_no_when_its_guest_goes_away(asks: AskDesk) -> None:
    declined, over = asks.ask(), asks.ask(-LASTS, "over")
    assert asks.answer(declined, approved=False, reason="full")
    with asks.world.db.write() as s:
        assert approvals.expire_asks(s, START) == 1
    with asks.world.db.write() as s:
        for visit in ("v", "over"):
            approvals.end_asks(s, asks.kiosk, visit, START + SECOND)
    rows = [asks.row(each) for each in (declined, over)]
    assert [(row.state, row.reason) for row in rows] == [("declined", "full"), ("expired", None)]


def test_what_can_not_be_decrypted_yields_no_booking_request(asks: AskDesk) -> None:
    ask_id = asks.ask()
    vault = asks.world.vault
    for text, request in (
        (json.dumps({"room": "4"}), GuestRequest("", "4", None, 2)),
        ("no JSON", None),
        (None, None),
    ):
        enc = text and vault.encrypt(text, "kiosk_asks", ask_id, "wish_enc")
        with asks.world.db.write() as s:
            s.get_one(KioskAsk, ask_id).wish_enc = enc
        found = asks.now()
        assert found is not None
        assert found.request == request


def test_an_ask_of_a_removed_kiosk_is_ended_too(asks: AskDesk) -> None:
    """The guest's name is stored no longer than for other kiosks, even if no kiosk is left."""
    ask_id = asks.ask()
    with asks.world.db.write() as s:
        revoke(s.get_one(Kiosk, asks.kiosk), START)
    assert watch.watch(asks.world.db, START + LASTS - MILLISECOND) == 0
    assert watch.watch(asks.world.db, START + LASTS) == 1
    assert (asks.row(ask_id).state, asks.row(ask_id).wish_enc) == ("expired", None)
