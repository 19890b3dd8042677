"""A layer before Flask for one route, `/rides/<id>/snapshot.json`: what Flask answered a moment ago, sent again.

It learns from Flask's own answers and decides nothing itself: a cookie header that Flask found signed in, an address
that Flask knew on a host that it trusts, an answer that Flask made for that property and role. Whatever is new, odd,
old or unsure goes to Flask. PollMemory says how long a thing may be believed.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from werkzeug.datastructures import Headers
from werkzeug.http import remove_entity_headers

from ridedash.store.watching import SignInFacts
from ridedash.views.formats import stamp
from ridedash.views.poll_memory import KNOWN, Key, PollMemory, Ready

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SAID: Final = "ridedash.poll"  # where the view leaves (Key, Ready) in the environ
TAIL: Final = "/snapshot.json"
ODD: Final = (  # what could ask for another answer
    "HTTP_RANGE",
    "HTTP_IF_RANGE",
    "HTTP_IF_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_UNMODIFIED_SINCE",
    "HTTP_TRANSFER_ENCODING",
)
OF_ONE_ANSWER: Final = frozenset({"x-server-now", "x-request-id", "date"})  # headers that are not sent again
MAX_PLACES: Final = 50_000

log = logging.getLogger(__name__)
MILLISECOND: Final = timedelta(milliseconds=1)
Place = tuple[str, str, str | None, int, str]  # path, host, languages; property and role of whoever asks
Answer = tuple[str, list[tuple[str, str]], list[bytes]]


class PollLayer:
    """Wraps the dashboard as a WSGI application. `clock` is the one that the pages go by."""

    def __init__(self, app: "WSGIApplication", memory: PollMemory, clock: Callable[[], datetime]) -> None:
        self.app, self._memory, self._clock = app, memory, clock
        self._places: dict[Place, tuple[Key, Ready]] = {}
        self._now = datetime.min.replace(tzinfo=UTC), ("X-Server-Now", "")
        self._complained = False

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "").endswith(TAIL):
            return self._other(environ, start)
        plain = _is_plain(environ)
        answer = self._safely(self._remembered, environ) if plain else None
        if answer is None and plain:
            answer = self._asked(environ)
        if answer is None:
            return self.app(environ, start)
        status, head, body = answer
        start(status, head)
        return body

    def _other(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        """Any other page; after a deed the database is asked anew, so that its doer sees it at once."""
        if environ.get("REQUEST_METHOD") in ("GET", "HEAD"):
            return self.app(environ, start)
        try:
            return self.app(environ, start)
        finally:
            self._memory.look_again()

    def _remembered(self, environ: "WSGIEnvironment") -> Answer | None:
        now, memory = self._clock(), self._memory
        known = memory.who(environ.get("HTTP_COOKIE"), now)
        found = self._places.get(_place(environ, known)) if known else None
        if found is None:
            return None
        key, ready = found
        if ready.until <= memory.moment():
            newer = memory.ready(key)
            if newer is None:
                return None
            ready = newer
        return self._answer(ready, environ.get("HTTP_IF_NONE_MATCH"), now)

    def _asked(self, environ: "WSGIEnvironment") -> Answer:
        """Flask's answer, kept if it is a snapshot. Flask is asked for the whole one; 304 is said here."""
        seen = environ.pop("HTTP_IF_NONE_MATCH", None)
        environ.pop(SAID, None)
        answer = _answer_of(self.app, environ)
        again = self._safely(self._learnt, environ, answer, seen)
        return again or answer

    def _learnt(self, environ: "WSGIEnvironment", answer: Answer, seen: str | None) -> Answer | None:
        status, head, _body = answer
        key, ready = environ.get(SAID, (None, None))
        if ready is None or status != "200 OK" or any(name.lower() == "set-cookie" for name, _ in head):
            return None
        if ready.head is None:
            ready.head_304 = _without_entity(head)
            ready.head = [(name, value) for name, value in head if name.lower() not in OF_ONE_ANSWER]
        if len(self._places) >= MAX_PLACES:
            self._places.clear()
        self._places[_place(environ, environ[KNOWN])] = key, ready
        return self._answer(ready, seen, self._clock())

    def _answer(self, ready: Ready, seen: str | None, now: datetime) -> Answer | None:
        if ready.head is None or ready.head_304 is None:
            return None
        if seen is not None and seen.removeprefix("W/") == f'"{ready.etag}"':
            return "304 NOT MODIFIED", [*ready.head_304, self._said_now(now)], []
        return "200 OK", [*ready.head, self._said_now(now)], [ready.body]

    def _said_now(self, now: datetime) -> tuple[str, str]:
        """The header of this millisecond, written once."""
        at, header = self._now
        if not at <= now < at + MILLISECOND:
            header = ("X-Server-Now", stamp(now))
            self._now = now, header
        return header

    def _safely(self, step: Callable[..., Answer | None], *args: Any) -> Answer | None:
        """A mistake in here costs speed and nothing else."""
        try:
            return step(*args)
        except Exception:
            if not self._complained:
                log.exception("the poll layer failed; Flask answers instead. Said once")
            self._complained = True
            return None


def _is_plain(environ: "WSGIEnvironment") -> bool:
    """Whether nothing in a request could change the answer, but who asks, and whether they have it already."""
    asked = environ.get
    if asked("REQUEST_METHOD") != "GET" or asked("QUERY_STRING") or asked("SCRIPT_NAME") or not asked("HTTP_HOST"):
        return False
    if asked("CONTENT_LENGTH", "") not in ("", "0") or not environ.keys().isdisjoint(ODD):
        return False
    seen = asked("HTTP_IF_NONE_MATCH")
    return seen is None or _is_one_tag(seen)


def _is_one_tag(seen: str) -> bool:
    return seen.count('"') == 2 and seen.startswith(('"', 'W/"')) and seen.endswith('"')


def _place(environ: "WSGIEnvironment", known: SignInFacts) -> Place:
    languages = environ.get("HTTP_ACCEPT_LANGUAGE")
    return environ["PATH_INFO"], environ["HTTP_HOST"], languages, known.property_id, known.role


def _without_entity(head: list[tuple[str, str]]) -> list[tuple[str, str]]:
    kept = Headers([(name, value) for name, value in head if name.lower() not in OF_ONE_ANSWER])
    remove_entity_headers(kept)
    return kept.to_wsgi_list()


def _answer_of(app: "WSGIApplication", environ: "WSGIEnvironment") -> Answer:
    """An application's whole answer, read to its end."""
    said: list[Any] = []

    def start(status: str, head: list[tuple[str, str]], _exc_info: Any = None) -> Callable[[bytes], object]:
        said[:] = status, head
        return lambda _data: None

    chunks = app(environ, start)
    try:
        body = b"".join(chunks)
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
    return said[0], said[1], [body]
