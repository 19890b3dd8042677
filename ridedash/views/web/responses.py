"""What answers have in common: language, JSON or HTML, forwarded forms, answers to polls, and pages
without the indentation of their templates.
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

# HTML's white space, without the no-break space
_AROUND_A_LINE_END: Final = re.compile(r"[ \t\r\f]*\n[ \t\r\n\f]*")


class PollBody(NamedTuple):
    """The body of a poll's answer as bytes, its ETag, and when the service last answered."""

    body: bytes
    etag: str
    seen_at: str


def locale() -> str:
    """The language of the reader, by its code: "en", "zh_Hans"."""
    return str(get_locale() or "en")


def reading() -> dict[str, str]:
    """`page_locale` and `page_dir` for base templates: the page's lang and dir ("ar", "rtl")."""
    found = get_locale() or Locale("en")
    return {"page_locale": str(found).replace("_", "-"), "page_dir": found.text_direction}


def wants_json() -> bool:
    """Whether a script sent the request: its path is a JSON route, or it prefers JSON."""
    offered = ["text/html", "application/json"]
    preferred = request.accept_mimetypes.best_match(offered)
    return request.path.endswith(".json") or preferred == "application/json"


def forward_form(endpoint: str, **values: Any) -> BaseResponse:
    """Forward a posted form to another route, which checks its own permission.

    The browser posts the same body there: 307 keeps method and body. This serves pages of an
    earlier release that are still open.
    """
    return redirect(url_for(endpoint, **values), code=307)


def poll_response(shown: PollBody, now: datetime, *, of_staff: bool = True) -> BaseResponse:
    """The answer to a poll: 304 if the browser has it already.

    `of_staff`: whether the answer depends on who is signed in.
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
    """Reduces white space around line ends in a template's text to the line end.

    This is done once, when a template is compiled; inserted values stay as they are. White space
    never disappears completely, so words stay separate. No template writes line ends of its own
    inside an element that preserves white space; a test checks that.
    """

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens of a template, with the indentation removed from its texts."""
        for token in stream:
            if token.type == "data":
                yield Token(token.lineno, "data", _AROUND_A_LINE_END.sub("\n", token.value))
            else:
                yield token
