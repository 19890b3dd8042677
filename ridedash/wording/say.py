"""Sentences with slots for facts, some of which may be unknown; and translation."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import flask_babel
from flask import g
from flask_babel.speaklater import LazyString

_OPTIONAL: Final = re.compile(r"\[([^\[\]]*)\]")
_SLOT: Final = re.compile(r"\{(\w+)\}")

Text = Any  # a lazy string, or a str


def gettext(text: str, **facts: object) -> str:
    """A text in the reader's language with its %(name)s filled.

    The translations are looked up once for each request.
    """
    try:
        translations = g.translations
    except AttributeError:
        translations = g.translations = flask_babel.get_translations()
    except RuntimeError:  # outside a request
        translations = flask_babel.get_translations()
    translated = str(translations.gettext(text))
    return translated % facts if facts else translated


def lazy(text: str) -> Text:
    """A text that is translated when it is used: for tables that are built at import."""
    return LazyString(gettext, text)


class Audience(StrEnum):
    """Who reads a text. Guests read nothing about accounts."""

    STAFF = "staff"
    GUEST = "guest"


@dataclass(frozen=True)
class Words:
    """How a state is shown: headline, the line below it, tone (a colour in base.css), icon."""

    headline: str
    detail: str
    tone: str
    icon: str


def say(text: Text | Sequence[Text], facts: Mapping[str, str | None]) -> str:
    """A sentence with its `{slots}` filled.

    A `[part]` in brackets is left out when one of its facts is unknown. Of several sentences, the
    first one is used of which all facts outside brackets are known, else the last one. A fact is
    inserted as it is: slots and brackets in it have no effect.
    """
    choices = list(text) if isinstance(text, (list, tuple)) else [text]
    for choice in choices:
        kept = _drop_unknown(str(choice), facts)
        if all(facts.get(name) for name in _SLOT.findall(kept)):
            return _fill(kept, facts)
    return _fill(_drop_unknown(str(choices[-1]), facts), facts).strip()


def _drop_unknown(text: str, facts: Mapping[str, str | None]) -> str:
    def part(match: re.Match[str]) -> str:
        inner = match.group(1)
        return inner if all(facts.get(name) for name in _SLOT.findall(inner)) else ""

    return _OPTIONAL.sub(part, text)


def _fill(text: str, facts: Mapping[str, str | None]) -> str:
    return _SLOT.sub(lambda match: _isolated(facts.get(match.group(1)) or ""), text)


def _isolated(fact: str) -> str:
    """The fact; right-to-left text is isolated, so that it doesn't reorder the sentence."""
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in fact):
        return f"\u2068{fact}\u2069"
    return fact
