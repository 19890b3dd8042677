"""Parses a pasted list of guests: one line each, with name, room and phone. Pure.

The cells of a line are separated by tabs (a spreadsheet), semicolons or commas. The separator is
determined for each line, so that lists from two sources can be pasted together. A room before the
name is recognised, unless the line can be read in another way. Numbers that count the lines
(1, 2, 3…) are not rooms; they are left out.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from ridedash.text import one_line, plain_code

# the form counts the same lines before the press (static/js/booking/guest_list.js)
LINE_ENDS: Final = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
SEPARATORS: Final = "\t;,"  # by priority: the first one that occurs in a line separates its cells
CELLS: Final = 3  # name, room, phone
CELL_MAX: Final = 200  # characters of a cell that are read
ROOM_MAX: Final = 32  # characters of a room
LINES_MAX: Final = 200  # lines of a list that are read
PHONE_DIGITS: Final = 7  # a second cell with this many digits is a phone number, not a room
# the number of a line in a list: "1", "1.", "1)", "(1)" or "1," before the rest
LIST_NUMBER: Final = re.compile(
    r"""[^\w+;,\t-]*(\d{1,3})(?:[.)]+(?!\d)|(?=[\s;,"]|$))[^\S\t]*"?[^\S\t]*[\t;,]?"""
)
# a room number as on most doors, with letters and digits of any writing system; the form recognises
# the same room numbers (static/js/booking/guests.js)
ROOM: Final = re.compile(r"[^\W\d_]?-?\d{1,5}[^\W\d_]?")


@dataclass(frozen=True)
class GuestLine:
    """One line of the list as it was typed; `number` counts blank lines too, from 1.

    `more` is the text after the third cell. `room_first`: the room was typed before the name.
    `numbered`: the line began with its number in the list, which was left out.
    """

    number: int
    name: str
    room: str = ""
    phone: str = ""
    more: str = ""
    room_first: bool = False
    numbered: bool = False


def guest_lines(text: str) -> list[GuestLine]:
    """The lines of a list that contain more than blanks, separators and quotes.

    >>> [(each.name, each.room, each.phone) for each in guest_lines("Heron; 412; +91 98450 00000")]
    [('Heron', '412', '+91 98450 00000')]
    """
    lines = enumerate(LINE_ENDS.split(text)[:LINES_MAX], 1)
    seen = {number: line for number, line in lines if _is_seen(line)}
    rest = _unnumbered(seen)
    return [
        replace(_line(number, rest.get(number, line)), numbered=number in rest)
        for number, line in seen.items()
    ]


def _unnumbered(lines: dict[int, str]) -> dict[int, str]:
    """The lines that begin with a number of the list, without that number.

    Empty if the numbers before the lines are not 1, 2, 3…, or if only one line has a number: then
    a number is a room, or part of a name.

    >>> _unnumbered({1: "1. Guest Heron, 412", 2: "2. Guest Wren"})
    {1: 'Guest Heron, 412', 2: 'Guest Wren'}
    """
    found = {at: match for at, line in lines.items() if (match := LIST_NUMBER.match(line))}
    counted = [int(match[1]) for match in found.values()]
    if len(counted) < 2 or counted != list(range(1, len(counted) + 1)):
        return {}
    return {at: lines[at][match.end() :].lstrip(" ") for at, match in found.items()}


def _is_seen(line: str) -> bool:
    return bool(one_line(line, CELL_MAX).strip(' ;,"'))


def _line(number: int, line: str) -> GuestLine:
    separator = next((each for each in SEPARATORS if each in line.strip()), SEPARATORS[0])
    cells = [one_line(cell.strip().strip('"'), CELL_MAX) for cell in line.split(separator)]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    turned = _room_after_name(cells)
    name, *rest = turned or cells
    if len(rest) == 1 and _is_phone(rest[0]):
        return GuestLine(number, name, phone=rest[0])
    room, phone, *more = [*rest, "", ""][: max(len(rest), CELLS - 1)]
    return GuestLine(number, name, room, phone, f"{separator} ".join(more), turned is not None)


def _room_after_name(cells: list[str]) -> list[str] | None:
    """The cells with the name before the room, for a line that begins with its room.

    None for any other line, and for a line that can be read in two ways, such as "412, 413".

    >>> _room_after_name(["412", "Guest Heron"])
    ['Guest Heron', '412']
    >>> _room_after_name(["412 Guest Heron", "+91 98450 00000"])
    ['Guest Heron', '412', '+91 98450 00000']
    """
    first, *rest = cells
    if _is_room(first):
        if not rest or _is_phone(rest[0]):
            return ["", first, *rest]
        return [rest[0], first, *rest[1:]] if not rest[0] or _is_name(rest[0]) else None
    room, _, name = first.partition(" ")
    if not _is_room(room) or not _is_name(name):
        return None
    if rest and not rest[0]:  # the room's own cell, empty because the room stands before the name
        rest = rest[1:]
    return [name, room, *rest] if not rest or _is_phone(rest[0]) else None


def _is_room(cell: str) -> bool:
    return ROOM.fullmatch(plain_code(cell)) is not None


def _is_name(cell: str) -> bool:
    """Whether a cell can be a name and can't be a room: letters, and no digit."""
    return any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))


def _is_phone(cell: str) -> bool:
    """Whether a cell is a phone number, not a room: by its plus sign or by its many digits."""
    digits = re.sub(r"\D", "", cell)
    return cell.startswith("+") or (
        len(digits) >= PHONE_DIGITS and not re.search(r"[^\d\s()./-]", cell)
    )
