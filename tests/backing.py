"""Real PostgreSQL and Redis servers in a temporary folder, for tests and benchmarks.

Nothing of the machine's own servers is touched. PostgreSQL refuses to run as root, so as root
another user runs it.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

SETTINGS = {
    "listen_addresses": "",
    # without fsync only a crash of the machine loses data, and the folder is temporary anyway
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "off",
}
WAIT_S = 60.0  # an upper bound for a condition on a busy machine, never a pause


class Missing(RuntimeError):
    """A server's programs are not installed on this machine."""


class NotStarted(RuntimeError):
    """A server did not start; the message has its output."""


@dataclass
class PostgresServer:
    """One server; databases are reached through a socket in its folder."""

    folder: Path
    programs: Path
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases, as SQLAlchemy takes it."""
        return f"postgresql+psycopg://ridedash@/{database}?host={self.folder}"

    def connect(self, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
        """A plain connection that commits each statement."""
        return psycopg.connect(
            host=str(self.folder), user="ridedash", dbname=database, autocommit=True
        )

    def start(self) -> None:
        """Start it and wait until it answers. Raises NotStarted."""
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        log = self.folder / "server.log"
        command = [
            str(self.programs / "postgres"),
            "-D",
            str(self.folder / "data"),
            "-k",
            str(self.folder),
            *options,
        ]
        self.process = _spawn(command, log)
        _wait_for(self._answers, self.process, log)

    def stop(self, *, immediate: bool = False) -> None:
        """Stop it; `immediate` acts like a crash, from which the next start has to recover."""
        if self.process is not None:
            _end(self.process, signal.SIGQUIT if immediate else signal.SIGINT)
            self.process = None

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A fresh server. Raises Missing."""
    programs = postgres_programs()
    if programs is None:
        raise Missing("PostgreSQL (initdb and postgres)")
    with _folder() as folder:
        made = [
            str(programs / "initdb"),
            "-D",
            str(folder / "data"),
            "-U",
            "ridedash",
            "-A",
            "trust",
            "-E",
            "UTF8",
        ]
        log = folder / "initdb.log"
        if _spawn([*made, "--no-sync", "--locale=C.UTF-8"], log).wait() != 0:
            raise NotStarted(log.read_text())
        server = PostgresServer(folder, programs)
        try:
            server.start()
            yield server
        finally:
            server.stop(immediate=True)


@dataclass
class RedisServer:
    """One server, which writes nothing to the disk."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Its address, as redis and flask-limiter take it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers. Raises NotStarted."""
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "save": "",
            "appendonly": "no",
            "dir": str(self.folder),
        }
        command = [
            "redis-server",
            *(part for name, value in options.items() for part in (f"--{name}", value)),
        ]
        self.process = _spawn(command, self.folder / "server.log")
        _wait_for(self._answers, self.process, self.folder / "server.log")

    def stop(self) -> None:
        """Stop it; its data is lost."""
        if self.process is not None:
            _end(self.process, signal.SIGTERM)
            self.process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
                line.sendall(b"PING\r\n")
                return line.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@contextlib.contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A fresh server on a free port. Raises Missing."""
    if shutil.which("redis-server") is None:
        raise Missing("Redis (redis-server)")
    with _folder() as folder:
        server = _redis_on_a_free_port(folder)
        try:
            yield server
        finally:
            server.stop()


def _redis_on_a_free_port(folder: Path) -> RedisServer:
    """Start Redis on a free port; try another one when the port is taken meanwhile."""
    for last in (False, False, True):
        with socket.create_server(("127.0.0.1", 0)) as free:
            server = RedisServer(folder, free.getsockname()[1])
        try:
            server.start()
            return server
        except NotStarted:
            if last:
                raise
    raise AssertionError("not reached")


def postgres_programs() -> Path | None:
    """The folder of initdb and postgres: on the PATH, else the newest version of Debian's."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_major, reverse=True)
    on_path = shutil.which("initdb")
    for folder in ([Path(on_path).resolve().parent] if on_path else []) + debian:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def _major(programs: Path) -> int:
    name = programs.parent.name
    return int(name) if name.isdigit() else 0


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder of the server's user; its path is short, because a socket's has 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="ridedash-", dir="/tmp"))
    try:
        user = _server_user()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _server_user() -> pwd.struct_passwd | None:
    """The user who runs the servers when we are root; None when we may run them ourselves."""
    if os.geteuid() != 0:
        return None
    known = {user.pw_name: user for user in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _spawn(command: list[str], log: Path) -> "subprocess.Popen[bytes]":
    """A child that ends with us even when we are killed (where setpriv can promise that)."""
    if shutil.which("setpriv"):
        command = ["setpriv", "--pdeathsig", "QUIT", *command]
    user = _server_user()
    options = (
        {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {
        "LC_ALL": "C.UTF-8"
    }
    with log.open("ab") as stream:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd="/",
            env=clean,
            start_new_session=True,
            **options,
        )


def _wait_for(answers: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + WAIT_S
    while not answers():
        if process.poll() is not None or time.monotonic() > until:
            _end(process, signal.SIGKILL)
            raise NotStarted(log.read_text(errors="replace"))
        time.sleep(0.02)


def _end(process: "subprocess.Popen[bytes]", how: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(WAIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
