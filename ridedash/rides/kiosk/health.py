"""The health of a device, from its last heartbeat. Pure.

A heartbeat is a report that a device's page sends regularly. Among other things it contains
the languages for which the browser has local voices and fonts, and the time of its clock.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ridedash.__about__ import __version__
from ridedash.store.kiosk_desk import ALIVE
from ridedash.store.models.kiosks import Kiosk

SKEW_S: Final = 30  # by how much a device's clock may be wrong
LONG_MM: Final = 215  # long side of the smallest screen for guests, a tablet of 10.1 inches
SHORT_MM: Final = 134  # its short side: on less, words are cut off and keys cover what is typed


def is_alive(row: Kiosk, now: datetime) -> bool:
    """Whether a paired device has sent a heartbeat within the last minute."""
    return row.seen_at is not None and now - row.seen_at <= ALIVE


def can(row: Kiosk, what: str, code: str) -> bool | None:
    """Whether a device has `voices` or `fonts` for a language; None when it has not reported it.

    For voices it reports only the first part of the tag, "zh", by which it also chooses a voice
    (static/js/kiosk/speech.js); for fonts it reports the full tags of our languages, "zh-Hans".
    """
    tags = tags_of(row.health, what)
    if tags is None:
        return None
    tag = code.replace("_", "-").lower()
    if what == "voices":
        return _first_part(tag) in map(_first_part, tags)
    return tag in tags or tag in map(_first_part, tags)


def _first_part(tag: str) -> str:
    return tag.split("-")[0]


def tags_of(health: Mapping[str, Any], what: str) -> set[str] | None:
    """The language tags under the name `what` in a heartbeat, in lower case; None without one."""
    tags = health.get(what)
    if not isinstance(tags, list):
        return None
    return {str(each).strip().lower() for each in tags}


def skew_s(row: Kiosk) -> float | None:
    """By how many seconds a device's clock is ahead of ours; None when it has not reported it."""
    seconds = row.health.get("skew_s")
    if not isinstance(seconds, int | float):
        return None
    return float(seconds)


def is_wrong(skew: float | None) -> bool:
    """Whether a clock is so wrong that times on the screen mislead."""
    return skew is not None and abs(skew) > SKEW_S


def is_old(row: Kiosk) -> bool:
    """Whether a device shows a page of another version than ours; False while that is unknown."""
    if not row.release:
        return False
    version, _dash, _build = row.release.partition("-")
    return version != __version__


def size_mm(row: Kiosk) -> tuple[int, int] | None:
    """Width and height of a screen; None if it was not measured, or has not reported its pixels."""
    pixels = row.health.get("px")
    if row.mm_per_px is None or not pixels:
        return None
    wide, high = pixels
    return round(wide * row.mm_per_px), round(high * row.mm_per_px)


def is_too_small(wide: int, high: int) -> bool:
    """Whether a screen of this size, in mm, has no room for what guests read and touch."""
    return max(wide, high) < LONG_MM or min(wide, high) < SHORT_MM
