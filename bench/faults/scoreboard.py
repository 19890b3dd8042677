"""Declares and runs the rows of the fault matrix (docs/reliability.md 2), and prints results."""

import importlib
import pkgutil
import random
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import bench.faults

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"


class Missing(Exception):
    """A program that a row needs is not on this machine; the row is skipped."""


@dataclass(frozen=True)
class Case:
    """One run of one row: `rng` for all random choices, `folder` for all files."""

    seed: int
    rng: random.Random
    folder: Path
    short: bool
    database: str = SQLITE
    # how long a row without a fixed end runs, if given
    minutes: float | None = None

    def size(self, long: int, short: int) -> int:
        """`long`, or `short` in the short form."""
        return short if self.short else long

    def sub(self, name: str) -> Path:
        """A new subfolder with that name."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder


@dataclass(frozen=True)
class Verdict:
    """The result of a row.

    `ok` is the row's own verdict. The row also fails if nothing was tried, if an order was lost or
    duplicated, if one was falsely shown as booked or as not booked, or if a page answered 500.
    """

    tried: int
    lost: int = 0
    doubled: int = 0
    errors500: int = 0
    ok: bool = True
    note: str = ""
    seed: int | None = None
    false_booked: int = 0
    false_not_booked: int = 0

    @property
    def holds(self) -> bool:
        """Whether the promise of the row was kept."""
        bad = (self.lost, self.doubled, self.false_booked, self.false_not_booked, self.errors500)
        return self.ok and self.tried > 0 and not any(bad)


Run = Callable[[Case], Verdict]


@dataclass(frozen=True)
class Row:
    """One row of the fault matrix. `short`: it runs in CI, in its short form."""

    number: int
    fault: str
    run: Run = field(repr=False)
    short: bool = True
    database: str = SQLITE

    @property
    def key(self) -> str:
        """The unique key of the row."""
        return f"{self.number:02d} {self.fault}"


@dataclass(frozen=True)
class RowResult:
    """The result of a row. `verdict` is None if the row was skipped or raised; `why` says why."""

    row: Row
    seed: int
    seconds: float
    verdict: Verdict | None
    why: str = ""
    skipped: bool = False

    @property
    def word(self) -> str:
        """ "holds", "FAILS" or "skipped"."""
        if self.skipped:
            return "skipped"
        return "holds" if self.verdict is not None and self.verdict.holds else "FAILS"

    def facts(self) -> dict[str, Any]:
        """The line as a JSON object."""
        verdict = (
            {}
            if self.verdict is None
            else {k: v for k, v in asdict(self.verdict).items() if k != "seed"}
        )
        row = {
            "row": self.row.number,
            "fault": self.row.fault,
            "database": self.row.database,
            "seed": self.seed,
        }
        return {
            **row,
            **verdict,
            "seconds": round(self.seconds, 1),
            "verdict": self.word,
            "why": self.why,
        }


_rows: dict[str, Row] = {}


def row(
    number: int, fault: str, *, short: bool = True, database: str = SQLITE
) -> Callable[[Run], Run]:
    """Declare a function as a row.

    Several rows may share a number; number and fault together are unique.
    """

    def declared(run: Run) -> Run:
        made = Row(number, fault, run, short, database)
        if made.key in _rows:
            raise ValueError(f"two rows are called {made.key!r}")
        _rows[made.key] = made
        return run

    return declared


def rows(numbers: Sequence[int] = (), only_short: bool = False) -> list[Row]:
    """The rows of all modules rows_*.py, sorted by number; only those of `numbers`, if given."""
    for module in pkgutil.iter_modules(bench.faults.__path__):
        if module.name.startswith("rows_"):
            importlib.import_module(f"bench.faults.{module.name}")
    found = (each for _, each in sorted(_rows.items()))
    return [
        each
        for each in found
        if (each.number in numbers or not numbers) and (each.short or not only_short)
    ]


def seed_of(row: Row, base: int) -> int:
    """The seed of a row, computed from `base`, the seed of the whole run, and the row's key."""
    return random.Random(f"{base} {row.key}").getrandbits(32)


def run_row(
    row: Row, seed: int, folder: Path, short: bool, minutes: float | None = None
) -> RowResult:
    """Run one row. Only Missing skips it; every other exception fails it."""
    began = time.monotonic()
    case = Case(seed, random.Random(seed), folder, short, row.database, minutes)
    verdict, why, skipped = None, "", False
    try:
        verdict = row.run(case)
    except Missing as error:
        why, skipped = str(error), True
    except Exception as error:
        traceback.print_exc()
        why = f"{type(error).__name__}: {error}"[:300]
    return RowResult(row, seed, time.monotonic() - began, verdict, why, skipped)


# f.bk, f.nb: falsely shown as booked, and as not booked
COUNTS: Final = ("tried", "lost", "dbl", "f.bk", "f.nb", "500s")
HEAD: Final = f"row  {'fault':<60} {' '.join(f'{name:>5}' for name in COUNTS)} {'s':>6}  verdict"


def shown(line: RowResult) -> str:
    """A row as one line of the scoreboard."""
    v = line.verdict
    cells_shown = (
        (v.tried, v.lost, v.doubled, v.false_booked, v.false_not_booked, v.errors500)
        if v
        else ("-",) * 6
    )
    cells = " ".join(f"{each:>5}" for each in cells_shown)
    note = f"  {v.note if v else line.why}".rstrip()
    return (
        f"{line.row.number:>3}  {line.row.fault:<60.60} {cells} {line.seconds:>6.1f}  "
        f"{line.word}{note}"
    )
