"""Bearer tokens of linked accounts: read, refreshed once for all who ask, or marked as needing a
new link.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import InstrumentedAttribute

from ridedash.rides.codes import KEY_MISSING, NO_CONNECTION, RECONNECT
from ridedash.rides.runtime import Clock
from ridedash.service.errors import Refused, ServiceError
from ridedash.service.oauth import OAuthClient, SingleFlight, Tokens
from ridedash.store import audit
from ridedash.store.accounts import keep_tokens
from ridedash.store.database.database import Database, DatabaseBusy
from ridedash.store.encryption import DecryptionFailed, TokenVault, key_of
from ridedash.store.models.people import Account
from ridedash.wire import normal_code

LASTS: Final = timedelta(seconds=10)  # longer than a refresh may take


class RefreshLease:
    """The leases that one process takes on `accounts.refresh_owner`.

    Safe to share between threads.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db, self.clock, self.owner = db, clock, secrets.token_hex(8)

    def take(self, account_id: int, sealed: str | None) -> bool:
        """True when it is ours now, and the account still has the access token that was read
        (`sealed`).
        """
        now = self.clock()
        free = or_(  # one that ends too far ahead was taken by a clock that has stepped back since
            Account.refresh_until.is_(None),
            Account.refresh_until <= now,
            Account.refresh_until > now + LASTS,
        )
        ours = (
            update(Account)
            .where(
                Account.id == account_id,
                Account.state == "ok",
                Account.access_token_enc == sealed,
                free,
            )
            .values(refresh_owner=self.owner, refresh_until=now + LASTS)
        )
        with self.db.write() as s:
            return s.connection().execute(ours).rowcount == 1

    def drop(self, account_id: int) -> None:
        """Give it up, so that another may try."""
        ours = update(Account).where(Account.id == account_id, Account.refresh_owner == self.owner)
        with self.db.write() as s:
            s.connection().execute(ours.values(refresh_owner=None, refresh_until=None))


GRANT_GONE: Final = "INVALID_GRANT"  # RFC 6749 5.2: expired, revoked, or given to another client
WAIT_S: Final = 8.0  # for the process that has the lease
LOOK_EVERY_S: Final = 0.05
EARLY: Final = timedelta(seconds=60)  # refreshed before it ends in the middle of a call
# for so long what is due is left to a worker that can read its account's token
ELSEWHERE: Final = timedelta(seconds=5)
SAID_EVERY_S: Final = 60.0  # that a key is missing: every poll finds it out anew
log = logging.getLogger(__name__)


class NeedsReconnect(Exception):
    """The account can't be used until a person links it again."""

    code = RECONNECT


class NoRefreshNow(Exception):
    """The refresh got no clear answer: try again later; the account may be fine."""

    code = NO_CONNECTION


class TokenUnreadable(NoRefreshNow):
    """The token can't be read with the keys of this process: a fault of its settings, and no news
    of the account.

    So it is never filed: another process may have the key, and this one has it after its next
    start.
    """

    code = KEY_MISSING


class AccountTokens:
    """The tokens of all accounts. Safe to share between threads, and between processes on one
    database.

    A refresh token may be good for one use, so a refresh is leased: whoever has no lease waits for
    the new token.
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
        self.db, self.vault, self.oauth, self.clock = db, vault, oauth, clock
        self._flight = SingleFlight()
        self._lease = RefreshLease(db, clock)
        self._pause = pause
        # new tokens that the database did not take yet
        self._unsaved: dict[int, tuple[str | None, Tokens]] = {}
        self._said: dict[str, float] = {}  # when a key was last told to be missing, monotonic

    def bearer(self, account_id: int) -> str:
        """A token to call with; refreshed first when it is about to end. Raises NeedsReconnect,
        NoRefreshNow.
        """
        row, access, refresh = self._read(account_id)
        left = None if row.expires_at is None else row.expires_at - self.clock()
        if left is None or left >= EARLY or not refresh:
            return access
        try:
            return self.refreshed(account_id, access)
        except NoRefreshNow:
            if left <= timedelta(0):
                raise
            return access  # it still holds for a moment

    def foreign(
        self, account_id: "ColumnElement[int] | InstrumentedAttribute[int]"
    ) -> ColumnElement[bool]:
        """Whether an account, by a column of a query, has a token that no key of ours opens;
        another's may.
        """
        sealed = Account.access_token_enc
        others = (sealed.not_like(f"{name}.%") for name in sorted(self.vault.names))
        return (
            select(Account.id)
            .where(Account.id == account_id, sealed.is_not(None), *others)
            .exists()
        )

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which the service refused; one refresh, however many ask at
        once.

        Raises NeedsReconnect (and marks the account) when the link is gone, NoRefreshNow without a
        clear answer.
        """
        return self._flight.do(account_id, lambda: self._refresh(account_id, stale))

    def _refresh(self, account_id: int, stale: str) -> str:
        """Refresh under a lease, or wait for whoever has it."""
        until = time.monotonic() + WAIT_S
        while True:
            self._save(account_id)
            row, access, refresh = self._read(account_id)
            if access != stale:
                return access  # somebody was faster
            if refresh is None or self.oauth is None:
                raise self._lost(account_id, row.access_token_enc, "no refresh token")
            if self._lease.take(account_id, row.access_token_enc):
                return self._ask(row, (access, refresh), self.oauth)
            if time.monotonic() >= until:
                raise NoRefreshNow(f"account {account_id}: another process asks for its tokens")
            self._pause(LOOK_EVERY_S)

    def _ask(self, row: Account, held: tuple[str, str], oauth: OAuthClient) -> str:
        account_id = row.id
        try:
            self._unsaved[account_id] = row.access_token_enc, oauth.refresh(held[1])
        except ServiceError as error:
            if isinstance(error, Refused) and normal_code(error.code or "") == GRANT_GONE:
                now, access, again = self._read(account_id)
                if (access, again) != held:  # in plain text: rotated keys seal the same ones anew
                    return access  # another process used the refresh token first
                raise self._lost(account_id, now.access_token_enc, "refused") from error
            # anything else may be our own configuration or a passing fault: it proves nothing about
            # this account
            self._lease.drop(account_id)
            raise NoRefreshNow(f"account {account_id}") from error
        fresh = self._unsaved[account_id][1].access_token
        self._save(account_id)
        return fresh

    def _save(self, account_id: int) -> None:
        """Keep new tokens, unless the account has been linked anew meanwhile.

        They stay in hand when the database takes nothing just now: lost ones would sign the account
        out.
        """
        if account_id not in self._unsaved:
            return
        sealed, tokens = self._unsaved[account_id]
        try:
            with self.db.write() as s:
                row = s.get_one(Account, account_id, with_for_update=True)
                # rotated keys seal the same token anew, and leave the lease that a new link takes
                # away
                same = row.access_token_enc == sealed or row.refresh_owner == self._lease.owner
                if same and row.access_token_enc is not None:
                    given = tokens.access_token, tokens.refresh_token, tokens.expires_in_s
                    keep_tokens(row, self.vault, *given, self.clock())
        except (DatabaseBusy, SQLAlchemyError) as error:
            raise NoRefreshNow(f"account {account_id}: its new tokens can't be kept yet") from error
        del self._unsaved[account_id]

    def _read(self, account_id: int) -> tuple[Account, str, str | None]:
        with self.db.read() as s:
            row = s.get(Account, account_id)
        if row is None or row.state != "ok" or row.access_token_enc is None:
            raise NeedsReconnect(f"account {account_id}")
        access, sealed = (
            self._opened(row.id, row.access_token_enc, "access_token"),
            row.refresh_token_enc,
        )
        return row, access, self._opened(row.id, sealed, "refresh_token") if sealed else None

    def _opened(self, account_id: int, sealed: str, column: str) -> str:
        try:
            return self.vault.decrypt(sealed, "accounts", account_id, column)
        except DecryptionFailed as error:
            self._say(account_id, key_of(sealed))
            raise TokenUnreadable(f"account {account_id}") from error

    def _say(self, account_id: int, key: str) -> None:
        """To whoever runs this process: the fault is in its settings, unless the row itself was
        damaged.
        """
        now = time.monotonic()
        if now - self._said.get(key, -SAID_EVERY_S) < SAID_EVERY_S:
            return
        self._said[key] = now
        lacks = (
            "has other bytes for it, or it is damaged"
            if key in self.vault.names
            else "does not name that key"
        )
        words = (
            "account %d can't be used here: its stored secret is sealed with %s, and "
            "RIDEDASH_TOKEN_KEYS %s"
        )
        log.error(words, account_id, key, lacks)

    def _lost(self, account_id: int, sealed: str | None, why: str) -> NeedsReconnect:
        """Mark the account, unless it has been linked anew meanwhile; live rides keep their last
        facts.
        """
        now, lost = self.clock(), False
        with self.db.write() as s:
            row = s.get(Account, account_id, with_for_update=True)
            if row is not None and row.state != "reconnect" and row.access_token_enc == sealed:
                row.state, lost = "reconnect", True
                row.refresh_owner = row.refresh_until = None
                place = row.property_id
                audit.record(
                    s,
                    "worker",
                    "account.lost",
                    f"accounts:{account_id}",
                    why,
                    now,
                    property_id=place,
                )
        if lost:
            log.warning("account %d needs reconnecting: %s", account_id, why)
        return NeedsReconnect(f"account {account_id}")


# so long an account that was unlinked or given another token here may still be asked with the old
KEPT_S: Final = 5.0
KEPT: Final = 10_000  # accounts


class Bearers:
    """What AccountTokens gives, a little later.

    Safe to share between threads; errors are never kept.
    """

    def __init__(
        self, tokens: AccountTokens, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._tokens, self._monotonic = tokens, monotonic
        self._kept: dict[int, tuple[float, str]] = {}
        self._lock = threading.Lock()

    def bearer(self, account_id: int) -> str:
        """A token to call with. Raises NeedsReconnect, NoRefreshNow."""
        now = self._monotonic()
        kept = self._kept.get(account_id)
        if kept is not None and now - kept[0] < KEPT_S:
            return kept[1]
        return self._keep(account_id, now, self._tokens.bearer(account_id))

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which was refused. Raises NeedsReconnect, NoRefreshNow."""
        with self._lock:
            self._kept.pop(account_id, None)
        return self._tokens.refreshed(account_id, stale)

    def _keep(self, account_id: int, now: float, token: str) -> str:
        with self._lock:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[account_id] = (now, token)
        return token
