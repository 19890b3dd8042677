"""The sent journal: every order that was sent, on this machine's disk and not in the database.

See docs/booking-protocol.md 1.7. A database that was restored from a backup has forgotten what was
sent since; these files have not. Each worker appends to a file of its own, in lines that anybody
can read: a checksum and JSON. A line names no guest and no place.
"""

import contextlib
import json
import os
import threading
import zlib
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from ridedash.rides.orders.outcome import Outcome

KEPT: Final = timedelta(days=40)  # at least; a file goes when its newest line is older
FILE_LASTS: Final = timedelta(days=5)  # then a worker begins another file
# bytes that are written with zeros ahead, so that a line needs no free disk space
PREPARED: Final = 128 * 1024
RESERVE: Final = 32 * 1024  # with fewer prepared bytes than this, nothing is sent
BLOCK: Final = 64 * 1024
MARK: Final = 512  # bytes of each of the two places of a mark
# of an outcome: what proves or finds a booking, without the service's words and evidence
KEPT_OF_OUTCOME: Final = frozenset(
    {"state", "booking_id", "txn_id", "code", "http_status", "booking_timeout_s", "next_retry"}
)


@dataclass(frozen=True)
class Sent:
    """One order that was sent: what the journal holds of it.

    `database` tells databases apart (`restore.identity`); `outcome` holds the fields of
    KEPT_OF_OUTCOME, None while no answer is known.
    """

    reference: str
    attempt: int
    at: datetime
    database: str
    property_id: int
    account_id: int
    category: str
    outcome: dict[str, Any] | None = None


class Mark(NamedTuple):
    """How far a database had come when a worker last saw it: `epoch` restores, `beats` since."""

    epoch: int
    beats: int
    at: datetime
    database: str


class SentJournal:
    """What the workers of this machine have sent. Without a number it is only read.

    `number` is that of the worker's answer journal, whose lock makes its files this worker's own.
    Safe to share between threads. Raises OSError.
    """

    def __init__(self, folder: Path, number: int | None = None) -> None:
        self.folder, self.number = folder, number
        self._own_names = f"sent-{number}-"
        self._lock = threading.Lock()
        self._attempts: dict[str, int] = {}  # the last attempt of each reference
        self._read: dict[Path, int] = {}  # how far each file was read
        self._newest: dict[Path, datetime] = {}
        self._file = _AppendFile(self._own_files()[-1]) if number is not None else None
        self._before: _AppendFile | None = None  # open for threads that are still appending to it
        self.refresh()

    def ready(self) -> bool:
        """Whether an order could be journalled now; otherwise nothing is sent."""
        return self._file is not None and self._file.ready()

    def sent(self, entry: Sent) -> None:
        """Journal an order that is about to be sent. On disk when this returns. Raises OSError."""
        self._append(_line({"sent": entry.reference, **_facts_of(entry)}), sync=True)
        with self._lock:
            self._learn(entry.reference, entry.attempt)

    def answered(self, reference: str, attempt: int, outcome: Outcome) -> None:
        """Journal the outcome of an order that was sent; on disk with the next `flush` or order.

        Raises OSError.
        """
        facts = {name: v for name, v in asdict(outcome).items() if name in KEPT_OF_OUTCOME and v}
        self._append(_line({"answered": reference, "attempt": attempt, **facts}), sync=False)

    def flush(self) -> None:
        """Sync what was appended. Raises OSError."""
        if self._file is not None:
            self._file.flush()

    def knows(self, reference: str, attempt: int) -> bool:
        """Whether any worker of this machine has sent this attempt of an order, or a later one.

        As of the last `refresh`.
        """
        return self._attempts.get(reference, 0) >= attempt

    def attempts(self) -> dict[str, int]:
        """The last attempt of every order that was sent from this machine, by reference."""
        self.refresh()
        with self._lock:
            return dict(self._attempts)

    def entries(self, references: Collection[str]) -> list[Sent]:
        """What the journal holds of these orders' last attempts, the oldest first."""
        wanted, found = frozenset(references), dict[str, Sent]()
        answers: dict[tuple[str, int], dict[str, Any]] = {}
        for path in sorted(self.folder.glob("sent-*.log")):
            for _, record in _records(path, 0):
                entry = _entry(record)
                if entry is not None and entry.reference in wanted:
                    known = found.get(entry.reference)
                    if known is None or known.attempt < entry.attempt:
                        found[entry.reference] = entry
                elif record.get("answered") in wanted:
                    key = record["answered"], record.get("attempt", 0)
                    answers[key] = {k: v for k, v in record.items() if k in KEPT_OF_OUTCOME}
        whole = (replace(e, outcome=answers.get((e.reference, e.attempt))) for e in found.values())
        return sorted(whole, key=lambda entry: entry.at)

    def refresh(self) -> None:
        """Read what the other workers of this machine have appended since."""
        with self._lock:
            for path in sorted(self.folder.glob("sent-*.log")):
                # what this worker appends it learns at once
                if path not in self._read or not path.name.startswith(self._own_names):
                    self._read_on(path)

    def write_mark(self, mark: Mark) -> None:
        """Keep how far the database has come. Not synced: an older mark notices less, no more."""
        if self.number is None:
            return
        path = self.folder / f"mark-{self.number}"
        body = _line({**mark._asdict(), "at": mark.at.isoformat()}).ljust(MARK, b"\n")
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(fd, body, MARK * (mark.beats % 2))
        finally:
            os.close(fd)

    def mark(self, database: str) -> Mark | None:
        """The furthest that any worker of this machine has seen this database."""
        marks = []
        for path in self.folder.glob("mark-*"):
            with contextlib.suppress(OSError):
                marks += [_mark(line) for line in path.read_bytes().splitlines()]
        seen = [each for each in marks if each is not None and each.database == database]
        return max(seen, default=None)

    def drop_old(self, now: datetime, number: int | None = None) -> None:
        """Begin another file when this worker's is old, and delete files that are older than KEPT.

        `number`: of a worker that has ended, and whose answer journal this one has locked.
        """
        if number is not None:
            self._delete(self.folder.glob(f"sent-{number}-*.log"), now)
        elif self._file is not None:
            first = self._file.first_at()
            if first is not None and first < now - FILE_LASTS:
                self._begin_another()
            self._delete((p for p in self._own_files() if p != self._file.path), now)

    def close(self) -> None:
        """Sync and close this worker's file."""
        for file in (self._before, self._file):
            if file is not None:
                file.close()

    def _own_files(self) -> list[Path]:
        found = sorted(self.folder.glob(f"{self._own_names}*.log"))
        return found or [self.folder / f"{self._own_names}000001.log"]

    def _begin_another(self) -> None:
        assert self._file is not None
        count = int(self._file.path.stem.rpartition("-")[2])
        another = _AppendFile(self.folder / f"{self._own_names}{count + 1:06d}.log")
        if self._before is not None:
            self._before.close()
        self._before, self._file = self._file, another
        self._before.flush()
        self.refresh()

    def _append(self, line: bytes, *, sync: bool) -> None:
        file = self._file
        if file is None:
            raise OSError("this journal is only read")
        file.append(line, sync=sync)

    def _read_on(self, path: Path) -> None:
        for end, record in _records(path, self._read.get(path, 0)):
            self._read[path] = end
            entry = _entry(record)
            if entry is not None:
                self._learn(entry.reference, entry.attempt)
                self._newest[path] = max(self._newest.get(path, entry.at), entry.at)
        self._read.setdefault(path, 0)

    def _learn(self, reference: str, attempt: int) -> None:
        self._attempts[reference] = max(attempt, self._attempts.get(reference, 0))

    def _delete(self, paths: Iterator[Path], now: datetime) -> None:
        """Delete files that hold nothing, or nothing that is young enough."""
        for path in paths:
            with self._lock:
                self._read_on(path)
                newest = self._newest.get(path)
            if newest is not None and newest < now - KEPT:
                path.unlink(missing_ok=True)


class _AppendFile:
    """A file of lines with zeros prepared behind them. Several threads share one sync."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock, self._syncing = threading.Lock(), threading.Lock()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._broken = False
        self._written = self._synced = 0  # numbers of appended lines
        try:
            self._end = _end_of(self._fd)
            self._size = os.fstat(self._fd).st_size
            self._prepare()
            _sync_folder(path.parent)
        except BaseException:
            os.close(self._fd)
            raise

    def ready(self) -> bool:
        """Whether a line could be appended now. A failure is followed by a trial."""
        with self._lock:
            if self._fd < 0:
                return False
            try:
                if self._size - self._end < RESERVE:
                    self._prepare()
                if self._broken:
                    os.pwrite(self._fd, b"\n", self._end)
                    os.fdatasync(self._fd)
                    self._end, self._broken = self._end + 1, False
            except OSError:
                return False
            return True

    def append(self, line: bytes, *, sync: bool) -> None:
        """Append a line; with `sync` it is on disk when this returns. Raises OSError."""
        with self._lock:
            try:
                if self._size - self._end < len(line):
                    self._prepare()
                if os.pwrite(self._fd, line, self._end) != len(line):
                    raise OSError("the sent journal took only a part of the line")
            except OSError:
                self._broken = True
                raise
            self._end += len(line)
            self._written += 1
            number = self._written
        if sync:
            self._sync(number)

    def flush(self) -> None:
        """Sync what was appended. Raises OSError."""
        self._sync(self._written)

    def first_at(self) -> datetime | None:
        """The moment of the first line; None without one."""
        found = (_entry(record) for _, record in _records(self.path, 0))
        return next((entry.at for entry in found if entry is not None), None)

    def close(self) -> None:
        """Sync, give back the prepared bytes, and close."""
        with self._syncing, self._lock:
            if self._fd >= 0:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, self._end)
                    os.fsync(self._fd)
                os.close(self._fd)
            self._fd = -1

    def _sync(self, number: int) -> None:
        """Sync the line of that number; a thread whose line another one has synced is done."""
        with self._syncing:
            if self._synced >= number:
                return
            reached = self._written
            try:
                os.fdatasync(self._fd)
            except OSError:
                self._broken = True
                raise
            self._synced = reached

    def _prepare(self) -> None:
        """Write zeros behind the lines, so that no later line needs a new block."""
        wanted = self._end + PREPARED
        if self._size >= wanted:
            return
        os.posix_fallocate(self._fd, self._size, wanted - self._size)
        os.pwrite(self._fd, b"\0" * (wanted - self._size), self._size)
        os.fsync(self._fd)
        self._size = wanted


def _line(record: dict[str, Any]) -> bytes:
    body = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _facts_of(entry: Sent) -> dict[str, Any]:
    facts = asdict(entry) | {"at": entry.at.astimezone(UTC).isoformat()}
    del facts["reference"], facts["outcome"]
    return facts


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None for one that is torn or damaged."""
    try:
        checksum, body = int(line[:8], 16), line[9:]
        record = json.loads(body) if zlib.crc32(body) == checksum else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _entry(record: dict[str, Any]) -> Sent | None:
    """The order of a record; None when it is the record of an answer."""
    try:
        return Sent(
            reference=str(record["sent"]),
            attempt=int(record["attempt"]),
            at=datetime.fromisoformat(record["at"]),
            database=str(record["database"]),
            property_id=int(record["property_id"]),
            account_id=int(record["account_id"]),
            category=str(record["category"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _mark(line: bytes) -> Mark | None:
    record = _parsed(line.strip(b"\0"))
    try:
        return Mark(**{**record, "at": datetime.fromisoformat(record["at"])}) if record else None
    except (KeyError, TypeError, ValueError):
        return None


def _records(path: Path, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The sound records from a position on, each with the position behind it.

    A file that another worker has deleted has none.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rest = b""
        while block := os.pread(fd, BLOCK, start + len(rest)).rstrip(b"\0"):
            rest += block
            *lines, rest = rest.split(b"\n")
            for line in lines:
                start += len(line) + 1
                record = _parsed(line.strip(b"\0"))
                if record is not None:
                    yield start, record
            if len(block) < BLOCK:
                return
    finally:
        os.close(fd)


def _end_of(fd: int) -> int:
    """Where the next line begins: behind the last byte that is not zero, on a line of its own."""
    end = os.fstat(fd).st_size
    while end > 0:
        begin = max(0, end - BLOCK)
        block = os.pread(fd, end - begin, begin).rstrip(b"\0")
        if block:
            end = begin + len(block)
            if block[-1:] != b"\n":  # a line that was torn
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
