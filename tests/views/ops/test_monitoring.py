"""Monitoring: request ids, access log lines, /metrics, /readyz."""

import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask import Flask, abort
from werkzeug.security import generate_password_hash

from ridedash.extensions import Services
from ridedash.factory import create_app
from ridedash.rides import monitoring
from ridedash.rides.health import Alarms, write_heartbeat
from ridedash.store import properties
from ridedash.views.web.permissions import OPEN, needs
from tests.databases import empty_database, new_database
from tests.test_security import csrf

TOKEN = "metrics-for-the-watcher-1234"
PASSWORD = "a phrase for this test"

pytestmark = pytest.mark.database


def made(folder: Path, url: str, **settings: str) -> Flask:
    app = create_app({"RIDEDASH_INSTANCE": str(folder), "RIDEDASH_DATABASE_URL": url} | settings)
    app.add_url_rule("/fall/<token>", "fall", needs(OPEN)(lambda token: 1 // 0))
    app.add_url_rule("/gone/<what>", "gone", needs(OPEN)(lambda what: abort(404)))
    return app


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = made(tmp_path, new_database(tmp_path), RIDEDASH_METRICS_TOKEN=TOKEN)
    yield app
    services(app).db.close()


def services(app: Flask) -> Services:
    found: Services = app.extensions["ridedash"]
    return found


def test_every_answer_has_the_request_id_of_the_error_page_and_the_log(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    client = app.test_client()
    names = {client.get("/healthz").headers["X-Request-Id"] for _ in range(5)}
    assert len(names) == 5
    answer = client.get("/fall/abcdEFGH1234567890abcd")
    assert answer.status_code == 500
    name = answer.headers["X-Request-Id"]
    assert name in answer.text
    assert name in caplog.text
    assert "/fall/<token>" in caplog.messages[-1]
    refused = client.get("/", base_url="http://evil.example")
    assert (refused.status_code, len(refused.headers["X-Request-Id"])) == (400, 8)


def test_a_request_id_is_taken_only_from_a_trusted_proxy_and_if_valid(
    tmp_path: Path,
) -> None:
    given = "edge-01.7f3a"
    for proxies, name, accepted in (
        ("0", given, False),
        ("1", given, True),
        ("1", "x" * 65, False),
        ("1", "a b<script>", False),
        ("1", "", False),
    ):
        app = made(tmp_path, f"sqlite:///{tmp_path}/none.db", RIDEDASH_TRUSTED_PROXIES=proxies)
        got = (
            app.test_client()
            .get("/healthz", headers={"X-Request-Id": name})
            .headers["X-Request-Id"]
        )
        assert (got == name) is accepted
        services(app).db.close()


def test_an_access_log_line_has_the_route_not_the_address_and_polls_have_none(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ridedash.access")
    now = datetime.now(UTC)
    with services(app).db.write() as s:
        prop = properties.add_property(s, "Hotel A", "UTC", now)
        properties.add_staff(
            s,
            prop.id,
            "desk",
            generate_password_hash(PASSWORD),
            "concierge",
            now,
        )
        staff_id = properties.find_staff(s, "desk").id
    client = app.test_client()
    token = csrf(client.get("/sign-in").text)
    client.post("/sign-in", data={"name": "desk", "password": PASSWORD, "csrf_token": token})
    for path in (
        "/",
        "/gone/secret-of-the-path?phone=9876543210",
        "/healthz",
        "/board.json",
        "/readyz",
        "/nowhere",
    ):
        client.get(path)
    lines = [record for record in caplog.records if record.name == "ridedash.access"]
    assert [line.getMessage() for line in lines] == [
        "GET /sign-in 200",
        "POST /sign-in 303",
        "GET / 200",
        "GET /gone/<what> 404",
        "GET none 404",
    ]
    assert [vars(line)["staff"] for line in lines] == [None, None, *3 * [staff_id]]
    assert all(0 <= vars(line)["ms"] < 60_000 for line in lines)


def test_metrics_need_this_machine_or_the_token_and_others_get_404(
    tmp_path: Path,
) -> None:
    app = made(
        tmp_path, new_database(tmp_path), RIDEDASH_METRICS_TOKEN=TOKEN, RIDEDASH_TRUSTED_PROXIES="1"
    )
    client = app.test_client()
    here, there = {"REMOTE_ADDR": "127.0.0.1"}, {"REMOTE_ADDR": "198.51.100.7"}
    for peer, headers, status in (
        (here, {}, 200),
        ({"REMOTE_ADDR": "::1"}, {}, 200),
        (there, {}, 404),
        (here, {"X-Forwarded-For": "198.51.100.7"}, 404),
        (here, {"X-Forwarded-For": "127.0.0.1"}, 404),
        (here, {"Forwarded": "for=198.51.100.7"}, 404),
        (here, {"X-Real-Ip": "127.0.0.1"}, 404),
        (there, {"Authorization": f"Bearer {TOKEN}"}, 200),
        (there, {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "203.0.113.9"}, 200),
        (there, {"Authorization": f"Bearer {TOKEN[:-1]}"}, 404),
        (there, {"Authorization": "Bearer ünsinn".encode().decode("latin-1")}, 404),
        (there, {"Authorization": "Bearer "}, 404),
    ):
        assert client.get("/metrics", environ_base=peer, headers=headers).status_code == status, (
            peer,
            headers,
        )
    services(app).db.close()
    without = made(tmp_path, f"sqlite:///{tmp_path}/none.db")
    refused = without.test_client().get(
        "/metrics", environ_base=there, headers={"Authorization": "Bearer "}
    )
    assert refused.status_code == 404
    services(without).db.close()


def test_metrics_count_orders_workers_and_pages_and_name_no_person(app: Flask) -> None:
    client = app.test_client()
    silent = Alarms(services(app).clock())
    write_heartbeat(services(app).db, "machine-7:4711", services(app).clock(), silent)
    client.get("/sign-in")
    metrics = client.get("/metrics").text
    for start in (
        "ridedash_database_up 1.0",
        'ridedash_orders_open{state="UNKNOWN"} 0.0',
        "ridedash_unknown_oldest_seconds 0.0",
        "ridedash_rides_followed 0.0",
        "ridedash_rides_overdue 0.0",
        "ridedash_poll_lag_seconds 0.0",
        "ridedash_workers 1.0",
        "ridedash_worker_silent_seconds ",
        "ridedash_service_silent_seconds ",
        'ridedash_http_seconds_count{method="GET",route="/sign-in",status="2xx"} 1.0',
    ):
        assert any(line.startswith(start) for line in metrics.splitlines()), start
    assert "machine-7" not in metrics


def test_metrics_are_served_while_the_database_is_unreachable(tmp_path: Path) -> None:
    app = made(tmp_path, f"sqlite:///{tmp_path}/no/such/folder/desk.db")
    answer = app.test_client().get("/metrics")
    assert answer.status_code == 200
    assert "ridedash_database_up 0.0" in answer.text
    services(app).db.close()


def readiness(app: Flask) -> tuple[int, list[str]]:
    answer = app.test_client().get("/readyz")
    return answer.status_code, json.loads(answer.text)["failing"]


def test_readiness_names_each_failing_part(tmp_path: Path) -> None:
    away = made(tmp_path, f"sqlite:///{tmp_path}/no/such/folder/desk.db")
    assert readiness(away) == (503, ["database", "migrations", "worker", "sending"])
    services(away).db.close()
    app = made(tmp_path, empty_database(tmp_path / "bare"))
    assert readiness(app) == (503, ["migrations", "worker", "sending"])
    services(app).db.upgrade()
    assert readiness(app) == (503, ["worker", "sending"])
    write_heartbeat(services(app).db, "a worker", services(app).clock(), ready=False)
    assert readiness(app) == (503, ["sending"]), "a worker that can't keep an answer sends nothing"
    write_heartbeat(services(app).db, "a worker", services(app).clock())
    assert readiness(app) == (200, [])
    services(app).db.close()


def test_readiness_and_metrics_are_answered_while_the_database_says_nothing(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, waiting = threading.Event(), []

    def frozen(*_: object) -> bool:
        waiting.append(threading.current_thread())
        return answered.wait(60)

    monkeypatch.setattr(monitoring, "DEADLINE_S", 0.2)
    db = services(app).db
    monkeypatch.setattr(db, "revision_ok", frozen)
    monkeypatch.setattr(db, "read", frozen)
    for _ in range(5):
        assert readiness(app) == (503, ["database", "migrations", "worker", "sending"])
        assert "ridedash_database_up 0.0" in app.test_client().get("/metrics").text
    assert len(waiting) == 2  # one thread for each check, however often it is requested
    monkeypatch.undo()
    answered.set()
    for thread in waiting:
        thread.join()
    assert readiness(app) == (503, ["worker", "sending"])  # the database answers again


def test_readiness_is_answered_while_postgresql_is_unreachable(tmp_path: Path) -> None:
    away = made(tmp_path, f"postgresql+psycopg://ridedash@/rides?host={tmp_path}")
    assert readiness(away) == (503, ["database", "migrations", "worker", "sending"])
    assert "ridedash_database_up 0.0" in away.test_client().get("/metrics").text
    services(away).db.close()
