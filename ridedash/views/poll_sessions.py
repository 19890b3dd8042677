"""Flask's signed sessions, but a poll whose cookie was verified a moment ago is not verified again."""

from collections.abc import Callable
from datetime import datetime

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from ridedash.views.poll_memory import KNOWN, PollMemory


class PollSessions(SecureCookieSessionInterface):
    """The session of a remembered poll is empty, and nobody reads it: its sign-in stands in the environ."""

    def __init__(self, memory: PollMemory, clock: Callable[[], datetime]) -> None:
        self._memory, self._clock = memory, clock

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if request.method == "GET" and request.path.endswith("/snapshot.json"):
            known = self._memory.who(request.environ.get("HTTP_COOKIE"), self._clock())
            if known is not None:
                request.environ[KNOWN] = known
                return self.session_class()
        return super().open_session(app, request)
