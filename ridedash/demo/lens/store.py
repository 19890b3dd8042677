"""instance/lens.db: the latest calls to the service that a demo has made, without secrets.

It is a separate file, written by one thread of each process (recorder.py) and read by the pages. It
may be deleted at any time. Numbers rise in the order in which calls are written.
"""

import contextlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ridedash.demo.lens.operations import Ids
from ridedash.demo.lens.scrubbing import LONGEST
from ridedash.demo.small_files import SmallFile

FILE: Final = "lens.db"
VERSION: Final = 4
# The request for an order's products may be this much sooner, or later, than the moment that its
# offer stores. A later request asks for prices that the first answer left out. Both moments are of
# the same clock.
SOONER_S: Final = 0.5
LATER_S: Final = 1.5

_TABLES: Final = """
CREATE TABLE calls (
    number INTEGER PRIMARY KEY AUTOINCREMENT, began REAL NOT NULL,
    operation TEXT NOT NULL, outcome TEXT NOT NULL,
    status INTEGER, failed INTEGER NOT NULL, booking_id TEXT NOT NULL, txn_id TEXT NOT NULL,
    mtx TEXT NOT NULL, trip TEXT NOT NULL, hint INTEGER, digest TEXT NOT NULL,
    kept INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE latest (
    number INTEGER PRIMARY KEY, turn INTEGER NOT NULL, same INTEGER NOT NULL,
    ended REAL NOT NULL, ms REAL NOT NULL
);
CREATE TABLE answers (
    number INTEGER NOT NULL, which TEXT NOT NULL, headers TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (number, which)
) WITHOUT ROWID;
CREATE TABLE offers (
    offer INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (offer, number)
) WITHOUT ROWID;
CREATE TABLE turns (last INTEGER NOT NULL, emptied REAL NOT NULL);
INSERT INTO turns VALUES (0, 0);
CREATE INDEX by_booking ON calls (booking_id);
CREATE INDEX by_txn ON calls (txn_id);
CREATE INDEX by_mtx ON calls (mtx);
CREATE INDEX by_hint ON calls (hint);
CREATE INDEX by_trip ON calls (trip);
CREATE INDEX by_number ON offers (number);
CREATE INDEX by_turn ON latest (turn);
"""
# `latest` has the columns that each equal poll changes: many of its small rows fit on a page
_CALLS: Final = "calls JOIN latest USING (number)"
_COLUMNS: Final = (
    "number, turn, began, ended, operation, outcome, status, failed, booking_id, txn_id, mtx, trip,"
    " hint, same, ms, facts"
)


@dataclass(frozen=True)
class Side:
    """Headers and body of a request or of an answer, without secrets."""

    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True)
class RecordedCall:
    """One call without its secrets, or several equal polls in a row.

    `same` is the number of polls. The last one has `ended`, `ms` and `answer`; `began`, `first`,
    `size` and the other times are those of the first one, and the rest is the same for all of them.
    In a list `request` and `answer` are empty, and `first` is None. Every change of a call gives it
    a higher `turn`. Durations are in milliseconds; instants are wall-clock time.
    """

    number: int
    turn: int
    began: datetime
    ended: datetime
    operation: str  # such as track_ride
    method: str
    path: str  # path with query
    status: int | None
    outcome: str
    failed: bool
    failure: str
    result: str
    lane: str
    attempt: int
    cause: str
    waited_ms: float
    first_byte_ms: float | None
    first_ms: float  # the whole of the first call, with its wait
    ms: float
    size: int  # bytes of the answer as it was received
    ids: Ids
    hint: int | None  # the order that the page, or the worker's step, was about
    same: int = 1
    order: int | None = None
    request: Side = Side()
    answer: Side = Side()
    first: Side | None = None

    @property
    def cut(self) -> bool:
        """Whether only the beginning of the answer is stored."""
        return self.size > LONGEST


@dataclass(frozen=True)
class Ties:
    """What the calls of an order have in common; `trip` finds the call that brought its price."""

    order: int
    booking_id: str = ""
    txn_id: str = ""
    mtx: str = ""
    trip: str = ""
    offer: int = 0  # the id of the booked offer
    offered: float = 0.0  # when the booked price was fetched; seconds since 1970

    def priced_by(self, call: "RecordedCall") -> bool:
        """Whether a call of products may have brought the price that was booked."""
        early, late = self.priced
        in_time = early <= call.began.timestamp() <= late
        return bool(self.trip) and self.trip == call.ids.trip and in_time

    @property
    def priced(self) -> tuple[float, float]:
        """When the booked price was requested: earliest and latest, in seconds since 1970."""
        return self.offered - SOONER_S, self.offered + LATER_S


class LensFile:
    """The file of calls. Reading an absent or damaged file finds nothing."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._file = SmallFile(self.path, VERSION, _TABLES)

    def calls(
        self, ties: Ties | None, only_errors: bool, after: int, limit: int
    ) -> list[RecordedCall]:
        """The latest calls that changed since turn `after`, the earliest first, without bodies."""
        where = ["turn > ?"]
        values = [after]
        if only_errors:
            where.append("failed")
        if ties is not None:
            found, more = _of_order(ties)
            where.append(found)
            values += more
        query = (
            f"SELECT {_COLUMNS} FROM {_CALLS} WHERE {' AND '.join(where)}"  # noqa: S608 - ours
            " ORDER BY number DESC LIMIT ?"
        )
        return [_call(row) for row in reversed(self._read(query, (*values, limit)))]

    def call(self, number: int) -> RecordedCall | None:
        """One call with everything that is stored of it."""
        query = f"SELECT {_COLUMNS} FROM {_CALLS} WHERE number = ?"  # noqa: S608 - ours
        row = next(iter(self._read(query, (number,))), None)
        if row is None:
            return None
        rows = self._read("SELECT which, headers, body FROM answers WHERE number = ?", (number,))
        sides = {which: Side(json.loads(head), body) for which, head, body in rows}
        last = sides.get("last")
        return replace(
            _call(row),
            request=sides.get("request", Side()),
            answer=last or sides.get("first", Side()),
            first=sides.get("first") if last else None,
        )

    def offers(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        """The offers that were made from calls of products, by the numbers of the calls."""
        found: dict[int, list[int]] = {}
        listed = ", ".join(str(int(number)) for number in numbers)
        query = f"SELECT number, offer FROM offers WHERE number IN ({listed})"  # noqa: S608 - ints
        for number, offer in self._read(query):
            found.setdefault(number, []).append(offer)
        return found

    def newest(self) -> int:
        """The latest turn; 0 when nothing can be read."""
        rows = self._read("SELECT last FROM turns")
        return int(rows[0][0]) if rows else 0

    def clear(self, now: datetime) -> None:
        """Forget all calls, also those that began before `now` and are written later."""
        if not self.path.exists():
            return
        with contextlib.suppress(sqlite3.Error), self.writing() as db, db:
            db.execute("UPDATE turns SET last = last + 1, emptied = ?", (now.timestamp(),))
            db.execute("DELETE FROM answers")
            db.execute("DELETE FROM offers")
            db.execute("DELETE FROM latest")
            db.execute("DELETE FROM calls")

    def number(self) -> int | None:
        """The inode of the file, by which a new file at its path is noticed; None without one."""
        try:
            return self.path.stat().st_ino
        except OSError:
            return None

    def writing(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A connection that can write; makes the file if it is missing or can't be read."""
        return self._file.writing()

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query; none when the file is absent, damaged or out of reach."""
        try:
            with self._file.reading() as db:
                return db.execute(query, values).fetchall() if db else []
        except sqlite3.Error:
            return []


def _of_order(ties: Ties) -> tuple[str, list[Any]]:
    """The SQL condition for calls of an order, and its parameters."""
    found = ["hint = ?"]
    values: list[Any] = [ties.order]
    for column in ("booking_id", "txn_id", "mtx"):
        if value := getattr(ties, column):
            found.append(f"{column} = ?")
            values.append(value)
    if ties.offer:
        found.append("number IN (SELECT number FROM offers WHERE offer = ?)")
        values.append(ties.offer)
    if ties.trip:
        # the calls that brought the booked price
        found.append("(trip = ? AND began BETWEEN ? AND ?)")
        values += [ties.trip, *ties.priced]
    return f"({' OR '.join(found)})", values


def _call(row: Sequence[Any]) -> RecordedCall:
    facts = json.loads(row[15])
    return RecordedCall(
        *(row[0], row[1], _instant(row[2]), _instant(row[3]), row[4]),
        status=row[6],
        outcome=row[5],
        failed=bool(row[7]),
        ids=Ids(row[8], row[9], row[10], row[11]),
        hint=row[12],
        same=row[13],
        ms=row[14],
        **facts,
    )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
