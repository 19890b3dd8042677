"""Bare Flask: one route that answers, without sign-in or database."""

import os

from flask import Flask, Response, jsonify

# environment variables: the file whose bytes are the answer, and its media type
BODY, TYPE = "BENCH_BODY", "BENCH_TYPE"


def ready_bytes() -> Flask:
    """An application that answers every path with the bytes of one file."""
    app = Flask(__name__)
    with open(os.environ[BODY], "rb") as file:
        body = file.read()

    @app.get("/<path:_path>")
    def answer(_path: str) -> Response:
        return Response(body, mimetype=os.environ.get(TYPE, "application/json"))

    return app


def as_json() -> Flask:
    """An application that answers every path with one object, serialised for each request."""
    app = Flask(__name__)
    with open(os.environ[BODY], "rb") as file:
        body = app.json.loads(file.read())

    @app.get("/<path:_path>")
    def answer(_path: str) -> Response:
        return jsonify(body)

    return app
