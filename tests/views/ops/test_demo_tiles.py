"""A demo's tiles on the desk's own port: passed on, compressed once, and only cached compressed."""

import gzip
from collections.abc import Iterator

import httpx
import pytest
from werkzeug.test import Client

from ridedash.service.transport.http import Http
from ridedash.views.ops.demo_tiles import MOST_PACKED, DemoTiles

SVG = b"<svg>" + b"a street " * 500 + b"</svg>"
GZIP = {"Accept-Encoding": "gzip"}


class Sandbox:
    """Answers each request for a tile with the same drawing, until `release` is raised."""

    def __init__(self) -> None:
        self.release, self.status, self.paths = 1, 200, list[str]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        headers = {"etag": f'"{self.release}"', "content-type": "image/svg+xml", "x-own": "no"}
        body = SVG + str(self.release).encode() if self.status == 200 else b""
        return httpx.Response(self.status, headers=headers, content=body)


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()


@pytest.fixture
def tiles(sandbox: Sandbox) -> Iterator[DemoTiles]:
    def desk(_environ: object, start: object) -> list[bytes]:
        assert callable(start)
        start("418 Desk", [])
        return [b""]

    made = DemoTiles(desk, "http://127.0.0.1:9")
    with Http(httpx.MockTransport(sandbox)) as http:
        made._http = http
        yield made


def path(number: int) -> str:
    return f"/tiles/15/1/{number}.svg"


def test_a_tile_comes_with_its_own_headers_and_compressed_where_that_is_read(
    tiles: DemoTiles,
) -> None:
    uncompressed, packed = Client(tiles).get(path(1)), Client(tiles).get(path(1), headers=GZIP)
    assert uncompressed.data == SVG + b"1"
    assert gzip.decompress(packed.data) == uncompressed.data
    assert (uncompressed.headers["ETag"], uncompressed.headers["Content-Type"]) == (
        '"1"',
        "image/svg+xml",
    )
    assert "X-Own" not in uncompressed.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in uncompressed.headers


def test_the_cache_of_tiles_is_bounded_in_size_and_number(
    tiles: DemoTiles, sandbox: Sandbox
) -> None:
    for number in range(MOST_PACKED + 10):
        Client(tiles).get(path(number), headers=GZIP)
    Client(tiles).get(path(10), headers=GZIP)  # a tile in use stays
    Client(tiles).get(path(9999), headers=GZIP)
    assert len(tiles._packed) == MOST_PACKED
    assert path(10) in tiles._packed
    assert path(11) not in tiles._packed
    assert sum(len(body) for _, body in tiles._packed.values()) < MOST_PACKED * len(SVG) / 10


def test_a_new_drawing_of_a_tile_replaces_the_cached_one(
    tiles: DemoTiles, sandbox: Sandbox
) -> None:
    for release in (1, 1, 2):
        sandbox.release = release
        answer = Client(tiles).get(path(1), headers=GZIP)
        assert gzip.decompress(answer.data) == SVG + str(release).encode()


def test_other_pages_are_the_desks_and_a_304_has_no_body(
    tiles: DemoTiles, sandbox: Sandbox
) -> None:
    for other in ("/", "/tiles/15/1/1.png", "/tiles/15/1/../1.svg"):
        assert Client(tiles).get(other).status_code == 418
    assert Client(tiles).post(path(1)).status_code == 418
    assert sandbox.paths == []
    sandbox.status = 304
    answer = Client(tiles).get(path(1), headers=GZIP | {"If-None-Match": '"1"'})
    assert (answer.status_code, answer.data) == (304, b"")
