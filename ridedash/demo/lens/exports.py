"""The calls of a ride as files: HAR 1.2, lines of curl, and an event log. Pure; no secrets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from ridedash.__about__ import __version__
from ridedash.demo.lens.code import curl
from ridedash.demo.lens.operations import query_of
from ridedash.demo.lens.store import RecordedCall, Side
from ridedash.service_time import ServiceTime

HTTP: Final = "HTTP/1.1"
_PHRASES: Final = {each.value: each.phrase for each in HTTPStatus}


@dataclass(frozen=True)
class Origin:
    """Where the calls come from; `title` names the demo, the ride, the story and its seed.

    `conclusions` has what the program concluded from each call, by the call's number.
    """

    title: str
    base_url: str
    time: ServiceTime
    conclusions: Mapping[int, str] = field(default_factory=dict)


def har(calls: Sequence[RecordedCall], origin: Origin) -> str:
    """An HTTP archive. Of equal polls in a row it contains the first and the last."""
    entries = [entry for call in calls for entry in _entries(call, origin)]
    log = {
        "version": "1.2",
        "creator": {"name": "ridedash", "version": __version__},
        "comment": origin.title,
        "pages": [],
        "entries": entries,
    }
    return json.dumps({"log": log}, ensure_ascii=False, indent=1)


def script(calls: Sequence[RecordedCall], origin: Origin) -> str:
    """A shell script. Calls that change something are comments, so that nothing is done twice.

    It calls the address in BASE: whoever gets the script has another one than this machine's.
    """
    lines = [
        "#!/bin/sh",
        f"# {origin.title}",
        "# Set APP_TOKEN and USER_TOKEN first, and BASE to the address of your interface.",
        "# Lines that change something are comments.",
        f': "${{APP_TOKEN:?}} ${{USER_TOKEN:?}} ${{BASE:={origin.base_url}}}"',
    ]
    for call in calls:
        at = origin.time.shown(call.began).isoformat(timespec="seconds")
        again = f" ×{call.same}" if call.same > 1 else ""
        lines += ["", f"# {at} {call.operation} {_status_and_result(call)}{again}"]
        if conclusion := origin.conclusions.get(call.number):
            lines.append(f"# {conclusion}")
        line = curl(call)
        if call.method != "GET":
            line = "# " + line.replace("\n", " ")
        lines.append(line)
    return "\n".join(lines) + "\n"


def events(calls: Sequence[RecordedCall], origin: Origin) -> str:
    """One JSON object a line: first the origin of the file, then each call."""
    lines: list[dict[str, Any]] = [{"demo": origin.title}]
    for call in calls:
        lines.append(
            {
                "number": call.number,
                "wall": call.began.isoformat(),
                "service": origin.time.shown(call.began).isoformat(),
                "last_wall": call.ended.isoformat(),
                "operation": call.operation,
                "path": call.path,
                "status": call.status,
                "outcome": call.outcome,
                "result": call.result,
                "made": origin.conclusions.get(call.number, ""),
                "ms": call.ms,
                "same": call.same,
                "cause": call.cause,
            }
        )
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines)


def query_pairs(call: RecordedCall) -> dict[str, str]:
    """The query of a call, by the names of its parameters."""
    return dict(parse_qsl(query_of(call.path)))


def _status_and_result(call: RecordedCall) -> str:
    return " ".join(str(each) for each in (call.status or "", call.result) if each)


def _entries(call: RecordedCall, origin: Origin) -> list[dict[str, Any]]:
    if call.first is None:
        return [_entry(call, call.answer, call.began, _first_timings(call), origin)]
    # of the last poll only its whole time is stored
    last = {"send": 0, "wait": call.ms, "receive": 0}
    began = call.ended - timedelta(milliseconds=call.ms)
    return [
        _entry(call, call.first, call.began, _first_timings(call), origin),
        _entry(call, call.answer, began, last, origin),
    ]


def _first_timings(call: RecordedCall) -> dict[str, float]:
    after_wait = max(0.0, call.first_ms - call.waited_ms)
    first_byte = after_wait if call.first_byte_ms is None else call.first_byte_ms
    return {
        "blocked": call.waited_ms,
        "send": 0,
        "wait": first_byte,
        "receive": round(max(0.0, after_wait - first_byte), 2),
    }


def _entry(
    call: RecordedCall, answer: Side, began: datetime, timings: dict[str, float], origin: Origin
) -> dict[str, Any]:
    same = f", the same ×{call.same}" if call.same > 1 else ""
    conclusion = origin.conclusions.get(call.number, "")
    return {
        "startedDateTime": began.isoformat(),
        "time": round(sum(timings.values()), 2),  # HAR 1.2 asks for the sum
        "request": _request(call, origin),
        "response": _response(call, answer),
        "cache": {},
        "timings": timings,
        "comment": f"{call.operation}: {call.result}{same}. {conclusion} {call.cause}".strip(),
    }


def _request(call: RecordedCall, origin: Origin) -> dict[str, Any]:
    request: dict[str, Any] = {
        "method": call.method,
        "url": origin.base_url + call.path,
        "httpVersion": HTTP,
        "cookies": [],
        "headers": _pairs(call.request.headers.items()),
        "queryString": _pairs(parse_qsl(query_of(call.path))),
        "headersSize": -1,
        "bodySize": len(call.request.body.encode()),
    }
    if call.request.body:
        request["postData"] = {"mimeType": "application/json", "text": call.request.body}
    return request


def _response(call: RecordedCall, answer: Side) -> dict[str, Any]:
    status = call.status or 0
    return {
        "status": status,
        "statusText": _PHRASES.get(status, ""),
        "httpVersion": HTTP,
        "cookies": [],
        "headers": _pairs(answer.headers.items()),
        "content": {
            "size": call.size,
            "mimeType": answer.headers.get("content-type", "application/json"),
            "text": answer.body,
        },
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": call.size,
        "comment": call.failure,
    }


def _pairs(values: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values]
