"""Evidence without secrets: what may be kept and shown of a body that we could not use."""

import re
from collections.abc import Iterable
from typing import Final

from ridedash.observing.scrubbing import NAMED, REMOVED

EVIDENCE_LIMIT: Final = 2048  # characters
SHORTEST_SECRET: Final = 8  # anything shorter would be found in innocent text

_SECRET_KEY: Final = re.compile(
    r'("[^"]{0,40}(?:token|secret|password|authori[sz]ation|phone|driver_number|otp)[^"]{0,40}"\s*:\s*)'
    r'("(?:[^"\\]|\\.)*+"?|\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}?|[^\s,}\]]+)',
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"\bBearer\s+[\w.~+/=-]+", re.IGNORECASE)
_PHONE: Final = re.compile(r"\+\d[\d -]{5,15}(\d\d)")


def without(body: bytes, secrets: Iterable[str]) -> bytes:
    """The body with each secret that it echoes taken out."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            body = body.replace(secret.encode("utf-8", "replace"), REMOVED.encode())
    return body


def evidence(body: bytes) -> str:
    """The first 2 kB of a body as printable text: no tokens, no start codes, phone numbers by their end only."""
    text = body[: EVIDENCE_LIMIT * 4].decode("utf-8", "replace")
    text = _SECRET_KEY.sub(lambda match: f'{match[1]}"{REMOVED}"', text)
    text = _BEARER.sub(f"Bearer {REMOVED}", text)
    text = NAMED.sub(rf"\1{REMOVED}", text)  # in words, not in JSON
    text = _PHONE.sub(r"+••••\1", text)
    return "".join(char if char.isprintable() else " " for char in text)[:EVIDENCE_LIMIT]
