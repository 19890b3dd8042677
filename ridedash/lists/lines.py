"""One line of a list: its guest, time, drop and persons, and what is wrong with it.

Name, room and phone are read as in the booking form, times as they are typed there. What may be two
things is a problem of the line, which a person solves; no line is dropped, and none is changed
without being shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.forms.phones import PhoneError, grouped, numbers_in, read_phone
from ridedash.inputs import flight_number, is_journey_number, whole_number
from ridedash.lists.columns import ROOM_LONGEST, is_room
from ridedash.lists.days import is_dayless, on_day
from ridedash.lists.table import Field, Row
from ridedash.lists.words import DITTO, NOTHING, NOW, known, plain
from ridedash.names import name_key
from ridedash.rides.orders.fields import MAX_NAME, MAX_NOTE
from ridedash.rides.times.schedule_times import LATEST, SOONEST, LocalTime
from ridedash.rides.times.time_words import ENGLISH_WORDS, TimeWords
from ridedash.text import ascii_digits, one_line, plain_code, room_key
from ridedash.wording import gettext as _
from ridedash.wording.typed_times import PickupTexts, TimeRefused, pass_words

MOST_PERSONS: Final = 20  # in one line; more is a figure of something else
EDITABLE: Final = (
    Field.NAME,
    Field.ROOM,
    Field.PHONE,
    Field.TIME,
    Field.DROP,
    Field.FLIGHT,
    Field.PERSONS,
    Field.NOTE,
)
# how dates such as 3/4 are meant: by a person, or by other dates of the list
DAY_FIRST: Final = "dmy"
MONTH_FIRST: Final = "mdy"
SLASHED: Final = re.compile(r"(?<!\d)(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?!\d)")
_OF_24: Final = re.compile(r"(?<![\d.:/-])(?:0\d|1[3-9]|2[0-3])[:h]\d\d(?![\d/.-])", re.IGNORECASE)
_SHORTENED: Final = re.compile(r"\d(?:[.,]\d+)?e\+?\d+", re.IGNORECASE)
# a word that says nothing more than the column: "Room 412"
_ROOM: Final = re.compile(
    r"(?:room|rm|no|nr|zimmer|zi|chambre|ch|habitación|hab|غرفة|कमरा|部屋|房间|#)[\s.:#]*(?=\d)",
    re.IGNORECASE,
)
_DITTO_MARKS: Final = frozenset("\"'〃″”“„‟´`’‘")
_DASHES: Final = frozenset("-–—―−./_ ")
# fields of which a line of one cell names nobody
_NO_NAME: Final = frozenset({Field.PHONE, Field.TIME, Field.DROP, Field.LEFT})
_HAN: Final = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_PERSONS: Final = re.compile(r"(\d{1,3})(?:\s*\+\s*(\d{1,2}))?\s*[^\d]{0,20}")


@dataclass(frozen=True)
class Here:
    """What a line is read with: the property's country and zone, the present time, and words.

    `when` is the time of the list in words, for lines without their own; "" asks each of them, for
    no line goes now that a person has not sent. Words such as "tomorrow" are those of the moment at
    which they came, `written_at` and `when_at`: a list that is booked after midnight keeps its
    days. A time of day alone is on `day`; without that, one of the list's `days` may be meant.
    """

    country: str | None
    tz: ZoneInfo
    now: datetime
    words: TimeWords = ENGLISH_WORDS
    date_order: str = ""
    when: str = ""
    written_at: datetime | None = None
    when_at: datetime | None = None
    day: date | None = None
    days: tuple[date, ...] = ()


@dataclass(frozen=True)
class LineProblem:
    """Why a line can't be booked yet. `field` is where it can be solved.

    `times` are the instants that its time may mean, to choose from.
    """

    code: str
    words: str
    field: Field = Field.NAME
    times: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A line as it was read. `own_time`: it has a time, not that of the list.

    `at` is None for a ride now, which `now` says, and for a time that is not known. `said`: how
    doubtful parts were read, for a person to check.
    """

    name: str = ""
    room: str = ""
    phone: str | None = None
    phone2: str | None = None
    at: LocalTime | None = None
    own_time: bool = False
    now: bool = False
    drop: str = ""
    flight: str = ""
    persons: int = 1
    note: str = ""
    problems: tuple[LineProblem, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def same_as(self) -> tuple[str, ...]:
        """What two lines share that are the same ride of one guest."""
        at = self.at.at.isoformat() if self.at else ""
        phone = self.phone or ""
        return name_key(self.name), room_key(self.room), phone, at, self.drop.casefold()


def texts_of(row: Row, fields: Sequence[Field], typed: Mapping[Field, str]) -> dict[Field, str]:
    """The texts of a line by field: what a person typed, else the cells of the columns."""
    found: dict[Field, str] = {}
    for field, cell in zip(fields, row.cells, strict=False):
        if field not in (Field.UNREAD, Field.ASKED) and cell and not _is_nothing(field, cell):
            if field in found:
                cell = f"{found[field]} · {cell}"
            found[field] = cell
    filled = row.filled
    alone = len(filled) == 1 and not typed and not found.keys() & _NO_NAME
    if not found.get(Field.NAME) and alone and not is_room(found.get(Field.ROOM, "")):
        found = {Field.NAME: filled[0]}  # a line of one cell: it names somebody, or asks
    found[Field.NAME] = _full_name(found)
    found[Field.TIME] = " ".join(
        filter(None, (found.pop(Field.DAY, ""), found.get(Field.TIME, "")))
    )
    said = {field: typed[field] for field in EDITABLE if field in typed}
    return found | {field: "" if _is_nothing(field, text) else text for field, text in said.items()}


def read_line(texts: Mapping[Field, str], here: Here) -> Reading:
    """The line as it is read, with its problems."""
    problems: list[LineProblem] = []
    said: list[str] = []
    notes = [texts.get(Field.NOTE, "")]
    name, room = _name_and_room(texts, problems)
    phone, phone2 = _phone(texts.get(Field.PHONE, ""), here, problems, notes)
    own = texts.get(Field.TIME, "").strip()
    written_at = here.written_at if own else here.when_at
    now = is_now(own or here.when)
    at = None
    if not now and not _asks_day(own, written_at or here.now, here, problems):
        text = _on_its_day(own, written_at or here.now, here) or here.when
        at = _time(text, written_at or here.now, here, problems, said)
    flight = flight_number(texts.get(Field.FLIGHT, ""))
    if flight and not is_journey_number(flight):
        notes.append(texts[Field.FLIGHT])
        flight = ""
    persons = _persons(texts.get(Field.PERSONS, ""), problems)
    note = " · ".join(filter(None, notes))
    if len(note) > MAX_NOTE // 2:  # the rest is for the guests who share the car
        problems.append(LineProblem("long_note", _("Keep the note shorter."), Field.NOTE))
    drop = texts.get(Field.DROP, "")
    return Reading(
        name=name,
        room=room,
        phone=phone,
        phone2=phone2,
        at=at,
        own_time=bool(own),
        now=now,
        drop=drop,
        flight=flight,
        persons=persons,
        note=note,
        problems=tuple(problems),
        said=tuple(said),
    )


def _name_and_room(texts: Mapping[Field, str], problems: list[LineProblem]) -> tuple[str, str]:
    name = one_line(texts.get(Field.NAME, ""), MAX_NAME + 1)
    room = texts.get(Field.ROOM, "")
    if _ROOM.match(room):
        room = _ROOM.sub("", room, count=1)
    room = plain_code(room)
    if not name:
        problems.append(LineProblem("no_name", _("The name is missing.")))
    if len(name) > MAX_NAME:
        problems.append(LineProblem("long", _("Keep the name under 120 characters.")))
    if len(room) > ROOM_LONGEST:
        problems.append(LineProblem("long_room", _("Keep it under 32 characters."), Field.ROOM))
    return name, room


def is_ditto(field: Field, cell: str) -> bool:
    """Whether a cell says that it means the one above: a ditto mark, or a word such as "ditto".

    A name is never such a word: "Do" is somebody's.
    """
    if field in (Field.UNREAD, Field.ASKED, Field.NOTE) or not cell:
        return False
    if any(map(str.isalnum, cell)):
        return field is not Field.NAME and plain(cell) in known(DITTO)
    return any(mark in _DITTO_MARKS for mark in cell)


def _is_nothing(field: Field, cell: str) -> bool:
    """Whether a cell says that there is nothing: "-" or "n/a". Of a name, that is a placeholder."""
    if field is Field.NAME or not cell:
        return False
    if not any(map(str.isalnum, cell)):
        return set(cell) <= _DASHES
    return field is not Field.NOTE and plain(cell) in known(NOTHING)


def is_now(text: str) -> bool:
    """Whether a person's word for the time means at once."""
    return bool(text) and plain(text) in known(NOW)


def order_shown(texts: Sequence[str]) -> str:
    """How dates with slashes are meant, where the list itself shows it; "" where it does not.

    >>> order_shown(["3/4 06:15", "28/4 06:15"])
    'dmy'
    """
    dates = [(int(each[1]), int(each[2])) for text in texts for each in SLASHED.finditer(text)]
    day_first = any(first > 12 >= second for first, second in dates)
    month_first = any(second > 12 >= first for first, second in dates)
    if day_first == month_first:
        return ""
    if day_first:
        return DAY_FIRST
    return MONTH_FIRST


def shows_24_hours(texts: Sequence[str]) -> bool:
    """Whether times such as 18:15 or 06:15 show that a list is in the clock of 24 hours."""
    return any(_OF_24.search(ascii_digits(text)) for text in texts)


def is_open_date(text: str) -> bool:
    """Whether a text has a date that may be two days, such as 3/4."""
    dates = [(int(each[1]), int(each[2])) for each in SLASHED.finditer(text)]
    return any(first <= 12 and second <= 12 and first != second for first, second in dates)


def _full_name(found: dict[Field, str]) -> str:
    """The name of its parts: "Mr Ann Heron"; a family name in Han characters stands first."""
    family = found.get(Field.NAME, "")
    given = found.pop(Field.GIVEN, "")
    title = found.pop(Field.TITLE, "")
    if given and _HAN.search(family + given):
        return f"{family}{given}"
    return " ".join(filter(None, (title, given, family)))


def _phone(
    text: str, here: Here, problems: list[LineProblem], notes: list[str]
) -> tuple[str | None, str | None]:
    """The first two numbers of a cell, as they are stored; further ones go into the note."""
    if _SHORTENED.fullmatch(text.strip()):
        words = _("“%(phone)s”: a spreadsheet has cut this number off. Type it.", phone=text)
        problems.append(LineProblem("phone", words, Field.PHONE))
        return None, None
    several = numbers_in(text, here.country)
    if several:
        notes.extend(map(grouped, several[2:]))
        return several[0], next(iter(several[1:]), None)
    try:
        return read_phone(text, here.country), None
    except PhoneError as error:
        words = _("“%(phone)s”: %(why)s", phone=text.strip(), why=error.in_full)
        problems.append(LineProblem("phone", words, Field.PHONE))
        return None, None


def _time(
    text: str,
    written_at: datetime,
    here: Here,
    problems: list[LineProblem],
    said: list[str],
) -> LocalTime | None:
    if not text:
        words = _("When? Type a time or “now”, or say above when lines without a time go.")
        problems.append(LineProblem("no_time", words, Field.TIME))
        return None
    ordered = in_order(text, here.date_order)
    if is_open_date(ordered):
        words = _("“%(date)s” may be two days: say above the table which is meant.", date=text)
        problems.append(LineProblem("date_order", words, Field.TIME))
        return None
    try:
        found = PickupTexts(ordered, "", "").read(written_at, here.tz, here.words)
    except TimeRefused as error:
        problems.append(LineProblem("time", str(error), Field.TIME, error.choices))
        return None
    if found.at - here.now < SOONEST:
        words = _("Too soon to plan: choose a time 15 minutes from now or later, or Now.")
        problems.append(LineProblem("soon", words, Field.TIME))
    elif found.at - here.now > LATEST:
        far = _("Too far ahead: rides are planned up to %(days)d days from now.", days=LATEST.days)
        problems.append(LineProblem("far", far, Field.TIME))
    if found.twice:
        said.append(pass_words(found.at, here.tz))
    return found


def _asks_day(own: str, written_at: datetime, here: Here, problems: list[LineProblem]) -> bool:
    """Whether a line's time of day may be on one of the days that the list names."""
    today = written_at.astimezone(here.tz).date()
    if here.day or not here.days or not own or not is_dayless(own, today, here.words):
        return False
    choices: list[datetime] = []
    for day in here.days:
        try:
            found = PickupTexts(on_day(own, day), "", "").read(written_at, here.tz, here.words)
            choices.append(found.at)
        except TimeRefused as error:
            choices += error.choices
    words = _("On which day? Other parts of the list have one.")
    problems.append(LineProblem("no_day", words, Field.TIME, tuple(choices)))
    return True


def _on_its_day(own: str, written_at: datetime, here: Here) -> str:
    """The time of a line, with the day of the list if it has none."""
    today = written_at.astimezone(here.tz).date()
    if here.day is None or not is_dayless(own, today, here.words):
        return own
    return on_day(own, here.day)


def in_order(text: str, order: str) -> str:
    """The text with its dates as 28.4.2026 where their order is known."""

    def date(found: re.Match[str]) -> str:
        day, month, year = found.groups()
        if order == MONTH_FIRST:
            day, month = month, day
        return f"{int(day)}.{int(month)}.{year or ''}"

    if order not in (DAY_FIRST, MONTH_FIRST):
        return text
    return SLASHED.sub(date, text)


def _persons(text: str, problems: list[LineProblem]) -> int:
    if not text.strip():
        return 1
    found = _PERSONS.fullmatch(ascii_digits(text.strip()))
    count = int(found[1]) + int(found[2] or 0) if found else 0
    if whole_number(str(count), 1, MOST_PERSONS) is None:
        words = _("“%(said)s”: type how many people, from 1 to %(n)d.", said=text, n=MOST_PERSONS)
        problems.append(LineProblem("persons", words, Field.PERSONS))
        return 1
    return count
