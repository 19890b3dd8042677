"""Columns without headings are known by what they contain; what is not known is asked about."""

import pytest

from ridedash.lists.columns import Knows
from ridedash.lists.reading import read_text
from ridedash.lists.table import Field, Oddity

NAME, ROOM, PHONE, TIME, DROP = Field.NAME, Field.ROOM, Field.PHONE, Field.TIME, Field.DROP
KNOWS = Knows(places=frozenset({"opera on the lode", "the lode"}))


@pytest.mark.parametrize("separator", ["\t", ",", ";", " | "])
@pytest.mark.parametrize(
    "times",
    [
        ("08 Dec 06:00", "08 Dec 06:30", "08 Dec 07:00"),
        ("06:00", "06:30", "07:00"),
        ("06:00 tomorrow", "6.30am tmrw", "tomorrow 0715hrs"),
        ("05-Dec-26 17:30", "17:45", "18:00"),
        ("2026-12-08 11:00", "2026-12-08 11:30", "2026-12-09 12:00"),
        ("08DEC26 0450", "08DEC26 0500", "now"),
        ("tomorrow", "Sat 6pm", "in 40 min"),
    ],
)
def test_a_list_in_the_pages_own_order_needs_no_head(
    separator: str, times: tuple[str, ...]
) -> None:
    drops = ("Meridian Airport", "Ferry Terminal", "Opera on the Lode")
    rows = [
        separator.join(each)
        for each in zip(
            ("Ann Heron", "Bo Wren", "Cy Lark"),
            ("301", "302", "303"),
            ("9820177771", "9820177772", "9820177773"),
            times,
            drops,
            strict=True,
        )
    ]
    assert read_text("\n".join(rows), KNOWS).fields == (NAME, ROOM, PHONE, TIME, DROP)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Heron;412;by the sea\nWren;413;over the hill", (NAME, ROOM, Field.ASKED)),
        ("Heron;412;0600\nWren;413;0630", (NAME, ROOM, Field.ASKED)),
        ("Heron;412;07:00;06:00\nWren;413;07:30;06:30", (NAME, ROOM, TIME, Field.ASKED)),
        ("Name;Room;Nickname\nHeron;412;x\nWren;413;y", (NAME, ROOM, Field.ASKED)),
        ("Name;Room;\nHeron;412;06:15\nWren;413;", (NAME, ROOM, Field.ASKED)),
        ("Name;Room;Room\nHeron;412;413\nWren;413;", (NAME, ROOM, Field.ASKED)),
        ("Name;Room;Remarks\nHeron;412;06:15\nWren;413;06:30", (NAME, ROOM, Field.ASKED)),
        ("Name;Room;Remarks\nHeron;412;late\nWren;413;06:30 call", (NAME, ROOM, Field.NOTE)),
        ("Name;Room;Passport\nHeron;412;X1\nWren;413;X2", (NAME, ROOM, Field.UNREAD)),
        ("1;Heron;412\n2;Wren;413", (Field.UNREAD, NAME, ROOM)),
        (
            'A Heron;412;06:15;Meridian Airport\nWren;413;";"\nLark;414;";"',
            (NAME, ROOM, TIME, DROP),
        ),
        ("Ann Church;412\nBo Temple;413", (NAME, ROOM)),
    ],
)
def test_a_column_that_is_not_known_is_asked_about(text: str, fields: tuple[Field, ...]) -> None:
    assert read_text(text).fields == fields


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_a_quotation_mark_alone_in_its_cell_joins_no_lines(separator: str) -> None:
    text = 'Heron|301|06:00|Airport\nWren|302|"|"\n"|303|"|"\nLark|304||Airport'
    table = read_text(text.replace("|", separator))
    assert [row.number for row in table.rows] == [1, 2, 3, 4]
    assert table.rows[1].cells == ("Wren", "302", "〃", "〃")
    assert table.rows[2].cells == ("〃", "303", "〃", "〃")
    assert [row.out for row in table.rows] == [None] * 4


@pytest.mark.parametrize(
    "text",
    [
        '"Heron\t301\n"Wren\t302',
        'Heron\t"301\nWren\t302"',
        'Heron;"301 VIP\n"Wren;302\nLark;303',
    ],
)
def test_quotation_marks_that_enclose_no_cell_are_letters(text: str) -> None:
    table = read_text(text)
    assert len(table.rows) == text.count("\n") + 1
    assert table.oddities == (Oddity.QUOTES,)


def test_a_quoted_cell_of_two_lines_stays_one_beside_ditto_marks() -> None:
    table = read_text('Name;Room;Drop;Note\nHeron;301;Airport;"two\nbags"\nWren;302;";x')
    assert [row.cells for row in table.rows[1:]] == [
        ("Heron", "301", "Airport", "two bags"),
        ("Wren", "302", "〃", "x"),
    ]
