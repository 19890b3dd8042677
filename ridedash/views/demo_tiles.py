"""A demo's map tiles for web processes of their own: fetched from the sandbox's port, which alone can draw them.

`ridedash up` draws them itself; live mode has none of this.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from ridedash.service.errors import ServiceError
from ridedash.service.http import Http

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

TILE: Final = re.compile(r"/tiles/[0-9]+/[0-9]+/[0-9]+\.svg")
TILE_S: Final = 20.0  # the sandbox prepares a city when the first tile of a zoom is asked for
PASSED_ON: Final = ("content-type", "cache-control", "etag", "content-security-policy", "x-content-type-options")


class DemoTiles:
    """The app behind it, but for tiles."""

    def __init__(self, app: "WSGIApplication", sandbox_url: str) -> None:
        self.app = app
        self._url = sandbox_url

    @cached_property
    def _http(self) -> Http:
        return Http()  # some megabytes: not before a tile is asked for

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] != "GET" or not TILE.fullmatch(path):
            return self.app(environ, start)
        known = environ.get("HTTP_IF_NONE_MATCH")
        asked = {"accept": "image/*"} | ({"if-none-match": known} if known else {})
        try:
            tile = self._http.call("GET", self._url + path, headers=asked, connect_s=2, total_s=TILE_S)
        except ServiceError:
            start("502 Bad Gateway", [("Content-Type", "text/plain")])
            return [b"The sandbox does not answer."]
        said = [(name, tile.headers[name]) for name in PASSED_ON if name in tile.headers]
        start(f"{tile.status} {HTTPStatus(tile.status).phrase}", said)
        return [tile.body]
