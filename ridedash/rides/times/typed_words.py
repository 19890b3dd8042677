"""Replaces the words of a typed time by tags: "tomorrow at six" becomes "<tomorrow> 6 <spoken>".

Pure. The words of a language are data (`time_words`); the grammar of `typed_time` knows only tags
and digits. Japanese and Chinese words have no spaces between them, so they are replaced wherever
they occur in the text. A number that was written as a word leaves the tag "<spoken>" at the end:
six may be in the evening where 6:00 is not.
"""

import re
from functools import lru_cache
from typing import Final

from ridedash.rides.times.time_answers import NotATime, TimeRefusal
from ridedash.rides.times.time_words import TWO_THINGS, UNSPACED, TimeWords, normalised_words
from ridedash.text import ascii_digits, one_line

TIME_CHARS: Final = 60  # characters
SPOKEN: Final = "<spoken>"
_WHY: Final = {"": TimeRefusal.UNKNOWN, TWO_THINGS: TimeRefusal.TWO_THINGS}  # by the tag
# a letter, or a combining mark as Hindi uses it
_LETTER: Final = r"(?:[^\W\d_]|[\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963])"
_WORD: Final = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*")
_HAN_DATE: Final = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]?")
_HAN_HALF: Final = re.compile(r"(?<=\d[時时点點])半")
# numbers in Han characters before what they count
_HAN_NUMBER: Final = re.compile(
    r"[〇零一二两兩三四五六七八九十]+(?=[点點時时分日号]|月[〇零一二三四五六七八九十\d]|刻钟|[个個]?(?:小时|小時|钟头)|時間|天)"
)
_HAN_DIGITS: Final = {char: n for n, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_YEAR_BEHIND: Final = re.compile(r"[-./']?\d\d(?!\d)")  # 04DEC26, 4-Dec-26
_ORDINAL: Final = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|°)(?!\w)")  # 4th, 1er
_AM: Final = re.compile(rf"(?<!{_LETTER})([ap])[.] ?m(?!{_LETTER})[.]?|(?<=\d )([ap]) m(?!\w)")


def tagged(text: str, words: TimeWords) -> str:
    """The text in lower case, with a tag for each known word and one space between parts.

    Raises NotATime for a word that is in no list, or has two meanings.
    """
    typed = one_line(text, TIME_CHARS + 1).casefold()
    if len(typed) > TIME_CHARS:
        raise NotATime(TimeRefusal.UNKNOWN, typed[:20] + "…")
    plain = _with_digits(normalised_words(typed).replace("<", " "))
    tags, phrases = _tags_and_pattern(words)
    if phrases:
        plain = phrases.sub(lambda found: f" <{tags[found[0]]}> ", plain)

    def tag(found: re.Match[str]) -> str:
        name = tags.get(found[0], "")
        if "_or_" in name:  # 12 sept, sept heures
            number, month = name.split("_or_")
            name = month if re.search(r"\d[. -]*$", found.string[: found.start()]) else number
        if name == TWO_THINGS:
            name = _by_place(found)
        if name in ("", TWO_THINGS):
            raise NotATime(_WHY[name], _as_typed(found[0], typed))
        if name.startswith("month") and _YEAR_BEHIND.match(found.string[found.end() :]):
            return f" <{name}> <glued> "
        return f" <{name}> "

    # re.split with one group: every second part is a match
    parts = re.split(r"(<\w+>)", plain)
    known = "".join(f" {each} " if n % 2 else _WORD.sub(tag, each) for n, each in enumerate(parts))
    known = known.replace("<skipped>", " ").replace("+", " <ahead> ")
    known = " ".join(re.sub("[,،()]", " ", known).split())
    known = re.sub(r"(?<!\d)(?<!\d )(?<!<clock> )(?<!<mark> )(?<!<[ap]m> )~", " ", known)
    return _with_numbers(" ".join(known.split()))


def _with_numbers(known: str) -> str:
    """The text with digits for numbers in words, and minutes for spans such as half an hour."""
    known = re.sub(r"<span_(\d+)>", r"\1 <minutes>", known)
    plain = re.sub(r"<number_(\d+)_(\d\d)>", r"\1:\2", known)  # डेढ़ is 1:30
    plain = re.sub(r"<number_(\d+)> <number_(\d\d)>", r"\1:\2", plain)  # six thirty
    plain = re.sub(r"<number_(\d+)>", r"\1", plain)
    if plain == known:
        return plain
    return f"{plain} {SPOKEN}"


def _with_digits(plain: str) -> str:
    """The text with ASCII digits; dates and half hours written in Han characters become digits."""
    plain = ascii_digits(plain)
    plain = _ORDINAL.sub(r"\1.", re.sub("[!?。]+$", "", plain.strip()))
    plain = _AM.sub(lambda found: f"{found[1] or found[2]}m ", plain)  # a.m., a. m.
    plain = re.sub(rf"(?<={_LETTER})[.॰।]", "", plain)  # Fri.
    plain = re.sub(r"(?<=\d)t(?=\d\d:)", " ", plain)  # 2026-11-24T06:15
    plain = re.sub(r"(?<!\d)(\d),(5|25|50|75)(?!\d)", r"\1.\2", plain)  # 1,5 Std
    plain = plain.replace("礼拜", "星期").replace("星期天", "星期日").replace("周天", "周日")
    plain = _HAN_NUMBER.sub(_han_number, plain)
    return _HAN_HALF.sub("30", _HAN_DATE.sub(_date_digits, plain))


def _han_number(found: re.Match[str]) -> str:
    """A number below 100 in Han characters as digits: 十二, 二十五, 〇五."""
    tens, ten, ones = found[0].rpartition("十")
    if not ten:
        return "".join(str(_HAN_DIGITS[char]) for char in ones)
    if len(tens) > 1 or len(ones) > 1:
        return found[0]
    return str(10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0))


def _date_digits(found: re.Match[str]) -> str:
    """A date in Han characters as digits: 3月5日 as 5.3., with a year 2026-03-05."""
    year, month, day = found.groups()
    if not year:
        return f" {day}.{month}. "
    return f" {year}-{int(month):02}-{int(day):02} "


def _by_place(found: re.Match[str]) -> str:
    """The tag of German "am" by its place: "am 24.11." is "on", and 6:15 am before noon."""
    if found[0] != "am":
        return TWO_THINGS
    if re.match(r" \d{1,2}\.", found.string[found.end() :]) and not re.search(
        r"\d *$", found.string[: found.start()]
    ):
        return "skipped"
    return TWO_THINGS


def _as_typed(word: str, typed: str) -> str:
    """The word with the accents as typed."""
    return next((each for each in _WORD.findall(typed) if normalised_words(each) == word), word)


@lru_cache(maxsize=32)
def _tags_and_pattern(words: TimeWords) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """The tags of a language's words, and a pattern of the words that _WORD can't find.

    These are words with characters other than letters, and words of scripts without spaces. The
    pattern leaves out a weekday of one character, because it occurs in other words.
    """
    tags = words.tags()
    found = []
    plain = [word for word, tag in tags.items() if tag != TWO_THINGS]
    for each in sorted(plain, key=len, reverse=True):
        if UNSPACED.search(each):
            if len(each) > 1 or not tags[each].startswith("weekday"):
                found.append(re.escape(each))
        elif not _WORD.fullmatch(each):
            found.append(rf"(?<!{_LETTER}){re.escape(each)}(?!{_LETTER})")
    return tags, re.compile("|".join(found)) if found else None
