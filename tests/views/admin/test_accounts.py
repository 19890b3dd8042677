"""Reconnecting an account through the service's own page and back, by managers only."""

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
from tests.views.ride_pages import REFUSING_PORT, Desk, make_desk, token

pytestmark = pytest.mark.database

SERVICE = f"http://127.0.0.1:{REFUSING_PORT}"
CALLBACK = "http://127.0.0.1:8000/accounts/callback"


class Linking:
    """A desk with a manager and an account to reconnect, and a sandbox with OAuth."""

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
        self.transport = httpx.WSGITransport(app=self.sandbox)
        urls = f"{SERVICE}/oauth/authorize", f"{SERVICE}/oauth/token"
        s = self.desk.services
        s.oauth = OAuthClient(Http(self.transport), *urls, "ridedash", "secret", "rides")
        s.tokens = AccountTokens(s.db, s.vault, s.oauth, s.clock)
        with s.db.write() as db:
            db.get_one(Staff, self.desk.ids["desk"]).role = "manager"
            db.get_one(Account, self.account_id).state = "reconnect"
        self.order_id = self.desk.order("BOOKED", "CALL_DRIVER")

    @property
    def account_id(self) -> int:
        return self.desk.ids["desk.account"]

    def begin(self, browser: FlaskClient, account_id: int | None = None) -> str:
        """Press Reconnect. Returns the address of the service's page."""
        form = {"csrf_token": token(browser), "order": self.order_id}
        answer = browser.post(f"/accounts/{account_id or self.account_id}/link", data=form)
        assert answer.status_code == 303
        return str(answer.headers["Location"])

    def decide(self, address: str, decision: str = "allow") -> str:
        """Decide on the service's page. Returns path and query to which it sends the browser."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        with httpx.Client(transport=self.transport) as browser:
            data = query | {"user": "house", "decision": decision}
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
def linking(tmp_path: Path) -> Iterator[Linking]:
    made = Linking(tmp_path)
    yield made
    made.close()


def test_a_manager_reconnects_the_account_from_the_rides_page(linking: Linking) -> None:
    browser = linking.desk.client()
    page = browser.get(f"/rides/{linking.order_id}")
    assert "The account needs reconnecting" in page.text
    assert f'action="/accounts/{linking.account_id}/link"' in page.text
    assert f"form-action 'self' {SERVICE};" in page.headers["Content-Security-Policy"]
    address = linking.begin(browser)
    assert address.startswith(f"{SERVICE}/oauth/authorize?")
    assert "code_challenge_method=S256" in address
    answer = browser.get(linking.decide(address), follow_redirects=True)
    assert "The account is connected again." in answer.text
    assert "The account needs reconnecting" not in answer.text
    assert linking.desk.services.tokens.bearer(linking.account_id) != "token"
    with linking.desk.services.db.read() as s:
        assert s.query(AuditRow).filter_by(what="account.linked").count() == 1
        assert s.query(LinkStart).count() == 0


def test_a_state_works_once(linking: Linking) -> None:
    browser = linking.desk.client()
    back = linking.decide(linking.begin(browser))
    assert browser.get(back).status_code == 303
    assert "The account was not connected" in browser.get(back).text


def test_a_state_is_valid_for_ten_minutes(linking: Linking) -> None:
    browser = linking.desk.client()
    back = linking.decide(linking.begin(browser))
    linking.desk.now = linking.desk.now.replace(minute=linking.desk.now.minute + 10)
    assert browser.get(back).status_code == 400
    assert linking.state() == "reconnect"


def test_another_browser_can_not_complete_the_link_that_this_one_began(linking: Linking) -> None:
    back = linking.decide(linking.begin(linking.desk.client()))
    assert "begun in another browser" in linking.desk.client().get(back).text
    assert linking.state() == "reconnect"


@pytest.mark.parametrize(
    "query", ["", "?state=x&code=y", "?code=y", "?state=%00&code=y", "?error=access_denied"]
)
def test_a_callback_without_a_begun_link_links_nothing(linking: Linking, query: str) -> None:
    assert linking.desk.client().get("/accounts/callback" + query).status_code == 400
    assert linking.state() == "reconnect"


def test_a_refusal_at_the_service_shows_a_message_and_links_nothing(linking: Linking) -> None:
    browser = linking.desk.client()
    answer = browser.get(linking.decide(linking.begin(browser), decision="deny"))
    assert "The ride company did not allow it." in answer.text
    assert linking.state() == "reconnect"


def test_a_swapped_code_is_refused_because_of_its_verifier(linking: Linking) -> None:
    browser = linking.desk.client()
    mine, other = linking.decide(linking.begin(browser)), linking.decide(linking.begin(browser))
    state = parse_qs(urlsplit(mine).query)["state"][0]
    code = parse_qs(urlsplit(other).query)["code"][0]
    answer = browser.get("/accounts/callback", query_string={"state": state, "code": code})
    assert "The ride company did not allow it." in answer.text


def test_only_managers_connect_and_only_an_account_of_their_property(linking: Linking) -> None:
    stranger = linking.desk.client(name="other")  # a concierge of another property
    form = {"csrf_token": token(stranger)}
    assert stranger.post(f"/accounts/{linking.account_id}/link", data=form).status_code == 403
    manager = linking.desk.client()
    form = {"csrf_token": token(manager)}
    assert (
        manager.post(f"/accounts/{linking.desk.ids['other.account']}/link", data=form).status_code
        == 404
    )
    with linking.desk.services.db.write() as db:
        db.get_one(Account, linking.desk.ids["other.account"]).state = "reconnect"
    order_id = linking.desk.order("BOOKED", "CALL_DRIVER", prop="other")
    page = stranger.get(f"/rides/{order_id}")
    assert "The account needs reconnecting" in page.text
    assert "Reconnect</span>" not in page.text
    assert "form-action 'self';" in page.headers["Content-Security-Policy"]


def test_a_manager_connects_a_new_account_which_is_offered_once_it_is_connected(
    linking: Linking,
) -> None:
    browser, desk = linking.desk.client(), linking.desk
    page = browser.get("/admin/accounts")
    assert f"form-action 'self' {SERVICE};" in page.headers["Content-Security-Policy"]
    form = {"csrf_token": token(browser), "label": "Conference account"}
    address = str(browser.post("/admin/accounts", data=form).headers["Location"])
    assert address.startswith(f"{SERVICE}/oauth/authorize?")
    assert "Conference account" not in browser.get("/admin/accounts").text
    assert "Conference account" not in browser.get("/rides/new").text
    answer = browser.get(linking.decide(address), follow_redirects=True)
    assert "The account is connected." in answer.text
    assert "Conference account" in answer.text
    with desk.services.db.read() as s:
        account = s.query(Account).filter_by(label="Conference account").one()
    assert (account.state, account.is_default, account.property_id) == (
        "ok",
        False,
        desk.ids["desk.property"],
    )
    assert desk.services.tokens.bearer(account.id)


def test_a_new_account_that_is_never_connected_is_removed(linking: Linking) -> None:
    browser = linking.desk.client()
    form = {"csrf_token": token(browser), "label": "Conference account"}
    address = str(browser.post("/admin/accounts", data=form).headers["Location"])
    browser.get(linking.decide(address, decision="deny"))
    linking.desk.now = linking.desk.now.replace(minute=linking.desk.now.minute + 11)
    browser.post("/admin/accounts", data=form | {"label": "Another"})
    with linking.desk.services.db.read() as s:
        assert [row.label for row in s.query(Account).filter_by(state="new")] == ["Another"]


def test_the_callback_for_a_removed_account_links_nothing(linking: Linking) -> None:
    browser = linking.desk.client()
    back = linking.decide(linking.begin(browser))
    linking.desk.add(lambda s: setattr(s.get(Account, linking.account_id), "state", "removed"))
    assert browser.get(back).status_code == 400
    assert linking.state() == "removed"
