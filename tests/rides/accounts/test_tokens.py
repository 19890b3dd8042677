"""Bearer tokens: refreshed in time, once, and given up only when the service says so."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from urllib.parse import parse_qs

import httpx
import pytest
from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from ridedash.rides.accounts.manage import DONE, AccountManager
from ridedash.rides.accounts.rotate_keys import rotate
from ridedash.rides.accounts.tokens import (
    MOST_CACHED,
    AccountTokens,
    NeedsReconnect,
    NoRefreshNow,
    RefreshLease,
    TokenCache,
    TokenUnreadable,
)
from ridedash.service.oauth import OAuthClient
from ridedash.service.transport.http import Http
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database, DatabaseBusy
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.people import Account
from tests.rides.desk_world import KEYS, World


def expires_in(world: World, seconds: float) -> None:
    with world.db.write() as s:
        keep_tokens(
            s.get_one(Account, world.account_id),
            world.vault,
            "good",
            "again",
            seconds,
            world.clock(),
        )


def account_state(world: World) -> str:
    with world.db.read() as s:
        return s.get_one(Account, world.account_id).state


def test_a_token_that_is_about_to_end_is_refreshed_before_it_is_used(world: World) -> None:
    expires_in(world, 61)
    assert world.tokens.bearer(world.account_id) == "good"
    world.clock.go(2)
    assert world.tokens.bearer(world.account_id) == "fresh-1"
    assert world.tokens.bearer(world.account_id) == "fresh-1"
    assert world.service.refreshes == 1


@pytest.mark.parametrize("answer", ["silence", "invalid_client"])
def test_a_refresh_that_proves_nothing_uses_the_old_token_while_it_lasts(
    world: World, answer: str
) -> None:
    def down() -> httpx.Response:
        if answer == "silence":
            raise httpx.ConnectError("refused")
        return httpx.Response(401, json={"error": answer})

    world.service.token = down  # type: ignore[method-assign]
    expires_in(world, 30)
    assert world.tokens.bearer(world.account_id) == "good"
    world.clock.go(31)
    with pytest.raises(NoRefreshNow):
        world.tokens.bearer(world.account_id)
    assert account_state(world) == "ok"


def test_a_refused_refresh_means_that_the_account_must_be_linked_again(world: World) -> None:
    world.service.token = lambda: httpx.Response(400, json={"error": "invalid_grant"})  # type: ignore[method-assign]
    with pytest.raises(NeedsReconnect):
        world.tokens.refreshed(world.account_id, "good")
    assert account_state(world) == "reconnect"
    with pytest.raises(NeedsReconnect):
        world.tokens.bearer(world.account_id)


def test_a_refresh_that_another_process_won_is_no_reason_to_link_again(world: World) -> None:
    def lost_race() -> httpx.Response:
        with world.db.write() as s:
            keep_tokens(
                s.get_one(Account, world.account_id),
                world.vault,
                "theirs",
                "next",
                3600,
                world.clock(),
            )
        return httpx.Response(400, json={"error": "invalid_grant"})

    world.service.token = lost_race  # type: ignore[method-assign]
    assert world.tokens.refreshed(world.account_id, "good") == "theirs"
    assert account_state(world) == "ok"


OTHER_KEYS = "k2:" + new_key()


def seal_with(world: World, vault: TokenVault) -> None:
    """Store the account's tokens encrypted by a vault, whose keys the world may not have."""
    with world.db.write() as s:
        keep_tokens(
            s.get_one(Account, world.account_id), vault, "good", "again", 3600, world.clock()
        )


def test_a_token_whose_key_is_missing_here_is_no_fault_of_the_account_and_is_read_again_with_it(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    seal_with(world, TokenVault(OTHER_KEYS))
    for _ in range(3):
        with pytest.raises(TokenUnreadable):
            world.tokens.bearer(world.account_id)
        with pytest.raises(TokenUnreadable):
            world.tokens.refreshed(world.account_id, "good")
    assert account_state(world) == "ok"
    assert [record.levelname for record in caplog.records] == ["ERROR"], (
        "once, however often it is requested"
    )
    logged = caplog.text
    assert f"account {world.account_id}" in logged
    assert "k2" in logged
    assert "RIDEDASH_TOKEN_KEYS does not name that key" in logged
    assert "good" not in logged
    both = AccountTokens(world.db, TokenVault(f"{OTHER_KEYS},{KEYS}"), world.oauth, world.clock)
    assert both.bearer(world.account_id) == "good"


@pytest.mark.parametrize(
    "sealed", ["k1.gone.gone", "no secret of ours", "", "a-token-that-is-not-sealed.and.more"]
)
def test_a_damaged_token_is_not_shown_in_the_log_and_a_new_link_mends_it(
    world: World, sealed: str, caplog: pytest.LogCaptureFixture
) -> None:
    with world.db.write() as s:
        s.get_one(Account, world.account_id).access_token_enc = sealed
    with pytest.raises(TokenUnreadable):
        world.tokens.bearer(world.account_id)
    assert "RIDEDASH_TOKEN_KEYS" in caplog.text
    secret = sealed.removeprefix("k1.")  # the name of a key is no secret
    assert not secret or secret[:8] not in caplog.text
    seal_with(world, world.vault)
    assert world.tokens.bearer(world.account_id) == "good"


def test_keys_that_are_rotated_during_a_refresh_do_not_cost_the_account_its_new_tokens(
    world: World,
) -> None:
    server, vault = RotatingServer(), TokenVault(f"{OTHER_KEYS},{KEYS}")
    tokens = AccountTokens(world.db, vault, server(), world.clock)

    def rotated(request: httpx.Request) -> httpx.Response:
        assert rotate(world.db, vault, world.clock).left == 0
        return server.answer(request)

    http = Http(transport=httpx.MockTransport(rotated))
    tokens.oauth = OAuthClient(
        http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
    )
    assert tokens.refreshed(world.account_id, "good") == "fresh-1"
    again = AccountTokens(world.db, vault, server(), world.clock)
    assert again.bearer(world.account_id) == "fresh-1"
    assert again.refreshed(world.account_id, "fresh-1") == "fresh-2", (
        "the refresh token is the new one too"
    )


def test_keys_that_are_rotated_during_a_refused_refresh_hide_nothing_and_block_no_caller(
    world: World,
) -> None:
    vault = TokenVault(f"{OTHER_KEYS},{KEYS}")
    tokens = AccountTokens(world.db, vault, None, world.clock)

    def rotated(_request: httpx.Request) -> httpx.Response:
        assert rotate(world.db, vault, world.clock).left == 0
        return httpx.Response(400, json={"error": "invalid_grant"})

    http = Http(transport=httpx.MockTransport(rotated))
    tokens.oauth = OAuthClient(
        http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
    )
    with pytest.raises(NeedsReconnect):
        tokens.refreshed(world.account_id, "good")
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    assert (row.state, row.refresh_owner) == ("reconnect", None)


def test_an_account_that_is_removed_during_a_refresh_stays_removed(world: World) -> None:
    server = RotatingServer()
    tokens = AccountTokens(world.db, world.vault, server(), world.clock)

    def removed(request: httpx.Request) -> httpx.Response:
        assert (
            AccountManager(world.db, world.clock, world.property_id, world.staff_id).remove(
                world.account_id
            )
            == DONE
        )
        return server.answer(request)

    http = Http(transport=httpx.MockTransport(removed))
    tokens.oauth = OAuthClient(
        http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
    )
    tokens.refreshed(world.account_id, "good")
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    assert (row.state, row.access_token_enc, row.refresh_token_enc) == ("removed", None, None)


def test_a_lost_account_is_logged_once_with_the_reason(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.service.token = lambda: httpx.Response(400, json={"error": "invalid_grant"})  # type: ignore[method-assign]
    for _ in range(2):
        with pytest.raises(NeedsReconnect):
            world.tokens.refreshed(world.account_id, "good")
    lost = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert lost == [f"account {world.account_id} needs reconnecting: refused"]


class RotatingServer:
    """An authorization server whose refresh tokens work once, and whose answer waits for
    `ready`.
    """

    def __init__(self) -> None:
        self.good, self.requests, self.ready = "again", 0, threading.Event()
        self.ready.set()

    def __call__(self) -> OAuthClient:
        http = Http(transport=httpx.MockTransport(self.answer))
        return OAuthClient(
            http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
        )

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        assert self.ready.wait(60)
        if parse_qs(request.content.decode())["refresh_token"] != [self.good]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        self.good = f"again-{self.requests}"
        body = {
            "access_token": f"fresh-{self.requests}",
            "refresh_token": self.good,
            "expires_in": 3600,
        }
        return httpx.Response(200, json=body | {"token_type": "Bearer"})


def test_two_processes_with_ten_threads_each_use_a_refresh_token_once(world: World) -> None:
    server = RotatingServer()
    server.ready.clear()

    def waited(seconds: float) -> None:
        server.ready.set()  # one process is seen to wait for the other: now the answer may come
        time.sleep(seconds)

    databases = [Database(world.db.url) for _ in range(2)]
    processes = [
        AccountTokens(db, world.vault, server(), world.clock, pause=waited) for db in databases
    ]
    with ThreadPoolExecutor(20) as pool:
        futures = [
            pool.submit(processes[n % 2].refreshed, world.account_id, "good") for n in range(20)
        ]
        got = {each.result() for each in futures}
    assert (got, server.requests) == ({"fresh-1"}, 1)
    assert [each.bearer(world.account_id) for each in processes] == ["fresh-1"] * 2
    for db in databases:
        db.close()
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    assert (row.state, row.refresh_owner, row.refresh_until) == ("ok", None, None)


def test_the_lease_of_a_process_that_died_ends_after_seconds(world: World) -> None:
    with world.db.read() as s:
        sealed = s.get_one(Account, world.account_id).access_token_enc
    assert RefreshLease(world.db, world.clock).claim(world.account_id, sealed), (
        "a process that dies right after"
    )
    assert not RefreshLease(world.db, world.clock).claim(world.account_id, sealed)
    pauses: list[float] = []

    def time_goes(seconds: float) -> None:
        pauses.append(seconds)
        world.clock.go(31)

    tokens = AccountTokens(world.db, world.vault, world.oauth, world.clock, pause=time_goes)
    assert tokens.refreshed(world.account_id, "good") == "fresh-1"
    assert len(pauses) == 1


def sealed(world: World) -> str | None:
    with world.db.read() as s:
        return s.get_one(Account, world.account_id).access_token_enc


def leased(world: World) -> tuple[str | None, datetime | None]:
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    return row.refresh_owner, row.refresh_until


def test_a_process_ends_its_own_lease_and_never_that_of_another(world: World) -> None:
    ours, theirs = (RefreshLease(world.db, world.clock) for _ in range(2))
    assert ours.claim(world.account_id, sealed(world))
    until = world.clock() + timedelta(seconds=30)
    assert leased(world) == (ours.owner, until)
    theirs.release(world.account_id)
    ours.release(world.account_id + 1)
    assert leased(world) == (ours.owner, until)
    assert not theirs.claim(world.account_id, sealed(world))
    ours.release(world.account_id)
    assert leased(world) == (None, None)
    assert theirs.claim(world.account_id, sealed(world))


def test_a_lease_is_free_when_it_has_ended_or_the_clock_has_stepped_back(world: World) -> None:
    ours, theirs = (RefreshLease(world.db, world.clock) for _ in range(2))
    assert ours.claim(world.account_id, sealed(world))
    world.clock.go(29.999)
    assert not theirs.claim(world.account_id, sealed(world))
    world.clock.go(0.001)
    assert theirs.claim(world.account_id, sealed(world))
    assert not ours.claim(world.account_id, sealed(world)), "thirty seconds ahead is no step back"
    world.clock.go(-0.001)
    assert ours.claim(world.account_id, sealed(world))


def test_there_is_no_lease_on_an_account_that_has_another_token_or_is_not_linked(
    world: World,
) -> None:
    ours = RefreshLease(world.db, world.clock)
    assert not ours.claim(world.account_id, "k1.another.token")
    assert not ours.claim(world.account_id + 1, sealed(world))
    with world.db.write() as s:
        s.get_one(Account, world.account_id).state = "reconnect"
    assert not ours.claim(world.account_id, sealed(world))
    assert leased(world) == (None, None)


class Counted:
    """A stand-in for AccountTokens, which gives another token to each caller."""

    def __init__(self) -> None:
        self.requests: list[int] = []

    def bearer(self, account_id: int) -> str:
        self.requests.append(account_id)
        return f"{account_id}-{len(self.requests)}"

    def refreshed(self, account_id: int, stale: str) -> str:
        self.requests.append(account_id)
        return f"{account_id}-not-{stale}"


def test_a_token_is_remembered_for_five_seconds_and_for_its_account_alone() -> None:
    now, source = [100.0], Counted()
    cache = TokenCache(source, lambda: now[0])  # type: ignore[arg-type]
    assert (cache.bearer(1), cache.bearer(2)) == ("1-1", "2-2")
    now[0] += 4.999
    assert (cache.bearer(1), cache.bearer(2)) == ("1-1", "2-2")
    now[0] += 0.001
    assert cache.bearer(1) == "1-3"
    assert source.requests == [1, 2, 1]


def test_a_token_that_was_refused_is_forgotten_and_the_others_are_not() -> None:
    source = Counted()
    cache = TokenCache(source, lambda: 100.0)  # type: ignore[arg-type]
    assert (cache.bearer(1), cache.bearer(2)) == ("1-1", "2-2")
    assert cache.refreshed(1, "1-1") == "1-not-1-1"
    assert (cache.bearer(1), cache.bearer(2)) == ("1-4", "2-2")


def test_tokens_of_very_many_accounts_are_not_all_cached() -> None:
    source = Counted()
    cache = TokenCache(source, lambda: 100.0)  # type: ignore[arg-type]
    for account_id in range(MOST_CACHED):
        cache.bearer(account_id)
    assert cache.bearer(0) == "0-1", "so many are cached"
    cache.bearer(MOST_CACHED)
    assert len(cache._cached) == 1
    assert cache.bearer(0) == f"0-{MOST_CACHED + 2}"


def test_new_tokens_that_the_database_does_not_take_are_held_in_memory_until_it_does(
    world: World,
) -> None:
    server = RotatingServer()
    tokens = AccountTokens(world.db, world.vault, server(), world.clock)
    full = Full(world.db, fails=1)
    tokens.db = full  # type: ignore[assignment]
    with pytest.raises(NoRefreshNow):
        tokens.refreshed(world.account_id, "good")
    assert tokens.refreshed(world.account_id, "good") == "fresh-1"
    assert server.requests == 1, "the refresh token was used once"


class Full:
    """A database that refuses some writes."""

    def __init__(self, db: Database, fails: int) -> None:
        self.db, self.fails, self.read = db, fails, db.read

    @contextmanager
    def write(self) -> Iterator[Session]:
        if self.fails:
            self.fails -= 1
            raise DatabaseBusy("full")
        with self.db.write() as s:
            yield s


def test_no_other_process_uses_a_refresh_token_while_its_new_tokens_wait_for_the_database(
    world: World,
) -> None:
    """The database takes no write for seconds: longer than a refresh, shorter than a lease."""
    server = RotatingServer()
    ours = AccountTokens(world.db, world.vault, server(), world.clock)
    ours.db = Full(world.db, fails=1)  # type: ignore[assignment]
    with pytest.raises(NoRefreshNow):
        ours.refreshed(world.account_id, "good")
    world.clock.go(20)

    def meanwhile(_s: float) -> None:
        ours.bearer(world.account_id)

    theirs = AccountTokens(world.db, world.vault, server(), world.clock, pause=meanwhile)
    assert theirs.refreshed(world.account_id, "good") == "fresh-1"
    assert server.requests == 1, "the refresh token was used once"


def test_new_tokens_that_are_stored_late_give_an_account_back_that_another_process_gave_up(
    world: World,
) -> None:
    server = RotatingServer()
    ours, theirs = (AccountTokens(world.db, world.vault, server(), world.clock) for _ in range(2))
    ours.db = Full(world.db, fails=1)  # type: ignore[assignment]
    with pytest.raises(NoRefreshNow):
        ours.refreshed(world.account_id, "good")
    world.clock.go(31)
    with pytest.raises(NeedsReconnect):
        theirs.refreshed(world.account_id, "good")
    assert account_state(world) == "reconnect"
    assert ours.bearer(world.account_id) == "fresh-1"
    assert (account_state(world), theirs.bearer(world.account_id)) == ("ok", "fresh-1")


def test_the_old_token_serves_while_the_new_one_can_not_be_stored(world: World) -> None:
    expires_in(world, 30)
    tokens = AccountTokens(world.db, world.vault, RotatingServer()(), world.clock)
    tokens.db = Full(world.db, fails=3)  # type: ignore[assignment]
    assert [tokens.bearer(world.account_id) for _ in range(2)] == ["good", "good"]


def test_a_link_made_anew_during_a_refresh_is_not_overwritten(world: World) -> None:
    server = RotatingServer()
    tokens = AccountTokens(world.db, world.vault, server(), world.clock)

    def relinked(request: httpx.Request) -> httpx.Response:
        with world.db.write() as s:
            keep_tokens(
                s.get_one(Account, world.account_id),
                world.vault,
                "linked",
                "new",
                3600,
                world.clock(),
            )
        return server.answer(request)

    http = Http(transport=httpx.MockTransport(relinked))
    tokens.oauth = OAuthClient(
        http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
    )
    tokens.refreshed(world.account_id, "good")
    assert tokens.bearer(world.account_id) == "linked"


def test_a_token_is_used_up_to_the_minute_before_its_end_and_never_after_it(world: World) -> None:
    expires_in(world, 60)
    assert world.tokens.bearer(world.account_id) == "good"
    assert world.service.refreshes == 0

    def down() -> httpx.Response:
        raise httpx.ConnectError("refused")

    world.service.token = down  # type: ignore[method-assign]
    world.clock.go(60)
    with pytest.raises(NoRefreshNow):
        world.tokens.bearer(world.account_id)


def test_a_token_without_a_refresh_token_is_used_to_its_end_and_then_the_link_is_lost(
    world: World,
) -> None:
    with world.db.write() as s:
        row = s.get_one(Account, world.account_id)
        keep_tokens(row, world.vault, "good", None, 30, world.clock())
    assert world.tokens.bearer(world.account_id) == "good"
    with pytest.raises(NeedsReconnect):
        world.tokens.refreshed(world.account_id, "good")
    assert (account_state(world), world.service.refreshes) == ("reconnect", 0)
    with world.db.read() as s:
        [entry] = s.query(AuditRow).filter_by(what="account.lost")
    assert (entry.who, entry.subject) == ("worker", f"accounts:{world.account_id}")
    assert (entry.result, entry.property_id) == ("no refresh token", world.property_id)
    assert entry.at == world.clock()


def test_without_an_authorization_server_a_refused_token_loses_the_link(world: World) -> None:
    tokens = AccountTokens(world.db, world.vault, None, world.clock)
    with pytest.raises(NeedsReconnect):
        tokens.refreshed(world.account_id, "good")
    assert account_state(world) == "reconnect"


def test_a_refresh_without_a_clear_answer_leaves_the_lease_to_the_next(world: World) -> None:
    world.service.token = lambda: httpx.Response(503)  # type: ignore[method-assign]
    with pytest.raises(NoRefreshNow):
        world.tokens.refreshed(world.account_id, "good")
    assert leased(world) == (None, None)
    assert len(RefreshLease(world.db, world.clock).owner) == 16


def test_an_account_is_foreign_where_no_key_reads_its_own_token(world: World) -> None:
    with world.db.write() as s:
        rows = [
            add_account(s, world.vault, world.property_id, label, "t", world.clock())
            for label in ("Sealed", "Without")
        ]
        rows[0].access_token_enc, rows[1].access_token_enc = "k9.a.b", None
        ids = [world.account_id, *(row.id for row in rows)]
    with world.db.read() as s:
        found = [s.scalar(select(world.tokens.foreign(literal(each)))) for each in ids]
    assert [bool(each) for each in found] == [False, True, False]
