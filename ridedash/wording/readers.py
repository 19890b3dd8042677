"""Chooses the language of a page by what is known about its reader (docs/languages.md 5). Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from babel.core import Locale

from ridedash.wording.languages import ENGLISH, LANGUAGES


class Surface(StrEnum):
    """The kind of a page or document, which decides whose choice of language counts."""

    STAFF = "staff"  # a page of the desk
    DOOR = "door"  # sign-in and invitation: the reader is not known yet
    GUEST = "guest"  # the guest's own link
    FOLLOWER = "follower"  # a link for others: it must not reveal the guest's language
    PRINT = "print"  # documents that staff hand to the guest: card, receipt, message
    RECORD = "record"  # files, logs and metrics, which programs read: always English


GUESTS: Final = frozenset({Surface.GUEST, Surface.FOLLOWER, Surface.PRINT})
# how many languages of a browser's list are read; people have two or three
MOST_PREFERENCES: Final = 12

# The polls of pages name their language by its tag, so that a page and its polls never differ.
TAGS: Final = {row.tag: row.code for row in LANGUAGES.values()}
# tags that Babel does not resolve by itself
_ALIASES: Final = {"zh": "zh_Hans"}
# readers of these languages are better served by English than by a related language
_ENGLISH_INSTEAD: Final = ("zh_tw", "zh_hk", "zh_mo", "zh_hant", "pt")


@dataclass(frozen=True)
class Reader:
    """The facts about a reader; "" and () if unknown."""

    requested: str = ""  # the tag in the address
    own: str = ""  # the person's own choice: staff's in their settings, a guest's at the desk
    accepts: tuple[str, ...] = ()  # the tags that the browser prefers, the best first
    house: str = ""  # the property's default


def choose(surface: Surface, reader: Reader, offered: Collection[str]) -> str:
    """The code of the language in which `surface` addresses `reader`: an offered one, or "en".

    >>> choose(Surface.GUEST, Reader(own="ar", accepts=("de-AT", "en")), ["ar", "de"])
    'ar'
    >>> choose(Surface.FOLLOWER, Reader(own="ar", accepts=("de-AT", "en")), ["ar", "de"])
    'de'
    """
    chains: dict[Surface, tuple[Iterable[str], ...]] = {
        Surface.STAFF: ([reader.own], [reader.house]),
        Surface.DOOR: (reader.accepts, [reader.house]),
        Surface.GUEST: ([reader.requested], [reader.own], reader.accepts, [reader.house]),
        Surface.FOLLOWER: ([reader.requested], reader.accepts, [reader.house]),
        Surface.PRINT: ([reader.own], [reader.house]),
        Surface.RECORD: (),
    }
    for tags in chains[surface]:
        found = negotiate(tags, offered)
        if found:
            return found
        if tags == [reader.own] and reader.own and surface in GUESTS:
            # the desk was shown that this guest's page is in English, so the browser's list is not
            # used
            return ENGLISH
    return ENGLISH


def negotiate(tags: Iterable[str], offered: Collection[str]) -> str:
    """The code of the first tag that is offered, English included; "" for none of them.

    Regions are ignored if only the language is offered, but "zh-TW" and "pt" mean English.

    >>> [negotiate([tag], ["de", "zh_Hans"]) for tag in ("de-AT", "zh-CN", "zh-TW", "pt", "ja")]
    ['de', 'zh_Hans', 'en', 'en', '']
    """
    available = [ENGLISH, *offered]
    wanted = list[str]()
    instead = ""
    for tag in [each.replace("-", "_") for each in tags][:MOST_PREFERENCES]:
        if tag.lower().startswith(_ENGLISH_INSTEAD):
            instead = ENGLISH
        elif not (instead and tag.lower() == "zh"):  # browsers add "zh" to "zh-TW" by themselves
            parts = tag.split("_", 2)  # Babel does not try zh_Hans for zh_Hans_HK
            wanted += [tag, "_".join(parts[:2]), parts[0]]
    found = Locale.negotiate(wanted, available, sep="_", aliases=_ALIASES)
    return str(found) if found else instead


def of_poll(tag: str) -> str:
    """The code of the language in a poll's address; English for an unknown tag."""
    return TAGS.get(tag, ENGLISH)
