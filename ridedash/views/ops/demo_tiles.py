"""A demo's map tiles, fetched from the sandbox's port and served from this host."""

import gzip
import re
from collections.abc import Iterable
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Answer, Http, Request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

TILE: Final = re.compile(r"/tiles/(dark/)?[0-9]+/[0-9]+/[0-9]+\.svg")
MOST_PACKED: Final = 256  # tiles that are cached: as many as a desk looks at
TILE_S: Final = 20.0  # seconds to wait: for the first tile of a zoom a whole city is prepared
PASSED_ON: Final = (
    "content-type",
    "cache-control",
    "etag",
    "content-security-policy",
    "x-content-type-options",
    "vary",
)


class DemoTiles:
    """A WSGI middleware that serves tiles and passes other requests on."""

    def __init__(self, app: "WSGIApplication", sandbox_url: str) -> None:
        self.app = app
        self._url = sandbox_url
        self._packed: dict[str, tuple[str, bytes]] = {}  # by path: ETag and body

    @cached_property
    def _http(self) -> Http:
        return Http()  # takes some megabytes, so it is built when the first tile is requested

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] != "GET" or not TILE.fullmatch(path):
            return self.app(environ, start)
        etag = environ.get("HTTP_IF_NONE_MATCH")
        headers = {"accept": "image/*"}
        if etag:
            headers["if-none-match"] = etag
        try:
            tile = self._http.call(Request("GET", self._url + path, TILE_S, headers=headers))
        except ServiceError:
            start("502 Bad Gateway", [("Content-Type", "text/plain")])
            return [b"The sandbox does not answer."]
        passed_on = [(name, tile.headers[name]) for name in PASSED_ON if name in tile.headers]
        body = tile.body
        if tile.status == HTTPStatus.OK and "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            passed_on.append(("content-encoding", "gzip"))
            body = self._pack(path, etag_of(tile), body)
        start(f"{tile.status} {HTTPStatus(tile.status).phrase}", passed_on)
        return [body]

    def _pack(self, path: str, etag: str, svg: bytes) -> bytes:
        """The compressed tile, from memory if it was requested lately; nothing else is cached."""
        cached = self._packed.get(path)
        if cached is None or not etag or cached[0] != etag:
            cached = etag, gzip.compress(svg, mtime=0)
        self._packed.pop(path, None)  # moves the tile to the end: the first one is the oldest
        self._packed[path] = cached
        while len(self._packed) > MOST_PACKED:
            self._packed.pop(next(iter(self._packed)), None)
        return cached[1]


def etag_of(tile: Answer) -> str:
    """A value that changes with the tile at an address; "" if the sandbox does not give one."""
    return tile.headers.get("etag", "")
