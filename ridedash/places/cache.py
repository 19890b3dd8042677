"""A bounded, thread-safe cache whose values expire."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class TtlCache:
    """At most `size` values; the least recently used are removed first. `now` is in seconds."""

    def __init__(self, size: int, now: Callable[[], float]) -> None:
        self._size = size
        self._now = now
        self._lock = threading.Lock()
        self._entries: OrderedDict[Any, tuple[float, Any]] = OrderedDict()

    def get(self, key: Any) -> Any | None:
        """The value of a key; None when it is missing or expired."""
        with self._lock:
            until, value = self._entries.get(key, (0.0, None))
            if value is None or until <= self._now():
                return None
            self._entries.move_to_end(key)
            return value

    def put(self, key: Any, value: Any, ttl_s: float) -> None:
        """Store a value for `ttl_s` seconds."""
        with self._lock:
            now = self._now()
            self._entries[key] = (now + ttl_s, value)
            self._entries.move_to_end(key)
            # remove excess and expired entries from the front, but never the entry just stored
            while (
                len(self._entries) > self._size
                or next(iter(self._entries.values()))[0] <= now < now + ttl_s
            ):
                self._entries.popitem(last=False)
