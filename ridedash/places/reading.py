"""What people and place servers write, read with care: coordinates, and texts that are one short line."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ridedash.geo import LatLng, is_valid

MAX_NAME: Final = 120  # characters
JOINERS: Final = "\u200c\u200d"  # invisible, but part of the spelling in Indic and Arabic scripts, and of some emoji

_PAIR: Final = re.compile(r"\s*([+-]?\d{1,3}(?:\.\d{1,12})?)\s*(?:,|;|\s)\s*([+-]?\d{1,3}(?:\.\d{1,12})?)\s*")


def parse_coordinates(text: str) -> LatLng | None:
    """`-38.5012, -128.0034` as a point; None when it is something else or off the earth.

    >>> parse_coordinates("12.95, 77.6")
    LatLng(lat=12.95, lng=77.6)
    """
    found = _PAIR.fullmatch(text)
    if not found:
        return None
    lat, lng = float(found[1]), float(found[2])
    return LatLng(lat, lng) if is_valid(lat, lng) else None


def coordinates_text(point: LatLng) -> str:
    """A point as people read and type it, to about a metre."""
    return f"{point.lat:.5f}, {point.lng:.5f}"


def plain(text: object, longest: int = MAX_NAME) -> str:
    """One line of text for people: no control or bidirectional characters, not long. "" for no text."""
    if not isinstance(text, str):
        return ""
    kept = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text[: longest * 4])
    shown = "".join(c for c in kept if c in JOINERS or unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn"))
    return " ".join(shown.split())[:longest]


def spot(facts: Mapping[str, Any]) -> LatLng | None:
    """The point that `lat` and `lng` tell, numbers or texts; None when they tell none."""
    try:
        lat, lng = float(facts["lat"]), float(facts["lng"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return LatLng(lat, lng) if is_valid(lat, lng) else None


def joined(parts: Iterable[str]) -> str:
    """The texts that are there, each once, with commas."""
    return ", ".join(dict.fromkeys(filter(None, parts)))


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """A list, or an empty one in place of anything else."""
    return value if isinstance(value, list) else []
