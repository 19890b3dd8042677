"""Linking an account by OAuth against the sandbox's own server: from the authorize page to the lost
link.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ridedash.rides.accounts.linking import (
    EXPIRED,
    CallbackRequest,
    Linker,
    LinkFailed,
    LinkOwner,
)
from ridedash.rides.accounts.tokens import AccountTokens, NeedsReconnect
from ridedash.sandbox import SandboxSettings, create_sandbox
from ridedash.service.client import RideClient
from ridedash.service.errors import NoAnswer, Refused, Unauthorized
from ridedash.service.oauth import OAuthClient, Tokens, pkce_pair
from ridedash.service.transport.http import Http
from ridedash.store.accounts import keep_tokens
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Account, LinkStart
from tests.locks import locked
from tests.rides.desk_world import World

pytestmark = pytest.mark.database

SERVICE = "http://127.0.0.1:1"
CALLBACK = "http://127.0.0.1:8000/accounts/callback"


class Linking(World):
    """The small desk with a sandbox, whose OAuth server links accounts. `grants` has the types of
    the grants that were requested.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        settings = SandboxSettings(
            database=folder / "sandbox.sqlite",
            app_token="app-token",
            client_id="ridedash",
            client_secret="secret",
            redirect_uris=(CALLBACK,),
            clock=self.clock,
        )
        self.sandbox = create_sandbox(settings)
        self.grants: list[str] = []
        self.http.close()
        self.http = Http(Counted(self))
        urls = f"{SERVICE}/oauth/authorize", f"{SERVICE}/oauth/token"
        self.oauth = OAuthClient(self.http, *urls, "ridedash", "secret", "rides")
        self.tokens = AccountTokens(self.db, self.vault, self.oauth, self.clock)

    def allowed(self, address: str, user: str) -> dict[str, list[str]]:
        """Do what a browser does: open the page, choose a user, be sent back. Returns the query of
        the last address.
        """
        with httpx.Client(transport=httpx.WSGITransport(app=self.sandbox)) as browser:
            assert browser.get(address).status_code == 200
            query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
            answer = browser.post(
                f"{SERVICE}/oauth/authorize", data=query | {"user": user, "decision": "allow"}
            )
        assert answer.headers["location"].startswith(CALLBACK + "?")
        return parse_qs(urlsplit(answer.headers["location"]).query)

    def linked(self, user: str = "house") -> Tokens:
        """Link the desk's account by the whole flow. Returns the tokens."""
        verifier, challenge = pkce_pair()
        back = self.allowed(self.oauth.authorize_url("state-1", challenge, CALLBACK), user)
        assert back["state"] == ["state-1"]
        tokens = self.oauth.exchange(back["code"][0], verifier, CALLBACK)
        with self.db.write() as s:
            row = s.get_one(Account, self.account_id)
            keep_tokens(
                row,
                self.vault,
                tokens.access_token,
                tokens.refresh_token,
                tokens.expires_in_s,
                self.clock(),
            )
        return tokens

    def works(self, token: str) -> bool:
        try:
            # a new client has no cached options
            fresh = RideClient(self.http, SERVICE, "app-token")
            return bool(fresh.feedback_options("mini", token).options)
        except Unauthorized:
            return False

    def close(self) -> None:
        self.sandbox.extensions["sandbox"].close()
        super().close()


class Counted(httpx.WSGITransport):
    """The transport to the sandbox; it notes each request for a grant."""

    def __init__(self, world: Linking) -> None:
        super().__init__(app=world.sandbox)
        self.world, self.lock = world, threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/oauth/token":
            with self.lock:
                self.world.grants.append(parse_qs(request.content.decode())["grant_type"][0])
        return super().handle_request(request)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Linking]:
    made = Linking(tmp_path)
    yield made
    made.close()


def test_an_account_is_linked_by_code_with_pkce_and_its_token_works(desk: Linking) -> None:
    tokens = desk.linked()
    assert tokens.expires_in_s == 3600
    assert desk.grants == ["authorization_code"]
    assert desk.tokens.bearer(desk.account_id) == tokens.access_token
    assert desk.works(tokens.access_token)


def test_a_code_without_its_verifier_gives_no_token(desk: Linking) -> None:
    back = desk.allowed(desk.oauth.authorize_url("s", pkce_pair()[1], CALLBACK), "house")
    with pytest.raises(Refused) as caught:
        desk.oauth.exchange(back["code"][0], pkce_pair()[0], CALLBACK)
    assert caught.value.code == "invalid_grant"


def test_ten_who_ask_when_the_token_ends_cause_one_refresh_and_all_get_a_token_that_works(
    desk: Linking,
) -> None:
    first = desk.linked()
    desk.clock.go(3600 - 30)
    start = threading.Barrier(10)

    def ask(_: int) -> str:
        start.wait(60)
        return desk.tokens.bearer(desk.account_id)

    with ThreadPoolExecutor(10) as pool:
        got = set(pool.map(ask, range(10)))
    assert len(got) == 1
    assert got != {first.access_token}
    assert desk.grants == ["authorization_code", "refresh_token"]
    assert desk.works(got.pop())


def test_the_refresh_token_is_rotated_and_the_next_refresh_uses_the_new_one(desk: Linking) -> None:
    desk.linked()
    seen = set()
    for _ in range(3):
        desk.clock.go(3600)
        seen.add(desk.tokens.bearer(desk.account_id))
    assert len(seen) == 3
    assert desk.grants == ["authorization_code", *["refresh_token"] * 3]


def test_a_stolen_refresh_token_ends_the_link_and_the_account_asks_for_a_new_one(
    desk: Linking,
) -> None:
    first = desk.linked()
    desk.clock.go(3600)
    second = desk.tokens.bearer(desk.account_id)
    # a thief uses the spent token; the server then revokes all tokens of this link
    with pytest.raises(Refused):
        desk.oauth.refresh(str(first.refresh_token))
    assert not desk.works(second)
    with pytest.raises(NeedsReconnect):
        desk.tokens.refreshed(desk.account_id, second)
    desk.linked()
    with desk.db.read() as s:
        assert s.get_one(Account, desk.account_id).state == "ok"


def test_what_the_browser_brings_back_links_the_account_once(desk: Linking) -> None:
    """As the page does it: a state works once, and the tokens are stored for the account."""
    linker = Linker(desk.db, desk.vault, desk.oauth, desk.clock, CALLBACK)
    owner = LinkOwner(desk.property_id, desk.staff_id, "the sign-in")
    with desk.db.write() as s:
        s.get_one(Account, desk.account_id).state = "reconnect"
    address = linker.start(desk.account_id, owner, order_id=7)
    assert address
    back = desk.allowed(address, "house")
    request = CallbackRequest(back["state"][0], back["code"][0], "the sign-in")
    assert linker.finish(request) == 7
    with desk.db.read() as s:
        assert s.get_one(Account, desk.account_id).state == "ok"
    assert desk.works(desk.tokens.bearer(desk.account_id))
    with pytest.raises(LinkFailed) as caught:
        linker.finish(request)
    assert caught.value.reason == EXPIRED


class PlayedOAuth:
    """A stand-in for the service's OAuth; an exchange returns or raises `gives`."""

    def __init__(self) -> None:
        self.gives: Tokens | Exception = Tokens("fresh", "again", 60)
        self.exchanges: list[tuple[str, str, str]] = []

    def authorize_url(self, state: str, challenge: str, callback: str) -> str:
        return f"{state} {challenge} {callback}"

    def exchange(self, code: str, verifier: str, callback: str) -> Tokens:
        self.exchanges.append((code, verifier, callback))
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


class Page:
    """The page on which a member of staff links accounts of the small desk."""

    def __init__(self, world: World) -> None:
        self.world, self.oauth = world, PlayedOAuth()
        played: Any = self.oauth
        self.linker = Linker(world.db, world.vault, played, world.clock, CALLBACK)
        self.owner = LinkOwner(world.property_id, world.staff_id, "mine")

    def start(self, account_id: int | None = None) -> str:
        """Begin a link. Returns its state."""
        address = self.linker.start(account_id or self.world.account_id, self.owner, order_id=7)
        assert address is not None
        return address.split()[0]

    def failed(self, state: str, code: str = "code", sign_in: str = "mine") -> str | None:
        """Finish a link. Returns why that failed; None if it did not fail."""
        try:
            assert self.linker.finish(CallbackRequest(state, code, sign_in)) == 7
        except LinkFailed as error:
            return error.reason
        return None

    def accounts(self) -> dict[str, Account]:
        with self.world.db.read() as s:
            return {row.label: row for row in s.query(Account)}


@pytest.fixture
def page(world: World) -> Page:
    return Page(world)


def test_a_link_begins_for_an_account_of_the_property_that_was_not_removed(page: Page) -> None:
    account, theirs = page.world.account_id, page.owner._replace(property_id=1_000)
    assert page.linker.start(account, theirs) is None
    assert page.linker.start(1_000, page.owner) is None
    state, challenge, callback = (page.linker.start(account, page.owner) or "").split()
    assert (len(state), len(challenge), callback) == (32, 43, CALLBACK)
    with page.world.db.write() as s:
        [row] = s.query(LinkStart).all()
        assert state not in str(vars(row))
        assert (row.property_id, row.staff_id) == (page.world.property_id, page.world.staff_id)
        assert (row.account_id, row.order_id) == (account, None)
        assert row.expires_at == page.world.clock() + timedelta(minutes=10)
        s.get_one(Account, account).state = "removed"
    assert page.linker.start(account, page.owner) is None


def test_a_state_lasts_ten_minutes_and_is_worth_nothing_to_another_sign_in(page: Page) -> None:
    state = page.start()
    assert page.failed(state, sign_in="another") == "expired"
    assert page.failed("unknown") == "expired"
    page.world.clock.go(600 - 0.001)
    with locked() as tables:
        assert page.failed(state) is None
    assert {"link_starts", "accounts"} <= tables
    [(code, verifier, callback)] = page.oauth.exchanges
    assert (code, len(verifier) >= 43, callback) == ("code", True, CALLBACK)
    assert page.failed(state) == "expired", "it was used"
    state = page.start()
    page.world.clock.go(600)
    assert page.failed(state) == "expired"
    assert len(page.oauth.exchanges) == 1


def test_what_the_service_refuses_or_never_answers_links_nothing(page: Page) -> None:
    with page.world.db.write() as s:
        s.get_one(Account, page.world.account_id).state = "reconnect"
    assert page.failed(page.start(), code="") == "refused"
    for error, reason in ((Refused("no"), "refused"), (NoAnswer("x", sent=True), "no_answer")):
        page.oauth.gives = error
        assert page.failed(page.start()) == reason
    state = page.start()
    page.oauth.gives = Tokens("fresh", None, None)
    with page.world.db.write() as s:
        s.get_one(Account, page.world.account_id).state = "removed"
    assert page.failed(state) == "expired", "it was removed meanwhile"
    assert page.accounts()["House"].state == "removed"


def test_linked_tokens_are_stored_and_who_linked_is_in_the_log(page: Page) -> None:
    world = page.world
    with world.db.write() as s:
        s.get_one(Account, world.account_id).is_default = False
    assert page.failed(page.start()) is None
    row = page.accounts()["House"]
    assert (row.state, row.is_default) == ("ok", True), "the only one is the default"
    assert row.expires_at == world.clock() + timedelta(seconds=60)
    token = world.vault.decrypt(row.access_token_enc or "", "accounts", row.id, "access_token")
    assert token == "fresh"
    with world.db.read() as s:
        entry = s.query(AuditRow).filter_by(what="account.linked").one()
    assert (entry.who, entry.subject) == (f"staff:{world.staff_id}", f"accounts:{row.id}")
    assert (entry.property_id, entry.at) == (world.property_id, world.clock())


def test_new_accounts_that_were_never_connected_are_deleted_by_the_next_start(page: Page) -> None:
    state = page.linker.start_new("First", page.owner).split()[0]
    first = page.accounts()["First"]
    assert (first.state, first.is_default, first.staff_id) == ("new", False, page.world.staff_id)
    assert first.created_at == page.world.clock()
    page.world.clock.go(600 - 0.001)
    page.linker.start_new("Second", page.owner)
    assert set(page.accounts()) == {"House", "First", "Second"}
    page.world.clock.go(0.001)
    page.linker.start_new("Third", page.owner)
    assert set(page.accounts()) == {"House", "Second", "Third"}
    assert page.failed(state) == "expired"
    with page.world.db.read() as s:
        assert s.query(LinkStart).count() == 2
    page.world.clock.go(600 - 0.001)
    page.start()
    assert set(page.accounts()) == {"House", "Third"}
    assert page.accounts()["House"].is_default


def test_another_account_that_is_linked_does_not_become_the_default(page: Page) -> None:
    state = page.linker.start_new("Second", page.owner).split()[0]
    assert page.linker.finish(CallbackRequest(state, "code", "mine")) is None
    found = page.accounts()
    assert [found[name].is_default for name in ("House", "Second")] == [True, False]
    assert found["Second"].state == "ok"
