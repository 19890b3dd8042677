"""Cleaning of text from outside, and normalised forms for search. Pure."""

import re
import unicodedata
from typing import Final

MAX_NAME: Final = 120  # characters
# invisible, but part of the spelling in Indic and Arabic scripts, and of some emoji
JOINERS: Final = "\u200c\u200d"
# letters and a symbol that look blank: a name of these would be invisible
BLANKS: Final = "\u115f\u1160\u3164\uffa0\u2800"
# Variants of Arabic letters, each with the letter that replaces it when names are compared. Marks
# of vowels and of the hamza are left out as accents are; so is the tatweel, which only stretches a
# word.
ARABIC_FORMS: Final = dict(zip("ٱةیىکہھە", "اهييكههه", strict=True)) | {"ـ": None}
_COMPARED: Final = str.maketrans(ARABIC_FORMS | dict.fromkeys(JOINERS))
# the zero-width non-joiner between two words of a Persian name; other people write a space there
_PARTED: Final = re.compile("(?<=[ء-ۓ])\u200c")
MOST_MARKS, MOST_ACCENTS = 3, 2  # longest run of marks, and of accents, on one letter
# Unicode's combining classes of marks above, below and around any letter begin here.
ACCENT_CLASS: Final = 200


def one_line(text: object, longest: int = MAX_NAME, control: str = " ") -> str:
    """One line of text for people, of at most `longest` characters; "" for anything but text.

    Bidirectional and other invisible characters are left out, line ends become spaces, and any
    other control character becomes `control`. "" too for a text of which nothing is visible. A
    letter keeps two accents, or three marks in scripts that need them.

    >>> one_line(" Grand\\n Hotel\\u202e ")
    'Grand Hotel'
    """
    if not isinstance(text, str):
        return ""
    line = text[: longest * 4]
    if not line.isprintable():
        line = "".join(_shown(char, control) for char in line)
    if not line.isascii():
        line = _unstacked(line) if any(map(_is_seen, line)) else ""
    return " ".join(line.split())[:longest].rstrip()


def lines(text: str, longest: int) -> str:
    """Several lines of text, each as `one_line` leaves it, of at most `longest` characters.

    >>> lines("KA 01\\r\\n\\r\\n\\r\\nMini\\u202e ", 20)
    'KA 01\\n\\nMini'
    """
    cleaned: list[str] = []
    for line in text[: longest * 2].splitlines():
        clean = one_line(line, longest)
        if clean or (cleaned and cleaned[-1]):  # at most one empty line in a row
            cleaned.append(clean)
    return "\n".join(cleaned)[:longest].rstrip()


def normalised(text: str | None) -> str:
    """A text normalised for search: lower-case words without accents, a space before each.

    The beginning of a word can be found as a substring: " gar" is in " jose garcia". Digits are
    ASCII, and Arabic letters that people write for one another are one letter.

    >>> normalised("José  García-Ruiz"), normalised("فَاطِمَة ٤") == normalised("فاطمه 4")
    (' jose garcia ruiz', True)
    """
    parts = unicodedata.normalize("NFKD", text or "").casefold()
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    comparable = ascii_digits(_PARTED.sub(" ", bare).translate(_COMPARED))
    words = "".join(char if _is_letter(char) else " " for char in comparable).split()
    return "".join(f" {word}" for word in words)[:300]


def ascii_digits(text: str) -> str:
    """The text with ASCII digits for those of other scripts; its length stays the same.

    >>> ascii_digits("٦:१۵")
    '6:15'
    """
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


def plain_code(text: str) -> str:
    """A room, a plate or a number with ASCII digits and half-width letters, as on doors and cars.

    The length stays the same, and texts such as "12½" and "2º" are not changed.

    >>> plain_code("٤１２Ａ")
    '412A'
    """
    if text.isascii():
        return text
    return ascii_digits("".join(map(_half_width, text)))


def compact_key(text: str | None) -> str:
    """A search key of letters and digits in capitals: a plate or booking number in any spacing.

    >>> compact_key("ka 01 ab-1234")
    'KA01AB1234'
    """
    return "".join(char for char in plain_code(text or "") if char.isalnum()).upper()


def _half_width(char: str) -> str:
    wide = unicodedata.decomposition(char).startswith("<wide>")
    return unicodedata.normalize("NFKC", char) if wide else char


def _shown(char: str, control: str) -> str:
    """The visible form of a character: itself, a space, nothing, or a substitute for a control."""
    if char.isprintable() or char in JOINERS:
        return char
    kind = unicodedata.category(char)
    if char in "\t\r\n" or kind in {"Zl", "Zp"}:
        return " "
    if kind == "Cc":
        return control
    return "" if kind in {"Cf", "Cs", "Co", "Cn"} else char


def _unstacked(text: str) -> str:
    """The text without marks that would cover the lines above and below.

    A letter keeps two accents. It keeps three marks if one of them is a vowel or tone of its own
    script, as in Burmese.
    """
    chars, marks, accents = [], 0, 0
    for char in text:
        kind = unicodedata.category(char)
        if kind in ("Mn", "Me"):
            marks += 1
            accents += kind == "Me" or unicodedata.combining(char) >= ACCENT_CLASS
            if marks > MOST_MARKS or accents > MOST_ACCENTS:
                continue
        elif char not in JOINERS:
            marks = accents = 0
        chars.append(char)
    return "".join(chars)


def _is_seen(char: str) -> bool:
    """Whether a character is visible by itself: not a space, a blank letter or a mark."""
    if char.isspace() or char in BLANKS or char in JOINERS:
        return False
    return not unicodedata.category(char).startswith("M")


def _is_letter(char: str) -> bool:
    """Whether a character is a letter, a digit, or a mark with which a script writes vowels."""
    return char.isalnum() or unicodedata.category(char) in ("Mc", "Mn")
