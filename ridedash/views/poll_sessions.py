"""Flask's signed sessions, but a poll whose cookie was verified a moment ago is not verified again."""

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin

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

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """An empty session that was empty before needs no word but that it was looked at."""
        if session or session.modified:
            super().save_session(app, session, response)
        elif session.accessed and response.headers.get("Vary") != "Cookie":
            response.vary.add("Cookie")
