"""The answer journal: answers to create, on disk before they are in the database.

See docs/booking-protocol.md 1.3.

A file of fixed slots, allocated when it is made: writing an answer needs no free space and no
database.
"""

import fcntl
import json
import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

SLOT: Final = 4096
SLOTS: Final = 256
HEAD: Final = 8  # length and checksum, four bytes each


class BoxFullError(OSError):
    """No slot is free: nothing more may be sent until the answers in it are settled."""


class BoxFile:
    """One file of slots, held by one process. Raises BlockingIOError when another holds it, OSError
    when it can't be.

    Safe to share between threads.
    """

    def __init__(self, path: Path, slots: int = SLOTS) -> None:
        self._lock, self._broken = threading.Lock(), False
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._allocate(slots)
        except BaseException:
            os.close(self._fd)
            raise
        self._free = [slot for slot in range(self._slots) if self._read(slot) is None]

    def _allocate(self, slots: int) -> None:
        size = os.fstat(self._fd).st_size
        if size < slots * SLOT:
            os.posix_fallocate(self._fd, 0, slots * SLOT)
            # written once, so that no write needs a new block
            os.pwrite(self._fd, b"\0" * (slots * SLOT - size), size)
            os.fsync(self._fd)
        self._slots = max(size // SLOT, slots)

    def ready(self) -> bool:
        """Whether an answer could be kept now.

        After a write that failed, a write that succeeds says so again.
        """
        with self._lock:
            if not self._free or self._fd < 0:
                return False
            if self._broken:
                self._broken = not self._takes(self._free[-1])
            return not self._broken

    def _takes(self, slot: int) -> bool:
        """Whether the disk takes a write into a free slot."""
        try:
            self._write(slot, b"\0" * SLOT)
        except OSError:
            return False
        return True

    def append(self, record: dict[str, Any]) -> int:
        """Keep a record; it is on the disk when this returns. Returns its slot. Raises OSError."""
        data = _packed(record)
        with self._lock:
            if not self._free:
                raise BoxFullError("the black box is full")
            slot = self._free.pop()
        try:
            self._write(slot, data)
        except OSError:
            with self._lock:
                self._broken = True
                self._free.append(slot)
            raise
        return slot

    def _write(self, slot: int, data: bytes) -> None:
        if os.pwrite(self._fd, data, slot * SLOT) != len(data):
            raise OSError("the black box took a part of the record")
        os.fdatasync(self._fd)

    def clear(self, slot: int) -> None:
        """Free a slot whose record is settled. Not synced: a replay of a settled record changes
        nothing.
        """
        os.pwrite(self._fd, b"\0" * HEAD, slot * SLOT)
        with self._lock:
            if slot not in self._free:
                self._free.append(slot)

    def pending(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """All records that are not cleared, with their slots. A torn or damaged one is left out."""
        for slot in range(self._slots):
            record = self._read(slot)
            if record is not None:
                yield slot, record

    def _read(self, slot: int) -> dict[str, Any] | None:
        data = os.pread(self._fd, SLOT, slot * SLOT)
        length, checksum = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:HEAD], "big")
        body = data[HEAD : HEAD + length]
        if not 0 < length <= SLOT - HEAD or zlib.crc32(body) != checksum:
            return None
        record: dict[str, Any] = json.loads(body)
        return record

    def close(self) -> None:
        """Give the file back; records stay in it."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd, self._free = -1, []


class BlackBox:
    """The box of one worker in `folder`: the first file there that nobody holds.

    Others' files can be replayed.
    """

    def __init__(self, folder: Path, slots: int = SLOTS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = self._first(slots)

    def _first(self, slots: int) -> BoxFile:
        number = 0
        while True:
            self.path = self.folder / f"answers-{number}.box"
            try:
                return BoxFile(self.path, slots)
            except BlockingIOError:
                number += 1

    def left_behind(self) -> Iterator[BoxFile]:
        """The files of workers that are gone, each open while it is looked at."""
        for path in sorted(self.folder.glob("answers-*.box")):
            if path == self.path:
                continue
            try:
                file = BoxFile(path)
            except OSError:
                continue
            try:
                yield file
            finally:
                file.close()

    def ready(self) -> bool:
        """Whether an answer could be kept now; without that nothing is sent."""
        return self.file.ready()

    def close(self) -> None:
        """Give the file back."""
        self.file.close()


def _packed(record: dict[str, Any]) -> bytes:
    """A record as it lies in a slot; its evidence gives way when it would not fit."""
    evidence = str(record.get("evidence") or "")
    while True:
        text = json.dumps({**record, "evidence": evidence}, ensure_ascii=False)
        body = text.encode("utf-8", "replace")
        if len(body) <= SLOT - HEAD or not evidence:
            break
        evidence = evidence[: len(evidence) // 2]
    return len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body
