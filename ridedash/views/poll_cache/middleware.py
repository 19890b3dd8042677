"""A layer before Flask for one route, `/rides/<id>/snapshot.json`: what Flask answered a moment
ago, sent again.

It learns from Flask's own answers and decides nothing itself: a cookie header that Flask found
signed in, an address that Flask knew on a host that it trusts, an answer that Flask made for that
property and role. Whatever is new, odd, old or unsure goes to Flask. PollMemory says how long a
thing may be believed. What is sent from here is counted but not logged, so it has no X-Request-Id
either. What runs for every poll is written for speed.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from werkzeug.datastructures import Headers
from werkzeug.http import remove_entity_headers

from ridedash.views.poll_cache.cache import LOOK_S, NEVER, Key, PollMemory, Ready
from ridedash.views.web.current_user import KNOWN
from ridedash.views.web.formatting import stamp

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SAID: Final = "ridedash.poll"  # where the view leaves (Key, Ready) in the environ
START: Final = "/rides/"
TAIL: Final = "/snapshot.json"
# headers that are not sent again
OF_ONE_ANSWER: Final = frozenset({"x-server-now", "x-request-id", "date"})
# posted, because words that name a person stand in no address; nothing is done by them
READS: Final = frozenset({"/guests.json", "/search.json", "/search", "/history", "/history.csv"})
MAX_PLACES: Final = 50_000
FEW_PLACES: Final = 200  # some five kilobytes each: fewer are not looked through for what is over
SAME_TIME_S: Final = 0.01  # so long the same X-Server-Now is said: its readers count in seconds
log = logging.getLogger(__name__)
# path, host, languages; property and role of whoever asks
Place = tuple[str, str, str | None, tuple[int, str]]
Head = list[tuple[str, str]]
Answer = tuple[str, Head, list[bytes]]


class PollLayer:
    """Wraps the dashboard as a WSGI application. `clock` is the one that the pages go by.

    `count` is told a few times a second how many polls were answered from memory since.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        memory: PollMemory,
        clock: Callable[[], datetime],
        count: Callable[[int], None] = lambda _polls: None,
    ) -> None:
        self.app, self._memory, self._clock, self._count = app, memory, clock, count
        self._places: dict[Place, tuple[Key, Ready]] = {}
        self._enough = FEW_PLACES
        self._now, self._now_since = ("X-Server-Now", ""), NEVER
        self._complained = False
        self._answered = self._counted = 0

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if not path.endswith(TAIL) or not path.startswith(START):
            return self._other(environ, start)
        answer = None
        if _is_plain(environ):
            try:
                answer = self._remembered(environ)
            except Exception:
                self._complain()
            if answer is None:
                answer = self._asked(environ)
        if answer is None:
            return self.app(environ, start)
        status, head, body = answer
        start(status, head)
        return body

    def _other(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        """Any other page; after a deed the database is asked anew, so that its doer sees it at
        once.
        """
        if environ.get("REQUEST_METHOD") in ("GET", "HEAD") or environ.get("PATH_INFO") in READS:
            return self.app(environ, start)
        try:
            return self.app(environ, start)
        finally:
            self._memory.look_again()

    def _remembered(self, environ: "WSGIEnvironment") -> Answer | None:
        asked, memory = environ.get, self._memory
        moment = memory.moment()
        viewer = memory.viewers.get(asked("HTTP_COOKIE", ""))
        if viewer is None or viewer.until <= moment:
            return None
        if moment - memory.looked_at >= LOOK_S and not self._in_touch():
            return None
        place = (
            environ["PATH_INFO"],
            environ["HTTP_HOST"],
            asked("HTTP_ACCEPT_LANGUAGE"),
            viewer.house,
        )
        found = None if viewer.sign_in in memory.ended else self._places.get(place)
        if found is None:
            return None
        key, ready = found
        if ready.until <= moment:
            newer = memory.ready(key)
            if newer is None or newer.head is None:
                return None
            ready = newer
        self._answered += 1
        return self._answer(ready, asked("HTTP_IF_NONE_MATCH"), moment)

    def _in_touch(self) -> bool:
        """The database is asked, and what was sent meanwhile is counted."""
        answered = self._answered
        since, self._counted = answered - self._counted, answered
        if since > 0:
            self._count(since)
        return self._memory.in_touch()

    def _asked(self, environ: "WSGIEnvironment") -> Answer:
        """Flask's answer, kept if it is a snapshot. Flask is asked for the whole one; 304 is said
        here.
        """
        seen = environ.pop("HTTP_IF_NONE_MATCH", None)
        environ.pop(SAID, None)
        answer = _answer_of(self.app, environ)
        try:
            return self._learnt(environ, answer, seen) or answer
        except Exception:
            self._complain()
            return answer

    def _learnt(
        self, environ: "WSGIEnvironment", answer: Answer, seen: str | None
    ) -> Answer | None:
        status, head, _body = answer
        key, ready = environ.get(SAID, (None, None))
        if (
            ready is None
            or status != "200 OK"
            or any(name.lower() == "set-cookie" for name, _ in head)
        ):
            return None
        if ready.head is None:
            ready.head_304 = _without_entity(head)
            ready.head = [
                (name, value) for name, value in head if name.lower() not in OF_ONE_ANSWER
            ]
        if len(self._places) >= self._enough:
            self._forget_old()
        known = environ[KNOWN]
        house = known.property_id, known.role
        place = (
            environ["PATH_INFO"],
            environ["HTTP_HOST"],
            environ.get("HTTP_ACCEPT_LANGUAGE"),
            house,
        )
        self._places[place] = key, ready
        return self._answer(ready, seen, self._memory.moment())

    def _forget_old(self) -> None:
        """Rides end and nobody asks for them again: what is too old to be sent goes, each time that
        it may be half.
        """
        moment = self._memory.moment()
        kept = {place: said for place, said in list(self._places.items()) if moment < said[1].until}
        self._places = kept if len(kept) < MAX_PLACES else {}
        self._enough = max(FEW_PLACES, 2 * len(self._places))

    def _answer(self, ready: Ready, seen: str | None, moment: float) -> Answer:
        if not self._now_since <= moment < self._now_since + SAME_TIME_S:
            self._now, self._now_since = ("X-Server-Now", stamp(self._clock())), moment
        assert ready.head is not None
        assert ready.head_304 is not None
        if seen is not None and seen.removeprefix("W/") == ready.tag:
            return "304 NOT MODIFIED", [*ready.head_304, self._now], []
        return "200 OK", [*ready.head, self._now], [ready.body]

    def _complain(self) -> None:
        """A mistake in here costs speed and nothing else."""
        if not self._complained:
            log.exception("the poll layer failed; Flask answers instead. Said once")
        self._complained = True


def _is_plain(environ: "WSGIEnvironment") -> bool:
    """Whether nothing in a request could change the answer, but who asks, and whether they have it
    already.
    """
    asked = environ.get
    if (
        asked("REQUEST_METHOD") != "GET"
        or asked("QUERY_STRING")
        or asked("SCRIPT_NAME")
        or not asked("HTTP_HOST")
        or asked("CONTENT_LENGTH", "") not in ("", "0")
        or "HTTP_RANGE" in environ
        or "HTTP_IF_RANGE" in environ
        or "HTTP_IF_MATCH" in environ
        or "HTTP_IF_MODIFIED_SINCE" in environ
        or "HTTP_IF_UNMODIFIED_SINCE" in environ
        or "HTTP_TRANSFER_ENCODING" in environ
    ):
        return False
    seen = asked("HTTP_IF_NONE_MATCH")
    return seen is None or _is_one_tag(seen)


def _is_one_tag(seen: str) -> bool:
    return seen.count('"') == 2 and seen.startswith(('"', 'W/"')) and seen.endswith('"')


def _without_entity(head: Head) -> Head:
    kept = Headers([(name, value) for name, value in head if name.lower() not in OF_ONE_ANSWER])
    remove_entity_headers(kept)
    return kept.to_wsgi_list()


def _answer_of(app: "WSGIApplication", environ: "WSGIEnvironment") -> Answer:
    """An application's whole answer, read to its end."""
    said: list[Any] = []

    def start(
        status: str, head: list[tuple[str, str]], _exc_info: Any = None
    ) -> Callable[[bytes], object]:
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


class PollSessions(SecureCookieSessionInterface):
    """The session of a remembered poll is empty, and nobody reads it: its sign-in stands in the
    environ.
    """

    def __init__(self, memory: PollMemory) -> None:
        self._memory = memory

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if (
            request.method == "GET"
            and request.path.startswith(START)
            and request.path.endswith(TAIL)
        ):
            viewer = self._memory.who(request.environ.get("HTTP_COOKIE"))
            if viewer is not None:
                request.environ[KNOWN] = viewer.known
                return self.session_class()
        return super().open_session(app, request)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """An empty session that was empty before needs no word but that it was looked at."""
        if session or session.modified:
            super().save_session(app, session, response)
        elif session.accessed and response.headers.get("Vary") != "Cookie":
            response.vary.add("Cookie")
