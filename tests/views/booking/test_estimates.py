"""Whose token goes out with a request for prices: read from the log of the fake service."""

from collections.abc import Callable

import pytest

from ridedash.store import accounts, properties
from ridedash.store.database.database import MAX_ID
from tests.views.booking.test_pages import TRIP, Desk, desk, filled

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


def sent_tokens(desk: Desk) -> set[str]:
    """The values of `Authorization` that the service has received since the last call of this."""
    received = {request.headers.get("Authorization") for request in desk.service.asked}
    desk.service.asked.clear()
    return {each for each in received if each}


def fetched(desk: Desk, account: str) -> int:
    return desk.client.get("/products.json", query_string=TRIP | {"account": account}).status_code


def shown_again(desk: Desk, account: str) -> int:
    """The button of the page that asks for prices again."""
    form = filled(desk.page()) | {"pickup_for": ""}
    return desk.press(form, **TRIP, account=account, show="1").status_code


def refused_booking(desk: Desk, account: str) -> int:
    """A form that is not valid is shown again with fresh prices."""
    form = desk.form(category="share")
    desk.service.asked.clear()
    return desk.press(form, account=account, guest_name="").status_code


WAYS = [fetched, shown_again, refused_booking]


@pytest.mark.parametrize("way", WAYS)
def test_the_token_of_another_property_is_never_sent(
    desk: Desk, foreign: str, way: Callable[[Desk, str], int]
) -> None:
    assert way(desk, foreign) in (200, 422)
    assert sent_tokens(desk) == {"Bearer token of the house"}


@pytest.mark.parametrize("way", WAYS)
def test_the_chosen_account_of_the_property_is_the_one_whose_token_is_sent(
    desk: Desk, way: Callable[[Desk, str], int]
) -> None:
    assert way(desk, "2") in (200, 422)
    assert sent_tokens(desk) == {"Bearer token of the second"}


@pytest.mark.parametrize("number", ["0", "-1", "99", str(MAX_ID + 1), "9" * 30, "x"])
def test_a_number_that_is_no_account_gets_prices_for_the_default_account(
    desk: Desk, number: str
) -> None:
    for way in WAYS:
        assert way(desk, number) in (200, 422), way
        assert sent_tokens(desk) == {"Bearer token of the house"}, way


def test_no_token_is_sent_for_an_account_that_the_property_has_removed(desk: Desk) -> None:
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        row = accounts.account_of(s, 1, 2)
        assert row is not None
        row.state = "removed"
    assert fetched(desk, "2") == 200
    assert sent_tokens(desk) == {"Bearer token of the house"}
