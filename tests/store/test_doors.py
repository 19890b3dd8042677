"""The cars that a door display shows, those at the door first."""

from datetime import datetime, timedelta

import pytest

from ridedash.store import doors
from ridedash.store.models.kiosks import Ticket
from ridedash.store.models.orders import TimelineEvent
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)


def cars(desk: Desk) -> list[int]:
    with desk.services.db.read() as s:
        return doors.cars_at_door(s, desk.ids["desk.property"], NOON)


def began(
    desk: Desk, order_id: int, name: str = "IN_PROGRESS", at: datetime = NOON + MILLISECOND
) -> None:
    facts = {"property_id": desk.ids["desk.property"], "what": "ride", "detail": None}
    event = TimelineEvent(order_id=order_id, name=name, at=at, **facts)
    desk.add(lambda s: s.add(event))


def test_rides_that_have_not_begun_or_just_began_are_shown_the_cars_here_first(desk: Desk) -> None:
    searching = desk.order("BOOKED", "ALLOTMENT_PENDING")
    coming = desk.order("BOOKED", "CALL_DRIVER")
    here = desk.order("BOOKED", "CLIENT_LOCATED")
    billed = desk.order("BOOKED", "INVOICE")
    second = desk.order("BOOKED", "CALL_DRIVER")
    desk.order("BOOKED", "INVOICE", "auto")
    desk.order("BOOKED", "IN_PROGRESS")
    desk.order("BOOKED", "COMPLETED")
    desk.order("BOOKED", "CALL_DRIVER", ride={"next_poll_at": None})
    desk.order("BOOKED", "CALL_DRIVER", prop="other")
    just, auto = desk.order("BOOKED", "IN_PROGRESS"), desk.order("BOOKED", "INVOICE", "auto")
    assert cars(desk) == [here, coming, second, searching, billed]
    for order_id in (just, auto):
        began(desk, order_id)
    began(desk, desk.order("BOOKED", "IN_PROGRESS"), "CALL_DRIVER")
    began(desk, desk.order("BOOKED", "IN_PROGRESS"), at=NOON)
    assert cars(desk) == [here, coming, second, searching, billed, just, auto]


def test_at_most_forty_are_read(desk: Desk) -> None:
    orders = [desk.order("BOOKED", "CALL_DRIVER") for _ in range(41)]
    assert cars(desk) == orders[:40]


def test_orders_with_a_ticket_have_its_number(desk: Desk) -> None:
    with_one, without, other = (desk.order("BOOKED") for _ in range(3))
    for number, order_id in ((7, with_one), (8, other)):
        facts = {"property_id": desk.ids["desk.property"], "day": "2026-05-04", "pin_hash": "x"}
        ticket = Ticket(order_id=order_id, number=number, **facts)
        desk.add(lambda s, ticket=ticket: s.add(ticket))
    with desk.services.db.read() as s:
        assert doors.ticket_numbers(s, [with_one, without]) == {with_one: 7}
        assert doors.ticket_numbers(s, []) == {}
