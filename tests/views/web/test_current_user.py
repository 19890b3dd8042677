"""Where a user is led after signing in: a page of this site that a browser can open, or home."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import g, request, session
from flask_login import login_user

from ridedash.store.actors import by_staff
from ridedash.store.models.people import Staff
from ridedash.store.sign_ins import open_sign_in
from ridedash.views.web.current_user import (
    KNOWN_SIGN_IN,
    SignedIn,
    by_staff_key,
    current_sign_in,
    current_staff,
    form_page,
    load_staff,
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


def test_who_is_not_signed_in_is_redirected_to_the_sign_in_page_and_a_script_gets_an_error(
    desk: Desk,
) -> None:
    browser = desk.client(signed_in=False)
    answer = browser.get("/history?room=4")
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        "/sign-in?next=%2Fhistory%3Froom%3D4",
    )
    answer = browser.get("/history", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json) == (
        401,
        {"error": "signed_out", "message": "You are signed out."},
    )


def test_a_sign_in_is_the_copy_of_its_row_and_is_looked_up_once(desk: Desk) -> None:
    with desk.services.db.write() as s:
        staff = s.get_one(Staff, desk.ids["desk"])
        sid = open_sign_in(s, staff.id, desk.now)
        staff.language = "de"
    for known, found in ((sid, True), (sid[:-1], False), (7, False), (None, False)):
        with desk.app.test_request_context("/"):
            if known is not None:
                session["sid"] = known
            person = load_staff(request)
            assert (person is not None) is found
            if person is None:
                assert request.environ.get(KNOWN_SIGN_IN) is None
                continue
            assert person == SignedIn(
                staff.id, staff.property_id, "Concierge desk", "concierge", "de", None
            )
            assert person.actor == by_staff(staff.id)
            login_user(person)
            assert (current_staff().id, by_staff_key()) == (staff.id, f"staff-{staff.id}")
            assert current_sign_in().expires_at == desk.now + timedelta(hours=12)
            session.clear()
            assert load_staff(request) == person, "it is not read again"
            g.error_page = True
            del request.environ[KNOWN_SIGN_IN]
            session["sid"] = sid
            assert load_staff(request) is None, "the database may be what failed"
