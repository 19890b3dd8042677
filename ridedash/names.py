"""The one folding of guests' names: which spellings are one name, and which are found by a search.

`name_key` compares whole names: for the duplicate-booking guard, the guest's row, the lists and
erasure. `found_by` and `begins` are the two sides of a search, which finds more. What each of them
takes for the same is in docs/languages.md 5. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from ridedash.text import compared_words, word_places

# Characters that people write for an apostrophe, the letters of transcriptions that look like one,
# and the dots inside Catalan and Chinese words. "O'Brien" and "OBrien" are one name.
APOSTROPHES: Final = (
    "'`\u00b4\u00b7\u2018\u2019\u201b\u2032\uff07\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8"
    "\ua78b\ua78c\u05f3\u05f4"
)
KATAKANA: Final = range(0x30A1, 0x30F7)  # each letter is 0x60 behind its hiragana
# Chinese characters as Japanese families write them, and as keyboards offer them first
_OLD = "髙﨑邊邉齋齊澤濱濵廣國眞德惠櫻"
_NEW = "高崎辺辺斎斉沢浜浜広国真徳恵桜"
KANJI_FORMS: Final = dict(zip(_OLD, _NEW, strict=True))
# letters of scripts that are written without spaces between words
RUN_ON: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
# letters with dots or a ring or a stroke, as passports and telegrams write them
WRITTEN_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ő": "oe", "ű": "ue", "å": "aa", "ø": "oe", "đ": "dj"}
)
# What is written for one of those letters, and becomes the letter without its dots. Not after a
# vowel (Bauer is not Baur), not at the end of a short word (Joe is not Jo), and not in names such
# as Michael and Joel (Michal is another) and Nadja (Nada is another).
_DIGRAPH: Final = re.compile(
    "(?<![aeiou])(?:(?!(?:ae|oe)l(?:a|e|le|la)?$)([ao])e|(u)e)(?:(?=[a-z])|(?<=[a-z]{5})$)"
    "|(a)a|(d)j(?!a$)"
)
DIGRAPHS: Final = ("ae", "oe", "ue", "aa", "dj")
ARTICLE: Final = "ال"
BOTH: Final = 2  # a family's name and one of its own
JOINED_WORDS: Final = 3  # words in a row that people write as one: De la Cruz
# letters from which on one word may be several: Alrashid, OBrien. Shorter words would be mixed up
# with one another, such as Ali and Lia.
RING: Final = 6
LONGEST: Final = 300  # characters that are stored
WIDEST_GAP: Final = 3  # characters between two words of one name in a text
_TYPED: Final = str.maketrans(dict.fromkeys(APOSTROPHES, "") | {"ŀ": "l", "Ŀ": "L"} | KANJI_FORMS)
_HIRAGANA: Final = str.maketrans({code: chr(code - 0x60) for code in KATAKANA})


def name_words(name: str | None) -> list[str]:
    """The words of a name as plain small letters and digits, without accents and apostrophes.

    >>> name_words("Łukasz O’Brien-Kot"), name_words("ｻﾄｳ")
    (['lukasz', 'obrien', 'kot'], ['さとう'])
    """
    words = compared_words((name or "").translate(_TYPED))
    return [word if word.isascii() else word.translate(_HIRAGANA) for word in words]


def name_key(name: str) -> str:
    """The key of a name, the same in each of its spellings; its folded text if it has no letter.

    Accents, strokes, ligatures, apostrophes, hyphens, spaces and the order of two parts make no
    difference, nor does ä, ae or a: the letters stand in a ring, which is read from the place that
    comes first in the alphabet.

    >>> name_key("Müller, Jürgen") == name_key("Juergen Mueller") == name_key("jurgen muller")
    True
    >>> name_key("Ann O'Brien") == name_key("Obrien Ann"), name_key("Lia") == name_key("Ali")
    (True, False)
    """
    words = list(map(_undotted, name_words(name)))
    letters = _in_a_row(words)
    if len(letters) >= RING or sum(len(word) > 1 and not RUN_ON.match(word) for word in words) > 1:
        return _ring(letters)[:LONGEST]
    return letters or unicodedata.normalize("NFC", name).casefold().strip()


def same_words(name: str) -> frozenset[str]:
    """The words of a name, each the same in all spellings; for names of which one may be longer.

    >>> same_words("Mr Müller") > same_words("MUELLER")
    True
    """
    return frozenset(map(_undotted, name_words(name)))


def found_by(name: str) -> str:
    """All that a name is found by, each with a space before it; at most LONGEST characters.

    These are its words, their other spellings, and words in a row as one, which say the first of
    them as well.

    >>> found_by("Ann Müller")
    ' mueller annmuller mullerann'
    """
    words = name_words(name)
    forms = words + compared_words(name)
    small = unicodedata.normalize("NFC", name).casefold()
    written_out = small.translate(WRITTEN_OUT)
    if written_out != small:
        forms += name_words(written_out)
    forms += map(_undotted, words)
    forms += map(_without_article, words)
    forms += ["".join(words[n : n + JOINED_WORDS]) for n in range(len(words) - 1)]
    if len(words) == BOTH:
        forms.append("".join(reversed(words)))
    row = "".join(f" {form}" for form in _longest(forms))
    if len(row) > LONGEST:
        row = "".join(f" {word}" for word in forms)[:LONGEST]
    return row


def begins(typed: str) -> list[tuple[str, ...]]:
    """For each typed word the texts of which one must be in `found_by`; [] without a word.

    A word begins a word of the name, alone or as one with those beside it. In scripts that are
    written without spaces it may be anywhere in the name.

    >>> begins("al rash"), begins("小明")
    ([(' al', ' alrash'), (' rash', ' alrash')], [('小明',)])
    """
    words = name_words(typed)
    found = []
    for place, word in enumerate(words):
        forms = [word, _undotted(word), _without_article(word), *_beside(words, place)]
        found.append(tuple(dict.fromkeys(_begun(form) for form in forms)))
    return found


def spelt(name: str, text: str) -> list[tuple[int, int]]:
    """The begin and end of each place at which a text has this name as whole words.

    The name may have another spelling there. A name of one letter is found nowhere.
    """
    key = name_key(name)
    words = sorted(same_words(name), key=len)
    letters = "".join(map(_undotted, name_words(text)))
    # most texts don't have the name, and this says so soon
    if len(key) < 2 or not set(key) <= set(letters) or (words[1:] and words[-1] not in letters):
        return []
    found: list[tuple[int, int]] = []
    places = word_places(text)
    for n, (begin, _) in enumerate(places):
        if found and begin < found[-1][1]:
            continue
        ends = (end for end in _ends(places[n:], 2 * len(name)) if name_key(text[begin:end]) == key)
        found += [(begin, end) for end in list(ends)[:1]]
    return found


def _ends(places: Sequence[tuple[int, int]], longest: int) -> Iterator[int]:
    """The ends of the first word, of the first two, and so on, while they may be one name."""
    begin, last = places[0]
    for at, end in places:
        if at - last > WIDEST_GAP or end - begin > longest + WIDEST_GAP:
            return
        yield end
        last = end


def _in_a_row(words: Iterable[str]) -> str:
    """The words as one, with a space where numbers would run together."""
    row = ""
    for word in words:
        if word[0].isdigit() and row[-1:].isdigit():
            row += " "
        row += word
    return row


def _ring(letters: str) -> str:
    if letters[0].isdigit() and letters[-1].isdigit():
        letters += " "
    first = min(letters)
    return min(letters[n:] + letters[:n] for n, each in enumerate(letters) if each == first)


def _longest(forms: Iterable[str]) -> list[str]:
    """The forms of which none is the beginning of another."""
    known = dict.fromkeys(forms)
    begun = {one for one, following in pairwise(sorted(known)) if following.startswith(one)}
    return [form for form in known if form not in begun]


def _beside(words: Sequence[str], place: int) -> Iterator[str]:
    """The words around a place, up to JOINED_WORDS of them as one, with the word of the place."""
    for many in range(2, JOINED_WORDS + 1):
        for first in range(max(0, place - many + 1), min(place, len(words) - many) + 1):
            yield "".join(words[first : first + many])


def _undotted(word: str) -> str:
    if not any(pair in word for pair in DIGRAPHS):  # most words; this is sooner than the pattern
        return word
    return _DIGRAPH.sub(r"\1\2\3\4", word)


def _without_article(word: str) -> str:
    if len(word) <= len(ARTICLE) + 1:
        return word
    return word.removeprefix(ARTICLE)


def _begun(form: str) -> str:
    return form if RUN_ON.match(form) else f" {form}"
