"""Which languages are whole enough to be offered, and how far people have read them.

`make words` counts that in each translator's file and writes translations/figures.json
(docs/languages.md 5):

    {"ar": {"guests": [512, 520], "staff": [903, 999], "critical": [9, 40], "reviewed": [9, 520]}}

`guests` and `staff` are the messages that are translated, of those that guests meet and of the
rest; `critical` and `reviewed` those that a native reader has read, of the critical ones and of all
that guests meet.
"""

import gettext
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ridedash.wording.languages import with_catalogues

log = logging.getLogger(__name__)
FILE: Final = "figures.json"
STAFF_NEEDS: Final = Fraction(95, 100)
REVIEWED_NEEDS: Final = Fraction(95, 100)


class Level(StrEnum):
    """Who has read a language: a native reader all of it, the critical sentences, or nobody."""

    REVIEWED = "reviewed"
    CHECKED = "checked"
    MACHINE = "machine"


@dataclass(frozen=True)
class Figures:
    """The shares of a catalogue, from 0 to 1."""

    guests: Fraction = Fraction(0)
    staff: Fraction = Fraction(0)
    critical: Fraction = Fraction(0)
    reviewed: Fraction = Fraction(0)

    @property
    def for_guests(self) -> bool:
        """Whether no page of a guest would be partly English."""
        return self.guests == 1

    @property
    def for_staff(self) -> bool:
        """Whether staff can work in it."""
        return self.for_guests and self.staff >= STAFF_NEEDS

    @property
    def level(self) -> Level:
        """Who has read it."""
        if self.critical < 1:
            return Level.MACHINE
        return Level.REVIEWED if self.reviewed >= REVIEWED_NEEDS else Level.CHECKED


@dataclass(frozen=True)
class Offered:
    """The figures of each language whose compiled catalogue is there, in the order of the table."""

    figures: Mapping[str, Figures]

    @property
    def guests(self) -> tuple[str, ...]:
        """The codes of what is offered to guests beside English."""
        return tuple(code for code, found in self.figures.items() if found.for_guests)

    @property
    def staff(self) -> tuple[str, ...]:
        """The codes of what is offered to staff beside English."""
        return tuple(code for code, found in self.figures.items() if found.for_staff)

    def level(self, code: str) -> Level:
        """Who has read a language. English is the original."""
        found = self.figures.get(code)
        return found.level if found else Level.REVIEWED


def read(folder: Path, compiled: Iterable[str | Path]) -> Offered:
    """What the figures in a folder say of the languages that are compiled in one of the others.

    A file of figures that can't be read offers nothing, and the log says so.
    """
    try:
        found = json.loads((folder / FILE).read_text())
        figures = {code: figures_of(found[code]) for code in found}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.error("the figures of languages can't be read: %s", error)
        return Offered({})
    places = [str(each) for each in compiled]
    return Offered(
        {
            row.code: figures[row.code]
            for row in with_catalogues()
            if row.code in figures
            and any(gettext.find("messages", place, [row.code]) for place in places)
        }
    )


def figures_of(counts: Mapping[str, Any]) -> Figures:
    """The shares of a language. Raises ValueError or TypeError for what are no counts.

    >>> figures_of({"guests": [520, 520], "staff": [1, 2]}).staff
    Fraction(1, 2)
    """
    known = ("guests", "staff", "critical", "reviewed")
    return Figures(**{name: _share(*counts[name]) for name in known if name in counts})


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)
