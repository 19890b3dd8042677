"""What the poll benches serve: the dashboard, the dashboard without its layer, and the plainest
Flask route.
"""

import os
from pathlib import Path

from flask import Flask, Response

from ridedash.factory import create_app


def ours() -> Flask:
    """The dashboard as it is."""
    return create_app()


def inside_flask() -> Flask:
    """The dashboard without the layer before Flask; what is remembered stays."""
    app = create_app()
    app.wsgi_app = app.wsgi_app.app  # type: ignore[attr-defined]
    return app


def bare() -> Flask:
    """Ready bytes from a route that asks nobody anything.

    Flask verifies the session's cookie, as it always does.
    """
    app = Flask(__name__)
    app.config.update(SECRET_KEY=os.environ["BENCH_SECRET"], SESSION_COOKIE_NAME="ridedash_sid")
    body = Path(os.environ["BENCH_BODY"]).read_bytes()

    @app.get("/rides/<int:order_id>/snapshot.json")
    def snapshot(order_id: int) -> Response:  # noqa: ARG001
        return Response(body, mimetype="application/json")

    return app
