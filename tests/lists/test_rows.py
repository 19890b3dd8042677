"""Pasted lists, as spreadsheets, agencies, messages and people write them."""

import contextlib

import pytest

from ridedash.lists.reading import digest_of, read_text
from ridedash.lists.table import Field, ListRefused, ListTable, Oddity, Out
from tests.work import calls


def guests(table: ListTable) -> list[tuple[str, str, str]]:
    """Name, room and phone of each line that is not left out."""
    at = {field: n for n, field in enumerate(table.fields) if field}
    wanted = (Field.NAME, Field.ROOM, Field.PHONE)
    return [
        tuple(row.cells[at[field]] if field in at else "" for field in wanted)  # type: ignore[misc]
        for row in table.rows
        if row.out is None
    ]


HERON, WREN = ("Heron", "412", ""), ("Wren", "413", "")


@pytest.mark.parametrize(
    "text",
    [
        "Name;Room\nHeron;412\nWren;413",
        "sep=;\nName;Room\nHeron;412\nWren;413",
        '\ufeff"sep=;"\n"Name";"Room"\n"Heron";"412"\n"Wren";"413"\n',
        "Name\tZimmer\nHeron\t412\nWren\t413\n---\t---\n\nTotal: 2",
        "Gast;Zi.-Nr.\nHeron;412\nWren;413\nGesamt: 2 Personen\nSeite 1 von 3",
        "Nom,Chambre\nHeron,412\nWren,413\nTotal général,2\nPage 1 sur 3",
        "Apellido|Habitación\nHeron|412\nWren|413\nTotal: 2 huéspedes",
        "الاسم;الغرفة\nHeron;412\nWren;413\nالمجموع: 2",
        "नाम,कमरा\nHeron,412\nWren,413\nकुल: 2",
        "氏名,部屋番号\nHeron,412\nWren,413\n合計 2名\n1 ページ",
        "姓名\t房号\nHeron\t412\nWren\t413\n总计\t2\n第1页",
        "Room;Name\n412;Heron\n413;Wren",
        "412;Heron\n413;Wren",
        "1;Heron;412\n2;Wren;413",
        "1. Heron – 412\n2. Wren – 413",
        "1) Heron, 412\n2) Wren, 413",
        "(1) Heron; 412\n(2) Wren; 413",
        "• Heron - 412\n• Wren - 413",
        "[12:03, 28/11/2026] Priya: Heron 412\n[12:04, 28/11/2026] Priya: Wren 413",
        "28/11/26, 12:03 - Priya: Heron 412\n28/11/26, 12:04 - Priya: Wren 413",
        "[28/11/26, 12:03:11] Priya: Heron 412\n[28/11/26, 12:04:12] Priya: Wren 413",
        "Hi team,\nHeron room 412\nWren rm. 413\nThanks\nRegards",
        "Sehr geehrte Damen und Herren,\nHeron Zimmer 412\nWren Zi. 413\nVielen Dank",
        "412 Heron\n413 Wren",
        "Heron (412)\nWren (413)",
        "Heron, 412\nWren; 413",
        "Name;Room\nHeron;412\nName;Room\nWren;413",
        "=====\nHeron,412\n.....\nWren,413\n***",
        "Heron;412\r\n\r\n ;, \r\nWren;413\r\n;;\r\n",
        "Name;Room;Email;Passport No\nHeron;412;a@example.test;X1\nWren;413;b@example.test;X2",
    ],
)
def test_two_guests_are_two_lines_however_they_are_listed(text: str) -> None:
    found = guests(read_text(text))
    # read_line() leaves out the word before a room
    digits = [(name, "".join(filter(str.isdigit, room)), phone) for name, room, phone in found]
    assert digits == [HERON, WREN]


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("Total: 2", Out.TOTAL),
        ("TOTAL GUESTS: 12", Out.TOTAL),
        ("Grand total 40 pax", Out.TOTAL),
        ("Summe: 2 Personen", Out.TOTAL),
        ("Total: 2 personas", Out.TOTAL),
        ("合計: 2名", Out.TOTAL),
        ("Page 1 of 3", Out.PAGE),
        ("Seite 2", Out.PAGE),
        ("Página 1 de 3", Out.PAGE),
        ("---", Out.SEPARATOR),
        ("******", Out.SEPARATOR),
        ("TBA;414", Out.PLACEHOLDER),
        ("tbc", Out.PLACEHOLDER),
        ("n/a;414", Out.PLACEHOLDER),
        ("N.N.;414", Out.PLACEHOLDER),
        ("---;414", Out.PLACEHOLDER),
        ("Vacant;414", Out.PLACEHOLDER),
        ("frei;414", Out.PLACEHOLDER),
        ("à confirmer;414", Out.PLACEHOLDER),
        ("Por confirmar;414", Out.PLACEHOLDER),
        ("شاغر;414", Out.PLACEHOLDER),
        ("रिक्त;414", Out.PLACEHOLDER),
        ("未定;414", Out.PLACEHOLDER),
        ("待定;414", Out.PLACEHOLDER),
    ],
)
def test_a_row_that_is_no_guest_is_left_out_with_its_reason(line: str, out: Out) -> None:
    table = read_text(f"Heron;412\n{line}\nWren;413")
    assert [row.out for row in table.rows] == [None, out, None]
    assert guests(table) == [HERON, WREN]


@pytest.mark.parametrize(
    "name",
    ["Total Heron", "Page Ann", "Mr Page", "Na", "Guest Heron", "Room Ann", "Tag Heron", "Sum Li"],
)
def test_a_name_that_has_such_a_word_stays_a_guest(name: str) -> None:
    table = read_text(f"Heron;412\n{name};413\nLark;414")
    assert [each[0] for each in guests(table)] == ["Heron", name, "Lark"]


@pytest.mark.parametrize(
    "room",
    [
        "12A/12B",
        "412-413",
        "PH1",
        "Suite 5",
        "Ward 7B Bed 12",
        "B-7",
        "R 12",
        "3.14",
        "12½",
        "四12",
    ],
)
def test_a_room_of_any_kind_before_the_name_stays_the_room(room: str) -> None:
    table = read_text(f"{room},Ann Heron\n412,Bo Wren\n413,Cy Lark")
    assert guests(table)[0] == ("Ann Heron", room, "")


def test_a_name_with_a_comma_in_quotes_is_one_name() -> None:
    table = read_text('"Heron, Ann",+91 98450 00000\n"Wren ""Bo""",+91 98450 00001')
    assert guests(table) == [
        ("Heron, Ann", "", "+91 98450 00000"),
        ('Wren "Bo"', "", "+91 98450 00001"),
    ]


def test_a_line_end_within_a_cell_makes_no_guest() -> None:
    table = read_text('Name;Room;Remark\n"Heron\nAnn";412;"late\r\narrival"\nWren;413;')
    assert [(row.number, row.cells) for row in table.rows[1:]] == [
        (2, ("Heron Ann", "412", "late arrival")),
        (5, ("Wren", "413", "")),
    ]


def test_a_quotation_mark_without_its_end_swallows_no_line() -> None:
    lines = "\n".join(f"Guest N{chr(65 + n)};{412 + n}" for n in range(9))
    table = read_text(f'"Heron;411\n{lines}')
    assert len(guests(table)) == 10
    assert table.oddities == (Oddity.QUOTES,)


def test_the_columns_of_a_long_heading_are_known_and_the_rest_is_not_read() -> None:
    table = read_text(
        "Sr No|Last Name|First Name|Room|Mobile|Date|Pick up|Destination|Flight|Pax|Remarks|"
        "Passport\n"
        "1|Heron|Ann|412|98450 00000|28 Nov|06:15|Airport|LH760|2|late|X1"
    )
    assert table.fields == (
        Field.UNREAD,
        Field.NAME,
        Field.GIVEN,
        Field.ROOM,
        Field.PHONE,
        Field.DAY,
        Field.TIME,
        Field.DROP,
        Field.FLIGHT,
        Field.PERSONS,
        Field.NOTE,
        Field.UNREAD,
    )


def test_too_many_guests_are_refused_and_none_is_dropped() -> None:
    sixty = "\n".join(f"Guest {n};{n}" for n in range(60))
    assert len(guests(read_text(f"Name;Room\n{sixty}\nTotal: 60"))) == 60
    with pytest.raises(ListRefused, match="61 guests"):
        read_text(f"{sixty}\nHeron;412")
    with pytest.raises(ListRefused, match="too long"):
        read_text("a;1\n" * 5_000)


@pytest.mark.parametrize("text", ["", "\n \n;,\n", "\u200b\n\u00a0"])
def test_a_list_without_a_line_is_refused(text: str) -> None:
    with pytest.raises(ListRefused):
        read_text(text)


def test_the_same_guests_have_one_digest_however_they_are_written() -> None:
    one = read_text("Name;Room\nHeron;412\nWren;413")
    other = read_text("HERON, 412\n\nWrén, 413\nTotal: 2")
    assert digest_of(one) == digest_of(other)
    assert digest_of(one) != digest_of(read_text("Heron;412\nWren;414"))


@pytest.mark.parametrize(
    "text",
    [
        '"' * 1_000_000,
        "a" * 1_000_000,
        ("x;" * 500 + "\n") * 1_000,
        "(" * 500_000 + "1)" * 200_000,
        "[12:03, 28/11/2026] " * 50_000,
        "1 " * 500_000,
        "- " * 500_000,
        " \t" * 500_000,
        "\n".join('"' * 20_000 for _ in range(50)),
        "\n".join("room " * 3_000 + "1" for _ in range(60)),
        "\n".join("1-" * 8_000 for _ in range(60)),
        "\n".join("+1 (2)" * 2_500 for _ in range(60)),
    ],
    ids=range(12),
)
def test_no_list_is_much_work(text: str) -> None:
    """Text of 1 MB; how long the work takes, `make bench` measures."""

    def read() -> None:
        with contextlib.suppress(ListRefused):
            read_text(text)

    assert calls(read) < 2_500_000
