"""Reconnecting the house's account: from the ride's page to the service's own page and back, by
managers only.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask.testing import FlaskClient

from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.sandbox import SandboxSettings, create_sandbox
from ridedash.service.oauth import OAuthClient
from ridedash.service.transport.http import Http
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Account, LinkStart, Staff
from tests.views.ride_pages import Desk, make_desk, token

pytestmark = pytest.mark.database

SERVICE = "http://127.0.0.1:8001"
CALLBACK = "http://127.0.0.1:8000/accounts/callback"


class House:
    """A desk whose manager is signed in and whose account lost its link, beside a sandbox with its
    OAuth server.
    """

    def __init__(self, folder: Path) -> None:
        self.desk: Desk = make_desk(folder)
        settings = SandboxSettings(
            database=folder / "sandbox.sqlite",
            app_token="key",
            client_id="ridedash",
            client_secret="secret",
            redirect_uris=(CALLBACK,),
            clock=lambda: self.desk.now,
        )
        self.sandbox = create_sandbox(settings)
        self.way = httpx.WSGITransport(app=self.sandbox)
        urls = f"{SERVICE}/oauth/authorize", f"{SERVICE}/oauth/token"
        s = self.desk.services
        s.oauth = OAuthClient(Http(self.way), *urls, "ridedash", "secret", "rides")
        s.tokens = AccountTokens(s.db, s.vault, s.oauth, s.clock)
        with s.db.write() as db:
            db.get_one(Staff, self.desk.ids["desk"]).role = "manager"
            db.get_one(Account, self.account_id).state = "reconnect"
        self.order_id = self.desk.order("BOOKED", "CALL_DRIVER")

    @property
    def account_id(self) -> int:
        return self.desk.ids["desk.account"]

    def begin(self, browser: FlaskClient, account_id: int | None = None) -> str:
        """Press Reconnect; the address of the service's page."""
        form = {"csrf_token": token(browser, "/"), "order": self.order_id}
        answer = browser.post(f"/accounts/{account_id or self.account_id}/link", data=form)
        assert answer.status_code == 303
        return str(answer.headers["Location"])

    def decide(self, address: str, decision: str = "allow") -> str:
        """What the service's page does; the path and query at which it sends the browser back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        with httpx.Client(transport=self.way) as browser:
            data = asked | {"user": "house", "decision": decision}
            back = browser.post(f"{SERVICE}/oauth/authorize", data=data).headers["location"]
        assert back.startswith(CALLBACK + "?")
        return str(back.removeprefix("http://127.0.0.1:8000"))

    def state(self) -> str:
        with self.desk.services.db.read() as s:
            return str(s.get_one(Account, self.account_id).state)

    def close(self) -> None:
        self.sandbox.extensions["sandbox"].close()
        self.desk.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def test_a_manager_reconnects_the_account_from_the_rides_page(house: House) -> None:
    browser = house.desk.client()
    page = browser.get(f"/rides/{house.order_id}")
    assert "The account needs reconnecting" in page.text
    assert f'action="/accounts/{house.account_id}/link"' in page.text
    assert f"form-action 'self' {SERVICE};" in page.headers["Content-Security-Policy"]
    address = house.begin(browser)
    assert address.startswith(f"{SERVICE}/oauth/authorize?")
    assert "code_challenge_method=S256" in address
    told = browser.get(house.decide(address), follow_redirects=True)
    assert "The account is connected again." in told.text
    assert "The account needs reconnecting" not in told.text
    assert house.desk.services.tokens.bearer(house.account_id) != "token"
    with house.desk.services.db.read() as s:
        assert s.query(AuditRow).filter_by(what="account.linked").count() == 1
        assert s.query(LinkStart).count() == 0


def test_a_state_works_once(house: House) -> None:
    browser = house.desk.client()
    back = house.decide(house.begin(browser))
    assert browser.get(back).status_code == 303
    assert "The account was not connected" in browser.get(back).text


def test_a_state_holds_for_ten_minutes(house: House) -> None:
    browser = house.desk.client()
    back = house.decide(house.begin(browser))
    house.desk.now = house.desk.now.replace(minute=house.desk.now.minute + 10)
    assert browser.get(back).status_code == 400
    assert house.state() == "reconnect"


def test_another_browser_can_not_end_what_this_one_began(house: House) -> None:
    back = house.decide(house.begin(house.desk.client()))
    assert "begun in another browser" in house.desk.client().get(back).text
    assert house.state() == "reconnect"


@pytest.mark.parametrize(
    "query", ["", "?state=x&code=y", "?code=y", "?state=%00&code=y", "?error=access_denied"]
)
def test_what_nobody_began_links_nothing(house: House, query: str) -> None:
    assert house.desk.client().get("/accounts/callback" + query).status_code == 400
    assert house.state() == "reconnect"


def test_a_refusal_at_the_service_is_told_and_links_nothing(house: House) -> None:
    browser = house.desk.client()
    told = browser.get(house.decide(house.begin(browser), decision="deny"))
    assert "The service did not allow it." in told.text
    assert house.state() == "reconnect"


def test_a_code_that_was_swapped_is_refused_for_its_verifier(house: House) -> None:
    browser = house.desk.client()
    mine, other = house.decide(house.begin(browser)), house.decide(house.begin(browser))
    state = parse_qs(urlsplit(mine).query)["state"][0]
    code = parse_qs(urlsplit(other).query)["code"][0]
    answer = browser.get("/accounts/callback", query_string={"state": state, "code": code})
    assert "The service did not allow it." in answer.text


def test_only_managers_connect_and_only_their_own_houses_account(house: House) -> None:
    stranger = house.desk.client(name="other")  # a concierge of another house
    form = {"csrf_token": token(stranger, "/")}
    assert stranger.post(f"/accounts/{house.account_id}/link", data=form).status_code == 403
    manager = house.desk.client()
    form = {"csrf_token": token(manager, "/")}
    assert (
        manager.post(f"/accounts/{house.desk.ids['other.account']}/link", data=form).status_code
        == 404
    )
    order_id = house.desk.order("BOOKED", "CALL_DRIVER", house="other")
    page = stranger.get(f"/rides/{order_id}")
    assert "Reconnect</span>" not in page.text
    assert "form-action 'self';" in page.headers["Content-Security-Policy"]


def test_a_manager_connects_a_new_account_which_is_offered_only_when_it_is_there(
    house: House,
) -> None:
    browser, desk = house.desk.client(), house.desk
    page = browser.get("/admin/accounts")
    assert f"form-action 'self' {SERVICE};" in page.headers["Content-Security-Policy"]
    form = {"csrf_token": token(browser, "/"), "label": "Conference account"}
    address = str(browser.post("/admin/accounts", data=form).headers["Location"])
    assert address.startswith(f"{SERVICE}/oauth/authorize?")
    assert "Conference account" not in browser.get("/admin/accounts").text
    assert "Conference account" not in browser.get("/rides/new").text
    told = browser.get(house.decide(address), follow_redirects=True)
    assert "The account is connected." in told.text
    assert "Conference account" in told.text
    with desk.services.db.read() as s:
        account = s.query(Account).filter_by(label="Conference account").one()
    assert (account.state, account.is_default, account.property_id) == (
        "ok",
        False,
        desk.ids["desk.property"],
    )
    assert desk.services.tokens.bearer(account.id)


def test_an_account_that_was_begun_and_never_connected_is_forgotten(house: House) -> None:
    browser = house.desk.client()
    form = {"csrf_token": token(browser, "/"), "label": "Conference account"}
    address = str(browser.post("/admin/accounts", data=form).headers["Location"])
    browser.get(house.decide(address, decision="deny"))
    house.desk.now = house.desk.now.replace(minute=house.desk.now.minute + 11)
    browser.post("/admin/accounts", data=form | {"label": "Another"})
    with house.desk.services.db.read() as s:
        assert [row.label for row in s.query(Account).filter_by(state="new")] == ["Another"]


def test_what_a_removed_account_was_to_be_linked_to_links_nothing(house: House) -> None:
    browser = house.desk.client()
    back = house.decide(house.begin(browser))
    house.desk.add(lambda s: setattr(s.get(Account, house.account_id), "state", "removed"))
    assert browser.get(back).status_code == 400
    assert house.state() == "removed"
