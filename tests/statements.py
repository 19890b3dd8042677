"""Which tests run on PostgreSQL as well: as few as send each statement that was sent on SQLite.

The run on SQLite notes the statements of SQL that each of its tests sends, in the folder that
RIDEDASH_TEST_STATEMENTS names (tools/test.sh sets it). The run on PostgreSQL then has the tests of
`tiers.OF_DIALECT`, and of all others those few that send what these don't. It collects their files
alone: collecting all files would take each process several seconds.

What has a browser runs on SQLite only. What a process of its own sends is not noted: such tests
are in `tiers.OF_DIALECT`.
"""

import functools
import heapq
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from tests import databases

FOLDER: Final = "RIDEDASH_TEST_STATEMENTS"
# a list of values has as many marks as values, and an insertion of many rows as many lists
_VALUES: Final = re.compile(r"\(\?(?:, \?)+\)")
_ROWS: Final = re.compile(r"(?:\(\?\), )+\(\?\)")

_sent: dict[str, set[str]] = {}  # by test
_running: list[set[str]] = [set()]  # one entry: of the test that runs, whatever thread sends them


def watch() -> None:
    """Note, from now on, the statements of each test, if this run is to note them."""
    if _folder() is not None and databases.kind() == databases.SQLITE:
        event.listen(Engine, "before_cursor_execute", _note)


def begin(item: pytest.Item) -> None:
    """A test begins. What is sent by one that can't run on PostgreSQL does not count."""
    _running[0] = _sent.setdefault(item.nodeid, set()) if runs_again(item) else set()


def runs_again(item: pytest.Item) -> bool:
    """Whether a test can run on PostgreSQL."""
    return (
        item.get_closest_marker("database") is not None
        and item.get_closest_marker("browser") is None
        and item.get_closest_marker("sqlite_only") is None
    )


def write() -> None:
    """Write what the tests of this process have sent into a file of the folder."""
    folder = _folder()
    if folder is None or databases.kind() != databases.SQLITE or not _sent:
        return
    texts = {text: number for number, text in enumerate(sorted(set().union(*_sent.values())))}
    tests = {name: sorted(map(texts.__getitem__, sent)) for name, sent in _sent.items()}
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    (folder / f"{process}.json").write_text(json.dumps([list(texts), tests]))


@functools.cache
def chosen(of_dialect: Sequence[str]) -> Set[str] | None:
    """The tests that run on PostgreSQL; None for all. `of_dialect`: how names begin that all do."""
    folder = _folder()
    if folder is None or databases.kind() == databases.SQLITE:
        return None
    sent = read(folder)
    own = {name for name in sent if name.startswith(tuple(of_dialect))}
    others = {name: each for name, each in sent.items() if name not in own}
    return own | covering(others, set().union(*map(sent.__getitem__, own)))


def read(folder: Path) -> dict[str, set[str]]:
    """The statements of each test, as the processes of a run have written them."""
    found: dict[str, set[str]] = {}
    for path in folder.glob("*.json"):
        texts, tests = json.loads(path.read_text())
        for name, numbers in tests.items():
            found[name] = {texts[number] for number in numbers}
    return found


def covering(sent: Mapping[str, Set[str]], seen: Iterable[str]) -> set[str]:
    """Few tests that together send each statement that is not `seen`: the richest one first.

    Every process of a run has to choose the same, so equally rich ones are taken by their names.
    """
    left = set().union(*sent.values()).difference(seen)
    heap = [(-len(each & left), name) for name, each in sent.items()]
    heapq.heapify(heap)
    found: set[str] = set()
    while left:
        before, name = heapq.heappop(heap)
        now = -len(sent[name] & left)
        if now > before:  # others that were taken meanwhile send some of it
            heapq.heappush(heap, (now, name))
            continue
        found.add(name)
        left -= sent[name]
    return found


def shape(statement: str) -> str:
    """A statement without the number of values in its lists."""
    return _ROWS.sub("(?)", _VALUES.sub("(?)", statement))


def name_of(path: Path, root: Path) -> str:
    """A file as names of tests have it: relative to the project."""
    return path.relative_to(root).as_posix()


def _note(*about: Any) -> None:
    _running[0].add(shape(about[2]))


def _folder() -> Path | None:
    named = os.environ.get(FOLDER)
    return Path(named) if named else None
