"""Checks that a translation keeps the placeholders of the English text (docs/languages.md 2).

`make words-check` refuses a translation with a fault, and no page shows it.
"""

import logging
import re
from functools import lru_cache
from typing import Final

log = logging.getLogger(__name__)

_SLOT: Final = re.compile(r"\{(\w*)\}")
_OPTIONAL: Final = re.compile(r"\[[^\[\]]*\]")
_NAME: Final = re.compile(r"%\((\w+)\)([\d.]*[a-z])")
# a single percent sign, in a text from which doubled ones were removed
_PERCENT: Final = re.compile(r"%(?!%|\(\w+\)[\d.]*[a-z])")


def faults(english: str, translated: str, *, plural: str = "") -> list[str]:
    """The faults of a translation, in words for translators; [] for none.

    `plural`: the English plural of a text that has one; each form of the translation may then omit
    a number that it says in words, as in "two stars".
    """
    return [
        *_slot_faults(english, translated),
        *_name_faults(english + plural, translated, may_miss=bool(plural)),
    ]


@lru_cache(maxsize=65536)
def usable(english: str, translated: str, plural: str = "") -> bool:
    """Whether a translation can be shown. A faulty one is logged, once in a process."""
    found = faults(english, translated, plural=plural)
    if found:
        log.warning("the English text is shown for a translation of %r: %s", english, found[0])
    return not found


def _slot_faults(english: str, translated: str) -> list[str]:
    """The faults in `{slots}` and `[optional parts]`."""
    if not any(sign in english + translated for sign in "{}[]"):
        return []
    bare = _OPTIONAL.sub("", translated)
    needed = set(_SLOT.findall(_OPTIONAL.sub("", english)))
    known = set(_SLOT.findall(english))
    used = set(_SLOT.findall(translated))
    outside = set(_SLOT.findall(bare))
    found = [f"{{{name}}} is no slot of the English text" for name in sorted(used - known)]
    found += [f"{{{name}}} is missing" for name in sorted(needed - used)]
    found += [
        f"{{{name}}} may be unknown: it stands in brackets in the English text"
        for name in sorted((outside & known) - needed)
    ]
    if any(sign in bare for sign in "[]"):
        found.append("a bracket has no partner, or stands in another one")
    if any(sign in _SLOT.sub("", translated) for sign in "{}"):
        found.append("a brace has no partner")
    return found


def _name_faults(english: str, translated: str, *, may_miss: bool) -> list[str]:
    """The faults in `%(names)s` and percent signs."""
    if "%" not in english + translated:
        return []
    wanted = set(_NAME.findall(english))
    used = set(_NAME.findall(translated))
    found = [f"%({name}){kind} is no fact of the English text" for name, kind in used - wanted]
    if not may_miss:
        found += [f"%({name}){kind} is missing" for name, kind in wanted - used]
    if wanted and _PERCENT.search(translated.replace("%%", "")):
        found.append("a percent sign must be doubled: %%")
    if not wanted and "%" not in english:
        found.append("a percent sign is not in the English text")
    return sorted(found)
