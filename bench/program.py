"""The program in separate processes, as in production: web and worker, with a sandbox."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from werkzeug.security import generate_password_hash

from bench.serving import ROOT, free_port, wait_for
from ridedash import config
from ridedash.cli import demo
from ridedash.services import Services, build_services
from ridedash.store import properties

PASSWORD: Final = "a long enough password"
DESKS: Final = 5  # number of people; rate limits are per person
STOP_S: Final = 30.0


@dataclass
class Program:
    """The three processes by name, and their common settings."""

    url: str
    services: Services
    pids: dict[str, int]
    desks: tuple[str, ...]  # sign-in names; all have the password PASSWORD

    @property
    def database(self) -> Path | None:
        """The SQLite file; None when the database is a server."""
        made = self.services.settings.instance / "ridedash.db"
        return made if made.exists() else None


@contextlib.contextmanager
def program(
    folder: Path, database: str | None = None, pace: float = 1.0, rate: int = 400
) -> Iterator[Program]:
    """Start the three processes, load a demo, and stop the processes at the end.

    Their log is in the folder.
    """
    web, sandbox = free_port(), free_port()
    environ = _environ(folder, web, sandbox, database, pace, rate)
    services = build_services(config.load(environ))
    services.db.upgrade()
    with contextlib.ExitStack() as stack:
        stack.callback(services.db.close)
        log = stack.enter_context((folder / "log.txt").open("w"))
        cli = [sys.executable, "-m", "ridedash.cli"]
        serve = [
            "-m",
            "granian",
            "--interface",
            "wsgi",
            "--port",
            str(web),
            "--blocking-threads",
            "8",
            "app:app",
        ]
        started = {"sandbox": stack.enter_context(_started([*cli, "sandbox"], environ, log))}
        wait_for(sandbox, started["sandbox"])
        desks = _seed(services)
        started["worker"] = stack.enter_context(_started([*cli, "worker"], environ, log))
        started["web"] = stack.enter_context(_started([sys.executable, *serve], environ, log))
        wait_for(web, started["web"])
        pids = {name: process.pid for name, process in started.items()}
        yield Program(f"http://127.0.0.1:{web}", services, pids, desks)


def _environ(
    folder: Path, web: int, sandbox: int, database: str | None, pace: float, rate: int
) -> dict[str, str]:
    ours = {
        "MALLOC_ARENA_MAX": "1",  # as in the systemd units of docs/operating.md
        "RIDEDASH_INSTANCE": str(folder / "instance"),
        "RIDEDASH_PORT": str(web),
        "RIDEDASH_SANDBOX_PORT": str(sandbox),
        "RIDEDASH_PACE": f"{pace:g}",
        "RIDEDASH_SERVICE_RATE": str(rate),
        **({"RIDEDASH_DATABASE_URL": database} if database else {}),
    }
    return {k: v for k, v in os.environ.items() if not k.startswith("RIDEDASH_")} | ours


@contextlib.contextmanager
def _started(
    command: list[str], environ: dict[str, str], log: IO[str]
) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log) as process:
        try:
            yield process
            if process.poll() is not None:
                raise RuntimeError(f"{command[2:]} ended by itself (code {process.poll()})")
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _seed(services: Services) -> tuple[str, ...]:
    """Load the demo's property and account, and some members of staff."""
    demo.seed(services)
    with services.db.write() as s:
        first = properties.find_staff(s, demo.SIGN_IN_NAME)
        assert first is not None
        for n in range(DESKS):
            if properties.find_staff(s, f"desk {n}") is None:
                hashed = generate_password_hash(PASSWORD, method="scrypt:1024:8:1")
                properties.add_staff(
                    s, first.property_id, f"desk {n}", hashed, "concierge", services.clock()
                )
    return tuple(f"desk {n}" for n in range(DESKS))
