"""An order's page is read whole, with few statements."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, inspect

from ridedash.geo import LatLng
from ridedash.store import orders
from ridedash.store.actors import by_kiosk, by_staff
from ridedash.store.models.kiosks import Kiosk, Ticket
from ridedash.store.models.orders import Attention, OrderState, PathPoint
from ridedash.store.models.people import Staff
from ridedash.store.orders import (
    Offer,
    Order,
    OrderPage,
    RecentDrop,
    order_of_actor,
    order_of_form,
    order_of_staff,
    order_page,
    orders_by_ids,
    path_of,
    placed_by,
    recent_drops,
)
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database


@contextmanager
def selects(desk: Desk) -> Iterator[list[str]]:
    """The SELECT statements that run inside the block."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith("SELECT"):
            found.append(statement)

    event.listen(desk.services.db.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(desk.services.db.engine, "before_cursor_execute", note)


def read(desk: Desk, order_id: int) -> OrderPage:
    with desk.services.db.read() as s:
        found = order_page(s, desk.ids["desk.property"], order_id)
    assert found is not None
    return found


def test_an_order_about_which_nothing_was_done_or_raised_takes_two_statements(desk: Desk) -> None:
    facts = {"actions": [("cancel", "done", {})], "attention": ["car_swapped"]}
    other, order_id = (desk.order("BOOKED", "CALL_DRIVER", **each) for each in (facts, {}))
    again = desk.order("READY")
    with desk.services.db.write() as s:
        row = s.get_one(Order, again)
        row.supersedes = row.back_of = other
    with selects(desk) as statements:
        page = read(desk, order_id)
    assert len(statements) == 2
    assert (page.actions, page.attention, page.superseded_by, page.way_back) == ((), (), None, None)


def test_what_was_done_raised_and_booked_again_is_read_for_each_order_that_has_it(
    desk: Desk,
) -> None:
    quiet = desk.order("BOOKED", "CALL_DRIVER")
    acted = desk.order("BOOKED", "CALL_DRIVER", actions=[("cancel", "done", {})])
    noted = desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    again, back = desk.order("READY"), desk.order("READY")
    desk.add(lambda s: setattr(s.get(Order, again), "supersedes", acted))
    desk.add(lambda s: setattr(s.get(Order, back), "back_of", noted))
    ids = [quiet, acted, noted, again, back]
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], ids)
    assert [page.order.id for page in pages] == ids
    assert [[each.name for each in page.actions] for page in pages] == [[], ["cancel"], [], [], []]
    assert [[each.name for each in page.attention] for page in pages] == [
        [],
        [],
        ["car_swapped"],
        [],
        [],
    ]
    assert [page.superseded_by for page in pages] == [None, again, None, None, None]
    assert [page.way_back for page in pages] == [None, None, back, None, None]


def test_a_cleared_attention_item_is_no_longer_read(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    (item,) = read(desk, order_id).attention
    desk.add(lambda s: setattr(s.merge(item), "cleared_at", desk.now))
    with selects(desk) as statements:
        assert read(desk, order_id).attention == ()
    assert len(statements) == 2, "and no statement reads it"


def test_items_of_other_orders_are_not_read(desk: Desk) -> None:
    desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    loaded: list[int] = []

    def note(item: Attention, _context: Any) -> None:
        loaded.append(item.order_id)

    event.listen(Attention, "load", note)
    try:
        read(desk, order_id)
    finally:
        event.remove(Attention, "load", note)
    assert loaded == [order_id]


def test_of_two_orders_that_book_one_again_the_newer_one_is_named(desk: Desk) -> None:
    first, second, third = (desk.order("REJECTED") for _ in range(3))
    with desk.services.db.write() as s:
        for again in (second, third):
            s.get_one(Order, again).supersedes = first
    assert read(desk, first).superseded_by == third


def test_a_list_lacks_the_product_unless_its_price_is_worded_from_it(desk: Desk) -> None:
    with_price = [desk.order("BOOKED", kind="share"), desk.order("BOOKED", price_text="")]
    without = [desk.order("BOOKED"), desk.order("BOOKED", price_text=None)]
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], with_price + without, light=True)
        lacking = [inspect(page.offer).unloaded for page in pages]
        assert [set(each) for each in lacking] == [{"product"}, {"product"}, set(), set()]
        assert all({"body", "evidence"} <= set(inspect(p.order).unloaded) for p in pages)
        [whole] = orders_by_ids(s, desk.ids["desk.property"], with_price[:1])
        assert not inspect(whole.order).unloaded


def test_orders_are_read_in_the_property_they_are_of(desk: Desk) -> None:
    order_id, other = desk.order("BOOKED"), desk.order("BOOKED", prop="other")
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], [other, 10**6, order_id])
        assert [page.order.id for page in pages] == [order_id]
        assert order_page(s, desk.ids["desk.property"], other) is None


def test_an_order_of_a_kiosk_has_its_name_and_the_number_of_its_ticket(desk: Desk) -> None:
    with_ticket, without, staffs = (desk.order("BOOKED") for _ in range(3))
    home = {"property_id": desk.ids["desk.property"]}
    with desk.services.db.write() as s:
        s.add_all(
            Kiosk(id=n, kind="kiosk", name=f"Lobby {n}", made_at=NOON, **home) for n in (1, 2)
        )
        s.flush()
        s.get_one(Order, with_ticket).kiosk_id = 1
        s.get_one(Order, without).kiosk_id = 2
        s.add(Ticket(order_id=with_ticket, number=7, day="2026-05-04", pin_hash="x", **home))
        s.add(Ticket(order_id=staffs, number=8, day="2026-05-04", pin_hash="x", **home))
    with desk.services.db.read() as s:
        ids = [with_ticket, without, staffs]
        pages = orders_by_ids(s, home["property_id"], ids)
        assert [page.kiosk for page in pages] == [("Lobby 1", 7), ("Lobby 2", None), None]
        assert [placed_by(page.order) for page in pages] == [
            by_kiosk(1),
            by_kiosk(2),
            by_staff(desk.ids["desk"]),
        ]
        assert orders.kiosk_tags(s, [pages[2].order]) == {}


def test_an_order_knows_its_number_in_its_group_and_its_series(desk: Desk) -> None:
    ids = [desk.order("BOOKED") for _ in range(4)]
    with desk.services.db.write() as s:
        for order_id, group, series in zip(ids, ("g", None, "g", "h"), "ttst", strict=True):
            row = s.get_one(Order, order_id)
            row.group_key, row.series_key = group, series
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], ids)
    assert [page.car for page in pages] == [(1, 2), None, (2, 2), (1, 1)]
    assert [page.series for page in pages] == [(1, 3), (2, 3), (1, 1), (3, 3)]


def test_staff_act_on_orders_of_their_property_and_admins_on_each(desk: Desk) -> None:
    mine, theirs = desk.order("READY"), desk.order("READY", prop="other")
    with desk.services.db.write() as s:
        staff = desk.ids["desk"]
        found = order_of_staff(s, mine, staff)
        assert found is not None
        assert found.id == mine
        assert order_of_staff(s, theirs, staff) is None
        assert order_of_staff(s, 10**6, staff) is None
        assert order_of_staff(s, mine, 10**6) is None
        assert order_of_staff(s, mine, staff, [OrderState.READY, OrderState.BOOKED]) is found
        assert order_of_staff(s, mine, staff, [OrderState.BOOKED]) is None
        assert order_of_actor(s, mine, by_staff(staff)) is found
        assert order_of_actor(s, theirs, by_staff(staff)) is None
        assert order_of_actor(s, mine, by_staff(None)) is None
        s.get_one(Staff, staff).role = "admin"
        other = order_of_staff(s, theirs, staff)
        assert other is not None
        assert other.id == theirs


def test_guests_on_a_kiosk_act_on_what_was_ordered_on_one_of_its_property(desk: Desk) -> None:
    booked, staffs = desk.order("READY"), desk.order("READY")
    theirs = desk.order("READY", prop="other")
    with desk.services.db.write() as s:
        facts = {"kind": "kiosk", "name": "Lobby", "made_at": NOON}
        home = desk.ids["desk.property"]
        s.add_all(Kiosk(id=n, property_id=home, **facts) for n in (1, 2))
        s.get_one(Order, booked).kiosk_id = 2
        s.get_one(Order, theirs).kiosk_id = 2
        s.flush()
        found = order_of_actor(s, booked, by_kiosk(1))
        assert found is not None
        assert found.id == booked
        for order_id in (staffs, theirs, 10**6):
            assert order_of_actor(s, order_id, by_kiosk(1)) is None
        assert order_of_actor(s, booked, by_kiosk(9)) is None
        assert order_of_actor(s, booked, by_kiosk(1), [OrderState.BOOKED]) is None
        s.get_one(Kiosk, 1).revoked_at = NOON
        assert order_of_actor(s, booked, by_kiosk(1)) is None
        s.flush()
        form = found.form_token
        assert order_of_form(s, form) is found
        assert order_of_form(s, "none") is None


def test_the_last_drops_of_a_property_have_a_name_a_place_and_how_long_it_took(desk: Desk) -> None:
    for name in ("first", "second"):
        desk.order("BOOKED", drop_name=name, drop_lat=3.0, drop_lng=4.0)
    desk.order("BOOKED", drop_name=None)
    desk.order("BOOKED", drop_lat=None)
    desk.order("BOOKED", drop_lng=None)
    desk.order("BOOKED", prop="other")
    with desk.services.db.write() as s:
        home = desk.ids["desk.property"]
        offer = s.query(Offer).filter_by(drop_name="second").one()
        offer.product = {"estimate": {"travel_time": {"seconds": 540}}}
        offer.pickup_lat = 1.5
        s.flush()
        drop, usual = LatLng(3.0, 4.0), LatLng(-38.5, -128.0)
        second = RecentDrop("second", drop, LatLng(1.5, -128.0), 540)
        assert recent_drops(s, home, 5) == [second, RecentDrop("first", drop, usual, None)]
        assert recent_drops(s, home, 4) == [second]


def test_the_path_of_a_cab_is_its_own_since_the_guest_got_it(desk: Desk) -> None:
    order_id, other = desk.order("BOOKED"), desk.order("BOOKED")
    points = [LatLng(-38.5 + n % 2 / 10, -128.0 + n / 10) for n in range(3)]
    minute = timedelta(minutes=1)
    with desk.services.db.write() as s:
        for n, point in enumerate(points):
            at = NOON + n * minute
            s.add(PathPoint(order_id=order_id, at=at, lat=point.lat, lng=point.lng))
            s.flush()
        s.add(PathPoint(order_id=other, at=NOON, lat=0.0, lng=0.0))
        s.flush()
        assert path_of(s, order_id, None) == points
        assert path_of(s, order_id, NOON + minute) == points[1:]
        assert path_of(s, order_id, NOON + 3 * minute) == []
