"""The languages that pages are offered in (docs/languages.md 1).

A row here and a catalogue in translations/ make a language; nothing else names one. English is the
language of the texts in the code and has no catalogue.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from babel.core import Locale

ENGLISH: Final = "en"


@dataclass(frozen=True)
class Language:
    """A language of pages: its code, its name, and how it writes dates and amounts."""

    code: str  # as Babel and the folder in translations/ name it: "zh_Hans"
    own_name: str  # as its readers write it
    formats: str = ""  # the locale of dates and amounts where it is not the code: "en_GB"
    whole: bool = False  # every text that guests meet is translated, and must stay so

    @property
    def tag(self) -> str:
        """The tag for HTML: "zh-Hans"."""
        return self.code.replace("_", "-")

    @property
    def direction(self) -> str:
        """How its lines run: "ltr" or "rtl"."""
        return str(Locale.parse(self.code).text_direction)


# English dates read "5 Mar", as they do where the program is at home
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
    """Every language that has to be translated: all but English."""
    return (row for row in LANGUAGES.values() if row.code != ENGLISH)


def formats_of(code: str) -> str:
    """The locale that writes dates and amounts for a language; an unknown one stands for itself."""
    row = LANGUAGES.get(code)
    return (row.formats if row else "") or code
