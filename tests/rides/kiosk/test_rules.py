"""What a kiosk may order: its rule, the cars it offers, its limits, and the rule against jokes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ridedash.rides.actions.acknowledge import acknowledge
from ridedash.rides.kiosk import rules, watch
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused, StatedGuest
from ridedash.store.accounts import add_account
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.kiosks import Kiosk, KioskVisit, Ticket
from ridedash.store.models.orders import Attention, Offer, Order, Ride, TimelineEvent
from tests.locks import locked
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)
HOUR, DAY = 60 * MINUTE, timedelta(hours=24)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    home = made.ids["desk.property"]
    facts = {"kind": "kiosk", "name": "Lobby", "made_at": NOON, "property_id": home}
    made.add(lambda s: s.add_all([Kiosk(id=n, **facts) for n in (1, 2)]))
    yield made
    made.close()


def order(desk: Desk, state: str = "BOOKED", status: str | None = None, **facts: Any) -> int:
    """An order of kiosk 1, made `ago` before noon; a cancelled ride ended at the same time."""
    ago, kiosk = facts.pop("ago", MINUTE), facts.pop("kiosk", 1)
    ended = facts.pop("ended", NOON - ago)
    made = desk.order(state, status, **facts)
    with desk.services.db.write() as s:
        row = s.get_one(Order, made)
        row.kiosk_id, row.created_at = kiosk, NOON - ago
        if status == "BOOKING_CANCELLED":
            s.query(Ride).filter_by(order_id=made).one().ended_at = ended
    return made


def cancelled(desk: Desk, **facts: Any) -> int:
    return order(desk, status="BOOKING_CANCELLED", **facts)


def limit(desk: Desk, name: str = "Otter", room: str | None = None) -> KioskRefusal | None:
    with desk.services.db.read() as s:
        try:
            rules.check_limits(s, s.get_one(Kiosk, 1), StatedGuest(name, room), NOON)
        except KioskRefused as error:
            return error.why
    return None


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"rule": "driver"}, "driver"),
        ({"rule": "code"}, "code"),
        ({"rule": "approval"}, "approval"),
        ({"rule": "of a newer version"}, "code"),
        ({"rule": "approval", "attended": True}, "driver"),
        ({"rule": "driver", "attended": True, "code_until": NOON + MILLISECOND}, "driver"),
        ({"rule": "driver", "code_until": NOON + MILLISECOND}, "code"),
        ({"rule": "driver", "code_until": NOON}, "driver"),
    ],
)
def test_the_rule_of_a_kiosk_unless_staff_stand_there_or_rides_were_jokes(
    facts: dict[str, Any], rule: str
) -> None:
    assert rules.rule_now(Kiosk(**facts), NOON) == rule


@pytest.mark.parametrize(
    ("kind", "category", "product", "offered"),
    [
        ("point_to_point", "mini", {}, (True, True)),
        ("point_to_point", "mini", {"packages": []}, (True, True)),
        ("point_to_point", "mini", {"packages": [1]}, (False, False)),
        ("point_to_point", "Out_Station", {}, (False, False)),
        ("share", "share", {}, (True, False)),
    ],
)
def test_cars_that_a_kiosk_offers_when_the_property_pays_and_when_not(
    kind: str, category: str, product: dict[str, Any], offered: tuple[bool, bool]
) -> None:
    row = Offer(kind=kind, category=category, product=product)
    assert tuple(rules.offered_here(row, pays) for pays in (True, False)) == offered


def test_a_name_is_compared_as_people_write_it_and_a_room_before_a_name() -> None:
    assert StatedGuest("ANA").key == StatedGuest("ana").key
    assert StatedGuest("Ana", "412").key == StatedGuest("Bo", "412").key != StatedGuest("Ana").key
    assert rules.who_is("Ana Maria 204") == StatedGuest("Ana Maria", "204")
    for room in ("4 12", "B 12", "12 B"):
        assert rules.who_is(room) == StatedGuest(*[room.replace(" ", "")] * 2)
    assert rules.who_is("a" * 20) == StatedGuest("a" * 20)
    assert rules.who_is("٤١٢b") == StatedGuest("412b", "412b"), "as the desk reads it"


def test_a_kiosk_books_with_its_own_account_or_the_default_one(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        own = add_account(s, desk.services.vault, home, "Kiosks", "t", NOON)
        kiosk = s.get_one(Kiosk, 1)

        def at() -> int | None:
            found = rules.account_at(s, kiosk)
            return found and found.id

        assert at() == desk.ids["desk.account"]
        kiosk.account_id = own.id
        assert at() == own.id
        kiosk.account_id = desk.ids["other.account"]
        assert at() is None


def test_thirty_orders_in_the_hour_of_one_kiosk(desk: Desk) -> None:
    for n in range(29):
        order(desk, "REJECTED", ago=HOUR - MILLISECOND if n else MINUTE)
    order(desk, "REJECTED", ago=HOUR)
    order(desk, "REJECTED", kiosk=2)
    assert limit(desk) is None
    order(desk, "REJECTED")
    assert limit(desk) is KioskRefusal.HOURLY


def test_three_rides_without_a_passenger_of_one_day(desk: Desk) -> None:
    order(desk, "READY")
    order(desk, "SENDING")
    for state in ("SCHEDULED", "REJECTED"):
        order(desk, state)
    order(desk, "UNKNOWN", ago=DAY)
    order(desk, "UNKNOWN", kiosk=2)
    for status in ("COMPLETED", "BOOKING_CANCELLED", "IN_PROGRESS"):
        order(desk, "BOOKED", status)
    assert limit(desk) is None
    last = order(desk, "BOOKED", "CALL_DRIVER", ago=DAY - MILLISECOND)
    assert limit(desk) is KioskRefusal.LIVE
    began = {"what": "ride", "name": "IN_PROGRESS", "detail": None, "at": NOON}
    desk.add(lambda s: s.add(TimelineEvent(order_id=last, property_id=1, **began)))
    assert limit(desk) is None, "a guest sits in it"
    for state in ("MATCHING", "BOOKED"):
        made = order(desk, state)
        assert limit(desk) is KioskRefusal.LIVE
        with desk.services.db.write() as s:
            s.get_one(Order, made).state = "REJECTED"


def reached(desk: Desk, *, phone: bool = False, now: datetime = NOON) -> KioskRefusal | None:
    with desk.services.db.read() as s:
        return rules.limit_reached(s, s.get_one(Kiosk, 1), now, phone=phone)


def test_a_kiosk_has_as_many_waiting_rides_as_its_settings_say(desk: Desk) -> None:
    order(desk, "BOOKED", "CALL_DRIVER")
    for most, why in ((1, KioskRefusal.LIVE), (2, None), (None, None)):
        with desk.services.db.write() as s:
            s.get_one(Kiosk, 1).most_waiting = most
        assert reached(desk) is why, most


def test_rides_booked_on_phones_are_counted_apart_from_those_of_the_screen(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    facts = {"property_id": home, "day": "2026-05-04", "pin_hash": "x"}

    def phoned(n: int) -> int:
        made = order(desk, "BOOKED", "CALL_DRIVER")
        desk.add(lambda s: s.add(Ticket(order_id=made, number=n, on_phone=True, **facts)))
        return made

    last = [phoned(n) for n in range(1, 4)][-1]
    assert (reached(desk), reached(desk, phone=True)) == (None, KioskRefusal.LIVE)
    with desk.services.db.write() as s:
        s.get_one(Order, last).state = "REJECTED"
    for _ in range(3):
        order(desk, "READY")
    assert (reached(desk), reached(desk, phone=True)) == (KioskRefusal.LIVE, None)


def test_unclear_orders_are_counted_apart_and_never_shut_a_kiosk_for_good(desk: Desk) -> None:
    for _ in range(2):
        order(desk, "READY")
        order(desk, "UNKNOWN", guest="Ana", room=None)
    assert reached(desk) is None
    order(desk, "UNKNOWN", ago=MINUTE)
    assert (reached(desk), reached(desk, phone=True)) == (KioskRefusal.UNCLEAR,) * 2
    half_an_hour_later = NOON + 29 * MINUTE
    assert reached(desk, now=half_an_hour_later - MILLISECOND) is KioskRefusal.UNCLEAR
    assert reached(desk, now=half_an_hour_later) is None
    with desk.services.db.read() as s, pytest.raises(KioskRefused) as error:
        rules.check_limits(s, s.get_one(Kiosk, 1), StatedGuest("ana"), NOON + DAY - HOUR)
    assert error.value.why is KioskRefusal.SAME_GUEST, "an unclear order may be this guest's ride"


def test_the_desk_ends_the_hour_in_which_a_kiosk_asks_for_codes(desk: Desk) -> None:
    for _ in range(2):
        last = cancelled(desk)
    assert watched(desk)
    with desk.services.db.write() as s:
        kiosk = s.get_one(Kiosk, 1)
        assert rules.rule_now(kiosk, NOON) == "code"
    assert acknowledge(desk.services.db, lambda: NOON, last, desk.ids["desk"], "kiosk_ended_early")
    with desk.services.db.write() as s:
        kiosk = s.get_one(Kiosk, 1)
        assert rules.rule_now(kiosk, NOON) == "driver"
        assert not rules.watch_ended(s, kiosk, NOON + MINUTE), "the same rides don't count again"
        entry = s.query(AuditRow).filter_by(what="kiosk.asks_no_code").one()
        assert (entry.subject, entry.who) == ("kiosks:1", f"staff:{desk.ids['desk']}")
        kiosk.code_until = NOON + 2 * HOUR
        assert rules.rule_now(kiosk, NOON + HOUR + MINUTE) == "code", "a later hour is another one"
        kiosk.code_until = NOON
        assert not rules.waive_code(s, s.get_one(Order, last), by_staff(1), NOON)


def test_one_ride_at_a_time_for_a_guest(desk: Desk) -> None:
    order(desk, "READY", guest="Ana", room=None)
    order(desk, "READY", guest="Bo", room="412")
    assert limit(desk, "ANA") is KioskRefusal.SAME_GUEST
    assert limit(desk, "x", "412") is KioskRefusal.SAME_GUEST
    assert limit(desk, "Bo") is None


def items(desk: Desk) -> list[tuple[int, str, str | None]]:
    with desk.services.db.read() as s:
        rows = s.query(Attention).order_by(Attention.id)
        return [(row.order_id, row.name, row.detail) for row in rows]


def test_a_refusal_is_audited_and_one_at_a_limit_is_reported_at_the_newest_ride(desk: Desk) -> None:
    def refuse(why: KioskRefusal) -> None:
        with desk.services.db.write() as s:
            rules.note_refused(s, s.get_one(Kiosk, 1), why, NOON)

    order(desk, "BOOKED", ago=DAY)
    refuse(KioskRefusal.LIVE)
    order(desk, "BOOKED")
    newest = order(desk, "BOOKED", ago=DAY - MILLISECOND)
    order(desk, "BOOKED", kiosk=2)
    refuse(KioskRefusal.NOT_HERE)
    assert items(desk) == []
    refuse(KioskRefusal.SAME_GUEST)
    assert items(desk) == [(newest, "kiosk_limit", "same_guest")]
    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter_by(what="kiosk.refused").order_by(AuditRow.id).all()
        entries = [(row.who, row.subject, row.result, row.at, row.property_id) for row in rows]
    home = desk.ids["desk.property"]
    whys = ("live", "not_here", "same_guest")
    assert entries == [("kiosk:1", "kiosks:1", why, NOON, home) for why in whys]


def watched(desk: Desk, now: datetime = NOON) -> bool:
    with desk.services.db.read() as s:
        would = watch._with_ended_rides(s, now)
    with desk.services.db.write() as s:
        found = rules.watch_ended(s, s.get_one(Kiosk, 1), now)
    assert bool(would) is found
    return found


def until(desk: Desk, code_until: datetime | None = None) -> datetime | None:
    with desk.services.db.write() as s:
        row = s.get_one(Kiosk, 1)
        if code_until:
            row.code_until = code_until
        return row.code_until


def test_two_rides_that_ended_early_in_an_hour_ask_for_a_code_for_an_hour(desk: Desk) -> None:
    first = cancelled(desk, ago=DAY - MILLISECOND, ended=NOON - HOUR + MILLISECOND)
    cancelled(desk, ended=NOON - HOUR)
    cancelled(desk, ago=DAY, ended=NOON)
    cancelled(desk, kiosk=2)
    order(desk, "BOOKED", "COMPLETED")
    assert not watched(desk)
    last = cancelled(desk)
    home = desk.ids["desk.property"]
    ticket = {"property_id": home, "number": 27, "day": "2026-05-04", "pin_hash": "x"}
    desk.add(lambda s: s.add(Ticket(order_id=first, **ticket)))
    assert watched(desk)
    assert until(desk) == NOON + HOUR
    assert items(desk) == [(last, "kiosk_ended_early", f"K27 · #{last}")]
    with desk.services.db.read() as s:
        entry = s.query(AuditRow).filter_by(what="kiosk.asks_code").one()
        assert (entry.who, entry.subject, entry.property_id) == ("worker", "kiosks:1", home)
        assert entry.facts == {"rides": [first, last]}
    assert not watched(desk), "it asks already"


def test_what_made_a_kiosk_ask_does_not_count_again(desk: Desk) -> None:
    for minutes in (30, 20):
        cancelled(desk, ended=NOON - minutes * MINUTE)
    until(desk, NOON + MILLISECOND)
    assert not watched(desk), "it asks still"
    until(desk, NOON + 35 * MINUTE)
    with desk.services.db.write() as s:
        row = s.get_one(Kiosk, 1)
        assert not rules.watch_ended(s, row, NOON + 35 * MINUTE)
        row.code_until = NOON
        assert rules.watch_ended(s, row, NOON)


def test_the_desk_names_a_ride_by_its_ticket(desk: Desk) -> None:
    made = order(desk)
    with desk.services.db.read() as s:
        assert rules.number_of(s, made) == f"#{made}"


def visit(desk: Desk, order_id: int | None, **facts: Any) -> None:
    home = desk.ids["desk.property"]
    given = {"kiosk_id": 1, "property_id": home, "began_at": NOON - MINUTE, "aids": []}
    row = KioskVisit(id=f"v{order_id}", order_id=order_id, **{**given, **facts})
    desk.add(lambda s: s.add(row))


def screens(desk: Desk) -> dict[str, str | None]:
    with desk.services.db.read() as s:
        return {row.id: row.screen for row in s.query(KioskVisit)}


def test_a_ticket_that_was_not_shown_within_45_seconds_is_reported_to_the_desk(desk: Desk) -> None:
    late, fresh = order(desk, ago=45 * MINUTE / 60 + MILLISECOND), order(desk, ago=45 * MINUTE / 60)
    refused = order(desk, "REJECTED")
    for made in (late, fresh, refused):
        visit(desk, made, screen="sending")
    assert watch.watch(desk.services.db, NOON) == 2
    assert screens(desk) == {
        f"v{late}": "unshown",
        f"v{fresh}": "sending",
        f"v{refused}": "unshown",
    }
    assert items(desk) == [(late, "kiosk_no_ticket", f"#{late} · Guest Heron")]
    assert watch.watch(desk.services.db, NOON) == 0


def test_all_that_is_looked_after_is_counted_and_locked(desk: Desk) -> None:
    db = desk.services.db
    assert watch.watch(db, NOON) == 0
    for _ in range(2):
        cancelled(desk)
    assert watch.watch(db, NOON) == 1
    visit(desk, None, began_at=NOON - 3 * HOUR)
    assert watch.watch(db, NOON) == 1
    made = order(desk)
    with db.write() as s, locked(s) as tables:
        assert watch._tell_desk(s, made, NOON) == 0
        assert watch._watch_ended(s, 1_000, NOON) == 0
        assert tables == {"kiosk_visits", "kiosks", "orders"}
    for _ in range(2):
        cancelled(desk, kiosk=2)
    with db.write() as s:
        for row in s.query(Kiosk):
            row.revoked_at = NOON
    assert watch.watch(db, NOON) == 0
