"""What counts as telling the guest their plate, and when a lost driver has to be told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.rides.state.transitions import add_event
from ridedash.rides.tracking.told import told_plate
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Attention, Order, Ride
from tests.views.ride_pages import NOON, Desk, make_desk, token

pytestmark = pytest.mark.database
PLATE = "KA01AB1234"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    return desk.client()


def post(client: FlaskClient, path: str, **form: Any) -> None:
    assert client.post(path, data={"csrf_token": token(client), **form}).status_code < 400


def message(desk: Desk, client: FlaskClient, order_id: int) -> None:
    post(client, f"/rides/{order_id}/messages", how="copy", text="Your car")


def card(desk: Desk, client: FlaskClient, order_id: int) -> None:
    post(client, f"/rides/{order_id}/card")


def guest_told(desk: Desk, client: FlaskClient, order_id: int) -> None:
    post(client, f"/rides/{order_id}/acknowledge", item="car_swapped")


def made(desk: Desk, order_id: int, kind: str) -> str:
    at, house = desk.now, desk.ids["desk.property"]
    who = by_staff(desk.ids["desk"])
    return f"/t/{make_link(desk.services.db, at, house, order_id, LinkKind(kind), who)}"


def own_page(desk: Desk, client: FlaskClient, order_id: int) -> None:
    link = made(desk, order_id, "rider")
    assert desk.client(signed_in=False).get(f"{link}/snapshot.json").status_code == 200


def preview(desk: Desk, client: FlaskClient, order_id: int) -> None:
    assert desk.client(signed_in=False).get(made(desk, order_id, "rider")).status_code == 200


def follower(desk: Desk, client: FlaskClient, order_id: int) -> None:
    link = made(desk, order_id, "follower")
    assert desk.client(signed_in=False).get(f"{link}/snapshot.json").status_code == 200


def link_made(desk: Desk, client: FlaskClient, order_id: int) -> None:
    post(client, f"/rides/{order_id}/links/rider")


def known(desk: Desk, order_id: int) -> str | None:
    with desk.services.db.read() as s:
        return told_plate(s, order_id)


def open_items(desk: Desk, order_id: int) -> set[str]:
    with desk.services.db.read() as s:
        found = s.query(Attention).filter_by(order_id=order_id, cleared_at=None)
        return {each.name for each in found}


TELLS = [message, card, guest_told, own_page]
TELLS_NOTHING = [preview, follower, link_made]


@pytest.mark.parametrize("act", TELLS)
def test_a_guest_who_was_shown_the_plate_knows_it(
    desk: Desk, client: FlaskClient, act: Any
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with desk.services.db.read() as s:
        plate = s.query(Ride).filter_by(order_id=order_id).one().facts["vehicle_number"]
    assert known(desk, order_id) is None
    for _ in range(2):  # once is enough
        act(desk, client, order_id)
    assert known(desk, order_id) == plate


@pytest.mark.parametrize("act", TELLS_NOTHING)
def test_a_link_that_no_guest_has_open_tells_no_plate(
    desk: Desk, client: FlaskClient, act: Any
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=["driver_lost"])
    act(desk, client, order_id)
    assert known(desk, order_id) is None
    assert open_items(desk, order_id) == {"driver_lost"}


@pytest.mark.parametrize("act", TELLS)
def test_no_plate_is_told_before_there_is_a_car(desk: Desk, client: FlaskClient, act: Any) -> None:
    order_id = desk.order("BOOKED", "ALLOTMENT_PENDING")
    act(desk, client, order_id)
    assert known(desk, order_id) is None


@pytest.mark.parametrize("act", TELLS)
@pytest.mark.parametrize("item", ["driver_lost", "car_swapped"])
def test_telling_the_new_plate_ends_what_had_to_be_told(
    desk: Desk, client: FlaskClient, act: Any, item: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=[item])
    act(desk, client, order_id)
    assert open_items(desk, order_id) == set()


def test_the_plate_of_a_lost_driver_is_known_no_longer(desk: Desk, client: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    message(desk, client, order_id)

    def lose(s: Session) -> None:
        add_event(s, s.get_one(Order, order_id), "event", "driver_lost", NOON)

    desk.add(lose)
    assert known(desk, order_id) is None
