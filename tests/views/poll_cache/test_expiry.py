"""When time alone turns a word of a ride's page: known beforehand, for an answer is remembered
until then.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from ridedash.store.orders import OrderPage, order_page
from ridedash.views.rides.snapshot import turns_at
from ridedash.views.rides.view_model import ride_view
from tests.views.ride_pages import ENDS, NOON, ORDER_STATES, STATUSES, Desk, make_desk

pytestmark = pytest.mark.database
SECONDS = [
    0.5,
    1,
    5,
    20,
    28.5,
    31,
    59,
    61,
    119,
    121,
    239,
    241,
    299,
    301,
    600,
    1700,
    1759,
    1801,
    3600,
    7200,
]
SOON = (NOON + timedelta(seconds=100)).isoformat()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("house"))
    yield made
    made.close()


def said(desk: Desk, page: OrderPage, at: datetime) -> dict[str, Any]:
    """What the page says at an instant; running times aside, which the script counts itself."""
    with desk.app.test_request_context("/"):
        body = ride_view(page, at, desk.services.settings).as_json()
    if "timer" in body:
        del body["timer"]["text"]
    return body


CASES = [
    *((state, None, "point_to_point", {}) for state in ORDER_STATES),
    *(
        ("BOOKED", status, kind, {})
        for kind, known in STATUSES.items()
        for status in [*known, *ENDS]
    ),
    *(
        ("BOOKED", end, "share", {"actions": [("cancel", "done", {})]})
        for end in [*ENDS, "CALL_DRIVER"]
    ),
    (
        "BOOKED",
        "CALL_DRIVER",
        "share",
        {"ride": {"swapped_at": NOON, "previous_plate": "KA01ZZ0001"}},
    ),
    (
        "BOOKED",
        "CALL_DRIVER",
        "auto",
        {"actions": [("drop", "done", {"payload": {"lat": -38.4, "lng": -127.9}})]},
    ),
    ("REJECTED", None, "share", {"next_retry": SOON}),
    ("MATCHING", None, "share", {"next_retry": SOON}),
    ("BOOKED", "ALLOTMENT_FAILED", "share", {"next_retry": SOON}),
]


def test_no_word_turns_before_the_instant_that_was_foretold(desk: Desk) -> None:
    for state, status, kind, facts in CASES:
        order_id = desk.order(state, status, kind, **facts)
        with desk.services.db.read() as s:
            page = order_page(s, desk.ids["desk.property"], order_id)
        assert page is not None
        before = said(desk, page, NOON)
        turn = turns_at(page, NOON, 1.0)
        for at in (NOON + timedelta(seconds=each) for each in SECONDS):
            assert said(desk, page, at) == before or (turn is not None and turn <= at), (
                state,
                status,
                kind,
                at,
                turn,
            )


def test_a_plate_that_was_swapped_turns_when_the_old_one_goes(desk: Desk) -> None:
    ride = {"swapped_at": NOON, "previous_plate": "KA01ZZ0001"}
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride=ride, cancellation=None)
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    assert turns_at(page, NOON, 1.0) == NOON + timedelta(seconds=30)
