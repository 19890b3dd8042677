"""The words by which lists are understood: each language has them, and none has two meanings."""

import unicodedata

import pytest

from ridedash.lists.table import Field
from ridedash.lists.words import COUNTED, HEADS, PLACEHOLDERS, TOTALS, head_of, known

# one word of each list for each language, as people there write it
WORDS = {
    "en": ("Guest name", "Room", "Phone", "Time", "Total", "TBA"),
    "de": ("Gast", "Zimmer", "Telefon", "Abholung", "Summe", "frei"),
    "fr": ("Nom", "Chambre", "Téléphone", "Heure", "Somme", "vide"),
    "es": ("Nombre", "Habitación", "Teléfono", "Hora", "Suma", "vacío"),
    "ar": ("الاسم", "الغرفة", "الهاتف", "الوقت", "المجموع", "شاغر"),
    "hi": ("नाम", "कमरा", "मोबाइल", "समय", "कुल", "खाली"),
    "ja": ("氏名", "部屋番号", "電話", "時間", "合計", "未定"),
    "zh_Hans": ("姓名", "房号", "电话", "时间", "合计", "待定"),
}


def test_each_offered_language_has_its_words() -> None:
    from ridedash.wording.languages import LANGUAGES

    assert WORDS.keys() == LANGUAGES.keys()


@pytest.mark.parametrize("language", WORDS)
def test_the_words_of_a_language_are_known(language: str) -> None:
    name, room, phone, at, total, nobody = WORDS[language]
    fields = [head_of(each) for each in (name, room, phone, at)]
    assert fields == [Field.NAME, Field.ROOM, Field.PHONE, Field.TIME]
    assert head_of(name.upper()) is Field.NAME
    from ridedash.text import normalised

    assert normalised(total).strip() in known(TOTALS)
    assert normalised(nobody).strip() in known(PLACEHOLDERS)


def test_no_heading_names_two_fields() -> None:
    seen: dict[str, Field] = {}
    twice = []
    for field, words in HEADS.items():
        for word in known(words):
            if seen.setdefault(word, field) is not field:
                twice.append((word, seen[word], field))
    assert twice == []


def test_no_list_has_an_empty_word() -> None:
    for words in (*HEADS.values(), TOTALS, COUNTED, PLACEHOLDERS):
        assert "" not in known(words)
        assert unicodedata.is_normalized("NFC", words)
