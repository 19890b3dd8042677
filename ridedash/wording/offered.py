"""Which languages are translated far enough to be offered, and how much native readers have read.

The header of each compiled catalogue has these shares (docs/languages.md 4), of which `demo` is not
read here:

    X-Figures: guests=512/520 staff=903/1120 demo=0/90 critical=38/40 reviewed=498/520
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
STAFF_NEEDS: Final = Fraction(95, 100)  # the least translated share of texts for staff
REVIEWED_NEEDS: Final = Fraction(95, 100)  # the least reviewed share of texts for guests
_FIGURE: Final = re.compile(r"(guests|staff|critical|reviewed)=([0-9]{1,6})/([0-9]{1,6})\b")


class Level(StrEnum):
    """How much of a language native readers have read.

    REVIEWED: all critical texts, and almost all other texts of guests. CHECKED: all critical texts.
    MACHINE: not even those.
    """

    REVIEWED = "reviewed"
    CHECKED = "checked"
    MACHINE = "machine"


@dataclass(frozen=True)
class CatalogueShares:
    """Shares of a catalogue, from 0 to 1.

    `guests` and `staff`: of their texts, how many are translated. `critical`: of the critical
    texts, how many a native reader has read. `reviewed`: the same of all texts of guests.
    """

    guests: Fraction = Fraction(0)
    staff: Fraction = Fraction(0)
    critical: Fraction = Fraction(0)
    reviewed: Fraction = Fraction(0)

    @property
    def for_guests(self) -> bool:
        """Whether all texts of guests are translated: none of their pages is partly English."""
        return self.guests == 1

    @property
    def for_staff(self) -> bool:
        """Whether enough is translated for staff to work in this language."""
        return self.for_guests and self.staff >= STAFF_NEEDS

    @property
    def level(self) -> Level:
        """How much of this language native readers have read."""
        if self.critical < 1:
            return Level.MACHINE
        if self.reviewed >= REVIEWED_NEEDS:
            return Level.REVIEWED
        return Level.CHECKED


@dataclass(frozen=True)
class OfferedLanguages:
    """The shares of each language that has a compiled catalogue, in the order of LANGUAGES.

    `critical`: the English texts about money, safety and a second booking.
    """

    figures: Mapping[str, CatalogueShares]
    critical: tuple[str, ...] = ()

    @property
    def guests(self) -> tuple[str, ...]:
        """The codes of the languages that are offered to guests beside English."""
        return tuple(code for code, found in self.figures.items() if found.for_guests)

    @property
    def staff(self) -> tuple[str, ...]:
        """The codes of the languages that are offered to staff beside English."""
        return tuple(code for code, found in self.figures.items() if found.for_staff)

    def level(self, code: str) -> Level:
        """How much of a language native readers have read; REVIEWED for English, the original."""
        found = self.figures.get(code)
        if found is None:
            return Level.REVIEWED
        return found.level

    def unread(self, read: Collection[str]) -> dict[str, frozenset[str]]:
        """The critical texts by language code, for each language at the level MACHINE.

        `read`: the codes of languages that a native reader has read for the property; these are
        left out.
        """
        critical = frozenset(self.critical)
        codes = (code for code in self.figures if code not in read)
        return {code: critical for code in codes if self.level(code) is Level.MACHINE}


def read(folders: Iterable[str | Path], texts: Path) -> OfferedLanguages:
    """The shares of the compiled catalogues; a language's first one in these folders is used.

    A language whose catalogue can't be read, or has no shares, is not offered. `texts` is the
    folder of critical.txt.
    """
    places = [str(folder) for folder in folders]
    found = {}
    for language in with_catalogues():
        paths = (gettext.find("messages", place, [language.code]) for place in places)
        path = next(filter(None, paths), None)
        if path:
            found[language.code] = _figures(path)
    return OfferedLanguages(found, _critical(texts / "critical.txt"))


def _critical(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError) as error:
        log.error("critical.txt can't be read, no text gets its English beneath: %s", error)
        return ()


def _figures(path: str) -> CatalogueShares:
    """The shares of a compiled catalogue, cached until the file changes."""
    try:
        return _read_figures(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        log.error("a catalogue can't be read, and is not offered: %s", error)
        return CatalogueShares()


@cache
def _read_figures(path: str, _written_ns: int) -> CatalogueShares:
    try:
        with Path(path).open("rb") as file:
            header = gettext.GNUTranslations(file).info().get(FIGURES.lower(), "")
    except (OSError, ValueError, EOFError, LookupError, SyntaxError, struct.error) as error:
        log.error("a catalogue can't be read, and is not offered: %s", error)
        return CatalogueShares()
    return figures_of(header)


def figures_of(header: str) -> CatalogueShares:
    """The shares in a header X-Figures; a share of no texts (0/0) is 0.

    >>> figures_of("guests=520/520 staff=1/2 critical=0/0 reviewed=0/520").staff
    Fraction(1, 2)
    """
    found = _FIGURE.findall(header)
    return CatalogueShares(**{name: Fraction(int(n), int(of) or 1) for name, n, of in found})
