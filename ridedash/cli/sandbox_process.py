"""The sandbox as a process: `ridedash sandbox`, or a child of `ridedash up`."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ridedash import config
from ridedash.cli.errors import CommandError
from ridedash.cli.http_server import listen, make_server, stopped_by_sigterm
from ridedash.sandbox import SandboxSettings, create_sandbox
from ridedash.sandbox.city import gazetteer
from ridedash.sandbox.city.city import keep_streets
from ridedash.sandbox.store import Store, StoreUnusable
from ridedash.secrets_file import SANDBOX_KEY, demo_secrets

THREADS: Final = 8


def sandbox_settings(settings: config.Settings) -> SandboxSettings:
    """The settings of this instance's sandbox.

    Raises CommandError in live mode. If the dashboard uses this sandbox, also raises it when
    RIDEDASH_SERVICE_APP_TOKEN doesn't begin with SANDBOX_KEY: a desk in live mode that is connected
    to this sandbox knows by that beginning that it is a rehearsal.
    """
    if not settings.demo:
        raise CommandError(
            "the sandbox runs in demo mode only; live mode talks to RIDEDASH_SERVICE_URL."
        )
    settings.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    return SandboxSettings(
        database=settings.instance / "sandbox.db",
        app_token=_partner_key(settings),
        client_id=settings.oauth_client_id,
        client_secret=settings.oauth_client_secret,
        redirect_uris=(f"{settings.public_url}/accounts/callback",),
        pace=settings.pace,
    )


def _partner_key(settings: config.Settings) -> str:
    key = settings.service_app_token
    if key.startswith(SANDBOX_KEY):
        return key
    if settings.sandboxed:
        raise CommandError(
            f"RIDEDASH_SERVICE_APP_TOKEN must begin with {SANDBOX_KEY} for the sandbox, so that it "
            "can't be taken for a real one."
        )
    # the given key is for another service
    return demo_secrets(settings.instance)["service_app_token"]


def require_store(settings: SandboxSettings) -> None:
    """Raise CommandError for a sandbox database that is damaged, or is another kind of file."""
    try:
        Store(settings.database).close()
    except StoreUnusable as error:
        raise CommandError(f"{error}.") from None


@contextlib.contextmanager
def alone(instance: Path) -> Iterator[None]:
    """Keep every other sandbox off this instance folder until the block ends.

    Raises CommandError while there is one: two sandboxes would move the same rides, each with its
    own clock and faults.
    """
    instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (instance / "sandbox.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(
                f"another ridedash runs a sandbox in {instance}. Stop that one first, or set "
                "RIDEDASH_INSTANCE to another folder."
            ) from None
        yield


def serve(environ: Mapping[str, str], inherited: int | None, *, warmed: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; as a child of `up`, also until the parent has ended.

    `warmed`: the names of places are read at once, so that the first search is fast.
    """
    with contextlib.ExitStack() as stack, stopped_by_sigterm():
        settings = config.load(environ)
        chosen = sandbox_settings(settings)
        if inherited is None:  # otherwise `up` holds this lock
            stack.enter_context(alone(settings.instance))
        _serve(settings, chosen, inherited, warmed)


def _serve(
    settings: config.Settings, chosen: SandboxSettings, inherited: int | None, warmed: bool
) -> None:
    require_store(chosen)
    keep_streets(settings.instance)
    app = create_sandbox(chosen)
    if inherited is None:
        listening = listen(settings.host, settings.sandbox_port, "RIDEDASH_SANDBOX_PORT")
        url = f"http://{settings.host}:{listening.getsockname()[1]}"
        print(f"Sandbox of the ride booking service: {url}", flush=True)
    else:
        listening = socket.socket(fileno=inherited)
        threading.Thread(target=_leave_with_parent, daemon=True).start()
    if warmed:
        threading.Thread(target=gazetteer.prepare, name="places", daemon=True).start()
    make_server(app, listening, THREADS).run()


class SandboxChild:
    """The sandbox process that `up` keeps running: restarted on the same socket if it ends."""

    def __init__(
        self, environ: Mapping[str, str], listening: socket.socket, *, warmed: bool
    ) -> None:
        # one heap for all threads of the process (docs/operating.md, Processes)
        self._environ = {"MALLOC_ARENA_MAX": "1"} | dict(environ)
        self._listening = listening
        self._warmed = warmed
        self._stopping = threading.Event()
        self._process = self._start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _start(self) -> subprocess.Popen[bytes]:
        number = self._listening.fileno()
        command = [sys.executable, "-m", "ridedash.cli", "sandbox", "--socket", str(number)]
        if self._warmed:
            command.append("--warmed")
        return subprocess.Popen(  # noqa: S603
            command, env=self._environ, stdin=subprocess.PIPE, pass_fds=(number,)
        )

    def _watch(self) -> None:
        while True:
            code = self._process.wait()
            if self._stopping.wait(1.0):
                return
            print(
                f"The sandbox ended (code {code}); starting it again.", file=sys.stderr, flush=True
            )
            self._close_pipe()
            self._process = self._start()

    def stop(self) -> None:
        """End the child and wait for it."""
        self._stopping.set()
        self._process.terminate()
        self._watcher.join(10)
        self._close_pipe()
        self._listening.close()

    def _close_pipe(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()


def _leave_with_parent() -> None:
    # The parent holds the other end and writes nothing: end of file means that it has ended.
    # os.read avoids Python's buffer, whose lock a waiting thread would hold at interpreter exit.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
