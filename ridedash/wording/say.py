"""Sentences with slots for facts, some of which may be unknown; and translation."""

import logging
import re
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from gettext import NullTranslations
from typing import Any, Final

import flask_babel
from babel.core import Locale, UnknownLocaleError
from flask import g
from flask_babel.speaklater import LazyString
from jinja2 import Environment, pass_context
from jinja2.runtime import Context

from ridedash.wording.rules import usable

log = logging.getLogger(__name__)

_OPTIONAL: Final = re.compile(r"\[([^\[\]]*)\]")
_SLOT: Final = re.compile(r"\{(\w+)\}")
_ENGLISH: Final = NullTranslations()

Text = Any  # a lazy string, or a str


def gettext(text: str, **facts: object) -> str:
    """A text in the reader's language with its %(name)s filled."""
    translated = str(_reading().words.gettext(text))
    if translated != text and not usable(text, translated):
        translated = text
    return translated % isolated(facts) if facts else translated


def pgettext(context: str, text: str, **facts: object) -> str:
    """The same of a text that means one thing here and another elsewhere; `context` says which."""
    translated = str(_reading().words.pgettext(context, text))
    if translated != text and not usable(text, translated):
        translated = text
    return translated % isolated(facts) if facts else translated


def ngettext(one: str, many: str, num: int, **facts: object) -> str:
    """A text with a count, in the form that the reader's language has for it; %(num)d is filled."""
    return counted(one, many, num) % {"num": num, **isolated(facts)}


def counted(one: str, many: str, num: int) -> str:
    """The same with its %(name)s still to be filled, as templates do."""
    translated = str(_reading().words.ngettext(one, many, num))
    if translated in (one, many) or usable(one, translated, many):
        return translated
    return one if num == 1 else many


def lazy(text: str, **facts: object) -> Text:
    """A text that is translated when it is used: for tables that are built at import."""
    return LazyString(gettext, text, **facts)


def lazy_pgettext(context: str, text: str) -> Text:
    """The same of a text that has a context."""
    return LazyString(pgettext, context, text)


def install_words(templates: Environment) -> None:
    """Give templates `_()`, `ngettext()` and `pgettext()` in the reader's language.

    Jinja escapes the facts of a sentence and fills them in; the text itself is ours and is not
    escaped. Facts are set apart before, as everywhere.
    """
    templates.install_gettext_callables(  # type: ignore[attr-defined] # of its extension i18n
        gettext, counted, newstyle=True, pgettext=pgettext
    )
    words: dict[str, Any] = templates.globals
    words["spoken_in"] = spoken_in
    for name in ("gettext", "ngettext", "pgettext"):
        words[name] = _isolating(words[name])


def _isolating(fill: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def filled(context: Context, *texts: Any, **facts: Any) -> Any:
        return fill(context, *texts, **isolated(facts))

    return filled


def spoken_in(code: str, caller: Callable[[], Any]) -> Any:
    """A part of a template in another language: `{% call spoken_in("ar") %} … {% endcall %}`."""
    with in_language(code):
        return caller()


def speak(code: str) -> None:
    """Answer the rest of this request in a language."""
    g.language = code
    g.pop("reading", None)
    flask_babel.refresh()


@contextmanager
def in_language(code: str) -> Iterator[None]:
    """Texts in another language than the page's, within a request. An unknown one is English."""
    before = g.pop("reading", None)
    try:
        with flask_babel.force_locale(_known(code)):
            yield
    finally:
        g.pop("reading", None)
        if before is not None:
            g.reading = before


def _known(code: str) -> str:
    try:
        Locale.parse(code)
    except (UnknownLocaleError, ValueError) as error:
        _log_once(code, str(error))
        return "en"
    return code


@dataclass(frozen=True)
class Reading:
    """The words of a language, and whether its lines run from right to left.

    `reading` of a request's `g` holds that of its page.
    """

    words: NullTranslations
    right_to_left: bool


def _reading() -> Reading:
    """What this request is read in; looked up once for each request."""
    try:
        found: Reading = g.reading
    except AttributeError:
        found = g.reading = _look_up()
    except RuntimeError:  # outside a request
        found = Reading(_ENGLISH, right_to_left=False)
    return found


def _look_up() -> Reading:
    locale = flask_babel.get_locale()
    right_to_left = locale is not None and locale.text_direction == "rtl"
    try:
        return Reading(flask_babel.get_translations(), right_to_left)
    except (OSError, ValueError, EOFError, LookupError, SyntaxError, struct.error) as error:
        _log_once(str(locale), str(error))
        return Reading(_ENGLISH, right_to_left=False)


@lru_cache(maxsize=64)
def _log_once(locale: str, error: str) -> None:
    log.error("the catalogue of %s can't be read, English is shown: %s", locale, error)


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
    backwards = _reading().right_to_left
    return _SLOT.sub(lambda match: _apart(facts.get(match.group(1)) or "", backwards), text)


def isolated(facts: Mapping[str, object]) -> Mapping[str, object]:
    """The facts of a sentence; each text that runs against the page is set apart, so that it
    doesn't reorder the sentence. Markup stays as it is.
    """
    backwards = _reading().right_to_left
    return {
        name: _apart(fact, backwards) if type(fact) is str else fact for name, fact in facts.items()
    }


def _apart(fact: str, right_to_left: bool) -> str:
    """The fact, isolated if one of its letters, or a figure, runs against the line."""
    if fact.isascii() and not right_to_left:
        return fact
    against = ("L", "EN") if right_to_left else ("R", "AL")
    if any(unicodedata.bidirectional(letter) in against for letter in fact):
        return f"\u2068{fact}\u2069"
    return fact
