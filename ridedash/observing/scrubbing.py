"""Text without secrets: nothing that passes here names a token, a start code, a whole phone number or an exact place.

security.md section 8. What is taken out is known by its shape, by the name in front of it, or because it is a secret
of this installation, told by value.
"""

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

REMOVED: Final = "[removed]"
SHORTEST_SECRET: Final = 8  # anything shorter would be found in innocent text
LONGEST_TEXT: Final = 8192  # characters; a line of a log is no place for more

# Each tried once per word: a name sought from every place of a long number would take time by its square.
_ENDINGS: Final = r"(?<![\w-])[\w-]*(?:token|secret)"
_NAMES: Final = r"(?<![A-Za-z])(?:passw(?:or)?d|authori[sz]ation|otp|start[_ -]?code|token_keys)"
_COOKIES: Final = re.compile(
    r"((?:set-)?cookie[\"']?\s*[:=,]\s*b?)(?:\"[^\"\n]*\"?|'[^'\n]*'?|[^\n\"']+)", re.IGNORECASE
)
_SESSION: Final = re.compile(r"((?:ridedash_sid|__Host-sid)=)[^;,\s\"']+")
NAMED: Final = re.compile(
    rf"((?:{_ENDINGS}|{_NAMES})[\"']?\s*(?:[:=]|,(?=\s*b?[\"']))\s*(?:b(?=[\"']))?)"
    r"(?![\"\']?\[removed)(?:\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s,;&}\])\"']+)",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"\bBearer\s+[\w.~+/=-]+", re.IGNORECASE)
_IN_ADDRESS: Final = re.compile(r"(://[^\s:/@]*:)[^\s/@]+@")
_SHARED: Final = re.compile(r"((?<![\w-])t/[\w-]{4})[\w-]{8,}")
_OPAQUE: Final = re.compile(
    r"(?<![\w-])(?=[\w-]*[0-9])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])([\w-]{4})[\w-]{18,}={0,2}(?![\w-])"
)
_PHONE: Final = re.compile(r"(?<![\w+])(\+\d\d)[\d ().-]{4,14}(\d\d)(?!\d)")
_MOBILE: Final = re.compile(r"(?<![\w.:+-])[6-9]\d{7,9}(\d\d)(?![\w.:-])")
_PLACE: Final = re.compile(r"(?<![\w.])(-?\d{1,3}\.\d\d)\d+(?![\d.])")

_SHAPES: Final = (
    (_COOKIES, rf"\1{REMOVED}"),
    (_SESSION, rf"\1{REMOVED}"),
    (_BEARER, f"Bearer {REMOVED}"),
    (NAMED, rf"\1{REMOVED}"),
    (_IN_ADDRESS, rf"\1{REMOVED}@"),
    (_SHARED, r"\1…"),
    (_OPAQUE, r"\1…"),
    (_PHONE, r"\1••••\2"),
    (_MOBILE, r"••••\1"),
    (_PLACE, r"\1"),
)


class Scrubber:
    """Takes secrets out of text. `secrets` are those of this installation, found wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _spellings(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text, with what must not be kept taken out or shortened."""
        text = text[:LONGEST_TEXT]
        if self._known is not None:
            text = self._known.sub(REMOVED, text)
        for shape, instead in _SHAPES:
            text = shape.sub(instead, text)
        return text


def _spellings(secret: str) -> set[str]:
    """A secret as it stands in text, in an address and in JSON."""
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
