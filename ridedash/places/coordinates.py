"""Coordinates as people write them: decimal degrees, degrees with minutes, with letters or without.

Pure. Two whole numbers are never a place: "12 5" is a room and something else.
"""

import re
import unicodedata
from itertools import pairwise
from typing import Final

from ridedash.geo import LatLng, is_valid
from ridedash.text import ascii_digits, one_line

MOST_TYPED: Final = 1_000  # characters; a link of Google Maps has some hundred
EITHER_SIDE: Final = "O"  # east in German, west in French and Spanish
_SIGNS: Final = str.maketrans(
    {
        "−": "-",
        "º": "°",
        "˚": "°",
        "′": "'",
        "’": "'",
        "‘": "'",
        "´": "'",
        "ʹ": "'",
        "″": '"',
        "”": '"',
        "“": '"',
        "ʺ": '"',
        "，": ",",
        "；": ";",
        "،": ",",
        "٫": ".",
        "、": ",",
    }
)
_WORDS: Final = {
    "N": ("north", "nord", "norte"),
    "S": ("south", "sud", "süd", "sur"),
    "E": ("east", "est", "este"),
    "W": ("west", "ouest", "oeste"),
}
_LETTER_OF: Final = {word: letter for letter, words in _WORDS.items() for word in words}
_HEMISPHERE: Final = re.compile(rf"\b({'|'.join(_LETTER_OF)})\b", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"[\"']?\b(?:lat(?:itude)?|lng|lon(?:g(?:itude)?)?)\b[\"']?\s*[:=]?", re.IGNORECASE
)
_PREFIX: Final = re.compile(r"^(?:(?:location|position|gps|coordinates|latlng|point)\s*[:=]?\s*)")
_AROUND: Final = re.compile(r"^[^\w+-]+|[^\w°'\"]+$")  # brackets, quotes and pictures
_DECIMAL: Final = r"[+-]?\d{1,3}\.\d{1,15}"
_DECIMALS: Final = re.compile(rf"({_DECIMAL})\s*[,;\s/]\s*({_DECIMAL})")
_ONE_DECIMAL: Final = re.compile(
    rf"({_DECIMAL})\s*[,;]\s*([+-]?\d{{1,3}})|([+-]?\d{{1,3}})\s*[,;]\s*({_DECIMAL})"
)
_COMMA: Final = r"[+-]?\d{1,3},\d{1,15}"
_COMMAS: Final = re.compile(rf"({_COMMA})(?:\s*;\s*|,\s+|\s+|\s+/\s+)({_COMMA})")
_FOUR: Final = re.compile(r"([+-]?\d{1,3},\d{3,15}),([+-]?\d{1,3},\d{3,15})")
_SENT: Final = re.compile(
    r"\s*([+-]?\d{1,3}(?:\.\d{1,15})?)\s*,\s*([+-]?\d{1,3}(?:\.\d{1,15})?)\s*"
)
_INSIDE: Final = re.compile(
    r"(?<![\d.,-])([+-]?\d{1,3}\.\d{4,15})\s*[,;]\s*([+-]?\d{1,3}\.\d{4,15})(?![\d.])"
)
_ANGLE: Final = (
    r"(?P<{0}deg>[+-]?\d{{1,3}}(?:[.,]\d{{1,15}})?)\s*(?P<{0}mark>°|deg\b)?"
    r"(?:\s*(?P<{0}min>\d{{1,2}}(?:[.,]\d{{1,12}})?)\s*(?:'(?!')|(?![\d.]))"
    r"(?:\s*(?P<{0}sec>\d{{1,2}}(?:[.,]\d{{1,12}})?)\s*(?:\"|'')?)?)?"
)
_BETWEEN: Final = r"\s*[,;/]?\s*"
_SIDE: Final = r"(?P<{0}side>[NSEWO])"
# a letter before each angle, one after each, or none
_ANGLES: Final = tuple(
    re.compile(_BETWEEN.join(form.format(axis) for axis in ("a_", "b_")), re.IGNORECASE)
    for form in (rf"{_SIDE}\s*{_ANGLE}", rf"{_ANGLE}\s*{_SIDE}", rf"{_ANGLE}(?P<{{0}}side>)")
)


def plain(text: str) -> str:
    """A text with ASCII digits and signs, and without characters that nobody sees.

    >>> plain("\\u200e１２.९７, 77.6")
    '12.97, 77.6'
    """
    folded = unicodedata.normalize("NFKC", one_line(text.translate(_SIGNS), MOST_TYPED))
    return ascii_digits(folded.translate(_SIGNS))


def sent_point(text: str) -> LatLng | None:
    """`12.95,77.6` as our own pages send a point; None for anything else."""
    found = _SENT.fullmatch(text)
    if found is None:
        return None
    return point_of(found[1], found[2])


def names_either_side(text: str) -> bool:
    """Whether a longitude has the letter O: east in German, west in French and Spanish."""
    found = _angles(_bare(plain(text)))
    return found is not None and EITHER_SIDE in (found["a_side"].upper(), found["b_side"].upper())


def parse_coordinates(text: str) -> LatLng | None:
    """`-38.5012, -128.0034` as a point; None when it is something else or off the earth.

    >>> parse_coordinates("12.95, 77.6")
    LatLng(lat=12.95, lng=77.6)
    >>> parse_coordinates("12°58'18\\" N 77°35'40\\" E")
    LatLng(lat=12.971667, lng=77.594444)
    """
    line = plain(text)
    bare = _bare(line)
    for pattern in (_DECIMALS, _ONE_DECIMAL):
        found = pattern.fullmatch(bare)
        if found:
            first, second = (each for each in found.groups() if each)
            return point_of(first, second)
    for pattern in (_COMMAS, _FOUR):
        found = pattern.fullmatch(bare)
        if found:
            return point_of(found[1].replace(",", "."), found[2].replace(",", "."))
    inside = {found.groups() for found in _INSIDE.finditer(line)}
    if len(inside) == 1:
        return point_of(*inside.pop())
    angles = _angles(bare)
    if angles is None:
        return None
    return _point_of_angles(angles)


def coordinates_text(point: LatLng) -> str:
    """A point as text for people, exact to about a metre."""
    return f"{point.lat:.5f}, {point.lng:.5f}"


def point_of(lat: str, lng: str) -> LatLng | None:
    """The point of two decimal numbers; None off the earth."""
    return _on_earth(float(lat), float(lng))


def _bare(line: str) -> str:
    """A line without the words and brackets around its numbers."""
    bare = _LABEL.sub(" ", _PREFIX.sub("", line))
    bare = _AROUND.sub("", bare.strip())
    return re.sub(r"\s*,\s*,\s*", ", ", " ".join(bare.split()))


def _angles(text: str) -> re.Match[str] | None:
    """Two angles, each with minutes, seconds, a letter or a degree sign, or none of them."""
    line = _HEMISPHERE.sub(lambda found: _LETTER_OF[found[1].casefold()], text)
    return next(filter(None, (each.fullmatch(line) for each in _ANGLES)), None)


def _point_of_angles(found: re.Match[str]) -> LatLng | None:
    """The point of two angles; their letters say which is the latitude."""
    sides = found["a_side"].upper(), found["b_side"].upper()
    first = _degrees(found, "a_", sides[0])
    second = _degrees(found, "b_", sides[1])
    if first is None or second is None:
        return None
    if not any(sides):
        is_marked = found["a_mark"] and found["b_mark"]
        return _on_earth(first, second) if is_marked else None
    is_lat = [side in "NS" for side in sides]
    if is_lat[0] == is_lat[1] or EITHER_SIDE in sides:
        return None
    if is_lat[1]:
        first, second = second, first
    return _on_earth(first, second)


def _degrees(found: re.Match[str], axis: str, side: str) -> float | None:
    """The angle in degrees, south and west negative; None for what is no angle."""
    parts = [(found[axis + part] or "").replace(",", ".") for part in ("deg", "min", "sec")]
    degrees, minutes, seconds = (float(part or "0") for part in parts)
    is_signed = parts[0].startswith(("-", "+"))
    # only the last part has decimals
    is_broken = any("." in part for part, smaller in pairwise(parts) if smaller)
    if is_broken or minutes >= 60 or seconds >= 60 or (side and is_signed):
        return None
    whole = abs(degrees) + minutes / 60 + seconds / 3600
    if side in ("S", "W") or parts[0].startswith("-"):
        whole = -whole
    return round(whole, 6)


def _on_earth(lat: float, lng: float) -> LatLng | None:
    return LatLng(lat, lng) if is_valid(lat, lng) else None
