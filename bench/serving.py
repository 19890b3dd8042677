"""WSGI applications served by a real server in a process of its own.

Use: `with served("bench.baselines.bare:app") as server`.
"""

import contextlib
import importlib
import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from bench.processes import cpu_s

ROOT: Final = Path(__file__).parent.parent
START_S: Final = 60.0


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def served(
    app: str, environ: Mapping[str, str] | None = None, server: str = "waitress"
) -> Iterator[Served]:
    """Serve `module:function()` until the end of the block. `server` is waitress or granian."""
    port = free_port()
    command = [sys.executable, "-m", "bench.serving", app, server, str(port)]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(environ or {})}, stdin=subprocess.PIPE
    ) as child:
        try:
            wait_for(port, child)
            yield Served(port, child.pid)
        finally:
            child.terminate()


def free_port() -> int:
    """A port that was free just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int, child: "subprocess.Popen[Any]") -> None:
    """Wait until the port has a listener. RuntimeError if the child ends, or after START_S."""
    end = monotonic() + START_S
    while monotonic() < end and child.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(0.05)
    raise RuntimeError(f"the server did not start (code {child.poll()})")


def get(url: str, headers: Mapping[str, str]) -> bytes:
    """One answer, which must be 200."""
    with urllib.request.urlopen(
        urllib.request.Request(url, headers=dict(headers)), timeout=30
    ) as answer:
        return bytes(answer.read())


def per_cpu_second(
    server: Served, path: str, headers: Mapping[str, str], calls: int, threads: int = 4
) -> float:
    """Answers for each second of CPU time of the server, independent of other load.

    Raises OSError or HTTPException for a call without an answer, RuntimeError for another status
    than 200.
    """
    before = cpu_s(server.pid)
    share = max(1, calls // threads)
    with ThreadPoolExecutor(threads) as pool:
        loads = [pool.submit(_ask, server.port, path, headers, share) for _ in range(threads)]
    failed = [status for load in loads for status in load.result()]
    if failed:
        raise RuntimeError(f"{len(failed)} of {share * threads} answers were not 200: {failed[:3]}")
    return share * threads / (cpu_s(server.pid) - before)


def _ask(port: int, path: str, headers: Mapping[str, str], calls: int) -> list[int]:
    """Make `calls` calls over one connection. Returns the statuses of answers other than 200."""
    failed = []
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        for _ in range(calls):
            connection.request("GET", path, headers=dict(headers))
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failed.append(answer.status)
    return failed


def main(app: str, server: str, port: str) -> None:
    """Serve in this process until it is ended, or until its parent has ended."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    module, _, name = app.partition(":")
    if server == "granian":
        from granian.constants import Interfaces
        from granian.server import Server

        Server(
            f"{app}", "127.0.0.1", int(port), Interfaces.WSGI, factory=True, blocking_threads=4
        ).serve()
        return
    import waitress

    waitress.serve(
        getattr(importlib.import_module(module), name)(),
        listen=f"127.0.0.1:{port}",
        threads=8,
        ident=None,
    )


def _leave_with_parent() -> None:
    while os.read(0, 1):  # ends when the parent closes the other end
        pass
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
