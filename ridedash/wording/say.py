"""Sentences with slots for facts, some of which may be unknown; and translation."""

import logging
import re
import struct
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from gettext import NullTranslations
from typing import Any, Final

import flask_babel
from babel.core import Locale, UnknownLocaleError
from flask import g, has_request_context
from flask_babel.speaklater import LazyString
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import escape

from ridedash.wording.rules import usable

log = logging.getLogger(__name__)

_OPTIONAL: Final = re.compile(r"\[([^\[\]]*)\]")
_SLOT: Final = re.compile(r"\{(\w+)\}")
_SLOT_PLACES: Final = re.compile(r"\{\w+\}")
_ENGLISH: Final = NullTranslations()

Text = Any  # a lazy string, or a str
OwnTexts = Mapping[str, Mapping[str, str]]  # by language, then by English text


def gettext(text: str, **facts: object) -> str:
    """A text in the reader's language, with each %(name)s replaced by the fact of that name.

    A property's own words take precedence: see speak_for().
    """
    reading = _reading()
    translated = reading.own.get(text) or str(reading.words.gettext(text))
    if translated != text and not usable(text, translated):
        translated = text
    shown = _with_facts(translated, facts)
    if text in reading.unread and text not in reading.own:
        _remember(text % _in_english(facts) if facts else text, shown)
    return shown


def own_words(name: str) -> str:
    """A property's own words for a sentence without a text of ours; "" if it has none.

    `name` is the sentence's name in wording.own.
    """
    return _reading().own.get(name, "")


def pgettext(context: str, text: str, **facts: object) -> str:
    """Like gettext(), for a text with several meanings; `context` says which one is meant."""
    translated = str(_reading().words.pgettext(context, text))
    if translated != text and not usable(text, translated):
        translated = text
    return _with_facts(translated, facts)


def _with_facts(translated: str, facts: Mapping[str, object]) -> str:
    """A translation with its facts; without any, a percent sign is one."""
    return translated % isolated(facts) if facts else translated


def ngettext(one: str, many: str, num: int, **facts: object) -> str:
    """A text with a count, in the plural form of the reader's language; %(num)d is filled in."""
    return counted(one, many, num) % {"num": num, **isolated(facts)}


def counted(one: str, many: str, num: int) -> str:
    """Like ngettext(), but %(num)d and each %(name)s stay in the text, for Jinja to fill."""
    translated = str(_reading().words.ngettext(one, many, num))
    if translated in (one, many) or usable(one, translated, many):
        return translated
    if num == 1:
        return one
    return many


def lazy(text: str, **facts: object) -> Text:
    """A text that is translated when it is used: for tables that are built at import."""
    return LazyString(gettext, text, **facts)


def lazy_pgettext(context: str, text: str) -> Text:
    """Like lazy(), for a text with several meanings (see pgettext)."""
    return LazyString(pgettext, context, text)


def install_words(templates: Environment) -> None:
    """Give templates `_()`, `ngettext()` and `pgettext()` in the reader's language.

    Jinja escapes the facts of a sentence and fills them in. Our texts are not escaped; a property's
    own words are. Facts go through isolated() first, as in gettext().
    """
    templates.install_gettext_callables(  # type: ignore[attr-defined] # of its extension i18n
        _as_markup, counted, newstyle=True, pgettext=pgettext
    )
    words: dict[str, Any] = templates.globals
    words |= {"spoken_in": spoken_in, "own_words": own_words, "english_beneath": english_beneath}
    for name in ("gettext", "ngettext", "pgettext"):
        words[name] = _isolating(words[name])


def _as_markup(text: str) -> str:
    """Like gettext() without facts, for Jinja, which treats every text as markup."""
    translated = gettext(text)
    if text in _reading().own:
        return str(escape(translated))
    return translated


def _isolating(fill: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def filled(context: Context, *texts: Any, **facts: Any) -> Any:
        shown = fill(context, *texts, **isolated(facts))
        if facts and texts[-1] in _reading().unread:
            with in_language("en"):
                english = fill(context, *texts, **_in_english(facts))
            _remember(english, str(shown))
        return shown

    return filled


def spoken_in(code: str, caller: Callable[[], Any]) -> Any:
    """Render a block of a template in another language.

    `{% call spoken_in("ar") %} … {% endcall %}`
    """
    with in_language(code):
        return caller()


def speak(code: str) -> None:
    """Use a language for the rest of this request."""
    g.language = code
    g.pop("reading", None)
    flask_babel.refresh()


def speak_for(own: OwnTexts, unread: Mapping[str, Collection[str]]) -> None:
    """Speak to a property's guest for the rest of this request.

    `own`: the property's own words. `unread`: for each language, the English of critical sentences
    whose translation no one has read; english_beneath() then returns it.
    """
    g.own_words = own
    g.unread = unread
    g.pop("reading", None)


def english_beneath(shown: str) -> str:
    """The English of critical sentences in a shown text whose translation no one has read.

    They are in the order of the text, each ending with a full stop or "?". "" if there are none,
    and outside a request.
    """
    critical = critical_shown()
    found = [sentence for sentence in critical if sentence in str(shown)]
    return " ".join(critical[sentence] for sentence in sorted(found, key=str(shown).index))


def critical_shown() -> dict[str, str]:
    """The critical sentences that this request has shown in a translation that no one has read,
    each with its English. {} outside a request.
    """
    shown: Mapping[str, str] = g.get("english", {}) if has_request_context() else {}
    return {
        sentence: line if line.endswith((".", "?")) else f"{line}."
        for sentence, line in shown.items()
        if not _SLOT.search(sentence)  # else its facts are not filled in yet
    }


def _remember(english: str, sentence: str) -> None:
    """Store the English of a critical sentence, with its facts, for english_beneath()."""
    if english != sentence:
        g.setdefault("english", {})[sentence] = english


@contextmanager
def in_language(code: str) -> Iterator[None]:
    """Use another language than the page's, within a request; English for an unknown code."""
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
class LanguageTexts:
    """The translations of a language, and whether it is written from right to left.

    `own` has a property's own words by English text; `unread` the critical texts whose translation
    no one has read. `g.reading` belongs to the request's language; `in_language` replaces it
    temporarily.
    """

    words: NullTranslations
    right_to_left: bool
    own: Mapping[str, str] = field(default_factory=dict)
    unread: Collection[str] = ()


def _reading() -> LanguageTexts:
    """The translations for this request, looked up once. English outside a request."""
    try:
        found: LanguageTexts = g.reading
    except AttributeError:
        found = g.reading = _look_up()
    except RuntimeError:  # outside a request
        found = LanguageTexts(_ENGLISH, right_to_left=False)
    return found


def _look_up() -> LanguageTexts:
    locale = flask_babel.get_locale()
    right_to_left = locale is not None and locale.text_direction == "rtl"
    own = g.get("own_words", {}).get(str(locale), {})
    unread = g.get("unread", {}).get(str(locale), ())
    try:
        return LanguageTexts(flask_babel.get_translations(), right_to_left, own, unread)
    except (OSError, ValueError, EOFError, LookupError, SyntaxError, struct.error) as error:
        _log_once(str(locale), str(error))
        return LanguageTexts(_ENGLISH, right_to_left=False)


@lru_cache(maxsize=64)
def _log_once(locale: str, error: str) -> None:
    log.error("the catalogue of %s can't be read, English is shown: %s", locale, error)


class LocalisedFact(str):
    """A fact in the notation of the reader's language, and of English: "15 ₹", "₹15".

    `english` is for the English version of a sentence.
    """

    english: str

    def __new__(cls, shown: str, english: str = "") -> "LocalisedFact":
        """Without `english`, `shown` is used. `copy` passes `shown` only, then sets `english`."""
        made = super().__new__(cls, shown)
        made.english = english or shown
        return made


def _in_english(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a sentence in English notation."""
    return {name: getattr(fact, "english", fact) for name, fact in facts.items()}


class Audience(StrEnum):
    """The readers of a text. Guests read nothing about accounts."""

    STAFF = "staff"
    GUEST = "guest"


@dataclass(frozen=True)
class Words:
    """The words of a state: headline, line below, tone (a colour in base.css), icon."""

    headline: str
    detail: str
    tone: str
    icon: str


def say(text: Text | Sequence[Text], facts: Mapping[str, str | None]) -> str:
    """A sentence with its `{slots}` filled.

    A `[part]` in brackets is left out when one of its facts is unknown. `text` may be a list of
    sentences: the first whose facts outside brackets are all known is used, else the last. A fact
    is inserted as it is: slots and brackets in it have no effect.
    """
    choices = list(text) if isinstance(text, (list, tuple)) else [text]
    for choice in choices:
        known = _drop_unknown(str(choice), facts)
        if all(facts.get(name) for name in _SLOT.findall(known)):
            return _remember_filled(str(choice), _fill(known, facts), facts)
    last = str(choices[-1])
    return _remember_filled(last, _fill(_drop_unknown(last, facts), facts).strip(), facts)


def _remember_filled(sentence: str, filled: str, facts: Mapping[str, str | None]) -> str:
    """The sentence with its facts; a critical one also stores its English with the same facts."""
    if _reading().unread:
        english = g.get("english", {}).get(sentence)
        if english:
            _remember(_fill(_drop_unknown(english, facts), _in_english(facts)), filled)
    return filled


def _drop_unknown(text: str, facts: Mapping[str, str | None]) -> str:
    def part(match: re.Match[str]) -> str:
        inner = match.group(1)
        return inner if all(facts.get(name) for name in _SLOT.findall(inner)) else ""

    return _OPTIONAL.sub(part, text)


def _fill(text: str, facts: Mapping[str, str | None]) -> str:
    right_to_left = _reading().right_to_left
    return _SLOT.sub(lambda match: _isolate(facts.get(match.group(1)) or "", right_to_left), text)


def with_pauses(*facts: str | None) -> str:
    """Facts side by side that are no list of names: "LH 760, leaves 21:40"; "" for none.

    The comma is that of the reader's language; unknown facts are left out.
    """
    # T: two facts side by side, with a short pause between them: LH 760, leaves 21:40
    _before, comma, _after = _SLOT_PLACES.split(gettext("{one}, {two}"))
    right_to_left = _reading().right_to_left
    return comma.join(_isolate(fact, right_to_left) for fact in facts if fact)


def isolated(facts: Mapping[str, object]) -> Mapping[str, object]:
    """The facts of a sentence, ready to be inserted.

    A text with letters of the other writing direction gets Unicode isolates around it, so that it
    doesn't reorder the sentence. Values of other types, such as Markup, stay as they are.
    """
    right_to_left = _reading().right_to_left
    texts = {
        name: _isolate(fact, right_to_left)
        for name, fact in facts.items()
        if type(fact) is str or isinstance(fact, LocalisedFact)
    }
    return {**facts, **texts}


def _isolate(fact: str, right_to_left: bool) -> str:
    """The fact, in isolates (U+2068, U+2069) if it has a character of the other direction.

    In a right-to-left sentence these are 0 to 9, and the letters of left-to-right scripts.
    """
    if fact.isascii() and not right_to_left:
        return fact
    opposite = ("L", "EN") if right_to_left else ("R", "AL")
    if any(unicodedata.bidirectional(letter) in opposite for letter in fact):
        return f"\u2068{fact}\u2069"
    return fact


def country_name(code: str) -> str:
    """The name of a country, by its two letters, in the reader's language; the code if unknown."""
    locale = flask_babel.get_locale() or Locale("en")
    return str(locale.territories.get(code, code))
