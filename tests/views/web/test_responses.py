"""Responses: the requests that get JSON, and redirects for forms of earlier releases."""

import pytest
from flask import Flask

from ridedash.store.models.people import Staff
from ridedash.store.orders import Order
from ridedash.views.web.current_user import page_address
from ridedash.views.web.responses import wants_json
from tests.views.ride_pages import NOON, Desk, token

pytestmark = pytest.mark.database


@pytest.mark.parametrize(
    ("path", "accept", "json"),
    [
        ("/rides/1", "application/json", True),
        ("/rides/1", "application/json, text/html;q=0.5", True),
        ("/rides/1", "text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("/rides/1", "text/html, application/json;q=0.9", False),
        ("/rides/1", "*/*", False),
        ("/rides/1", None, False),
        ("/board.json", "*/*", True),
        ("/board.json", "text/html", True),
    ],
)
def test_json_is_for_json_addresses_and_for_scripts_that_prefer_it(
    path: str, accept: str | None, json: bool
) -> None:
    headers = {"Accept": accept} if accept else {}
    with Flask("answers").test_request_context(path, headers=headers):
        assert wants_json() is json


FORWARDED = [
    ("rides/{order}/resolve", "booked", "rides/{order}/resolve/booked"),
    ("rides/{order}/resolve", "not_booked", "rides/{order}/resolve/not-booked"),
    ("rides/{order}/resolve", "", "rides/{order}/resolve/not-booked"),
    ("rides/{order}/resolve", "seen", "rides/{order}/acknowledge"),
    ("rides/{order}/resolve", "stop", "rides/{order}/stop-following"),
    ("rides/{order}/resolve", "reopen", "rides/{order}/reopen"),
    ("rides/{order}/links", "rider", "rides/{order}/links/rider"),
    ("rides/{order}/links", "follower", "rides/{order}/links/follower"),
    ("rides/{order}/links", "end", "rides/{order}/links/end"),
    ("admin/staff/{staff}", "role", "admin/staff/{staff}/role"),
    ("admin/staff/{staff}", "disable", "admin/staff/{staff}/disable"),
    ("admin/staff/{staff}", "enable", "admin/staff/{staff}/enable"),
    ("admin/staff/{staff}", "sign_out", "admin/staff/{staff}/sign-out"),
    ("admin/staff/{staff}", "password", "admin/staff/{staff}/password-link"),
    ("admin/accounts/{account}", "default", "admin/accounts/{account}/default"),
    ("admin/accounts/{account}", "remove", "admin/accounts/{account}/remove"),
]


@pytest.mark.parametrize(("before", "what", "now"), FORWARDED)
def test_a_form_of_an_earlier_release_is_redirected_to_its_own_route(
    desk: Desk, before: str, what: str, now: str
) -> None:
    ids = rows(desk)
    client = desk.client()
    form = {"csrf_token": token(client), "what": what}
    answer = client.post("/" + before.format(**ids), data=form)
    assert (answer.status_code, answer.headers["Location"]) == (307, "/" + now.format(**ids))


@pytest.mark.parametrize("address", ["rides/{order}/links", "admin/staff/{staff}"])
def test_an_unknown_use_of_such_an_address_is_refused(desk: Desk, address: str) -> None:
    ids = rows(desk)
    client = desk.client()
    form = {"csrf_token": token(client), "what": "other"}
    assert client.post("/" + address.format(**ids), data=form).status_code == 400


def test_the_route_of_the_redirect_accepts_the_form_unchanged(desk: Desk) -> None:
    order_id = desk.order("UNKNOWN")
    client = desk.client()
    reason = "Support says so"
    form = {"csrf_token": token(client), "what": "not_booked", "reason": reason}
    sent_on = client.post(f"/rides/{order_id}/resolve", data=form)
    assert client.post(sent_on.headers["Location"], data=form).status_code == 303
    with desk.services.db.read() as s:
        order = s.get_one(Order, order_id)
    assert (order.state, order.resolve_reason) == ("CLOSED_NOT_BOOKED", reason)


def rows(desk: Desk) -> dict[str, int]:
    """An order, a colleague and an account of the property of a signed-in manager."""
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
    with desk.services.db.write() as s:
        colleague = Staff(
            property_id=desk.ids["desk.property"],
            name="Colleague",
            sign_in_name="colleague",
            password_hash="x",
            role="concierge",
            created_at=NOON,
            disabled_at=None,
        )
        s.add(colleague)
        s.flush()
        staff_id = colleague.id
    order_id = desk.order("UNKNOWN")
    return {"order": order_id, "staff": staff_id, "account": desk.ids["desk.account"]}


@pytest.mark.parametrize(
    ("method", "path", "address"),
    [
        ("GET", "/history?to=2026-01-02", "/history?to=2026-01-02"),
        ("GET", "/rides/new", "/rides/new"),
        ("POST", "/rides/new", "/rides/new"),
        ("POST", "/rides/7/card", "/rides/7/card"),
        ("POST", "/rides/7/cancel", "/rides/7"),
        ("POST", "/rides/7/resolve/booked", "/rides/7"),
        ("POST", "/admin/places", "/admin/places"),
        ("POST", "/me/password", "/"),
    ],
)
def test_a_page_has_an_address_at_which_it_opens_without_its_form(
    desk: Desk, method: str, path: str, address: str
) -> None:
    with desk.app.test_request_context(path, method=method):
        assert page_address() == address


def test_only_a_page_that_answers_a_form_names_its_address(desk: Desk) -> None:
    client = desk.client()
    answer = client.post("/rides/new", data={"csrf_token": token(client)})
    assert answer.status_code == 422
    assert 'data-anew="/rides/new"' in answer.text
    assert "data-anew" not in client.get("/rides/new").text


def test_a_missing_page_keeps_the_links_to_all_others(desk: Desk) -> None:
    client = desk.client()
    for address in ("/rides/99999", "/nowhere"):
        answer = client.get(address)
        assert answer.status_code == 404
        for link in ('href="/history"', 'href="/handover"', 'id="search"'):
            assert link in answer.text
    assert 'href="/history"' not in desk.client(signed_in=False).get("/nowhere").text
