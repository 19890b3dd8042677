"""Bearer tokens for polls, kept in the process for a few seconds: reading and unsealing one costs half a poll."""

import threading
import time
from collections.abc import Callable
from typing import Final

from ridedash.rides.accounts import AccountTokens

KEPT_S: Final = 5.0  # so long an account that was unlinked or given another token here may still be asked with the old
KEPT: Final = 10_000  # accounts


class Bearers:
    """What AccountTokens gives, a little later. Safe to share between threads; errors are never kept."""

    def __init__(self, tokens: AccountTokens, monotonic: Callable[[], float] = time.monotonic) -> None:
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
