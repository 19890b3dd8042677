"""A demo's map tiles, passed on from the sandbox's port, so that pages load them from this host."""

import gzip
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

TILE: Final = re.compile(r"/tiles/(dark/)?[0-9]+/[0-9]+/[0-9]+\.svg")
TILE_S: Final = 20.0  # the sandbox prepares a city at the first tile of a zoom
PASSED_ON: Final = (
    "content-type",
    "cache-control",
    "etag",
    "content-security-policy",
    "x-content-type-options",
    "vary",
)


class DemoTiles:
    """The app behind it, but for tiles."""

    def __init__(self, app: "WSGIApplication", sandbox_url: str) -> None:
        self.app = app
        self._url = sandbox_url

    @cached_property
    def _http(self) -> Http:
        return Http()  # takes some megabytes: built when the first tile is requested

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] != "GET" or not TILE.fullmatch(path):
            return self.app(environ, start)
        etag = environ.get("HTTP_IF_NONE_MATCH")
        headers = {"accept": "image/*"} | ({"if-none-match": etag} if etag else {})
        try:
            tile = self._http.call(Request("GET", self._url + path, TILE_S, headers=headers))
        except ServiceError:
            start("502 Bad Gateway", [("Content-Type", "text/plain")])
            return [b"The sandbox does not answer."]
        kept = [(name, tile.headers[name]) for name in PASSED_ON if name in tile.headers]
        body = tile.body
        if tile.status == HTTPStatus.OK and "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            kept.append(("content-encoding", "gzip"))
            body = _packed(body)
        start(f"{tile.status} {HTTPStatus(tile.status).phrase}", kept)
        return [body]


@lru_cache(maxsize=256)  # what a desk looks at
def _packed(svg: bytes) -> bytes:
    return gzip.compress(svg, mtime=0)
