"""Finds the processes of a test's browser by a mark, and ends them all with the browser.

A browser starts processes of its own (content, network, graphics), which lose their parent when it
ends badly. All inherit the environment, so the mark finds them (Linux: /proc).
"""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

MARK: Final = "RIDEDASH_TEST_ENGINE_MARK"
KINDLY_S: Final = 5.0
HARDLY_S: Final = 10.0


class Family:
    """Processes that share a mark and a home folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.mark = uuid.uuid4().hex
        self.environ = {**os.environ, MARK: self.mark, "HOME": str(home)} | {
            f"XDG_{name}": str(home)
            for name in ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "RUNTIME_DIR")
        }
        self.children: list[subprocess.Popen[bytes]] = []

    def start(
        self, command: Sequence[str], pass_fds: Sequence[int] = (), **more: str
    ) -> "subprocess.Popen[bytes]":
        """Start a program of the family; its output goes to a file named after it in `home`."""
        with self.log(command[0]) as log:
            child = subprocess.Popen(
                command,
                env=self.environ | more,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=pass_fds,
                cwd=self.home,
                start_new_session=True,  # Ctrl+C in the terminal is for pytest alone
            )
        self.children.append(child)
        return child

    def log(self, program: str) -> IO[bytes]:
        return (self.home / f"{Path(program).name}.log").open("ab")

    def alive(self) -> dict[int, str]:
        """The command lines of all processes of the family, by process id."""
        sought = f"{MARK}={self.mark}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if sought in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(folder.name)] = words.decode(errors="replace").strip()
            except OSError:
                continue  # it has ended, or belongs to another user
        return found

    def end(self) -> None:
        """End all processes, the stubborn ones by SIGKILL. Raises RuntimeError when one stays."""
        for number, within_s in ((signal.SIGTERM, KINDLY_S), (signal.SIGKILL, HARDLY_S)):
            for process_id in self.alive():
                try:
                    os.kill(process_id, number)
                except ProcessLookupError:
                    continue
            if self._gone(within_s):
                return
        raise RuntimeError(f"these processes do not end: {self.alive()}")

    def _gone(self, within_s: float) -> bool:
        until = time.monotonic() + within_s
        empty = 0
        while time.monotonic() < until:
            for child in self.children:
                child.poll()  # a child that ended is a zombie until its parent reads its exit code
            # twice: a process that is just starting shows no environment yet
            empty = 0 if self.alive() else empty + 1
            if empty == 2:
                for child in self.children:
                    child.wait(HARDLY_S)
                return True
            time.sleep(0.03)
        return False
