"""A guest is corrected: what follows for guard, search, links, other rides, audit and erasure."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.rides.actions import correct_guest
from ridedash.rides.actions.correct_guest import (
    Corrected,
    CorrectedMeanwhile,
    Correction,
    GuestFacts,
    GuestNotStored,
    corrections,
)
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.rides.share_links import LinkKind, find_link, give_link, make_link
from ridedash.rides.state import transitions
from ridedash.store.actors import by_kiosk
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import Link
from ridedash.store.models.orders import Order, TimelineEvent
from ridedash.store.search import find_orders
from tests.rides.desk_world import World

pytestmark = pytest.mark.database
HERON: dict[str, Any] = {
    "guest_name": "Guest Heron",
    "guest_phone": "+912227783300",
    "guest_room": "412",
}


def facts_of(world: World, order_id: int) -> GuestFacts:
    page = world.page(order_id)
    return GuestFacts(page.guest.name, page.guest.phone, page.order.room)


def wish(world: World, order_id: int, others: bool = False, **wanted: str | None) -> Correction:
    shown = facts_of(world, order_id)
    return Correction(
        world.property_id, order_id, world.staff_id, shown, shown._replace(**wanted), others
    )


def correct(world: World, order_id: int, others: bool = False, **wanted: str | None) -> Corrected:
    made = wish(world, order_id, others, **wanted)
    return correct_guest.correct(world.db, world.clock, made)


def found(world: World, text: str) -> list[int]:
    with world.db.read() as s:
        return find_orders(s, world.property_id, text, 10)


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        ({"name": "Guest Łukasz"}, "Heron", "Łukasz"),
        ({"phone": "+912227783399"}, "2227783300", "2227783399"),
        ({"room": "507"}, "412", "507"),
    ],
)
def test_a_corrected_ride_is_found_by_the_right_words_alone(
    world: World, wanted: dict[str, str], old: str, new: str
) -> None:
    order_id = world.place(**HERON)
    body, version = world.page(order_id).order.body, world.page(order_id).order.version
    done = correct(world, order_id, **wanted)
    assert done.changed == tuple(wanted)
    assert (found(world, old), found(world, new)) == ([], [order_id])
    assert facts_of(world, order_id) == GuestFacts("Guest Heron", "+912227783300", "412")._replace(
        **wanted
    )
    page = world.page(order_id)
    assert page.order.body == body, "what the service was sent stays"
    assert page.order.version > version


def test_the_guard_follows_the_correction(world: World) -> None:
    """The right guest is stopped from a second car, the one of the wrong number is not."""
    order_id = world.place(**HERON)
    correct(world, order_id, phone="+912227783399")
    with pytest.raises(GuardBusy) as busy:
        world.place(guest_name="Heron", guest_phone="+912227783399")
    assert [each.order_id for each in busy.value.rides] == [order_id]
    assert world.place(guest_name="Wren", guest_phone="+912227783300")


def test_a_correction_that_meets_another_open_ride_is_made_and_said(world: World) -> None:
    first = world.place(**HERON)
    second = world.place(guest_name="Heron", guest_phone="+912227783399")
    done = correct(world, second, phone="+912227783300")
    assert done.beside == (first,)
    assert facts_of(world, second).phone == "+912227783300"
    guards = [world.page(each).order.guard_key for each in (first, second)]
    assert guards[0]
    assert guards[1] is None, "one open order has the guard"
    assert correct(world, second, room="9").beside == (first,)
    with pytest.raises(GuardBusy) as busy:
        world.place(**HERON)
    assert {each.order_id for each in busy.value.rides} == {first, second}


def test_cars_of_a_group_and_the_way_back_are_corrected_together(world: World) -> None:
    back_at = world.clock() + timedelta(hours=5)
    ids = world.placed(**HERON, cars=2, back_at=back_at).order_ids
    assert len(ids) == 4
    done = correct(world, ids[1], name="Guest Wren", room="507")
    assert done == Corrected(("name", "room"))
    for each in ids:
        assert facts_of(world, each) == GuestFacts("Guest Wren", "+912227783300", "507")


def test_earlier_rides_of_a_known_guest_keep_their_name_unless_it_was_wrong_there_too(
    world: World,
) -> None:
    earlier = world.place(**HERON)
    with world.db.write() as s:
        s.get_one(Order, earlier).open = False
    for others, name in ((False, "Guest Heron"), (True, "Guest Wren")):
        now = world.place(**HERON, override_guard=True)
        with world.db.read() as s:
            assert correct_guest.other_rides(s, s.get_one(Order, now)) >= 1
        correct(world, now, others, name="Guest Wren", room="507")
        assert facts_of(world, now) == GuestFacts("Guest Wren", "+912227783300", "507")
        assert facts_of(world, earlier).name == name
    assert facts_of(world, earlier).room == "507"


def test_the_second_of_two_desks_is_told(world: World) -> None:
    order_id = world.place(**HERON)
    late = wish(world, order_id, name="Guest Herring")
    correct(world, order_id, phone="+912227783399")
    with pytest.raises(CorrectedMeanwhile):
        correct_guest.correct(world.db, world.clock, late)
    assert facts_of(world, order_id).name == "Guest Heron"
    again = replace(late, shown=facts_of(world, order_id))
    correct_guest.correct(world.db, world.clock, again)
    assert facts_of(world, order_id).name == "Guest Herring"
    same = correct_guest.correct(world.db, world.clock, again)
    assert same == Corrected(), "what is stored already needs no second correction"


def test_a_link_that_the_wrong_number_may_have_ends_and_the_kiosks_stays(world: World) -> None:
    order_id = world.place(**HERON)
    given = make_link(
        world.db, world.clock(), world.property_id, order_id, LinkKind.RIDER, world.actor
    )
    follower = make_link(
        world.db, world.clock(), world.property_id, order_id, LinkKind.FOLLOWER, world.actor
    )
    give_link(world.db, world.clock(), order_id, by_kiosk(1), "k" * 22)

    def valid() -> list[bool]:
        with world.db.read() as s:
            links = (given, follower, "k" * 22)
            return [find_link(s, each, world.clock())[0] is not None for each in links]

    assert correct(world, order_id, name="Guest Herons").links_ended == 0
    assert valid() == [True, True, True]
    assert correct(world, order_id, phone="+912227783399").links_ended == 1
    assert valid() == [False, True, True]
    with world.db.read() as s:
        entries = s.scalars(select(AuditRow.what)).all()
        assert s.query(Link).count() == 3
    assert "link.ended" in entries


def test_a_phone_that_was_missing_ends_no_link(world: World) -> None:
    order_id = world.place(guest_name="Heron", guest_room="412")
    make_link(world.db, world.clock(), world.property_id, order_id, LinkKind.RIDER, world.actor)
    assert correct(world, order_id, phone="+912227783399").links_ended == 0


def test_the_audit_log_has_who_and_what_and_the_values_go_with_the_guest(world: World) -> None:
    order_id = world.place(**HERON)
    correct(world, order_id, phone="+912227783399", room=None)
    at = world.clock()
    with world.db.write() as s:
        row = s.scalars(select(AuditRow).where(AuditRow.what == "guest.corrected")).one()
        assert (row.who, row.subject) == (f"staff:{world.staff_id}", f"orders:{order_id}")
        assert row.facts == {"changed": ["phone", "room"]}
        both = json.loads(corrections(s, [order_id])[order_id, at])
        assert both == {"phone": ["+912227783300", "+912227783399"], "room": ["412", ""]}
        order = s.get_one(Order, order_id)
        order.state, order.open, order.version = "REJECTED", False, order.version + 1
    # the wrong number is a stranger's, who may ask for its erasure alone
    erase(world.db, world.clock, "key", ErasedGuest(world.property_id, phone="+912227783300"))
    with world.db.read() as s:
        detail = s.scalars(select(TimelineEvent.detail).where(TimelineEvent.detail.is_not(None)))
        assert not any("2227783300" in each for each in detail)
    erase(world.db, world.clock, "key", ErasedGuest(world.property_id, phone="+912227783399"))
    with world.db.read() as s:
        assert corrections(s, [order_id]) == {}
    with pytest.raises(GuestNotStored):
        correct(world, order_id, name="Guest Heron")


def test_an_attention_item_names_the_corrected_guest(world: World) -> None:
    order_id = world.place(**HERON)
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        transitions.raise_attention(s, order, "kiosk_no_ticket", "K1 · Guest Heron", order.due_at)
    correct(world, order_id, name="Guest Wren")
    [item] = world.page(order_id).attention
    assert item.detail == "K1 · Guest Wren"


def test_an_order_of_another_property_is_not_corrected(world: World) -> None:
    order_id = world.place(**HERON)
    theirs = replace(wish(world, order_id, name="Wren"), property_id=world.property_id + 1)
    with pytest.raises(GuestNotStored):
        correct_guest.correct(world.db, world.clock, theirs)
