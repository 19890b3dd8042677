"""The sandbox as a Flask application: a table of contents."""

import logging

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from ridedash import wire
from ridedash.sandbox.api import control, operations
from ridedash.sandbox.oauth import server as oauth
from ridedash.sandbox.request_parsing import Refusal
from ridedash.sandbox.settings import SandboxSettings
from ridedash.sandbox.tiles import server as tiles
from ridedash.sandbox.world import World

log = logging.getLogger(__name__)


def create_sandbox(settings: SandboxSettings) -> Flask:
    """The ride booking service as a WSGI application, on the database file of the settings.

    Serves the eight operations of docs/service-interface.md, `/oauth/authorize`, `/oauth/token` and
    `/oauth/revoke`, beside them `/places`, `/city.json` and `/tiles/…`, and `/control/…` when the
    settings allow it.
    `app.extensions["sandbox"].close()` closes the database.
    """
    app = Flask(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of Flask's default provider
    app.extensions["sandbox"] = World(settings)
    for blueprint in (operations.bp, oauth.bp, tiles.bp):
        app.register_blueprint(blueprint)
    if settings.control:
        app.register_blueprint(control.bp)
    app.register_error_handler(Refusal, operations.refused)
    app.register_error_handler(HTTPException, _http_failure)
    app.register_error_handler(Exception, _failure)
    return app


def _http_failure(error: HTTPException) -> Response:
    """Whatever Flask itself refuses (no such path, wrong method) is JSON too."""
    body = {
        "status": wire.FAILURE,
        "code": error.name.upper().replace(" ", "_"),
        "message": error.name,
    }
    return operations.refused(Refusal(error.code or 500, body))


def _failure(error: Exception) -> Response:
    """A fault of the sandbox's own: logged here, never shown."""
    log.error("a request failed", exc_info=error)
    return operations.refused(Refusal(500, {"message": "Internal server error"}))
