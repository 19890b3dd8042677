"""Random hostile answers: a grammar of valid and invalid JSON, and mutations of real bodies."""

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

NASTY: Final = (
    *(
        "",
        " ",
        "\x00",
        "a\x00b",
        "\u202eevil\u2066",
        "\ud800",
        "x" * 100_000,
        "\u0000" * 5000,
        "é" * 40_000,
    ),
    *(
        "<script>alert(1)</script>",
        "${7*191}",
        "{{7*191}}",
        "{% raw %}",
        "javascript:alert(1)",
        "NaN",
        "1e999",
        "-0",
    ),
    *(
        "9" * 5000,
        "-1",
        "0",
        "true",
        "null",
        "SUCCESS",
        "FAILURE",
        "CALL_DRIVER",
        "COMPLETED",
        "https://x/\ud800",
    ),
    *(
        "2016-06-16T10:45:38.000+5:30",
        "9999-12-31T23:59:59-14:00",
        "0000-00-00",
        "+99999999999",
        "%s%n",
        "\r\nX: y",
    ),
)
NUMBERS: Final = (
    0,
    -1,
    1,
    2**31,
    2**63,
    10**40,
    -(10**99),
    0.1,
    -0.0,
    1e308,
    5e-324,
    534,
    360,
    90.0000001,
)
STATUSES: Final = (
    200,
    200,
    200,
    200,
    200,
    201,
    202,
    204,
    206,
    302,
    304,
    400,
    401,
    403,
    404,
    409,
    422,
    429,
    500,
    502,
    503,
)
TYPES: Final = (
    *("application/json",) * 4,
    *(
        "text/html",
        "text/plain; charset=utf-16",
        "application/octet-stream",
        "",
        "application/json; charset=latin-1",
    ),
    "multipart/form-data; boundary=\ufffd",
)
RAW: Final = (
    *(
        b"",
        b" ",
        b"null",
        b"true",
        b"0",
        b'""',
        b"[]",
        b"{}",
        b"{",
        b"[1,",
        b'{"a"',
        b'"' + b"x" * 100_000 + b'"',
    ),
    *(
        b"[" * 5000,
        b'{"a":' * 5000,
        b"[" * 5000 + b"]" * 5000,
        b"9" * 5000,
        b"NaN",
        b"-Infinity",
        b'{"a": NaN}',
    ),
    *(
        b"<!doctype html><title>502</title>",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b"\x00\x00\x00",
        b"\x1f\x8b\x08\x00",
    ),
    *(
        b'{"status": "SUCCESS", "status": "FAILURE"}',
        b'{"status": "\xff"}',
        b"{'status': 'SUCCESS'}",
        b"SUCCESS",
        b"\n" * 900,
    ),
    *(
        b'{"status":"SUCCESS","x":' + b"1" * 5000 + b"}",
        b'{"status":"SUCCESS","x":1e' + b"9" * 400 + b"}",
    ),
)


@dataclass(frozen=True)
class Hostile:
    """One answer: HTTP status, headers and bytes."""

    status: int
    content: bytes
    headers: tuple[tuple[str, str], ...] = ()

    def response(self) -> httpx.Response:
        """The answer as the transport returns it."""
        headers = [
            (name.encode(), value.encode("utf-8", "replace")) for name, value in self.headers
        ]
        return httpx.Response(self.status, headers=headers, stream=httpx.ByteStream(self.content))


def answers(rng: random.Random, real: list[dict[str, Any]], count: int) -> Iterator[Hostile]:
    """Yield `count` hostile answers.

    Most are mutations of a real body; some are no valid answer at all.
    """
    for _ in range(count):
        chance = rng.random()
        if chance < 0.12:
            content = rng.choice(RAW)
        elif chance < 0.2:
            content = encoded(rng, grown(rng, 5))
        else:
            content = encoded(rng, mutated(rng, rng.choice(real)))
        yield Hostile(status(rng), content, headers(rng, content))


def status(rng: random.Random) -> int:
    """A random HTTP status, mostly 200: the bodies of successful answers are parsed most."""
    return 200 if rng.random() < 0.7 else rng.choice(STATUSES)


def headers(rng: random.Random, content: bytes) -> tuple[tuple[str, str], ...]:
    """Random headers, some of them wrong."""
    made = [("Content-Type", rng.choice(TYPES))]
    if rng.random() < 0.1:
        made.append(
            ("Content-Length", rng.choice(["0", "3", str(len(content) + 9), "-1", "9" * 30, "x"]))
        )
    if rng.random() < 0.03:
        made.append(
            ("Content-Encoding", rng.choice(["gzip", "br", "identity", "", "deflate, gzip"]))
        )
    if rng.random() < 0.05:
        made.append(
            (
                "Retry-After",
                rng.choice(["1", "1e9", "-3", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", "\ufffd"]),
            )
        )
    return tuple(made)


def encoded(rng: random.Random, value: Any) -> bytes:
    """A value as bytes, mostly as JSON in UTF-8.

    Sometimes it is truncated, in another encoding, or has a duplicate key.
    """
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, allow_nan=True)
    chance = rng.random()
    if chance < 0.04:
        return text.encode("utf-8", "surrogatepass")[: rng.randrange(len(text) + 1)]
    if chance < 0.06:
        return text.encode("utf-16", "surrogatepass")
    if chance < 0.08:
        return b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass")
    if chance < 0.12 and text.startswith("{"):
        return (
            ('{"status": "FAILURE", "booking_id": 7, ' + text[1:])
            .replace(", }", "}")
            .encode("utf-8", "surrogatepass")
        )
    return text.encode("utf-8", "surrogatepass")


def grown(rng: random.Random, depth: int) -> Any:
    """A random JSON value."""
    chance = rng.random()
    if depth <= 0 or chance < 0.5:
        return rng.choice(
            [
                None,
                True,
                False,
                rng.choice(NASTY),
                rng.choice(NUMBERS),
                float("nan"),
                rng.randbytes(6).hex(),
            ]
        )
    if chance < 0.7:
        return [
            grown(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 3, 300]) if depth < 3 else 2)
        ]
    if chance < 0.72:
        return nested(rng.choice([15, 25, 400]))
    return {str(rng.choice(NASTY))[:40]: grown(rng, depth - 1) for _ in range(rng.randrange(4))}


def nested(depth: int) -> Any:
    """Nested lists."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def mutated(rng: random.Random, real: dict[str, Any]) -> Any:
    """A real body with one to four random errors."""
    body: Any = copy.deepcopy(real)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = list(_places(body))
        if not places:
            return body
        holder, key = rng.choice(places)
        _spoil(rng, holder, key)
    return body


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value in a body, as (object or list, key or index)."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _spoil(rng: random.Random, holder: Any, key: Any) -> None:
    """Replace, remove, rename or repeat one value."""
    chance = rng.random()
    if chance < 0.12:
        del holder[key]
    elif chance < 0.2 and isinstance(holder, dict):
        holder[rng.choice([str(key).upper(), f" {key} ", f"{key}\x00", "Text"])] = holder.pop(key)
    elif chance < 0.26:
        holder[key] = [copy.deepcopy(holder[key])] * rng.choice([1, 2, 250])
    elif chance < 0.32:
        holder[key] = {"value": copy.deepcopy(holder[key])}
    elif chance < 0.36:
        holder[key] = str(holder[key])
    elif chance < 0.7:
        holder[key] = rng.choice(NASTY)
    elif chance < 0.85:
        holder[key] = rng.choice(NUMBERS)
    else:
        holder[key] = grown(rng, 3)
