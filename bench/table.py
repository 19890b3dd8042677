"""The results of a bench run as text and JSON."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.frame import Absent, Result, Run, TableLine

HEAD: Final = (
    f"{'verdict':8} {'what':58} {'ours against the baseline':34} {'ratio (least to greatest)':26} "
    "aim"
)


def machine() -> dict[str, Any]:
    """The machine that was measured."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load before": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """The id of the current commit; it ends with "-dirty" if files were changed since."""
    command = ["git", "--no-optional-locks", "describe", "--always", "--dirty"]
    found = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


def report(
    run: Run, results: Mapping[str, Sequence[Result]], lines: Mapping[str, TableLine], commit: str
) -> dict[str, Any]:
    """The run as JSON."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "machine": machine(),
        "run": asdict(run),
        "lines": [_entry(lines[name], each) for name, found in results.items() for each in found],
    }


def _entry(line: TableLine, result: Result) -> dict[str, Any]:
    row = {
        "name": line.name,
        "what": _what(line, result),
        "aim": line.aim,
        "protects": line.protects,
    }
    return row | {"verdict": verdict(result)} | asdict(result)


def verdict(result: Result) -> str:
    """One word: reached, missed, or absent."""
    if isinstance(result, Absent):
        return "absent"
    return "reached" if result.ok else "missed"


def shown(line: TableLine, results: Sequence[Result]) -> str:
    """A line of text for each result, and below them what they protect."""
    return "\n".join([*(_row(line, each) for each in results), f"    {line.protects}"])


def _row(line: TableLine, result: Result) -> str:
    head = f"{verdict(result):8} {_what(line, result):58}"
    if isinstance(result, Absent):
        return f"{head} {result.why}"
    against = "" if result.baseline is None else f" against {number(result.baseline)}"
    low, high = (number(each) for each in result.spread)
    figures = f"{number(result.ours)}{against} {result.unit}"
    ratio = f"{number(result.ratio)} ({low} to {high})"
    return (
        f"{head} {figures:34} {ratio:26} aim {line.aim}{f'; {result.note}' if result.note else ''}"
    )


def _what(line: TableLine, result: Result) -> str:
    return f"{line.what}{f', {result.label}' if result.label else ''}"


def number(value: float) -> str:
    """A number with three significant digits."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
