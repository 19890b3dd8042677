"""A property's own words for guests, and the languages that a native reader has checked for it.

Both are read from the database again only after a change.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from flask import current_app

from ridedash.extensions import guest_languages, offered, services
from ridedash.store.models.people import Property
from ridedash.store.wordings import reviews_of, wordings_of
from ridedash.wording import gettext as _
from ridedash.wording.own import texts_of
from ridedash.wording.say import OwnTexts, in_language, speak_for

# the key in app.extensions of the cache: PropertyWords by the id of their property
EXTENSION: Final = "ridedash.own_words"
NONE: Final[OwnTexts] = MappingProxyType({})


@dataclass(frozen=True)
class PropertyWords:
    """The words of a property as of `version`, which counts the changes of its words.

    `digests`: for each language code, the digest of the sentences that a native reader has read.
    """

    version: int
    texts: OwnTexts
    digests: Mapping[str, str]

    @cached_property
    def read(self) -> frozenset[str]:
        """The languages whose critical sentences are unchanged since a native reader read them."""
        return frozenset(
            code for code, seen in self.digests.items() if seen == digest_of(code, self.texts)
        )


def speak_as(prop: Property, *, own: bool = True) -> None:
    """Choose the words for a guest of this property, for the rest of this request.

    They are the property's own words, except for a follower (`own` is false), who must not learn
    where the guest stays. Critical sentences whose translation no one has read get their English
    beneath.
    """
    words = property_words(prop)
    speak_for(words.texts if own else NONE, offered().unread(words.read))


def languages_for(prop: Property) -> tuple[str, ...]:
    """The codes of the languages that the property offers its guests beside English."""
    return guest_languages(prop.machine_words, property_words(prop).read)


def property_words(prop: Property) -> PropertyWords:
    """The words of a property, from the database if this process lacks their latest version."""
    if not prop.words_version:
        return PropertyWords(0, NONE, {})
    cached: dict[int, PropertyWords] = current_app.extensions.setdefault(EXTENSION, {})
    found = cached.get(prop.id)
    if found is None or found.version != prop.words_version:
        with services().db.read() as s:
            texts = texts_of(wordings_of(s, prop.id))
            digests = {code: row.digest for code, row in reviews_of(s, prop.id).items()}
        found = cached[prop.id] = PropertyWords(prop.words_version, texts, digests)
    return found


def critical_words(code: str, texts: OwnTexts) -> list[tuple[str, str]]:
    """The critical sentences, each in English and in a language, as guests of the property read
    them.
    """
    own = texts.get(code, {})
    with in_language(code):
        return [(text, own.get(text) or _(text)) for text in offered().critical]


def digest_of(code: str, texts: OwnTexts) -> str:
    """A digest of the critical sentences in a language, which changes with any of them."""
    content = "\n".join(f"{text}\t{words}" for text, words in critical_words(code, texts))
    return hashlib.sha256(content.encode()).hexdigest()
