"""A WSGI middleware that answers the polls of ride pages, guests' links and the board before Flask.

It learns from Flask's answers and decides nothing itself: it knows credentials that Flask accepted
at a trusted host, and answers that Flask made for their audience. Requests that are new, unusual or
expired go to Flask. The language of an answer is in the address of its poll and nowhere else.
Answers from here are counted but not logged, so they have no X-Request-Id. What runs for every poll
is written for speed.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from werkzeug.datastructures import Headers
from werkzeug.http import parse_etags, remove_entity_headers, unquote_etag
from werkzeug.wrappers import Response

from ridedash.store.database.database import Clock
from ridedash.store.models.kiosks import KioskKind
from ridedash.views.poll_cache import cache as c
from ridedash.views.web.current_user import KNOWN_SIGN_IN
from ridedash.views.web.formatting import stamp
from ridedash.wording.languages import ENGLISH
from ridedash.wording.readers import TAGS

# the cookie of a paired device is found by the end of its name
DEVICES: Final = tuple(f"{kind.value}=" for kind in KioskKind)
BOARD: Final = "/board.json"
MAX_QUERY: Final = 60  # characters of the board's query beside `since`
OF_ONE_ANSWER: Final = "X-Server-Now", "X-Request-Id", "Date"  # headers that are not sent again
CONDITIONS: Final = "RANGE", "IF_RANGE", "IF_MATCH", "IF_MODIFIED_SINCE", "IF_UNMODIFIED_SINCE"
UNUSUAL: Final = frozenset({"HTTP_TRANSFER_ENCODING", *(f"HTTP_{name}" for name in CONDITIONS)})
NO_BODY: Final = None, "", "0"  # values of Content-Length for a request without a body
# posted, although nothing is written: words that name a person must not be in an address
READS: Final = frozenset({"/guests.json", "/search.json", "/search", "/history", "/history.csv"})
LANGUAGE: Final = "lang="  # the last part of a query; without it the answer is in English
SAME_TIME_S: Final = 0.01  # X-Server-Now is reused for this time: scripts use its whole seconds

log = logging.getLogger(__name__)
Environ = dict[str, Any]
App = Callable[..., Iterable[bytes]]
Count = Callable[[int], object]
Sent = tuple[str, c.Head, list[bytes]]


class PollMiddleware:
    """Wraps the dashboard as a WSGI application. `clock` is the clock of the pages.

    `count` is called a few times a second with the number of polls answered here meanwhile.
    """

    def __init__(self, app: App, cache: c.PollCache, clock: Clock, count: Count) -> None:
        self.app = app
        self._cache = cache
        self._clock = clock
        self._count = count
        self._now = ("X-Server-Now", "")
        self._now_since = c.NEVER
        self._complained = False
        self._answered = self._counted = 0

    def __call__(self, environ: Environ, start: Any) -> Iterable[bytes]:
        question = _question(environ)
        if question is None:
            return self._other(environ, start)
        credential, page, locale = question
        sent = None
        try:
            sent = self._stored(environ, credential, page, locale)
        except Exception:
            self._complain()
        status, head, body = sent or self._ask(environ, credential)
        start(status, head)
        return body

    def _other(self, environ: Environ, start: Any) -> Iterable[bytes]:
        """Pass on any other request; if it may have written, its sender sees the change at once."""
        if environ.get("REQUEST_METHOD") in ("GET", "HEAD") or environ.get("PATH_INFO") in READS:
            return self.app(environ, start)
        try:
            return self.app(environ, start)
        finally:
            self._cache.look_again()

    def _stored(
        self, environ: Environ, credential: c.Credential, page: str, locale: str
    ) -> Sent | None:
        cache = self._cache
        now = cache.monotonic()
        viewer = cache.viewers.get(credential)
        if viewer is None or viewer.until <= now:
            return None
        if now - cache.looked_at >= c.LOOK_S and not self._in_touch():
            return None
        if viewer.secret in cache.ended:
            return None
        key = page, viewer.audience, locale
        entry = cache.entries.get(key)
        if entry is not None and entry.until <= now:
            entry = cache.valid(key)
        if entry is not None and entry.answer is not None:
            sent = self._send(entry.answer, environ.get("HTTP_IF_NONE_MATCH"), now)
            if sent is not None:
                self._answered += 1
                return sent
        if viewer.sign_in is not None:  # still valid: Flask need not read it from the database
            environ[KNOWN_SIGN_IN] = viewer.sign_in
        return None

    def _send(self, answer: c.StoredAnswer, seen: str | None, now: float) -> Sent | None:
        if not 0 <= now - self._now_since < SAME_TIME_S:
            self._now = ("X-Server-Now", stamp(self._clock()))
            self._now_since = now
        if seen is not None and (seen == answer.tag or _names(seen, answer.tag)):
            return "304 NOT MODIFIED", [*answer.head_304, self._now], []
        if answer.body is None:
            return None
        return "200 OK", [*answer.head, self._now], [answer.body]

    def _in_touch(self) -> bool:
        """Compare with the database, and count the answers since the last time."""
        answered = self._answered
        since = answered - self._counted
        self._counted = answered
        if since > 0:
            self._count(since)
        return self._cache.in_touch()

    def _ask(self, environ: Environ, credential: c.Credential) -> Sent:
        """Get Flask's answer, and store it if its view offered it; a 304 is decided here."""
        seen = environ.pop("HTTP_IF_NONE_MATCH", None)
        verified = KNOWN_SIGN_IN not in environ
        offers: list[Any] = environ.setdefault(c.OFFERED, [])
        answer = Response.from_app(self.app, environ, buffered=True)
        sent = answer.status, answer.headers.to_wsgi_list(), [answer.get_data()]
        try:
            if not offers or answer.status_code != 200 or "Set-Cookie" in answer.headers:
                return sent
            now = self._cache.monotonic()
            key, entry, secret, until, known = offers[-1]
            if entry.answer is None:
                entry.answer = _lasting(answer, whole=not key.page.startswith(BOARD))
            # a viewer whose sign-in was not verified now is not admitted anew: otherwise it would
            # never be verified again
            if verified and entry.until > now:
                holds_s = min(c.KNOWN_S, (until - self._clock()).total_seconds())
                viewer = c.Viewer(secret, key.audience, now + holds_s, known)
                self._cache.admit(credential, viewer)
            return self._send(entry.answer, seen, now) or sent
        except Exception:
            self._complain()
            return sent

    def _complain(self) -> None:
        """Log an error of the cache, which only costs speed."""
        if not self._complained:
            log.exception("the poll cache failed; Flask answers instead. Logged once")
        self._complained = True


def _question(environ: Environ) -> tuple[c.Credential, str, str] | None:
    """The credential, the page and the language of a poll that may be answered here.

    None for any other request, and for a poll whose answer may depend on more than these three.
    """
    given = environ.get
    path: str = given("PATH_INFO", "")
    host = given("HTTP_HOST", "")
    cookie = given("HTTP_COOKIE", "")
    if not path.endswith(".json") or given("REQUEST_METHOD") != "GET" or not host:
        return None
    if given("SCRIPT_NAME") or given("CONTENT_LENGTH") not in NO_BODY:
        return None
    if not environ.keys().isdisjoint(UNUSUAL):
        return None
    query = given("QUERY_STRING", "")
    locale = ENGLISH
    if LANGUAGE in query:
        query, locale = _language(query)
        if not locale:
            return None
    if path == BOARD:
        rest = query.partition("&")[2] if query.startswith("since=") else query
        if len(rest) > MAX_QUERY:
            return None
        return (cookie, host), f"{BOARD}?{rest}", locale
    if query or not path.endswith("/snapshot.json"):
        return None
    if path.startswith("/rides/"):
        return (cookie, host), path, locale
    if not path.startswith(c.LINKS) or any(each in cookie for each in DEVICES):
        return None  # a paired device may not open links: Flask refuses
    return (path, given("REMOTE_ADDR", ""), host), c.LINKS, locale


def _language(query: str) -> tuple[str, str]:
    """The query without the language at its end, and the language; "" without a valid one."""
    rest, _, tag = query.rpartition(LANGUAGE)
    if (rest and not rest.endswith("&")) or LANGUAGE in rest:
        return query, ""
    return rest[:-1], TAGS.get(tag, "")


def _names(seen: str, tag: str) -> bool:
    """Whether an If-None-Match names the tag in another form: weak, in a list, or as *."""
    return parse_etags(seen).contains_weak(unquote_etag(tag)[0])


def _lasting(answer: Response, *, whole: bool) -> c.StoredAnswer:
    """The parts of an answer that can be sent again; without `whole`, only as a 304."""
    head = Headers((name, value) for name, value in answer.headers if name not in OF_ONE_ANSWER)
    bare = Headers(head)
    remove_entity_headers(bare)
    body = answer.get_data() if whole else None
    return c.StoredAnswer(head["ETag"], head.to_wsgi_list(), bare.to_wsgi_list(), body)
