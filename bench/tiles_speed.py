"""The speed of map tiles: drawn for the first time, and served again."""

import random
from pathlib import Path
from statistics import quantiles
from time import process_time

from bench import frame, serving
from bench.baselines import bare
from bench.frame import Ratio, Run, line
from ridedash.sandbox.tiles import server

BUSY_TILE = "/tiles/15/{x}/{y}.svg"
AS_BROWSERS = {"Accept-Encoding": "gzip"}


@line(
    "tile-cold",
    "sandbox: drawing and packing a new tile, 95 of 100, both cities, all zooms",
    aim="≤ 3 ms",
    protects="A map that is moved to a new quarter fills at once, without tile servers or foreign "
    "hosts.",
)
def cold(run: Run) -> Ratio:
    """Random tiles of both cities at every zoom, after the sandbox was warmed up."""
    server.warm()
    for number in (0, 1):
        for zoom in range(server.MIN_ZOOM, server.MAX_ZOOM + 1):
            # prepares the zoom level: otherwise its first tile would be slow
            server._zoom_tiles(number, zoom)
    rng = random.Random(run.seed)
    return frame.alone(run, lambda: _p95_ms(rng, run.of(40, 15)), "ms")


def _p95_ms(rng: random.Random, each: int) -> float:
    took = []
    for number in (0, 1):
        for zoom in range(server.MIN_ZOOM, server.MAX_ZOOM + 1):
            west, north, east, south = server._boxes(zoom)[number]
            for _ in range(each):
                began = process_time()
                x, y = rng.randint(west, east), rng.randint(north, south)
                server._drawn.__wrapped__(number, zoom, x, y, False)  # as for an answer, packed
                took.append((process_time() - began) * 1000)
    return quantiles(took, n=20)[-1]


@line(
    "tile-warm",
    "sandbox: CPU of a tile that was drawn before, against bare Flask with the same bytes",
    aim="≤ 1.2",
    protects="The demo's map costs the dashboard's process no more than a file would.",
)
def warm(run: Run) -> Ratio:
    """CPU time of an answer; both sides run in waitress."""
    with frame.folder() as path:
        environ = {bare.BODY: str(path / "tile.svg"), bare.TYPE: "image/svg+xml"}
        calls, tile = run.of(4000, 800), _busy_tile()
        with serving.served("ridedash.sandbox.tiles.server:create_tiles_app") as ours:
            Path(environ[bare.BODY]).write_bytes(serving.get(ours.url + tile, AS_BROWSERS))
            with serving.served("bench.baselines.bare:ready_bytes", environ) as baseline:
                return frame.side_by_side(
                    run,
                    lambda: 1e6 / serving.per_cpu_second(ours, tile, AS_BROWSERS, calls),
                    lambda: 1e6 / serving.per_cpu_second(baseline, tile, AS_BROWSERS, calls),
                    "µs of CPU",
                )


def _busy_tile() -> str:
    """A tile in the middle of the first city."""
    west, north, east, south = server._boxes(15)[0]
    return BUSY_TILE.format(x=(west + east) // 2, y=(north + south) // 2)
