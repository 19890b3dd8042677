"""What views share: the extensions, and the services that create_app() built. Views reach both only through here."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from flask import current_app
from flask_babel import Babel
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager
from flask_wtf import CSRFProtect

if TYPE_CHECKING:
    from ridedash.config import Settings
    from ridedash.observing.metrics import Metrics
    from ridedash.places import Geocoder
    from ridedash.rides.accounts import AccountTokens
    from ridedash.service.client import RideClient
    from ridedash.service.oauth import OAuthClient
    from ridedash.store.crypto import TokenVault
    from ridedash.store.db import Database
    from ridedash.views.poll_memory import PollMemory

csrf = CSRFProtect()
login_manager = LoginManager()
limiter = Limiter(get_remote_address, headers_enabled=False)
babel = Babel()

Clock = Callable[[], datetime]


@dataclass
class Services:
    """Everything a page may use, made once by create_app()."""

    settings: "Settings"
    db: "Database"
    client: "RideClient"
    oauth: "OAuthClient"
    tokens: "AccountTokens"
    vault: "TokenVault"
    geocoder: "Geocoder"
    clock: Clock
    metrics: "Metrics"
    wake: Callable[[], None]  # rings after an order became READY; an embedded worker puts itself here
    polls: "PollMemory | None" = None  # what pages remember between polls; none: nothing


def services() -> Services:
    """The services of the app that handles this request."""
    return cast(Services, current_app.extensions["ridedash"])
