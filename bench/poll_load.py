"""A server on one core and wrk on another: polls answered per second of the server's CPU time."""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from bench.processes import cpu_s
from bench.serving import ROOT, START_S, free_port, wait_for

SCRIPT: Final = """
local asked, n, i = {}, 0, tonumber(os.getenv("BENCH_FIRST"))
function init(args)
  for line in io.lines(os.getenv("BENCH_ASK")) do
    local path, cookie, tag = line:match("^(.-)\\t(.-)\\t(.*)$")
    local headers = {["Host"] = "127.0.0.1", ["Accept"] = "application/json"}
    if cookie ~= "" then headers["Cookie"] = cookie end
    if tag ~= "" then headers["If-None-Match"] = tag end
    n = n + 1
    asked[n] = wrk.format("GET", path, headers)
  end
end
function request()
  i = i % n + 1
  return asked[i]
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"answers": %d, "seconds": %f, "p99_ms": %f, ' ..
    '"refused": %d, "broken": %d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(99) / 1e3,
    e.status, e.connect + e.read + e.write + e.timeout))
end
"""
SERVERS: Final = {
    "granian": [
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--factory",
        "--workers",
        "1",
        "--blocking-threads",
        "1",
        "--backlog",
        "8192",
        "--backpressure",
        "8192",
        "--log-level",
        "warning",
        "--port",
    ],
    "gunicorn": [
        "-m",
        "gunicorn",
        "--worker-class",
        "gthread",
        "--workers",
        "1",
        "--threads",
        "16",
        "--worker-connections",
        "8192",
        "--no-control-socket",
        "--log-level",
        "warning",
        "--bind",
    ],
}
DESCRIPTORS: Final = 12_000


@dataclass(frozen=True)
class Poll:
    """A server with one worker that answers polls."""

    port: int
    pid: int


@dataclass(frozen=True)
class Load:
    """The result of one load."""

    answers: int
    per_cpu_s: float
    per_s: float
    p99_ms: float
    refused: int  # answers with a status of 400 or more
    broken: int  # connections that failed, or gave nothing in time


def missing() -> str:
    """The programs that are not on this machine, with commas; "" when none is missing."""
    return ", ".join(name for name in ("wrk", "taskset") if shutil.which(name) is None)


@contextlib.contextmanager
def polled(app: str, server: str, environ: Mapping[str, str]) -> Iterator[Poll]:
    """`bench.poll_apps:<app>` behind granian or gunicorn on core 0, until the end of the block."""
    port = free_port()
    address = str(port) if server == "granian" else f"127.0.0.1:{port}"
    app = f"bench.poll_apps:{app}"
    target = app if server == "granian" else f"{app}()"
    command = ["taskset", "-c", "0", sys.executable, *SERVERS[server], address, target]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RIDEDASH_")}
    with subprocess.Popen(
        command, cwd=ROOT, env=own | dict(environ), preexec_fn=more_descriptors
    ) as child:
        try:
            wait_for(port, child)
            _first_answer(port)
            yield Poll(port, child.pid)
        finally:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


def _first_answer(port: int) -> None:
    """Wait for the first answer: a server may listen before its worker answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=START_S)
    connection.request("GET", "/", headers={"Connection": "close"})
    connection.getresponse().read()
    connection.close()


def load(server: Poll, ask: Path, seconds: int, connections: int = 32, first: int = 0) -> Load:
    """Send the requests of the file `ask` (World.ask) in turn, from the one after `first` on.

    Raises RuntimeError without wrk's result.
    """
    script = ask.with_name("ask.lua")
    script.write_text(SCRIPT)
    timed = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
    command = [
        "taskset",
        "-c",
        "1",
        "wrk",
        *timed,
        "-s",
        str(script),
        f"http://127.0.0.1:{server.port}",
    ]
    before = cpu_s(server.pid)
    environ = os.environ | {"BENCH_ASK": str(ask), "BENCH_FIRST": str(first)}
    ended = subprocess.run(
        command,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=more_descriptors,
    )
    used = cpu_s(server.pid) - before
    _, found, printed = ended.stdout.rpartition("RESULT ")
    if not found:
        raise RuntimeError(f"wrk said nothing: {ended.stderr[-500:]}")
    result = json.loads(printed)
    per_s = result["answers"] / result["seconds"]
    return Load(
        result["answers"],
        result["answers"] / used,
        per_s,
        result["p99_ms"],
        result["refused"],
        result["broken"],
    )


def warm(server: Poll, ask: Path, questions: int) -> None:
    """Send every request once before measuring: in use, viewers have polled for hours."""
    first = 0
    while first < questions:
        result = load(server, ask, 3, first=first)
        if not result.answers or result.refused or result.broken:
            raise RuntimeError(f"polls fail: {result}")
        first += result.answers


def more_descriptors() -> None:
    """Raise the limit of descriptors as far as the machine allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
