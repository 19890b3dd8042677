"""The processes of a browser: all of them end with it, also those that lost their parent."""

import sys
import time
from pathlib import Path

import pytest

from tests.engines import processes
from tests.engines.processes import Family

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
# a child in a session of its own that does not end when asked to, and whose parent is gone
ORPHAN = (
    "import os, signal, sys, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "open(sys.argv[1], 'w').close()\n"
    "while True: time.sleep(60)\n"
)


def wait_for(path: Path) -> None:
    until = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.01)


def test_a_process_without_its_parent_ends_with_its_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "KINDLY_S", 0.2)
    family, other = Family(tmp_path), Family(tmp_path)
    for each, name in ((family, "first"), (other, "second")):
        each.start([sys.executable, "-c", ORPHAN, str(tmp_path / name)])
        wait_for(tmp_path / name)
    family.end()
    assert family.alive() == {}
    assert other.alive() != {}
    other.end()
    assert other.alive() == {}


def test_ending_a_family_without_processes_is_no_error(tmp_path: Path) -> None:
    Family(tmp_path).end()
