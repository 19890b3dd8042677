"""Each process of a run compiles its share of the test files, and reads what the others compiled.

In a new checkout pytest rewrites the assertions of all files, which takes 11 s of CPU time. Without
this module each process would do all of it, at the same time and in the same order.
"""

import contextlib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import statements, tiers


def compile_own(config: pytest.Config) -> None:
    """Import this process's share before the collection; the same tests are collected anyway."""
    worker = getattr(config, "workerinput", None)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if worker is None or not whole or sys.dont_write_bytecode:
        return
    root = config.rootpath
    every = sorted((root / "tests").rglob("test_*.py"))
    files = [file for file in every if tiers.is_collected(statements.name_of(file, root))]
    for file in own(files, int(worker["workerid"].removeprefix("gw")), worker["workercount"]):
        # the collection of the file reports the error
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(root).with_suffix("").parts))


def own(files: Sequence[Path], number: int, processes: int) -> Sequence[Path]:
    """The share of the process with that number: every n-th file of the list, for n processes.

    Thus files are compiled in the order of collection: a process that is done early finds the next
    files compiled.
    """
    return files[number % processes :: processes]
