"""Flask's signed sessions, but a poll whose cookie was verified a moment ago is not verified again."""

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from ridedash.views.poll_layer import START, TAIL
from ridedash.views.poll_memory import KNOWN, PollMemory


class PollSessions(SecureCookieSessionInterface):
    """The session of a remembered poll is empty, and nobody reads it: its sign-in stands in the environ."""

    def __init__(self, memory: PollMemory) -> None:
        self._memory = memory

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if request.method == "GET" and request.path.startswith(START) and request.path.endswith(TAIL):
            viewer = self._memory.who(request.environ.get("HTTP_COOKIE"))
            if viewer is not None:
                request.environ[KNOWN] = viewer.known
                return self.session_class()
        return super().open_session(app, request)
