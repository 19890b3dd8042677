"""The languages that pages are offered in (docs/languages.md 1).

A language consists of a row here and a catalogue in translations/; most need no other code.
English is the language of the texts in the code and has no catalogue.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from babel.core import Locale

ENGLISH: Final = "en"


@dataclass(frozen=True)
class Language:
    """A language of pages: its code, its name, and how it writes dates and amounts."""

    code: str  # the name used by Babel and for the folder in translations/: "zh_Hans"
    own_name: str  # the name in the language itself
    formats: str = ""  # the locale of dates and amounts if it is not the code: "en_GB"
    whole: bool = False  # whether every text but a demo's is translated, and must stay so

    @property
    def tag(self) -> str:
        """The tag for HTML: "zh-Hans"."""
        return self.code.replace("_", "-")

    @property
    def direction(self) -> str:
        """The direction of its lines: "ltr" or "rtl"."""
        return str(Locale.parse(self.code).text_direction)


# English dates have the form "5 Mar", which is usual where the program is in use
_ROWS: Final = (
    Language(ENGLISH, "English", "en_GB"),
    Language("hi", "हिन्दी", whole=True),
    Language("ar", "العربية", whole=True),
    Language("es", "Español", whole=True),
    Language("fr", "Français", whole=True),
    Language("de", "Deutsch", whole=True),
    Language("ja", "日本語", whole=True),
    Language("zh_Hans", "简体中文", whole=True),
)
LANGUAGES: Final[dict[str, Language]] = {row.code: row for row in _ROWS}


def with_catalogues() -> Iterator[Language]:
    """Every language that needs a translation: all except English."""
    return (row for row in LANGUAGES.values() if row.code != ENGLISH)


def formats_of(code: str) -> str:
    """The locale that writes dates and amounts for a language; an unknown code stays."""
    row = LANGUAGES.get(code)
    return (row.formats if row else "") or code
