"""The receipt: the service's lines for each kind, our sum if it differs, text without a price."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.store.models.desk import CostCentre
from ridedash.store.orders import Order, Ride
from tests.views.ride_pages import (
    ENDS,
    NOON,
    ORDER_STATES,
    STATUSES,
    Desk,
    compact,
    make_desk,
    without_tokens,
)

pytestmark = pytest.mark.database

CASES = [(kind, status) for kind, statuses in STATUSES.items() for status in [*statuses, *ENDS]]
WITHOUT_BILL = {
    "ALLOTMENT_FAILED": "No driver found. No ride, nothing to pay to a driver.",
    "BOOKING_CANCELLED": "Cancelled. This ride is over.",
}


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    return shared_desk


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def receipt(browser: FlaskClient, order_id: int) -> str:
    answer = browser.get(f"/rides/{order_id}/receipt")
    assert answer.status_code == 200
    return answer.text.split("<article")[1].split("</article>")[0]


def lines(text: str) -> list[tuple[str, str]]:
    return re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+)</td>', compact(text))


def bill(desk: Desk, order_id: int, **trip: Any) -> None:
    with desk.services.db.write() as s:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.facts = {**ride.facts, "trip": {**ride.facts["trip"], **trip}}


@pytest.mark.parametrize(("kind", "status"), CASES)
def test_every_status_has_a_receipt_or_a_reason_for_none(
    desk: Desk, browser: FlaskClient, kind: str, status: str
) -> None:
    text = receipt(browser, desk.order("BOOKED", status, kind))
    assert "Not a tax invoice." in text
    assert "<bdi>Guest Heron</bdi> · <bdi>room 412</bdi>" in text
    assert (WITHOUT_BILL.get(status, "No bill yet") in text) == (lines(text) == [])
    assert ("not final" in text) == (bool(lines(text)) and status != "COMPLETED")


@pytest.mark.parametrize("state", ORDER_STATES)
def test_every_order_state_has_its_text(desk: Desk, browser: FlaskClient, state: str) -> None:
    text = receipt(browser, desk.order(state))
    assert lines(text) == []
    assert 'class="strong"' in text


@pytest.mark.parametrize("kind", ["point_to_point", "share"])
def test_a_fare_without_a_total_is_added_up_and_marked(
    desk: Desk, browser: FlaskClient, kind: str
) -> None:
    text = receipt(browser, desk.order("BOOKED", "COMPLETED", kind))
    assert lines(text) == [
        ("Fare", "₹210.00"),
        ("Service tax", "₹18.50"),
        ("Tolls", "₹35.00"),
        ("Discount (10 %)", "−₹23.50"),
        ("Total", "₹240.00"),
    ]
    assert "Total: the sum of the lines above." in text
    assert "Pays by: Cash, to the driver" in text


def test_an_auto_has_its_meter_lines_and_what_was_paid(desk: Desk, browser: FlaskClient) -> None:
    text = receipt(browser, desk.order("BOOKED", "COMPLETED", "auto"))
    assert lines(text) == [
        ("Meter fare", "₹181"),
        ("Convenience charge", "₹15"),
        ("Discount", "−₹10"),
        ("Paid in cash", "₹186"),
    ]
    assert "Night charge included" in text
    assert "add up to" not in text


@pytest.mark.parametrize(
    ("payment", "words"),
    [
        ("cash", "Pay the driver what the meter shows."),
        ("svc_money", "Paid from our ride wallet, not to the driver."),
        (None, "Paid from our ride wallet, not to the driver."),
    ],
)
def test_a_receipt_without_amounts_says_once_how_the_ride_is_paid(
    desk: Desk, browser: FlaskClient, payment: str | None, words: str
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", "auto", payment=payment)
    with desk.services.db.write() as s:
        row = s.query(Ride).filter(Ride.order_id == order_id).one()
        trip = {"billing_enabled": False, "convenience_charge": "15"}
        row.facts = {**row.facts, "trip": trip}
    text = receipt(browser, order_id)
    assert text.count(words) == 1
    assert ("meter shows" in text) == (payment == "cash")
    assert "line by line" not in text
    assert lines(text)[-1] == ("Convenience charge", "₹15")
    assert "42.5" not in text


def test_a_receipt_before_the_payment_says_that_the_ride_is_over(
    desk: Desk, browser: FlaskClient
) -> None:
    assert "The ride is not over" not in receipt(browser, desk.order("BOOKED", "INVOICE", "auto"))
    assert "The ride is not over" in receipt(browser, desk.order("BOOKED", "INVOICE", "share"))


def test_our_sum_is_shown_beside_the_services_total_only_when_it_differs(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "INVOICE", "auto")
    assert "add up to" not in receipt(browser, order_id)
    bill(desk, order_id, payable_amount="190")
    text = receipt(browser, order_id)
    assert "The lines add up to ₹186; the ride company&#39;s total is ₹190." in text
    assert ("To pay", "₹190") in lines(text)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({"text": "x", "at": "2026-05-04T08:12:00Z"}, "4 May 2026, 13:42"),
        ({"text": "about noon", "at": None}, "about noon"),
    ],
)
def test_the_receipt_has_the_services_time_of_the_pickup(
    desk: Desk, browser: FlaskClient, sent: dict[str, Any], shown: str
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", "auto")
    assert "Picked up" not in receipt(browser, order_id)
    with desk.services.db.write() as s:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.facts = {**ride.facts, "pickup_time": sent}
    text = compact(receipt(browser, order_id))
    assert re.search(rf'>Picked up</dt><dd[^>]* data-from="picked_up"><bdi>{shown}', text)


def test_the_balance_of_the_account_is_not_on_the_receipt(desk: Desk, browser: FlaskClient) -> None:
    text = receipt(browser, desk.order("BOOKED", "COMPLETED", "auto"))
    assert "42.5" not in text
    assert "alance" not in text


def test_the_receipt_has_guest_places_times_and_car_and_no_phone(
    desk: Desk, browser: FlaskClient
) -> None:
    text = receipt(browser, desk.order("BOOKED", "COMPLETED"))
    for words in (
        "Grand Meridian Hotel",
        "Ride receipt",
        "4 May 2026, 13:59 +0530",
        "Grand Meridian Hotel, main door",
        "Meridian Airport, Departures",
        "Driver Cedar",
        "KA 01 AB 1234",
        "CRN0",
        "GMH-20260504",
    ):
        assert words in text, words
    assert "12345" not in without_tokens(text)
    assert "Two suitcases" not in text


def test_the_cost_centre_is_on_the_receipt(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")
    with desk.services.db.write() as s:
        row = CostCentre(property_id=desk.ids["desk.property"], name="Banquets", closed_at=None)
        s.add(row)
        s.flush()
        s.get(Order, order_id).cost_centre_id = row.id
    assert "Banquets" in receipt(browser, order_id)


def test_a_cancelled_ride_shows_its_possible_fee(desk: Desk, browser: FlaskClient) -> None:
    text = receipt(browser, desk.order("BOOKED", "BOOKING_CANCELLED"))
    assert lines(text) == []
    assert "Cancelled" in text
