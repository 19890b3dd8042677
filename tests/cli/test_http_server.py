"""SIGTERM ends a process whatever its main thread does at that moment."""

import subprocess
import sys

import pytest

from tests.running import clean_environment

BEGIN = """
import os, signal, threading, weakref
from ridedash.cli.http_server import stopped_by_sigterm
class Thing: pass
def stop(*_): os.kill(os.getpid(), signal.SIGTERM)
try:
    with stopped_by_sigterm():
"""
IN_A_CALLBACK = "        thing = Thing(); seen = weakref.ref(thing, stop); del thing"
AT_ONCE = "        stop()"
END = """
        threading.Event().wait(60)
        print("not stopped")
finally:
    stop()
    print("cleaned up")
"""


@pytest.mark.parametrize("sent", [AT_ONCE, IN_A_CALLBACK], ids=["at once", "in a callback"])
def test_a_process_stops_and_its_clean_up_is_not_cut_off(sent: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + sent + END],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "cleaned up\n", "")
