"""Orders in every state, of every kind, with odd facts: cases for the tests of stored polls."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ridedash.store.orders import OrderPage, order_page
from tests.views.ride_pages import ENDS, NOON, ORDER_STATES, STATUSES, Desk

Case = tuple[str, str | None, str, dict[str, Any]]
SOON = (NOON + timedelta(seconds=100)).isoformat()
SWAPPED = {"swapped_at": NOON, "previous_plate": "KA01ZZ0001"}
STOPPED = {"actions": [("cancel", "done", {})]}
REFUSED = {
    "actions": [
        ("cancel", "refused", {"code": "X", "header": "No", "text": "Not now"}),
        ("abort", "armed", {}),
        ("feedback", "unconfirmed", {}),
        ("drop", "done", {"payload": {"lat": -38.4, "lng": -127.9, "name": "Pier"}}),
    ],
    "attention": ["car_swapped", "late_double", "driver_lost"],
    "late_double": True,
}


def cases() -> Iterator[Case]:
    """The state of an order, the status of its booking, its kind, and other facts."""
    for state in ORDER_STATES:
        yield state, None, "point_to_point", {}
    for kind, known in STATUSES.items():
        for status in [*known, *ENDS]:
            yield "BOOKED", status, kind, {}
            yield "BOOKED", status, kind, REFUSED
    for status in [*ENDS, "CALL_DRIVER"]:
        yield "BOOKED", status, "share", STOPPED
    yield "BOOKED", "CALL_DRIVER", "share", {"ride": SWAPPED}
    yield "BOOKED", "CALL_DRIVER", "point_to_point", {"ride": SWAPPED | {"reported": "ODD"}}
    yield "BOOKED", "CLIENT_LOCATED", "point_to_point", {"otp": "4821"}
    yield "REJECTED", None, "share", {"next_retry": SOON}
    yield "MATCHING", None, "share", {"next_retry": SOON}
    yield "BOOKED", "ALLOTMENT_FAILED", "share", {"next_retry": SOON}
    yield "SCHEDULED", None, "point_to_point", {"currency": None, "price_text": None}


def page_of(desk: Desk, case: Case) -> OrderPage:
    """Add the order of a case to the database, and read its page."""
    state, status, kind, facts = case
    order_id = desk.order(state, status, kind, **facts)
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    return page
