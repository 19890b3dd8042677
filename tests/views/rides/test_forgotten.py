"""A page of a ride that a restored database does not have says so, and does nothing."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.orders.after_restore import declare
from ridedash.store import restores
from ridedash.store.database.numbers import SHIFT, SINCE
from ridedash.store.models.orders import Order
from tests.views.ride_pages import NOON, Desk, compact, token

pytestmark = pytest.mark.database
BACKUP = NOON - timedelta(hours=2)


def number_of(at: datetime) -> int:
    """A row number that was given out at that time, and that no row has."""
    return (int(at.timestamp()) - SINCE << SHIFT) + 77


LOST = number_of(NOON - timedelta(hours=1))


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    declare(desk.services.db, desk.services.clock, BACKUP)
    return desk.client()


def pressed(client: FlaskClient, path: str) -> Any:
    return client.post(path, data={"csrf_token": token(client), "reason": "x", "confirm": "1"})


@pytest.mark.parametrize(
    "path",
    [
        "/rides/{}",
        "/rides/{}/card",
        "/rides/{}/receipt",
        "/groups/{}",
        "/groups/{}/cancel",
        "/series/{}",
    ],
)
def test_a_page_of_a_lost_ride_says_so_in_a_sentence_with_a_way_back(
    client: FlaskClient, path: str
) -> None:
    answer = client.get(path.format(LOST))
    page = compact(answer.text)
    assert answer.status_code == 409
    assert "The database was restored to an earlier moment. Nothing was done." in page
    assert 'href="/restored"' in page
    assert 'class="btn btn-primary" href="/"' in page


@pytest.mark.parametrize(
    "action",
    [
        "cancel",
        "abort",
        "drop",
        "feedback",
        "withdraw",
        "restore",
        "release",
        "start",
        "ordered",
        "reopen",
        "stop-following",
        "acknowledge",
        "again",
        "code",
        "resolve/booked",
        "resolve/not-booked",
        "messages",
        "card",
        "links/rider",
        "links/follower",
        "links/end",
    ],
)
def test_a_button_of_a_lost_ride_is_refused_with_409(client: FlaskClient, action: str) -> None:
    assert pressed(client, f"/rides/{LOST}/{action}").status_code == 409


def test_a_script_gets_the_sentence_as_json(client: FlaskClient) -> None:
    for path in ("snapshot.json", "path.json"):
        answer = client.get(f"/rides/{LOST}/{path}", headers={"Accept": "application/json"})
        assert answer.status_code == 409
        assert answer.get_json()["error"] == "This is not in the database any more"


def test_the_board_says_that_its_chosen_ride_is_lost(client: FlaskClient) -> None:
    body = client.get(f"/board.json?ride={LOST}").get_json()
    assert body["forgotten"] == (
        "This is not in the database any more The database was restored to an earlier moment. "
        "Nothing was done."
    )
    assert "forgotten" not in client.get("/board.json?ride=7").get_json()
    assert "forgotten" not in client.get("/board.json").get_json()


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (number_of(BACKUP - timedelta(hours=1)), 404),  # the database remembers that time
        (number_of(NOON + timedelta(hours=2)), 404),  # not yet given to any row
        (7, 404),  # of an early release
        (2**63 - 1, 404),
    ],
)
def test_a_number_of_a_time_that_the_database_knows_leads_nowhere(
    client: FlaskClient, number: int, status: int
) -> None:
    assert client.get(f"/rides/{number}").status_code == status


def test_a_ride_of_another_property_is_no_lost_one(client: FlaskClient, desk: Desk) -> None:
    theirs = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    assert client.get(f"/rides/{theirs}").status_code == 404


def test_before_a_worker_notices_the_restore_the_page_is_lost_all_the_same(desk: Desk) -> None:
    def last_seen(s: Any) -> None:
        restores.watermark(s).beat_at = BACKUP

    browser = desk.client()
    assert browser.get(f"/rides/{LOST}").status_code == 404
    desk.add(last_seen)
    assert browser.get(f"/rides/{LOST}").status_code == 409


def test_a_person_without_a_sign_in_is_led_to_it(client: FlaskClient, desk: Desk) -> None:
    answer = desk.app.test_client().get(f"/rides/{LOST}")
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in")


def test_an_order_that_is_taken_up_again_has_the_address_that_it_had(
    client: FlaskClient, desk: Desk
) -> None:
    row = {
        "mtx": "RD-LOST",
        "number": LOST,
        "property_id": desk.ids["desk.property"],
        "account_id": desk.ids["desk.account"],
        "category": "mini",
        "attempt": 1,
        "sent_at": NOON - timedelta(hours=1),
        "outcome": None,
        "listed_at": NOON,
        "closed_at": None,
    }
    desk.add(lambda s: restores.list_lost(s, [row]))
    answer = client.post(
        "/restored/take-up",
        data={"csrf_token": token(client), "reference": "RD-LOST", "guest": "Guest Heron"},
    )
    assert answer.headers["Location"] == f"/rides/{LOST}"
    with desk.services.db.read() as s:
        assert s.get_one(Order, LOST).mtx == "RD-LOST"
    assert client.get(f"/rides/{LOST}").status_code == 200
