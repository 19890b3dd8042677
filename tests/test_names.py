"""The folding of names: what is one name, what is not, and what a search finds."""

import itertools
import unicodedata

import pytest

from ridedash.names import begins, found_by, name_key, spelt
from tests.names import NOT_ONE, ONE_NAME

EDGES = " '\u2068\u2069\ufeff\u05f3"  # what may stand around a name without being of it
ROWS = [
    pytest.param(row, id=f"{language}-{number}")
    for language, rows in ONE_NAME.items()
    for number, row in enumerate(rows)
]


def finds(typed: str, name: str) -> bool:
    """Whether a search for this text finds a guest of this name."""
    words = begins(typed)
    return bool(words) and all(any(form in found_by(name) for form in forms) for forms in words)


@pytest.mark.parametrize("row", ROWS)
def test_spellings_of_one_name_have_one_key(row: tuple[str, ...]) -> None:
    keys = {form: name_key(form) for each in row for form in _typed(each)}
    assert len(set(keys.values())) == 1, keys
    assert "" not in keys.values()


@pytest.mark.parametrize("row", ROWS)
def test_each_spelling_of_a_name_finds_the_others(row: tuple[str, ...]) -> None:
    if not begins(row[0]):
        return
    for stored, typed in itertools.permutations(row, 2):
        assert finds(typed, stored), (typed, stored, found_by(stored))


@pytest.mark.parametrize("row", NOT_ONE, ids=lambda row: row[0])
def test_names_that_are_alike_have_keys_of_their_own(row: tuple[str, ...]) -> None:
    keys = {name: name_key(name) for name in row}
    assert len(set(keys.values())) == len(row), keys


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Jürgen Müller", "m mu mue muel muell mueller mü mül muller jurg jue ju-mu"),
        ("Mueller", "mü mül müller mull muller mue"),
        ("Muller", "müller mueller muell"),
        ("Đorđe Žić", "đor dor djo djordje zic"),
        ("Ann O'Brien", "obr o'b o’brien brien o ann-obrien obrienann"),
        ("OBrien", "o'brien o’b o`brien"),
        ("Hassan al-Rashid", "al-r alrash rashid hassan-al hassanal al‑rashid"),
        ("Alrashid", "al-rashid al-ras"),
        ("José García-Ruiz", "garcia-r garciar ruiz"),
        ("王小明", "王 小 明 小明 王小 王小明"),
        ("山田　太郎", "山 郎 山田太 山田太郎 田太"),
        ("김민수", "김 민 민수 김민 ㄱ"),
        ("サトウ", "ｻ さと トウ"),
        ("สมชาย ใจดี", "สม ชาย สมชายใจ"),
        ("الرشيد", "رشيد الرش رش"),
        ("رشيد", "الرشيد"),
        ("Michael", "micha michae mich michael"),
    ],
)
def test_a_name_is_found_while_it_is_typed(name: str, typed: str) -> None:
    missed = [each for each in typed.split() if not finds(each, name)]
    assert missed == []


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Ann O'Brien", "rien"),
        ("Ann O'Brien", "nob"),
        ("Guest Heron", "eron"),
        ("Guest Heron", "guest wren"),
        ("王小明", "王明"),
        ("Müller", "moller"),
        ("Guest Heron", "'"),
        ("Guest Heron", "%"),
    ],
)
def test_a_search_finds_no_other_name(name: str, typed: str) -> None:
    assert not finds(typed, name)


@pytest.mark.parametrize("row", ROWS)
def test_a_name_is_found_in_a_text_in_any_spelling(row: tuple[str, ...]) -> None:
    for name, written in itertools.permutations(row, 2):
        if len(name_key(name)) > 1:
            text = unicodedata.normalize("NFC", f"Ring {written}, please")
            begin = text.index("Ring ") + 5
            found = [text[a:b].strip(EDGES) for a, b in spelt(name, text)]
            whole = text[begin : text.index(", please")].strip(EDGES)
            assert found == [whole], (name, text)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Łukasz Kot", "Kot, Lukasz's bag; lukasz kot. Kot.", ["Kot, Lukasz", "lukasz kot"]),
        ("Heron", "Heron's Herons HERON-Heron", ["Heron", "HERON", "Heron"]),
        ("Guest Heron", "Guest Wren and Heron", []),
        ("Ann Heron", "Ann (room 5) Heron", []),
        ("X", "X x", []),
        ("…", "…", []),
    ],
)
def test_a_name_in_a_text_ends_where_its_words_end(name: str, text: str, found: list[str]) -> None:
    assert [text[begin:end] for begin, end in spelt(name, text)] == found


def test_what_a_name_is_found_by_has_a_limit_of_its_own() -> None:
    long = " ".join(f"{letter}{'Ä' * 9}" for letter in "abcdefghijkl")
    assert len(found_by(long)) == 300
    assert len(name_key("ﷺ" * 120)) == 300
    assert name_key("") == ""


def _typed(name: str) -> set[str]:
    """A spelling as keyboards and other programs give it."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    return forms | {
        name,
        f" {name} ",
        name.upper() if name.upper().lower() == name.lower() else name,
    }
