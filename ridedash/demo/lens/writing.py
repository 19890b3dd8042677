"""Writes calls into lens.db: removes secrets, merges equal polls into a row, deletes the oldest."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from ridedash.demo.lens import scrubbing
from ridedash.demo.lens.operations import ids_of, name_of, result_of, unmoved
from ridedash.service.client import TRACK
from ridedash.service.hooks import Exchange

MOST_CALLS: Final = 5_000
MOST_BYTES: Final = 50_000_000  # bodies and headers together
TRIMMED_EVERY: Final = 100  # how many new calls are written between two deletions of old ones
# the last answers of at most this many runs are stored by one write; of all, when no calls come
LASTS: Final = 4
# causes whose calls of products wait for their offers; when there are more, all are forgotten
MOST_SEARCHES: Final = 500

_INSERT: Final = """
INSERT INTO calls (began, operation, outcome, status, failed, booking_id, txn_id, mtx, trip, hint,
digest, kept, facts) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
"""
_LATEST: Final = "INSERT INTO latest VALUES (?, ?, 1, ?, ?)"
_AGAIN: Final = "UPDATE latest SET same = same + ?, turn = ?, ended = ?, ms = ? WHERE number = ?"
_TURNED: Final = "UPDATE latest SET turn = ? WHERE number = ?"
_OTHERS: Final = (
    "SELECT number, digest, booking_id, txn_id FROM calls WHERE number > ? ORDER BY number"
)
_POLLED_BY: Final = frozenset({"booking_id", "txn_id"})


class OffersOfCause(NamedTuple):
    """The offers that were made from the calls of products with this cause."""

    cause: str
    offers: tuple[int, ...]


class Seen(NamedTuple):
    """A call as it was put into the queue. `ended` is in seconds since 1970."""

    ended: float
    cause: str
    hint: int | None  # the id of an order
    exchange: Exchange


@dataclass(slots=True)
class PollRun:
    """Equal polls of one ride in a row: their row in the file, and what is not written yet.

    `likeness` is the hash of `_alike`; None until this process has handled such a poll.
    """

    number: int
    digest: str
    likeness: int | None = None
    added: int = 0
    last: Seen | None = None  # the last poll, while its answer is not written


class Writer:
    """Writes through one connection. Raises sqlite3.Error."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._runs: dict[str, PollRun] = {}  # by the id with which the ride is polled
        self._late: dict[int, PollRun] = {}  # runs whose last answer is not written yet
        # numbers of calls of products whose offers have not come yet, by their cause
        self._searches: dict[str, list[int]] = {}
        self._version = -1
        self._newest = 0  # number of the last row that this object knows
        self._turn = 0
        self._since_trim = 0

    @property
    def is_behind(self) -> bool:
        """Whether last answers of runs are not written yet: they wait for a quiet moment."""
        return bool(self._late)

    def write(self, batch: Sequence[Seen | OffersOfCause]) -> None:
        """Write calls in one transaction; for an empty batch, all last answers that have waited."""
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            self._look_for_others()
            self._turn, emptied = db.execute("SELECT last, emptied FROM turns").fetchone()
            changed: dict[int, PollRun] = {}
            for seen in batch:
                if isinstance(seen, OffersOfCause):
                    self._tie(seen)
                elif seen.ended - seen.exchange.total_s >= emptied:
                    self._write_one(seen, changed)
            db.executemany(_AGAIN, [self._counted(run) for run in changed.values()])
            most = LASTS if batch else None
            late = list(islice(self._late, most))
            self._write_lasts([self._late.pop(number) for number in late])
            db.execute("UPDATE turns SET last = ?", (self._turn,))
            if self._since_trim >= TRIMMED_EVERY:
                self._trim()

    def _look_for_others(self) -> None:
        """Read which rows exist, if another connection has added or deleted some."""
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        self._version = version
        oldest = self._db.execute("SELECT min(number) FROM calls").fetchone()[0]
        self._forget(self._newest + 1 if oldest is None else oldest)
        for number, digest, *ids in self._db.execute(_OTHERS, (self._newest,)).fetchall():
            self._known(PollRun(number, digest), *ids)

    def _forget(self, oldest: int) -> None:
        """Forget the rows before this number."""
        self._runs = {key: run for key, run in self._runs.items() if run.number >= oldest}
        self._late = {old: run for old, run in self._late.items() if old >= oldest}

    def _write_one(self, seen: Seen, changed: dict[int, PollRun]) -> None:
        key = _polled(seen.exchange)
        if not key:
            self._insert(seen)
            return
        alike = _alike(seen.exchange)
        # Hashes are compared first, because they are fast. For a row of another process there is
        # only a digest to compare: hash() has another seed in each process.
        run = self._runs.get(key)
        likeness = hash(alike)
        if run is None or run.likeness != likeness:
            digest = _digest(alike)
            if run is None or run.digest != digest:
                self._insert(seen, digest, likeness)
                return
            run.likeness = likeness
        run.added += 1
        run.last = seen
        changed[run.number] = self._late[run.number] = run

    def _tie(self, offered: OffersOfCause) -> None:
        """Link the offers to the calls from which they were made: an open list shows these anew."""
        self._turn += 1
        calls = self._searches.pop(offered.cause, ())
        rows = [(offer, number) for offer in offered.offers for number in calls]
        self._db.executemany("INSERT OR IGNORE INTO offers VALUES (?, ?)", rows)
        self._db.executemany(_TURNED, [(self._turn, each) for each in calls])

    def _insert(self, seen: Seen, digest: str = "", likeness: int | None = None) -> None:
        """Insert a row for a call; only a poll has a digest."""
        call = seen.exchange
        sent = _request_of(call)
        got = _answer_of(call)
        path = _path(call)
        ids = ids_of(urlsplit(path).query, sent[1], got[1])
        operation = name_of(call.operation)
        self._turn += 1
        failed = call.outcome != "2xx" or _refuses(got[1])
        facts = {
            "method": call.request.method,
            "path": path,
            "failure": scrubbing.words(call.failure, call.request.secrets),
            "result": result_of(operation, got[1], call.failure),
            "lane": call.lane,
            "attempt": call.request.attempt,
            "cause": seen.cause,
            "waited_ms": _ms(call.waited_s),
            "first_byte_ms": None if call.first_byte_s is None else _ms(call.first_byte_s),
            "first_ms": _ms(call.total_s),
            "size": 0 if call.answer is None else len(call.answer.body),
        }
        chars = sum(map(len, (*sent, *got)))
        values = (
            *(seen.ended - call.total_s, operation, call.outcome),
            *(None if call.answer is None else call.answer.status, failed),
            *(ids.booking_id, ids.txn_id, ids.mtx, ids.trip, seen.hint, digest),
            *(chars, json.dumps(facts)),
        )
        number = self._db.execute(_INSERT, values).lastrowid
        assert number is not None
        self._db.execute(_LATEST, (number, self._turn, seen.ended, _ms(call.total_s)))
        sides = [(number, "request", *sent), (number, "first", *got)]
        self._db.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", sides)
        self._known(PollRun(number, digest, likeness), _polled(call), ids.booking_id, ids.txn_id)
        self._since_trim += 1
        if operation == "products" and seen.cause:
            self._note_search(seen.cause, number)

    def _note_search(self, cause: str, number: int) -> None:
        if len(self._searches) > MOST_SEARCHES:
            self._searches.clear()
        self._searches.setdefault(cause, []).append(number)

    def _known(self, row: PollRun, *ids: str) -> None:
        """Note the last row of these ids: their next poll may be equal to it."""
        self._newest = row.number
        self._runs |= dict.fromkeys(filter(None, ids), row)

    def _counted(self, run: PollRun) -> tuple[int, int, float, float, int]:
        """The values of _AGAIN for the equal polls since the last write."""
        assert run.last is not None
        self._turn += 1
        added = run.added
        run.added = 0
        return added, self._turn, run.last.ended, _ms(run.last.exchange.total_s), run.number

    def _write_lasts(self, runs: Sequence[PollRun]) -> None:
        """Write the last answer of each of these runs."""
        found = [(run, run.last) for run in runs if run.last is not None]
        sides = []
        turns = []
        for run, last in found:
            self._turn += 1
            sides.append((run.number, *_answer_of(last.exchange)))
            turns.append((self._turn, run.number))
            run.last = None
        self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, 'last', ?, ?)", sides)
        self._db.executemany(_TURNED, turns)

    def _trim(self) -> None:
        """Delete the oldest calls that exceed the limits."""
        self._since_trim = 0
        left = MOST_BYTES
        rows = self._db.execute("SELECT number, kept FROM calls ORDER BY number DESC")
        for count, (number, chars) in enumerate(rows.fetchall(), start=1):
            left -= chars
            if left < 0 or count > MOST_CALLS:
                for table in ("calls", "latest", "answers", "offers"):
                    query = f"DELETE FROM {table} WHERE number <= ?"  # noqa: S608 - ours
                    self._db.execute(query, (number,))
                self._forget(number + 1)
                return


def _polled(call: Exchange) -> str:
    """The id by which a ride was polled; "" for any other call."""
    if call.operation != TRACK.path or not call.request.params:
        return ""
    name, value = next(iter(call.request.params.items()))
    if name not in _POLLED_BY:
        return ""
    return value


def _alike(call: Exchange) -> tuple[str, int, str, bytes]:
    """A value that is equal for polls of a ride whose answers differ only by the cab's position."""
    if call.answer is None:
        return call.outcome, 0, call.failure, unmoved(b"")
    return call.outcome, call.answer.status, call.failure, unmoved(call.answer.body)


def _digest(alike: tuple[str, int, str, bytes]) -> str:
    """A digest that is the same in every process."""
    outcome, status, failure, body = alike
    text = f"{outcome} {status} {failure} ".encode() + body
    return hashlib.blake2b(text, digest_size=12).hexdigest()


def _path(call: Exchange) -> str:
    params = call.request.params
    if not params:
        return call.operation
    return f"{call.operation}?{urlencode(params)}"


def _request_of(call: Exchange) -> tuple[str, str]:
    """Headers as JSON, and the body."""
    request = call.request
    headers = request.sent_headers()
    body = b""
    if request.json is not None:
        headers = {"content-type": "application/json", **headers}
        body = json.dumps(request.json, separators=(",", ":"), default=str).encode()
    # headers that contain tokens are recognised by their names, so no secrets are passed
    clean = scrubbing.headers(headers)
    return json.dumps(clean), _body(body, request.secrets)


def _answer_of(call: Exchange) -> tuple[str, str]:
    """Headers as JSON, and the body; for an unreadable answer, the evidence stored of it."""
    if call.answer is None:
        return "{}", scrubbing.words(call.evidence, call.request.secrets)
    secrets = call.request.secrets
    clean = scrubbing.headers(call.answer.headers, secrets)
    return json.dumps(clean), _body(call.answer.body, secrets)


def _body(body: bytes, secrets: Sequence[str]) -> str:
    return scrubbing.body(body, secrets) if body else ""


def _refuses(body: str) -> bool:
    return '"FAILURE"' in body[:2000]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
