"""Files as the spreadsheets of many countries save them, without a word about their encoding."""

import pytest

from ridedash.lists.decoding import CODE_PAGES, decoded, read_again
from ridedash.lists.reading import read_file
from ridedash.lists.table import ListRefused

LISTS = {
    "cp1252": [
        "Name;Zimmer\nJürgen Müller;412\nUte Größer;413",
        "Nom;Chambre\nFrançois Lefèvre;412\nZoé Noël;413",
        "Apellido;Habitación\nMuñoz, José;412\nPeña, Íñigo;413",
        "Navn;Rom\nSøren Ångström;412\nBjørg Næss;413",
        "Name;Room\nRenée O’Brien;412",
    ],
    "cp1250": [
        "Nazwisko;Pokój\nŁukasz Żółć;412\nŚwięta Gęś;413",
        "Jméno;Pokoj\nJiří Dvořák;412\nŠárka Nováková;413",
        "Név;Szoba\nKőszegi Zoltán;412\nŐry Tünde;413",
        "Nume;Camera\nŞtefan Păun;412\nIon Ţepeş;413",
    ],
    "cp1251": ["Имя;Номер\nИван Петров;412\nАнна Соколова;413", "ИВАНОВ;412\nПЕТРОВА;413"],
    "cp932": ["名前,部屋\n山田太郎,412\n鈴木花子,413", "ヤマダ タロウ,412\nスズキ ハナコ,413"],
    "gb18030": ["姓名,房间\n王小明,412\n李娜,413", "张伟,412\n刘洋,413\n陈静,414"],
    "cp1256": ["الاسم;الغرفة\nمحمد علي;412\nفاطمة حسن;413", "أحمد;412\nنورة;413"],
}
PLAIN = "Name;Room\nHeron;412\nZoë;413\n王;414"


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in LISTS.items() for text in texts]
)
def test_a_code_page_is_known_by_its_letters(name: str, text: str) -> None:
    assert decoded(text.encode(name)) == (text, name)


@pytest.mark.parametrize(
    "name", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_proves_itself_with_and_without_its_mark(name: str) -> None:
    text, encoding = decoded(PLAIN.encode(name))
    assert (text.lstrip("\ufeff"), encoding) == (PLAIN, "utf-8")


def test_utf_16_of_the_big_kind_has_its_mark() -> None:
    assert decoded(b"\xfe\xff" + PLAIN.encode("utf-16-be")) == (PLAIN, "utf-8")


@pytest.mark.parametrize("wrong", CODE_PAGES)
@pytest.mark.parametrize("right", ["cp1252", "cp1250", "cp1251", "cp1256"])
def test_a_person_can_choose_another_encoding(right: str, wrong: str) -> None:
    """The text alone is enough: the bytes are not kept."""
    from ridedash.lists.decoding import as_encoded

    text = LISTS[right][0]
    read_as = as_encoded(text.encode(right), wrong)
    assert read_again(read_as, wrong, right) == text


def test_what_was_typed_stays_when_the_encoding_is_changed() -> None:
    assert read_again("王小明", "cp1252", "cp1250") == "王小明"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n1 0 obj",
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"{\\rtf1\\ansi Heron;412}",
        b"<html><table><tr><td>Heron</td></tr></table></html>",
        b"\x00\x01\x02\x03" * 50,
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_what_is_no_list_is_refused(data: bytes) -> None:
    with pytest.raises(ListRefused):
        read_file(data)


def test_a_file_of_more_than_two_megabytes_is_refused() -> None:
    with pytest.raises(ListRefused, match="too large"):
        read_file(b"Heron;412\n" * 200_001)
