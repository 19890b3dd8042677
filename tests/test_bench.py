"""What `make bench` does on a machine that lacks a program."""

import pytest

from bench import poll_route
from bench.frame import LINES, Absent, Run

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
