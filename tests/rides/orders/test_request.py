"""The row of a new order, and what an offer stores of a product's price."""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.orders.fields import FIELDS, BookingRequest
from ridedash.rides.orders.press import Part
from ridedash.rides.orders.request import (
    bill,
    build_order,
    new_group,
    new_reference,
    offered,
    ordered_value,
    request_digest,
    seat_prices,
)
from ridedash.service.types.bookings import NewBooking
from ridedash.service.types.products import ProductList
from ridedash.store.actors import by_kiosk, by_staff
from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest
from tests.rides.desk_world import request_of

MINI = {"id": "mini", "display_name": "Mini", "currency": "INR"}

FIXED: dict[str, Any] = {
    "category": "mini",
    "upfront": {"fare": 240, "fare_id": "f", "is_upfront_applicable": True},
}


@pytest.mark.parametrize(
    ("estimates", "stored"),
    [
        ([], {}),
        ([{"category": "mini", "amount_min": 210, "amount_max": 260}], {}),
        ([FIXED], {"": "240"}),
        ([FIXED | {"upfront": FIXED["upfront"] | {"is_upfront_applicable": False}}], {}),
    ],
)
def test_a_price_by_the_meter_is_not_stored_as_a_fixed_one(
    estimates: list[dict[str, Any]], stored: dict[str, str]
) -> None:
    answer = {"categories": [MINI], "ride_estimate": estimates}
    assert seat_prices(ProductList.from_wire(answer).products[0]) == stored


def test_a_ride_now_is_ready_with_its_guard_and_a_planned_one_waits_without() -> None:
    offer = Offer(id=1, category="mini", kind="point_to_point", product={})
    offer.pickup_lat, offer.pickup_lng, offer.drop_lat, offer.drop_lng = -38.5, -128.0, None, None

    noon = datetime(2026, 5, 4, 8, 30, tzinfo=UTC)

    def built(pickup_at: datetime | None) -> Order:
        request = BookingRequest(
            property_id=1,
            actor=by_staff(1),
            account_id=1,
            offer_id=1,
            form_token="token",
            guest_name="Guest Heron",
            pickup_at=pickup_at,
        )
        return build_order(Part(1, request), offer, Guest(id=1), "guard", "d", noon)

    now, planned = built(None), built(noon + timedelta(hours=2))
    assert (now.state, now.open, now.guard_key, now.ready_at) == ("READY", True, "guard", noon)
    assert (planned.state, planned.open, planned.guard_key) == ("SCHEDULED", False, None)
    assert (planned.tries, planned.due_at) == (0, noon + timedelta(minutes=100))


def offer_at(lat: float = -38.5, lng: float = -128.0, **facts: Any) -> Offer:
    given = {"id": 1, "category": "mini", "kind": "point_to_point", "product": {}}
    return Offer(pickup_lat=lat, pickup_lng=lng, **{**given, **facts})


def test_a_reference_and_a_group_can_be_read_out_and_are_never_the_same() -> None:
    references = {new_reference() for _ in range(50)}
    assert len(references) == 50
    assert all(re.fullmatch("RD-[0-9A-HJKMNP-TV-Z]{16}", each) for each in references)
    assert len({new_group() for _ in range(50)}) == 50
    assert len(new_group()) == 24


def test_a_digest_is_of_all_that_a_form_says_and_of_who_sent_it() -> None:
    same = request_digest(request_of())
    assert request_digest(request_of(form_token="another")) == same
    others = [
        request_of(note="two bags"),
        request_of(actor=by_staff(2)),
        request_of(actor=by_kiosk(1)),
        request_of(actor=by_kiosk(2)),
        request_of(second_to=(7,)),
    ]
    assert len({same, *map(request_digest, others)}) == 6


@pytest.mark.parametrize(
    ("estimate", "fare_id"),
    [
        (None, None),
        ({"amount_min": 210}, None),
        (FIXED, "f"),
        (FIXED | {"upfront": FIXED["upfront"] | {"is_upfront_applicable": False}}, None),
    ],
)
def test_a_fare_is_locked_where_the_price_is_fixed(
    estimate: dict[str, Any] | None, fare_id: str | None
) -> None:
    estimates = [] if estimate is None else [{"category": "mini", **estimate}]
    listed = ProductList.from_wire({"categories": [MINI], "ride_estimate": estimates})
    priced = offered(listed.products[0])
    assert (priced.fare_id, priced.price_text, priced.currency) == (fare_id, None, "INR")
    assert (priced.category, priced.kind, priced.display_name) == ("mini", "point_to_point", "Mini")


def test_a_shared_ride_has_a_price_for_each_number_of_seats_that_has_one() -> None:
    fares = [{"seats": 1, "cost": 96}, {"seats": 2}]
    share = {"id": "share", "display_name": "Share", "currency": "INR"}
    estimates = [{"category": "share", "fares": fares}]
    answer = {"categories": [share], "ride_estimate": estimates}
    assert seat_prices(ProductList.from_wire(answer).products[0]) == {"1": "96"}


def test_a_new_order_has_no_sender_and_is_billed_to_its_account() -> None:
    offer = offer_at(drop_lat=-38.6, drop_lng=-128.1, kind="share", category="share", fare_id="F")
    request = request_of(seats=2, coupon="STAY10")
    order = build_order(Part(2, request, "g"), offer, Guest(id=5), None, "d", datetime.now(UTC))
    assert (order.attempt, order.reauthorised, order.throttled, order.late_double) == (
        0,
        False,
        False,
        False,
    )
    assert (order.form_token, order.group_key, order.guest_id) == ("token.2", "g", 5)
    assert order.form_digest == "d"
    assert order.guard_override_by is None
    frozen = NewBooking.model_validate_json(order.body)
    assert (frozen.pickup, frozen.drop) == ((-38.5, -128.0), (-38.6, -128.1))
    assert (frozen.retry, frozen.seats, frozen.fare_id) == (True, 2, "F")
    assert (frozen.merchant_txn_id, frozen.coupon_code) == (order.mtx, "STAY10")
    before = order.body
    bill(order, None)
    assert order.body == before
    for uid in ("A", "B", None):
        bill(order, uid)
        assert NewBooking.model_validate_json(order.body).affiliate_uid == uid
        assert order.body_digest == hashlib.sha256(order.body.encode()).hexdigest()
    assert ordered_value(order, {each.name: each for each in FIELDS}["coupon"]) == "STAY10"
    offer.kind, offer.category, offer.drop_lng = "point_to_point", "mini", None
    alone = build_order(
        Part(1, request_of(override_guard=True)), offer, Guest(id=5), None, "d", datetime.now(UTC)
    )
    metered = NewBooking.model_validate_json(alone.body)
    assert (metered.retry, metered.drop, alone.guard_override_by) == (None, None, 1)
