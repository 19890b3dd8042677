"""Texts with a count that a script fills in, in every plural form of the reader's language.

The script knows the number, and the server knows the words. The page gets all forms under the names
of CLDR, and `Intl.PluralRules` says which form a number takes (static/js/shared/counts.js).
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import flask_babel
from babel.core import Locale

from ridedash.wording.say import counted

# sample numbers, which include one of each plural form: "many" in French and Spanish begins at a
# million
_NUMBERS: Final = (*range(201), 1_000_000)


@dataclass(frozen=True)
class Counted:
    """A text with a count, for tables that are built at import: its English singular and plural."""

    one: str
    many: str

    @property
    def forms(self) -> dict[str, str]:
        """The forms in the reader's language: {"one": "{n} car", "other": "{n} cars"}."""
        locale = flask_babel.get_locale() or "en"
        samples = _samples(str(locale))
        return {
            form: counted(self.one, self.many, number).replace("%(num)d", "{n}")
            for form, number in samples.items()
        }


def count_forms(one: str, many: str) -> str:
    """The forms of a text with a count as JSON, for a data attribute."""
    return json.dumps(Counted(one, many).forms, ensure_ascii=False)


@lru_cache(maxsize=32)
def _samples(code: str) -> dict[str, int]:
    """A number for each plural form of a language, by the form's name in CLDR."""
    rule = Locale.parse(code).plural_form
    found: dict[str, int] = {}
    for number in _NUMBERS:
        found.setdefault(rule(number), number)
    return found
