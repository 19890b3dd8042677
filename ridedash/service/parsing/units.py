"""Units and times in any spelling, normalised: seconds, metres, instants in UTC."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from ridedash.service.parsing.fields import Distance, Duration, ServiceInstant, positive, row, text

# No wait, ride or free time is longer. Adding a far longer time to an instant would overflow.
LONGEST_S: Final = 366 * 86_400
_SECONDS: Final = {"sec": 1, "min": 60, "hour": 3600, "hr": 3600, "day": 86_400}
_METRES: Final = {"k": Decimal(1000), "mi": Decimal("1609.344"), "m": Decimal(1)}
_UNIT_WORDS: Final = {"sec": "second", "min": "minute", "hour": "hour", "hr": "hour", "day": "day"}
_LENGTH_WORDS: Final = {"k": "kilometre", "mi": "mile", "m": "metre"}


def _stem(unit: Any, stems: Mapping[str, Any]) -> str | None:
    if not isinstance(unit, str):
        return None
    word = unit.strip().lower()
    return next((stem for stem in stems if word.startswith(stem)), None)


def time_unit(unit: Any, default: str | None = "minute") -> str | None:
    """`second`, `minute`, `hour` or `day` for any spelling of it.

    The default if there is no unit; None for any other word.
    """
    if unit is None or unit == "":
        return default
    return _UNIT_WORDS.get(_stem(unit, _SECONDS) or "")


def length_unit(unit: Any, default: str | None = "kilometre") -> str | None:
    """`kilometre`, `metre` or `mile` for any spelling of it.

    The default if there is no unit; None for any other word.
    """
    if unit is None or unit == "":
        return default
    return _LENGTH_WORDS.get(_stem(unit, _METRES) or "")


def duration(value: Any, unit: Any = None, default: str = "minute") -> Duration | None:
    """A span from a value and its unit in any spelling.

    None for no number, an unknown unit, a value below zero, or more than a year.
    """
    amount = positive(value)
    stem = _stem(time_unit(unit, default), _SECONDS)
    if amount is None or stem is None:
        return None
    seconds = round(amount * _SECONDS[stem])
    if seconds > LONGEST_S:
        return None
    return Duration(seconds=seconds)


def length(value: Any, unit: Any = None, default: str = "kilometre") -> Distance | None:
    """A length from a value and its unit in any spelling.

    None for no number, an unknown unit, or a value below zero.
    """
    amount = positive(value)
    stem = _stem(length_unit(unit, default), _METRES)
    if amount is None or stem is None:
        return None
    return Distance(metres=round(amount * _METRES[stem]))


def measured_time(value: Any, default: str = "minute") -> Duration | None:
    """A span from `{value, unit}`; a bare number counts in the default unit."""
    pair = row(value)
    if not pair:
        return duration(value, None, default)
    return duration(pair.get("value"), pair.get("unit"), default)


def measured_length(value: Any, default: str) -> Distance | None:
    """A length from `{value, unit}`; a bare number counts in the default unit."""
    pair = row(value)
    if not pair:
        return length(value, None, default)
    return length(pair.get("value"), pair.get("unit"), default)


_TIME: Final = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?\s*"
    r"(?P<zone>[Zz]|[+-][0-9]{1,2}(?::?[0-9]{2})?|[A-Za-z][A-Za-z_/+-]{1,40})?"
)


def service_time(value: Any) -> ServiceInstant | None:
    """A time: its text as sent, and the instant if the text has an offset or a time zone.

    Parses ISO 8601 and its misspellings: `+5:30`, a comma before the milliseconds, a space before
    the offset, a zone name. A time without an offset has no instant.
    """
    if not isinstance(value, str):
        return None
    words = text(value)
    if words is None:
        return None
    return ServiceInstant(text=words, at=_instant(words))


def _instant(words: str) -> datetime | None:
    match = _TIME.fullmatch(words)
    if match is None:
        return None
    zone = _zone(match["zone"] or "")
    if zone is None:
        return None
    micros = (match["fraction"] or "0").ljust(6, "0")[:6]
    with suppress(ValueError, OverflowError):
        local = datetime.fromisoformat(f"{match['day']}T{match['time']}")
        return local.replace(microsecond=int(micros), tzinfo=zone).astimezone(UTC)
    return None


def _zone(word: str) -> tzinfo | None:
    if word.upper() in {"Z", "UTC", "GMT"}:
        return UTC
    if word[:1] in {"+", "-"}:
        digits = word[1:].replace(":", "")
        if len(digits) <= 2:  # "+05": hours
            digits += "00"
        digits = digits.rjust(4, "0")
        minutes = int(digits[:2]) * 60 + int(digits[2:])
        if minutes >= 24 * 60:
            return None
        if word[0] == "-":
            minutes = -minutes
        return timezone(timedelta(minutes=minutes))
    if "/" in word:
        with suppress(KeyError, ValueError, OSError):
            return ZoneInfo(word)
    return None
