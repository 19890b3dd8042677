"""A second client of ours over a real socket, and two that send other shapes of a request.

The second client is written from docs/service-interface.md and shares nothing with `RideClient`;
but we wrote both, so both may misread the document. The second client books a ride of each kind
and follows it to its end; /control moves the clock and queues a scenario. The other two clients
send what published clients of such services send.
"""

import httpx
import pytest

from tests.sandbox.sandbox_desk import CONTROL, HOTEL, far_drop
from tests.sandbox.serving import waitress

DROP = far_drop()


class SecondClient:
    """A client of the operations as the interface's section Endpoints defines them."""

    def __init__(self, session):
        self.session = session

    def products(self, category):
        query = {
            "pickup_lat": HOTEL[0],
            "pickup_lng": HOTEL[1],
            "drop_lat": DROP[0],
            "drop_lng": DROP[1],
        }
        return self.session.get("/v1/products", params=query | {"category": category}).json()

    def create(self, category, **more):
        body = {
            "pickup_lat": HOTEL[0],
            "pickup_lng": HOTEL[1],
            "drop_lat": DROP[0],
            "drop_lng": DROP[1],
            "category": category,
            "pickup_mode": "now",
        }
        answer = self.session.post("/v1.5/bookings/create", json=body | more).json()
        assert answer["status"] == "SUCCESS", answer
        return answer

    def follow(self, **key):
        """Poll until the ride has ended. Returns [(status, first body with it)]."""
        story = []
        for _ in range(2000):
            body = self.session.get("/v1/bookings/track_ride", params=key).json()
            assert body["status"] == "SUCCESS", body
            if "booking_id" in body:
                key = {"booking_id": body["booking_id"]}
            if not story or story[-1][0] != body["booking_status"]:
                story.append((body["booking_status"], body))
            if body["booking_status"] in ("COMPLETED", "ALLOTMENT_FAILED", "BOOKING_CANCELLED"):
                return story
            self.session.post("/control/advance", json={"seconds": 15}, headers=CONTROL)
        raise AssertionError(story[-1])

    def rate(self, booking_id, category, sub_category=""):
        query = {"category": category, "sub_category": sub_category}
        options = self.session.get("/v1.5/bookings/feedback/options", params=query).json()[
            "driver_feedback_options"
        ]
        body = {"booking_id": booking_id, "rating": 5, "feedback": ",".join(options["5"][:2])}
        assert (
            self.session.post("/v1/bookings/feedback", json=body).json()["request_type"]
            == "BOOKING_FEEDBACK"
        )


@pytest.fixture
def client(desk):
    with (
        waitress(desk.app) as address,
        httpx.Client(base_url=address, headers=desk.headers) as session,
    ):
        yield SecondClient(session)


def statuses(story):
    return [status for status, _ in story]


def test_a_point_to_point_ride_by_its_upfront_price(client):
    (estimate,) = client.products("mini")["ride_estimate"]
    made = client.create("mini", fare_id=estimate["upfront"]["fare_id"], merchant_txn_id="SECOND-1")
    assert made["merchant_txn_id"] == "SECOND-1"
    story = client.follow(booking_id=made["booking_id"])
    assert statuses(story) == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]
    assert "otp" in dict(story)["CLIENT_LOCATED"]
    price = story[-1][1]["price_details"]
    total = price["fare"] + price["service_tax"] + price["toll_charges"] - price["discount_value"]
    assert total == pytest.approx(estimate["upfront"]["fare"])
    client.rate(made["booking_id"], "mini")


def test_a_rental(client):
    assert client.products("rental")["ride_estimate"] == {}
    made = client.create("rental")
    assert statuses(client.follow(booking_id=made["booking_id"]))[-1] == "COMPLETED"
    client.rate(made["booking_id"], "rental", "micro")


def test_a_shared_ride_with_the_retry(client):
    (estimate,) = client.products("share")["ride_estimate"]
    client.session.post("/control/next", json={"scenario": "share_retry"}, headers=CONTROL)
    made = client.create("share", seats=2, retry=True)
    assert made["booking_id"] is None
    assert made["retry"]["booking_timeout_unit"] == "SECONDS"
    story = client.follow(txn_id=made["txn_id"])
    assert statuses(story) == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
        "COMPLETED",
    ]
    price = story[-1][1]["price_details"]
    assert price["fare"] + price["service_tax"] == pytest.approx(estimate["fares"][1]["cost"])
    client.rate(story[-1][1]["booking_id"], "share")


def test_an_auto(client):
    made = client.create("auto", payment_instrument_type="cash")
    story = client.follow(booking_id=made["booking_id"])
    assert statuses(story) == ["PENDING", "CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"]
    invoice, ended = dict(story)["INVOICE"]["trip_info"], story[-1][1]["trip_info"]
    assert ended["cash_paid"] == invoice["payable_amount"]


def test_a_ride_that_is_aborted_and_one_that_is_cancelled(client):
    searching = client.create("suv")["booking_id"]
    assert (
        client.session.post("/v1/bookings/abort", json={"booking_id": searching}).json()["code"]
        == "SUCCESS"
    )
    assert statuses(client.follow(booking_id=searching)) == ["BOOKING_CANCELLED"]
    coming = client.create("suv")["booking_id"]
    client.session.post("/control/advance", json={"seconds": 80}, headers=CONTROL)
    body = {"booking_id": coming, "reason": "Guest changed plans"}
    assert coming in client.session.post("/v1/bookings/cancel", json=body).json()["text"]
    assert statuses(client.follow(booking_id=coming)) == ["BOOKING_CANCELLED"]


LOOSE = {  # what a client for another version of such a service may send
    "pickup_mode": "NOW",
    "seats": "1",
    "retry": False,
    "app_version": "4.2.0",
    "device": {"os": "android", "location": {"lat": 0, "lng": None}},
    "category_display_name": "Prime SUV",
    "pickup_time": None,
}


def test_a_client_that_writes_now_in_capitals_and_sends_keys_of_its_own_is_served(client):
    made = client.create("suv", **LOOSE)
    query = {"booking_id": made["booking_id"], "app_version": "4.2.0", "crn": "7"}
    body = client.session.get("/v1/bookings/track_ride", params=query).json()
    assert (body["status"], body["booking_status"]) == ("SUCCESS", "ALLOTMENT_PENDING")
    assert statuses(client.follow(booking_id=made["booking_id"]))[-1] == "COMPLETED"
    rated = {"booking_id": made["booking_id"], "rating": 4, "rating_text": "Good", "tags": []}
    answer = client.session.post("/v1/bookings/feedback", json=rated).json()
    assert answer["status"] == "SUCCESS"


def test_a_request_without_a_pickup_mode_is_refused_with_the_missing_field_named_and_books_nothing(
    client,
):
    body = {
        "pickup_lat": HOTEL[0],
        "pickup_lng": HOTEL[1],
        "category": "suv",
        "booking_type": "instant",
    }
    answer = client.session.post("/v1.5/bookings/create", json=body)
    assert (answer.status_code, answer.json()["status"]) == (400, "FAILURE")
    assert (answer.json()["code"], answer.json()["message"]) == (
        "BAD_REQUEST",
        "pickup_mode is required",
    )
    ledger = client.session.get("/control/ledger", headers=CONTROL).json()
    assert ledger["bookings"] == []
    assert client.create("suv")["booking_id"]
