"""create_app(): puts the dashboard together from its parts."""

import os
from collections.abc import Mapping
from pathlib import Path

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from ridedash import config, extensions
from ridedash.forms.phones import grouped, kind_of, tel
from ridedash.services import build_services, redis_trust
from ridedash.store.database.database import Clock
from ridedash.views import registry
from ridedash.views.ops import file_server, static_files
from ridedash.views.poll_cache.cache import EXTENSION, PollCache
from ridedash.views.poll_cache.middleware import PollMiddleware
from ridedash.views.web import (
    compression,
    errors,
    limit_counts,
    permissions,
    request_checks,
    request_log,
    responses,
    security_headers,
)
from ridedash.wording import catalogues, offered
from ridedash.wording.counts import count_forms
from ridedash.wording.say import install_words

REDIS_S = 0.5  # a Redis that takes longer is treated as away


def create_app(environ: Mapping[str, str] | None = None, clock: Clock | None = None) -> Flask:
    """The dashboard as a WSGI app.

    `environ` holds `RIDEDASH_*` settings (default: the environment).

    Starts nothing and migrates nothing: `ridedash up` does. Raises what config.load() raises.
    """
    settings = config.load(os.environ if environ is None else environ)
    app = Flask(__name__, template_folder=str(_folder("templates")), static_folder=None)
    app.config.from_mapping(_flask_settings(settings))
    app.extensions["ridedash"] = build_services(settings, clock)
    request_log.init_app(app)
    request_checks.init_app(app)  # before the CSRF token is read
    _init_extensions(app, settings)
    security_headers.init_app(app, settings)
    compression.init_app(app)
    errors.init_app(app)
    app.jinja_env.add_extension(responses.NoIndentation)
    app.jinja_env.filters |= {"tel": tel, "grouped": grouped, "phone_kind": kind_of}
    permissions.init_app(app)
    registry.init_app(app)
    if settings.demo:
        from ridedash.demo import pages as director  # live mode does not load it

        director.init_app(app)
    files = static_files.read(_folder("static"), demo=settings.demo)
    static_files.init_app(app, files)
    file_server.init_app(app, files, security_headers.of_files(settings))
    if settings.poll_layer:
        _answer_polls_from_the_cache(app)
    if settings.trusted_proxies:
        n = settings.trusted_proxies
        outermost = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n)
        app.wsgi_app = outermost  # type: ignore[method-assign]
    return app


def _answer_polls_from_the_cache(app: Flask) -> None:
    """Put the poll cache before Flask, and behind ProxyFix, which is added after it."""
    services: extensions.Services = app.extensions["ridedash"]
    cache = app.extensions[EXTENSION] = PollCache(
        services.db, turned=lambda: services.time().turned_at
    )
    middleware = PollMiddleware(app.wsgi_app, cache, services.clock, services.metrics.remembered)
    app.wsgi_app = middleware  # type: ignore[method-assign,assignment]


def _flask_settings(settings: config.Settings) -> dict[str, object]:
    return {
        "SECRET_KEY": settings.secret_key,
        "SESSION_COOKIE_NAME": "ridedash_sid" if settings.demo else "__Host-sid",
        "SESSION_COOKIE_SECURE": not settings.demo,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        # a desk tab stays open all day: with a limit of an hour, bookings from it would fail
        "WTF_CSRF_TIME_LIMIT": None,
        "MAX_CONTENT_LENGTH": 256 * 1024,
        "MAX_FORM_MEMORY_SIZE": 100 * 1024,
        "MAX_FORM_PARTS": 100,
        "TRUSTED_HOSTS": list(settings.trusted_hosts),
        **_limits(settings.redis_url, settings.ca_file),
    }


def _limits(redis_url: str | None, ca_file: str) -> dict[str, object]:
    """The settings of the storage in which rate limits are counted.

    Without its Redis each process counts for itself until Redis is back; no page fails.
    """
    if redis_url is None:
        return {"RATELIMIT_STORAGE_URI": f"{limit_counts.SCHEME}://"}
    options: dict[str, object] = {
        "socket_connect_timeout": REDIS_S,
        "socket_timeout": REDIS_S,
        **redis_trust(redis_url, ca_file),
    }
    return {
        "RATELIMIT_STORAGE_URI": redis_url,
        "RATELIMIT_STORAGE_OPTIONS": options,
        "RATELIMIT_IN_MEMORY_FALLBACK_ENABLED": True,
        "RATELIMIT_SWALLOW_ERRORS": True,
    }


def _init_extensions(app: Flask, settings: config.Settings) -> None:
    extensions.csrf.init_app(app)
    extensions.login_manager.init_app(app)
    # no hooks on every request: views that have a limit check it themselves
    app.extensions["limiter"] = {extensions.limiter}
    extensions.limiter.init_app(app)
    words = catalogues.prepare(_folder("translations"), settings.instance / "translations")
    extensions.babel.init_app(
        app,
        locale_selector=extensions.language,
        default_translation_directories=";".join(map(str, words)),
    )
    install_words(app.jinja_env)
    app.jinja_env.globals["count_forms"] = count_forms
    app.extensions[extensions.OFFERED] = offered.read(words, _folder("translations"))


def _folder(name: str) -> Path:
    """The folder: inside the package when installed from a wheel, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / name
    if inside.is_dir():
        return inside
    return package.parent / name
