"""What the ticket on a kiosk is told about its ride, in each state of each kind."""

from typing import Any

import pytest

from ridedash.service_time import REAL
from ridedash.store.orders import OrderPage, OrderState, order_page
from ridedash.views.kiosk.ride_view import outcome, view_json
from ridedash.wire import KNOWN_STATUSES, Kind
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database
KINDS = ("point_to_point", "share", "auto")
PHASES = {
    "ALLOTMENT_PENDING": "finding",
    "PENDING": "finding",
    "ALLOTMENT_RETRYING": "finding",
    "SOFT_ALLOCATED": "finding",
    "CALL_DRIVER": "coming",
    "CLIENT_LOCATED": "coming",
    "INVOICE": "coming",
    "IN_PROGRESS": "aboard",
    "COMPLETED": "over",
    "ALLOTMENT_FAILED": "none",
    "BOOKING_CANCELLED": "none",
}
STATES = {
    "SCHEDULED": "planned",
    "WAITING": "planned",
    "READY": "open",
    "SENDING": "open",
    "MATCHING": "open",
    "UNKNOWN": "unknown",
    "REJECTED": "none",
    "NOT_SENT": "none",
    "FAILED": "none",
    "CLOSED_NOT_BOOKED": "none",
}


def shown(desk: Desk, order_id: int) -> OrderPage:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    return page


def told(desk: Desk, order_id: int) -> dict[str, Any]:
    with desk.app.test_request_context():
        return view_json(shown(desk, order_id), desk.now, REAL, "en")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", list(PHASES))
def test_the_phase_of_a_booking_and_its_meeting_place(desk: Desk, kind: str, status: str) -> None:
    view = told(desk, desk.order("BOOKED", status, kind))
    phase = "aboard" if (kind, status) == ("auto", "INVOICE") else PHASES[status]
    assert view["phase"] == phase
    assert bool(view["meet"]) == (phase in ("finding", "coming"))
    assert view["headline"]
    assert "is booked" not in view["headline"]


@pytest.mark.parametrize("state", list(STATES))
def test_the_phase_of_an_order(desk: Desk, state: str) -> None:
    view = told(desk, desk.order(state))
    assert view["phase"] == STATES[state]
    assert bool(view["meet"]) == (view["phase"] != "none")


def test_no_status_and_no_state_is_left_out() -> None:
    assert set(PHASES) == KNOWN_STATUSES
    assert set(STATES) == set(OrderState) - {OrderState.BOOKED}
    assert set(KINDS) == set(Kind)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("CALL_DRIVER", "booked"),
        ("ALLOTMENT_FAILED", "no_driver"),
        ("BOOKING_CANCELLED", "cancelled"),
    ],
)
def test_a_press_is_not_answered_that_a_ride_is_booked_once_it_has_ended(
    desk: Desk, status: str, state: str
) -> None:
    assert outcome(shown(desk, desk.order("BOOKED", status))).state == state


@pytest.mark.parametrize("status", ["ALLOTMENT_FAILED", "BOOKING_CANCELLED"])
def test_a_ride_that_came_to_nothing_says_where_its_guest_wanted_to_go(
    desk: Desk, status: str
) -> None:
    order_id = desk.order("BOOKED", status)
    view = told(desk, order_id)
    assert set(view["trip"]) == {"lat", "lng", "name"}
    assert view["replaced"] is False
    desk.order("READY", supersedes=order_id)
    view = told(desk, order_id)
    assert view["replaced"] is True
    assert view["detail"] == "Our desk has booked another car for you."
    coming = told(desk, desk.order("BOOKED", "CALL_DRIVER"))
    assert (coming["trip"], coming["replaced"]) == (None, False)
