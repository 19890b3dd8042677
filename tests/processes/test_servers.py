"""A single web process: live mode, a worker that dies, rate limits without Redis."""

import json
import re
from pathlib import Path

import pytest
from sqlalchemy import func, select

from ridedash.factory import create_app
from ridedash.store import properties
from ridedash.store.models.orders import Order, Ride
from ridedash.store.sign_ins import open_sign_in
from tests import databases
from tests.processes.fleet import GRANIAN, GUNICORN, Fleet, Person, fleet, free_port, get, wait_for
from tests.running import check_files, clean_environment
from tests.test_config import LIVE

LIVE_HERE = LIVE | {
    "RIDEDASH_PUBLIC_URL": "https://desk.hotel.example",
    "RIDEDASH_TRUSTED_PROXIES": "1",
}
BEHIND = {
    "Host": "desk.hotel.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "198.51.100.7",
}
TILE = "/tiles/12/591/2503.svg"


@pytest.mark.parametrize("command", [GRANIAN, GUNICORN], ids=["granian", "gunicorn"])
def test_live_mode_serves_pages_behind_a_proxy_with_secure_cookies(
    tmp_path: Path, command: str
) -> None:
    url = databases.new_database(tmp_path, databases.SQLITE)
    environ = clean_environment(
        **LIVE_HERE, RIDEDASH_INSTANCE=str(tmp_path / "instance"), RIDEDASH_DATABASE_URL=url
    )
    made = Fleet(tmp_path, environ, None)  # type: ignore[arg-type] # `services` is not used here
    try:
        web = made.web("web", command)
        answer = get(web + "/sign-in", headers=BEHIND)
        assert answer.status_code == 200
        assert "demo" not in answer.text.lower()
        assert answer.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        check_files(web, answer.text, BEHIND)
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-sid=")
        assert all(word in cookie for word in ("Secure", "HttpOnly", "Path=/", "SameSite=Lax"))
        assert get(web + "/metrics", headers=BEHIND).status_code == 404
        assert get(web + TILE, headers=BEHIND).status_code == 404
        ready = get(web + "/readyz", headers=BEHIND)
        assert ready.status_code == 503
        assert ready.json()["failing"][0] == "worker"
    finally:
        assert made.stop() == {"web": 0}
    assert made.left == []


GRANIAN_LOG = re.compile(r"```json\n(\{\n  \"formatters\".*?)```", re.DOTALL)
GUNICORN_LOG = "--logger-class ridedash.observability.server_logs.GunicornLog"
OPERATING = Path(__file__).parents[2] / "docs/operating.md"


@pytest.mark.parametrize("server", ["granian", "gunicorn"])
def test_the_lines_of_the_servers_themselves_are_json_in_live_mode(
    tmp_path: Path, server: str
) -> None:
    document = OPERATING.read_text()
    found = GRANIAN_LOG.search(document)
    assert found
    assert GUNICORN_LOG in " ".join(document.split())
    (tmp_path / "granian.json").write_text(found[1])
    command = {
        "granian": GRANIAN + f" --log-config {tmp_path}/granian.json",
        "gunicorn": GUNICORN + f" {GUNICORN_LOG}",
    }[server]
    environ = clean_environment(
        **LIVE_HERE,
        RIDEDASH_INSTANCE=str(tmp_path / "instance"),
        RIDEDASH_DATABASE_URL=databases.new_database(tmp_path, databases.SQLITE),
    )
    made = Fleet(tmp_path, environ, None)  # type: ignore[arg-type] # `services` is not used here
    try:
        made.web("web", command)
    finally:
        assert made.stop() == {"web": 0}
    lines = [json.loads(line) for line in made.output("web").splitlines()]
    assert any(line["logger"] in ("_granian", "gunicorn.error") for line in lines)
    assert all(line["process"].startswith(("server:", "web:")) for line in lines)
    assert not any("/healthz" in line["message"] and "GET" in line["message"] for line in lines)


@pytest.mark.parametrize("command", [GRANIAN, GUNICORN], ids=["granian", "gunicorn"])
def test_the_demo_map_is_shown_when_web_and_sandbox_are_separate_processes(
    tmp_path: Path, command: str
) -> None:
    with fleet(tmp_path, databases.new_database(tmp_path, databases.SQLITE)) as made:
        web = made.web("web", command)
        tile = get(web + TILE)
        assert (tile.status_code, tile.headers["Content-Type"]) == (
            200,
            "image/svg+xml; charset=utf-8",
        )
        assert tile.text.startswith("<svg")
        assert tile.headers["Content-Encoding"] == "gzip"
        uncompressed = get(web + TILE, headers={"Accept-Encoding": ""})
        assert (uncompressed.text, uncompressed.headers.get("Content-Encoding")) == (
            tile.text,
            None,
        )
        assert (
            tile.headers["Content-Security-Policy"]
            == "default-src 'none'; style-src 'unsafe-inline'"
        )
        known = {"If-None-Match": tile.headers["ETag"]}
        assert get(web + TILE, headers=known).status_code == 304
        assert get(web + "/tiles/9/0/0.svg").status_code == 404
        assert get(web + "/tiles/..%2Fcity.json").status_code == 404
        made.kill("sandbox")
        assert get(web + TILE).status_code == 502


def test_rides_of_a_killed_worker_are_polled_by_the_other(tmp_path: Path) -> None:
    url = databases.new_database(tmp_path, databases.SQLITE)
    with fleet(tmp_path, url) as made:
        web = made.web("web", GUNICORN)
        person = Person(made)
        person.sign_in(web)
        made.ridedash("worker-1", "worker")
        orders = [person.book(web, f"Guest Wren {n}") for n in range(6)]
        # an order that is being sent when its worker is killed would be UNKNOWN
        wait_for(lambda: _polled(made) and _booked(made) == len(orders))
        made.ridedash("worker-2", "worker")
        made.kill("worker-1")
        wait_for(lambda: _ended(made) == len(orders), lambda: made.output("worker-2"))
        with made.services.db.read() as s:
            assert set(s.scalars(select(Order.state))) == {"BOOKED"}
        person.close()


def _booked(made: Fleet) -> int:
    with made.services.db.read() as s:
        return s.scalar(select(func.count()).where(Order.state == "BOOKED")) or 0


def _polled(made: Fleet) -> int:
    with made.services.db.read() as s:
        return s.scalar(select(func.count()).where(Ride.merged_seq > 0)) or 0


def _ended(made: Fleet) -> int:
    with made.services.db.read() as s:
        return s.scalar(select(func.count()).where(Ride.ended_at.is_not(None))) or 0


def test_pages_and_limits_work_in_each_process_while_redis_is_unreachable(
    tmp_path: Path,
) -> None:
    app = create_app(
        {
            "RIDEDASH_INSTANCE": str(tmp_path),
            "RIDEDASH_DATABASE_URL": databases.new_database(tmp_path, databases.SQLITE),
            "RIDEDASH_REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
        }
    )
    client = app.test_client()
    page = client.get("/sign-in").text
    token = page.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
    services = app.extensions["ridedash"]
    with services.db.write() as s:
        prop = properties.add_property(s, "Harbour Clinic", "UTC", services.clock())
        staff = properties.add_staff(
            s, prop.id, "Desk Otter", "hash", "concierge", services.clock()
        )
        sid = open_sign_in(s, staff.id, services.clock())
    with client.session_transaction() as session:
        session["sid"] = sid
    answers = [
        client.post("/rides/1/code", data={"csrf_token": token}).status_code for _ in range(12)
    ]
    assert answers == [404] * 10 + [429] * 2
    app.extensions["ridedash"].db.close()
