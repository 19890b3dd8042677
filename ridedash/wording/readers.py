"""Which language a page speaks, by what is known about its reader (docs/languages.md 5). Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from babel.core import Locale

from ridedash.wording.languages import ENGLISH, LANGUAGES


class Surface(StrEnum):
    """Where words stand, which says who chooses their language."""

    STAFF = "staff"  # a page of the desk
    DOOR = "door"  # sign-in and invitation: nobody is known yet
    GUEST = "guest"  # the guest's own link
    FOLLOWER = "follower"  # a link for others: it must not tell what the guest reads
    PRINT = "print"  # what staff hand to the guest: the card, the receipt, a message
    RECORD = "record"  # files, logs and figures, which programs read: English for good


GUESTS: Final = frozenset({Surface.GUEST, Surface.FOLLOWER, Surface.PRINT})
MOST_PREFERENCES: Final = 12  # of a browser's list; people have two or three

# The polls of pages name their language by its tag, so that page and poll never differ.
TAGS: Final = {row.tag: row.code for row in LANGUAGES.values()}
# What Babel doesn't find by itself
_ALIASES: Final = {
    "zh": "zh_Hans",
    "zh_cn": "zh_Hans",
    "zh_sg": "zh_Hans",
    "zh_my": "zh_Hans",
    "zh_hans_cn": "zh_Hans",
    "zh_hans_sg": "zh_Hans",
}
# Their readers are better served by English than by a language that merely looks related
_ENGLISH_INSTEAD: Final = ("zh_tw", "zh_hk", "zh_mo", "zh_hant", "pt")


@dataclass(frozen=True)
class Reader:
    """What is known about a reader. "" and () where nothing is."""

    asked: str = ""  # a tag in the address
    own: str = ""  # the person's own choice: in their settings, or at the desk for a guest
    accepts: tuple[str, ...] = ()  # the tags that their browser prefers, the best first
    house: str = ""  # the property's default


def choose(surface: Surface, reader: Reader, offered: Collection[str]) -> str:
    """The code of the language in which `surface` speaks to `reader`: an offered one, or "en".

    >>> choose(Surface.GUEST, Reader(own="ar", accepts=("de-AT", "en")), ["ar", "de"])
    'ar'
    >>> choose(Surface.FOLLOWER, Reader(own="ar", accepts=("de-AT", "en")), ["ar", "de"])
    'de'
    """
    chains: dict[Surface, tuple[Iterable[str], ...]] = {
        Surface.STAFF: ([reader.own], [reader.house]),
        Surface.DOOR: (reader.accepts, [reader.house]),
        Surface.GUEST: ([reader.asked], [reader.own], reader.accepts, [reader.house]),
        Surface.FOLLOWER: ([reader.asked], reader.accepts, [reader.house]),
        Surface.PRINT: ([reader.own], [reader.house]),
        Surface.RECORD: (),
    }
    for tags in chains[surface]:
        found = negotiate(tags, offered)
        if found:
            return found
        if tags == [reader.own] and reader.own and surface in GUESTS:
            return ENGLISH  # not the browser's: the desk was told that this guest reads English
    return ENGLISH


def negotiate(tags: Iterable[str], offered: Collection[str]) -> str:
    """The code of the first tag that is offered, English included; "" for none of them.

    A region is left out where only its language is offered, but "zh-TW" and "pt" mean English.

    >>> [negotiate([tag], ["de", "zh_Hans"]) for tag in ("de-AT", "zh-CN", "zh-TW", "pt", "ja")]
    ['de', 'zh_Hans', 'en', 'en', '']
    """
    available, kept, instead = [ENGLISH, *offered], list[str](), ""
    for tag in [each.replace("-", "_") for each in tags][:MOST_PREFERENCES]:
        if tag.lower().startswith(_ENGLISH_INSTEAD):
            instead = ENGLISH
        elif not (instead and tag.lower() == "zh"):  # browsers add "zh" to "zh-TW" by themselves
            kept.append(tag)
    found = Locale.negotiate(kept, available, sep="_", aliases=_ALIASES)
    return str(found) if found else instead


def of_poll(tag: str) -> str:
    """The code of the language that the address of a poll names: English without a known one."""
    return TAGS.get(tag, ENGLISH)
