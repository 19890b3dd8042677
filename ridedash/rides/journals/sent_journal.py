"""The sent journal: a list of all sent orders on this machine's disk, outside the database.

See docs/booking-protocol.md 1.7. A database that was restored from a backup does not know what was
sent since the backup; these files do. Each worker appends to its own file, in readable lines of a
checksum and JSON. A line contains no guest and no place.
"""

import contextlib
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from ridedash.rides.journals.append_file import BLOCK, AppendFile
from ridedash.rides.state.outcome import Outcome

KEPT: Final = timedelta(days=40)  # at least; a file is deleted when its newest order is older
FILE_LASTS: Final = timedelta(days=5)  # after this time a worker begins another file
# how long the clock must run evenly before old files are deleted: a clock that was set wrong must
# not delete new ones
EVEN_S: Final = 3000.0
STEP_S: Final = 60.0  # by how much the clock may deviate from the monotonic clock in that time
MARK: Final = 512  # bytes of each of the two copies of a mark
# fields of an outcome that prove or identify a booking, without the service's words and evidence
OUTCOME_FIELDS: Final = frozenset(
    {"state", "booking_id", "txn_id", "code", "http_status", "booking_timeout_s", "next_retry"}
)
# a field that does not match is text of the service, which may name a guest: it is left out
WORDS: Final = {
    "code": re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}"),
    "next_retry": re.compile(r"[0-9T:.+Z-]{1,40}"),
}


@dataclass(frozen=True)
class SentEntry:
    """What the journal stores of one sent order.

    `database` identifies the database (`restores.identity`), `epoch` is its number of restores at
    that time; `order_id` is the number of its row there, 0 in a journal of an earlier release;
    `outcome` holds the fields in OUTCOME_FIELDS, None while no answer is known.
    """

    reference: str
    attempt: int
    at: datetime
    database: str
    property_id: int
    account_id: int
    category: str
    epoch: int = 0
    order_id: int = 0
    outcome: dict[str, Any] | None = None


class Last(NamedTuple):
    """The last attempt of an order: its number, when it was sent, and the state of its outcome."""

    attempt: int
    at: datetime
    answer: str = ""  # the state of its outcome; "" while none is journalled


class Mark(NamedTuple):
    """The state of a database when a worker last saw it.

    `epoch` is its number of restores, `beats` the number of the workers' heartbeats in it.
    """

    epoch: int
    beats: int
    at: datetime
    database: str


class SentJournal:
    """The orders that the workers of this machine have sent; without `number`, only for reading.

    `number` is that of the worker's answer journal, whose lock also protects this worker's files.
    Safe to share between threads. Raises OSError.
    """

    def __init__(
        self,
        folder: Path,
        number: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self.number = number
        self._own_names = f"sent-{number}-"
        self._lock = threading.Lock()
        self._last: dict[str, Last] = {}  # the last attempt for each reference, without its answer
        # the state of the outcome for each answered attempt
        self._answers: dict[tuple[str, int], str] = {}
        self._is_even = EvenClock(monotonic)
        self._read: dict[Path, int] = {}  # the position up to which each file was read
        self._newest: dict[Path, datetime] = {}
        self._file = AppendFile(self._own_files()[-1]) if number is not None else None
        # the previous file, while threads are still appending to it
        self._before: AppendFile | None = None
        self.refresh()

    def ready(self) -> bool:
        """Whether an order could be journalled now; otherwise nothing is sent."""
        return self._file is not None and self._file.ready()

    def sent(self, entry: SentEntry) -> None:
        """Journal an order that is about to be sent; returns once it is on disk. Raises OSError."""
        self._append(_line({"sent": entry.reference, **_facts_of(entry)}), sync=True)
        with self._lock:
            self._learn(entry)

    def answered(self, reference: str, attempt: int, outcome: Outcome) -> None:
        """Journal the outcome of a sent order. The next `flush` or `sent` puts it on disk.

        Raises OSError.
        """
        facts = {
            name: value
            for name, value in asdict(outcome).items()
            if name in OUTCOME_FIELDS and value and not _is_text(name, value)
        }
        record = {"answered": reference, "attempt": attempt, **facts}
        self._append(_line(record), sync=False)
        with self._lock:
            self._learn_answer(record)

    def flush(self) -> None:
        """Sync the appended lines. Raises OSError."""
        if self._file is not None:
            self._file.flush()

    def knows(self, reference: str, attempt: int) -> bool:
        """Whether any worker of this machine has sent this attempt of an order, or a later one.

        What other workers sent is known as of the last `refresh`.
        """
        last = self._last.get(reference)
        return last is not None and last.attempt >= attempt

    def attempts(self, since: datetime | None = None) -> dict[str, Last]:
        """The last attempt of every order that was sent from this machine, by reference.

        `since`: only those that were sent then or later.
        """
        self.refresh()
        with self._lock:
            return {
                reference: last._replace(answer=self._answers.get((reference, last.attempt), ""))
                for reference, last in self._last.items()
                if since is None or last.at >= since
            }

    def entries(self, references: Collection[str]) -> list[SentEntry]:
        """The journal's entries about these orders' last attempts, the oldest first."""
        wanted = frozenset(references)
        found = dict[str, SentEntry]()
        answers: dict[tuple[Any, Any], dict[str, Any]] = {}
        for path in sorted(self.folder.glob("sent-*.log")):
            for _, record in _records(path, 0):
                entry = _entry(record)
                if entry is not None and entry.reference in wanted:
                    known = found.get(entry.reference)
                    if known is None or known.attempt < entry.attempt:
                        found[entry.reference] = entry
                elif record.get("answered") in wanted:
                    key = record["answered"], record.get("attempt")
                    answers[key] = {k: v for k, v in record.items() if k in OUTCOME_FIELDS}
        whole = (replace(e, outcome=answers.get((e.reference, e.attempt))) for e in found.values())
        return sorted(whole, key=lambda entry: entry.at)

    def refresh(self) -> None:
        """Read what the other workers of this machine have appended since the last refresh."""
        with self._lock:
            for path in sorted(self.folder.glob("sent-*.log")):
                # this worker's own lines are added when it appends them
                if path not in self._read or not path.name.startswith(self._own_names):
                    self._read_on(path)

    def write_mark(self, mark: Mark) -> None:
        """Store the mark of the database.

        The file is not synced: if the newest mark is lost, a restore may stay undetected.
        """
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
        """The latest mark of any worker of this machine for this database."""
        marks = []
        for path in self.folder.glob("mark-*"):
            with contextlib.suppress(OSError):
                marks += [_mark(line) for line in path.read_bytes().splitlines()]
        seen = [each for each in marks if each is not None and each.database == database]
        return max(seen, default=None)

    def drop_old(self, now: datetime, number: int | None = None) -> None:
        """Begin another file if this worker's file is old, and delete files older than KEPT.

        With `number`, only old files of the worker with that number are deleted; it has ended, and
        this worker has locked its answer journal. Nothing is deleted while the clock may have been
        set wrong.
        """
        if self._file is None:
            return
        is_even = self._is_even(now)
        if number is not None:
            found = list(self.folder.glob(f"sent-{number}-*.log"))
        else:
            first = self._first_at(self._file.path)
            if first is not None and first < now - FILE_LASTS:
                self._begin_another()
            found = [path for path in self._own_files() if path != self._file.path]
        if is_even:
            self._delete(found, now)
            self._forget(now - KEPT)

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
        another = AppendFile(self.folder / f"{self._own_names}{count + 1:06d}.log")
        if self._before is not None:
            self._before.close()
        self._before = self._file
        self._file = another
        self._before.flush()

    def _first_at(self, path: Path) -> datetime | None:
        """When the first order in a file was sent; None for a file without orders."""
        found = (_entry(record) for _, record in _records(path, 0))
        return next((entry.at for entry in found if entry is not None), None)

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
                self._learn(entry)
                self._newest[path] = max(self._newest.get(path, entry.at), entry.at)
            else:
                self._learn_answer(record)

    def _learn(self, entry: SentEntry) -> None:
        known = self._last.get(entry.reference)
        if known is None or known.attempt < entry.attempt:
            self._last[entry.reference] = Last(entry.attempt, entry.at)

    def _learn_answer(self, record: dict[str, Any]) -> None:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            attempt = str(record["answered"]), int(record["attempt"])
            self._answers[attempt] = str(record["state"])

    def _forget(self, before: datetime) -> None:
        with self._lock:
            self._last = {ref: last for ref, last in self._last.items() if last.at >= before}
            self._answers = {
                attempt: state
                for attempt, state in self._answers.items()
                if attempt[0] in self._last
            }

    def _delete(self, paths: Collection[Path], now: datetime) -> None:
        """Delete files whose newest order is too old. A file without orders stays."""
        for path in paths:
            with self._lock:
                self._read_on(path)
                newest = self._newest.get(path)
            if newest is not None and newest < now - KEPT:
                path.unlink(missing_ok=True)


class EvenClock:
    """Whether a clock has run evenly for EVEN_S: at each call it is compared with `monotonic`."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since: tuple[datetime, float] | None = None

    def __call__(self, now: datetime) -> bool:
        here = self._monotonic()
        if self._since is None or self._step_s(now, here) > STEP_S:
            self._since = now, here
        return here - self._since[1] >= EVEN_S

    def _step_s(self, now: datetime, here: float) -> float:
        assert self._since is not None
        at, then = self._since
        return abs((now - at).total_seconds() - (here - then))


def _is_text(name: str, value: object) -> bool:
    """Whether a field of an outcome is text of the service, neither a code nor a time."""
    allowed = WORDS.get(name)
    return allowed is not None and allowed.fullmatch(str(value)) is None


def _line(record: dict[str, Any]) -> bytes:
    body = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _facts_of(entry: SentEntry) -> dict[str, Any]:
    facts = asdict(entry) | {"at": entry.at.astimezone(UTC).isoformat()}
    del facts["reference"], facts["outcome"]
    return facts


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None for a torn or damaged line."""
    try:
        checksum, _, body = line.partition(b" ")
        if zlib.crc32(body) != int(checksum, 16):
            return None
        record = json.loads(body)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    return record


def _entry(record: dict[str, Any]) -> SentEntry | None:
    """The order of a record; None for the record of an answer."""
    try:
        return SentEntry(
            reference=str(record["sent"]),
            attempt=int(record["attempt"]),
            at=datetime.fromisoformat(record["at"]),
            database=str(record["database"]),
            property_id=int(record["property_id"]),
            account_id=int(record["account_id"]),
            category=str(record["category"]),
            epoch=int(record.get("epoch", 0)),
            order_id=int(record.get("order_id", 0)),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _mark(line: bytes) -> Mark | None:
    record = _parsed(line.strip(b"\0"))
    if not record:
        return None
    try:
        return Mark(**{**record, "at": datetime.fromisoformat(record["at"])})
    except (KeyError, TypeError, ValueError):
        return None


def _records(path: Path, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The sound records from a position on, each with the position after it.

    A file that another worker has deleted has none.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rest = b""
        reached = start
        # read to the end of the file: a disk that lost a block leaves zeros between sound lines
        while block := os.pread(fd, BLOCK, reached):
            reached += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                start += len(line) + 1
                record = _parsed(line.rpartition(b"\0")[2])
                if record is not None:
                    yield start, record
    finally:
        os.close(fd)
