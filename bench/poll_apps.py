"""The applications of the poll benches: the dashboard, and plain Flask routes."""

import os
from pathlib import Path

from flask import Flask, Response, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.factory import create_app


def ours() -> Flask:
    """The dashboard as it is."""
    return create_app()


def bare() -> Flask:
    """Constant bytes or 304, from routes without sign-in.

    Flask verifies the session cookie, as always; without a cookie it is a third faster.
    """
    app = Flask(__name__)
    app.config.update(SECRET_KEY=os.environ["BENCH_SECRET"], SESSION_COOKIE_NAME="ridedash_sid")
    body = Path(os.environ["BENCH_BODY"]).read_bytes()

    @app.get("/rides/<int:order_id>/snapshot.json")
    def snapshot(order_id: int) -> Response:  # noqa: ARG001
        return Response(body, mimetype="application/json")

    def unchanged() -> BaseResponse:
        answer = Response(body, mimetype="application/json")
        # as if the client always knew the current version
        answer.headers["ETag"] = request.headers.get("If-None-Match", '"x"')
        return answer.make_conditional(request)

    @app.get("/t/<token>/snapshot.json")
    def link(token: str) -> BaseResponse:  # noqa: ARG001
        return unchanged()

    @app.get("/board.json")
    def board() -> BaseResponse:
        return unchanged()

    return app
