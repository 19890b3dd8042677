"""Orders that guests make on a kiosk belong to this kiosk, and to no member of staff."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from ridedash.rides.actions import request
from ridedash.rides.actions.request import ActionResult
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import OfferUnknown, TokenReused, place
from ridedash.rides.orders.request import request_digest
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import Actor, by_kiosk, by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.kiosks import new_device, revoke
from ridedash.store.models.desk import Link
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.properties import add_property
from ridedash.views.rides.view_model import kiosk_words
from tests.rides.desk_world import DROP, PICKUP, World


def kiosk(world: World, property_id: int | None = None) -> Actor:
    with world.db.write() as s:
        home = property_id or world.property_id
        return by_kiosk(new_device(s, home, KioskKind.KIOSK, "Lobby", world.clock()).id)


def recorded(world: World, what: str) -> list[tuple[str, str]]:
    with world.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == what))
        return [(row.who, row.result) for row in rows]


def test_an_order_names_the_kiosk_and_no_member_of_staff(world: World) -> None:
    lobby = kiosk(world)
    order_id = world.place(actor=lobby)
    page = world.page(order_id)
    assert (page.order.staff_id, page.order.kiosk_id) == (None, lobby.id)
    assert recorded(world, "order.place") == [(f"kiosk:{lobby.id}", "READY")]
    assert kiosk_words(page) == "Kiosk Lobby"
    with world.worker() as worker:
        worker.step()
    page = world.page(order_id)
    assert (page.order.state, page.ride and page.ride.staff_id) == ("BOOKED", None)
    assert world.service.count("create") == 1


def test_two_presses_of_one_form_are_one_order_and_no_other_actor_can_use_it(world: World) -> None:
    lobby = kiosk(world)
    pressed = world.request(actor=lobby, form_token="the-visit")
    first, again = (place(world.db, world.clock, pressed) for _ in range(2))
    assert (first.order_id, first.created, again.created) == (again.order_id, True, False)
    with pytest.raises(TokenReused):
        world.place(actor=kiosk(world), form_token="the-visit", offer_id=pressed.offer_id)
    with pytest.raises(TokenReused):
        world.place(actor=world.actor, form_token="the-visit", offer_id=pressed.offer_id)


def test_an_offer_is_for_the_kiosk_that_showed_it_and_its_property(world: World) -> None:
    lobby = kiosk(world)
    with world.db.write() as s:
        owner = OfferOwner(world.property_id, lobby, world.account_id)
        trip = Trip(PICKUP, "Lobby", DROP, "Airport")
        priced = Priced("mini", "point_to_point", "Mini", "INR", "₹240", {"category": "mini"})
        made = add_offer(s, owner, trip, priced, world.clock())
        assert (made.staff_id, made.kiosk_id) == (None, lobby.id)
        other = add_property(s, "Other Hotel", "UTC", world.clock()).id
    with pytest.raises(OfferUnknown):
        world.place(actor=kiosk(world, other), property_id=other, offer_id=made.id)


def test_a_guest_cancels_on_any_kiosk_of_the_property_what_was_ordered_on_one(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    lobby, garden = kiosk(world), kiosk(world)
    with world.worker() as worker:
        order_id = world.book(worker, actor=lobby)
        world.clock.go(4)
        worker.step()
    assert request.cancel(world.runtime, order_id, garden, "guest left").outcome == "done"
    [action] = world.page(order_id).actions
    assert (action.staff_id, action.kiosk_id) == (None, garden.id)
    assert recorded(world, "ride.cancel") == [(f"kiosk:{garden.id}", "done")]


def test_a_kiosk_acts_on_no_ride_of_the_desk_and_on_none_of_another_property(world: World) -> None:
    nothing = ActionResult("not_now", "NOT_FOUND")
    with world.db.write() as s:
        other = add_property(s, "Other Hotel", "UTC", world.clock()).id
    lobby, theirs, gone = kiosk(world), kiosk(world, other), kiosk(world)
    with world.db.write() as s:
        revoke(s.get_one(Kiosk, gone.id), world.clock())
    desks, guests = world.place(), world.place(actor=lobby)
    assert request.cancel(world.runtime, desks, lobby, "x") == nothing
    assert not withdraw(world.db, world.clock, desks, lobby)
    for who in (theirs, gone, by_kiosk(999), by_staff(None), Actor(lobby.kind)):
        assert request.abort(world.runtime, guests, who) == nothing
        assert not withdraw(world.db, world.clock, guests, who)
    assert withdraw(world.db, world.clock, guests, lobby)
    assert world.state(guests) == "NOT_SENT"
    assert world.service.calls == []


def test_a_link_that_a_kiosk_makes_is_recorded_as_its_own(world: World) -> None:
    lobby = kiosk(world)
    order_id = world.place(actor=lobby)
    make_link(world.db, world.clock(), world.property_id, order_id, LinkKind.RIDER, lobby)
    with world.db.read() as s:
        assert [link.made_by for link in s.scalars(select(Link))] == [None]
    assert recorded(world, "link.made") == [(f"kiosk:{lobby.id}", "ok")]


def test_the_digest_of_a_form_of_staff_is_that_of_the_releases_before_kiosks() -> None:
    """A form sent again after an upgrade finds its order only if its digest is still the same."""
    pressed = BookingRequest(
        property_id=1,
        actor=by_staff(2),
        form_token="the-form",
        pickup_at=datetime(2026, 3, 5, 5, 10, tzinfo=UTC),
        offer_id=3,
        guest_name="Guest Heron",
        guest_room="412",
        account_id=4,
        cars=2,
    )
    before = "d435830c321873d8f1d8ec291793262140f95ba83b2b1a422080ecd87a6dbf5c"
    assert request_digest(pressed) == before
