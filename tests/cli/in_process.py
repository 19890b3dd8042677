"""Runs short commands of ridedash in the test's own process: starting a program takes seconds.

What only a separate process shows (its logs, its umask, a terminal) is tested in test_commands.py
and test_people.py.
"""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ridedash.cli import _parser, commands
from ridedash.cli.errors import CommandError
from tests.databases import settings_for
from tests.running import clean_environment


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(instance: Path, *words: str, given: str = "", **settings: str) -> Done:
    """Run `ridedash <words>` with `given` on its standard input."""
    environ = clean_environment(
        RIDEDASH_INSTANCE=str(instance), **(settings_for(instance) | settings)
    )
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    stdin, sys.stdin = sys.stdin, io.StringIO(given)
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            commands.run(_parser().parse_args(words), environ)
    except CommandError as error:
        stderr.write(f"ridedash: {error}\n")
        code = 2
    finally:
        sys.stdin = stdin
    return Done(code, stdout.getvalue(), stderr.getvalue())
