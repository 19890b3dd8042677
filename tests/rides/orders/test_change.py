"""A planned ride is changed: differences are named, the rest stays, and tries begin anew."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select

from ridedash.geo import LatLng
from ridedash.rides.orders.change import Change, TooLate, change
from ridedash.rides.orders.place import RequestRefused, place
from ridedash.rides.orders.request import digest
from ridedash.rides.times.schedule_times import LATEST, SERIES_LATEST
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Account
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import Order
from ridedash.store.properties import add_property
from tests.rides.desk_world import DROP, PICKUP, World
from tests.rides.orders.test_due import HOURS, LEAD, planned, wanted
from tests.rides.orders.test_press import series


def changed(world: World, order_id: int, **facts: Any) -> list[str]:
    """Change a planned ride. Returns what the audit entry names as changed."""
    assert change(world.db, world.clock, wanted(world, order_id, **facts))
    with world.db.read() as s:
        query = select(AuditRow).where(AuditRow.what == "order.change")
        row = s.scalars(query.order_by(AuditRow.id.desc()).limit(1)).one()
    last = world.page(order_id).events[-1]
    assert (last.name, row.subject) == ("plan_changed", f"orders:{order_id}")
    assert last.detail == ", ".join(row.facts["changed"])
    return list(row.facts["changed"])


def offer_to(world: World, pickup: str = "Lobby", drop: LatLng | None = DROP) -> int:
    trip = Trip(PICKUP, pickup, drop, "Airport" if drop else None)
    priced = Priced("mini", "point_to_point", "Mini", "INR", "₹240", {"category": "mini"})
    with world.db.write() as s:
        owner = OfferOwner(world.property_id, world.actor)
        return add_offer(s, owner, trip, priced, world.clock()).id


def test_a_change_is_of_the_ride_that_it_names(world: World) -> None:
    ids = [planned(world) for _ in range(3)]
    assert changed(world, ids[1], note="two bags") == ["note"]
    assert [order.note for order in world.orders()] == [None, "two bags", None]
    assert {order.guard_override_by for order in world.orders()} == {None}
    assert [order.version for order in world.orders()].count(world.orders()[0].version) == 2


@pytest.mark.parametrize("who", ["nobody's", "another house's"])
def test_a_ride_that_is_not_of_this_property_is_not_changed(world: World, who: str) -> None:
    order_id = planned(world)
    made = wanted(world, order_id, note="two bags")
    if who == "nobody's":
        made = replace(made, order_id=order_id + 9)
    else:
        with world.db.write() as s:
            other = add_property(s, "Harbour House", "Asia/Kolkata", world.clock()).id
        made = replace(made, request=replace(made.request, property_id=other))
    with pytest.raises(TooLate):
        change(world.db, world.clock, made)
    assert world.page(order_id).order.note is None


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ({"note": "two bags"}, ["note"]),
        ({"payment": "cash"}, ["payment"]),
        ({"flight": "LH 760"}, ["flight"]),
        ({"coupon": "STAY10"}, ["coupon"]),
        ({"guest_phone": "+912227783300"}, ["guest"]),
        ({"guest_room": "412"}, ["guest"]),
        ({"override_guard": True}, ["second_car"]),
        ({"note": "two bags", "guest_name": "Guest Wren"}, ["guest", "note"]),
    ],
)
def test_what_a_request_changes_is_named_in_one_order(
    world: World, facts: dict[str, Any], named: list[str]
) -> None:
    order_id = planned(world)
    assert changed(world, order_id, **facts) == named
    assert not change(
        world.db, world.clock, wanted(world, order_id, **facts, **unchanged_fields(world))
    )


def unchanged_fields(world: World) -> dict[str, Any]:
    """What a second press of the form has beside the changed facts: the guest's id."""
    order = world.orders()[0]
    return {"guest_id": order.guest_id}


def test_another_place_is_another_trip_and_a_new_price_of_the_same_is_none(world: World) -> None:
    order_id = planned(world)
    before = world.page(order_id).order.offer_id
    same = wanted(world, order_id, offer_id=offer_to(world))
    assert not change(world.db, world.clock, same)
    assert world.page(order_id).order.offer_id == before
    assert changed(world, order_id, offer_id=offer_to(world, "Back gate")) == ["trip"]
    assert changed(world, order_id, offer_id=offer_to(world, drop=None)) == ["trip"]
    body = json.loads(world.page(order_id).order.body)
    assert body["drop"] is None


def test_a_second_car_on_purpose_stays_with_the_first_who_confirmed_it(world: World) -> None:
    order_id = planned(world, override_guard=True)
    assert world.page(order_id).order.guard_override_by == world.staff_id
    assert changed(world, order_id, override_guard=True, note="two bags") == ["note"]


@pytest.mark.parametrize(
    ("change_to", "stays"),
    [
        ({"hours": 1}, True),
        ({"hours": 24}, False),
        ({"hours": 24, "override_guard": True}, True),
        ({"guest_name": "Guest Wren"}, False),
        ({"pickup": "Back gate"}, True),
        ({"pickup": "Harbour"}, False),
    ],
)
def test_a_second_car_on_purpose_is_for_that_day_that_guest_and_that_pickup(
    world: World, change_to: dict[str, Any], stays: bool
) -> None:
    order_id = planned(world, guest_name="Guest Heron", override_guard=True)
    facts = {"guest_name": "Guest Heron"} | change_to
    if hours := facts.pop("hours", 0):
        order = world.page(order_id).order
        assert order.pickup_at is not None
        facts["pickup_at"] = order.pickup_at + timedelta(hours=hours)
    if name := facts.pop("pickup", None):
        point = PICKUP if name == "Back gate" else DROP
        trip = Trip(point, name, LatLng(-38.6, -128.1), "Airport")
        facts["offer_id"] = world.offer(trip=trip)
    changed(world, order_id, **facts)
    assert (world.page(order_id).order.guard_override_by is not None) is stays


def test_a_changed_ride_is_tried_anew_with_its_new_request(world: World) -> None:
    order_id = planned(world)
    with world.db.write() as s:
        s.get_one(Account, world.account_id).affiliate_uid = "AF-1"
        order = s.get_one(Order, order_id)
        order.tries, order.message, order.owner = 3, "PLAN_NO_PRICE", "another worker"
        order.lease_until, order.version = world.clock() + HOURS, order.version + 1
    later = world.clock() + 2 * HOURS
    was = world.page(order_id).order
    assert changed(world, order_id, pickup_at=later, payment="cash") == ["pickup_at", "payment"]
    order = world.page(order_id).order
    assert (order.tries, order.message, order.owner, order.lease_until) == (0, None, None, None)
    assert order.due_at == later - LEAD
    body = json.loads(order.body)
    assert (body["affiliate_uid"], body["payment_instrument_type"]) == ("AF-1", "cash")
    assert (body["merchant_txn_id"], order.body_digest) == (was.mtx, digest(order.body))
    with world.db.read() as s:
        row = s.scalars(select(AuditRow).where(AuditRow.what == "order.change")).one()
    assert was.pickup_at is not None
    same = {"category": "mini", "offer": was.offer_id, "guest": was.guest_id}
    assert row.facts["was"] == {"pickup_at": was.pickup_at.isoformat(), **same}
    assert row.facts["is"] == {"pickup_at": later.isoformat(), **same}
    assert (row.who, row.result) == (f"staff:{world.staff_id}", "SCHEDULED")


@pytest.mark.parametrize(
    ("facts", "field"),
    [({"pickup_at": None}, "pickup_at"), ({"payment": "card"}, "payment_instrument_type")],
)
def test_a_change_that_makes_no_request_changes_nothing(
    world: World, facts: dict[str, Any], field: str
) -> None:
    order_id = planned(world)
    with pytest.raises(RequestRefused) as refused:
        change(world.db, world.clock, wanted(world, order_id, **facts))
    assert refused.value.field == field
    assert world.page(order_id).order.pickup_at == world.clock() + HOURS


def test_no_other_transaction_stores_the_guest_of_a_change_meanwhile(world: World) -> None:
    if world.db.dialect == "sqlite":
        pytest.skip("one writer at a time")
    made, locks = wanted(world, planned(world), guest_name="Guest Wren"), list[str]()

    def note(*given: object) -> None:
        if "pg_advisory_xact_lock" in str(given[2]):
            locks.append(str(given[3]))

    event.listen(world.db.engine, "before_cursor_execute", note)
    try:
        assert change(world.db, world.clock, made)
    finally:
        event.remove(world.db.engine, "before_cursor_execute", note)
    assert len(locks) == 1


def test_a_ride_of_a_series_may_be_later_than_any_other(world: World) -> None:
    single = planned(world)
    (first, *_rest) = place(world.db, world.clock, series(world, 2)).order_ids
    late = world.clock() + LATEST + timedelta(days=1)
    assert late < world.clock() + SERIES_LATEST
    with pytest.raises(RequestRefused):
        change(world.db, world.clock, wanted(world, single, pickup_at=late))
    assert changed(world, first, pickup_at=late) == ["pickup_at"]
    beyond = world.clock() + SERIES_LATEST + timedelta(days=1)
    with pytest.raises(RequestRefused):
        change(world.db, world.clock, wanted(world, first, pickup_at=beyond))


def test_a_change_names_the_version_that_was_shown(world: World) -> None:
    order_id = planned(world)
    made = wanted(world, order_id, note="two bags")
    assert made == Change(order_id, world.page(order_id).order.version, made.request)
    assert change(world.db, world.clock, made)
    assert world.page(order_id).order.version == made.version + 1
