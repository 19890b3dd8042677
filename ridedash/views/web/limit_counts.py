"""How often each limit was used in this process.

The memory storage that Flask-Limiter brings starts a thread for nearly every request that it
counts, and that thread looks at each count of the process. This storage starts none.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from limits.storage import Storage

SCHEME: Final = "counts"  # in RATELIMIT_STORAGE_URI
PURGE_S: Final = 60.0  # how often the counts that have ended are dropped


class LimitCounts(Storage):
    """Counts by key, each until it ends. Safe to share between threads."""

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - declared so by its parent

    def __init__(self, uri: str | None = None, **options: float | str | bool) -> None:
        super().__init__(uri, **options)  # type: ignore[arg-type]
        self.now: Callable[[], float] = time.time
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[int, float]] = {}  # how many, and until when
        self._purge_at = 0.0

    @property
    def base_exceptions(self) -> type[Exception]:
        """The exceptions of a storage that fails: this one does not fail."""
        return ValueError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count `amount` more; `expiry` is for how many seconds a new count lasts."""
        now = self.now()
        with self._lock:
            if now >= self._purge_at:
                self._counts = {k: each for k, each in self._counts.items() if now < each[1]}
                self._purge_at = now + PURGE_S
            count, until = self._counts.get(key, (0, 0.0))
            if until <= now:
                count = 0
                until = now + expiry
            self._counts[key] = count + amount, until
        return count + amount

    def get(self, key: str) -> int:
        """How many were counted."""
        count, until = self._counts.get(key, (0, 0.0))
        return count if self.now() < until else 0

    def get_expiry(self, key: str) -> float:
        """When the count ends, in seconds of the epoch."""
        return self._counts.get(key, (0, self.now()))[1]

    def check(self) -> bool:
        """Whether the storage works."""
        return True

    def reset(self) -> int:
        """Begin anew. Returns how many keys there were."""
        with self._lock:
            known = len(self._counts)
            self._counts = {}
        return known

    def clear(self, key: str) -> None:
        """Begin one count anew."""
        with self._lock:
            self._counts.pop(key, None)
