"""The port of a worker that runs by itself: its health, and the metrics of its machine."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ridedash.cli.worker_port import STUCK_S, WorkerApp
from ridedash.config import load
from ridedash.services import Services, build_services
from tests.cli.test_commands import ridedash
from tests.databases import new_database
from tests.processes.fleet import get
from tests.running import clean_environment

TOKEN = "metrics-for-the-watcher-1234"
HERE, THERE = {"REMOTE_ADDR": "127.0.0.1"}, {"REMOTE_ADDR": "198.51.100.7"}

pytestmark = pytest.mark.database


class Rounds:
    """A stand-in for a worker: the port only asks when its last round ended."""

    round_ended = 0.0


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = build_services(
        load(
            {
                "RIDEDASH_INSTANCE": str(tmp_path),
                "RIDEDASH_DATABASE_URL": new_database(tmp_path),
                "RIDEDASH_METRICS_TOKEN": TOKEN,
            }
        )
    )
    yield made
    made.db.close()


def answered(
    services: Services, path: str, method: str = "GET", idle_s: float = 0.0, **environ: str
) -> tuple[str, str]:
    """Status line and body of an answer, if the worker's last round ended `idle_s` ago."""
    worker: Any = Rounds()
    worker.round_ended = time.monotonic() - idle_s
    lines: list[str] = []
    request = {"PATH_INFO": path, "REQUEST_METHOD": method} | HERE | environ
    app = WorkerApp(services, worker)
    body = b"".join(app(request, lambda line, _headers: lines.append(line)))  # type: ignore[arg-type,return-value]
    return lines[0], body.decode()


def test_the_health_of_a_worker_whose_rounds_stand_still_is_503(services: Services) -> None:
    assert answered(services, "/healthz", idle_s=0)[0] == "200 OK"
    assert answered(services, "/healthz", idle_s=STUCK_S - 60)[0] == "200 OK"
    status, body = answered(services, "/healthz", idle_s=STUCK_S + 1)
    assert status == "503 Service Unavailable"
    assert '"status": "stuck"' in body


def test_metrics_of_a_worker_are_open_to_the_callers_of_those_of_a_web_process(
    services: Services,
) -> None:
    status, body = answered(services, "/metrics")
    assert (status, "ridedash_database_up 1.0" in body) == ("200 OK", True)
    assert answered(services, "/metrics", **THERE)[0] == "404 Not Found"
    assert answered(services, "/metrics", HTTP_X_FORWARDED_FOR="192.0.2.1")[0] == "404 Not Found"
    token = {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}
    assert answered(services, "/metrics", **THERE, **token)[0] == "200 OK"


def test_other_paths_and_methods_get_nothing(services: Services) -> None:
    for path in ("/", "/readyz", "/sign-in", "/healthz/", "/metrics/x"):
        assert answered(services, path)[0] == "404 Not Found"
    assert answered(services, "/healthz", "POST")[0] == "405 Method Not Allowed"
    assert answered(services, "/healthz", "HEAD") == ("200 OK", "")


def test_a_worker_of_its_own_answers_on_its_port_until_it_is_stopped(tmp_path: Path) -> None:
    settings = {"RIDEDASH_DATABASE_URL": new_database(tmp_path), "RIDEDASH_WORKER_PORT": "0"}
    environ = clean_environment(RIDEDASH_INSTANCE=str(tmp_path / "instance"), **settings)
    started = subprocess.Popen(
        [sys.executable, "-m", "ridedash.cli", "worker"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    with started as worker:
        try:
            assert worker.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", worker.stdout.readline())
            assert found
            health = get(found[0] + "/healthz")
            assert (health.status_code, health.json()["status"]) == (200, "ok")
            metrics = get(found[0] + "/metrics")
            assert "ridedash_database_up 1.0" in metrics.text
            assert 'ridedash_breaker{calls="read"} 0.0' in metrics.text
        finally:
            worker.terminate()
            _, errors = worker.communicate(timeout=60)
    assert (worker.returncode, errors) == (0, "")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = ridedash(
            tmp_path,
            "worker",
            RIDEDASH_DATABASE_URL=new_database(tmp_path),
            RIDEDASH_WORKER_PORT=port,
        )
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "RIDEDASH_WORKER_PORT" in done.stderr
