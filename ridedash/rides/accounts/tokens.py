"""Bearer tokens of linked accounts (docs/service-interface.md Authentication, 2).

A token is refreshed once for all callers. An account whose refresh is refused must be linked again.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final, Protocol, TypeVar

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import InstrumentedAttribute

from ridedash.rides.state.codes import KEY_MISSING, NO_CONNECTION, RECONNECT
from ridedash.service.errors import Refused, ServiceError, Unauthorized
from ridedash.service.oauth import OAuthClient, SingleFlight, Tokens
from ridedash.store import audit
from ridedash.store.accounts import keep_tokens
from ridedash.store.actors import WORKER
from ridedash.store.database.database import Clock, Database, DatabaseBusy
from ridedash.store.encryption import DecryptionFailed, TokenVault, key_of
from ridedash.store.models.people import Account
from ridedash.wire import normal_code

GRANT_GONE: Final = "INVALID_GRANT"  # RFC 6749 5.2: expired, revoked, or given to another client
EARLY: Final = timedelta(seconds=60)  # a token is refreshed this long before it expires
# how long a worker that can't decrypt an account's token leaves its work to other workers
ELSEWHERE: Final = timedelta(seconds=5)
# longer than a refresh and several tries to store its tokens in a busy database take
LEASE: Final = timedelta(seconds=30)
WAIT_S: Final = 8.0  # how long to wait for the process that has the lease
LOOK_EVERY_S: Final = 0.05  # while waiting for that process
LOGGED_EVERY_S: Final = 60.0  # a missing key is logged this often, not for each poll
CACHED_S: Final = 5.0  # polls may use a token this long after its account was unlinked
MOST_CACHED: Final = 10_000  # accounts

log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class NeedsReconnect(Exception):
    """The account can't be used until a member of staff links it again."""

    code = RECONNECT


class NoRefreshNow(Exception):
    """The refresh got no clear answer; a later one may succeed, and the account may be valid."""

    code = NO_CONNECTION


class TokenUnreadable(NoRefreshNow):
    """The token can't be decrypted with the keys of this process.

    The settings of this process are wrong, not the account, so the account's state stays: another
    process may have the key, and this one may have it after a restart.
    """

    code = KEY_MISSING


class TokenSource(Protocol):
    """Provides the token of an account, and a new one when a token was refused."""

    def bearer(self, account_id: int) -> str:
        """A token to call with. Raises NeedsReconnect, NoRefreshNow."""

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which was refused. Raises NeedsReconnect, NoRefreshNow."""


def call_with_token(
    tokens: TokenSource, account_id: int, call: Callable[[str], _Answer]
) -> _Answer:
    """Make a call with an account's token; after a 401 repeat it once with a fresh token.

    Not for create: rides/state/settle.py decides whether that may be repeated
    (docs/booking-protocol.md 1.4). Raises NeedsReconnect, NoRefreshNow, and what `call` raises.
    """
    token = tokens.bearer(account_id)
    try:
        return call(token)
    except Unauthorized:
        return call(tokens.refreshed(account_id, token))


class AccountTokens:
    """The tokens of all accounts. Safe to share between threads; processes share the database.

    The service may accept a refresh token only once. So a refresh needs a lease, and callers
    without it wait for the new token.
    """

    def __init__(
        self,
        db: Database,
        vault: TokenVault,
        oauth: OAuthClient | None,
        clock: Clock,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.db = db
        self.vault = vault
        self.oauth = oauth
        self.clock = clock
        self._flight = SingleFlight()
        self._lease = RefreshLease(db, clock)
        self._pause = pause
        # tokens that could not be stored yet, by account, with the encrypted token that they
        # replace
        self._unsaved: dict[int, tuple[str | None, Tokens]] = {}
        # by key id: when its absence was last logged (monotonic)
        self._logged: dict[str, float] = {}

    def bearer(self, account_id: int) -> str:
        """A token to call with, refreshed first when it is about to expire.

        Raises NeedsReconnect, NoRefreshNow.
        """
        if account_id in self._unsaved:
            # store them first: until then others read the old refresh token, which is used up
            with suppress(NoRefreshNow):
                return self.refreshed(account_id, "")
        row, access, refresh = self._read(account_id)
        left = None if row.expires_at is None else row.expires_at - self.clock()
        if left is None or left >= EARLY or not refresh:
            return access
        try:
            return self.refreshed(account_id, access)
        except NoRefreshNow:
            if left <= timedelta(0):
                raise
            return access  # it is still valid

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which the service refused: one refresh for all callers.

        Raises NeedsReconnect when the refresh is refused (the account's state is "reconnect" then),
        NoRefreshNow without a clear answer.
        """
        return self._flight.do(account_id, lambda: self._refresh(account_id, stale))

    def foreign(
        self, account_id: ColumnElement[int] | InstrumentedAttribute[int]
    ) -> ColumnElement[bool]:
        """A condition for queries: no key of this process decrypts the token of this account."""
        encrypted = Account.access_token_enc
        others = (encrypted.not_like(f"{name}.%") for name in sorted(self.vault.names))
        # for a row without a token, the SQL condition is NULL: neither true nor false
        return select(Account.id).where(Account.id == account_id, *others).exists()

    def _refresh(self, account_id: int, stale: str) -> str:
        """Refresh under the lease, or wait for the process that has it."""
        until = time.monotonic() + WAIT_S
        while True:
            self._save(account_id)
            row, access, refresh = self._read(account_id)
            if access != stale:
                return access  # another process has refreshed it
            if refresh is None or self.oauth is None:
                raise self._lost(account_id, row.access_token_enc, "no refresh token")
            if self._lease.claim(account_id, row.access_token_enc):
                return self._exchange(row, (access, refresh), self.oauth)
            if time.monotonic() >= until:
                raise NoRefreshNow(f"account {account_id}: another process refreshes its token")
            self._pause(LOOK_EVERY_S)

    def _exchange(self, row: Account, used: tuple[str, str], oauth: OAuthClient) -> str:
        """Exchange the refresh token for new tokens; `used` is (access token, refresh token)."""
        account_id = row.id
        try:
            self._unsaved[account_id] = row.access_token_enc, oauth.refresh(used[1])
        except ServiceError as error:
            if isinstance(error, Refused) and normal_code(error.code or "") == GRANT_GONE:
                current, access, refresh = self._read(account_id)
                # compared in plain text: after a rotation of keys the same token is encrypted anew
                if (access, refresh) != used:
                    return access  # another process used the refresh token first
                raise self._lost(account_id, current.access_token_enc, "refused") from error
            # any other error may be temporary or due to our configuration, and proves nothing about
            # this account
            self._lease.release(account_id)
            raise NoRefreshNow(f"account {account_id}") from error
        fresh = self._unsaved[account_id][1].access_token
        self._save(account_id)
        return fresh

    def _save(self, account_id: int) -> None:
        """Store new tokens, unless the account has been linked again meanwhile.

        Raises NoRefreshNow when they can't be written: they stay in memory until they can, because
        without them the account would have to be linked again.
        """
        if account_id not in self._unsaved:
            return
        encrypted, tokens = self._unsaved[account_id]
        try:
            with self.db.write() as s:
                row = s.get_one(Account, account_id, with_for_update=True)
                # rotating keys re-encrypts the token but keeps the lease; linking the account again
                # removes the lease
                same = row.access_token_enc == encrypted or row.refresh_owner == self._lease.owner
                if same and row.access_token_enc is not None:
                    keep_tokens(
                        row,
                        self.vault,
                        tokens.access_token,
                        tokens.refresh_token,
                        tokens.expires_in_s,
                        self.clock(),
                    )
        except (DatabaseBusy, SQLAlchemyError) as error:
            raise NoRefreshNow(
                f"account {account_id}: its new tokens are not stored yet"
            ) from error
        del self._unsaved[account_id]

    def _read(self, account_id: int) -> tuple[Account, str, str | None]:
        """The row of an account, its access token and its refresh token, decrypted."""
        with self.db.read() as s:
            row = s.get(Account, account_id)
        if row is None or row.state != "ok" or row.access_token_enc is None:
            raise NeedsReconnect(f"account {account_id}")
        access = self._decrypted(row.id, row.access_token_enc, "access_token")
        if not row.refresh_token_enc:
            return row, access, None
        return row, access, self._decrypted(row.id, row.refresh_token_enc, "refresh_token")

    def _decrypted(self, account_id: int, encrypted: str, column: str) -> str:
        try:
            return self.vault.decrypt(encrypted, "accounts", account_id, column)
        except DecryptionFailed as error:
            self._log_unreadable(account_id, key_of(encrypted, self.vault.names))
            raise TokenUnreadable(f"account {account_id}") from error

    def _log_unreadable(self, account_id: int, key: str) -> None:
        """Log that the settings of this process are wrong, or that the row is damaged."""
        now = time.monotonic()
        if now - self._logged.get(key, -LOGGED_EVERY_S) < LOGGED_EVERY_S:
            return
        self._logged[key] = now
        fault = "does not name that key"
        if key in self.vault.names:
            fault = "has other bytes for it, or it is damaged"
        log.error(
            "account %d can't be used here: its stored token is encrypted with %s, and "
            "RIDEDASH_TOKEN_KEYS %s",
            account_id,
            key,
            fault,
        )

    def _lost(self, account_id: int, encrypted: str | None, why: str) -> NeedsReconnect:
        """Set the account to "reconnect", unless it was linked again since.

        Returns the error to raise. The account's rides keep the facts of their last polls.
        """
        now = self.clock()
        lost = False
        with self.db.write() as s:
            row = s.get(Account, account_id, with_for_update=True)
            if row is not None and row.state != "reconnect" and row.access_token_enc == encrypted:
                row.state = "reconnect"
                row.refresh_owner = row.refresh_until = None
                lost = True
                audit.record(
                    s,
                    WORKER,
                    "account.lost",
                    f"accounts:{account_id}",
                    why,
                    now,
                    property_id=row.property_id,
                )
        if lost:
            log.warning("account %d needs reconnecting: %s", account_id, why)
        return NeedsReconnect(f"account {account_id}")


class RefreshLease:
    """The leases that one process takes on the refresh of accounts (`accounts.refresh_owner`).

    Safe to share between threads.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db = db
        self.clock = clock
        self.owner = secrets.token_hex(8)  # of this process

    def claim(self, account_id: int, encrypted: str | None) -> bool:
        """Take the lease. False when another process has it, or the account's token has changed."""
        now = self.clock()
        # a lease too far in the future was written by a clock that has stepped back since
        free = or_(
            Account.refresh_until.is_(None),
            Account.refresh_until <= now,
            Account.refresh_until > now + LEASE,
        )
        same = (
            Account.id == account_id,
            Account.state == "ok",
            Account.access_token_enc == encrypted,
        )
        claim = (
            update(Account)
            .where(*same, free)
            .values(refresh_owner=self.owner, refresh_until=now + LEASE)
        )
        with self.db.write() as s:
            return s.connection().execute(claim).rowcount == 1

    def release(self, account_id: int) -> None:
        """End the lease, so that another process can refresh the token."""
        ours = update(Account).where(Account.id == account_id, Account.refresh_owner == self.owner)
        with self.db.write() as s:
            s.connection().execute(ours.values(refresh_owner=None, refresh_until=None))


class TokenCache:
    """Caches the tokens of AccountTokens for CACHED_S, for the polls of a worker.

    Safe to share between threads. Errors are never cached.
    """

    def __init__(
        self, tokens: AccountTokens, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._tokens = tokens
        self._monotonic = monotonic
        self._cached: dict[int, tuple[float, str]] = {}
        self._lock = threading.Lock()

    def bearer(self, account_id: int) -> str:
        """A token to call with. Raises NeedsReconnect, NoRefreshNow."""
        now = self._monotonic()
        cached = self._cached.get(account_id)
        if cached is not None and now - cached[0] < CACHED_S:
            return cached[1]
        token = self._tokens.bearer(account_id)
        with self._lock:
            if len(self._cached) >= MOST_CACHED:
                self._cached.clear()
            self._cached[account_id] = (now, token)
        return token

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which was refused. Raises NeedsReconnect, NoRefreshNow."""
        with self._lock:
            self._cached.pop(account_id, None)
        return self._tokens.refreshed(account_id, stale)
