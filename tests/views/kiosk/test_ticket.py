"""What the ticket on a kiosk is told about its ride, in each state of each kind."""

from typing import Any

import pytest

from ridedash.service_time import REAL
from ridedash.store.orders import order_page
from ridedash.views.kiosk.ride_view import view_json
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database
KINDS = ("point_to_point", "share", "auto")
PHASES = {
    "ALLOTMENT_PENDING": "finding",
    "PENDING": "finding",
    "ALLOTMENT_RETRYING": "finding",
    "CALL_DRIVER": "coming",
    "CLIENT_LOCATED": "coming",
    "INVOICE": "coming",
    "IN_PROGRESS": "aboard",
    "COMPLETED": "over",
    "ALLOTMENT_FAILED": "none",
    "BOOKING_CANCELLED": "none",
}
STATES = {
    "READY": "open",
    "SENDING": "open",
    "MATCHING": "open",
    "UNKNOWN": "open",
    "REJECTED": "none",
    "NOT_SENT": "none",
    "FAILED": "none",
    "CLOSED_NOT_BOOKED": "none",
}


def told(desk: Desk, order_id: int) -> dict[str, Any]:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    with desk.app.test_request_context():
        return view_json(page, desk.now, REAL, "en")


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
    assert bool(view["meet"]) == (view["phase"] == "open")
