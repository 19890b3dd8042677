"""The rule against double booking: the key of an order, and what a press finds.

What else the rule says is tested with what it holds for: planned rides in test_due.py, groups in
test_groups.py, presses at the same moment in test_side_by_side.py, a change in test_change.py, a
corrected guest in ../test_correct_guest.py.
"""

from datetime import timedelta

import pytest
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.rides.orders.guard import GuardBusy, guard_of
from ridedash.rides.orders.resolve import withdraw
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import Offer, Order
from tests.names import NOT_ONE, ONE_NAME
from tests.rides.desk_world import DROP, PICKUP, World


def offer_at(lat: float = -38.5, lng: float = -128.0) -> Offer:
    return Offer(pickup_lat=lat, pickup_lng=lng)


def guest_id(world: World, order_id: int) -> int:
    return world.page(order_id).guest.id


def test_a_guard_is_of_a_phone_or_else_of_a_name_and_room_at_a_pickup() -> None:
    """Another key needs a migration, because orders of earlier releases may still be open."""
    known = "1|c34c5fa7890f3a32952f6a2d|-38.500,-128.000"
    for phone in ("+919845011111", "9845011111", "0 98450-11111"):
        assert guard_of(1, "Guest Heron", phone, "412", offer_at()) == known, phone
    named = "1|231ea1db66a77426ca7247af|-38.500,-128.000"
    assert guard_of(1, "Guest HERON", None, "412", offer_at(-38.5004)) == named
    assert guard_of(1, "", None, None, offer_at()) is None
    assert guard_of(1, "", "", "412", offer_at()) is not None
    others = [
        guard_of(2, "Guest Heron", None, "412", offer_at()),
        guard_of(1, "Guest Heron", None, "413", offer_at()),
        guard_of(1, "Guest Heron", None, None, offer_at()),
        guard_of(1, "Guest Heron", None, "412", offer_at(-38.501)),
        guard_of(1, "Guest Heron", None, "412", offer_at(lng=-128.001)),
    ]
    assert len({named, *others}) == 6


def test_the_same_guest_is_not_booked_twice_by_two_desks(world: World) -> None:
    first = world.place(guest_name="Guest Heron", guest_phone="+91 98450 11111")
    world.clock.go(20)
    with pytest.raises(GuardBusy, match="is open for the same guest") as caught:
        world.place(guest_name="Heron", guest_phone="098450 11111")
    [ride] = caught.value.rides
    assert (ride.order_id, ride.staff_name) == (first, "Desk Otter")
    second = world.page(
        world.place(guest_name="Guest Heron", guest_phone="9845011111", override_guard=True)
    ).order
    assert (second.guard_key, second.guard_override_by) == (None, world.staff_id)


@pytest.mark.parametrize(
    "later",
    [
        {"guest_phone": "+919845011111"},
        {"guest_name": "Anna Heron"},
        {"guest_room": "413"},
        {"guest_name": "He\u0301ron"},
    ],
)
def test_what_was_learned_of_a_guest_since_does_not_open_the_guard(
    world: World, later: dict[str, str]
) -> None:
    first = world.place(guest_name="Heron", guest_room="412")
    chosen = {"guest_name": "Heron", "guest_room": "412", "guest_id": guest_id(world, first)}
    with pytest.raises(GuardBusy) as caught:
        world.place(**(chosen | later))
    assert caught.value.rides[0].order_id == first
    second = world.place(**(chosen | later), override_guard=True)
    assert guest_id(world, second) == guest_id(world, first)


def test_a_second_car_on_purpose_guards_its_guest_when_the_first_is_over(world: World) -> None:
    first = world.place(guest_name="Guest Heron", guest_room="412")
    second = world.place(guest_name="Guest Heron", guest_room="412", override_guard=True)
    assert withdraw(world.db, world.clock, first, world.actor)
    with pytest.raises(GuardBusy) as caught:
        world.place(guest_name="Guest Heron", guest_room="412")
    assert caught.value.rides[0].order_id == second


@pytest.mark.parametrize("language", ONE_NAME)
def test_the_guard_knows_a_guest_in_any_spelling_of_the_name(world: World, language: str) -> None:
    for number, (name, *spellings) in enumerate(ONE_NAME[language]):
        first = world.place(guest_name=name, guest_room=f"41{number} a")
        for each in spellings:
            with pytest.raises(GuardBusy) as caught:
                world.place(guest_name=each, guest_room=f"41{number}A")
            assert caught.value.rides[0].order_id == first, (name, each)


def test_the_guard_asks_about_no_other_guest_of_the_room(world: World) -> None:
    for number, names in enumerate(NOT_ONE):
        placed = [world.place(guest_name=each, guest_room=f"41{number}") for each in names]
        assert len({guest_id(world, each) for each in placed}) == len(names)


def test_the_guard_opens_when_the_first_order_ends_without_a_ride(world: World) -> None:
    first = world.place(guest_name="Guest Heron")
    assert withdraw(world.db, world.clock, first, world.actor)
    assert world.place(guest_name="Guest Heron") != first


def test_a_guest_may_have_a_ride_from_another_pickup_too(world: World) -> None:
    """Two presses by mistake would have the same pickup, where the guest stands."""
    first = world.place(guest_name="Guest Heron", guest_room="412")
    elsewhere = Trip(LatLng(PICKUP.lat - 0.2, PICKUP.lng), "Old Harbour", DROP, "Airport")
    priced = Priced("mini", "point_to_point", "Mini", "INR", "₹240", {"category": "mini"})
    with world.db.write() as s:
        owner = OfferOwner(world.property_id, world.actor)
        offer = add_offer(s, owner, elsewhere, priced, world.clock()).id
    known = {"guest_name": "Guest Heron", "guest_room": "412", "guest_id": guest_id(world, first)}
    second = world.place(offer_id=offer, **known)
    assert guest_id(world, second) == guest_id(world, first)
    with pytest.raises(GuardBusy):
        world.place(**known)


@pytest.mark.parametrize("planned", [False, True])
def test_what_a_colleague_has_booked_again_already_is_reported_before_it_is_done_twice(
    world: World, planned: bool
) -> None:
    """A guest's second car in a group has no guard, and neither has a planned ride."""
    when = {"pickup_at": world.clock() + timedelta(hours=2)} if planned else {}
    world.place(guest_name="Heron", guest_room="412", cars=2, **when)
    failed = world.orders()[-1].id
    with world.db.write() as s:
        order = s.get_one(Order, failed)
        order.state, order.open, order.code, order.version = "NOT_SENT", False, "EXPIRED", 9
    again = {"guest_name": "Heron", "guest_room": "412", "supersedes": failed, **when}
    newer = world.place(override_guard=not planned, **again)
    with pytest.raises(GuardBusy) as caught:
        world.place(**again)
    [ride] = caught.value.rides
    assert (ride.order_id, ride.staff_name) == (newer, "Desk Otter")
    assert world.place(override_guard=True, **again)
    with world.db.write() as s:
        for each in s.scalars(select(Order)):
            each.state, each.open, each.version = "REJECTED", False, each.version + 9
    assert world.place(**again), "it failed too"
