"""The language of an answer, whether it is JSON, and what the answers of polls have in common."""

from datetime import datetime
from typing import NamedTuple

from flask import Response, request
from flask_babel import get_locale
from werkzeug.wrappers import Response as BaseResponse

from ridedash.views.web.formatting import stamp


def locale() -> str:
    """Of whoever reads the page."""
    return str(get_locale() or "en")


def wants_json() -> bool:
    """Whether the desk's script asks: it takes the form alone, not a page around it."""
    offered = ["text/html", "application/json"]
    return request.accept_mimetypes.best_match(offered) == "application/json"


class Snapshot(NamedTuple):
    """The body of a poll's answer as bytes, its ETag, and when the service was last heard."""

    body: bytes
    etag: str
    seen_at: str


def poll_response(shown: Snapshot, now: datetime, *, of_staff: bool = True) -> BaseResponse:
    """The answer of a poll: 304 for a browser that has it already.

    `of_staff`: whether it depends on who is signed in.
    """
    answer = Response(shown.body, mimetype="application/json")
    answer.set_etag(shown.etag)
    answer.headers["X-Server-Now"] = stamp(now)
    if shown.seen_at:
        answer.headers["X-Seen-At"] = shown.seen_at
    if of_staff:
        answer.headers["Cache-Control"] = "private, no-cache"
        answer.vary.add("Cookie")
    return answer.make_conditional(request)
