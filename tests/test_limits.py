"""docs/limits.md has each limit and time of the core as the code has it, and no other."""

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from tools.mutants.changes import modules

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "limits.md"
MODULES: Final = modules("", ROOT)
ROW: Final = re.compile(r"\| `(?P<name>[A-Z_]+)` \| (?P<value>[^|]+) \| [^|]*\|")
UNEXPLAINED: Final = r"\| `.*\| *\|"
UNITS: Final = {"s": 1, "min": 60, "h": 3600, "days": 86_400}


@functools.cache
def rows() -> dict[str, dict[str, str]]:
    """For each module that heads a section of the page: the values by name."""
    found: dict[str, dict[str, str]] = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("## `"):
            found[line.split("`")[1]] = here = {}
        elif row := ROW.fullmatch(line):
            here[row["name"]] = row["value"]
    return found


def stated(value: str) -> list[Any]:
    """The numbers and spans of time in a value of the page."""
    found: list[Any] = []
    for part in value.split(" · "):
        number, _, unit = part.replace(",", "").partition(" ")
        count = Decimal(number)
        found.append(timedelta(seconds=float(count * UNITS[unit])) if unit else count)
    return found


def parts(value: Any) -> list[Any] | None:
    """The numbers and spans of a constant; None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, timedelta):
        return [value]
    if isinstance(value, int | float | Decimal):
        return [Decimal(str(value))]
    if isinstance(value, tuple | frozenset):
        each = [parts(part) for part in (sorted(value) if _sorts(value) else value)]
        single = [part[0] for part in each if part is not None and len(part) == 1]
        return single if single and len(single) == len(each) else None
    return None


def _sorts(value: Any) -> bool:
    return isinstance(value, frozenset) and all(isinstance(part, int) for part in value)


def constants(path: Path) -> Iterator[str]:
    """The public names in capitals that a module gives a value."""
    for node in ast.parse(path.read_text()).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name) and re.fullmatch("[A-Z][A-Z_]*", name.id):
                yield name.id


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_has_the_limits_and_times_of_the_page(path: Path) -> None:
    where = path.relative_to(ROOT / "ridedash")
    module = importlib.import_module(f"ridedash.{'.'.join(where.with_suffix('').parts)}")
    values = {name: parts(getattr(module, name)) for name in constants(path)}
    documented = {name: stated(value) for name, value in rows().get(where.as_posix(), {}).items()}
    assert {name: value for name, value in values.items() if value is not None} == documented


def test_each_number_has_its_reason() -> None:
    without = [line for line in PAGE.read_text().splitlines() if re.fullmatch(UNEXPLAINED, line)]
    assert without == []


def test_the_page_names_modules_that_exist() -> None:
    known = {path.relative_to(ROOT / "ridedash").as_posix() for path in MODULES}
    assert set(rows()) <= known
