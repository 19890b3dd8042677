"""`make bench`: without a program that it needs, when it is stopped, with a silent server."""

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from bench import poll_route
from bench.frame import LINES, Absent, Run
from bench.kiosk_lobby import kiosk_cookies
from bench.people import Desk, Tally
from bench.serving import Served, per_cpu_second
from tests.running import running
from tests.service.servers import serving

WITHOUT_LOAD = {"poll-body"}  # lines of the poll route that measure sizes


def test_each_line_of_the_poll_route_is_absent_without_wrk_and_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(poll_route, "missing", lambda: "wrk")
    mine = [
        each
        for each in LINES.values()
        if each.measure.__module__ == poll_route.__name__ and each.name not in WITHOUT_LOAD
    ]
    assert len(mine) >= 6
    for each in mine:
        found = each.measure(Run(short=True))
        for result in [found] if isinstance(found, Absent) else list(found):  # type: ignore[arg-type]
            assert isinstance(result, Absent), each.name
            assert "wrk" in result.why


STOPPED = """
import sys
from bench.__main__ import end_on_sigterm, finish
end_on_sigterm()
server = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
line = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], sys.argv[2]])"
finish([sys.executable, "-c", line, server, sys.argv[1]], 600)
"""


def test_a_run_that_is_stopped_leaves_no_server_of_its_lines(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    with subprocess.Popen([sys.executable, "-c", STOPPED, str(tmp_path / "pid")]) as run:
        server = int((tmp_path / "pid").read_text())  # waits until the server writes it
        gone = os.pidfd_open(server)
        run.terminate()
        assert run.wait(30) == 143
    readable, _, _ = select.select([gone], [], [], 30)
    os.close(gone)
    assert readable, "the server of a line lives on"


def test_a_call_that_a_server_leaves_without_an_answer_is_not_counted_as_one() -> None:
    with (
        serving(lambda _line, _stop: None) as server,
        pytest.raises(ConnectionError),
    ):
        per_cpu_second(Served(server.port, os.getpid()), "/", {}, calls=8, threads=2)


def test_benches_of_the_kiosk_find_the_kiosk_of_a_demo(tmp_path: Path) -> None:
    with running(tmp_path / "instance") as demo:
        desk = Desk(demo.url, demo.name, Tally(), 7, password=demo.password)
        page = desk.http.get("/").text
        [token] = re.findall(r'name="csrf-token" content="([^"]+)"', page)
        desk.http.headers["X-CSRFToken"] = token
        [cookie] = kiosk_cookies(desk.http, demo.url)
        desk.http.close()
        kiosk = httpx.get(f"{demo.url}/kiosk", cookies={cookie["name"]: cookie["value"]})
    assert kiosk.status_code == 200
    assert "data-kiosk" in kiosk.text
