"""The black box: answers to create, on disk before the database hears of them (booking-protocol.md 1.3)."""

from pathlib import Path


class BlackBox:
    """A preallocated file in `folder` that needs no free disk to write to, held by one worker."""

    def __init__(self, folder: Path) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Give the file back."""
