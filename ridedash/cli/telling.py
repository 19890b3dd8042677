"""What a command that starts slowly says meanwhile to the person who waits."""

import threading
from types import TracebackType
from typing import Final

EVERY_S: Final = 3.0  # a longer silence looks like a stop


class Telling:
    """Says every few seconds `what` is being done, until `end()` or the end of the block.

    A quick start says nothing.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._ended = threading.Event()

    def __enter__(self) -> "Telling":
        threading.Thread(target=self._tell, name="telling", daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Say nothing more."""
        self._ended.set()

    def _tell(self) -> None:
        while not self._ended.wait(EVERY_S):
            print(f"  … {self.what}", flush=True)
