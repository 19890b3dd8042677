"""Letters that look like other letters: the scripts of a word, and when two names look alike. Pure.

It follows Unicode's technical standard 39: a word is of one script, or of one of the mixes in which
Japanese, Korean and Chinese are written ("highly restrictive"); and two names whose skeletons are
equal look alike. The letters are those of its table that look like a Latin or a Han one.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from ridedash.text import BLANKS, UNSEEN_MARKS, ascii_digits, is_letter

MIXES: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
# first words of the names of letters and marks that are of no script, or of every one
OF_NO_SCRIPT: Final = frozenset({"COMBINING", "MODIFIER", "KATAKANA-HIRAGANA"})
# in these a joiner between two letters is part of the spelling
JOINED_SCRIPTS: Final = frozenset(
    [
        "ARABIC",
        "SYRIAC",
        "DEVANAGARI",
        "BENGALI",
        "GURMUKHI",
        "GUJARATI",
        "ORIYA",
        "TAMIL",
        "TELUGU",
        "KANNADA",
        "MALAYALAM",
        "SINHALA",
        "KHMER",
        "MYANMAR",
        "TIBETAN",
        "MONGOLIAN",
    ]
)
# drawn as nothing: marks without a shape, selectors of variants, blank letters, format characters
INVISIBLE: Final = re.compile(
    f"[{BLANKS}{UNSEEN_MARKS}\u00ad\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff0-\ufff8\U000e0000-\U000e007f]"
)
# each letter with those that look like it
ALIKE: Final = {
    "A": "АΑᎪꓮ",
    "B": "ВΒᏴꓐꞴ",
    "C": "СᏟꓚⲤ𐐕",
    "D": "Ꭰꓓ",
    "E": "ЕΕᎬꓰⴹ",
    "F": "ϜꓝꞘ",
    "G": "ԌᏀᏳꓖ",
    "H": "НΗᎻꓧⲎ",
    "J": "ЈͿᎫꓙꞲ",
    "K": "КΚᏦꓗⲔ",
    "L": "Ꮮꓡ𐐛",
    "M": "МΜϺᎷꓟⲘ",
    "N": "ΝꓠⲚ",
    "O": "0ОΟՕꓳⲞ𐐄ⵔ",
    "P": "РΡᏢꓑⲢ",
    "Q": "ⵕ",
    "R": "ᎡᏒꓣƦ",
    "S": "ЅՏᏕᏚꓢ𐐠",
    "T": "ТΤᎢꓔⲦ",
    "U": "Սꓴ",
    "V": "ѴᏙꓦⴸ",
    "W": "ԜᎳᏔꓪ",
    "X": "ХΧꓫⲬⵝꞳ",
    "Y": "УҮΥᎩᎽꓬⲨ",
    "Z": "ΖᏃꓜ",
    "a": "аαɑ",
    "b": "ЬᏏƄ",
    "c": "сᴄⲥꮯ𐐽",
    "d": "ԁᏧꓒ",
    "e": "еҽꬲ",
    "f": "քẝꞙ",
    "g": "ցɡᶃƍ",
    "h": "һհᏂ",
    "i": "іꙇӏιıɪɩᎥꭵ",
    "j": "јϳ",
    "l": "1I|ІӀΙⲒⳐꓲⵏƖǀוןا",
    "n": "ոռ",
    "o": "оοσօסহⲟᴏᴑꬽ𐐬ჿ",
    "p": "рρⲣ",
    "q": "ԛգզ",
    "r": "гᴦⲅꭇꭈꮁ",
    "s": "ѕꜱƽꮪ𐑈",
    "u": "սυʋᴜꞟꭎꭒ",
    "v": "ѵνטᴠꮩ",
    "w": "ѡԝաɯᴡꮃ",
    "x": "х",
    "y": "уүγყɣᶌʏỿꭚ",
    "z": "ᴢꮓ",
    "rn": "m",
    "二": "ニ",
    "八": "ハ",
    "力": "カ",
    "卜": "ト",
    "口": "ロ",
    "夕": "タ",
    "工": "エ",
    "ヘ": "へ",
    "ー": "一丨—–",
    "'": "’ʼʻ`",
}
# letters that people write for one another, which differ in their ends alone
SAME: Final = dict(zip("یکہھىة", "يكهه" + "يه", strict=True))
_SHAPES: Final = str.maketrans(
    {like: shape for shape, letters in ALIKE.items() for like in letters} | SAME
)


def mixes_scripts(text: str) -> bool:
    """Whether a word of this text is written in letters of scripts that don't go together.

    >>> mixes_scripts("Аnna"), mixes_scripts("Anna Иванова"), mixes_scripts("山田サブロー")
    (True, False, False)
    """
    for word in _words(unicodedata.normalize("NFKC", text)):
        scripts = {script for char in word if (script := script_of(char))}
        if len(scripts) > 1 and not any(scripts <= mix for mix in MIXES):
            return True
    return False


def look_alike(one: str, other: str) -> bool:
    """Whether two names look alike as they are written, or both in small letters.

    >>> [look_alike(*pair) for pair in (("Popa", "РОРА"), ("AIan", "Alan"), ("Ian", "Lan"))]
    [True, True, False]
    """
    return any(ours == theirs for ours, theirs in zip(*map(_skeletons, (one, other)), strict=True))


def without_invisible(text: str) -> str:
    """The text without what is drawn as nothing. Joiners stay in scripts that are written so."""
    return INVISIBLE.sub(lambda found: found[0] if _joins(text, found.start()) else "", text)


def script_of(char: str) -> str:
    """The script of a letter or a mark, by Unicode's name of it; "" for one that has none."""
    if not is_letter(char) or char.isdecimal():
        return ""
    script = unicodedata.name(char, "").partition(" ")[0]
    if script == "IDEOGRAPHIC":
        return "CJK"
    if script in OF_NO_SCRIPT:
        return ""
    return script


def _joins(text: str, at: int) -> bool:
    """Whether a joiner at this place is part of the spelling of its word."""
    if text[at] not in "\u200c\u200d" or not 0 < at < len(text) - 1:
        return False
    return script_of(text[at - 1]) in JOINED_SCRIPTS and script_of(text[at + 1]) in JOINED_SCRIPTS


def _skeletons(name: str) -> tuple[str, str]:
    plain = unicodedata.normalize("NFKC", name)
    return _skeleton(plain), _skeleton(plain.casefold())


def _skeleton(text: str) -> str:
    parts = unicodedata.normalize("NFD", ascii_digits(INVISIBLE.sub("", text)))
    return " ".join(parts.translate(_SHAPES).split())


def _words(text: str) -> Iterator[list[str]]:
    """Runs of letters, marks, digits and apostrophes."""
    word: list[str] = []
    for char in text:
        if char in "'’\u200c\u200d" or is_letter(char):
            word.append(char)
        elif word:
            yield word
            word = []
    yield word
