"""Pages foretell when time alone will change their words; a stored poll is sent until then."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.share_links import LinkKind
from ridedash.service_time import REAL
from ridedash.store.orders import OrderPage
from ridedash.views.board.rows import item
from ridedash.views.guest.view_model import guest_view
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.snapshot import expires_at
from ridedash.views.rides.view_model import ride_view
from tests.views.poll_cache.cases import cases, page_of
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
HORIZON = timedelta(days=1, hours=6)
INSIDE = (0.5, 31, 61, 121, 301, 1801)  # seconds
Shown = Callable[[Desk, OrderPage, datetime], tuple[Any, datetime | None]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("property"))
    yield made
    made.close()


def of_staff(desk: Desk, page: OrderPage, at: datetime) -> tuple[Any, datetime | None]:
    body = ride_view(page, at, REAL).as_json()
    if "timer" in body:
        del body["timer"]["text"]  # a running time, which the script counts itself
    return body, expires_at(page, at, REAL)


def of_rider(desk: Desk, page: OrderPage, at: datetime) -> tuple[Any, datetime | None]:
    return guest_view(page, LinkKind.RIDER, at, REAL, "en").as_json(), expires_at(page, at, REAL)


def of_follower(desk: Desk, page: OrderPage, at: datetime) -> tuple[Any, datetime | None]:
    return guest_view(page, LinkKind.FOLLOWER, at, REAL, "en").as_json(), expires_at(page, at, REAL)


def of_board(_desk: Desk, page: OrderPage, at: datetime) -> tuple[Any, datetime | None]:
    made = item(RideFacts(page, at, REAL, "en"), stale=False, paused=False)
    return (made.json, made.place[0], made.cab), made.expires


@pytest.mark.parametrize("shown", [of_staff, of_rider, of_follower, of_board])
def test_no_word_changes_before_the_instant_that_was_foretold(desk: Desk, shown: Shown) -> None:
    """Between two foretold instants the words stay the same."""
    for case in cases():
        page, at = page_of(desk, case), NOON
        with desk.app.test_request_context("/"):
            while at < NOON + HORIZON:
                before, expires = shown(desk, page, at)
                end = min(expires or NOON + HORIZON, NOON + HORIZON)
                assert end > at, (case, at)
                inside = [at + timedelta(seconds=each) for each in INSIDE]
                for later in [
                    *(each for each in inside if each < end),
                    end - timedelta(microseconds=1),
                ]:
                    assert shown(desk, page, later)[0] == before, (case, at, later, expires)
                at = end


def test_a_plate_that_was_swapped_is_shown_for_half_a_minute(desk: Desk) -> None:
    ride = {"swapped_at": NOON, "previous_plate": "KA01ZZ0001"}
    page = page_of(
        desk, ("BOOKED", "CALL_DRIVER", "point_to_point", {"ride": ride, "cancellation": None})
    )
    assert expires_at(page, NOON, REAL) == NOON + timedelta(seconds=30)
