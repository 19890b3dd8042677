"""Text of a list from its bytes: UTF-8, UTF-16, or one of the older encodings of spreadsheets.

Excel saves CSV in the code page of its Windows, without a word about which. UTF-8 and UTF-16 prove
themselves; the code pages are guessed by the letters that come out, and a person can choose another
one. charset-normalizer takes a Polish list for a Western one, because it needs longer texts.
"""

import codecs
import re
from itertools import pairwise
from typing import Final

from ridedash.lists.table import ListRefused
from ridedash.wording import gettext as _

UTF_8: Final = "utf-8"
# in the order in which equally likely ones are chosen
CODE_PAGES: Final = ("cp1252", "cp1250", "cp1251", "cp932", "gb18030", "cp1256")
ENCODINGS: Final = (UTF_8, *CODE_PAGES)
# the UTF-32 mark begins with that of UTF-16
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE: Final = 20_000  # bytes by which the code page is guessed
# bytes that an encoding does not have are kept as characters from here on, and can be read again
KEPT: Final = 0xF700
# letters beyond ASCII that are usual where a code page is in use
USUAL: Final = {
    "cp1252": frozenset("äöüßéèêëàâáãåæçñíîïìóôòõøœúûùýÿÄÖÜÉÈÀÁÅÆÇÑÍÓØÚ’‘“”–—€\u00ab\u00bb°"),
    "cp1250": frozenset("ąćęłńóśźżáčďéěíňřšťúůýžőűöüâăîșşțţđäôľĺŕÁĆČĎÉĘÍŁŃÓÖŐŘŚŠŞŤÚŮÜŰŹŻŽ’“”–—€"),
}
# the first and the last letter of the script that a code page is for: Cyrillic, Arabic
BLOCKS: Final = {"cp1251": ("\u0400", "\u04ff"), "cp1256": ("\u0600", "\u06ff")}
# scripts: one word has letters of one of them
SCRIPTS: Final = (
    re.compile(r"[A-Za-zÀ-ɏ]"),
    re.compile(r"[\u0400-\u04ff]"),
    re.compile(r"[\u0600-\u06ff]"),
    re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uff61-\uff9f]"),
)
# what no text has; 1A ends a file of DOS
CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
WORD: Final = re.compile(r"[^\W\d_]+")
ODD: Final = re.compile(r"[\x80-\x9f\uff61-\uff9f\ufffd\ue000-\uf8ff¤¦§¨¬¯±²³¶¸¹¼½¾×÷]")


def decoded(data: bytes) -> tuple[str, str]:
    """The text, and the name of its encoding. Raises ListRefused for bytes that are no text."""
    text, name = _decoded(data)
    if CONTROLS.search(text):
        raise _no_text()
    return text, name


def _decoded(data: bytes) -> tuple[str, str]:
    for mark, name in MARKS:
        if data.startswith(mark):
            try:
                return data.decode(name), UTF_8
            except UnicodeDecodeError as error:
                raise _no_text() from error
    wide = _without_mark(data)
    if wide:
        return data.decode(wide), UTF_8
    try:
        return data.decode(UTF_8), UTF_8
    except UnicodeDecodeError:
        name = _code_page(data[:SAMPLE])
        return as_encoded(data, name), name


def as_encoded(data: bytes, encoding: str) -> str:
    """The text in this encoding. Each byte that the encoding does not have is kept."""
    text = data.decode(encoding, "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: chr(ord(found[0]) - 0xDC00 + KEPT), text)


def read_again(text: str, encoding: str, other: str) -> str:
    """A text that was read in one encoding, as it reads in another one."""
    kept = re.sub("[\uf780-\uf7ff]", lambda found: chr(ord(found[0]) - KEPT + 0xDC00), text)
    try:
        return as_encoded(kept.encode(encoding, "surrogateescape"), other)
    except UnicodeEncodeError:  # typed by a person, so it was never in that encoding
        return text


def _no_text() -> ListRefused:
    return ListRefused(
        _("This file is no list that can be read. Save it as CSV or as an Excel workbook (.xlsx).")
    )


def _without_mark(data: bytes) -> str:
    """UTF-16 without its mark: every second byte of most text is zero. "" for anything else."""
    sample = data[:SAMPLE]
    if len(data) % 2 or len(sample) < 4:
        return ""
    for name, at in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros = sample[at::2].count(0)
        if zeros > len(sample) // 8 and not sample[1 - at :: 2].count(0):
            try:
                data.decode(name)
            except UnicodeDecodeError:
                return ""
            return name
    return ""


def _code_page(sample: bytes) -> str:
    return max(CODE_PAGES, key=lambda name: (_score(sample, name), -CODE_PAGES.index(name)))


def _score(sample: bytes, name: str) -> float:
    """How likely a text is to be in this encoding: the share of its letters that make sense."""
    try:
        # a character of several bytes may be cut at the end of the sample
        text = codecs.getincrementaldecoder(name)("strict").decode(sample)
    except UnicodeDecodeError:
        if name not in ("cp1252", "cp1250"):
            return -1.0
        text = sample.decode(name, "replace")
    beyond = [char for char in text if not char.isascii()]
    if not beyond:
        return 0.0
    good = sum(_fits(char, name) for char in beyond) - 2 * len(ODD.findall(text))
    for word in WORD.findall(text):
        good -= _oddness(word)
    return good / len(beyond)


def _fits(char: str, name: str) -> float:
    if name in USUAL:
        return _points(char in USUAL[name])
    if name in BLOCKS:
        first, last = BLOCKS[name]
        return _points(first <= char <= last)
    if name == "cp932" and "\u3041" <= char <= "\u30fe":  # kana
        return 1.5
    if name == "cp932":
        return _is_common(char, "cp932", 0x88, 0x98)
    return _is_common(char, "gb2312", 0xB0, 0xD8)


def _points(is_usual: bool) -> float:
    return 1.0 if is_usual else -0.5


def _is_common(char: str, table: str, first: int, last: int) -> float:
    """Whether a Han character stands in the first plane of its table, that of the usual ones."""
    try:
        lead = char.encode(table)[0]
    except UnicodeEncodeError:
        return -1.0
    return _points(first <= lead < last or not char.isalpha())


def _oddness(word: str) -> float:
    """Points against a word: of two scripts, capitals after small letters, accents on most."""
    if word.isascii():
        return 0.0
    scripts = sum(bool(script.search(word)) for script in SCRIPTS)
    odd = 3.0 * (scripts > 1)
    odd += sum(2.0 for one, two in pairwise(word) if _turns(one, two))
    accented = sum("\u0080" <= char < "\u0250" for char in word)
    if len(word) > 2 and accented * 2 > len(word):
        odd += accented
    return odd


def _turns(one: str, two: str) -> bool:
    return one.islower() and two.isupper() and not (one.isascii() and two.isascii())
