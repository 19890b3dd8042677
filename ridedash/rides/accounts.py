"""Bearer tokens of linked accounts: read, refreshed once for all who ask, or marked as needing a new link."""

from datetime import timedelta
from typing import Final

from ridedash.rides.moves import Clock
from ridedash.service.errors import Refused, ServiceError
from ridedash.service.oauth import OAuthClient, SingleFlight
from ridedash.store import audit
from ridedash.store.crypto import Sealed, TokenVault
from ridedash.store.db import Database
from ridedash.store.people import Account, keep_tokens
from ridedash.wire import normal_code

GRANT_GONE: Final = "INVALID_GRANT"  # RFC 6749 5.2: expired, revoked, or given to another client
EARLY: Final = timedelta(seconds=60)  # refreshed before it ends in the middle of a call


class NeedsReconnect(Exception):
    """The account can't be used until a person links it again."""


class NoRefreshNow(Exception):
    """The refresh got no clear answer: try again later; the account may be fine."""


class AccountTokens:
    """The tokens of all accounts. Safe to share between threads."""

    def __init__(self, db: Database, vault: TokenVault, oauth: OAuthClient | None, clock: Clock) -> None:
        self.db, self.vault, self.oauth, self.clock = db, vault, oauth, clock
        self._flight = SingleFlight()

    def bearer(self, account_id: int) -> str:
        """A token to call with; refreshed first when it is about to end. Raises NeedsReconnect, NoRefreshNow."""
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

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which the service refused; one refresh, however many ask at once.

        Raises NeedsReconnect (and marks the account) when the link is gone, NoRefreshNow without a clear answer.
        """
        return self._flight.do(account_id, lambda: self._refresh(account_id, stale))

    def _refresh(self, account_id: int, stale: str) -> str:
        _, access, refresh = self._read(account_id)
        if access != stale:
            return access  # somebody was faster
        if refresh is None or self.oauth is None:
            raise self._lost(account_id, "no refresh token")
        try:
            tokens = self.oauth.refresh(refresh)
        except ServiceError as error:
            if isinstance(error, Refused) and normal_code(error.code or "") == GRANT_GONE:
                newer = self._read(account_id)[1]
                if newer != stale:
                    return newer  # another process used the refresh token first
                raise self._lost(account_id, "refused") from error
            # anything else may be our own configuration or a passing fault: it proves nothing about this account
            raise NoRefreshNow(f"account {account_id}") from error
        with self.db.write() as s:
            row = s.get_one(Account, account_id)
            keep_tokens(row, self.vault, tokens.access_token, tokens.refresh_token, tokens.expires_in_s, self.clock())
        return tokens.access_token

    def _read(self, account_id: int) -> tuple[Account, str, str | None]:
        with self.db.read() as s:
            row = s.get(Account, account_id)
        if row is None or row.state != "ok" or row.access_token_enc is None:
            raise NeedsReconnect(f"account {account_id}")
        try:
            access = self.vault.decrypt(row.access_token_enc, "accounts", row.id, "access_token")
            sealed = row.refresh_token_enc
            refresh = self.vault.decrypt(sealed, "accounts", row.id, "refresh_token") if sealed else None
        except Sealed as error:
            raise self._lost(account_id, "unreadable") from error
        return row, access, refresh

    def _lost(self, account_id: int, why: str) -> NeedsReconnect:
        """Mark the account; live rides keep their last facts."""
        now = self.clock()
        with self.db.write() as s:
            row = s.get(Account, account_id)
            if row is not None and row.state != "reconnect":
                row.state = "reconnect"
                place = row.property_id
                audit.record(s, "worker", "account.lost", f"accounts:{account_id}", why, now, property_id=place)
        return NeedsReconnect(f"account {account_id}")
