"""The frame of the benches: registers lines with an aim, measures them and judges the results."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

_AIM: Final = re.compile(r"([≤≥]) (\d+(?:\.\d+)?)(?:/(\d+))?( %)?")
Figure = Callable[[], float]


@dataclass(frozen=True)
class Run:
    """How a line is to be measured.

    `short` asks for a quick look: smaller loads, the same comparison.
    """

    repeats: int = 5
    short: bool = False
    seed: int = 1

    def of(self, full: int, short: int) -> int:
        """A size: `full`, or `short` for a quick look."""
        return short if self.short else full


@dataclass(frozen=True)
class Ratio:
    """One measured line.

    `ratio` is the value that the aim limits: our figure divided by that of the baseline, or our
    figure itself without a baseline. `spread` is the least and the greatest ratio among the
    repeats. `ok` is set from the aim. `label` distinguishes several results of one function.
    """

    ours: float
    baseline: float | None
    ratio: float
    spread: tuple[float, float]
    unit: str
    ok: bool | None = None
    label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Absent:
    """A line that can't be measured here, and the reason. It never counts as reached."""

    why: str
    label: str = ""


Result = Ratio | Absent
Measured = Callable[[Run], Result | Sequence[Result]]


@dataclass(frozen=True)
class TableLine:
    """A line of the printed table: what is measured, its aim, a sentence on what it protects."""

    name: str
    what: str
    aim: str
    protects: str
    measure: Measured
    minutes: float


LINES: Final[dict[str, TableLine]] = {}


def line(
    name: str, what: str, *, aim: str, protects: str, minutes: float = 5
) -> Callable[[Measured], Measured]:
    """Register a line.

    `aim` is such as "≤ 1/50", "≥ 8" or "≤ 10 %", optionally with words after it. `minutes` is the
    longest time that the line may take.
    """
    reached(aim, 0)  # an invalid aim fails here, not after the measurement

    def register(measure: Measured) -> Measured:
        if name in LINES:
            raise ValueError(f"two lines are called {name}")
        LINES[name] = TableLine(name, what, aim, protects, measure, minutes)
        return measure

    return register


def measured(found: TableLine, run: Run) -> list[Result]:
    """The results of a line with their verdicts, measured in this process.

    Raises RuntimeError for a line without a result, which would be neither reached nor missed.
    """
    results = found.measure(run)
    listed = [results] if isinstance(results, Ratio | Absent) else list(results)
    if not listed:
        raise RuntimeError(f"{found.name} has no result")
    return [
        replace(r, ok=reached(found.aim, r.ratio)) if isinstance(r, Ratio) and r.ok is None else r
        for r in listed
    ]


def reached(aim: str, ratio: float) -> bool:
    """Whether a ratio satisfies an aim. Raises ValueError for an aim without a limit."""
    parts = _AIM.match(aim)
    if parts is None:
        raise ValueError(f"an aim begins with ≤ or ≥ and a number: {aim!r}")
    limit = float(parts[2]) / float(parts[3] or 1) / (100 if parts[4] else 1)
    return ratio <= limit if parts[1] == "≤" else ratio >= limit


def side_by_side(run: Run, ours: Figure, baseline: Figure, unit: str, **words: str) -> Ratio:
    """Measure both sides alternately, so that other load affects both.

    The first measurement of each is dropped.
    """
    ours(), baseline()
    pairs = [_pair(ours, baseline, swap=n % 2 == 1) for n in range(run.repeats)]
    ratios = [mine / base for mine, base in pairs]
    return Ratio(
        median(mine for mine, _ in pairs),
        median(base for _, base in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        unit,
        **words,  # type: ignore[arg-type]
    )


def _pair(ours: Figure, baseline: Figure, *, swap: bool) -> tuple[float, float]:
    if swap:
        base = baseline()
        return ours(), base
    return ours(), baseline()


def alone(run: Run, ours: Figure, unit: str, **words: str) -> Ratio:
    """A measurement with an absolute aim: the median of the repeats, with their spread."""
    taken = [ours() for _ in range(run.repeats)]
    return Ratio(median(taken), None, median(taken), (min(taken), max(taken)), unit, **words)  # type: ignore[arg-type]


def quiet(taken: Sequence[float]) -> float:
    """The lower quartile of times by the wall clock: other load only ever makes them longer."""
    return sorted(taken)[len(taken) // 4]


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder for one measurement."""
    with TemporaryDirectory(prefix="ridedash-bench-") as path:
        yield Path(path)
