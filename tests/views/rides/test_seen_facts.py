"""What was sent or came, and nobody saw: coupon, affiliate id, hand-over, plates, passengers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.share_links import LinkKind, make_link
from ridedash.rides.tracking.merge import DRIVER_LOST
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Order, TimelineEvent
from ridedash.store.models.people import Staff
from tests.views.ride_pages import NOON, Desk, compact, make_desk, snapshot_facts

pytestmark = pytest.mark.database
PLATE = "Forget the old number plate"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    yield made
    made.close()


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def sent(desk: Desk, order_id: int, **body: Any) -> None:
    desk.add(lambda s: setattr(s.get_one(Order, order_id), "body", json.dumps(body)))


def ride(browser: FlaskClient, order_id: int) -> str:
    return compact(browser.get(f"/rides/{order_id}").text)


@pytest.mark.parametrize("state", ["SCHEDULED", "BOOKED", "REJECTED"])
def test_the_coupon_that_was_sent_stands_on_the_ride_and_its_receipt(
    desk: Desk, browser: FlaskClient, state: str
) -> None:
    order_id = desk.order(state, "COMPLETED" if state == "BOOKED" else None)
    assert "Coupon" not in ride(browser, order_id)
    sent(desk, order_id, coupon_code="GUEST-10")
    assert '<bdi data-from="coupon">GUEST-10</bdi>' in ride(browser, order_id)
    assert "GUEST-10" in browser.get(f"/rides/{order_id}/receipt").text


@pytest.mark.parametrize("body", ["", "[]", "no json", '{"coupon_code": 5}'])
def test_a_body_that_can_not_be_read_costs_no_page(
    desk: Desk, browser: FlaskClient, body: str
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")
    desk.add(lambda s: setattr(s.get_one(Order, order_id), "body", body))
    assert browser.get(f"/rides/{order_id}").status_code == 200


def test_who_is_billed_for_a_ride_is_for_managers(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")
    sent(desk, order_id, affiliate_uid="HOUSE-7")
    assert "HOUSE-7" not in ride(browser, order_id)
    desk.add(lambda s: setattr(s.get_one(Staff, desk.ids["desk"]), "role", "manager"))
    page = ride(desk.client(), order_id)
    assert '<bdi data-from="affiliate">HOUSE-7</bdi>' in page


@pytest.mark.parametrize("seen", [False, True])
def test_only_a_plate_that_somebody_saw_is_to_be_forgotten(
    desk: Desk, browser: FlaskClient, seen: bool
) -> None:
    order_id, s = desk.order("BOOKED", "ALLOTMENT_RETRYING", "auto"), desk.services
    home = desk.ids["desk.property"]

    def lost(db: Any) -> None:
        row = TimelineEvent(property_id=home, order_id=order_id, what="event", at=NOON)
        row.name, row.detail = DRIVER_LOST, None
        db.add(row)

    if seen:
        desk.add(lost)
    link = make_link(s.db, NOON, home, order_id, LinkKind.RIDER, by_staff(desk.ids["desk"]))
    for page in (ride(browser, order_id), browser.get(f"/t/{link}").text):
        assert (PLATE in page) is seen
    assert "Happens at most once per ride." in ride(browser, order_id)


@pytest.mark.parametrize(("status", "shown"), [("IN_PROGRESS", True), ("COMPLETED", False)])
def test_fellow_passengers_are_those_of_the_first_news_and_go_with_the_ride(
    desk: Desk, browser: FlaskClient, status: str, shown: bool
) -> None:
    facts = snapshot_facts("share", status, passengers=["Rider Wren"])
    order_id = desk.order("BOOKED", status, "share", ride={"facts": facts})
    snapshot = browser.get(f"/rides/{order_id}/snapshot.json").get_json()
    assert ("passengers" in snapshot) is shown
    page = ride(browser, order_id)
    assert "In the car when the driver accepted" in page
    assert "may have left since" in page


@pytest.mark.parametrize(
    ("message", "said"), [("Matched on your way", "“Matched on your way”"), ("SUCCESS", "")]
)
def test_the_words_of_a_hand_over_are_quoted_for_staff(
    desk: Desk, browser: FlaskClient, message: str, said: str
) -> None:
    facts = snapshot_facts("share", "CALL_DRIVER", message=message)
    order_id = desk.order("BOOKED", "CALL_DRIVER", "share", ride={"facts": facts}, txn_id="T1")
    snapshot = browser.get(f"/rides/{order_id}/snapshot.json").get_json()
    assert said in snapshot.get("said_create", "")
    assert ("said_create" in snapshot) is bool(said)
