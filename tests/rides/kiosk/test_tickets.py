"""Ride numbers begin anew each day; five wrong PINs close one; a property finds its own only."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import text

from ridedash.rides.actions.acknowledge import acknowledge
from ridedash.rides.kiosk.tickets import (
    Look,
    Looked,
    _lock_day,
    add_ticket,
    look_up,
    look_up_at,
    pin_of,
    read_number,
    reopen,
    ticket_of,
)
from ridedash.rides.orders.after_restore import declare
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.kiosks import Ticket
from ridedash.store.models.orders import Order
from tests.locks import locked
from tests.rides.desk_world import World
from tests.rides.kiosk_world import KEY, add_kiosk, pin, press, pressed, set_kiosk, ticket
from tests.rides.orders.test_side_by_side import at_once
from tests.views.ride_pages import Desk

DAY_S = 24 * 3600


def looked(world: World, number: str, typed: str, property_id: int = 0) -> Look:
    with world.db.write() as s:
        where = property_id or world.property_id
        return look_up(s, KEY, where, (number, typed), world.clock())


def number_of_a_press(world: World) -> int:
    """The ride number of a guest at a kiosk of their own."""
    return ticket(world, pressed(world, press(world, add_kiosk(world))).order_id).number


def test_numbers_begin_anew_each_day_of_the_property(world: World) -> None:
    kiosk = add_kiosk(world)
    made = [pressed(world, press(world, kiosk)).order_id for _ in range(2)]
    world.clock.go(5 * 3600)  # START is 19:30 in Kolkata, so it is the next day there
    made.append(pressed(world, press(world, kiosk)).order_id)
    found = [ticket(world, each) for each in made]
    assert [row.number for row in found] == [1, 2, 1]
    assert found[1].day < found[2].day


def test_after_a_restore_the_numbers_go_on_in_another_thousand(world: World) -> None:
    """A guest whose ride the database has lost may hold a ticket with any of the next numbers."""
    numbers = [number_of_a_press(world)]
    for _ in range(2):
        world.clock.go(60)
        declare(world.db, world.clock, world.clock())
        world.clock.go(60)
        numbers += [number_of_a_press(world), number_of_a_press(world)]
    assert numbers == [1, 1001, 1002, 2001, 2002]
    world.clock.go(DAY_S + 60)
    assert number_of_a_press(world) == 1


def test_a_restore_on_a_day_without_tickets_counts_too(world: World) -> None:
    declare(world.db, world.clock, world.clock())
    world.clock.go(60)
    assert number_of_a_press(world) == 1001


def test_the_pin_opens_the_ride_and_is_nowhere_in_the_database(world: World) -> None:
    pushed = press(world, add_kiosk(world))
    order_id = pressed(world, pushed).order_id
    assert looked(world, "K1", pin(pushed)) == Look(Looked.FOUND, order_id)
    assert looked(world, " 1 ", pin(pushed)) == Look(Looked.FOUND, order_id)
    for zero in "٠۰०０":
        digits = pin(pushed).translate({48 + n: ord(zero) + n for n in range(10)})
        assert looked(world, "K1", f" {digits}") == Look(Looked.FOUND, order_id), digits
    row = ticket(world, order_id)
    assert pin(pushed) not in (row.pin_hash, str(row.number), row.day)
    assert len(pin(pushed)) == 4
    assert pin(pushed).isdigit()


def wrong(pushed: str) -> str:
    return f"{(int(pushed) + 1) % 10_000:04d}"


def test_the_sixth_wrong_pin_finds_the_number_closed_and_the_desk_opens_it(world: World) -> None:
    pushed = press(world, add_kiosk(world))
    order_id = pressed(world, pushed).order_id
    right = pin(pushed)
    tries = [looked(world, "K1", wrong(right)) for _ in range(5)]
    assert [each.what for each in tries] == [Looked.WRONG] * 4 + [Looked.CLOSED]
    assert tries[-1].shut == (order_id,)
    assert looked(world, "K1", right).what is Looked.CLOSED
    assert acknowledge(world.db, world.clock, order_id, 1, "kiosk_pins")
    assert looked(world, "K1", right).what is Looked.FOUND
    with world.db.write() as s:
        assert not reopen(s, world.property_id, order_id, by_staff(1), world.clock())


def test_wrong_pins_that_close_two_rides_of_one_number_name_both(world: World) -> None:
    kiosk = add_kiosk(world)
    old = press(world, kiosk)
    older = pressed(world, old).order_id
    world.clock.go(5 * 3600)  # the next day in Kolkata, but less than 24 hours later
    new = press(world, kiosk)
    newer = pressed(world, new).order_id
    assert ticket(world, older).number == ticket(world, newer).number == 1
    neither = next(text for n in range(3) if (text := f"{n:04d}") not in (pin(old), pin(new)))
    tries = [looked(world, "K1", neither) for _ in range(5)]
    assert tries[-1] == Look(Looked.CLOSED, shut=(older, newer)), "as orders are locked"
    for order_id, right in ((newer, pin(new)), (older, pin(old))):
        assert acknowledge(world.db, world.clock, order_id, 1, "kiosk_pins")
        assert looked(world, "K1", right) == Look(Looked.FOUND, order_id)


def test_a_guest_who_looks_in_between_gives_no_one_more_tries(world: World) -> None:
    pushed = press(world, add_kiosk(world))
    pressed(world, pushed)
    for _ in range(4):
        assert looked(world, "K1", wrong(pin(pushed))).what is Looked.WRONG
        assert looked(world, "K1", pin(pushed)).what is Looked.FOUND
    assert looked(world, "K1", wrong(pin(pushed))).what is Looked.CLOSED


def test_tries_made_at_once_are_all_counted(world: World) -> None:
    pushed = press(world, add_kiosk(world))
    order_id = pressed(world, pushed).order_id
    at_once([partial(looked, world, "K1", wrong(pin(pushed)))] * 8)
    assert ticket(world, order_id).closed_at is not None
    assert ticket(world, order_id).tries == 5


def test_a_kiosk_has_ten_wrong_tries_for_all_numbers_together(world: World) -> None:
    """Four tries at each of a day's numbers would find some ride's PIN sooner or later."""
    kiosk, other = add_kiosk(world), add_kiosk(world)
    pushed = press(world, kiosk)
    order_id = pressed(world, pushed).order_id

    def at_kiosk(number: str, typed: str, kiosk_id: int = kiosk) -> Look:
        with world.db.write() as s:
            where = world.property_id, kiosk_id
            return look_up_at(s, KEY, where, (number, typed), world.clock())

    right = pin(pushed)
    for _ in range(30):  # a right PIN uses up no try, however often it is typed
        assert at_kiosk("K1", right).order_id == order_id
    tries = [at_kiosk(f"K{number}", wrong(right)) for number in range(1, 12)]
    assert [each.what for each in tries] == [Looked.WRONG] * 10 + [Looked.LIMITED]
    assert [each.last for each in tries] == [False] * 9 + [True, False]
    assert at_kiosk("K1", right) == Look(Looked.LIMITED)
    assert at_kiosk("K1", right, other).what is Looked.FOUND
    world.clock.go(601)
    assert at_kiosk("K1", right).what is Looked.FOUND


def test_a_number_that_is_closed_costs_its_guest_no_try_of_the_kiosk(world: World) -> None:
    kiosk = add_kiosk(world)
    pushed = press(world, kiosk)
    pressed(world, pushed)
    for _ in range(20):
        with world.db.write() as s:
            typed = "K1", wrong(pin(pushed))
            look = look_up_at(s, KEY, (world.property_id, kiosk), typed, world.clock())
    assert look.what is Looked.CLOSED


@pytest.mark.parametrize("number", ["K2", "", "K", "K0", "x", "K99999", "-1", "K1 OR 1", "٢"])
def test_an_unknown_number_is_answered_like_a_wrong_pin(world: World, number: str) -> None:
    pushed = press(world, add_kiosk(world))
    pressed(world, pushed)
    assert looked(world, number, pin(pushed)) == Look(Looked.WRONG)


def test_another_property_and_another_day_do_not_find_it(world: World) -> None:
    kiosk = add_kiosk(world)
    pushed = press(world, kiosk)
    order_id = pressed(world, pushed).order_id
    assert looked(world, "K1", pin(pushed), world.property_id + 1).what is Looked.WRONG
    world.clock.go(DAY_S - 60)
    assert looked(world, "K1", pin(pushed)) == Look(Looked.FOUND, order_id)
    set_kiosk(world, kiosk, code_until=None)
    later = press(world, kiosk)
    newer = pressed(world, later).order_id
    assert ticket(world, newer).number == 1  # numbers begin anew on the next day
    assert looked(world, "K1", pin(later)) == Look(Looked.FOUND, newer)
    assert looked(world, "K1", pin(pushed)) == Look(Looked.FOUND, order_id)
    world.clock.go(120)
    assert looked(world, "K1", pin(pushed)).what is Looked.WRONG


def test_many_kiosks_at_once_get_a_number_each(world: World) -> None:
    presses = [press(world, add_kiosk(world)) for _ in range(6)]
    at_once([partial(pressed, world, each) for each in presses])
    with world.db.read() as s:
        assert sorted(row.number for row in s.query(Ticket)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        *(("K27", 27), (" k 2 7 ", 27), ("9999", 9999), ("K9999", 9999)),
        *(("Ｋ２７", 27), ("٢", 2), ("K ۲۷", 27), ("k२७", 27)),
        *((text, None) for text in ("10000", "K", "0", "00000", "K-1", "", "²", "一")),
    ],
)
def test_a_ride_number_is_read_with_and_without_its_letter(typed: str, number: int | None) -> None:
    assert read_number(typed) == number


def test_a_pin_has_four_digits_of_a_secret_and_the_key() -> None:
    pins = {pin_of("key", f"secret {n}") for n in range(200)}
    assert all(len(pin) == 4 and pin.isdigit() for pin in pins)
    assert len(pins) > 150
    assert any(pin[0] == "0" for pin in pins)
    assert pin_of("key", "s") == pin_of("key", "s") != pin_of("other", "s")


def test_a_ticket_is_found_for_a_day_after_the_press_and_opened_once_by_the_desk(
    world: World,
) -> None:
    order_id, now = world.place(), world.clock()
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        row = add_ticket(s, "key", order, "1234", "2026-03-01")
        assert (row.property_id, row.order_id, row.number) == (world.property_id, order_id, 1)
        assert (row.day, row.tries, row.closed_at) == ("2026-03-01", 0, None)
        assert ticket_of(s, order_id) is row
        assert ticket_of(s, order_id + 1) is None
        typed = ("K1", " 12 34 ")
        day = timedelta(hours=24)
        last = look_up(s, "key", world.property_id, typed, now + day - timedelta(seconds=1))
        assert last == Look(Looked.FOUND, order_id)
        for when, where, key in (
            (now + day, 0, "key"),
            (now, 1, "key"),
            (now, 0, "other"),
        ):
            found = look_up(s, key, world.property_id + where, typed, when)
            assert found == Look(Looked.WRONG)
        with locked(s) as tables:
            look_up(s, "key", world.property_id, ("K1", "1234"), now)
        assert "tickets" in tables
        row.tries, row.closed_at = 5, now
        assert look_up(s, "key", world.property_id, typed, now) == Look(Looked.CLOSED)
        other, who = world.property_id + 1, world.actor
        assert not reopen(s, other, order_id, who, now)
        with locked(s) as tables:
            assert reopen(s, world.property_id, order_id, who, now)
        assert tables == {"tickets"}
        assert (row.tries, row.closed_at) == (0, None)
        assert not reopen(s, world.property_id, order_id, who, now)
        entry = s.query(AuditRow).filter_by(what="ticket.reopened").one()
        assert (entry.subject, entry.property_id) == (f"orders:{order_id}", world.property_id)
        assert entry.at == now


def test_the_last_wrong_try_of_a_kiosk_says_that_it_was(world: World) -> None:
    with world.db.write() as s:
        looks = [
            look_up_at(s, "key", (world.property_id, 7), ("K9", "0000"), world.clock())
            for _ in range(11)
        ]
    assert [look.last for look in looks] == [False] * 9 + [True, False]
    assert [look.what for look in looks] == [Looked.WRONG] * 10 + [Looked.LIMITED]


@pytest.mark.database
def test_each_property_counts_its_own_tickets_of_a_day(desk: Desk) -> None:
    days = ("2026-03-01", "2026-03-01", "2026-03-02")
    orders = {prop: [desk.order("READY", prop=prop) for _ in days] for prop in ("desk", "other")}
    with desk.services.db.write() as s:
        for prop in orders:
            rows = [
                add_ticket(s, "key", s.get_one(Order, order_id), "1234", day)
                for order_id, day in zip(orders[prop], days, strict=True)
            ]
            assert [row.number for row in rows] == [1, 2, 1], prop
            assert all(row.id for row in rows)


def test_on_postgresql_each_day_of_a_property_has_a_lock_of_its_own(world: World) -> None:
    if world.db.dialect == "sqlite":
        pytest.skip("it has one writer at a time")
    held = text(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    )
    with world.db.write() as s:
        for counted, day in ((1, "2026-03-01"), (1, "2026-03-01"), (2, "2026-03-02")):
            _lock_day(s, world.property_id, day)
            assert s.scalar(held) == counted
        for number in range(40):
            _lock_day(s, number + 10, "2026-03-01")
        assert s.scalar(held) == 42, "whatever the sign of the number that a lock has"
