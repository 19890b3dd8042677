"""A pasted list of guests, as spreadsheets, mails and people write it."""

import pytest

from ridedash.rides.orders.guest_list import GuestLine, guest_lines


@pytest.mark.parametrize(
    ("line", "name", "room", "phone"),
    [
        ("Guest Heron, 412, +91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("Guest Heron;412;+91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("Guest Heron\t412\t+91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("Heron, Guest\t412", "Heron, Guest", "412", ""),
        ("Guest Heron, +91 98450 00000", "Guest Heron", "", "+91 98450 00000"),
        ("Guest Heron, 98450 00000", "Guest Heron", "", "98450 00000"),
        ("Guest Heron, 845 0000", "Guest Heron", "", "845 0000"),
        ("Guest Heron, 845 000", "Guest Heron", "845 000", ""),
        ("Guest Heron, 412", "Guest Heron", "412", ""),
        ("Guest Heron,,", "Guest Heron", "", ""),
        ("Guest Heron, , +91 1", "Guest Heron", "", "+91 1"),
        ('"Guest Heron";"412";', "Guest Heron", "412", ""),
        ("  Guest   Heron  ", "Guest Heron", "", ""),
        (", 412", "", "412", ""),
    ],
)
def test_a_line_is_name_room_and_phone(line: str, name: str, room: str, phone: str) -> None:
    assert guest_lines(line) == [GuestLine(1, name, room, phone)]


@pytest.mark.parametrize(
    ("line", "name", "room", "phone"),
    [
        ("412, Guest Heron, +91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("412 Guest Heron", "Guest Heron", "412", ""),
        ("412 Guest Heron, +91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("412 Guest Heron,, +91 98450 00000", "Guest Heron", "412", "+91 98450 00000"),
        ("B-12\tHeron, Guest", "Heron, Guest", "B-12", ""),
        ("١٢;Guest Heron", "Guest Heron", "١٢", ""),
        ("412", "", "412", ""),
        ("412, +91 98450 00000", "", "412", "+91 98450 00000"),
    ],
)
def test_a_room_before_the_name_is_a_room(line: str, name: str, room: str, phone: str) -> None:
    assert guest_lines(line) == [GuestLine(1, name, room, phone, room_first=True)]


@pytest.mark.parametrize(
    ("line", "name", "room"),
    [
        ("412, 413", "412", "413"),
        ("412, Villa 3", "412", "Villa 3"),
        ("Villa 3, Guest Heron", "Villa 3", "Guest Heron"),
        ("412 Guest Heron, 413", "412 Guest Heron", "413"),
        ("412 Guest Heron, Guest Wren", "412 Guest Heron", "Guest Wren"),
        ("3 Guest 4", "3 Guest 4", ""),
    ],
)
def test_an_ambiguous_line_keeps_its_order(line: str, name: str, room: str) -> None:
    assert guest_lines(line) == [GuestLine(1, name, room)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1 Guest Heron\n2 Guest Wren", [("Guest Heron", "", ""), ("Guest Wren", "", "")]),
        (
            "1,Guest Heron,412,+91 98450 00000\n2,Guest Wren,,+91 98450 00001",
            [("Guest Heron", "412", "+91 98450 00000"), ("Guest Wren", "", "+91 98450 00001")],
        ),
        (
            "1.\tGuest Heron, 412\n\n2.\tGuest Wren, 413",
            [("Guest Heron", "412", ""), ("Guest Wren", "413", "")],
        ),
        (
            "1) 412 Guest Heron\n(2) Guest Wren; 413\n 3 , Guest Teal",
            [("Guest Heron", "412", ""), ("Guest Wren", "413", ""), ("Guest Teal", "", "")],
        ),
        (
            '"1","Guest Heron","412"\n"2","Guest Wren"',
            [("Guest Heron", "412", ""), ("Guest Wren", "", "")],
        ),
        ("١. Guest Heron\n٢. Guest Wren", [("Guest Heron", "", ""), ("Guest Wren", "", "")]),
        ("1\tGuest Heron\t2\n2\t\t3", [("Guest Heron", "2", ""), ("", "3", "")]),
    ],
)
def test_numbers_that_count_the_lines_are_no_rooms(
    text: str, read: list[tuple[str, str, str]]
) -> None:
    lines = guest_lines(text)
    assert [(each.name, each.room, each.phone) for each in lines] == read
    assert all(each.numbered for each in lines)


@pytest.mark.parametrize(
    "text",
    [
        "1 Guest Heron",
        "1 Guest Heron\n1 Guest Wren",
        "2 Guest Heron\n1 Guest Wren",
        "2 Guest Heron\n3 Guest Wren",
        "1 Guest Heron\n412 Guest Wren",
    ],
)
def test_numbers_that_do_not_count_the_lines_are_rooms(text: str) -> None:
    lines = guest_lines(text)
    assert [each.room for each in lines] == [each.split()[0] for each in text.split("\n")]
    assert all(each.room_first and not each.numbered for each in lines)


def test_a_number_that_counts_is_left_out_beside_lines_without_one() -> None:
    lines = guest_lines("Guest Teal, 7\n1. Guest Heron\n2. Guest Wren\nGuest Lark, 1.5")
    names = ["Guest Teal", "Guest Heron", "Guest Wren", "Guest Lark"]
    assert [each.name for each in lines] == names
    assert [each.room for each in lines] == ["7", "", "", "1.5"]


def test_lines_keep_the_numbers_that_a_person_counts() -> None:
    lines = guest_lines("Guest Heron\r\n\n ;, \nGuest Wren\n")
    assert [(each.number, each.name) for each in lines] == [(1, "Guest Heron"), (4, "Guest Wren")]


def test_a_line_of_invisible_characters_names_no_guest() -> None:
    lines = guest_lines('Guest Heron\n\u00a0\n\u200b\u202e,\n"";""\nGuest Wren')
    assert [(each.number, each.name) for each in lines] == [(1, "Guest Heron"), (5, "Guest Wren")]


def test_what_stands_behind_the_phone_is_not_lost() -> None:
    (line,) = guest_lines("Heron, Guest, 412, +91 98450 00000, late")
    assert line.more == "+91 98450 00000, late"
