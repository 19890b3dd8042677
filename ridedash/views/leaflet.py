"""Leaflet, served by us from the wheel that carries it, so that no page asks another host for it."""

from importlib.util import find_spec
from pathlib import Path

from flask import Blueprint, Response, abort, send_from_directory

from ridedash.views.permissions import OPEN, needs

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


def folder() -> Path:
    """Where the wheel django-js-lib-leaflet put the files. The package itself (a Django app) is not imported."""
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
