"""docs/limits.md has each limit and time of the core as the code has it, with its comment."""

import importlib
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from ridedash.geo import LatLng
from tools import limits
from tools.mutants.changes import ROOT, modules

MODULES: Final = modules("", ROOT)
PAGE: Final = limits.PAGE.read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_page_has_a_module_as_it_is_printed(path: Path) -> None:
    assert limits.section(path) in PAGE, "`make limits` prints the page anew"


def test_the_page_has_nothing_else() -> None:
    assert limits.page() == PAGE, "`make limits` prints the page anew"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_each_number_has_its_reason_beside_it(path: Path) -> None:
    where = path.relative_to(ROOT / "ridedash").with_suffix("")
    module = importlib.import_module(f"ridedash.{'.'.join(where.parts)}")
    assert [each.name for each in limits.limits(path, module) if not each.why] == []


CODE: Final = """\
LASTS = timedelta(minutes=90)  # a walk
# bytes, of which
# none is lost
SIZE: Final = 4_096

NO_REASON = 5
LAST, FIRST = 2, 1  # noqa: X1
# not its own: a line lies between

APART = 3
TEXT, ON, _OWN = "3", True, 4
several = 6
CODES = frozenset(
    {404, 401}  # of a refusal
)
"""


def test_a_comment_beside_a_number_or_right_above_it_is_its_reason(tmp_path: Path) -> None:
    path, module = tmp_path / "code.py", ModuleType("code")
    path.write_text(CODE)
    exec(CODE, vars(module) | {"timedelta": timedelta, "Final": Final}, vars(module))
    assert list(limits.limits(path, module)) == [
        ("LASTS", "90 min", "a walk"),
        ("SIZE", "4,096", "bytes, of which none is lost"),
        ("NO_REASON", "5", ""),
        ("LAST", "2", ""),
        ("FIRST", "1", ""),
        ("APART", "3", ""),
        ("CODES", "401 · 404", "of a refusal"),
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (timedelta(days=1), "24 h"),
        (timedelta(days=30), "30 days"),
        (timedelta(hours=1), "1 h"),
        (timedelta(seconds=90), "90 s"),
        (timedelta(milliseconds=250), "0.25 s"),
        (timedelta(0), "0 s"),
        (2**31 - 1, "2,147,483,647"),
        (3600.0, "3,600"),
        (0.05, "0.05"),
        (Decimal("1.20"), "1.20"),
        (float("-inf"), "-inf"),
        ((5.0, timedelta(seconds=5)), "5 · 5 s"),
        (LatLng(0.0, 0.0), "0 · 0"),
        (frozenset({3, 1}), "1 · 3"),
        (True, ""),
        ((), ""),
        ((1, "two"), ""),
        (((8, 10), (18, 20)), ""),
        (frozenset({"a"}), ""),
        ("60", ""),
    ],
)
def test_a_value_is_shown_with_its_unit(value: Any, shown: str) -> None:
    assert limits.shown_value(value) == shown
