"""Which languages are whole enough to be offered, and how far people have read them.

Each compiled catalogue says it in its head (docs/languages.md 4):

    X-Figures: guests=512/520 staff=903/1120 critical=38/40 reviewed=498/520
"""

import gettext
import logging
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

from ridedash.wording.catalogues import FIGURES
from ridedash.wording.languages import with_catalogues

log = logging.getLogger(__name__)
STAFF_NEEDS: Final = Fraction(95, 100)
REVIEWED_NEEDS: Final = Fraction(95, 100)
_FIGURE: Final = re.compile(r"(guests|staff|critical|reviewed)=([0-9]{1,6})/([0-9]{1,6})\b")


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
    """The figures of each language whose compiled catalogue is there, in the order of the table.

    `critical`: the English texts about money, safety and a second booking.
    """

    figures: Mapping[str, Figures]
    critical: tuple[str, ...] = ()

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

    def unread(self, read: Collection[str]) -> dict[str, frozenset[str]]:
        """The critical texts of each language in which no native reader has read them.

        `read`: the languages that a reader of this property's has read.
        """
        critical = frozenset(self.critical)
        codes = (code for code in self.figures if code not in read)
        return {code: critical for code in codes if self.level(code) is Level.MACHINE}


def read(folders: Iterable[str | Path], texts: Path) -> Offered:
    """What the compiled catalogues in these folders say of themselves; the first one found counts.

    One that can't be read, or says nothing, is offered to nobody. `texts`: where critical.txt is.
    """
    places, found = [str(folder) for folder in folders], {}
    for language in with_catalogues():
        paths = (gettext.find("messages", place, [language.code]) for place in places)
        path = next(filter(None, paths), None)
        if path:
            found[language.code] = _figures(path)
    return Offered(found, _critical(texts / "critical.txt"))


def _critical(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError) as error:
        log.error("the list of critical texts can't be read, none has English beneath: %s", error)
        return ()


def _figures(path: str) -> Figures:
    """The figures of a compiled catalogue, read again when it was written anew."""
    try:
        return _read_figures(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        log.error("a catalogue can't be read, and is offered to nobody: %s", error)
        return Figures()


@cache
def _read_figures(path: str, _written_ns: int) -> Figures:
    try:
        with Path(path).open("rb") as file:
            said = gettext.GNUTranslations(file).info().get(FIGURES.lower(), "")
    except (OSError, ValueError, EOFError, LookupError, SyntaxError, struct.error) as error:
        log.error("a catalogue can't be read, and is offered to nobody: %s", error)
        return Figures()
    return figures_of(said)


def figures_of(said: str) -> Figures:
    """The figures of that line; 0 of 0 is none.

    >>> figures_of("guests=520/520 staff=1/2 critical=0/0 reviewed=0/520").staff
    Fraction(1, 2)
    """
    found = _FIGURE.findall(said)
    return Figures(**{name: Fraction(int(n), int(of) or 1) for name, n, of in found})
