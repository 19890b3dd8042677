"""A file to which lines are appended and synced, in disk space that is reserved ahead.

See docs/booking-protocol.md 1.7.
"""

import contextlib
import os
import threading
from pathlib import Path
from typing import Final

# how many zero bytes are written ahead of the lines, so that a new line needs no free disk space
PREPARED: Final = 128 * 1024
# with fewer prepared bytes than this, `ready` prepares more; if that fails, nothing is sent
RESERVE: Final = 32 * 1024
BLOCK: Final = 64 * 1024  # bytes read at once while searching for the last line


class AppendFile:
    """A file of lines with zeros prepared after them. Several threads share one sync.

    Raises OSError when it can't be opened, or its zeros can't be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._syncing = threading.Lock()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # whether a write or a sync has failed: no further line counts as synced before the repair
        self._broken = False
        self._written = self._synced = 0  # numbers of the last appended and the last synced line
        self._unsynced = bytearray()  # the lines after the last synced one
        try:
            self._end = _end_of(self._fd)
            self._size = os.fstat(self._fd).st_size
            self._prepare()
            _sync_folder(path.parent)
        except BaseException:
            os.close(self._fd)
            raise

    def ready(self) -> bool:
        """Whether a line could be appended now. After a failure it repairs the file first."""
        try:
            if self._broken:
                self._repair()
            with self._lock:
                if not is_in_place(self._fd, self.path):
                    return False
                if self._size - self._end < RESERVE:
                    self._prepare()
        except OSError:
            return False
        return True

    def append(self, line: bytes, *, sync: bool) -> None:
        """Append a line; with `sync` it is on disk when this returns. Raises OSError."""
        with self._lock:
            if not is_in_place(self._fd, self.path):
                raise OSError("the sent journal is gone from its folder")
            try:
                if self._size - self._end < len(line):
                    self._prepare()
                if os.pwrite(self._fd, line, self._end) != len(line):
                    raise OSError("the sent journal took only a part of the line")
            except OSError:
                self._broken = True
                raise
            self._end += len(line)
            self._unsynced += line
            self._written += 1
            number = self._written
        if sync:
            self._sync(number)

    def flush(self) -> None:
        """Sync the appended lines. Raises OSError."""
        self._sync(self._written)

    def close(self) -> None:
        """Sync, release the reserved bytes, and close."""
        with self._syncing, self._lock:
            if self._fd >= 0:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, self._end)
                    os.fsync(self._fd)
                os.close(self._fd)
            self._fd = -1

    def _sync(self, number: int) -> None:
        """Sync up to the line with that number, unless the sync of another thread included it."""
        with self._syncing:
            if self._synced >= number:
                return
            with self._lock:
                self._require_whole()
                reached = self._written
                length = len(self._unsynced)
            try:
                os.fdatasync(self._fd)
            except OSError:
                self._broken = True
                raise
            with self._lock:
                self._require_whole()
                self._synced = reached
                del self._unsynced[:length]

    def _require_whole(self) -> None:
        """Raise OSError after a failure, even if the last sync succeeded.

        The system reports lost blocks only once, and perhaps to the sync of another thread.
        """
        if self._broken:
            raise OSError("lines of the sent journal may be lost")

    def _repair(self) -> None:
        """Write once more what a failed sync may have lost. Raises OSError.

        The newline overwrites the first byte that a failed append may have left. The caller of that
        append was told that its line is not journalled, so a reader must not accept what is left.
        """
        with self._syncing, self._lock:
            if not self._broken or not is_in_place(self._fd, self.path):
                return
            os.pwrite(self._fd, self._unsynced + b"\n", self._end - len(self._unsynced))
            os.fdatasync(self._fd)
            self._end += 1
            self._synced = self._written
            self._broken = False
            self._unsynced.clear()

    def _prepare(self) -> None:
        """Write zeros after the lines, so that no later line needs a new block."""
        wanted = self._end + PREPARED
        if self._size >= wanted:
            return
        os.posix_fallocate(self._fd, self._size, wanted - self._size)
        os.pwrite(self._fd, b"\0" * (wanted - self._size), self._size)
        try:
            os.fsync(self._fd)
        except OSError:
            self._broken = True
            raise
        self._size = wanted


def is_in_place(fd: int, path: Path) -> bool:
    """Whether an open file is still the file at its path: not deleted, moved away or replaced."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except OSError:
        return False


def _end_of(fd: int) -> int:
    """The position of the next line: after the last byte that is not zero.

    A partly written line is ended with a newline, so that the next line starts properly.
    """
    end = os.fstat(fd).st_size
    while end > 0:
        begin = max(0, end - BLOCK)
        block = os.pread(fd, end - begin, begin).rstrip(b"\0")
        if block:
            end = begin + len(block)
            if block[-1:] != b"\n":  # the process or the machine stopped while a line was written
                os.pwrite(fd, b"\n", end)
                end += 1
            return end
        end = begin
    return 0


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
