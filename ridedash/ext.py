"""What views share: the extensions, and the services that create_app() built. Views reach both only through here."""

from typing import cast

from flask import current_app
from flask_babel import Babel
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager
from flask_wtf import CSRFProtect

from ridedash.building import Clock, Services

__all__ = ["Clock", "Services", "babel", "csrf", "limiter", "login_manager", "services"]

csrf = CSRFProtect()
login_manager = LoginManager()
limiter = Limiter(get_remote_address, headers_enabled=False)
babel = Babel()


def services() -> Services:
    """The services of the app that handles this request."""
    return cast(Services, current_app.extensions["ridedash"])
