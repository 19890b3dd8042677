"""Cleaning of text from outside, and normalised forms for search. Pure."""

import re
import unicodedata
from typing import Final

MAX_NAME: Final = 120  # characters
# invisible, but part of the spelling in Indic and Arabic scripts, and of some emoji
JOINERS: Final = "\u200c\u200d"
# letters and a symbol that look blank: a name of these would be invisible
BLANKS: Final = "\u115f\u1160\u3164\uffa0\u2800"
# marks that show nothing: they choose between two pictures of the letter before them
UNSEEN_MARKS: Final = "".join(map(chr, (0x34F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
# Variants of Arabic letters, each with the letter that replaces it when texts are compared. Marks
# of vowels and of the hamza are left out as accents are; so are the hamza alone and the tatweel,
# which only stretches a word.
ARABIC_FORMS: Final = dict(zip("ٱةیىکہھەۃےں", "اهييكههههين", strict=True)) | {"ـ": None, "ء": None}
# Small letters that Unicode does not take apart into a letter and an accent, and what people write
# who don't have them on their keyboards.
STROKES: Final = dict(
    zip("đðɖɗħıĸłŋøɔɵŧƭəɛƀɓƙɲƴƶʉɨґ", "ddddhiklnooottaebbknyzuiг", strict=True)
) | {"æ": "ae", "œ": "oe", "þ": "th"}
# Unicode's combining classes of the marks that are letters and no accents: the sound marks of kana,
# vowels below in Thai and Lao, vowels in Tibetan
VOWELS: Final = frozenset({8, 103, 118, 129, 130, 132})
# the zero-width non-joiner between two words of a Persian name; other people write a space there
_PARTED: Final = re.compile("(?<=[ء-ۓ])\u200c")
MOST_MARKS, MOST_ACCENTS = 3, 2  # longest run of marks, and of accents, on one letter
# Unicode's combining classes of marks above, below and around any letter begin here.
ACCENT_CLASS: Final = 200
BASIC_PLANE: Final = 0x10000  # of characters beyond it, few occur twice


class _Compared(dict[int, str | None]):
    """What each character is when texts are compared, by its code, as `str.translate` asks for it.

    Each is worked out once.
    """

    def __missing__(self, code: int) -> str | None:
        found = _compared(chr(code))
        if code < BASIC_PLANE:
            self[code] = found
        return found


_COMPARED: Final = _Compared()


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
        if not any(map(_is_seen, line)):
            return ""
        line = _unstacked(line)
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
    """A text normalised for search: its words as `compared_words`, a space before each.

    The beginning of a word can be found as a substring: " gar" is in " jose garcia".

    >>> normalised("José  García-Ruiz"), normalised("فَاطِمَة ٤") == normalised("فاطمه 4")
    (' jose garcia ruiz', True)
    """
    return "".join(f" {word}" for word in compared_words(text))[:300]


def compared_words(text: str | None) -> list[str]:
    """The words of a text in small letters without accents.

    Digits are ASCII, letters with strokes and ligatures are plain letters, Arabic letters that
    people write for one another are one letter, and invisible characters are left out.
    """
    parts = text or ""
    if not parts.isascii():
        parts = _PARTED.sub(" ", unicodedata.normalize("NFKD", parts))
    return parts.casefold().translate(_COMPARED).split()


def word_places(text: str) -> list[tuple[int, int]]:
    """The begin and end of each word of a text, as `compared_words` tells them apart.

    >>> word_places("Łukasz, Kot")
    [(0, 6), (8, 11)]
    """
    marked = "".join(" " if _COMPARED[ord(char)] == " " else "x" for char in text)
    return [found.span() for found in re.finditer("x+", marked)]


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


def plain_signs(text: str) -> str:
    """A text of digits and signs with ASCII digits, "-" for each dash and " " for each space.

    Invisible characters, as messengers put them around a number, are left out.

    >>> plain_signs("\u202a+91 98450‑１１１１１\u202c")
    '+91 98450-11111'
    """
    wide = ascii_digits(unicodedata.normalize("NFKC", text).replace("\u2212", "-"))
    return "".join(map(_plain_sign, wide))


def compact_key(text: str | None) -> str:
    """A search key of letters and digits in capitals: a plate or booking number in any spacing.

    >>> compact_key("ka 01 ab-1234")
    'KA01AB1234'
    """
    return "".join(char for char in plain_code(text or "") if char.isalnum()).upper()


def room_key(room: str | None) -> str:
    """The key of a room, the same in any spacing and case; a room of signs alone is its own.

    >>> room_key("412 a") == room_key("４１２-A"), room_key(None)
    (True, '')
    """
    return compact_key(room) or (room or "").strip()


def _plain_sign(char: str) -> str:
    kind = unicodedata.category(char)
    if kind == "Cf":
        return ""
    if kind == "Pd":
        return "-"
    if char.isspace() and char != "\n":
        return " "
    return char


def _half_width(char: str) -> str:
    if not unicodedata.decomposition(char).startswith("<wide>"):
        return char
    return unicodedata.normalize("NFKC", char)


def _shown(char: str, control: str) -> str:
    """The visible form of a character: itself, a space, nothing, or a substitute for a control."""
    if char.isprintable() or char in JOINERS:
        return char
    kind = unicodedata.category(char)
    if char in "\t\r\n" or kind in {"Zl", "Zp"}:
        return " "
    if kind == "Cc":
        return control
    if kind in {"Cf", "Cs", "Co", "Cn"}:
        return ""
    return char


def _unstacked(text: str) -> str:
    """The text without marks that would cover the lines above and below.

    A letter keeps two accents. It keeps three marks if one of them is a vowel or tone of its own
    script, as in Burmese.
    """
    chars = []
    marks = 0
    accents = 0
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


def is_letter(char: str) -> bool:
    """Whether a character is a letter, a digit, or a mark with which a script writes vowels."""
    return char.isalnum() or unicodedata.category(char) in ("Mc", "Mn")


def _compared(char: str) -> str | None:
    """What a character is when texts are compared: letters, a space between words, or nothing."""
    if char in ARABIC_FORMS:
        return ARABIC_FORMS[char]
    if char in STROKES:
        return STROKES[char]
    kind = unicodedata.category(char)
    if kind == "Cf" or char in BLANKS or char in UNSEEN_MARKS:
        return None
    mark = unicodedata.combining(char)
    if mark and mark not in VOWELS:
        return None
    if char.isalnum():
        return ascii_digits(char)
    return char if is_letter(char) else " "
