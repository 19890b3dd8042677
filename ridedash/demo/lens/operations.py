"""The eight operations of the service: their names in the lens, found by their paths. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from ridedash.service import client
from ridedash.text import one_line
from ridedash.wire import normal_code

# name and number in docs/service-interface.md
OPERATIONS: Final = {
    client.CREATE.path: ("create", 1),
    client.ABORT.path: ("abort", 2),
    client.DROP_LOCATION.path: ("drop_location", 3),
    client.CANCEL.path: ("cancel", 4),
    client.TRACK.path: ("track_ride", 5),
    client.PRODUCTS.path: ("products", 6),
    client.FEEDBACK.path: ("feedback", 7),
    client.OPTIONS.path: ("feedback_options", 8),
}
NUMBERS: Final = dict(OPERATIONS.values())
RESULT_CHARS: Final = 80
_TRIP: Final = ("pickup_lat", "pickup_lng", "drop_lat", "drop_lng")
# Members of an answer of track_ride that depend on the position of the cab. The pattern begins with
# one fixed character, the quotation mark, which makes the search fast.
_POSITION: Final = re.compile(
    rb'"(?:(?:driver_l(?:at|ng)|bearing|speed|accuracy)"\s*:\s*[^,}]*'
    rb'|(?:d(?:uration|istance)|eta)"\s*:\s*(?:\{[^{}]*\}|[^,{}]*))'
)


@dataclass(frozen=True)
class Ids:
    """What links a call to an order: ids, and for products the trip."""

    booking_id: str = ""
    txn_id: str = ""
    mtx: str = ""
    trip: str = ""


def name_of(path: str) -> str:
    """The name of the operation at a path, such as track_ride; else the path's last segment."""
    return OPERATIONS.get(path, (path.rsplit("/", 1)[-1], 0))[0]


def ids_of(query: str, sent: str, got: str) -> Ids:
    """The ids in a query, a request body and an answer body (JSON), which takes precedence.

    A query that names a pickup also gives the trip.
    """
    params = {name: values[0] for name, values in parse_qs(query).items()}
    found = params | _texts(sent) | {k: v for k, v in _texts(got).items() if v}
    trip = ""
    if "pickup_lat" in params:
        trip = trip_of(*(float(params[name]) if name in params else None for name in _TRIP))
    return Ids(
        found.get("booking_id", ""), found.get("txn_id", ""), found.get("merchant_txn_id", ""), trip
    )


def trip_of(*ends: float | None) -> str:
    """A trip as text: latitude and longitude of pickup and drop, to six decimals."""
    return ",".join("" if each is None else f"{each:.6f}" for each in ends)


def unmoved(body: bytes) -> bytes:
    """The body of a track_ride answer without what depends on the cab's position.

    Two equal results mean that nothing else has changed.
    """
    return _POSITION.sub(b"", body)


def result_of(operation: str, got: str, failure: str) -> str:
    """The result of a call in a word or two: CALL_DRIVER, 6 categories, BOOKING_ALLOTED."""
    if failure:
        return one_line(failure, RESULT_CHARS)
    body = object_in(got)
    refused = normal_code(str(body.get("status", ""))) == "FAILURE"
    if operation == "products" and isinstance(body.get("categories"), list):
        count = len(body["categories"])
        return f"{count} category" if count == 1 else f"{count} categories"
    if operation == "create" and not refused:
        wanted: tuple[str, ...] = ("booking_id", "txn_id", "status")
    elif operation == "track_ride" and not refused:
        wanted = ("booking_status", "status")
    else:
        wanted = ("reason", "code", "header", "status", "message")
    value = next((body[name] for name in wanted if isinstance(body.get(name), str | int)), "")
    return one_line(str(value), RESULT_CHARS)


@lru_cache(maxsize=4)  # several functions read the same call
def object_in(text: str) -> Mapping[str, Any]:
    """A JSON text as an object; {} for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return found


def query_of(path: str) -> str:
    """The query of a path; "" when it has none."""
    return urlsplit(path).query


def _texts(text: str) -> dict[str, str]:
    names = ("booking_id", "txn_id", "merchant_txn_id")
    body = object_in(text)
    found = {name: str(body[name]) for name in names if isinstance(body.get(name), str | int)}
    # lone surrogates can't be stored in a file: they are replaced
    return {name: each.encode("utf-8", "replace").decode() for name, each in found.items()}
