"""A half-applied migration, or a database of a newer or older version.

Row 33 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from bench.faults.scoreboard import SQLITE, Case, Verdict, row
from bench.faults.shop import database_in
from tests.running import clean_environment

REFUSES_S: Final = 90.0  # an upper bound on a busy machine
DAMAGES: Final = {
    "newer": ("UPDATE alembic_version SET version_num = 'from-the-future'", "from-the-future"),
    "older": (
        "UPDATE alembic_version SET version_num = '0003'; ALTER TABLE heartbeats DROP COLUMN "
        "silent_since",
        "0003",
    ),
    "half": ("ALTER TABLE heartbeats DROP COLUMN silent_since", "heartbeats.silent_since"),
}


@row(33, "A migration half done, or another version's")
def half_migrated(case: Case) -> Verdict:
    """The program refuses to start and names what it found."""
    wrong = Counter[str]()
    damages = {"half": DAMAGES["half"]} if case.short else DAMAGES
    for name, (damage, word) in damages.items():
        folder = case.sub(name)
        url = database_in(folder, SQLITE)
        path = url.removeprefix("sqlite:///")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as line:
            line.executescript(damage)
        before = Path(path).read_bytes()
        settings = clean_environment(
            RIDEDASH_INSTANCE=str(folder / "instance"), RIDEDASH_DATABASE_URL=url
        )
        command = [sys.executable, "-m", "ridedash.cli", "worker"]
        code, printed = ended(command, settings)
        wrong[f"{name}: started"] += code != 2
        wrong[f"{name}: {printed[-60:]}"] += word not in printed or "Traceback" in printed
        wrong[f"{name}: changed"] += Path(path).read_bytes() != before
    return Verdict(len(damages), ok=not +wrong, note=str(dict(+wrong) or "each refused by name"))


def ended(command: list[str], settings: dict[str, str]) -> tuple[int | None, str]:
    """The exit code of a program that should not start, and its standard error.

    The code is None if the program did start and had to be stopped.
    """
    with subprocess.Popen(
        command, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            printed = run.communicate(timeout=REFUSES_S)[1]
        except subprocess.TimeoutExpired:
            run.terminate()
            return None, run.communicate()[1]
        return run.returncode, printed
