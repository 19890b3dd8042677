"""Where a ride without a drop ended, and the service's own points, on each page that has a trip."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Staff
from tests.views.ride_pages import Desk, compact, make_desk, token

pytestmark = pytest.mark.database
NO_DROP: dict[str, Any] = {"drop_lat": None, "drop_lng": None, "drop_name": None}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get_one(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def over(desk: Desk, name: str | None = "Old Fort Road, Harbour", **facts: Any) -> int:
    """A completed ride that was booked without a drop; `name`: the address found for its end."""
    order_id = desk.order("BOOKED", "COMPLETED", **NO_DROP | facts)

    def rows(s: Any) -> None:
        order = s.get_one(Order, order_id)
        order.ended_as, order.happens_at = "COMPLETED", order.created_at
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.end_lat, ride.end_lng, ride.end_name = -38.48, -127.97, name

    desk.add(rows)
    return order_id


def exported(browser: FlaskClient) -> list[dict[str, str]]:
    answer = browser.post("/history.csv", data={"csrf_token": token(browser)})
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Old Fort Road, Harbour", "Old Fort Road, Harbour"), (None, "-38.48000, -127.97000")],
)
def test_the_end_is_on_the_ride_its_receipt_the_history_and_the_export(
    desk: Desk, browser: FlaskClient, name: str | None, shown: str
) -> None:
    order_id = over(desk, name)
    ride = compact(browser.get(f"/rides/{order_id}").text)
    assert f'<bdi data-slot="drop.name">{shown}</bdi>' in ride
    assert shown in browser.get(f"/rides/{order_id}/receipt").text
    history = compact(browser.get("/history").text)
    assert f'<span class="cell-to two-lines"><bdi>{shown}</bdi>' in history
    [row] = exported(browser)
    assert (row["drop"], row["drop_lat"], row["drop_lng"]) == (name or "", "-38.48", "-127.97")
    assert (row["service_pickup_lat"], row["service_drop_lng"]) == ("-38.5", "-127.97")


def test_the_end_stands_on_the_page_before_its_address_is_found(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", **NO_DROP)
    page = compact(browser.get(f"/rides/{order_id}").text)
    assert '<bdi data-slot="drop.name">-38.48000, -127.97000</bdi>' in page


def test_during_the_ride_no_end_is_claimed(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "IN_PROGRESS", **NO_DROP)
    page = compact(browser.get(f"/rides/{order_id}").text)
    assert "The guest tells the driver" in page


def test_the_services_own_points_stand_beside_ours_with_their_distance(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", drop_lat=-38.47)
    points = "-38.50000, -128.00000 – -38.48000, -127.97000 (1.1 km from ours)"
    assert points in compact(browser.get(f"/rides/{order_id}").text)
    before = desk.order("BOOKED", "ALLOTMENT_PENDING", ride={"facts": {}})
    assert "Points of the ride company" not in browser.get(f"/rides/{before}").text
