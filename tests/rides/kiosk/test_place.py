"""Orders of kiosks: the property pays only if staff say so, once, and within limits."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ridedash import wire
from ridedash.rides.actions.acknowledge import acknowledge
from ridedash.rides.kiosk import approvals, desk_codes, place
from ridedash.rides.kiosk.approvals import AskAnswer, NewAsk, answer_ask, waiting_asks
from ridedash.rides.kiosk.desk_codes import NewCode, OpenCode, make_code, open_code
from ridedash.rides.kiosk.place import KioskPress
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused, rule_now, who_is
from ridedash.rides.kiosk.watch import watch
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.rides.privacy.retention import RetentionDays, retention_job
from ridedash.store import guests
from ridedash.store.accounts import add_account
from ridedash.store.audit import AuditRow
from ridedash.store.guests import GuestDetails, find, store_guest
from ridedash.store.models.kiosks import KioskAsk, KioskCode, KioskVisit, Ticket
from ridedash.store.models.orders import Ride, TimelineEvent
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property
from tests.rides.desk_world import World
from tests.rides.kiosk_world import (
    KEY,
    add_kiosk,
    kiosk_of,
    kiosk_offer,
    press,
    pressed,
    set_kiosk,
    ticket,
)
from tests.rides.orders.test_side_by_side import at_once


def code_of(world: World, **facts: Any) -> OpenCode:
    """Make a desk code. Returns what is found when it is typed."""
    typed = make_code(world.db, world.clock(), KEY, NewCode(world.property_id, 1, **facts))
    with world.db.read() as s:
        found = open_code(s, KEY, world.property_id, typed, world.clock())
    assert found is not None
    return found


def new_ask(world: World, pushed: KioskPress) -> int:
    new = NewAsk(
        pushed.kiosk_id,
        world.property_id,
        pushed.visit_id,
        pushed.token,
        pushed.offer_id,
        pushed.request,
    )
    with world.db.write() as s:
        return approvals.ask(s, world.vault, new, world.clock())


def yes(world: World, ask_id: int, *, house_pays: bool) -> bool:
    answer = AskAnswer(ask_id, world.property_id, 1, approved=True, house_pays=house_pays)
    return answer_ask(world.db, world.clock(), answer)


def refused(world: World, pushed: KioskPress) -> str:
    with pytest.raises(KioskRefused) as error:
        pressed(world, pushed)
    return error.value.why


def items(world: World, order_id: int) -> list[str]:
    return [item.name for item in world.page(order_id).attention]


def move(world: World, order_id: int, status: str) -> None:
    """Give an order a ride in this status, as polls would have found it."""
    with world.db.write() as s:
        order = s.get_one(type(world.page(order_id).order), order_id)
        ride = s.query(Ride).filter_by(order_id=order_id).first()
        if ride is None:
            ride = Ride(
                property_id=order.property_id,
                account_id=order.account_id,
                order_id=order_id,
                kind=order.kind,
                facts={},
                retried=False,
                created_at=world.clock(),
                poll_seq=0,
                merged_seq=0,
                interval_s=5.0,
                errors=0,
                poison=0,
                unknown_id=0,
                final_polls=0,
            )
            s.add(ride)
        order.state, order.version = "BOOKED", order.version + 1
        order.booking_id = f"C{order_id}"
        ride.status = status
        over = status in wire.TERMINAL
        ride.ended_at = world.clock() if over else None
        order.open = not over
        facts = {"order_id": order_id, "property_id": order.property_id, "detail": None}
        s.add(TimelineEvent(what="ride", name=status, at=world.clock(), **facts))


def test_a_guest_pays_the_driver_and_gets_a_ticket_in_the_same_commit(world: World) -> None:
    kiosk = add_kiosk(world)
    placed = pressed(world, press(world, kiosk, name="Ana", language="de"))
    page = world.page(placed.order_id)
    order = page.order
    assert (order.kiosk_id, order.staff_id, order.payment) == (kiosk, None, "cash")
    assert json.loads(order.body)["payment_instrument_type"] == "cash"
    assert (page.guest.name, page.guest.unverified, page.guest.language) == ("Ana", True, "de")
    assert ticket(world, order.id).number == 1
    with world.db.read() as s:
        assert s.query(KioskVisit).one().order_id == order.id
        written = s.query(AuditRow).filter_by(what="order.place").one()
    assert written.who == f"kiosk:{kiosk}"
    with world.worker() as worker:
        worker.step()
    assert world.state(order.id) == "BOOKED"
    assert [body["payment_instrument_type"] for name, body in world.service.calls[:1]] == ["cash"]


def test_a_second_press_finds_the_same_order_also_when_both_come_at_once(world: World) -> None:
    pushed = press(world, add_kiosk(world))
    found = at_once([partial(pressed, world, pushed)] * 6)
    assert len({each.order_id for each in found}) == 1
    assert sum(each.created for each in found) == 1
    assert pressed(world, pushed).created is False
    assert len(world.orders()) == 1
    with world.db.read() as s:
        assert s.query(Ticket).count() == 1


RULES = ("driver", "code", "approval", "of a newer version")


@example(rule="approval", attended=True, code="none", ask="house", share=False, seats=None)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rule=st.sampled_from(RULES),
    attended=st.booleans(),
    code=st.sampled_from(["none", "cash", "house", "used", "old", "forged"]),
    ask=st.sampled_from(["none", "waiting", "cash", "house", "declined", "other form", "old"]),
    share=st.booleans(),
    seats=st.sampled_from([None, 1, 2, 3]),
)
def test_the_property_pays_by_a_code_or_an_approval_alone(
    world: World,
    rule: str,
    attended: bool,
    code: str,
    ask: str,
    share: bool,
    seats: int | None,
) -> None:
    """This holds for every rule and whatever a press sends: nothing else lets the property pay."""
    kiosk = add_kiosk(world, rule=rule, attended=attended)
    world.clock.go(7_200)  # earlier orders count for no limit any more
    kind = {"category": "share", "kind": "share"} if share else {}
    offer = kiosk_offer(world, kiosk, **kind)
    pushed = press(world, kiosk, offer_id=offer, seats=seats)
    pushed = replace(
        pushed, code=typed(world, kiosk, code), ask_id=ask_in_state(world, pushed, ask)
    )
    before = len(world.orders())
    try:
        order = world.page(pressed(world, pushed).order_id).order
    except PlaceError:
        assert len(world.orders()) == before
        return
    by_code = code in ("cash", "house")
    # an approval does not matter if there is a valid code, nor at an attended kiosk
    approved = ask == "house" and rule == "approval" and not attended
    property_pays = code == "house" or (not by_code and approved)
    assert (order.payment == "cash") is not property_pays
    assert property_pays or not share
    if not by_code and not attended:
        assert rule == "driver" or (rule == "approval" and ask in ("cash", "house"))


def typed(world: World, kiosk: int, what: str) -> OpenCode | None:
    if what == "none":
        return None
    if what == "forged":
        return OpenCode(10_000, house_pays=True, guest_id=None)
    found = code_of(world, house_pays=what == "house")
    if what == "used":
        with world.db.write() as s:
            desk_codes.use_up(s, found, kiosk, world.clock())
        return replace(found, house_pays=False)
    if what == "old":
        world.clock.go(601)
        return found
    return found


def ask_in_state(world: World, pushed: KioskPress, what: str) -> int | None:
    if what == "none":
        return None
    other = replace(pushed, form_token="another token of a page")
    ask_id = new_ask(world, other if what == "other form" else pushed)
    if what == "waiting":
        return ask_id
    if what == "declined":
        no = AskAnswer(ask_id, world.property_id, 1, approved=False, reason="full")
        assert answer_ask(world.db, world.clock(), no)
        return ask_id
    assert yes(world, ask_id, house_pays=what != "cash")
    if what == "old":
        world.clock.go(181)
    return ask_id


def test_a_code_is_used_once_even_by_two_kiosks_at_once(world: World) -> None:
    code = code_of(world, house_pays=True)
    presses = [replace(press(world, add_kiosk(world, rule="code")), code=code) for _ in range(2)]
    found = at_once([partial(pressed, world, each) for each in presses], expected=(KioskRefused,))
    assert sorted(type(each).__name__ for each in found) == ["KioskRefused", "Placed"]
    assert [order.payment for order in world.orders()] == [None]
    assert (
        refused(world, replace(press(world, add_kiosk(world)), code=code))
        == KioskRefusal.WRONG_CODE
    )


def test_a_code_that_says_less_than_the_press_believes_orders_nothing(world: World) -> None:
    """The code is read again in the transaction that stores the order."""
    code = replace(code_of(world), house_pays=True)
    assert (
        refused(world, replace(press(world, add_kiosk(world)), code=code))
        == KioskRefusal.WRONG_CODE
    )
    assert world.orders() == []


def test_five_wrong_codes_in_ten_minutes_and_then_none(world: World) -> None:
    kiosk = add_kiosk(world)

    def may() -> bool:
        with world.db.write() as s:
            return desk_codes.may_try(s, kiosk, world.clock())

    assert [may() for _ in range(7)] == [True] * 5 + [False] * 2
    world.clock.go(601)
    assert may()
    with world.db.write() as s:
        desk_codes.was_right(s, kiosk)
    assert [may() for _ in range(6)] == [True] * 5 + [False]


def test_a_code_of_a_guest_orders_for_them_and_changes_nothing_of_theirs(world: World) -> None:
    with world.db.write() as s:
        known = GuestDetails("Guest Heron", phone="+912227783300", room="9", note="allergic")
        guest = store_guest(s, world.property_id, known, world.clock(), 1).id
    world.clock.go(60)
    code = code_of(world, guest_id=guest)
    pushed = press(world, add_kiosk(world, rule="code"), name="Nobody", phone="+912227783399")
    page = world.page(pressed(world, replace(pushed, code=code)).order_id)
    assert page.guest.id == guest
    row = (page.guest.name, page.guest.phone, page.guest.room, page.guest.note)
    assert row == ("Guest Heron", "+912227783300", "9", "allergic")
    assert page.guest.unverified is False


def test_a_stranger_never_gets_into_the_row_of_a_guest_whom_the_desk_knows(world: World) -> None:
    with world.db.write() as s:
        known = GuestDetails("Ana", phone="+912227783300", room="412")
        guest = store_guest(s, world.property_id, known, world.clock(), 1).id
    pushed = press(world, add_kiosk(world), name="Ana", phone="+912227783300", room="412")
    page = world.page(pressed(world, pushed).order_id)
    assert page.guest.id != guest
    with world.db.write() as s:
        listed = find(s, world.property_id, "Ana")
        assert [each.id for each in listed] == [guest, page.guest.id]  # unverified ones last
        same = guests.find_same(s, world.property_id, known)
        assert same is not None
        assert same.id == guest
        # staff who choose the stranger's row vouch for it
        chosen = replace(known, guest_id=page.guest.id)
        row = store_guest(s, world.property_id, chosen, world.clock(), 1)
        assert (row.id, row.unverified) == (page.guest.id, False)


def test_three_rides_without_a_passenger_and_no_fourth(world: World) -> None:
    kiosk = add_kiosk(world)
    made = [pressed(world, press(world, kiosk)).order_id for _ in range(3)]
    assert refused(world, press(world, kiosk)) == KioskRefusal.LIVE
    other = add_kiosk(world)
    pressed(world, press(world, other))  # each kiosk has a limit of its own
    move(world, made[0], wire.CALL_DRIVER)
    assert refused(world, press(world, kiosk)) == KioskRefusal.LIVE
    move(world, made[0], wire.IN_PROGRESS)
    pressed(world, press(world, kiosk))
    assert refused(world, press(world, kiosk)) == KioskRefusal.LIVE


def test_one_ride_for_a_name_or_a_room(world: World) -> None:
    kiosk = add_kiosk(world)
    first = pressed(world, press(world, kiosk, name="Ana")).order_id
    assert refused(world, press(world, kiosk, name="ANA")) == KioskRefusal.SAME_GUEST
    pressed(world, press(world, kiosk, name="Room 412", room="412"))
    assert refused(world, press(world, kiosk, name="412", room="412")) == KioskRefusal.SAME_GUEST
    move(world, first, wire.COMPLETED)
    pressed(world, press(world, kiosk, name="Ana"))


def test_thirty_orders_in_an_hour_and_no_more(world: World) -> None:
    kiosk = add_kiosk(world)
    for _ in range(30):
        move(world, pressed(world, press(world, kiosk)).order_id, wire.COMPLETED)
    assert refused(world, press(world, kiosk)) == KioskRefusal.HOURLY
    world.clock.go(3_601)
    pressed(world, press(world, kiosk))


def test_two_rides_that_no_one_took_make_a_kiosk_ask_for_a_code(world: World) -> None:
    kiosk = add_kiosk(world)
    made = [pressed(world, press(world, kiosk)).order_id for _ in range(2)]
    for order_id in made:
        move(world, order_id, wire.CALL_DRIVER)
        move(world, order_id, wire.BOOKING_CANCELLED)
    assert watch(world.db, world.clock()) == 1
    assert watch(world.db, world.clock()) == 0
    named = world.page(made[1]).attention[0]
    assert named.name == "kiosk_ended_early"
    assert named.detail == "K1 · K2"
    assert rule_now(kiosk_of(world, kiosk), world.clock()) == "code"
    assert refused(world, press(world, kiosk)) == KioskRefusal.NEEDS_CODE
    code = code_of(world)
    third = pressed(world, replace(press(world, kiosk), code=code)).order_id
    assert world.page(third).order.payment == "cash"
    world.clock.go(3_601)
    pressed(world, press(world, kiosk))  # an hour later no code is needed


def test_the_rule_against_jokes_holds_before_any_worker_has_looked(world: World) -> None:
    kiosk = add_kiosk(world)
    for _ in range(2):
        move(world, pressed(world, press(world, kiosk)).order_id, wire.BOOKING_CANCELLED)
    with pytest.raises(KioskRefused):
        pressed(world, press(world, kiosk))


def test_rides_that_found_no_driver_or_began_are_no_jokes(world: World) -> None:
    kiosk = add_kiosk(world)
    for statuses in (
        [wire.ALLOTMENT_FAILED],
        [wire.IN_PROGRESS, wire.BOOKING_CANCELLED],
        [wire.BOOKING_CANCELLED],
    ):
        order_id = pressed(world, press(world, kiosk)).order_id
        for status in statuses:
            move(world, order_id, status)
    assert watch(world.db, world.clock()) == 0
    pressed(world, press(world, kiosk))


def test_an_offer_of_another_kiosk_or_of_the_desk_is_not_ordered(world: World) -> None:
    kiosk, other = add_kiosk(world), add_kiosk(world)
    for offer in (world.offer(), kiosk_offer(world, other)):
        assert refused(world, press(world, kiosk, offer_id=offer)) == KioskRefusal.NOT_HERE
    with pytest.raises(PlaceError):
        pressed(world, press(world, kiosk, offer_id=10_000))
    assert world.orders() == []


@pytest.mark.parametrize(
    "facts",
    [
        {"category": "rental"},
        {"category": "local_hourly"},
        {"category": "outstation"},
        {"category": "mini", "product": {"packages": [{"base_fare": "900"}]}},
        {"category": "share"},
    ],
)
def test_rentals_other_cities_and_shares_are_not_for_a_kiosk(
    world: World, facts: dict[str, Any]
) -> None:
    kiosk = add_kiosk(world)
    seats = 1 if facts["category"] == "share" else None
    offer = kiosk_offer(world, kiosk, **facts)
    assert refused(world, press(world, kiosk, offer_id=offer, seats=seats)) == KioskRefusal.NOT_HERE


@pytest.mark.parametrize(
    "facts", [{"out_of_order": True}, {"kind": "door"}, {"revoked_at": "now"}, {"account_id": -1}]
)
def test_a_device_that_may_not_book_orders_nothing(world: World, facts: dict[str, Any]) -> None:
    kiosk = add_kiosk(world)
    pushed = press(world, kiosk)
    if facts.get("account_id"):
        with world.db.write() as s:
            home = add_property(s, "Other House", "UTC", world.clock())
            foreign = add_account(s, world.vault, home.id, "Theirs", "token", world.clock())
            facts = {"account_id": foreign.id}
    now = {name: world.clock() if value == "now" else value for name, value in facts.items()}
    set_kiosk(world, kiosk, **now)
    assert refused(world, pushed) == KioskRefusal.CLOSED
    assert world.orders() == []


def test_the_kiosks_own_account_is_used_and_no_other_in_its_place(world: World) -> None:
    with world.db.write() as s:
        own = add_account(s, world.vault, world.property_id, "Kiosks", "token", world.clock())
    kiosk = add_kiosk(world, account_id=own.id)
    assert world.page(pressed(world, press(world, kiosk)).order_id).order.account_id == own.id
    with world.db.write() as s:
        s.get_one(type(own), own.id).state = "removed"
    assert refused(world, press(world, kiosk)) == KioskRefusal.CLOSED


def test_the_desk_sees_what_waits_and_answers_once(world: World) -> None:
    kiosk = add_kiosk(world, rule="approval")
    pushed = press(world, kiosk, name="Ana")
    ask_id = new_ask(world, pushed)
    with world.db.read() as s:
        waiting = waiting_asks(s, world.vault, world.property_id, world.clock())
        assert [(each.id, each.name, each.kiosk) for each in waiting] == [(ask_id, "Ana", "Lobby")]
        assert waiting_asks(s, world.vault, world.property_id + 1, world.clock()) == []
        assert "Ana" not in f"{s.get_one(KioskAsk, ask_id).__dict__}"
    with pytest.raises(ValueError, match="why"):
        answer_ask(world.db, world.clock(), AskAnswer(ask_id, world.property_id, 1, False))
    foreign = AskAnswer(ask_id, world.property_id + 1, 1, approved=True)
    assert not answer_ask(world.db, world.clock(), foreign)
    assert yes(world, ask_id, house_pays=True)
    assert not yes(world, ask_id, house_pays=False)
    order_id = pressed(world, replace(pushed, ask_id=ask_id)).order_id
    assert world.page(order_id).order.payment is None
    with world.db.read() as s:
        row = s.get_one(KioskAsk, ask_id)
        assert (row.order_id, row.wish_enc) == (order_id, None)
    later = replace(press(world, kiosk), ask_id=ask_id)
    assert refused(world, later) == KioskRefusal.NOT_APPROVED  # one approval, one order


def test_an_approval_is_for_the_requested_car(world: World) -> None:
    kiosk = add_kiosk(world, rule="approval")
    pushed = press(world, kiosk)
    ask_id = new_ask(world, pushed)
    assert yes(world, ask_id, house_pays=True)
    dear = replace(pushed, ask_id=ask_id, offer_id=kiosk_offer(world, kiosk, "prime"))
    assert refused(world, dear) == KioskRefusal.NOT_APPROVED
    with world.db.write() as s:
        approvals.reprice(s, ask_id, dear.offer_id, same=False, now=world.clock())
    assert refused(world, dear) == KioskRefusal.NOT_APPROVED  # the property approved another price
    assert refused(world, replace(pushed, ask_id=ask_id)) == KioskRefusal.NOT_APPROVED


def test_asks_that_are_answered_too_late_or_whose_guest_left_expire(world: World) -> None:
    kiosk = add_kiosk(world, rule="approval")
    late, left = press(world, kiosk), press(world, kiosk)
    late_id, left_id = new_ask(world, late), new_ask(world, left)
    with world.db.write() as s:
        approvals.end_asks(s, left.kiosk_id, left.visit_id, world.clock())
    assert not yes(world, left_id, house_pays=True)
    world.clock.go(180)
    assert not yes(world, late_id, house_pays=True)
    assert watch(world.db, world.clock()) == 1
    with world.db.read() as s:
        assert {row.state for row in s.query(KioskAsk)} == {"expired"}
        assert {row.wish_enc for row in s.query(KioskAsk)} == {None}


def test_a_ticket_that_was_never_shown_is_reported_to_the_desk_once(world: World) -> None:
    kiosk = add_kiosk(world)
    order_id = pressed(world, press(world, kiosk, name="Ana")).order_id
    move(world, order_id, wire.CALL_DRIVER)
    world.clock.go(44)
    watch(world.db, world.clock())
    assert items(world, order_id) == []
    world.clock.go(2)
    watch(world.db, world.clock())
    (item,) = world.page(order_id).attention
    assert (item.name, item.detail) == ("kiosk_no_ticket", "K1 · Ana")
    assert acknowledge(world.db, world.clock, order_id, 1, "kiosk_no_ticket")
    world.clock.go(60)
    watch(world.db, world.clock())
    assert items(world, order_id) == []


@pytest.mark.parametrize(
    ("typed_name", "name", "room"),
    [
        ("Ana", "Ana", None),
        ("  Ana  Li ", "Ana Li", None),
        ("412", "412", "412"),
        ("b 12", "b12", "b12"),
        ("安娜", "安娜", None),
        ("a" * 21, None, None),
        ("", None, None),
        ("…", None, None),
    ],
)
def test_one_field_takes_a_name_or_a_room(
    typed_name: str, name: str | None, room: str | None
) -> None:
    found = who_is(typed_name)
    assert (found and found.name, found and found.room) == (name, room)


def test_a_booking_request_is_deleted_when_its_key_is_lost(world: World) -> None:
    ask_id = new_ask(world, press(world, add_kiosk(world, rule="approval")))
    with world.db.write() as s:
        s.get_one(KioskAsk, ask_id).wish_enc = "k9.aa.bb"
    with world.db.read() as s:
        assert waiting_asks(s, world.vault, world.property_id, world.clock()) == []
    with world.db.read() as s:
        assert s.query(Guest).count() == 0


def test_what_kiosks_leave_goes_in_time(world: World) -> None:
    """Approvals and codes go after a day, tickets with their guests, and visits after a year."""
    kiosk = add_kiosk(world, rule="approval")
    new_ask(world, press(world, kiosk))
    code = code_of(world)
    order_id = pressed(world, replace(press(world, kiosk, name="Ana"), code=code)).order_id
    move(world, order_id, wire.COMPLETED)
    tables = KioskAsk, KioskCode, Ticket, KioskVisit
    left = []
    for days in (0.5, 2, 31, 366):
        world.clock.go(days * 86_400)
        retention_job(world.db, RetentionDays(), KEY, world.clock())
        with world.db.read() as s:
            left.append([s.query(table).count() for table in tables])
    assert left == [[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert "Ana" not in world.page(order_id).guest.name


def test_an_erased_guest_has_no_ticket_and_no_code(world: World) -> None:
    with world.db.write() as s:
        known = GuestDetails("Guest Heron", room="9")
        guest = store_guest(s, world.property_id, known, world.clock(), 1).id
    code = code_of(world, guest_id=guest)
    order_id = pressed(world, replace(press(world, add_kiosk(world)), code=code)).order_id
    move(world, order_id, wire.COMPLETED)
    wanted = ErasedGuest(world.property_id, name="Guest Heron", room="9")
    assert erase(world.db, world.clock, KEY, wanted) == (1, 1)
    with world.db.read() as s:
        assert s.query(Ticket).count() == 0
        assert [row.guest_id for row in s.query(KioskCode)] == [None]


def test_the_order_of_a_press_is_found_at_its_own_kiosk_alone(world: World) -> None:
    kiosk, other = add_kiosk(world), add_kiosk(world)
    pushed = press(world, kiosk)
    order_id = pressed(world, pushed).order_id
    pressed(world, press(world, other))
    with world.db.read() as s:
        found = [place.order_of_press(s, each, pushed.secret) for each in (kiosk, other)]
        assert [each and each.id for each in found] == [order_id, None]
        assert place.order_of_press(s, kiosk, "another page") is None
        newest = place.order_of_page(s, kiosk, ["another page", pushed.secret])
        assert newest is not None
        assert newest.id == order_id
        assert place.order_of_page(s, other, [pushed.secret]) is None
