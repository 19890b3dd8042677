"""Create booking: the three shapes of success, every failure, our own failure codes."""

from types import SimpleNamespace

import pytest

from ridedash.sandbox import mint_token
from ridedash.sandbox.bookings.create import _shared_scenario
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.trips import planner
from tests.sandbox.sandbox_desk import HOTEL, OCEAN, PORT, SALT, bearer, far_drop, middle

CREATE = "/v1.5/bookings/create"


def test_point_to_point_answers_with_an_id_a_message_and_the_timeout(desk):
    answer = desk.create("mini", merchant_txn_id="ORD-42")
    assert set(answer) == {
        "status",
        "booking_id",
        "message",
        "merchant_txn_id",
        "booking_timeout",
        "booking_timeout_unit",
    }
    assert answer["status"] == "SUCCESS"
    assert answer["booking_id"].isalnum()
    assert answer["merchant_txn_id"] == "ORD-42"
    assert answer["booking_timeout"] == 240
    assert answer["booking_timeout_unit"] == "SECONDS"


def test_merchant_txn_id_is_echoed_only_when_sent(desk):
    assert "merchant_txn_id" not in desk.create("suv")


def test_share_with_immediate_allotment_answers_with_status_and_booking_id_only(desk):
    answer = desk.create("share", seats=1)
    assert set(answer) == {"status", "booking_id"}
    assert desk.track(answer["booking_id"])["booking_status"] == "CALL_DRIVER"


def test_share_with_retry_answers_without_an_id_but_with_retry_and_txn_id(desk):
    desk.control("next", scenario="share_retry")
    answer = desk.create("share", seats="2", retry=True)
    assert answer["status"] == "SUCCESS"
    assert answer["booking_id"] is None
    assert answer["retry"]["booking_timeout"] == 240
    assert answer["retry"]["booking_timeout_unit"] == "SECONDS"
    assert answer["retry"]["next_retry_time"] == "2026-03-04T12:00:30+05:30"
    assert isinstance(answer["txn_id"], str)


def test_a_share_that_needs_a_retry_without_permission_finds_no_cab(desk):
    desk.control("next", scenario="share_retry")
    answer = desk.create("share", seats=1)
    assert answer == {"status": "FAILURE", "message": "No cabs are headed toward your destination"}


def test_seats_may_be_text_or_number_and_the_price_follows_them(desk):
    one = desk.until(desk.book("share", seats=1), "CALL_DRIVER")["price_details"]
    two = desk.until(desk.book("share", seats="2"), "CALL_DRIVER")["price_details"]
    assert two["fare"] > one["fare"]


@pytest.mark.parametrize("mode", ["now", "NOW"])
def test_pickup_mode_is_case_insensitive(desk, mode):
    assert desk.create("suv", pickup_mode=mode)["status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("change", "message", "code"),
    [
        ({"category": "hovercraft"}, "BOOKING_FAILED", "INVALID_CAR_CATEGORY"),
        ({"category": "micro"}, "BOOKING_FAILED", "INVALID_CAR_CATEGORY"),
        ({"pickup_lat": OCEAN[0], "pickup_lng": OCEAN[1]}, "BOOKING_FAILED", "INVALID_CITY"),
    ],
)
def test_an_invalid_category_or_city_fails_with_booking_failed_and_a_code(
    desk, change, message, code
):
    assert desk.post(CREATE, desk.payload("suv") | change).json == {
        "message": message,
        "code": code,
    }


def test_pickup_and_drop_at_the_same_place_are_refused(desk):
    answer = desk.create("suv", drop=HOTEL)
    assert (answer["status"], answer["code"]) == ("FAILURE", "SAME_PICKUP_DROP")
    assert answer["message"]


def test_a_drop_in_another_city_is_refused(desk):
    answer = desk.create("suv", drop=SALT.center)
    assert (answer["status"], answer["code"]) == ("FAILURE", "INVALID_DROP_LOCATION")
    assert desk.create("mini", drop=SALT.center)["code"] == "INVALID_DROP_LOCATION"


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("banned", "BANNED USER"),
        ("due", "OUTSTANDING_DUE"),
        ("pending", "PAYMENT_PENDING"),
        ("credit", "SVC_CREDIT_DUE"),
    ],
)
def test_users_who_may_not_book_are_refused_with_their_code(desk, user, code):
    desk.headers |= bearer(mint_token(desk.database, user))
    answer = desk.create("suv")
    assert (answer["status"], answer["code"]) == ("FAILURE", code)
    assert desk.ledger() == []


def test_an_account_billed_to_an_affiliate_books_with_its_uid_only(desk):
    desk.headers |= bearer(mint_token(desk.database, "affiliate"))
    for nothing in ({}, {"affiliate_uid": None}, {"affiliate_uid": ""}, {"affiliate_uid": "  "}):
        answer = desk.create("suv", **nothing)
        assert (answer["status"], answer["code"]) == ("FAILURE", "AFFILIATE_UID_REQUIRED")
        assert "affiliate_uid" in answer["message"]
    assert desk.ledger() == []
    assert desk.create("suv", affiliate_uid="guest-17")["status"] == "SUCCESS"
    assert [each["affiliate_uid"] for each in desk.ledger()] == ["guest-17"]


def test_the_two_share_failures_carry_a_message_and_no_code(desk):
    for rings, words in (
        (PORT.no_share_heading, "No cabs are headed toward your destination"),
        (PORT.unshareable, "Your destination is not appropriate for sharing a ride"),
    ):
        answer = desk.create("share", drop=middle(rings[0]), seats=1, retry=True)
        assert answer == {"status": "FAILURE", "message": words}


def test_an_upfront_category_needs_a_drop_and_the_fare_id_of_this_trip(desk):
    assert desk.create("mini", drop=None)["code"] == "DROP_REQUIRED"
    assert desk.create("mini", fare_id=None)["code"] == "FARE_ID_REQUIRED"
    assert desk.create("mini", fare_id="invented")["code"] == "INVALID_FARE_ID"
    other = desk.payload("prime")["fare_id"]
    assert desk.create("mini", fare_id=other)["code"] == "INVALID_FARE_ID"
    elsewhere = desk.payload("mini", drop=PORT.center)["fare_id"]
    assert desk.create("mini", fare_id=elsewhere)["code"] == "INVALID_FARE_ID"


def test_a_fare_id_is_valid_for_five_minutes_only(desk):
    payload = desk.payload("mini")
    desk.clock.advance(295)
    assert desk.post(CREATE, payload).json["status"] == "SUCCESS"
    desk.clock.advance(10)
    late = desk.post(CREATE, payload).json
    assert (late["status"], late["code"]) == ("FAILURE", "FARE_EXPIRED")


def test_a_fare_id_is_valid_for_the_same_wall_time_with_a_fast_clock(desk):
    desk.control("speed", speed=60)
    payload = desk.payload("mini")
    desk.clock.advance(295)
    assert desk.post(CREATE, payload).json["status"] == "SUCCESS"
    desk.clock.advance(10)
    assert desk.post(CREATE, payload).json["code"] == "FARE_EXPIRED"


def test_the_locked_price_is_the_price_of_the_invoice(desk):
    (estimate,) = desk.products(drop=far_drop(), category="mini")["ride_estimate"]
    price = desk.until(desk.book("mini"), "COMPLETED")["price_details"]
    total = price["fare"] + price["service_tax"] + price["toll_charges"] - price["discount_value"]
    assert total == pytest.approx(estimate["upfront"]["fare"])


def test_a_coupon_deducts_its_percentage_and_an_unknown_one_nothing(desk):
    price = desk.until(desk.book("suv", coupon_code="WELCOME10"), "COMPLETED")["price_details"]
    assert price["discount_percentage"] == 10
    assert price["discount_value"] == pytest.approx(price["fare"] / 10, abs=0.01)
    assert (
        desk.until(desk.book("suv", coupon_code="NO-SUCH"), "COMPLETED")["price_details"][
            "discount_value"
        ]
        == 0
    )


def test_the_same_create_twice_makes_two_bookings(desk):
    payload = desk.payload("suv", merchant_txn_id="ORD-1")
    first, second = desk.post(CREATE, payload).json, desk.post(CREATE, payload).json
    assert first["booking_id"] != second["booking_id"]
    assert [each["merchant_txn_id"] for each in desk.ledger()] == ["ORD-1", "ORD-1"]


def test_any_number_of_bookings_may_be_live_at_once(desk):
    assert len({desk.book("auto") for _ in range(12)}) == 12


def test_a_ride_for_later_is_refused_because_no_time_can_be_sent(desk):
    assert desk.create("suv", pickup_mode="later")["code"] == "RIDE_LATER_NOT_AVAILABLE"


@pytest.mark.parametrize(
    "change",
    [
        {"pickup_lat": None},
        {"pickup_lat": "-38.5"},
        {"pickup_lat": True},
        {"pickup_lat": 91.0},
        {"pickup_lng": -181},
        {"pickup_lng": 10**40},
        {"drop_lat": None},
        {"drop_lat": [1]},
        {"category": 7},
        {"category": ""},
        {"pickup_mode": "soon"},
        {"pickup_mode": None},
        {"payment_instrument_type": "gold"},
        {"merchant_txn_id": "under_score"},
        {"merchant_txn_id": "x" * 65},
        {"seats": 3},
        {"seats": "two"},
        {"seats": True},
        {"retry": "true"},
        {"fare_id": 12},
        {"coupon_code": "c" * 3000},
        {"affiliate_uid": "\ud800"},
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_booked(desk, change):
    answer = desk.post(CREATE, desk.payload("suv") | change)
    assert answer.status_code == 400
    assert (answer.json["status"], answer.json["code"]) == ("FAILURE", "BAD_REQUEST")
    assert any(word in answer.json["message"] for word in (*change, "pickup_lat", "drop_lat"))
    assert desk.ledger() == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b'{"pickup_lat": NaN}', 400),
        (b'{"pickup_lat": Infinity}', 400),
        (b'{"pickup_lat": 1e999}', 400),
        (b'{"pickup_lat": ' + b"1" * 6000 + b"}", 400),
        (b"\xff\xfe\x00", 400),
        (b"[" * 5000, 400),
        (b'{"a": "' + b"x" * 200_000 + b'"}', 413),
    ],
)
def test_a_body_that_is_not_a_json_object_is_a_json_failure(desk, body, status):
    answer = desk.web.post(CREATE, data=body, headers=desk.headers, content_type="application/json")
    assert answer.status_code == status
    assert answer.json["status"] == "FAILURE"


@pytest.mark.parametrize(
    ("scenario", "retry", "near", "chance", "played"),
    [
        (planner.NORMAL, False, True, 0.0, planner.SHARE_IMMEDIATE),
        (planner.NORMAL, True, True, 0.6, planner.SHARE_IMMEDIATE),
        (planner.NORMAL, True, True, 0.59, planner.SHARE_RETRY),
        (planner.NORMAL, True, False, 0.9, planner.SHARE_RETRY),
        (planner.SHARE_IMMEDIATE, True, True, 0.0, planner.SHARE_IMMEDIATE),
        (planner.SHARE_IMMEDIATE, True, False, 0.9, planner.SHARE_RETRY),
        (planner.SLOW_ALLOTMENT, True, True, 0.9, planner.SHARE_RETRY_SLOW),
        (planner.SHARE_RETRY_SLOW, True, False, 0.9, planner.SHARE_RETRY_SLOW),
        (planner.NO_CAB, True, True, 0.9, planner.SHARE_RETRY_FAIL),
        (planner.SHARE_RETRY_FAIL, True, True, 0.9, planner.SHARE_RETRY_FAIL),
        (planner.SHARE_RETRY, True, True, 0.9, planner.SHARE_RETRY),
    ],
)
def test_a_shared_ride_is_found_at_once_or_on_a_retry(scenario, retry, near, chance, played):
    rng = SimpleNamespace(random=lambda: chance)
    assert _shared_scenario(scenario, retry, near, rng) == played


@pytest.mark.parametrize("near", [True, False])
def test_without_a_retry_a_shared_ride_is_found_at_once_or_refused(near):
    rng = SimpleNamespace(random=lambda: 0.0)
    if near:
        assert _shared_scenario(planner.NORMAL, False, near, rng) == planner.SHARE_IMMEDIATE
    with pytest.raises(RequestRefusal):
        _shared_scenario(planner.NO_CAB if near else planner.NORMAL, False, near, rng)
