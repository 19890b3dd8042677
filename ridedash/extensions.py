"""The Flask extensions, and `services()`, by which views get what create_app() built."""

from typing import cast

from flask import current_app, request
from flask_babel import Babel
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager
from flask_wtf import CSRFProtect

from ridedash.rides.runtime import Clock
from ridedash.services import Services

__all__ = ["Clock", "Services", "babel", "csrf", "language", "limiter", "login_manager", "services"]


class SignIns(LoginManager):  # type: ignore[misc] # flask_login ships no types
    """Flask-Login with the request loader alone: no remember cookie, no browser fingerprint."""

    def _load_user(self) -> None:
        self._update_request_context_with_user(self._load_user_from_request(request))


csrf = CSRFProtect()
login_manager = SignIns()
limiter = Limiter(get_remote_address, headers_enabled=False)
babel = Babel()


def language() -> str:
    """The language of this answer, also for Babel. English is the only one so far."""
    return "en"


def services() -> Services:
    """The services of the app that handles this request."""
    return cast(Services, current_app.extensions["ridedash"])
