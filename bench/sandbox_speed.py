"""The sandbox's own speed: it must feed thousands of rides, and draw a map while a person looks at
it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask

from bench import frame, serving
from bench.baselines import bare
from bench.frame import Ratio, Run, line
from ridedash.sandbox import SandboxSettings, create_sandbox
from tests.sandbox.sandbox_desk import Desk

KEY = "partner-key"
DATABASE = "BENCH_DATABASE"


def sandbox() -> Flask:
    """The sandbox over the database that the environment names."""
    path = Path(os.environ[DATABASE])
    return create_sandbox(
        SandboxSettings(database=path, app_token=KEY, client_id="c", client_secret="s")
    )


@line(
    "sandbox-track",
    "sandbox: track_ride for each second of CPU, against a bare Flask route",
    aim="≥ 50 %",
    protects="A demo, a test or a bench with thousands of rides is not held up by the service that "
    "it talks to.",
)
def track(run: Run) -> list[Ratio]:
    """Both behind waitress, which serves the sandbox; the baseline answers the same body, ready or
    by jsonify.
    """
    with frame.folder() as path, followed_ride(path) as (environ, asked, headers):
        calls = run.of(4000, 800)
        with serving.served("bench.sandbox_speed:sandbox", environ) as ours:
            (path / "body.json").write_bytes(serving.get(ours.url + asked, headers))
            return [
                _against(run, ours, label, environ, asked, headers, calls)
                for label in ("ready_bytes", "as_json")
            ]


def _against(
    run: Run,
    ours: serving.Served,
    app: str,
    environ: dict[str, str],
    asked: str,
    headers: dict[str, str],
    calls: int,
) -> Ratio:
    with serving.served(f"bench.baselines.bare:{app}", environ) as plain:
        return frame.side_by_side(
            run,
            lambda: serving.per_cpu_second(ours, asked, headers, calls),
            lambda: serving.per_cpu_second(plain, asked, headers, calls),
            "answers per CPU second",
            label=app.replace("_", " "),
        )


@contextmanager
def followed_ride(folder: Path) -> Iterator[tuple[dict[str, str], str, dict[str, str]]]:
    """A ride whose driver is on the way: settings of the server, the question about it, its
    headers.
    """
    desk = Desk(folder, clock=None)
    try:
        booking = desk.book("mini")
        while desk.track(booking)["booking_status"] != "CALL_DRIVER":
            desk.control("advance", seconds=5)
    finally:
        desk.close()
    environ = {DATABASE: str(desk.database), bare.BODY: str(folder / "body.json")}
    yield environ, f"/v1/bookings/track_ride?booking_id={booking}", desk.headers
