"""The rows of the board, and the top bar of all staff pages."""

import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from ridedash.store.orders import Heartbeat
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def rows(browser: FlaskClient) -> list[tuple[int, str]]:
    body = browser.get("/board.json").json
    assert body is not None
    return [(row["id"], row["group"]) for row in body["rows"]]


def test_unknown_rides_come_first_then_attention_then_by_progress(
    desk: Desk, browser: FlaskClient
) -> None:
    done = desk.order("BOOKED", "COMPLETED", ride={"next_poll_at": None})
    riding = desk.order("BOOKED", "IN_PROGRESS")
    here = desk.order("BOOKED", "CLIENT_LOCATED")
    coming = desk.order("BOOKED", "CALL_DRIVER")
    searching = desk.order("BOOKED", "ALLOTMENT_PENDING")
    none = desk.order("BOOKED", "ALLOTMENT_FAILED")
    unknown = desk.order("UNKNOWN")
    assert rows(browser) == [
        (unknown, "unknown"),
        (none, "needs"),
        (here, "now"),
        (coming, "now"),
        (searching, "now"),
        (riding, "now"),
        (done, "done"),
    ]


@pytest.mark.parametrize(
    ("status", "facts", "why"),
    [
        ("ALLOTMENT_PENDING", {"in_state_s": 121}, "Long search"),
        ("CLIENT_LOCATED", {"in_state_s": 121}, "Driver is waiting"),
        ("CALL_DRIVER", {"ride": {"seen_at": NOON - timedelta(seconds=61)}}, "Not updating"),
        (
            "CALL_DRIVER",
            {"ride": {"previous_plate": "KA 1"}, "attention": ["car_swapped"]},
            "Car changed: now KA 01 AB 1234",
        ),
        (
            "CALL_DRIVER",
            {"late_double": True, "attention": ["late_double"]},
            "Two rides may exist for this guest",
        ),
    ],
)
def test_a_ride_that_needs_attention_shows_the_reason(
    desk: Desk, browser: FlaskClient, status: str, facts: dict[str, object], why: str
) -> None:
    desk.order("BOOKED", status, **facts)
    body = browser.get("/board.json").json
    assert body is not None
    assert (body["rows"][0]["group"], body["rows"][0]["why"]) == ("needs", why)


def test_a_refused_order_needs_attention_until_the_end_of_the_shift(
    desk: Desk,
) -> None:
    order_id = desk.order("REJECTED", resolved_at=NOON)
    desk.now = NOON + timedelta(hours=11, minutes=59)
    assert rows(desk.client()) == [(order_id, "needs")]
    desk.now = NOON + timedelta(hours=12, minutes=1)
    assert rows(desk.client()) == [(order_id, "done")]


def test_the_list_is_304_until_something_changes(desk: Desk, browser: FlaskClient) -> None:
    desk.order("BOOKED", "CALL_DRIVER")
    first = browser.get("/board.json")
    assert (
        browser.get("/board.json", headers={"If-None-Match": first.headers["ETag"]}).status_code
        == 304
    )
    desk.order("READY")
    assert (
        browser.get("/board.json", headers={"If-None-Match": first.headers["ETag"]}).status_code
        == 200
    )


def test_an_empty_list_explains_how_to_begin(browser: FlaskClient) -> None:
    text = browser.get("/").text
    assert "No rides yet today" in text
    assert 'href="/rides/new"' in text


def test_unknown_orders_are_pinned_with_count_and_age(desk: Desk, browser: FlaskClient) -> None:
    desk.order("UNKNOWN", age_s=130)
    other = desk.order("BOOKED", "CALL_DRIVER")
    for path in ("/", f"/rides/{other}"):
        assert "1 unknown · 2 min ago" in browser.get(path).text
    body = browser.get("/board.json?only=bar").json
    assert body is not None
    assert body["rows"] == []
    assert body["bar"]["unknown"] == 1


def test_rides_of_another_property_are_not_listed(desk: Desk, browser: FlaskClient) -> None:
    desk.order("BOOKED", "CALL_DRIVER", prop="other")
    desk.order("UNKNOWN", prop="other")
    body = browser.get("/board.json").json
    assert body is not None
    assert body["rows"] == []
    assert body["bar"]["unknown"] == 0


@pytest.mark.parametrize(("age_s", "stopped"), [(5, False), (31, True)])
def test_a_silent_worker_is_shown_on_every_page(
    desk: Desk, browser: FlaskClient, age_s: int, stopped: bool
) -> None:
    desk.now = NOON + timedelta(seconds=age_s)
    body = browser.get("/board.json?only=bar").json
    assert body is not None
    since = re.match(r"Live updates stopped at \d\d:\d\d\. Rides go on", body["bar"]["stopped"])
    assert bool(since) is bool(body["bar"]["stopped"]) is stopped
    band = browser.get("/").text.split("data-stopped-band")[1].split(">")[0]
    assert ("hidden" in band) is not stopped


def test_a_worker_that_never_ran_counts_as_stopped(desk: Desk, browser: FlaskClient) -> None:
    desk.add(lambda s: s.query(Heartbeat).delete())
    body = browser.get("/board.json?only=bar").json
    assert body is not None
    assert body["bar"]["stopped"].startswith("Live updates have not started")


def test_scripts_of_signed_out_pages_get_401(desk: Desk) -> None:
    answer = desk.client(signed_in=False).get("/board.json")
    assert answer.status_code == 401
    assert answer.mimetype == "application/json"
