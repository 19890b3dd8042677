"""Ended rides with all data that may identify a guest, and a search for what is still stored."""

from typing import Any

from sqlalchemy import inspect, select, text

from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import Action, Attention, Order, Ride, TimelineEvent
from ridedash.store.models.people import Guest
from tests.rides.desk_world import START, World

KEY = "a key of this test"
NAME, PHONE, ROOM = "Guest Quillfeather", "+911234509876", "Q-417"


def ridden(
    world: World, name: str = NAME, phone: str | None = PHONE, room: str | None = ROOM
) -> int:
    """Add an order with an ended ride and all data that may identify the guest or the places."""
    order_id = world.place()
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.state, order.open, order.note, order.evidence = (
            "BOOKED",
            False,
            f"wheelchair of {name}",
            '{"x": 1}',
        )
        order.guard_key, order.resolve_reason = f"1|{phone}", f"{name} told us"
        order.message = f"Dear {name}, your booking is made"
        guest = s.get_one(Guest, order.guest_id)
        guest.name, guest.phone, guest.room, guest.note, guest.seen_at = (
            name,
            phone,
            room,
            f"{name} likes silence",
            START,
        )
        facts: dict[str, Any] = {
            "pickup": [1.0, 2.0],
            "drop": [3.0, 4.0],
            "position": [1.5, 2.5],
            "bearing": 7.0,
            "driver_name": "Driver Cedar",
            "driver_number": "+910000000001",
            "price": {"fare": "210"},
            "passengers": [name],
            "route": [{"name": name, "state": "pickup", "position": [1.0, 2.0]}],
        }
        ride = Ride(
            property_id=order.property_id,
            staff_id=order.staff_id,
            account_id=order.account_id,
            order_id=order_id,
            kind="point_to_point",
            booking_id=None,
            txn_id=None,
            status="COMPLETED",
            reported=None,
            facts=facts,
            otp_enc=None,
            back_status=None,
            previous_plate=None,
            swapped_at=None,
            retried=False,
            allotted_at=None,
            ended_at=START,
            total_minor=24_000,
            currency="INR",
            position_at=START,
            seen_at=START,
            created_at=START,
            poll_seq=1,
            merged_seq=1,
            next_poll_at=None,
            interval_s=4.0,
            lease_until=None,
            owner=None,
            errors=0,
            poison=0,
            unknown_id=0,
            final_polls=3,
        )
        s.add(ride)
        s.add(
            TimelineEvent(
                property_id=order.property_id,
                order_id=order_id,
                what="event",
                name="x",
                detail=name,
                at=START,
            )
        )
        s.add(
            Attention(
                property_id=order.property_id,
                order_id=order_id,
                name="x",
                detail=name,
                raised_at=START,
                cleared_at=None,
            )
        )
        s.add(
            Action(
                property_id=order.property_id,
                staff_id=order.staff_id,
                account_id=order.account_id,
                order_id=order_id,
                name="feedback",
                payload={"rating": 5, "options": [], "comments": f"{name} was kind"},
                state="done",
                calls=1,
                made_at=START,
                called_at=START,
                settled_at=START,
                next_try_at=None,
                code=None,
                header=None,
                text=name,
            )
        )
        s.add(
            ShiftNote(
                property_id=order.property_id,
                staff_id=order.staff_id or 0,
                made_at=START,
                done_at=None,
                done_by=None,
                text=f"Call {name.upper()} back on 12345 09876, not on 55 12345 09",
            )
        )
    return order_id


def ride_of(world: World, order_id: int) -> Ride:
    with world.db.read() as s:
        return s.scalars(select(Ride).where(Ride.order_id == order_id)).one()


def guest_of(world: World, order_id: int) -> Guest:
    with world.db.read() as s:
        return s.get_one(Guest, s.get_one(Order, order_id).guest_id)


def hits(world: World, *words: str) -> set[tuple[str, str]]:
    """The columns of the database that contain one of the words, in upper or lower case."""
    found = set()
    with world.db.read() as s:
        for table in inspect(s.connection()).get_table_names():
            for row in s.execute(text(f'SELECT * FROM "{table}"')).mappings():
                found |= {
                    (table, column)
                    for column, value in row.items()
                    if any(word.casefold() in str(value).casefold() for word in words)
                }
    return found
