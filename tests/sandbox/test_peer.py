"""An independent HTTP client, written from docs/service-interface.md only, over a real socket.

It books each kind and follows it to the end; control only moves the clock.
"""

import httpx
import pytest

from tests.sandbox.sandbox_desk import CONTROL, HOTEL, far_drop
from tests.sandbox.serving import waitress

DROP = far_drop()


class Peer:
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
def peer(desk):
    with (
        waitress(desk.app) as address,
        httpx.Client(base_url=address, headers=desk.headers) as session,
    ):
        yield Peer(session)


def statuses(story):
    return [status for status, _ in story]


def test_a_point_to_point_ride_by_its_upfront_price(peer):
    (estimate,) = peer.products("mini")["ride_estimate"]
    made = peer.create("mini", fare_id=estimate["upfront"]["fare_id"], merchant_txn_id="PEER-1")
    assert made["merchant_txn_id"] == "PEER-1"
    story = peer.follow(booking_id=made["booking_id"])
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
    peer.rate(made["booking_id"], "mini")


def test_a_rental(peer):
    assert peer.products("rental")["ride_estimate"] == {}
    made = peer.create("rental")
    assert statuses(peer.follow(booking_id=made["booking_id"]))[-1] == "COMPLETED"
    peer.rate(made["booking_id"], "rental", "micro")


def test_a_shared_ride_with_the_retry(peer):
    (estimate,) = peer.products("share")["ride_estimate"]
    peer.session.post("/control/next", json={"scenario": "share_retry"}, headers=CONTROL)
    made = peer.create("share", seats=2, retry=True)
    assert made["booking_id"] is None
    assert made["retry"]["booking_timeout_unit"] == "SECONDS"
    story = peer.follow(txn_id=made["txn_id"])
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
    peer.rate(story[-1][1]["booking_id"], "share")


def test_an_auto(peer):
    made = peer.create("auto", payment_instrument_type="cash")
    story = peer.follow(booking_id=made["booking_id"])
    assert statuses(story) == ["PENDING", "CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"]
    invoice, ended = dict(story)["INVOICE"]["trip_info"], story[-1][1]["trip_info"]
    assert ended["cash_paid"] == invoice["payable_amount"]


def test_a_ride_that_is_aborted_and_one_that_is_cancelled(peer):
    searching = peer.create("suv")["booking_id"]
    assert (
        peer.session.post("/v1/bookings/abort", json={"booking_id": searching}).json()["code"]
        == "SUCCESS"
    )
    assert statuses(peer.follow(booking_id=searching)) == ["BOOKING_CANCELLED"]
    coming = peer.create("suv")["booking_id"]
    peer.session.post("/control/advance", json={"seconds": 80}, headers=CONTROL)
    body = {"booking_id": coming, "reason": "Guest changed plans"}
    assert coming in peer.session.post("/v1/bookings/cancel", json=body).json()["text"]
    assert statuses(peer.follow(booking_id=coming)) == ["BOOKING_CANCELLED"]
