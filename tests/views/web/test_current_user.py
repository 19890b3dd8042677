"""Where somebody is led after signing in: a page of this site that a browser can open, or home."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.views.web.current_user import (
    form_page,
    page_address,
    safe_next,
    sign_in_address,
)
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(Path(tmp_path_factory.mktemp("desk")))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("target", "safe"),
    [
        ("/rides/7", True),
        ("/history?room=4&page=2", True),
        ("/history?q=" + "x" * (500 - 11), True),
        ("/history?q=" + "x" * (501 - 11), False),
        ("/history?q=a b", False),
        ("//evil.example", False),
        ("/\\evil.example", False),
        ("https://evil.example/", False),
        ("/no/such/page", False),
        ("/rides/7/cancel", False),
        ("", False),
        (None, False),
    ],
)
def test_only_a_page_of_this_site_that_opens_is_led_to(
    desk: Desk, target: str | None, safe: bool
) -> None:
    with desk.app.test_request_context("/"):
        assert safe_next(target) == (target if safe else "/")


@pytest.mark.parametrize(
    ("path", "method", "page", "sign_in"),
    [
        ("/", "GET", "/", "/sign-in"),
        ("/rides/7", "GET", "/rides/7", "/sign-in?next=%2Frides%2F7"),
        ("/history?room=4", "GET", "/history?room=4", "/sign-in?next=%2Fhistory%3Froom%3D4"),
        ("/rides/7/cancel", "POST", "/rides/7", "/sign-in?next=%2Frides%2F7"),
        ("/rides/new", "POST", "/rides/new", "/sign-in?next=%2Frides%2Fnew"),
        ("/sign-out", "POST", "/", "/sign-in"),
    ],
)
def test_a_page_has_an_address_to_come_back_to_also_after_a_form(
    desk: Desk, path: str, method: str, page: str, sign_in: str
) -> None:
    with desk.app.test_request_context(path, method=method):
        assert page_address() == page
        assert sign_in_address() == sign_in


def test_the_page_of_a_form_is_that_of_its_ride(desk: Desk) -> None:
    for path, page in (("/rides/12/drop", "/rides/12"), ("/rides/new", "/rides/new"), ("/x", "")):
        with desk.app.test_request_context(path, method="POST"):
            assert form_page() == page
