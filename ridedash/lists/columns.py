"""What the columns of a list contain, and which of its rows are no guests: decided over all rows.

Headings decide first, then what most cells of a column look like. A person can change every column.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from ridedash.inputs import flight_number, is_flight_number
from ridedash.lists.free_text import CUT, Parts, named, persons_cut, time_cut
from ridedash.lists.table import Field, ListTable, Out, Row
from ridedash.lists.words import (
    CHATTING,
    COUNTED,
    GREETINGS,
    PAGES,
    PLACEHOLDERS,
    PLACES,
    ROOMS,
    TOTALS,
    head_of,
    known,
    plain,
)
from ridedash.rides.times.schedule_times import NoSuchTime
from ridedash.rides.times.time_answers import NotATime, TimeQuestion, TimeRefusal
from ridedash.rides.times.time_words import ENGLISH_WORDS, UNSPACED, TimeWords
from ridedash.rides.times.typed_time import read_time
from ridedash.rides.times.typed_words import TIME_CHARS
from ridedash.text import normalised, plain_code

PHONE_DIGITS: Final = 7  # digits from which a number is a phone, not a room
ROOM_LONGEST: Final = 32  # characters of a room
MOST: Final = 0.6  # the share of a column's cells that decides what it contains
FEW_PERSONS: Final = 9  # a column of numbers up to this one, beside a room, is of persons
_CODE: Final = r"[^\W\d_]{0,3}[-.]?\d{1,5}(?:[-.]?[^\W\d_]{1,2})?(?:½)?"
# 412, B-7, 12A/12B, 412-413, 3.14, 1st floor of a tower stays a text
CODES: Final = re.compile(rf"#?{_CODE}(?:\s?[-/+&,]\s?{_CODE})*")
_NUMBERS: Final = re.compile(r"\d+")
CLOCK: Final = re.compile(
    r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\.?|uhr|h|hrs)?"
    r"|\d{1,2}\s?(?:[ap]\.?m\.?|uhr|h|hrs|時|点)|\d{4}\s?hrs",
    re.IGNORECASE,
)
DATE: Final = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}[-. ]?[^\W\d_]{3,9}[-. ]?(?:\d{2,4})?"
)
PHONE: Final = re.compile(r"(?:\+|00)?\(?\d[\d\s().\-/]{5,}\d")
# "412 98450 00000": a room before a number of ten digits
_ROOM_AND_PHONE: Final = re.compile(r"^[1-9]\d{0,3}\s+(?=(?:\D*\d){10})")
_ROOM_WORDS: Final = "|".join(sorted(map(re.escape, ROOMS.split("|")), key=len, reverse=True))
IN_TEXT: Final = re.compile(
    rf"(?<!\w)(?:{_ROOM_WORDS})\s?[.:#]?\s?#?([\w/-]*\d[\w/-]*)(?!\w)|#\s?([\w/-]*\d[\w/-]*)",
    re.IGNORECASE,
)


# the fields of a line of a message, in the order of `Parts.cells`
_SPLIT: Final = tuple(Field(part.name) for part in dataclasses.fields(Parts))
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)  # whether a text is a time is no matter of it


@dataclass(frozen=True)
class Knows:
    """By what columns without a heading are known: time words, and names of the desk's places."""

    words: TimeWords = ENGLISH_WORDS
    places: frozenset[str] = frozenset()  # normalised


def decided(table: ListTable, knows: Knows | None = None) -> ListTable:
    """The table with its fields, and with the rows that are no guests left out."""
    table = table.but(rows=tuple(_set_aside(table.rows)))
    inside = [row for row in table.rows if row.out is None]
    heads = [row for row in table.rows if row.out is Out.HEAD]
    if inside and not heads and all(len(row.filled) == 1 for row in inside):
        table = _split(table, knows or Knows())
    if table.fields:
        fields = table.fields
    else:
        table = _without_rooms_in_names(table, has_head=bool(heads))
        fields = _fields(table, heads[0].cells if heads else (), knows or Knows())
    return table.but(rows=tuple(_without_placeholders(table.rows, fields)), fields=fields)


def placeholder(cell: str) -> bool:
    """Whether a cell says that no guest is known yet: TBA, n/a, vacant, ---."""
    if not cell:
        return False
    if not any(map(str.isalnum, cell)):
        return not any(mark in '"〃″' for mark in cell)  # which means the name above
    # "Na" is a family name, "NA" and "n/a" are not
    return plain(cell) in known(PLACEHOLDERS) or cell in ("NA", "na")


def is_phone(cell: str) -> bool:
    """Whether a cell is a phone number: by its plus sign or by its many digits."""
    digits = sum(map(str.isdigit, cell))
    if cell.startswith("+"):
        return digits >= 3
    return digits >= PHONE_DIGITS and PHONE.match(cell) is not None and not DATE.fullmatch(cell)


def is_room(cell: str) -> bool:
    """Whether a cell can be a room: a code as on doors, or words such as "Ward 7B Bed 12"."""
    code = plain_code(cell)
    if not code or len(code) > ROOM_LONGEST or is_phone(code):
        return False
    if CODES.fullmatch(code):
        return True
    words = plain(code).split()
    return (
        any(map(str.isdigit, code)) and len(words) <= 6 and all(_is_of_room(word) for word in words)
    )


def _is_of_room(word: str) -> bool:
    return word in known(ROOMS) or CODES.fullmatch(word) is not None or len(word) == 1


def is_name(cell: str) -> bool:
    """Whether a cell can be a name and can't be a room: letters, and no digit."""
    return any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))


def time_kind(cell: str, words: TimeWords) -> Field:
    """TIME for a time of day, with its day or without; DAY for a day alone; else UNREAD."""
    if not cell or len(cell) > TIME_CHARS or CODES.fullmatch(cell) or cell.startswith("+"):
        return Field.UNREAD
    if not any(map(str.isalpha, cell)) and ":" not in cell:
        return Field.UNREAD  # digits alone are a phone, a room or a date
    try:
        read_time(cell, _ANY_DAY, UTC, words)  # type: ignore[arg-type] # it has no clock changes
    except NotATime as error:
        return {TimeRefusal.PAST: Field.TIME, TimeRefusal.NO_CLOCK: Field.DAY}.get(
            error.why, Field.UNREAD
        )
    except (TimeQuestion, NoSuchTime):
        return Field.TIME
    return Field.TIME


def is_place(cell: str, knows: Knows) -> bool:
    """Whether a cell names a place: one of the desk's, or by a word such as "airport"."""
    text = normalised(cell).strip()
    if not text or text in knows.places:
        return bool(text)
    places = known(PLACES)
    if places.intersection(text.split()):
        return True
    return any(UNSPACED.search(each) and each in text for each in places)


# ---- rows that are no guests


def _set_aside(rows: Sequence[Row]) -> Iterator[Row]:
    head: tuple[str, ...] | None = None
    heads = [at for at, row in enumerate(rows) if _is_head(row, first=at == 0)]
    structured = sum(len(row.filled) > 1 for row in rows) * 2 > len(rows)
    for at, row in enumerate(rows):
        out = row.out
        if out is None and (row.cells == head or _is_head(row, first=at == 0)):
            out = Out.HEAD
            head = head or row.cells
        if out is None and structured and heads and at < heads[0] and len(row.filled) == 1:
            out = Out.TITLE
        yield replace(row, out=out or _why_out(row, structured=structured))


def _is_head(row: Row, *, first: bool) -> bool:
    cells = row.filled
    heads = [head_of(cell) for cell in cells]
    named = sum(each is not None for each in heads)
    if not named or any(any(map(str.isdigit, cell)) for cell in cells):
        return False
    # alone, a heading stands above all: "Guest" may be somebody's name in the middle of a list
    return named >= 2 or (first and named == len(cells))


def _why_out(row: Row, *, structured: bool) -> Out | None:
    text = plain(" ".join(row.filled))
    words = _NUMBERS.sub(" ", text).split()
    if _is_total(words):
        return Out.TOTAL
    has_number = any(map(str.isdigit, text))
    if words and has_number and len(row.filled) == 1 and known(PAGES).issuperset(words):
        return Out.PAGE
    if not structured and len(row.filled) == 1 and _is_greeting(row.filled[0]):
        return Out.GREETING
    return None


def _is_total(words: Sequence[str]) -> bool:
    """Whether a row counts the others: a word such as "Total", and what was counted, if anything.

    Its numbers are left out of `words`.
    """
    begins = (" ".join(words[:count]) for count in (1, 2))
    if not any(begin in known(TOTALS) for begin in begins if begin):
        return False
    rest = {word for total in known(TOTALS) for word in total.split()} | known(COUNTED)
    return rest.issuperset(words)


def _is_greeting(cell: str) -> bool:
    text = plain(cell)
    if known(CHATTING).issuperset(text.split()):
        return True
    starts = any(text == word or text.startswith(f"{word} ") for word in known(GREETINGS))
    return starts and not any(map(str.isdigit, text)) and len(text) < 80


def _without_placeholders(rows: Sequence[Row], fields: Sequence[Field]) -> Iterator[Row]:
    at = next((n for n, field in enumerate(fields) if field is Field.NAME), None)
    for row in rows:
        if row.out is None and at is not None and placeholder(row.cells[at]):
            yield replace(row, out=Out.PLACEHOLDER)
        else:
            yield row


# ---- lists without separators


def _split(table: ListTable, knows: Knows) -> ListTable:
    """Lines of a message, "Ann Heron room 412 +91 98450 00000", as cells with their fields."""
    at = {row.number: next(iter(row.filled)) for row in table.rows if row.filled}
    parts = {number: parts_of(text, knows) for number, text in at.items()}
    inside = [parts[row.number] for row in table.rows if row.out is None]
    for side in (_room_behind, _room_before):
        fits = [side(each.name) for each in inside if not each.room]
        if fits and sum(each is not None for each in fits) * 2 >= len(inside):
            parts = {number: _moved(each, side(each.name)) for number, each in parts.items()}
            break
    rows = []
    for row in table.rows:
        if row.out is None:
            cells = parts[row.number].cells
        else:
            cells = (row.filled[0], *[""] * (len(_SPLIT) - 1))
        rows.append(replace(row, cells=cells))
    used = [n for n in range(len(_SPLIT)) if any(row.cells[n] for row in rows)]
    return table.but(
        rows=tuple(replace(row, cells=tuple(row.cells[n] for n in used)) for row in rows),
        fields=tuple(_SPLIT[n] for n in used),
    )


def _moved(parts: Parts, split: tuple[str, str] | None) -> Parts:
    if parts.room or split is None:
        return parts
    return replace(parts, name=split[0], room=split[1])


def parts_of(text: str, knows: Knows) -> Parts:
    """The parts of a line of a message."""
    at, rest = time_cut(text, knows.words)
    persons, rest = persons_cut(rest)
    phone = room = ""
    found = next((each for each in PHONE.finditer(rest) if is_phone(each[0].strip())), None)
    if found:
        phone = _ROOM_AND_PHONE.sub("", found[0]).strip()
        rest = f"{rest[: found.end() - len(phone)]}{CUT}{rest[found.end() :]}"
    told = IN_TEXT.search(rest)
    if told:
        room = told[0].strip(" .:")
        rest = f"{rest[: told.start()]}{CUT}{rest[told.end() :]}"
    name, other, drop, left = named(rest, lambda each: is_place(each, knows), is_room)
    if room and other:
        left = " · ".join(filter(None, (left, other)))
    parts = Parts(name, room or other, phone, at, drop, persons, left)
    if at or phone:  # a line of a guest: digits beside the name are the room
        parts = _moved(parts, _room_behind(name) or _room_before(name))
    return parts


def _room_behind(text: str) -> tuple[str, str] | None:
    """Name and room of "Ann Heron 412"."""
    name, _, room = text.rpartition(" ")
    name = name.rstrip(" ,-–(")
    if len(room) > 1 and is_room(room) and is_name(name):
        return name, room
    return None


def _room_before(text: str) -> tuple[str, str] | None:
    """Name and room of "412 Ann Heron"."""
    room, _, name = text.partition(" ")
    room = room.rstrip(":.,-–)")
    name = name.lstrip(" ,-–:)")
    if is_room(room) and is_name(name):
        return name, room
    return None


def _without_rooms_in_names(table: ListTable, *, has_head: bool) -> ListTable:
    """A table whose first column has the room before the name, "412 Ann Heron", with both apart."""
    inside = [row for row in table.rows if row.out is None and row.cells]
    if has_head or not inside or any(is_room(cell) for row in inside for cell in row.cells):
        return table
    apart = {row.number: _room_before(row.cells[0]) for row in inside}
    if sum(each is not None for each in apart.values()) * 2 < len(inside):
        return table
    rows = []
    for row in table.rows:
        name, room = apart.get(row.number) or ((row.cells or ("",))[0], "")
        rows.append(replace(row, cells=(name, room, *row.cells[1:])))
    return table.but(rows=tuple(rows))


# ---- columns


def _fields(table: ListTable, head: Sequence[str], knows: Knows) -> tuple[Field, ...]:
    guessed = _guessed(table, knows)
    if not head:
        return tuple(guessed)
    named = [head_of(cell) for cell in head]
    found = _each_once([Field.ASKED if each is None else each for each in named])
    found = [_checked(field, _column(table, at), knows) for at, field in enumerate(found)]
    if Field.NAME in found:
        return tuple(found)
    names = [at for at in range(table.width) if guessed[at] is Field.NAME]
    best = [at for at in names if named[at] is None] or names
    if Field.GIVEN in found:
        best = [found.index(Field.GIVEN)]
    for at in best[:1]:
        found[at] = Field.NAME
    return tuple(found)


def _column(table: ListTable, at: int) -> list[str]:
    """The cells of a column that say what it is, of rows that are not left out: no marks alone."""
    cells = (row.cells[at] for row in table.rows if row.out is None)
    return [cell for cell in cells if any(map(str.isalnum, cell))]


def _checked(field: Field, cells: Sequence[str], knows: Knows) -> Field:
    """A field by its heading, or a question where the column contains something else."""
    if field is Field.ASKED and not cells:
        return Field.UNREAD
    if field is Field.NOTE and _are_times(cells, knows):
        return Field.ASKED
    return field


def _are_times(cells: Sequence[str], knows: Knows) -> bool:
    """Whether half of the texts of a column are times or days."""
    kinds = [_kind_of(cell, knows) for cell in cells]
    return bool(kinds) and 2 * sum(each in (Field.TIME, Field.DAY) for each in kinds) >= len(kinds)


def _each_once(fields: Sequence[Field]) -> list[Field]:
    """The fields, each of them for the first column that has it; a further one is asked about."""
    seen = {Field.UNREAD}
    found = []
    for field in fields:
        if field in seen and field is not Field.UNREAD:
            found.append(Field.ASKED)
        else:
            found.append(field)
        seen.add(field)
    return found


def _guessed(table: ListTable, knows: Knows) -> list[Field]:
    """The fields of columns without headings, by what most of their cells look like.

    Texts of no kind are a note beside a drop. Without one they may be the drop: that is asked.
    """
    columns = [_column(table, at) for at in range(table.width)]
    inside = sum(row.out is None for row in table.rows)
    kinds = [_kind(cells, inside, knows) for cells in columns]
    if Field.NAME not in kinds and Field.DROP in kinds:  # people whose names are those of places
        kinds[kinds.index(Field.DROP)] = Field.NAME
    names = [at for at, kind in enumerate(kinds) if kind is Field.NAME]
    first = max(names, key=lambda at: (len(columns[at]) * 2 >= inside, -at), default=None)
    if first is None and kinds:  # names with digits: "Guest 1"
        first = next((at for at, kind in enumerate(kinds) if kind is Field.NOTE), 0)
        kinds[first] = Field.NAME
    rooms = [at for at, kind in enumerate(kinds) if kind is Field.ROOM]
    room = next((at for at in rooms if not _counts(columns[at])), next(iter(rooms), None))
    other = Field.NOTE if Field.DROP in kinds else Field.ASKED
    found = []
    for at, kind in enumerate(kinds):
        if kind is Field.NOTE or (kind is Field.NAME and at != first):
            kind = Field.ASKED if _are_times(columns[at], knows) else other
        if kind is Field.ROOM and at != room:
            kind = Field.PERSONS if _counts(columns[at]) else Field.ASKED
        found.append(kind)
    return _each_once(found)


def _kind(cells: Sequence[str], of: int, knows: Knows) -> Field:
    """What most cells of a column are; NOTE for texts of no kind."""
    if not cells:
        return Field.UNREAD
    numbers = [plain_code(cell).strip(" .)(") for cell in cells]
    if len(cells) > 1 and numbers == [str(n) for n in range(1, of + 1)]:
        return Field.UNREAD  # the numbers of the lines
    kind, count = Counter(_kind_of(cell, knows) for cell in cells).most_common(1)[0]
    if count < MOST * len(cells):
        return Field.NOTE
    return kind


def _kind_of(cell: str, knows: Knows) -> Field:
    if CLOCK.fullmatch(cell):
        return Field.TIME
    as_time = time_kind(cell, knows.words)
    if as_time is not Field.UNREAD and any(map(str.isdigit, cell)):
        return as_time
    if is_phone(cell):
        return Field.PHONE
    if DATE.fullmatch(cell) and not CODES.fullmatch(cell):
        return Field.DAY
    if is_flight_number(flight_number(cell)) and len(cell) > 3 and not cell.isdigit():
        if CODES.fullmatch(cell) and len(cell) < 5:
            return Field.ROOM
        return Field.FLIGHT
    if is_room(cell):
        return Field.ROOM
    if is_place(cell, knows):
        return Field.DROP
    if is_name(cell) or placeholder(cell):
        return Field.NAME
    return Field.NOTE


def _counts(cells: Sequence[str]) -> bool:
    """Whether a column may be of persons: small numbers in each of its cells."""
    return all(cell.isdecimal() and int(cell) <= FEW_PERSONS for cell in cells)
