"""The answer journal: stores answers to create on disk before the database hears of them.

See docs/booking-protocol.md 1.3. A journal file has fixed slots that are allocated when the file is
made, so that writing an answer needs neither free space nor a database.
"""

import fcntl
import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ridedash.rides.journals.append_file import is_in_place
from ridedash.rides.journals.sent_journal import SentJournal

SLOT: Final = 4096  # bytes
SLOTS: Final = 256  # far more answers than wait at once; the file stays at 1 MiB
HEAD: Final = 8  # bytes at the start of a slot: length and checksum, four each


class JournalFull(OSError):
    """No slot is free: nothing more may be sent until the stored answers are settled."""


class AnswerJournal:
    """The journal of one worker in `folder`: the first file there that no other process has locked.

    The files of workers that have ended can be replayed. `sent` is the journal of what was sent,
    under the same lock. Raises OSError.
    """

    def __init__(
        self, folder: Path, slots: int = SLOTS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = self._first_free(slots)
        try:
            self.sent = SentJournal(folder, _number_of(self.path), monotonic)
        except BaseException:
            self.file.close()
            raise

    def _first_free(self, slots: int) -> "JournalFile":
        number = 0
        while True:
            self.path = self.folder / f"answers-{number}.box"
            try:
                return JournalFile(self.path, slots)
            except BlockingIOError:
                number += 1

    def ready(self) -> bool:
        """Whether a send and its answer could be stored now; otherwise nothing is sent."""
        return self.file.ready() and self.sent.ready()

    def left_behind(self) -> Iterator["JournalFile"]:
        """The files of workers that have ended, each locked until the next one is returned."""
        for path in sorted(self.folder.glob("answers-*.box")):
            if path == self.path:
                continue
            try:
                file = JournalFile(path)
            except OSError:
                continue
            try:
                yield file
            finally:
                file.close()

    def drop_old(self, now: datetime) -> None:
        """Delete old sent journals, of this worker and of workers that have ended."""
        self.sent.drop_old(now)
        for file in self.left_behind():
            self.sent.drop_old(now, _number_of(file.path))

    def close(self) -> None:
        """Unlock the files; their records remain."""
        self.sent.close()
        self.file.close()


class JournalFile:
    """One file of slots, locked by one process. Safe to share between threads.

    Raises BlockingIOError when another process has locked it, OSError when it can't be opened or
    allocated.
    """

    def __init__(self, path: Path, slots: int = SLOTS) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._broken = False
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
            # writes every block once, so that no later write needs a new block
            os.pwrite(self._fd, b"\0" * (slots * SLOT - size), size)
            os.fsync(self._fd)
        self._slots = max(size // SLOT, slots)

    def ready(self) -> bool:
        """Whether a record could be written now. After a failed write, it tries a write first."""
        with self._lock:
            if not self._free or not is_in_place(self._fd, self.path):
                return False
            if self._broken:
                self._broken = not self._is_writable(self._free[-1])
            return not self._broken

    def append(self, record: dict[str, Any]) -> int:
        """Write a record and sync it to the disk. Returns its slot; raises JournalFull, OSError."""
        data = _packed(record)
        with self._lock:
            if not self._free:
                raise JournalFull("the answer journal is full")
            slot = self._free.pop()
        try:
            self._write(slot, data)
        except OSError:
            with self._lock:
                self._broken = True
                self._free.append(slot)
            raise
        return slot

    def pending(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The uncleared records with their slots; damaged records are left out."""
        for slot in range(self._slots):
            record = self._read(slot)
            if record is not None:
                yield slot, record

    def clear(self, slot: int, record: dict[str, Any] | None = None) -> None:
        """Free the slot of a settled record; with `record`, only if that is still in the slot.

        The change is not synced: replaying a settled record changes nothing.
        """
        with self._lock:
            if record is not None and self._read(slot) != record:
                return  # its sender has cleared it, and the slot may have another answer
            os.pwrite(self._fd, b"\0" * HEAD, slot * SLOT)
            if slot not in self._free:
                self._free.append(slot)

    def close(self) -> None:
        """Unlock and close the file; its records remain."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1
            self._free = []

    def _is_writable(self, slot: int) -> bool:
        """Whether a write into a free slot succeeds."""
        try:
            self._write(slot, b"\0" * SLOT)
        except OSError:
            return False
        return True

    def _write(self, slot: int, data: bytes) -> None:
        if os.pwrite(self._fd, data, slot * SLOT) != len(data):
            raise OSError("the answer journal took only a part of the record")
        os.fdatasync(self._fd)

    def _read(self, slot: int) -> dict[str, Any] | None:
        data = os.pread(self._fd, SLOT, slot * SLOT)
        length = int.from_bytes(data[:4], "big")
        checksum = int.from_bytes(data[4:HEAD], "big")
        body = data[HEAD : HEAD + length]
        if not body or zlib.crc32(body) != checksum:
            return None
        record: dict[str, Any] = json.loads(body)
        return record


def _number_of(path: Path) -> int:
    """The number in the name of a journal file: answers-<number>.box."""
    return int(path.stem.rpartition("-")[2])


def _packed(record: dict[str, Any]) -> bytes:
    """The bytes of a record in its slot; the evidence is shortened until the record fits."""
    evidence = str(record.get("evidence") or "")
    while True:
        text = json.dumps({**record, "evidence": evidence}, ensure_ascii=False)
        body = text.encode("utf-8", "replace")
        if len(body) <= SLOT - HEAD or not evidence:
            break
        evidence = evidence[: len(evidence) // 2]
    return len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body
