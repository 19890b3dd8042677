"""Faults ordered by control: what goes wrong with the next calls of an operation.

Only a sandbox has them.
"""

import contextlib
import socket
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from flask import Response, jsonify

from ridedash import wire
from ridedash.sandbox.request_parsing import Refusal
from ridedash.sandbox.store import Known, Store

DELAY: Final = "delay"  # answers after `seconds` of the wall's time
HTTP_500: Final = "http_500"  # fails before anything is done
CUT_BEFORE: Final = "cut_before"  # the connection breaks before anything is done
CUT_AFTER: Final = "cut_after"  # it is done, but the connection breaks before the answer
HTML: Final = "html"  # it is done, but a web page answers
RATE_LIMIT: Final = "rate_limit"  # HTTP 429 before anything is done, Retry-After `seconds`
FAULTS: Final = (DELAY, HTTP_500, CUT_BEFORE, CUT_AFTER, HTML, RATE_LIMIT)
OPERATIONS: Final = (
    *(
        "create",
        "abort",
        "cancel",
        "drop_location",
        "track_ride",
        "products",
        "feedback",
        "feedback_options",
    ),
)
ANY: Final = "*"
HTML_PAGE: Final = "<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>"


class Fault(NamedTuple):
    """One fault to be played now."""

    name: str
    seconds: float


def order(store: Store, operation: str, fault: str, times: int, seconds: float) -> None:
    """Let the next `times` calls of an operation (or of any, `*`) go wrong."""
    with store.write() as connection:
        connection.execute(
            "INSERT INTO faults (operation, fault, left, seconds) VALUES (?, ?, ?, ?)",
            (operation, fault, times, seconds),
        )


def take(store: Store, known: Known, operation: str) -> Fault | None:
    """The fault for this call, used up once; None for a call that goes well."""
    if (
        known.get(
            "faults",
            lambda connection: connection.execute("SELECT 1 FROM faults LIMIT 1").fetchone(),
        )
        is None
    ):
        return None
    with store.write() as connection:
        row = connection.execute(
            "SELECT * FROM faults WHERE operation IN (?, '*') ORDER BY id LIMIT 1", (operation,)
        ).fetchone()
        if row is None:
            return None
        connection.execute("UPDATE faults SET left = left - 1 WHERE id = ?", (row["id"],))
        connection.execute("DELETE FROM faults WHERE left <= 0")
        return Fault(row["fault"], row["seconds"])


def before(fault: Fault | None, environ: Mapping[str, Any]) -> Response | None:
    """Play what comes before the operation: an answer that ends the call, or None to go on."""
    if fault is None:
        return None
    if fault.name == DELAY:
        time.sleep(fault.seconds)
    if fault.name == HTTP_500:
        raise Refusal(500, {"message": "Internal server error"})
    if fault.name == RATE_LIMIT:
        body = {"status": wire.FAILURE, "code": wire.RATE_LIMIT, "message": "Too many requests"}
        raise Refusal(429, body, {"Retry-After": str(round(fault.seconds))})
    return cut(environ) if fault.name == CUT_BEFORE else None


def after(fault: Fault | None, answer: Response, environ: Mapping[str, Any]) -> Response:
    """Play what comes after the operation was done: another answer, or none."""
    if fault is not None and fault.name == CUT_AFTER:
        return cut(environ)
    if fault is not None and fault.name == HTML:
        return Response(HTML_PAGE, mimetype="text/html")
    return answer


def cut(environ: Mapping[str, Any]) -> Response:
    """Break the connection of a request: the client reads the end of the stream before any byte of
    an answer.

    What is returned is for the server to write into the closed socket. A server that shows no
    socket sends the head of an answer whose body never comes, which is as unreadable.
    """
    connection = _connection(environ)
    if connection is not None:
        with contextlib.suppress(OSError):  # the client was faster
            connection.shutdown(socket.SHUT_RDWR)
        return jsonify({})
    answer = jsonify({})
    answer.automatically_set_content_length = False
    answer.headers["Content-Length"] = "1000"
    return answer


def _connection(environ: Mapping[str, Any]) -> socket.socket | None:
    """The socket of a request, under werkzeug, gunicorn or waitress (through the channel that
    serves it).
    """
    found = environ.get("werkzeug.socket") or environ.get("gunicorn.socket")
    channel = getattr(environ.get("waitress.client_disconnected"), "__self__", None)
    found = found or getattr(channel, "socket", None)
    return found if isinstance(found, socket.socket) else None
