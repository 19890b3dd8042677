"""Strict parsing of requests: every error becomes a RequestRefusal with a JSON body."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge

from ridedash import wire
from ridedash.geo import LatLng, is_valid

BODY_LIMIT: Final = 32 * 1024
TEXT_LIMIT: Final = 2000
BAD_REQUEST: Final = "BAD_REQUEST"
MERCHANT_TXN_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")


class RequestRefusal(Exception):
    """Ends the request with an HTTP status and `body` as JSON."""

    def __init__(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(str(body.get("message", status)))
        self.status = status
        self.body = dict(body)
        self.headers = dict(headers or {})


def bad_request(message: str, status: int = 400) -> RequestRefusal:
    """A RequestRefusal for a malformed request."""
    return RequestRefusal(status, {"status": wire.FAILURE, "code": BAD_REQUEST, "message": message})


def json_body(request: Request, *, typed: bool = False) -> dict[str, Any]:
    """The JSON object of a request.

    `typed`: the operation requires `Content-Type: application/json`.
    """
    if typed and request.mimetype != "application/json":
        raise bad_request("Content-Type must be application/json", 415)
    request.max_content_length = BODY_LIMIT
    try:
        body = json.loads(request.get_data(cache=False), parse_constant=_no_constant)
    except RequestEntityTooLarge:
        raise bad_request("The body is too large", 413) from None
    except (ValueError, RecursionError):
        raise bad_request("The body is not valid JSON") from None
    if not isinstance(body, dict):
        raise bad_request("The body must be a JSON object")
    return body


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def text(body: Mapping[str, Any], name: str) -> str:
    """A required, non-empty string."""
    value = optional_text(body, name)
    if not value:
        raise bad_request(f"{name} is required")
    return value


def optional_text(body: Mapping[str, Any], name: str) -> str | None:
    """A string, or None when absent or null."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise bad_request(f"{name} must be a string")
    if len(value) > TEXT_LIMIT:
        raise bad_request(f"{name} is too long")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise bad_request(f"{name} is not valid text")
    return value


def merchant_txn_id(body: Mapping[str, Any]) -> str | None:
    """`merchant_txn_id`: letters, digits and hyphens (docs/service-interface.md Limits, 3)."""
    value = optional_text(body, "merchant_txn_id")
    if value is not None and not MERCHANT_TXN_ID.fullmatch(value):
        raise bad_request(
            "merchant_txn_id may hold A-Z, a-z, 0-9 and the hyphen, at most 64 of them"
        )
    return value


def flag(body: Mapping[str, Any], name: str) -> bool:
    """A boolean; absent or null is false."""
    value = body.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise bad_request(f"{name} must be a boolean")
    return value


def whole(body: Mapping[str, Any], name: str, allowed: range) -> int:
    """A required integer within a range; a number as text is refused."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise bad_request(f"{name} must be an integer from {allowed.start} to {allowed.stop - 1}")
    return value


def seats(body: Mapping[str, Any]) -> int:
    """`seats`: 1 or 2, as a number or as text; 1 when absent."""
    value = body.get("seats")
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | str) or str(value) not in {"1", "2"}:
        raise bad_request("seats must be 1 or 2")
    return int(value)


def number(body: Mapping[str, Any], name: str) -> float | None:
    """A JSON number, or None when absent or null."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_request(f"{name} must be a number")
    if isinstance(value, int) and abs(value) > 1000:
        raise bad_request(f"{name} is out of range")
    return float(value)


def query_number(args: Mapping[str, str], name: str) -> float | None:
    """A number in the query string, or None when absent or empty."""
    raw = args.get(name, "").strip()
    if not raw:
        return None
    if not re.fullmatch(r"[+-]?[0-9]{1,4}(\.[0-9]{0,20})?", raw):
        raise bad_request(f"{name} must be a number")
    return float(raw)


def point(lat: float | None, lng: float | None, name: str) -> LatLng:
    """A required pair of coordinates."""
    found = optional_point(lat, lng, name)
    if found is None:
        raise bad_request(f"{name}_lat and {name}_lng are required")
    return found


def optional_point(lat: float | None, lng: float | None, name: str) -> LatLng | None:
    """A pair of coordinates, or None when both are absent or zero (the service's "none")."""
    if (lat is None) != (lng is None):
        raise bad_request(f"{name}_lat and {name}_lng go together")
    if lat is None or lng is None or (lat == 0 and lng == 0):
        return None
    if not is_valid(lat, lng):
        raise bad_request(f"{name}_lat or {name}_lng is out of range")
    return LatLng(lat, lng)
