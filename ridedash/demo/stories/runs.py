"""The latest runs of stories, a row each in instance/demo.db; no ride refers to them.

If several requests take the same step, only the one that changes the row first does so. So a second
press, a second window or a reloaded page repeats nothing.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from ridedash.demo.small_files import SmallFile

FILE: Final = "demo.db"
VERSION: Final = 1
STORED_RUNS: Final = 50  # how many of the latest runs are stored
ALONE_S: Final = 4.0  # after this time without a request from a page, the story pauses
LATE: Final = "late"  # a key of `values`: orders that were not sent in time, by ride
RESUMED: Final = "resumed_at"  # a key of `values`: when the last pause ended, in seconds since 1970
TABLES: Final = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    seed INTEGER NOT NULL,
    property_id INTEGER NOT NULL,
    began_at REAL NOT NULL,
    step INTEGER NOT NULL,
    phase TEXT NOT NULL,
    phase_at REAL NOT NULL,
    version INTEGER NOT NULL,
    kept TEXT NOT NULL,
    asked_at REAL NOT NULL
) STRICT
"""


class RunPhase(StrEnum):
    """The state of a run's present step, or how the run has ended."""

    TODO = "todo"
    DOING = "doing"
    WAITING = "waiting"  # the action is done, and what the step waits for is not seen yet
    FAILED = "failed"
    ENDED = "ended"
    DROPPED = "dropped"


OVER: Final = frozenset({RunPhase.FAILED, RunPhase.ENDED, RunPhase.DROPPED})


@dataclass(frozen=True)
class StoryRun:
    """A story that was begun, and its progress.

    `values`, stored as JSON: "orders" (the order of each ride), "why" (the reason why a story
    failed) and what else its actions have to store.
    """

    id: str
    story: str
    seed: int
    property_id: int
    began_at: datetime
    step: int
    phase: RunPhase
    phase_at: datetime
    version: int = 0  # rises with each change
    values: dict[str, Any] = field(default_factory=dict)
    asked_at: datetime | None = None  # the last request for the progress of the run

    @property
    def is_over(self) -> bool:
        """Whether the run has come to an end."""
        return self.phase in OVER

    def order(self, ride: str) -> int | None:
        """The id of the order of a ride; None before the order was placed."""
        found = self.values.get("orders", {}).get(ride)
        if not isinstance(found, int):
            return None
        return found

    def late(self, ride: str) -> list[int]:
        """The orders of a ride that were not sent in time; each was replaced by a new one."""
        return list(self.values.get(LATE, {}).get(ride, ()))

    def token(self, ride: str) -> str:
        """The form token with which a ride is ordered: one order, however often it is pressed."""
        again = len(self.late(ride))
        return f"{self.id}-{ride}-{again}" if again else f"{self.id}-{ride}"


class Runs:
    """The runs of an installation. All methods but `present` and `latest` raise sqlite3.Error."""

    def __init__(self, folder: Path) -> None:
        self._file = SmallFile(folder / FILE, VERSION, TABLES)

    def check(self) -> None:
        """Raise an error if a run could not be stored."""
        with self._write() as database:
            database.execute("UPDATE runs SET version = version WHERE 0")

    def begin(self, story: str, seed: int, property_id: int, now: datetime) -> StoryRun:
        """A new run at its first step; every other run that is not over is dropped."""
        run_id = secrets.token_urlsafe(12)
        at = now.timestamp()
        with self._write() as database:
            self._drop_all(database, at)
            database.execute(
                "DELETE FROM runs WHERE id NOT IN"
                " (SELECT id FROM runs ORDER BY began_at DESC LIMIT ?)",
                (STORED_RUNS - 1,),
            )
            database.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0, '{}', ?)",
                (run_id, story, seed, property_id, at, RunPhase.TODO, at, at),
            )
        return StoryRun(run_id, story, seed, property_id, now, 0, RunPhase.TODO, now)

    def find(self, run_id: str) -> StoryRun | None:
        """A run by its id."""
        with self._write() as database:
            row = database.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return None if row is None else _run(row)

    def present(self, property_id: int) -> StoryRun | None:
        """The latest run if it is not over; None otherwise, also while the file can't be used."""
        found = self.latest(property_id)
        if found is None or found.is_over:
            return None
        return found

    def latest(self, property_id: int) -> StoryRun | None:
        """The run that was begun last, over or not; None also while the file can't be used.

        So a page that also shows other things does not fail.
        """
        query = "SELECT * FROM runs WHERE property_id = ? ORDER BY began_at DESC LIMIT 1"
        try:
            with self._write() as database:
                row = database.execute(query, (property_id,)).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else _run(row)

    def update(
        self,
        run: StoryRun,
        phase: RunPhase,
        now: datetime,
        *,
        step: int | None = None,
        **values: Any,
    ) -> StoryRun | None:
        """Store a phase, a step and values, and return the run with them.

        None when another request has changed the run meanwhile: nothing is stored then.
        """
        to = run.step if step is None else step
        together = run.values | values
        asked_at = max(run.asked_at or now, now)
        changed = replace(
            run,
            phase=phase,
            phase_at=now,
            step=to,
            version=run.version + 1,
            values=together,
            asked_at=asked_at,
        )
        with self._write() as database:
            done = database.execute(
                "UPDATE runs SET phase = ?, phase_at = ?, step = ?, kept = ?, asked_at = ?,"
                " version = version + 1 WHERE id = ? AND version = ?",
                (
                    *(phase, now.timestamp(), to, json.dumps(together), asked_at.timestamp()),
                    *(run.id, run.version),
                ),
            )
            if done.rowcount != 1:
                return None
            return changed

    def store_values(self, run: StoryRun, **values: Any) -> None:
        """Store values of an action, even if another request has changed the run meanwhile."""
        with self._write() as database:
            row = database.execute("SELECT kept FROM runs WHERE id = ?", (run.id,)).fetchone()
            if row is not None:
                together = json.dumps(json.loads(row["kept"]) | values)
                database.execute("UPDATE runs SET kept = ? WHERE id = ?", (together, run.id))

    def ask(self, run: StoryRun, now: datetime) -> StoryRun:
        """Record that a page follows a run.

        A pause of more than ALONE_S does not count as waiting: its length is added to `phase_at`.
        """
        before = run.asked_at or now
        rested = 0.0
        values = run.values
        alone = (now - before).total_seconds()
        if alone > ALONE_S:
            rested = alone
            values = values | {RESUMED: now.timestamp()}
        with self._write() as database:
            database.execute(
                "UPDATE runs SET asked_at = ?, phase_at = phase_at + ?, kept = ?"
                " WHERE id = ? AND version = ? AND asked_at = ?",  # so a pause is counted once
                (
                    *(now.timestamp(), rested, json.dumps(values)),
                    *(run.id, run.version, before.timestamp()),
                ),
            )
        phase_at = run.phase_at + timedelta(seconds=rested)
        return replace(run, asked_at=now, phase_at=phase_at, values=values)

    def drop_all(self, now: datetime) -> None:
        """End every run that is not over, because its rides are deleted."""
        with self._write() as database:
            self._drop_all(database, now.timestamp())

    def _drop_all(self, database: sqlite3.Connection, at: float) -> None:
        database.execute(
            "UPDATE runs SET phase = ?, phase_at = ?, version = version + 1"
            " WHERE phase NOT IN (?, ?, ?)",
            (RunPhase.DROPPED, at, *sorted(OVER)),
        )

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._file.writing() as database, database:
            database.row_factory = sqlite3.Row
            database.execute("BEGIN IMMEDIATE")
            yield database


def _run(row: sqlite3.Row) -> StoryRun:
    return StoryRun(
        row["id"],
        row["story"],
        row["seed"],
        row["property_id"],
        datetime.fromtimestamp(row["began_at"], UTC),
        row["step"],
        RunPhase(row["phase"]),
        datetime.fromtimestamp(row["phase_at"], UTC),
        row["version"],
        json.loads(row["kept"]),
        datetime.fromtimestamp(row["asked_at"], UTC),
    )
