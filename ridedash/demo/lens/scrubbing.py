"""Takes secrets out of requests and answers before they are stored. Pure.

JSON stays JSON: numbers keep their spelling and members their order, so that each field can be
shown. The values of members with a secret's name are removed. All other texts lose what
observability/redaction.py recognises by its shape. A body that is not JSON is treated as text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from ridedash.observability.redaction import LONGEST_TEXT, SHORTEST_SECRET, without, without_shapes

GONE: Final = "••••"
LONGEST: Final = 64 * 1024  # bytes of a body; the rest is cut off
DEEPEST: Final = 100  # levels; deeper JSON is treated as text
SHORTEST_CODE: Final = 4  # a shorter start code would match ordinary words

_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|authori[sz]ation|cookie|\botp\b|_otp|otp_|start[_ -]?code|api[_-]?key",
    re.IGNORECASE,
)
_PHONE_NAME: Final = re.compile(r"phone|mobile|driver_number|contact_number", re.IGNORECASE)
_APP_TOKEN: Final = "x-app-token"  # noqa: S105 - the name of a header
# the member of `otp` that holds words for people, not a code
_FOR_PEOPLE: Final = frozenset({"text"})
# Names and texts up to these lengths, in characters, are cached with their cleaned form: those
# that recur in most answers are short.
_LONGEST_NAME: Final = 64
_LONGEST_TEXT: Final = 2_000
_JSON: Final = json.JSONEncoder(ensure_ascii=False)


class Number(str):
    """A number as it was written; the json module would spell it in its own way."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """A JSON object as a list of pairs, because a name may occur twice."""


def headers(sent: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """Headers without secrets; the length of the app token (the partner's key) stays visible."""
    known = [each for each in secrets if each]
    return {name: _header(name, value, known) for name, value in sent.items()}


def body(raw: bytes, secrets: Iterable[str] = ()) -> str:
    """A body without secrets; of a body over LONGEST bytes, the first LONGEST characters.

    Broken UTF-8 is shown as �.
    """
    # a little of the rest is searched too: a secret may lie across the cut
    known = without(raw[: LONGEST + LONGEST_TEXT], [each for each in secrets if each])
    text = known.decode("utf-8", "replace")
    if len(raw) > LONGEST:
        return without_shapes(text)[:LONGEST]
    try:
        codes: set[str] = set()
        clean = _clean(parsed(text), codes)
        written = _written(clean, None, DEEPEST)
        # few answers repeat a code, so most need to be written only once
        if any(_quoted(code, None)[1:-1] in written for code in codes):
            written = _written(clean, _finder(codes), DEEPEST)
        # JSON may contain a lone surrogate, which UTF-8 can't encode: it stays an escape
        return written.encode("utf-8", "backslashreplace").decode()
    except (ValueError, RecursionError):
        return without_shapes(text)


def parsed(text: str) -> Any:
    """A text as JSON, with Object for objects and Number for numbers.

    Raises ValueError for anything else, RecursionError when it is too deep.
    """
    return json.loads(
        text,
        object_pairs_hook=Object,
        parse_float=Number,
        parse_int=Number,
        parse_constant=Number,
    )


def words(text: str, secrets: Iterable[str] = ()) -> str:
    """A short text that is no body, such as the words of an error, without secrets."""
    return without_shapes(without(text.encode("utf-8", "replace"), secrets).decode())


def _header(name: str, value: str, secrets: list[str]) -> str:
    if name.lower() == _APP_TOKEN:
        return f"{GONE}({len(value)})"
    if name.lower() == "authorization":
        kind = value.partition(" ")[0] if value[:7].lower() == "bearer " else ""
        return f"{kind} {GONE}".strip()
    if _SECRET_NAME.search(name):
        return GONE
    return words(value, secrets)


class _Means(Enum):
    """What the name of a member says about its value."""

    SECRET = 1
    PHONE = 2
    OTHER = 3


def _judged(name: str) -> tuple[str, _Means]:
    """A name without secrets, and what it says about its value."""
    if _SECRET_NAME.search(name):
        return without_shapes(name), _Means.SECRET
    if _PHONE_NAME.search(name):
        return without_shapes(name), _Means.PHONE
    return without_shapes(name), _Means.OTHER


_judged_before: Final = lru_cache(maxsize=512)(_judged)
_cleaned_before: Final = lru_cache(maxsize=512)(without_shapes)


def _clean(value: Any, codes: set[str]) -> Any:
    """The value without secrets; secrets that may be repeated elsewhere are added to `codes`."""
    if isinstance(value, Number):
        return value
    if isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            return without_shapes(value)
        return _cleaned_before(value)
    if isinstance(value, Object):
        return Object([_member(name, each, codes) for name, each in value])
    if isinstance(value, list):
        return [_clean(each, codes) for each in value]
    return value


def _member(name: str, value: Any, codes: set[str]) -> tuple[str, Any]:
    """A member of an object, cleaned in the way that its name requires."""
    clean, means = _judged_before(name) if len(name) <= _LONGEST_NAME else _judged(name)
    if means is _Means.SECRET:
        return clean, _gone(value, codes)
    if means is _Means.PHONE:
        return clean, _by_its_end(value)
    return clean, _clean(value, codes)


def _gone(value: Any, codes: set[str]) -> Any:
    """The replacement of a secret value: objects and lists keep their shape, but not their values.

    Words for people stay, without anything that looks like a secret.
    """
    if isinstance(value, Object):
        return Object((name, _gone_member(name, each, codes)) for name, each in value)
    if isinstance(value, list):
        return [_gone(each, codes) for each in value]
    if isinstance(value, str):  # or a Number
        if len(value) >= SHORTEST_CODE:
            codes.add(str(value))
        return GONE
    return value


def _gone_member(name: str, value: Any, codes: set[str]) -> Any:
    if name in _FOR_PEOPLE and isinstance(value, str) and not isinstance(value, Number):
        return _clean(value, codes)
    return _gone(value, codes)


def _by_its_end(value: Any) -> Any:
    """The replacement of a phone number: its last two digits stay, unless it is short."""
    if isinstance(value, Object | list):
        return GONE
    if not isinstance(value, str):
        return value
    digits = re.sub(r"\D", "", value)
    if len(digits) <= SHORTEST_CODE:
        return GONE
    return f"{GONE}{digits[-2:]}"


def _finder(codes: set[str]) -> re.Pattern[str]:
    """A pattern that finds these codes as separate words."""
    longest_first = sorted(codes, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def _written(value: Any, codes: re.Pattern[str] | None, levels: int) -> str:
    """The value as JSON, without matches of `codes`. Raises ValueError when it is too deep."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return _quoted(value, codes)
    if levels == 0:
        raise ValueError("too deep")
    if isinstance(value, Object):
        pairs = [f"{_quoted(k, codes)}:{_written(v, codes, levels - 1)}" for k, v in value]
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join([_written(each, codes, levels - 1) for each in value])}]"
    return _JSON.encode(value)


def _quoted(text: str, codes: re.Pattern[str] | None) -> str:
    return _JSON.encode(text if codes is None else codes.sub(GONE, text))


# so that the placeholder of a removed secret is never taken for a secret
assert len(GONE) < SHORTEST_SECRET
