"""Reads and checks the parts of a form about several rides: a list of guests, a series.

Every error has a message that says what to change; no line is dropped without one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from ridedash.rides.orders.fields import MAX_NAME, MOST_CARS, ListedGuest
from ridedash.rides.orders.guest_list import ROOM_MAX, GuestLine, guest_lines
from ridedash.rides.orders.schedule_times import (
    MOST_RIDES,
    SERIES_LATEST,
    SeriesRide,
    series_rides,
)
from ridedash.text import plain_code
from ridedash.wording import gettext as _

ReadPhone = Callable[[str], str | None]  # to E.164; raises ValueError


@dataclass(frozen=True)
class SeriesRequest:
    """A series as it was typed: first and last day, weekdays (Monday is 0) and a local time.

    A value that can't be read is None.
    """

    first: date | None
    last: date | None
    weekdays: frozenset[int]
    clock: time | None


@dataclass(frozen=True)
class GuestList:
    """A pasted list: its guests, and sentences for the user. `wrong`: the errors of lines that
    can't be read. `same`: lines with the name, room and phone of an earlier line. `read`: how
    doubtful lines were read, so that a person can check them (lines that begin with a room or with
    a list number, and lines whose name has a digit).
    """

    guests: tuple[ListedGuest, ...]
    wrong: list[str]
    same: list[str]
    read: list[str]


def listed_guests(text: str, read_phone: ReadPhone) -> GuestList:
    """The guests of a pasted list, with its errors; more than MOST_CARS lines are an error too."""
    found: list[ListedGuest] = []
    wrong, same, read = [], [], []
    first: dict[tuple[str, ...], int] = {}  # the number of the first line that names each guest
    lines = guest_lines(text)
    for line in lines:
        try:
            guest = _guest(line, read_phone)
        except ValueError as error:
            wrong.append(_("Line %(n)d: %(why)s", n=line.number, why=str(error)))
            continue
        found.append(guest)
        if line.room_first or line.numbered or any(map(str.isdigit, guest.name)):
            read.append(_as_read(line.number, guest))
        facts = guest.name.casefold(), (guest.room or "").casefold(), guest.phone or ""
        of = first.setdefault(facts, line.number)
        if of != line.number:
            same.append(_("Line %(n)d is the same as line %(m)d.", n=line.number, m=of))
    if len(lines) > MOST_CARS:
        many = _(
            "%(n)d guests: one press books a car for 1 to 6. Book the others after it.",
            n=len(lines),
        )
        wrong.append(many)
    return GuestList(tuple(found), wrong, same, read)


def _as_read(number: int, guest: ListedGuest) -> str:
    if guest.room is None:
        return _("Line %(n)d: name “%(name)s”, no room", n=number, name=guest.name)
    return _(
        "Line %(n)d: name “%(name)s”, room “%(room)s”", n=number, name=guest.name, room=guest.room
    )


def _guest(line: GuestLine, read_phone: ReadPhone) -> ListedGuest:
    """The guest of a line. Raises ValueError."""
    if not line.name:
        raise ValueError(_("the name is missing."))
    if line.more:
        raise ValueError(_("more than name, room and phone: “%(more)s”.", more=line.more))
    if len(line.name) > MAX_NAME or len(line.room) > ROOM_MAX:
        raise ValueError(_("the name or the room is too long."))
    try:
        phone = read_phone(line.phone)
    except ValueError as error:
        why = _("“%(phone)s”: %(why)s", phone=line.phone, why=str(error))
        raise ValueError(why) from error
    return ListedGuest(line.name, plain_code(line.room) or None, phone)


def read_series(series: SeriesRequest, tz: ZoneInfo, now: datetime) -> list[SeriesRide]:
    """The rides of a series. Raises ValueError with what to change."""
    if series.first is None or series.clock is None:
        raise ValueError(_("Choose day and time of the first ride."))
    if series.last is None:
        raise ValueError(_("Until which day? Choose one, such as 2026-03-31."))
    rides = series_rides((series.first, series.last), series.weekdays, series.clock, tz)
    if not rides:
        raise ValueError(_("No day from the pickup day until then is one of these weekdays."))
    if rides[-1].at - now > SERIES_LATEST:
        raise ValueError(_("A series ends at most %(n)d days from now.", n=SERIES_LATEST.days))
    if len(rides) > MOST_RIDES:
        raise ValueError(
            _(
                "A series has at most %(n)d rides: choose an earlier day, or fewer weekdays.",
                n=MOST_RIDES,
            )
        )
    return rides
