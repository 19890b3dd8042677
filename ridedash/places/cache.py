"""Values kept for a while, in a bounded memory that threads share."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class Memory:
    """Values kept for a while, the least used forgotten first. Safe to share between threads."""

    def __init__(self, size: int, now: Callable[[], float]) -> None:
        self._size, self._now = size, now
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[float, Any]] = OrderedDict()

    def get(self, key: Any) -> Any | None:
        with self._lock:
            until, value = self._kept.get(key, (0.0, None))
            if value is None or until <= self._now():
                return None
            self._kept.move_to_end(key)
            return value

    def put(self, key: Any, value: Any, ttl_s: float) -> None:
        with self._lock:
            now = self._now()
            self._kept[key] = (now + ttl_s, value)
            self._kept.move_to_end(key)
            while (
                len(self._kept) > self._size
                or next(iter(self._kept.values()))[0] <= now < now + ttl_s
            ):
                self._kept.popitem(last=False)
