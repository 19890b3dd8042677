"""Whose token is sent with a request for prices, and which prices are requested by category."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from ridedash.inputs import MAX_ID
from ridedash.store import accounts, properties
from tests.views.booking.test_pages import TRIP, Desk, cards, desk, filled

__all__ = ["desk"]
pytestmark = pytest.mark.database
OWN = {"Bearer token of the house", "Bearer token of the second"}


@pytest.fixture
def foreign(desk: Desk) -> str:
    """The id of an account of another property."""
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        row = accounts.add_account(
            s, services.vault, other.id, "Their account", "token of the others", desk.now
        )
        return str(row.id)


@pytest.fixture
def second(desk: Desk) -> str:
    """The id of the property's second account."""
    with desk.app.extensions["ridedash"].db.read() as s:
        return str(accounts.accounts_of(s, 1)[1].id)


def sent_tokens(desk: Desk) -> set[str]:
    """The `Authorization` values that the service received since the last call of this function."""
    received = {request.headers.get("Authorization") for request in desk.service.requests}
    desk.service.requests.clear()
    return {each for each in received if each}


def fetched(desk: Desk, account: str) -> int:
    return desk.client.get("/products.json", query_string=TRIP | {"account": account}).status_code


def shown_again(desk: Desk, account: str) -> int:
    """Press the page's button that asks for prices again. Returns the status of the answer."""
    form = filled(desk.page()) | {"pickup_for": ""}
    return desk.press(form, **TRIP, account=account, show="1").status_code


def refused_booking(desk: Desk, account: str) -> int:
    """Send an invalid form, which is shown again with fresh prices. Returns the status."""
    form = desk.form(category="share")
    desk.service.requests.clear()
    return desk.press(form, account=account, guest_name="").status_code


REQUESTS = [fetched, shown_again, refused_booking]


@pytest.mark.parametrize("request_prices", REQUESTS)
def test_the_token_of_another_property_is_never_sent(
    desk: Desk, foreign: str, request_prices: Callable[[Desk, str], int]
) -> None:
    assert request_prices(desk, foreign) in (200, 422)
    assert sent_tokens(desk) == {"Bearer token of the house"}


@pytest.mark.parametrize("request_prices", REQUESTS)
def test_the_chosen_account_of_the_property_is_the_one_whose_token_is_sent(
    desk: Desk, second: str, request_prices: Callable[[Desk, str], int]
) -> None:
    assert request_prices(desk, second) in (200, 422)
    assert sent_tokens(desk) == {"Bearer token of the second"}


@pytest.mark.parametrize("number", ["0", "-1", "99", str(MAX_ID + 1), "9" * 30, "x"])
def test_a_number_that_is_no_account_gets_prices_for_the_default_account(
    desk: Desk, number: str
) -> None:
    for request_prices in REQUESTS:
        assert request_prices(desk, number) in (200, 422), request_prices
        assert sent_tokens(desk) == {"Bearer token of the house"}, request_prices


def test_no_token_is_sent_for_an_account_that_the_property_has_removed(
    desk: Desk, second: str
) -> None:
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        row = accounts.account_of(s, 1, int(second))
        assert row is not None
        row.state = "removed"
    assert fetched(desk, second) == 200
    assert sent_tokens(desk) == {"Bearer token of the house"}


# ---- prices that come only for a request by category


def requested_alone(desk: Desk) -> list[str]:
    """The categories that were requested by name since the last call of this function."""
    queries = desk.service.questions("/products")
    desk.service.requests.clear()
    return sorted(each["category"] for each in queries if "category" in each)


@pytest.fixture
def silent(desk: Desk) -> Desk:
    """A desk whose service sends estimates for requests by category only."""
    desk.service.alone = True
    return desk


def test_a_fixed_price_that_the_list_lacks_is_requested_by_its_category(silent: Desk) -> None:
    page = silent.page(**TRIP, show="1")
    assert requested_alone(silent) == ["auto", "mini", "share", "suv"]
    assert "₹240" in cards(page)["mini"]
    offers = {offer.category: offer for offer in silent.offers()}
    assert (offers["mini"].fare_id, offers["mini"].seat_prices) == ("fare-1", {"": "240"})
    assert sent_tokens(silent) == set()


def test_the_token_goes_with_the_request_for_share_alone(silent: Desk) -> None:
    silent.page(**TRIP, show="1")
    with_token = [r.url.params.get("category") for r in silent.service.requests if bearer_of(r)]
    assert with_token == ["share"]


def bearer_of(request: httpx.Request) -> str | None:
    return request.headers.get("Authorization")


def test_without_a_drop_nothing_is_requested_by_category(silent: Desk) -> None:
    silent.page(show="1")
    assert requested_alone(silent) == []


def test_a_category_without_any_estimate_is_requested_once_for_a_trip(desk: Desk) -> None:
    desk.service.estimates.clear()
    page = desk.page(**TRIP, show="1")
    assert requested_alone(desk) == ["auto", "mini", "share", "suv"]
    assert "By the meter, no estimate" in cards(page)["mini"]
    desk.page(**TRIP, show="1")
    assert requested_alone(desk) == ["share"]
    desk.now += timedelta(minutes=11)
    desk.page(**TRIP, show="1")
    assert "mini" in requested_alone(desk)


def test_a_request_by_category_that_fails_costs_only_its_own_price(silent: Desk) -> None:
    silent.service.fails = {"suv"}
    page = silent.page(**TRIP, show="1")
    assert "By the meter, no estimate" in cards(page)["suv"]
    assert "₹240" in cards(page)["mini"]
