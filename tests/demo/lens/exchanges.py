"""Calls as the service's client gives them to a recorder."""

import json
from datetime import UTC, datetime
from typing import Any

from ridedash.demo.lens.recorder import LensRecorder
from ridedash.demo.lens.store import LensFile
from ridedash.service.hooks import Exchange, NoHooks
from ridedash.service.transport.http import Answer, Request

NOW = datetime(2026, 3, 5, 12, 10, tzinfo=UTC)
KEY, TOKEN = "partner-key-0123456789abcdefghij", "user-token-0123456789"
TRACK, CREATE = "/v1/bookings/track_ride", "/v1.5/bookings/create"


def exchange(path: str = TRACK, body: Any = None, **more: Any) -> Exchange:
    """A call that was answered with a body: bytes, or a value that becomes JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    post = "json" in more
    request = Request(
        "POST" if post else "GET",
        f"http://127.0.0.1:8001{path}",
        5,
        headers={"X-APP-TOKEN": KEY, "Authorization": f"Bearer {TOKEN}"},
        params=more.get("params"),
        json=more.get("json"),
        secrets=(KEY, TOKEN),
    )
    answer = Answer(more.get("status", 200), more.get("headers", {}), raw)
    failure = more.get("failure", "")
    return Exchange(
        operation=path,
        request=request,
        answer=None if failure else answer,
        failure=failure,
        evidence="",
        outcome=more.get("outcome", "2xx"),
        lane="rest",
        waited_s=0.0,
        first_byte_s=None if failure else 0.01,
        total_s=more.get("total_s", 0.011),
    )


def poll(booking_id: str = "CRN1", status: str = "CALL_DRIVER", **more: Any) -> Exchange:
    """A poll of a ride."""
    body = {"status": "SUCCESS", "booking_id": booking_id, "booking_status": status} | more
    return exchange(TRACK, body, params={"booking_id": booking_id})


class SteppingClock:
    """A clock that advances by a second each time it is read."""

    def __init__(self) -> None:
        self.now = NOW.timestamp()

    def __call__(self) -> datetime:
        self.now += 1
        return datetime.fromtimestamp(self.now, UTC)


def recorder(folder: Any) -> LensRecorder:
    """A recorder with a file in a folder."""
    return LensRecorder(NoHooks(), LensFile(folder), SteppingClock())
