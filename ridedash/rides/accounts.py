"""Bearer tokens of linked accounts: read, refreshed once for all who ask, or marked as needing a new link."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ridedash.store.crypto import TokenVault
from ridedash.store.db import Database

if TYPE_CHECKING:
    from ridedash.service.oauth import OAuthClient


class NeedsReconnect(Exception):
    """The account can't be used until a person links it again."""


class AccountTokens:
    """The tokens of all accounts. Safe to share between threads."""

    def __init__(
        self, db: Database, vault: TokenVault, oauth: "OAuthClient | None", clock: Callable[[], datetime]
    ) -> None:
        self.db, self.vault, self.oauth, self.clock = db, vault, oauth, clock

    def bearer(self, account_id: int) -> str:
        """A token to call with; refreshed first when it is about to end. Raises NeedsReconnect."""
        raise NotImplementedError

    def refreshed(self, account_id: int, stale: str) -> str:
        """A token other than `stale`, which the service refused; one refresh however many ask. Raises NeedsReconnect."""
        raise NotImplementedError
