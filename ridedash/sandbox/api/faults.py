"""Faults that are set through the control API, injected into the next calls of an operation."""

import contextlib
import socket
import sqlite3
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from flask import Response, jsonify

from ridedash import wire
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.store import ReadCache, Store

DELAY: Final = "delay"  # the operation runs after `seconds` of wall time
HTTP_500: Final = "http_500"  # the call fails before the operation runs
CUT_BEFORE: Final = "cut_before"  # the connection breaks before the operation runs
CUT_AFTER: Final = "cut_after"  # the operation runs, but the connection breaks before the answer
HTML: Final = "html"  # the operation runs, but the answer is a web page
RATE_LIMIT: Final = "rate_limit"  # HTTP 429 before the operation runs, Retry-After `seconds`
DOWN: Final = "down"  # for `seconds` of wall time every connection breaks before the operation runs
FAULTS: Final = (DELAY, HTTP_500, CUT_BEFORE, CUT_AFTER, HTML, RATE_LIMIT, DOWN)
OPERATIONS: Final = (
    "create",
    "abort",
    "cancel",
    "drop_location",
    "track_ride",
    "products",
    "feedback",
    "feedback_options",
)
ANY: Final = "*"
HTML_PAGE: Final = "<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>"


class InjectedFault(NamedTuple):
    """One fault to inject now."""

    name: str
    seconds: float


def order(store: Store, operation: str, fault: str, times: int, seconds: float) -> None:
    """Set a fault for the next `times` calls of an operation, or of any operation (`*`)."""
    with store.write() as connection:
        connection.execute(
            "INSERT INTO faults (operation, fault, left, seconds) VALUES (?, ?, ?, ?)",
            (operation, fault, times, seconds),
        )


def begin_outage(store: Store, operation: str, until: float) -> None:
    """Take an operation down, or all (`*`), until a wall time; a past time ends the outage."""
    with store.write() as connection:
        connection.execute(
            "REPLACE INTO outages (operation, until) VALUES (?, ?)", (operation, until)
        )


def next_fault(store: Store, cache: ReadCache, operation: str, wall: float) -> InjectedFault | None:
    """The fault of this call: an outage, else the oldest one set for its operation or for all.

    Outages last for a time. Each other fault counts its calls, and is deleted after the last one.
    """
    outages = cache.get("outages", _outages)
    if outages and wall < max(outages.get(operation, 0.0), outages.get(ANY, 0.0)):
        return InjectedFault(DOWN, 0.0)
    if cache.get("faults", _any_fault) is None:
        return None
    with store.write() as connection:
        row = connection.execute(
            "SELECT * FROM faults WHERE operation IN (?, '*') ORDER BY id LIMIT 1", (operation,)
        ).fetchone()
        if row is None:
            return None
        connection.execute("UPDATE faults SET left = left - 1 WHERE id = ?", (row["id"],))
        connection.execute("DELETE FROM faults WHERE left <= 0")
        return InjectedFault(row["fault"], row["seconds"])


def _outages(connection: sqlite3.Connection) -> dict[str, float]:
    return dict(connection.execute("SELECT operation, until FROM outages").fetchall())


def _any_fault(connection: sqlite3.Connection) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("SELECT 1 FROM faults LIMIT 1").fetchone()
    return row


def before(fault: InjectedFault | None, environ: Mapping[str, Any]) -> Response | None:
    """Inject a fault before the operation: an answer that ends the call, or None to continue."""
    if fault is None:
        return None
    if fault.name == DELAY:
        time.sleep(fault.seconds)
    if fault.name == HTTP_500:
        raise RequestRefusal(500, {"message": "Internal server error"})
    if fault.name == RATE_LIMIT:
        body = {"status": wire.FAILURE, "code": wire.RATE_LIMIT, "message": "Too many requests"}
        raise RequestRefusal(429, body, {"Retry-After": str(round(fault.seconds))})
    if fault.name in (CUT_BEFORE, DOWN):
        return cut(environ)
    return None


def after(fault: InjectedFault | None, answer: Response, environ: Mapping[str, Any]) -> Response:
    """Inject a fault after the operation: another answer, or the given one."""
    if fault is not None and fault.name == CUT_AFTER:
        return cut(environ)
    if fault is not None and fault.name == HTML:
        return Response(HTML_PAGE, mimetype="text/html")
    return answer


def cut(environ: Mapping[str, Any]) -> Response:
    """Break the connection of a request before any byte of an answer.

    The server writes the returned response into the closed socket. A server that does not expose
    its socket sends the headers of a response without its body, which is just as unreadable.
    """
    connection = _connection(environ)
    if connection is not None:
        with contextlib.suppress(OSError):  # the client closed it first
            connection.shutdown(socket.SHUT_RDWR)
        return jsonify({})
    answer = jsonify({})
    answer.automatically_set_content_length = False
    answer.headers["Content-Length"] = "1000"
    return answer


def _connection(environ: Mapping[str, Any]) -> socket.socket | None:
    """The socket of a request under werkzeug, gunicorn or waitress, or None elsewhere."""
    found = environ.get("werkzeug.socket") or environ.get("gunicorn.socket")
    channel = getattr(environ.get("waitress.client_disconnected"), "__self__", None)
    found = found or getattr(channel, "socket", None)
    if not isinstance(found, socket.socket):
        return None
    return found
