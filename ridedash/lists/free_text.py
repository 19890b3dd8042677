"""The parts of a line of a message: "Ann Heron room 412 +91 98450 00000 06:00 tomorrow to airport".

Times are found before phones, so that no number swallows one. What belongs to no part is `left`,
which a person looks at.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ridedash.rides.times.time_words import TimeWords

CUT: Final = "\0"  # where a part was cut out
_BEFORE: Final = r"(?<![\d.:/+-])"
_CLOCKS: Final = (
    rf"{_BEFORE}\d{{1,2}}[:.]\d{{2}}(?!\.?\d|[:/-])(?:\s?(?:[ap]\.?m\.?|uhr|hrs?|h)(?!\w))?"
    rf"|{_BEFORE}\d{{1,2}}h\d{{2}}(?!\w)|{_BEFORE}\d{{3,4}}\s?(?:hrs?|hours|uhr)(?!\w)"
    rf"|{_BEFORE}\d{{1,2}}\s?(?:[ap]\.?m\.?|uhr)(?!\w)|{_BEFORE}\d{{1,2}}\s?[時点]"
)
_DAYS: Final = (
    rf"\d{{4}}-\d\d-\d\d(?!\d)|{_BEFORE}\d{{1,2}}[./-]\d{{1,2}}(?:[./-]\d{{2,4}})?(?![\d.:/-])"
)
_PERSONS: Final = re.compile(
    r"(?<!\d)(\d{1,2})\s?(?:pax|persons?|people|pers|personen|personnes|personas|adults)(?!\w)",
    re.IGNORECASE,
)
_TO: Final = re.compile(
    r"(?:^|\s)(?:drop(?: off)?(?: to| at)?|to|nach|zum|zur|vers|hasta)\s+", re.IGNORECASE
)
_FILLING: Final = [
    "at",
    "on",
    "by",
    "ph",
    "tel",
    "phone",
    "mob",
    "mobile",
    "cell",
    "contact",
    "no",
    "number",
    "nr",
    "and",
    "the",
    "please",
    "pls",
    "pick",
    "up",
    "pickup",
    "for",
    "from",
    "to",
    "drop",
    "um",
    "ab",
    "am",
    "with",
    "flight",
    "telefon",
    "handy",
]
MOST_PARTS: Final = 12  # of a line that are looked at; the rest is left
_BREAKS: Final = re.compile(r"[\0,;|()\[\]]+|\s[-–—]\s")


@dataclass(frozen=True)
class Parts:
    """The parts of a line; "" for one that it does not have."""

    name: str = ""
    room: str = ""
    phone: str = ""
    time: str = ""
    drop: str = ""
    persons: str = ""
    left: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The parts as the cells of a row."""
        return self.name, self.room, self.phone, self.time, self.drop, self.persons, self.left


def time_cut(text: str, words: TimeWords) -> tuple[str, str]:
    """The time of a line with its day, and the line without it."""
    surely, beside = _patterns(words)
    found: list[tuple[int, int]] = [each.span() for each in surely.finditer(text)]
    ends = {end for _start, end in found}
    starts = {start for start, _end in found}
    for each in beside.finditer(text):  # "Fri" is a day beside a time, and a name elsewhere
        after = len(text) - len(text[each.end() :].lstrip(" ,"))
        before = len(text[: each.start()].rstrip(" ,"))
        if after in starts or before in ends:
            found.append(each.span())
    found = sorted(set(found))
    parts = [text[start:end].strip() for start, end in found]
    for start, end in reversed(found):
        text = f"{text[:start]}{CUT}{text[end:]}"
    return " ".join(parts), text


@lru_cache(maxsize=16)
def _patterns(words: TimeWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is a time anywhere in a line, and what is one beside another."""
    days = (*words.tomorrow, *words.today, *words.tonight, *words.after_tomorrow)
    sure = sorted((re.escape(each) for each in days if len(each) > 3), key=len, reverse=True)
    months = "|".join(re.escape(each) for month in words.months for each in month)
    dated = (
        rf"{_BEFORE}\d{{1,2}}(?:st|nd|rd|th|\.)?[-. ]?(?:{months})\.?(?!\w*[^\W\d])"
        r"(?:[-., ]{1,2}\d{4}|[-']?\d\d(?![\d:.]))?"
    )
    short = [*(each for each in days if len(each) <= 3), *words.noon, *words.midnight]
    short += [each for weekday in words.weekdays for each in weekday]
    short += [*words.forenoon, *words.afternoon, *words.evening, *words.night]
    beside = "|".join(sorted(map(re.escape, short), key=len, reverse=True))
    surely = rf"(?<!\w)(?:{'|'.join(sure)})(?!\w)|{_CLOCKS}|{dated}|{_DAYS}"
    return (
        re.compile(surely, re.IGNORECASE),
        re.compile(rf"(?<!\w)(?:{beside})(?!\w)", re.IGNORECASE),
    )


def persons_cut(text: str) -> tuple[str, str]:
    """How many people a line names, and the line without it."""
    found = _PERSONS.search(text)
    if not found:
        return "", text
    return found[1], f"{text[: found.start()]}{CUT}{text[found.end() :]}"


def named(
    text: str, is_place: Callable[[str], bool], is_room: Callable[[str], bool]
) -> tuple[str, str, str, str]:
    """Name, room, drop and what is left of a line without its times, phones and rooms."""
    name = room = drop = ""
    left: list[str] = []
    for segment in _BREAKS.split(text, MOST_PARTS):
        before, to, behind = _apart(segment)
        for each, is_drop in ((before, False), (behind, to)):
            each = _bare(each)
            if not each:
                continue
            if not drop and (is_drop or is_place(each)):
                drop = each
            elif not room and is_room(each):
                room = each
            elif not name and any(map(str.isalpha, each)) and not _has_place(each, is_place):
                name = each
            else:
                left.append(each)
    return name, room, drop, " · ".join(left)


def _apart(segment: str) -> tuple[str, bool, str]:
    """What stands before and behind "to" in a part of a line."""
    found = _TO.search(segment)
    if not found:
        return segment, False, ""
    return segment[: found.start()], True, segment[found.end() :]


def _has_place(text: str, is_place: Callable[[str], bool]) -> bool:
    return any(is_place(word) for word in text.split()[1:])


def _bare(text: str) -> str:
    """A part without the words around it that say nothing, such as "tel" before a number."""
    words = text.strip(" .:–—-").split()
    while words and words[0].casefold().strip(".:") in _FILLING:
        words.pop(0)
    while words and words[-1].casefold().strip(".:") in _FILLING:
        words.pop()
    found = " ".join(words).strip(" .:–—-")
    if not any(map(str.isalnum, found)):
        return ""
    return found
