"""Real processes over one database: web servers by the commands of the README, workers, sandbox."""

import atexit
import contextlib
import itertools
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx
from werkzeug.security import generate_password_hash

from ridedash import config
from ridedash.cli import demo
from ridedash.extensions import Services
from ridedash.services import build_services
from ridedash.store import properties
from tests.running import ANSWERS_S, NOTHING, clean_environment, give_streets

BIN = Path(sys.executable).parent
_numbers = itertools.count(1)
# All addresses are http. Without this context, each client would read all certificates first.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
WAIT_S = 90.0  # an upper bound for a condition on a busy machine, never a pause
# The commands of the README; only address and number of processes differ.
GRANIAN = (
    "granian --interface wsgi --workers 2 --blocking-threads 8 --backpressure 64 "
    "--workers-kill-timeout 30s "
    "--host 127.0.0.1 --port {port} ridedash.wsgi:app"
)
GUNICORN = (
    "gunicorn --no-control-socket --worker-class gthread --workers 2 --threads 8 "
    "--graceful-timeout 30 "
    "--bind 127.0.0.1:{port} ridedash.wsgi:app"
)
TRIP = {"show": "1", "drop": "Airport", "drop_lat": "-38.4800", "drop_lng": "-127.9500"}


@dataclass
class Fleet:
    """The running processes, and their addresses."""

    folder: Path
    environ: dict[str, str]
    services: Services
    webs: list[str] = field(default_factory=list)  # addresses
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)  # ended by a test, on purpose
    left: list[str] = field(default_factory=list)  # processes that did not stop and were killed

    def start(self, name: str, *command: str) -> None:
        """Start one process in a process group of its own; its output goes to a file."""
        log = (self.folder / f"{name}.log").open("ab")
        with log:
            self.processes[name] = subprocess.Popen(
                command,
                env=self.environ,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def web(self, name: str, command: str) -> str:
        """Start a web server by its command and wait until it answers; returns its address."""
        port = free_port()
        program, *words = command.format(port=port).split()
        self.start(name, str(BIN / program), *words)
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(url + "/healthz"), lambda: self.output(name))
        self.webs.append(url)
        return url

    def ridedash(self, name: str, *words: str) -> None:
        """Start one of our own commands."""
        self.start(name, sys.executable, "-m", "ridedash.cli", *words)

    def steer(self, what: str, **body: float) -> None:
        """Change the sandbox's clock: set its `speed`, or `advance` it."""
        address = f"http://127.0.0.1:{self.environ['RIDEDASH_SANDBOX_PORT']}/control/{what}"
        httpx.post(
            address,
            json=body,
            headers={"X-Sandbox-Control": "1"},
            trust_env=False,
            timeout=ANSWERS_S,
            verify=NO_TLS,
        ).raise_for_status()

    def output(self, name: str) -> str:
        """The output of a process."""
        return (self.folder / f"{name}.log").read_text()

    def kill(self, name: str) -> None:
        """Kill a process without asking it to stop."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait(WAIT_S)
        self.ended.add(name)

    def stop(self) -> dict[str, int]:
        """Stop all processes at once, and kill those that don't end; returns the exit codes."""
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        codes = {}
        for name, process in self.processes.items():
            try:
                codes[name] = process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                codes[name] = -999
        self.left = [name for name, process in self.processes.items() if _killed(process.pid)]
        return {name: code for name, code in codes.items() if name not in self.ended}


def _killed(group: int) -> bool:
    """Kill what is left of a process group. Returns whether there was anything."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@contextlib.contextmanager
def fleet(folder: Path, database: str, **settings: str) -> Iterator[Fleet]:
    """A demo's database and running sandbox; at the end all processes have to stop when asked."""
    folder.mkdir(parents=True, exist_ok=True)
    port = str(free_port())
    chosen = {
        "RIDEDASH_INSTANCE": str(folder / "instance"),
        "RIDEDASH_DATABASE_URL": database,
        "RIDEDASH_SANDBOX_PORT": port,
        "RIDEDASH_PACE": "60",
        "RIDEDASH_LOG_FORMAT": "json",
        "RIDEDASH_LOG_LEVEL": "info",
    }
    environ = clean_environment(**(chosen | settings))
    environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
    give_streets(folder / "instance")
    services = build_services(config.load(environ))
    demo.seed(services)
    made = Fleet(folder, environ, services)
    made.ridedash("sandbox", "sandbox")
    try:
        # this answer needs the streets: growing them takes longer than the desk waits for prices
        near = f"http://127.0.0.1:{port}/places/near?lat={TRIP['drop_lat']}&lng={TRIP['drop_lng']}"
        wait_for(lambda: answers(near), lambda: made.output("sandbox"))
        yield made
    finally:
        ended = made.stop()
        services.db.close()
    assert ended == dict.fromkeys(ended, 0), ended  # SIGTERM ends all of them with exit code 0
    assert made.left == [], made.left


def free_port() -> int:
    """A port for one server, or for none: until this process ends the kernel gives it to no other.

    A socket is bound to the port but does not listen, so connections are refused. A server that
    sets SO_REUSEADDR, as all do, can still listen there.
    """
    holder = socket.socket()
    atexit.register(holder.close)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port: int = holder.getsockname()[1]
    return port


def get(url: str, headers: Mapping[str, str] = NOTHING) -> httpx.Response:
    """The answer of a server; it may come late, if the server has just begun on a busy machine."""
    return httpx.get(url, headers=dict(headers), timeout=ANSWERS_S, trust_env=False, verify=NO_TLS)


def answers(url: str) -> bool:
    """Whether a server answers at that address."""
    try:
        return get(url).status_code == 200
    except httpx.HTTPError:
        return False


def wait_for(holds: Callable[[], Any], log: Callable[[], object] = lambda: "") -> Any:
    """Wait for a true value and return it; polls no more often than one of our pages may."""
    end = time.monotonic() + WAIT_S
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < end, log()
        time.sleep(0.3)


class Person:
    """A member of staff in a browser that uses several web processes: cookies ignore the port."""

    def __init__(self, made: Fleet) -> None:
        self.http = httpx.Client(
            timeout=ANSWERS_S, trust_env=False, headers={"Accept": "text/html"}, verify=NO_TLS
        )
        self.name, self.password = f"Desk {next(_numbers)}", "a phrase for this test"
        s, now = made.services, made.services.clock()
        with s.db.write() as db:
            prop = properties.properties(db)[0]
            hashed = generate_password_hash(self.password)
            self.id = properties.add_staff(db, prop.id, self.name, hashed, "concierge", now).id

    def sign_in(self, url: str) -> None:
        """Sign in at that web process."""
        form = {
            "name": self.name,
            "password": self.password,
            "csrf_token": self.token(url + "/sign-in"),
        }
        assert self.http.post(url + "/sign-in", data=form).status_code == 303

    def token(self, page: str) -> str:
        """The CSRF token of a page."""
        found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', self.http.get(page).text)
        assert found, page
        return found[1]

    def post(self, url: str, page: str, path: str, **form: str) -> httpx.Response:
        """Submit a form of a page."""
        return self.http.post(url + path, data=form | {"csrf_token": self.token(url + page)})

    def book(self, url: str, guest: str, **form: str) -> int:
        """Book the first offer of the picker; returns the order's number."""
        page = self.http.get(url + "/rides/new", params=TRIP).text
        sent = filled(page) | {"guest_name": guest} | form
        answer = self.http.post(url + "/rides/new", data=sent)
        assert answer.status_code == 303, (answer.status_code, sorted(sent))
        return int(answer.headers["Location"].rsplit("/", 1)[1])

    def snapshot(self, url: str, order: int) -> httpx.Response:
        """The answer to a poll of a ride page."""
        return self.http.get(
            f"{url}/rides/{order}/snapshot.json", headers={"Accept": "application/json"}
        )

    def close(self) -> None:
        """Close the connections."""
        self.http.close()


def filled(page: str) -> dict[str, str]:
    """Names and values of the form's inputs that are hidden, checked, or name pickup and drop."""
    part = page[page.index('id="book"') :]
    sent = {}
    for tag in re.findall(r"<input[^>]*>", part):
        each = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        wanted = each.get("type") in ("hidden", None) or each.get("name") in ("pickup", "drop")
        wanted |= each.get("type") == "radio" and bool(re.search(r"\schecked\b", tag))
        if "name" in each and wanted and each["name"] != "aim":
            sent[each["name"]] = unescape(each.get("value", ""))
    return sent
