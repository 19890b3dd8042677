"""Abort, cancel, change of drop and feedback: exact answers and effects of each."""

import pytest

from ridedash.geo import LatLng, distance_m
from ridedash.sandbox import mint_token
from ridedash.sandbox.bookings.actions import _TOO_LATE
from ridedash.sandbox.bookings.create import NONE_HEADED, REFUSALS, SAME_PLACE
from tests.sandbox.sandbox_desk import HOTEL, PORT, SALT, bearer, far_drop, middle

ABORT, CANCEL = "/v1/bookings/abort", "/v1/bookings/cancel"
DROP, FEEDBACK = "/v1/bookings/drop_location", "/v1/bookings/feedback"
OPTIONS = "/v1.5/bookings/feedback/options"


def abort(desk, booking):
    return desk.post(ABORT, {"booking_id": booking}).json


def cancel(desk, booking):
    return desk.post(CANCEL, {"booking_id": booking, "reason": "Plans changed"}).json


def change_drop(desk, booking, drop):
    return desk.post(DROP, {"booking_id": booking, "drop_lat": drop[0], "drop_lng": drop[1]}).json


def cab(desk, booking):
    seen = desk.track(booking)
    return LatLng(seen["driver_lat"], seen["driver_lng"])


def other_drop():
    far = [place.position for place in PORT.places if distance_m(HOTEL, place.position) > 3000]
    return max(far, key=lambda place: distance_m(far_drop(), place))


@pytest.mark.parametrize("category", ["mini", "auto"])
def test_a_search_can_be_aborted_which_cancels_the_booking(desk, category):
    booking = desk.book(category)
    answer = abort(desk, booking)
    assert set(answer) == {"status", "message", "code"}
    assert (answer["status"], answer["code"]) == ("SUCCESS", "SUCCESS")
    assert set(desk.track(booking)) == {"status", "request_type", "booking_id", "booking_status"}
    assert desk.track(booking)["booking_status"] == "BOOKING_CANCELLED"


def test_an_auto_that_is_being_allotted_again_can_be_aborted(desk):
    desk.control("next", scenario="driver_cancels")
    booking = desk.book("auto")
    desk.until(booking, "ALLOTMENT_RETRYING")
    assert abort(desk, booking)["code"] == "SUCCESS"


def test_after_allotment_abort_fails_and_changes_nothing(desk):
    booking = desk.book("mini")
    desk.until(booking, "CALL_DRIVER")
    answer = abort(desk, booking)
    assert set(answer) == {"status", "code", "message"}
    assert (answer["status"], answer["code"]) == ("FAILURE", "BOOKING_ALLOTED")
    assert desk.track(booking)["booking_status"] == "CALL_DRIVER"


def test_a_second_abort_fails_with_booking_already_cancelled(desk):
    booking = desk.book("mini")
    abort(desk, booking)
    assert abort(desk, booking)["code"] == "BOOKING_ALREADY_CANCELLED"


@pytest.mark.parametrize(
    ("category", "status"),
    [("mini", "CALL_DRIVER"), ("mini", "CLIENT_LOCATED"), ("auto", "CALL_DRIVER")],
)
def test_a_ride_can_be_cancelled_until_it_starts(desk, category, status):
    booking = desk.book(category)
    desk.until(booking, status)
    answer = cancel(desk, booking)
    assert set(answer) == {"status", "request_type", "header", "text"}
    assert (answer["status"], answer["request_type"]) == ("SUCCESS", "BOOKING_CANCEL")
    assert answer["header"] == "SUCCESS"
    assert booking in answer["text"]
    assert desk.track(booking)["booking_status"] == "BOOKING_CANCELLED"


def test_cancelling_is_free_at_first_and_costs_the_policys_charge_later(desk):
    for wait, charge in ((3 * 60 + 30, False), (4 * 60 + 30, True)):
        booking = desk.book("suv")
        desk.until(booking, "CALL_DRIVER")
        desk.clock.advance(wait)
        assert ("INR 60" in cancel(desk, booking)["text"]) is charge


FREE_MINUTES = [("rental", HOTEL, 3), ("rental", SALT.center, 4), ("auto", HOTEL, 3)]


@pytest.mark.parametrize(("category", "pickup", "free"), FREE_MINUTES)
def test_the_charge_of_a_category_falls_due_while_the_driver_can_still_be_sent_away(
    desk, category, pickup, free
):
    booking = desk.book(category, pickup=pickup, drop=None)
    desk.until(booking, "CALL_DRIVER")
    desk.clock.advance(free * 60 + 10)
    policy = desk.products(pickup, category=category)["categories"][0]["cancellation_policy"]
    assert policy["cancellation_charge_applies_after_time"] == free
    text = cancel(desk, booking)["text"]
    assert f"{policy['currency']} {policy['cancellation_charge']} applies" in text


def test_the_free_time_counts_from_the_first_driver_although_another_one_comes(desk):
    desk.control("next", scenario="driver_leaves")
    booking = desk.book("auto")
    desk.until(booking, "CALL_DRIVER")
    desk.until(booking, "ALLOTMENT_RETRYING")
    desk.until(booking, "CALL_DRIVER")
    desk.clock.advance(60)
    assert "INR 15" in cancel(desk, booking)["text"]


@pytest.mark.parametrize(
    ("category", "status"),
    [
        ("mini", "ALLOTMENT_PENDING"),
        ("share", "INVOICE"),
        ("mini", "IN_PROGRESS"),
        ("auto", "COMPLETED"),
    ],
)
def test_cancelling_is_refused_before_allotment_and_after_the_start(desk, category, status):
    booking = desk.book(category)
    desk.until(booking, status)
    answer = cancel(desk, booking)
    assert (answer["status"], answer["request_type"]) == ("FAILURE", "BOOKING_CANCEL")
    assert answer["reason"] == "CANCELLATION_NOT_ALLOWED"
    assert answer["header"]
    assert answer["text"]
    assert desk.track(booking)["booking_status"] == status


def test_a_drop_changed_before_the_ride_is_where_it_ends(desk):
    booking = desk.book("mini")
    desk.until(booking, "CALL_DRIVER")
    answer = change_drop(desk, booking, other_drop())
    assert set(answer) == {"status", "request_type", "header", "text"}
    assert (answer["status"], answer["header"]) == ("SUCCESS", "SUCCESS")
    assert answer["request_type"] == "Update User Booking Drop Location"
    assert desk.track(booking)["drop_location"] == {
        "lat": other_drop().lat,
        "lng": other_drop().lng,
    }
    last = follow_to_the_end(desk, booking)
    assert distance_m(last, PORT.roads.snap(other_drop())) < 60


def follow_to_the_end(desk, booking):
    """The last position of the cab during the ride."""
    body = desk.until(booking, "IN_PROGRESS")
    while body["booking_status"] == "IN_PROGRESS":
        last = LatLng(body["driver_lat"], body["driver_lng"])
        desk.clock.advance(2)
        body = desk.track(booking)
    return last


def test_a_drop_changed_during_the_ride_continues_from_the_cab_and_is_billed_as_driven(desk):
    unchanged, changed = desk.book("suv"), desk.book("suv")
    desk.until(changed, "IN_PROGRESS")
    desk.clock.advance(90)
    before = desk.track(changed)
    assert change_drop(desk, changed, other_drop())["status"] == "SUCCESS"
    after = desk.track(changed)
    gap = distance_m(
        LatLng(before["driver_lat"], before["driver_lng"]),
        LatLng(after["driver_lat"], after["driver_lng"]),
    )
    assert gap < 5
    assert distance_m(follow_to_the_end(desk, changed), PORT.roads.snap(other_drop())) < 60
    assert (
        desk.until(changed, "COMPLETED")["price_details"]
        != desk.until(unchanged, "COMPLETED")["price_details"]
    )


def test_a_cab_that_stands_at_a_drop_nearby_sets_out_from_there_to_another_one(desk):
    near = (HOTEL[0] + 0.001, HOTEL[1])
    ride = desk.book("suv", drop=near)
    desk.until(ride, "IN_PROGRESS")
    desk.clock.advance(100)  # a ride takes two minutes at least
    here = cab(desk, ride)
    assert change_drop(desk, ride, other_drop())["status"] == "SUCCESS"
    assert distance_m(cab(desk, ride), here) < 1
    desk.clock.advance(3)
    assert distance_m(cab(desk, ride), here) < 3 * 20


def test_a_changed_drop_ends_an_upfront_price_but_a_shared_fare_stays(desk):
    upfront, shared = desk.book("mini"), desk.book("share", seats=1)
    fixed = desk.track(shared)["price_details"]
    locked = desk.until(upfront, "CALL_DRIVER")["price_details"]
    for booking in (upfront, shared):
        assert change_drop(desk, booking, other_drop())["status"] == "SUCCESS"
    assert desk.until(upfront, "COMPLETED")["price_details"] != locked
    assert desk.until(shared, "COMPLETED")["price_details"] == fixed


def test_a_drop_in_another_city_is_refused(desk):
    booking = desk.book("mini")
    answer = change_drop(desk, booking, SALT.center)
    assert set(answer) == {"status", "request_type", "header", "text"}
    assert (answer["status"], answer["header"]) == ("FAILURE", "Invalid Drop Location")
    assert answer["request_type"] == "Update User Booking Drop Location"


def refused_drop(desk, booking, drop):
    before = desk.track(booking)["drop_location"]
    answer = change_drop(desk, booking, drop)
    assert desk.track(booking)["drop_location"] == before
    assert (answer["status"], answer["header"]) == ("FAILURE", "Invalid Drop Location")
    return answer["text"]


@pytest.mark.parametrize("category", ["mini", "rental", "auto", "share"])
def test_a_new_drop_at_the_pickup_is_refused_as_create_does(desk, category):
    booking = desk.book(category)
    desk.until(booking, "CALL_DRIVER")
    if category == "auto":
        answer = change_drop(desk, booking, HOTEL)
        assert (answer["status"], answer["header"]) == ("FAILURE", "Invalid Drop Location")
        return
    assert refused_drop(desk, booking, HOTEL) == "Pickup and drop are the same place"


@pytest.mark.parametrize(
    ("ring", "words"),
    [
        (PORT.no_share_heading[0], "No cabs are headed toward your destination"),
        (PORT.unshareable[0], "Your destination is not appropriate for sharing a ride"),
    ],
    ids=["heading", "unshareable"],
)
def test_a_shared_ride_goes_to_no_new_drop_where_share_could_not_be_booked(desk, ring, words):
    shared, own = desk.book("share", seats=1), desk.book("suv")
    desk.until(own, "CALL_DRIVER")
    assert refused_drop(desk, shared, middle(ring)) == words
    assert change_drop(desk, own, middle(ring))["status"] == "SUCCESS"


@pytest.mark.parametrize("end", ["BOOKING_CANCELLED", "COMPLETED", "ALLOTMENT_FAILED"])
def test_the_drop_of_a_ride_that_ended_is_refused(desk, end):
    desk.control("next", scenario="no_cab" if end == "ALLOTMENT_FAILED" else "normal")
    booking = desk.book("auto")
    if end == "BOOKING_CANCELLED":
        abort(desk, booking)
    desk.until(booking, end)
    answer = change_drop(desk, booking, far_drop())
    assert (answer["status"], answer["header"]) == ("FAILURE", "Oops!")
    assert answer["request_type"] == "Update User Booking Drop Location"
    assert answer["text"]


def test_drop_and_feedback_require_a_json_content_type(desk):
    for path in (DROP, FEEDBACK):
        answer = desk.web.post(path, data=b"{}", headers=desk.headers, content_type="text/plain")
        assert (answer.status_code, answer.json["status"]) == (415, "FAILURE")


def test_feedback_is_accepted_once_the_ride_is_completed(desk):
    booking = desk.book("mini")
    body = {
        "booking_id": booking,
        "rating": 5,
        "feedback": "On-time pickup,Value for Money",
        "comments": "Good",
    }
    assert desk.post(FEEDBACK, body).json["status"] == "FAILURE"
    desk.until(booking, "COMPLETED")
    assert desk.post(FEEDBACK, body).json == {
        "status": "SUCCESS",
        "request_type": "BOOKING_FEEDBACK",
    }
    assert desk.ledger()[0]["rating"] == 5


@pytest.mark.parametrize("rating", [0, 6, "5", 4.5, True, None])
def test_a_rating_is_an_integer_from_one_to_five(desk, rating):
    booking = desk.book("mini")
    desk.until(booking, "COMPLETED")
    answer = desk.post(FEEDBACK, {"booking_id": booking, "rating": rating})
    assert (answer.status_code, answer.json["code"]) == (400, "BAD_REQUEST")


def test_feedback_options_are_those_of_the_document(desk):
    answer = desk.get(OPTIONS, category="rental", sub_category="micro").json
    assert answer["status"] == "SUCCESS"
    options = answer["driver_feedback_options"]
    assert list(options) == ["1", "2", "3", "4", "5"]
    assert (
        options["1"]
        == options["4"]
        == [
            "Delayed Pick up",
            "Driver Unprofessional",
            "Driver Untrained",
            "Unsafe Driving",
            "Car Quality",
            "Incorrect Billing",
            "Dropped at wrong location",
            "Not Value for Money",
        ]
    )
    assert options["5"] == [
        "Polite and professional driver",
        "On-time pickup",
        "Comfortable feature-rich car",
        "Driver familiar with the route",
        "Value for Money",
    ]


def test_feedback_options_of_rental_and_outstation_need_a_sub_category(desk):
    for category in ("rental", "outstation"):
        assert desk.get(OPTIONS, category=category).json["code"] == "BAD_REQUEST"
    assert desk.get(OPTIONS).json["code"] == "BAD_REQUEST"
    assert desk.get(OPTIONS, category="mini").json["status"] == "SUCCESS"
    assert desk.get(OPTIONS, category="hovercraft").json["code"] == "INVALID_CAR_CATEGORY"


@pytest.mark.parametrize("path", [ABORT, CANCEL, DROP, FEEDBACK])
def test_an_unknown_booking_and_one_of_another_user_fail_alike(desk, path):
    booking = desk.book("mini")
    desk.headers |= bearer(mint_token(desk.database, "due"))
    for each in (booking, "PT0000000000"):
        body = {
            "booking_id": each,
            "reason": "r",
            "drop_lat": HOTEL[0],
            "drop_lng": HOTEL[1],
            "rating": 3,
        }
        answer = desk.post(path, body)
        assert (answer.status_code, answer.json["status"]) == (404, "FAILURE")
        assert answer.json["code"] == "NO_BOOKING"


USERS_OWN = [
    *(("post", path) for path in ("/v1.5/bookings/create", ABORT, CANCEL, DROP, FEEDBACK)),
    *(("get", path) for path in ("/v1/bookings/track_ride", OPTIONS)),
]


@pytest.mark.parametrize(("method", "path"), USERS_OWN)
def test_every_operation_for_a_user_needs_the_partner_key_and_a_bearer(desk, method, path):
    call = getattr(desk.web, method)
    for headers, status, code in (
        (desk.headers | {"X-APP-TOKEN": "wrong"}, 403, "invalid_partner_key"),
        ({"Authorization": desk.headers["Authorization"]}, 403, "invalid_partner_key"),
        ({"X-APP-TOKEN": "partner-key"}, 401, "invalid_token"),
        (desk.headers | {"Authorization": "Bearer nobody"}, 401, "invalid_token"),
        (desk.headers | {"Authorization": "Basic abc"}, 401, "invalid_token"),
    ):
        answer = call(path, headers=headers)
        assert (answer.status_code, answer.json["code"]) == (status, code)
        assert answer.json["status"] == "FAILURE"


def test_unknown_paths_and_wrong_methods_are_json_failures(desk):
    for answer in (
        desk.web.get("/v2/anything"),
        desk.web.delete("/v1/products"),
        desk.web.get("/v1/bookings/abort"),
    ):
        assert answer.status_code in (404, 405)
        assert answer.json["status"] == "FAILURE"


def test_every_refusal_has_a_text_of_its_own() -> None:
    """A page that drops one of them can then be noticed."""
    texts = [text for _code, text in _TOO_LATE.values()]
    texts += [*REFUSALS.values(), SAME_PLACE, NONE_HEADED]
    assert len(texts) == len(set(texts)) > 9
