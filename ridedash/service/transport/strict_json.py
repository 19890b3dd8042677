"""Strict JSON: UTF-8, bounded depth and digits, no NaN, no ambiguous key; floats as Decimal."""

import json
import re
from decimal import Decimal
from typing import Any, Final

# no answer of the interface is nearly so deep; more would be an attack on the stack
DEPTH_LIMIT: Final = 20
DIGITS_LIMIT: Final = 100  # characters of one number

# A string (to the end of the text if it is not closed) or a bracket. The quantifier is possessive,
# so that no input causes backtracking.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


class NotJsonError(ValueError):
    """The text is not strict JSON; its message is a short reason and quotes nothing of the text."""


def loads(body: bytes) -> Any:
    """The value of a JSON text in UTF-8, with or without a byte order mark. Raises NotJsonError.

    Raw control characters in strings are accepted; parsing.fields.text cleans them.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotJsonError("not UTF-8") from None
    _check_depth(text)
    try:
        return _DECODER.decode(text)
    except NotJsonError:
        raise
    except (ValueError, RecursionError, ArithmeticError):
        raise NotJsonError("not JSON") from None


def _check_depth(text: str) -> None:
    # checked before the parser sees the text, because the parser recurses for each bracket
    if text.count("[") + text.count("{") <= DEPTH_LIMIT:
        return
    depth = 0
    for match in _TOKEN.finditer(text):
        bracket = match[0]
        if bracket in "[{":
            depth += 1
            if depth > DEPTH_LIMIT:
                raise NotJsonError("nested too deeply")
        elif bracket in "]}":
            depth -= 1


def _decimal(digits: str) -> Decimal:
    _check_digits(digits)
    return Decimal(digits)


def _int(digits: str) -> int:
    _check_digits(digits)
    return int(digits)


def _check_digits(digits: str) -> None:
    if len(digits) > DIGITS_LIMIT:
        raise NotJsonError("a number of too many digits")


def _refuse(_: str) -> Any:
    raise NotJsonError("NaN or Infinity")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A repeated key is harmless when the values are equal.
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    found = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise NotJsonError("a key twice, with different values")
        found[key] = value
    return found


_DECODER: Final = json.JSONDecoder(
    parse_float=_decimal,
    parse_int=_int,
    parse_constant=_refuse,
    object_pairs_hook=_object,
    strict=False,
)
