"""Tolerant parsing of single JSON values: a value that makes no sense becomes None.

What the service sends varies (docs/field-notes.md 1 to 14): numbers as text, booleans as text, keys
with a trailing space, links that are no links. Every function takes any JSON value and raises
nothing; units are in `units`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from ridedash.geo import LatLng, is_valid
from ridedash.text import one_line

TEXT_LIMIT: Final = 300  # characters of any text that is stored
LINK_LIMIT: Final = 2000  # characters; browsers and proxies take no longer address for sure
ROWS_LIMIT: Final = 200  # elements of any list that is stored
NUMBER_DIGITS: Final = 12  # before the point and after it; no fare, distance or time needs more
NUMBER_LIMIT: Final = 10**NUMBER_DIGITS  # the first number with more digits than that
IDENT_LIMIT: Final = 10**40  # a longer id is none, but an attack on the conversion to text
KEYS_LIMIT: Final = 1000  # spellings of keys that are cached

_NUMBER: Final = re.compile(r"[+-]?([0-9]{1,15}(\.[0-9]{0,20})?|\.[0-9]{1,20})")
_CODE: Final = re.compile(r"[A-Za-z]{3}")
_IDENT: Final = re.compile(r"[!-~]+")  # printable ASCII without spaces
# The form of nearly all links: without a port and credentials.
_PLAIN_LINK: Final = re.compile(r"https://[A-Za-z0-9.-]+(/[!-~]*)?")
_FINEST: Final = Decimal("1e-12")


class Fact(BaseModel):
    """A frozen value that the service sent.

    Survives `model_dump(mode="json")` and `model_validate`: in JSON a Decimal becomes text, and a
    position a list of two.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    def unless_empty(self) -> Self | None:
        """This value; None when each of its fields has its default."""
        if self == type(self)():
            return None
        return self


class Duration(Fact):
    """A span of time, converted from the unit in which it was sent."""

    seconds: int

    @property
    def minutes(self) -> int:
        """Whole minutes, rounded up."""
        return math.ceil(self.seconds / 60)


class Distance(Fact):
    """A length, converted from the unit in which it was sent."""

    metres: int

    @property
    def km(self) -> Decimal:
        """Kilometres, exact."""
        return Decimal(self.metres) / 1000


class ServiceInstant(Fact):
    """A time as the service wrote it, and as an instant in UTC if it could be parsed."""

    text: str
    at: datetime | None = None


def row(value: Any) -> dict[str, Any]:
    """An object with its keys normalised: lower case, no outer spaces; {} for any other value.

    The result must not be changed. The exact spelling of a key wins over a variant (`text` over
    `Text`).
    """
    if value is None or not isinstance(value, dict | Mapping):
        return {}
    if type(value) is dict and value.keys() <= _plain_keys:
        return value
    normalised = {str(key).strip().lower(): item for key, item in value.items()}
    if normalised.keys() == value.keys():
        _remember(normalised)
        return normalised
    return normalised | {key: value[key] for key in normalised if key in value}


_plain_keys: set[str] = set()  # Keys that were seen and are normalised already, as nearly all are.


def _remember(keys: Iterable[str]) -> None:
    """Store keys up to a limit, so that a service that invents keys can't fill the memory."""
    if len(_plain_keys) < KEYS_LIMIT:
        _plain_keys.update(key for key in keys if len(key) <= 40)


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, their keys normalised, with inner lists flattened.

    A single object counts as a list of one.
    """
    if isinstance(value, Mapping):
        return [row(value)] if value else []
    found: list[dict[str, Any]] = []
    for item in items(value):
        found.extend(rows(item))
    return found[:ROWS_LIMIT]


def items(value: Any) -> list[Any]:
    """The elements of a list, up to a limit; an empty list for any other value."""
    if not isinstance(value, list | tuple):
        return []
    return list(value[:ROWS_LIMIT])


def text(value: Any) -> str | None:
    """Cleaned text of at most 300 characters, without control or other invisible characters.

    Numbers become their text. Markup stays: it is shown as text.
    """
    if value is None:
        return None
    if isinstance(value, int | Decimal | float):
        plain = number(value)
        return None if plain is None else format(plain, "f")
    if not isinstance(value, str):
        return None
    if (
        len(value) <= TEXT_LIMIT
        and value.isascii()
        and value.isprintable()
        and "  " not in value
        and value.strip() == value
    ):
        return value or None  # As for nearly all texts, there is nothing to clean.
    return one_line(value, TEXT_LIMIT, control="") or None


def currency(value: Any) -> str | None:
    """A currency code of three letters, in capitals, so that amounts of one currency compare equal.

    Any other word stays as it came.
    """
    code = text(value)
    if code and _CODE.fullmatch(code):
        return code.upper()
    return code


def ident(value: Any, limit: int = 100) -> str | None:
    """An identifier, from text or a whole number: printable ASCII without spaces.

    It is never shortened: one longer than `limit` gives None, and so do the words null, none and
    na.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < IDENT_LIMIT else ""
    if not isinstance(value, str) or len(value) > limit * 2:
        return None
    trimmed = value.strip()
    if len(trimmed) > limit or not _IDENT.fullmatch(trimmed):
        return None
    if trimmed.lower() in {"null", "none", "na"}:
        return None
    return trimmed


def number(value: Any) -> Decimal | None:
    """A finite number from a number or a text of digits, exact to 12 places, below 10**12."""
    if value is None:
        return None
    if isinstance(value, Decimal):
        return _bounded(value)
    if isinstance(value, str):
        trimmed = value.strip() if len(value) <= 60 else ""
        value = Decimal(trimmed) if _NUMBER.fullmatch(trimmed) else None
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    if isinstance(value, int) and abs(value) >= NUMBER_LIMIT:
        return None
    return _bounded(Decimal(value))


def _bounded(value: Decimal) -> Decimal | None:
    if not value.is_finite():
        return None
    if not value:
        return Decimal(0)
    # Checked by the exponent, because arithmetic on 1E+9999999 overflows.
    if value.adjusted() >= NUMBER_DIGITS:
        return None
    if len(str(value)) <= NUMBER_DIGITS and value.adjusted() >= -NUMBER_DIGITS // 2:
        return value  # Too short for more than 12 decimal places, which are costly to count.
    places = value.as_tuple().exponent
    if isinstance(places, int) and places < -NUMBER_DIGITS:
        return value.quantize(_FINEST)
    return value


def positive(value: Any) -> Decimal | None:
    """A number that is not below zero; the service writes -1 for "none"."""
    found = number(value)
    if found is None or found < 0:
        return None
    return found


def integer(value: Any) -> int | None:
    """A whole number, from a number or its text."""
    found = number(value)
    if found is None or found != found.to_integral_value():
        return None
    return int(found)


def real(value: Any) -> float | None:
    """A finite number as float, where exactness does not matter (bearing, speed)."""
    found = number(value)
    return None if found is None else float(found)


_FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def flag(value: Any) -> bool | None:
    """A boolean, or the text of one; 1 and 0 count."""
    if isinstance(value, int):
        return {0: False, 1: True}.get(value)
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower())
    return None


def link(value: Any) -> str | None:
    """An https URL without credentials, or None: never http, never a script."""
    if not isinstance(value, str) or len(value) > LINK_LIMIT:
        return None
    address = value.strip()
    if _PLAIN_LINK.fullmatch(address):
        return address
    if not _IDENT.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        sound = (
            parts.scheme == "https"
            and bool(parts.hostname)
            and "@" not in parts.netloc
            and parts.port != 0
        )
    except ValueError:
        return None
    return address if sound else None


def point(lat: Any, lng: Any) -> LatLng | None:
    """A position from its two halves; None for (0, 0), half a position or one off the globe."""
    north = real(lat)
    east = real(lng)
    if north is None or east is None or not is_valid(north, east) or (north == 0 and east == 0):
        return None
    return LatLng(north, east)


def place(value: Any) -> LatLng | None:
    """A position from `{lat, lng}` or `[lat, lng]`."""
    if not isinstance(value, list | tuple):
        pair = row(value)
        return point(pair.get("lat"), pair.get("lng"))
    if len(value) != 2:
        return None
    return point(value[0], value[1])


def ring(value: Any) -> tuple[LatLng, ...]:
    """A boundary from a list of pairs; invalid pairs are left out."""
    corners = (place(item) for item in items(value))
    return tuple(corner for corner in corners if corner is not None)
