"""What answers have in common: their language, JSON or not, forms sent on, answers of polls, and
pages without the indentation of their templates.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from babel import Locale
from flask import Response, redirect, request, url_for
from flask_babel import get_locale
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from werkzeug.wrappers import Response as BaseResponse

from ridedash.views.web.formatting import stamp

# of HTML, without the no-break space; where a line ends there is white space anyway
_AROUND_A_LINE_END: Final = re.compile(r"[ \t\r\f]*\n[ \t\r\n\f]*")


class Snapshot(NamedTuple):
    """The body of a poll's answer as bytes, its ETag, and when the service was last heard."""

    body: bytes
    etag: str
    seen_at: str


def locale() -> str:
    """The language of the reader, as a tag such as "en"."""
    return str(get_locale() or "en")


def reading() -> dict[str, str]:
    """`page_locale` and `page_dir` of base templates: how a page is marked, as "zh-Hans", "ltr"."""
    found = get_locale() or Locale("en")
    return {"page_locale": str(found).replace("_", "-"), "page_dir": found.text_direction}


def wants_json() -> bool:
    """Whether a script asks: by the path of a JSON answer, or because it rather accepts JSON."""
    offered = ["text/html", "application/json"]
    preferred = request.accept_mimetypes.best_match(offered)
    return request.path.endswith(".json") or preferred == "application/json"


def forward_form(endpoint: str, **values: Any) -> BaseResponse:
    """Send a posted form on to another route, which checks its own permission.

    The browser posts the same body there: 307 keeps method and body. For the addresses of pages
    that an earlier release rendered and that are still open.
    """
    return redirect(url_for(endpoint, **values), code=307)


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


class NoIndentation(Extension):
    """Writes white space around the end of a line, in a template's text, as the line end alone.

    Done once, when a template is compiled; what a page fills in stays as it is. White space never
    disappears: words that were apart are apart. No template has an element that keeps its white
    space; a test holds that.
    """

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens of a template, its texts without indentation."""
        for token in stream:
            if token.type == "data":
                yield Token(token.lineno, "data", _AROUND_A_LINE_END.sub("\n", token.value))
            else:
                yield token
