"""The lines of a stored list as they are read now, with what is wrong between them.

A line is read anew for each page, from its cells and a person's corrections: the columns may have
been named otherwise since, and a time of day may be over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from ridedash.geo import LatLng
from ridedash.lists.lines import (
    Here,
    LineProblem,
    Reading,
    is_ditto,
    is_open_date,
    order_shown,
    read_line,
    shows_24_hours,
    texts_of,
)
from ridedash.lists.table import Field, Row
from ridedash.names import name_key
from ridedash.store.guest_lists import GuestList, LineState, ListLine, planned_nearby
from ridedash.store.models.lists import Companion
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest
from ridedash.text import normalised, room_key
from ridedash.views.lists.days import with_days
from ridedash.views.web.place_names import unread_words
from ridedash.wording import gettext as _

# questions that a person answers with yes, which is kept in `ListLine.data`
ALONE: Final = "alone"  # one cell, where the others have several
TWICE: Final = "twice"  # the same guest as in an earlier line
PLANNED: Final = "planned"  # the guest has a planned ride around that time
DITTO: Final = "ditto"  # a cell that means the one above
UNREAD: Final = "unread"  # a part of a message that was not read
MEANT: Final = (ALONE, TWICE, PLANNED, DITTO, UNREAD)


@dataclass(frozen=True)
class ReadLine:
    """A line with its texts, its reading, and where it goes.

    `day` is the list's day for times of day alone, `days` are those that it names.
    """

    row: ListLine
    texts: Mapping[Field, str]
    reading: Reading
    place: Mapping[str, object] | None = None  # its own drop, once it is found
    choices: tuple[Mapping[str, object], ...] = ()  # places that its drop may mean
    pending: bool = False  # its drop is not looked up yet
    day: date | None = None
    days: tuple[date, ...] = ()

    @property
    def problems(self) -> tuple[LineProblem, ...]:
        """Why the line can't be booked yet."""
        return self.reading.problems

    @property
    def is_inside(self) -> bool:
        """Whether the line is a guest who is not ordered yet."""
        return self.row.out is None and self.row.state != LineState.ORDERED

    @property
    def is_open(self) -> bool:
        """Whether a press would book the line."""
        inside = self.row.out is None and self.row.state == LineState.OPEN
        return inside and not self.problems and not self.pending


def fields_of(found: GuestList) -> tuple[Field, ...]:
    """The fields of the columns."""
    return tuple(Field(name) for name in found.sheet.get("fields", []))


def read_lines(found: GuestList, rows: Sequence[ListLine], here: Here) -> list[ReadLine]:
    """Every line as it reads now."""
    fields = fields_of(found)
    cells = cells_from_above(rows, fields)
    texts = {row.number: _texts(row, cells[row.number], fields) for row in rows}
    times = [text.get(Field.TIME, "") for text in texts.values()]
    order = found.sheet.get("date_order") or order_shown(times)
    # what a person typed says nothing about the clock of those who wrote the list
    written = [row for row in rows if Field.TIME not in row.data.get("typed", {})]
    of_24 = shows_24_hours([texts[row.number].get(Field.TIME, "") for row in written])
    here = replace(
        here,
        date_order=order,
        words=replace(here.words, of_24=here.words.of_24 or of_24),
        when=when_of(found),
        when_at=_instant(found.trip.get("when_at")) or found.created_at,
        written_at=found.created_at,
    )
    here = with_days(found, rows, texts, here)
    lines = [_read(row, texts[row.number], here) for row in rows]
    lines = [_with_dittos(line, cells[line.row.number], fields) for line in lines]
    return _between(found, lines)


def cells_from_above(rows: Sequence[ListLine], fields: Sequence[Field]) -> dict[int, list[str]]:
    """The cells of each line by its number, with those above it in place of ditto marks."""
    found: dict[int, list[str]] = {}
    above: list[str] = []
    for row in rows:
        cells = [str(cell) for cell in row.data.get("cells", ())]
        if row.out is None:
            for at, field in _dittos(row, fields):
                if at < len(above) and not is_ditto(field, above[at]):
                    cells[at] = above[at] or cells[at]
            above = cells
        found[row.number] = cells
    return found


def when_of(found: GuestList) -> str:
    """The pickup time, in words, of lines without their own; "" until a person has said one."""
    if found.trip.get("when_now"):
        return "now"
    return str(found.trip.get("when", ""))


def has_open_dates(lines: Sequence[ReadLine]) -> bool:
    """Whether a time of the list has a date that may be two days."""
    return any(is_open_date(line.texts.get(Field.TIME, "")) for line in lines if line.is_inside)


def date_order_of(found: GuestList, lines: Sequence[ReadLine]) -> str:
    """How dates with slashes are read: chosen by a person, or shown by the list; or ""."""
    times = [line.texts.get(Field.TIME, "") for line in lines]
    return str(found.sheet.get("date_order") or order_shown(times))


def with_planned(
    lines: Sequence[ReadLine], planned: Sequence[tuple[Order, Guest | Companion]]
) -> list[ReadLine]:
    """The lines, with a question at those whose guest has a planned ride around that time."""
    known = {_person(guest.name, guest.room, guest.phone) for _order, guest in planned}
    known |= {guest.phone or "" for _order, guest in planned} - {""}
    found = []
    for line in lines:
        guest = line.reading
        has_one = guest.phone in known or _person(guest.name, guest.room, guest.phone) in known
        asks = has_one and guest.at is not None and line.is_inside
        if asks and not _is_meant(line, PLANNED):
            line = _asked(line, PLANNED)
        found.append(line)
    return found


def planned_query(found: GuestList, lines: Sequence[ReadLine]) -> tuple[object, ...] | None:
    """The arguments of `planned_nearby` for these lines; None if none of them is planned."""
    times = [line.reading.at.at for line in lines if line.is_inside and line.reading.at]
    if not times:
        return None
    return found.property_id, min(times), max(times), found.group_key


def question(code: str) -> str:
    """The words of a question about a line."""
    return {
        ALONE: _("One cell, where the other lines have more. Is this a guest?"),
        TWICE: _("The same guest, time and place as in an earlier line."),
        PLANNED: _("This guest has a planned ride around that time already."),
    }[code]


def point_of(place: Mapping[str, object]) -> LatLng:
    """The position of a stored place."""
    return LatLng(float(str(place["lat"])), float(str(place["lng"])))


def _dittos(row: ListLine, fields: Sequence[Field]) -> list[tuple[int, Field]]:
    """The columns in which a line has a ditto mark that a person has not typed over."""
    typed = {Field(name) for name in row.data.get("typed", {})}
    if Field.TIME in typed:
        typed.add(Field.DAY)
    cells = row.data.get("cells", ())
    return [
        (at, field)
        for at, (field, cell) in enumerate(zip(fields, cells, strict=False))
        if field not in typed and is_ditto(field, cell)
    ]


def _with_dittos(line: ReadLine, cells: Sequence[str], fields: Sequence[Field]) -> ReadLine:
    """The line with a question about its ditto marks, or with what is missing above them."""
    marks = _dittos(line.row, fields)
    if not marks or not line.is_inside:
        return line
    missing = [field for at, field in marks if is_ditto(field, cells[at])]
    if missing:
        words = _("There is nothing above that this mark could mean. Type it.")
        return with_problem(line, LineProblem("above", words, missing[0]))
    texts = " · ".join(cells[at] for at, _field in marks)
    return with_problem(
        line, LineProblem(DITTO, _("As in the line above: “%(said)s”?", said=texts))
    )


def _texts(row: ListLine, cells: Sequence[str], fields: Sequence[Field]) -> dict[Field, str]:
    typed = {Field(name): text for name, text in row.data.get("typed", {}).items()}
    return texts_of(Row(row.row, tuple(cells)), fields, typed)


def _read(row: ListLine, texts: dict[Field, str], here: Here) -> ReadLine:
    typed_at = _instant(row.data.get("typed_at"))
    if typed_at:
        here = replace(here, written_at=typed_at)
    reading = read_line(texts, here)
    left = texts.get(Field.LEFT, "")
    if left and UNREAD not in row.data.get("meant", ()):
        words = _("Not read: “%(said)s”. Go without it?", said=left)
        problems = (*reading.problems, LineProblem(UNREAD, words))
        reading = replace(reading, problems=problems)
    drop = reading.drop
    place = row.data.get("place")
    if place is not None and (place["for"] != drop or not drop):
        place = None
    looked = row.data.get("looked", {})
    was_asked = looked.get("for") == drop
    line = ReadLine(row, texts, reading, place, day=here.day, days=here.days)
    if not drop or place is not None or row.state == LineState.ORDERED:
        return line
    if not was_asked:
        return replace(line, pending=True)
    words = _("“%(place)s” may be several places: choose one.", place=drop)
    if looked.get("unread"):
        words = unread_words(looked["unread"])
    elif not looked["choices"]:
        words = _("No place of the name “%(place)s” was found. Type another one.", place=drop)
    line = replace(line, choices=tuple(looked["choices"]))
    return with_problem(line, LineProblem("drop", words, Field.DROP))


def _instant(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None


def _between(found: GuestList, lines: list[ReadLine]) -> list[ReadLine]:
    """The lines with the problems that only several of them show."""
    inside = [line for line in lines if line.is_inside]
    many = sum(len(_filled(line)) > 1 for line in inside) * 2 > len(inside)
    seen: set[tuple[str, ...]] = set()
    out = []
    for line in lines:
        if line.is_inside:
            alone = many and len(_filled(line)) == 1 and not line.row.data.get("typed")
            if alone and not _is_meant(line, ALONE):
                line = _asked(line, ALONE)
            if line.reading.same_as in seen and not _is_meant(line, TWICE):
                line = _asked(line, TWICE)
            seen.add(line.reading.same_as)
        out.append(line)
    return [_in_car(found, line, out) for line in out]


def _in_car(found: GuestList, line: ReadLine, lines: Sequence[ReadLine]) -> ReadLine:
    """The line with what is wrong about its car, at the car's later lines."""
    if not line.is_inside:
        return line
    shared = [each for each in lines if each.row.car == line.row.car and each.is_inside]
    head = shared[0]
    if head.row.number == line.row.number:
        return line
    seats = int(found.trip.get("seats") or 0)
    if _goes(head) != _goes(line):
        words = _("Line %(n)d has the same car, and another time or place.", n=head.row.row)
        return with_problem(line, LineProblem("car", words))
    before = shared[: [each.row.number for each in shared].index(line.row.number) + 1]
    if seats and sum(each.reading.persons for each in before) > seats:
        words = _("Car %(n)d has more people than seats.", n=line.row.car)
        return with_problem(line, LineProblem("seats", words))
    return line


def _goes(line: ReadLine) -> tuple[object, ...]:
    at = line.reading.at
    return at.at if at else None, normalised(line.reading.drop)


def _filled(line: ReadLine) -> list[str]:
    return [cell for cell in line.row.data.get("cells", ()) if cell]


def _is_meant(line: ReadLine, code: str) -> bool:
    return code in line.row.data.get("meant", ())


def _asked(line: ReadLine, code: str) -> ReadLine:
    return with_problem(line, LineProblem(code, question(code)))


def with_problem(line: ReadLine, problem: LineProblem) -> ReadLine:
    """The line with a further problem."""
    problems = (*line.reading.problems, problem)
    return replace(line, reading=replace(line.reading, problems=problems))


def _person(name: str, room: str | None, phone: str | None) -> str:
    if phone and not room:
        return phone
    return f"{name_key(name)}/{room_key(room)}"


__all__ = [
    "DITTO",
    "MEANT",
    "UNREAD",
    "ReadLine",
    "cells_from_above",
    "date_order_of",
    "fields_of",
    "has_open_dates",
    "planned_nearby",
    "planned_query",
    "point_of",
    "read_lines",
    "when_of",
    "with_planned",
]
