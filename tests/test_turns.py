"""The dashboard reads the turns of its sandbox."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from ridedash import config
from ridedash.service.transport.http import Http
from ridedash.service_time import ServiceTime, Turn, at_pace
from ridedash.services import follow_turns
from ridedash.turns import SandboxTime, stop_of, turns_of
from tests.sandbox.sandbox_desk import CONTROL, Desk
from tests.test_config import LIVE
from tests.views.ride_pages import NOON, make_desk

URL = "http://127.0.0.1:8001"


def test_the_line_is_that_of_the_sandbox(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    time = SandboxTime(Http(httpx.WSGITransport(desk.app)), URL, 20.0, desk.clock)
    time.read()
    first = time._line
    assert (first.speed_now, first.shown(desk.clock())) == (1, desk.clock())
    time.read()
    assert time._line is first  # without a new turn the time line is unchanged
    desk.clock.advance(10)
    desk.web.post("/control/clock", json={"speed": 0, "leap": 600}, headers=CONTROL)
    desk.clock.advance(1)  # until the turn is read, a client may get an answer from before the turn
    time.read()
    assert time._line.held
    assert time._line.turned_at == desk.clock()
    desk.close()
    desk.app.extensions["sandbox"] = None
    time.read()
    assert time._line.held  # a sandbox that fails changes nothing


def test_a_stop_is_a_clock_turn_at_its_own_time_even_if_it_has_not_been_read_since(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    time = SandboxTime(Http(httpx.WSGITransport(desk.app)), URL, 1.0, desk.clock)
    stop = stop_of(desk.control("leap", booking_id=desk.book("suv"), speed=60))
    assert stop is not None
    time.read()
    assert (time._line.speed_now, time._line.turned_at) == (60, desk.clock())
    desk.clock.advance(900)
    stopped = time._line
    assert (stopped.held, stopped.turned_at) == (True, stop.wall)
    assert stopped.shown(desk.clock()) == stop.service
    time.read()
    assert (time._line is stopped, stopped.turned_at) == (True, stop.wall)
    desk.close()


def test_a_late_answer_from_before_a_clock_turn_is_ignored(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    sandbox, late = httpx.WSGITransport(desk.app), []

    def answer(request: httpx.Request) -> httpx.Response:
        found = sandbox.handle_request(request)
        found.read()
        if not late:  # while the answer is on its way, the clock is turned, and the turn is read
            late.append(found)
            desk.web.post("/control/clock", json={"speed": 0}, headers=CONTROL)
            time.read()
        return httpx.Response(found.status_code, content=found.content)

    time = SandboxTime(Http(httpx.MockTransport(answer)), URL, 1.0, desk.clock)
    time.read()
    assert time._line.held
    desk.close()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"turns": 3},
        {"turns": [{"wall": "x", "service": 1, "speed": 1}]},
        {"turns": [{"wall": 1e300, "service": 1, "speed": 1}]},
        {"turns": [{"wall": w, "service": 1, "speed": 1} for w in (2, 1)]},
    ],
)
def test_another_body_is_no_line(body: object) -> None:
    with pytest.raises((ValueError, TypeError, LookupError, ArithmeticError)):
        turns_of(body)


def test_until_the_sandbox_answers_its_clock_runs_at_the_pace() -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    time = SandboxTime(Http(httpx.MockTransport(refuse)), URL, 20.0)
    assert time().speed_now == 20
    time.stop()


@pytest.mark.parametrize(
    ("given", "follows"),
    [
        ({}, True),
        (LIVE, False),
        ({"RIDEDASH_SERVICE_URL": "http://127.0.0.1:9000/tunnel"}, False),
        ({"RIDEDASH_SERVICE_URL": "http://127.0.0.1:8001/tunnel"}, False),
    ],
)
def test_only_a_demo_with_its_own_sandbox_follows_clock_turns(
    given: dict[str, str], follows: bool, tmp_path: Path
) -> None:
    settings = config.load({"RIDEDASH_INSTANCE": str(tmp_path)} | given)
    services = SimpleNamespace(settings=settings, time=at_pace(1.0))
    follow_turns(services)()  # type: ignore[arg-type]
    assert (services.time is not at_pace(1.0)) == follows


def test_a_start_loads_neither_the_reader_of_clock_turns_nor_numpy_nor_pillow() -> None:
    """Only a demo follows turns, only a map needs numpy, and only a chosen logo Pillow."""
    script = "import sys, ridedash.factory, ridedash.cli"
    script += "; sys.exit(not sys.modules.keys().isdisjoint({'ridedash.turns', 'numpy', 'PIL'}))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.database
def test_a_held_clock_stands_in_the_bar_of_every_staff_page(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    web = desk.client()
    assert "held" not in web.get("/board.json?only=bar").json["bar"]
    assert "data-clock-held-band" in web.get("/history").text
    desk.services.time = lambda: ServiceTime((Turn(NOON, NOON, 0.0),))
    words = web.get("/board.json?only=bar").json["bar"]["held"]
    assert words == "The demo's clock is held at 14:00. All rides stand still."
    assert words.replace("'", "&#39;") in web.get("/history").text
    desk.close()
