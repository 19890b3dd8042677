"""Builds the Flask application of the sandbox."""

import logging

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from ridedash import wire
from ridedash.sandbox.api import control, operations
from ridedash.sandbox.oauth import server as oauth
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.services import SandboxServices
from ridedash.sandbox.settings import SandboxSettings
from ridedash.sandbox.tiles import photon
from ridedash.sandbox.tiles import server as tiles

log = logging.getLogger(__name__)


def create_sandbox(settings: SandboxSettings) -> Flask:
    """Create the ride booking service as a WSGI application on the settings' database file.

    The application serves the eight operations of docs/service-interface.md, `/oauth/authorize`,
    `/oauth/token`, `/oauth/revoke`, `/places`, `/city.json` and `/tiles/…`; also `/api` and
    `/reverse` as a Photon server does, and `/control/…` if the settings allow it.
    `app.extensions["sandbox"].close()` closes the database.
    """
    app = Flask(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of Flask's default provider
    app.extensions["sandbox"] = SandboxServices(settings)
    for blueprint in (operations.bp, oauth.bp, tiles.bp, photon.bp):
        app.register_blueprint(blueprint)
    if settings.control:
        app.register_blueprint(control.bp)
    app.register_error_handler(RequestRefusal, operations.refused)
    app.register_error_handler(HTTPException, _http_failure)
    app.register_error_handler(Exception, _failure)
    return app


def _http_failure(error: HTTPException) -> Response:
    """Answer an error of Flask itself (unknown path, wrong method) with JSON too."""
    body = {
        "status": wire.FAILURE,
        "code": error.name.upper().replace(" ", "_"),
        "message": error.name,
    }
    return operations.refused(RequestRefusal(error.code or 500, body))


def _failure(error: Exception) -> Response:
    """Log an error of the sandbox itself, and answer without its details."""
    log.error("a request failed", exc_info=error)
    return operations.refused(RequestRefusal(500, {"message": "Internal server error"}))
