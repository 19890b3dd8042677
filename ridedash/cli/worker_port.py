"""The port of a worker that runs by itself: /healthz and /metrics, without Flask.

A machine with workers only has no web process that could answer for them (docs/operating.md, What
to watch).
"""

import json
import threading
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from ridedash.cli.http_server import listen, make_server
from ridedash.observability.metrics import CONTENT_TYPE, may_read_metrics
from ridedash.rides.worker import Worker
from ridedash.services import Services

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

THREADS: Final = 2
# A round takes milliseconds; some seconds while the database is away, and more when retention, once
# an hour, has much to delete.
STUCK_S: Final = 120.0
Answered = tuple[HTTPStatus, str, bytes]


def serve(services: Services, worker: Worker) -> None:
    """If RIDEDASH_WORKER_PORT is set, answer on it from threads that end with the process.

    Raises CommandError when the port is taken.
    """
    settings = services.settings
    if settings.worker_port is None:
        return
    listening = listen(settings.host, settings.worker_port, "RIDEDASH_WORKER_PORT")
    port = listening.getsockname()[1]
    server = make_server(WorkerApp(services, worker), listening, THREADS)
    threading.Thread(target=server.run, name="worker-port", daemon=True).start()
    print(f"ridedash worker: http://{settings.host}:{port}/healthz and /metrics", flush=True)


class WorkerApp:
    """The WSGI application of the port."""

    def __init__(self, services: Services, worker: Worker) -> None:
        self._services = services
        self._worker = worker

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        status, kind, body = self._answer(environ)
        headers = [
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        start(f"{status.value} {status.phrase}", headers)
        return [body if environ.get("REQUEST_METHOD") == "GET" else b""]

    def _answer(self, environ: Mapping[str, Any]) -> Answered:
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"GET only\n"
        path = environ.get("PATH_INFO")
        if path == "/healthz":
            return self._health()
        token = self._services.settings.metrics_token
        if path == "/metrics" and may_read_metrics(environ, token):
            return HTTPStatus.OK, CONTENT_TYPE, self._services.monitor.metrics()
        return HTTPStatus.NOT_FOUND, "text/plain", b"nothing here\n"

    def _health(self) -> Answered:
        """200 while the worker's rounds go on, 503 when one has taken STUCK_S or longer.

        An unreachable database is no reason to start the worker again, so it is not checked here.
        """
        age_s = time.monotonic() - self._worker.round_ended
        well = age_s < STUCK_S
        health = {"status": "ok" if well else "stuck", "round_s": round(age_s, 1)}
        status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
        return status, "application/json", json.dumps(health).encode() + b"\n"
