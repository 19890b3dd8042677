"""The speed of the sandbox, which must serve thousands of rides."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
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
    """The sandbox on the database that the environment names."""
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
    """Both sides run in waitress; the baseline answers the same body, constant or by jsonify."""
    calls = run.of(4000, 800)
    ratios = []
    with frame.folder() as folder, followed_ride(folder) as (environ, path, headers):

        def answers_of(server: serving.Served) -> float:
            return serving.per_cpu_second(server, path, headers, calls)

        with serving.served("bench.sandbox_speed:sandbox", environ) as ours:
            (folder / "body.json").write_bytes(serving.get(ours.url + path, headers))
            for app in ("ready_bytes", "as_json"):
                with serving.served(f"bench.baselines.bare:{app}", environ) as baseline:
                    ratios.append(
                        frame.side_by_side(
                            run,
                            partial(answers_of, ours),
                            partial(answers_of, baseline),
                            "answers per CPU second",
                            label=app.replace("_", " "),
                        )
                    )
    return ratios


@contextmanager
def followed_ride(folder: Path) -> Iterator[tuple[dict[str, str], str, dict[str, str]]]:
    """A ride whose driver is on the way: environment of the server, path, headers."""
    desk = Desk(folder, clock=None)
    try:
        booking = desk.book("mini")
        while desk.track(booking)["booking_status"] != "CALL_DRIVER":
            desk.control("advance", seconds=5)
    finally:
        desk.close()
    environ = {DATABASE: str(desk.database), bare.BODY: str(folder / "body.json")}
    yield environ, f"/v1/bookings/track_ride?booking_id={booking}", desk.headers
