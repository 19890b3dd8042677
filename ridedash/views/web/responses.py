"""The language of an answer, and whether it is JSON."""

from flask import request
from flask_babel import get_locale


def locale() -> str:
    """Of whoever reads the page."""
    return str(get_locale() or "en")


def wants_json() -> bool:
    """Whether the desk's script asks: it takes the form alone, not a page around it."""
    offered = ["text/html", "application/json"]
    return request.accept_mimetypes.best_match(offered) == "application/json"
