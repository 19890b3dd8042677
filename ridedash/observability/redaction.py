"""Removes secrets from log lines and from stored answers of the service (docs/security.md).

A secret is recognised by its shape, by the name before it, or by its value when it belongs to this
installation or to the call. In log lines, coordinates and identifiers are shortened too; in stored
answers (evidence) they stay, because staff search them for a booking.
"""

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

REMOVED: Final = "[removed]"
SHORTEST_SECRET: Final = 8  # characters; a shorter secret would match ordinary text
LONGEST_TEXT: Final = 8192  # characters; the rest of a longer text is dropped
LONGEST_EVIDENCE: Final = 2048

# The lookbehinds let each pattern be tried once per word. If it were tried at every character, a
# long word would take quadratic time.
_ENDINGS: Final = r"(?<![\w-])[\w-]*(?:token|secret)"
_NAMES: Final = r"(?<![A-Za-z])(?:passw(?:or)?d|authori[sz]ation|otp|start[_ -]?code|token_keys)"
_COOKIES: Final = re.compile(
    r"((?:set-)?cookie[\"']?\s*[:=,]\s*b?)(?:\"[^\"\n]*\"?|'[^'\n]*'?|[^\n\"']+)", re.IGNORECASE
)
_SESSION: Final = re.compile(r"((?:ridedash_|__Host-)(?:sid|kiosk|door)=)[^;,\s\"']+")
_MEMBER: Final = re.compile(  # a member of a JSON object; its value may be nested once, or cut off
    r'("[^"]{0,40}(?:token|secret|password|authori[sz]ation|phone|driver_number|otp)'
    r'[^"]{0,40}"\s*:\s*)'
    r'(?:"(?:[^"\\]|\\.)*+"?|\{[^{}]*(?:\{[^{}]*\}?[^{}]*)?\}?|[^\s,}\]]+)',
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    rf"((?:{_ENDINGS}|{_NAMES})[\"']?\s*(?:[:=]|,(?=\s*b?[\"']))\s*(?:b(?=[\"']))?)"
    r"(?![\"\']?\[removed)(?:\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s,;&}\])\"']+)",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"\bBearer\s+[\w.~+/=-]+", re.IGNORECASE)
_IN_ADDRESS: Final = re.compile(r"(://[^\s:/@]*:)[^\s/@]+@")
_SHARED: Final = re.compile(r"((?<![\w-])(?:t|k|invite)/[\w-]{4})[\w-]{8,}")
_OPAQUE: Final = re.compile(
    r"(?<![\w-])(?=[\w-]*[0-9])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])([\w-]{4})[\w-]{18,}={0,2}(?![\w-])"
)
_PHONE: Final = re.compile(r"(\+\d\d?)[\d ().-]{4,14}(\d\d)")
_MOBILE: Final = re.compile(r"(?<![\w.:+-])[6-9]\d{7,9}(\d\d)(?![\w.:-])")
_PLACE: Final = re.compile(r"(?<![\w.])(-?\d{1,3}\.\d\d)\d+(?![\d.])")

_SECRETS: Final = (
    (_MEMBER, rf"\1{REMOVED}"),
    (_COOKIES, rf"\1{REMOVED}"),
    (_SESSION, rf"\1{REMOVED}"),
    (_BEARER, f"Bearer {REMOVED}"),
    (_NAMED, rf"\1{REMOVED}"),
    (_IN_ADDRESS, rf"\1{REMOVED}@"),
    (_PHONE, r"\1••••\2"),
)
# a text without any of these contains no shape of _SECRETS: most texts need only this one search
_HINT: Final = re.compile(
    r"token|secret|passw|authori|otp|start[_ -]?code|phone|driver_number|cookie|bearer|@|\+"
    r"|(?:sid|kiosk|door)=",
    re.IGNORECASE,
)
_IDENTIFIERS: Final = (
    (_SHARED, r"\1…"),
    (_OPAQUE, r"\1…"),
    (_MOBILE, r"••••\1"),
    (_PLACE, r"\1"),
)


class Redactor:
    """Removes secrets from text. `secrets` are those of this installation, removed anywhere."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {
            form
            for secret in secrets
            if len(secret) >= SHORTEST_SECRET
            for form in _spellings(secret)
        }
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without secrets; a few characters of phone numbers and identifiers remain."""
        text = text[:LONGEST_TEXT]
        if self._known is not None:
            text = self._known.sub(REMOVED, text)
        for shape, replacement in (*_SECRETS, *_IDENTIFIERS):
            text = shape.sub(replacement, text)
        return text


def without(body: bytes, secrets: Iterable[str]) -> bytes:
    """A body without these secrets, which the service may repeat in it."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            body = body.replace(secret.encode("utf-8", "replace"), REMOVED.encode())
    return body


def evidence(body: bytes) -> str:
    """The beginning of a body as printable text, without tokens, start codes and phone numbers.

    It has at most LONGEST_EVIDENCE characters.
    """
    text = without_shapes(body[:LONGEST_TEXT].decode("utf-8", "replace"))
    return "".join(char if char.isprintable() else " " for char in text)[:LONGEST_EVIDENCE]


def without_shapes(text: str) -> str:
    """A text without what looks like a token, a start code or a phone number; identifiers stay."""
    if _HINT.search(text) is None:
        return text
    for shape, replacement in _SECRETS:
        text = shape.sub(replacement, text)
    return text


def _spellings(secret: str) -> set[str]:
    """A secret as it is spelled in text, in a URL and in JSON."""
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
