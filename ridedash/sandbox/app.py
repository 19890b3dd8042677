"""The sandbox as a Flask application: a table of contents."""

from flask import Flask

from ridedash.sandbox.settings import SandboxSettings


def create_sandbox(settings: SandboxSettings) -> Flask:
    """The ride booking service as a WSGI application, on the database file of the settings.

    Serves the eight operations of the interface document, `/oauth/authorize`, `/oauth/token` and `/oauth/revoke`,
    beside it `/places`, `/city.json` and `/tiles/…`, and `/control/…` when the settings allow it.
    `app.extensions["sandbox"].close()` closes the database.
    """
    raise NotImplementedError
