"""A fork server: modules are imported once, so that a forked worker starts in milliseconds."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.faults.life import Life

ROOT: Final = Path(__file__).parent.parent.parent
PR_SET_PDEATHSIG: Final = 1
LOOK_S: Final = 0.004
ENDS_S: Final = 60.0  # the fork server, or the double, may take this long to end


class Nursery:
    """The harness's handle of one fork server. It is thread-safe."""

    def __init__(self, log: Path) -> None:
        self._lock = threading.Lock()
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.faults.nursery"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                text=True,
            )

    def spawn(self, life: Life) -> int:
        """Start a process and return its pid."""
        return int(self._ask(do="spawn", life=asdict(life))["pid"])

    def kill(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process, unless it has ended."""
        self._ask(do="kill", pid=pid, number=number)

    def wait(self, pid: int, timeout_s: float) -> int | None:
        """The exit code of a process (negative: the signal), or None after `timeout_s`."""
        end = time.monotonic() + timeout_s
        while (code := self._ask(do="look", pid=pid)["code"]) is None and time.monotonic() < end:
            time.sleep(LOOK_S)
        return None if code is None else int(code)

    def end(self, pid: int) -> None:
        """Kill a process and wait for it."""
        self.kill(pid)
        self.wait(pid, 10)

    def close(self) -> None:
        """End the server and all its processes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(ENDS_S)
        self._process.stdout.close()

    def _ask(self, **words: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def serve() -> None:
    """Handle commands until standard input ends. The process forks, so it has no threads."""
    codes: dict[int, int | None] = {}
    for line in sys.stdin:
        words = json.loads(line)
        answer: dict[str, Any] = {}
        if words["do"] == "spawn":
            pid = _fork(Life(**words["life"]))
            codes[pid] = None
            answer = {"pid": pid}
        elif words["do"] == "kill":
            if _code(codes, words["pid"]) is None:
                os.kill(words["pid"], words["number"])
        else:
            answer = {"code": _code(codes, words["pid"])}
        print(json.dumps(answer), flush=True)


def _code(codes: dict[int, int | None], pid: int) -> int | None:
    if codes[pid] is None:
        done, status = os.waitpid(pid, os.WNOHANG)
        codes[pid] = os.waitstatus_to_exitcode(status) if done else None
    return codes[pid]


def _fork(life: Life) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        life.run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
