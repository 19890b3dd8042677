"""Leaflet's files and a demo's map tiles, served from this host.

Leaflet comes from the wheel django-js-lib-leaflet; tiles come from the sandbox's port.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flask import Blueprint, Response, abort, send_from_directory

from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.views.web.permissions import OPEN, needs

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

bp = Blueprint("leaflet", __name__, url_prefix="/static/vendor/leaflet")
FILES = frozenset(
    {
        "leaflet.js",
        "leaflet.css",
        "images/layers.png",
        "images/layers-2x.png",
        "images/marker-icon.png",
        "images/marker-icon-2x.png",
        "images/marker-shadow.png",
    }
)
A_DAY_S = 86_400
TILE: Final = re.compile(r"/tiles/(dark/)?[0-9]+/[0-9]+/[0-9]+\.svg")
TILE_S: Final = 20.0  # the sandbox prepares a city at the first tile of a zoom
PASSED_ON: Final = (
    "content-type",
    "cache-control",
    "etag",
    "content-security-policy",
    "x-content-type-options",
)


def folder() -> Path:
    """The folder of the wheel's files; the package itself (a Django app) is not imported."""
    spec = find_spec("js_lib_leaflet")
    if spec is None or spec.origin is None:
        raise RuntimeError("django-js-lib-leaflet is not installed: maps need its copy of Leaflet.")
    return Path(spec.origin).parent / "static" / "js_lib_leaflet"


@bp.get("/<path:name>")
@needs(OPEN)
def file(name: str) -> Response:
    """One of Leaflet's files; anything else in the wheel is not served."""
    if name not in FILES:
        abort(404)
    return send_from_directory(folder(), name, max_age=A_DAY_S)


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
        start(f"{tile.status} {HTTPStatus(tile.status).phrase}", kept)
        return [tile.body]
