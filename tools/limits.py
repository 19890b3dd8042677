"""Writes docs/limits.md from the code: each fixed number of the core, with the comment beside it.

python -m tools.limits
"""

import ast
import importlib
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from tools.mutants.changes import ROOT, modules

PAGE: Final = ROOT / "docs" / "limits.md"
HEAD: Final = """\
# Limits and times

Every number that decides something in the core, and in the reading of pictures: how long a link is
valid, how often a ride is polled, how many wrong PINs close a number. Each row says why, or what it
counts. Settings are in the [README](../README.md); these are fixed in the code. The times of the
service itself run by its own clock ([booking-protocol.md](booking-protocol.md)).

`make limits` writes this page from the code; a test finds a number that it has otherwise, and one
without a comment.
"""
# the seconds of a unit, and from how many on it is used
UNITS: Final = ((86_400, 2, "days"), (3600, 1, "h"), (60, 1, "min"))
COMMENT: Final = re.compile(r"(?:^|\s)#(?! (?:noqa|type:|fmt:)) (.*)")


class Limit(NamedTuple):
    """A constant of a module: its name, its value as the page shows it, and its comment."""

    name: str
    value: str
    why: str


def page() -> str:
    """The whole page."""
    pictures = sorted((ROOT / "ridedash" / "face").glob("*.py"))
    sections = [section(path) for path in sorted([*modules("", ROOT), *pictures])]
    return "\n".join([HEAD, *filter(None, sections)])


def section(path: Path) -> str:
    """The part of a module; "" for one without limits."""
    where = path.relative_to(ROOT / "ridedash")
    module = importlib.import_module(f"ridedash.{'.'.join(where.with_suffix('').parts)}")
    rows = [f"| `{each.name}` | {each.value} | {each.why} |" for each in limits(path, module)]
    if not rows:
        return ""
    what = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return "\n".join(
        [f"## `{where.as_posix()}`", "", what, "", "| | | |", "|---|---|---|", *rows, ""]
    )


def limits(path: Path, module: ModuleType) -> Iterator[Limit]:
    """The public constants of a module that are numbers or spans of time."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.parse(text).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name) and re.fullmatch("[A-Z][A-Z_]*", name.id):
                shown = shown_value(getattr(module, name.id))
                if shown:
                    yield Limit(name.id, shown, _why(node, lines))


def _why(node: ast.stmt, lines: Sequence[str]) -> str:
    """The comment beside a statement, else that above it; "" without one."""
    own = lines[node.lineno - 1 : node.end_lineno]
    before = lines[: node.lineno - 1][::-1]
    above = itertools.takewhile(lambda line: line.startswith("#"), before)
    return _words(own) or _words([*above][::-1])


def _words(lines: Sequence[str]) -> str:
    return " ".join(found[1] for line in lines if (found := COMMENT.search(line)))


def shown_value(value: Any) -> str:
    """A number, a span of time, or several of them, as the page shows it; "" for another value."""
    if isinstance(value, timedelta):
        return _span(value.total_seconds())
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _number(value)
    if isinstance(value, frozenset) and all(isinstance(part, int) for part in value):
        value = tuple(sorted(value))
    if isinstance(value, tuple) and not any(isinstance(part, tuple) for part in value):
        parts = [shown_value(part) for part in value]
        return " · ".join(parts) if all(parts) else ""
    return ""


def _span(seconds: float) -> str:
    for size, least, unit in UNITS:
        if seconds % size == 0 and seconds >= least * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:g} s"


def _number(value: float | Decimal) -> str:
    if math.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return str(value)


if __name__ == "__main__":
    PAGE.write_text(page())
