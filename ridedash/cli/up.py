"""`ridedash up`: the dashboard, its worker and, in demo mode, the sandbox, on one machine."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flask import Flask

from ridedash import config
from ridedash.cli import demo, stage
from ridedash.cli.commands import make_worker, require_mode, upgrade
from ridedash.cli.errors import CommandError
from ridedash.cli.http_server import listen, listen_patiently, make_server, stopped_by_sigterm
from ridedash.cli.sandbox_process import SandboxChild, alone, require_store, sandbox_settings
from ridedash.factory import create_app
from ridedash.observability.process import started
from ridedash.rides.worker import Worker
from ridedash.sandbox.city.city import keep_streets
from ridedash.sandbox.tiles.server import create_tiles_app, warm
from ridedash.services import follow_turns
from ridedash.views.ops import file_server
from ridedash.views.web.request_checks import UPLOADS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ridedash.cli.demo_day import Day

ENDED = "the worker ended by itself: nothing would be sent or followed. The log says why."
THREADS = 12  # threads that answer requests
DRAIN_S = 26.0  # a send in flight may take 25 s to settle (docs/booking-protocol.md 1.3)


def up(
    environ: Mapping[str, str], tell: Callable[[str], None], *, with_stage: bool = False
) -> None:
    """Serve until SIGTERM or Ctrl-C, then stop cleanly: no send is cut off.

    `tell` takes what is being done, until it serves. `with_stage` opens the stage of a demo.
    Raises CommandError where there is none.
    """
    given = config.load(environ)
    if with_stage:
        stage.require(given)
    # a signal during the start stops what has been started
    with contextlib.ExitStack() as stack, stopped_by_sigterm():
        # checked before the ports, so that a demo that already runs is reported as such
        if given.demo:
            stack.enter_context(alone(given.instance))
        web = stack.enter_context(listen(given.host, given.port, "RIDEDASH_PORT"))
        known = dict(environ) | {"RIDEDASH_PORT": str(web.getsockname()[1])}
        warmed = with_stage or given.demo_starts == "day"
        if given.demo:
            known |= _start_sandbox(known, given, stack, warmed=warmed)
        app = create_app(known)
        settings = config.load(known)
        stack.callback(follow_turns(app.extensions["ridedash"]))
        tell("bringing the database to this version")
        upgrade(app.extensions["ridedash"].db)
        require_mode(app.extensions["ridedash"])
        tell("packing the files for browsers, once for each version")
        file_server.prepare(app)
        tell("beginning the demo, and its worker")
        stack.enter_context(_running_worker(app, _first(app) if settings.demo else None))
        tell("")
        print(_welcome(settings), flush=True)
        served = with_tiles(app, warmed=warmed) if settings.demo else app.wsgi_app
        started()
        if with_stage:
            stage.show(settings, environ)
        # returns on SystemExit and on Ctrl-C
        make_server(served, web, THREADS, UPLOADS).run()


def _first(app: Flask) -> "Day | None":
    """Seed a new demo. Returns the day that its worker has to make first; None without one."""
    demo.seed(app.extensions["ridedash"])
    from ridedash.cli import demo_day  # live mode does not load it

    return demo_day.wanted(app)


def _start_sandbox(
    known: dict[str, str], given: config.Settings, stack: contextlib.ExitStack, *, warmed: bool
) -> dict[str, str]:
    """Start the sandbox as a child process. Returns its port as a setting for the dashboard."""
    chosen = sandbox_settings(given)
    require_store(chosen)
    keep_streets(
        given.instance
    )  # of the maps that this process draws, and of the day that it makes
    listening = listen_patiently("127.0.0.1", given.sandbox_port, "RIDEDASH_SANDBOX_PORT")
    ports = {"RIDEDASH_SANDBOX_PORT": str(listening.getsockname()[1])}
    child = SandboxChild(known | ports, listening, warmed=warmed)
    stack.callback(child.stop)
    return ports


@contextlib.contextmanager
def _running_worker(app: Flask, day: "Day | None") -> Iterator[None]:
    services = app.extensions["ridedash"]
    stop = threading.Event()
    worker = make_worker(services)
    services.wake = worker.wake
    ended = threading.Event()
    thread = threading.Thread(target=_work, args=(worker, stop, ended, day), name="worker")
    try:
        thread.start()
        yield
    finally:
        stop.set()
        worker.wake()
        thread.join(DRAIN_S)
        services.db.close()
        if ended.is_set():
            raise CommandError(ENDED)  # replaces the SystemExit that the signal raised


def _work(worker: Worker, stop: threading.Event, ended: threading.Event, day: "Day | None") -> None:
    """Run the worker, once the day of a new demo has been made.

    If the worker ends by itself, end the process too: nothing would send orders.
    """
    try:
        if day is not None:
            day.make(worker, stop)
        worker.run(stop)
    finally:
        if not stop.is_set():
            ended.set()
            os.kill(os.getpid(), signal.SIGTERM)


def with_tiles(app: Flask, *, warmed: bool) -> "WSGIApplication":
    """A WSGI app: the sandbox's map tiles below /tiles/, and the dashboard for all other paths.

    `warmed`: the data from which tiles are drawn is loaded at once, so that the first map is fast.
    """
    tiles = create_tiles_app()
    if warmed:
        threading.Thread(target=warm, name="tiles", daemon=True).start()

    def dispatch(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        chosen: Any = tiles if environ.get("PATH_INFO", "").startswith("/tiles/") else app
        answer: Iterable[bytes] = chosen(environ, start)
        return answer

    return dispatch


def _welcome(settings: config.Settings) -> str:
    lines = [f"ridedash: {settings.public_url}"]
    if settings.demo:
        name, password = demo.sign_in(settings.instance)
        lines += [
            f"  sign in as   {name}",
            f"  password     {password}",
            _service_line(settings),
        ]
        if settings.sandboxed:
            lines.append(stage.line(settings))
    if settings.rehearsal:
        lines.append(f"  rehearsal    {settings.service_url}   (a sandbox: no real rides)")
    return "\n".join([*lines, "  stop with    Ctrl-C"])


def _service_line(settings: config.Settings) -> str:
    if settings.sandboxed:
        return f"  sandbox      {settings.service_url}   (no real rides; pace {settings.pace:g})"
    return f"  service      {settings.service_url}   (not our sandbox: rides may be real)"
