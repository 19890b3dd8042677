"""Messages of a chat and lines without cells: what names no guest is left out, or is asked."""

import pytest

from ridedash.lists.columns import Knows, parts_of
from ridedash.lists.reading import read_text
from ridedash.lists.table import Field, Out

CHAT = """\
29/11/2026, 09:58 - Messages and calls are end-to-end encrypted. No one outside can read them.
29/11/2026, 10:02 - Agency: Good morning, list for tomorrow please
29/11/2026, 10:03 - Agency: Ann Heron, room 214, +353 86 123 4567, 06:00 tomorrow to airport
29/11/2026, 10:03 - Agency: Ms Bo Wren rm 310 ph 98201 33333 airport 6.30am tmrw
29/11/2026, 10:04 - Desk: ok noted
29/11/2026, 10:05 - Agency: Cy Lark 518 +81 90-1234-5678 tomorrow 0715hrs Central Station
29/11/2026, 10:06 - Agency: <Media omitted>
29/11/2026, 10:07 - Agency: room 622
29/11/2026, 10:09 - Desk: Di & Ed Teal (2 pax) room 701 no phone, 30/11 09:15 to conference centre
29/11/2026, 10:11 - Agency: thx"""


def test_a_chat_has_its_guests_and_no_message_is_one() -> None:
    table = read_text(CHAT)
    inside = [row for row in table.rows if row.out is None]
    assert table.fields == tuple(map(Field, ("name", "room", "phone", "time", "drop", "persons")))
    assert [row.cells for row in inside] == [
        ("Ann Heron", "room 214", "+353 86 123 4567", "06:00 tomorrow", "airport", ""),
        ("Ms Bo Wren", "rm 310", "98201 33333", "6.30am tmrw", "airport", ""),
        ("Cy Lark", "518", "+81 90-1234-5678", "tomorrow 0715hrs", "Central Station", ""),
        ("", "room 622", "", "", "", ""),
        ("Di & Ed Teal", "room 701", "", "30/11 09:15", "conference centre", "2"),
    ]
    assert {row.out for row in table.rows} == {None, Out.GREETING}
    assert len(table.rows) == 10


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (
            "Ann O'Heron room 214 +353 86 123 4567 06:00 tomorrow airport",
            ("Ann O'Heron", "room 214", "+353 86 123 4567", "06:00 tomorrow", "airport", "", ""),
        ),
        ("Tom Heron 412 98450 00000", ("Tom Heron", "412", "98450 00000", "", "", "", "")),
        ("April Wren 412 6 pm", ("April Wren", "412", "", "6 pm", "", "", "")),
        ("Wren 412 Fri 6pm", ("Wren", "412", "", "Fri 6pm", "", "", "")),
        ("Wren 412 05 Dec 06:15", ("Wren", "412", "", "05 Dec 06:15", "", "", "")),
        (
            "Wren +33 6 12 34 56 78 18.30 to Opera on the Lode",
            ("Wren", "", "+33 6 12 34 56 78", "18.30", "Opera on the Lode", "", ""),
        ),
        ("Wren 06.12.34.56.78 room 5", ("Wren", "room 5", "06.12.34.56.78", "", "", "", "")),
        ("Wren room 5 06:15, two dogs", ("Wren", "room 5", "", "06:15", "", "", "two dogs")),
        ("Wren Meridian Airport 06:15", ("", "", "", "06:15", "Wren Meridian Airport", "", "")),
    ],
)
def test_no_part_of_a_line_swallows_another(line: str, parts: tuple[str, ...]) -> None:
    assert parts_of(line, Knows(places=frozenset({"opera on the lode"}))).cells == parts
