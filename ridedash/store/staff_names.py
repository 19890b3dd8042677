"""The one rule for names of staff, on the command line and in Settings.

See docs/security.md ASVS 6.3.2.

A name is what colleagues see and what its person signs in with. So it is visible, and looks like no
colleague's.
"""

import unicodedata
from enum import StrEnum
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.confusables import look_alike, mixes_scripts, without_invisible
from ridedash.store.models.people import Staff
from ridedash.store.properties import is_taken
from ridedash.text import one_line

LONGEST: Final = 60  # characters, as wide as a board shows


class Why(StrEnum):
    """Why a name can't be used."""

    EMPTY = "empty"  # nothing of it is a letter or a digit that people see
    MIXED = "mixed"  # one word has letters of several alphabets
    TAKEN = "taken"  # somebody signs in with it, here or in another property
    ALIKE = "alike"  # it looks like a colleague's


class BadName(NamedTuple):
    """What is wrong with a name, and which colleague's it looks like."""

    why: Why
    colleague: str = ""


def cleaned(typed: str) -> str:
    """A typed name as it is stored: composed, on one line, with nothing invisible; may be empty.

    >>> cleaned(" Jose\u0301 \u200d\u034f "), cleaned("\ufeff\u034f")
    ('José', '')
    """
    return one_line(
        without_invisible(unicodedata.normalize("NFC", typed[: LONGEST * 4])),
        LONGEST,
    )


def wrong_with(s: Session, property_id: int, name: str) -> BadName | None:
    """What is wrong with a cleaned name for a new person of a property; None for nothing.

    Disabled colleagues count too: they may be enabled again.
    """
    if not any(map(str.isalnum, name)):
        return BadName(Why.EMPTY)
    if mixes_scripts(name):
        return BadName(Why.MIXED)
    if is_taken(s, name):
        return BadName(Why.TAKEN)
    names = s.scalars(select(Staff.name).where(Staff.property_id == property_id))
    like = next((each for each in names if look_alike(name, each)), None)
    if like is None:
        return None
    return BadName(Why.ALIKE, like)
