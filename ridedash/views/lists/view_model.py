"""What the page of a list shows: columns, lines with their state, cars, prices and their sum."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from ridedash.fits import Capacity
from ridedash.forms.phones import described, reading_of
from ridedash.lists.lines import EDITABLE, Here
from ridedash.lists.table import Field, Oddity, Out
from ridedash.rides.guest_lists.press import (
    ANSWERABLE,
    LIST_GUARD,
    LIST_METERED,
    LIST_NOT_BOOKABLE,
    LIST_PRICE,
    Along,
    CarPlan,
)
from ridedash.store.capacities import capacity_of
from ridedash.store.guest_lists import (
    LIST_FAILING,
    LIST_RESTORED,
    LIST_SILENT,
    LIST_STOPPED,
    GuestList,
    LineState,
    ListLine,
    ListState,
    alike,
    lines_of,
    planned_nearby,
)
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Account, Property
from ridedash.store.orders import OrderPage, orders_by_ids
from ridedash.views.booking.groups import GroupCar, car_of
from ridedash.views.booking.pickup_times import in_full
from ridedash.views.lists import trip as trips
from ridedash.views.lists.cars import are_current, car_name, with_needs
from ridedash.views.lists.fitting import TooSmall, small_cars
from ridedash.views.lists.lines import (
    MEANT,
    ReadLine,
    date_order_of,
    fields_of,
    has_open_dates,
    planned_query,
    read_lines,
    with_planned,
)
from ridedash.views.web import formatting
from ridedash.views.web.formatting import money, planned_time
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.attention import reason_words
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import typed_text

POLL_MS: Final = 2_000
RIDES_MS: Final = 5_000


def field_names() -> dict[str, str]:
    """The names of the fields, as columns are headed."""
    return {
        Field.NAME: _("Name"),
        Field.GIVEN: _("First name"),
        Field.TITLE: _("Title"),
        Field.ROOM: _("Room or ref."),
        Field.PHONE: _("Phone"),
        Field.DAY: _("Day"),
        Field.TIME: _("Time"),
        Field.DROP: _("Drop"),
        Field.FLIGHT: _("Flight"),
        Field.PERSONS: _("People"),
        Field.NOTE: _("Note for the desk"),
        Field.LEFT: _("Not read"),
        Field.ASKED: _("What is this?"),
        Field.UNREAD: _("Leave this column out"),
    }


def out_words(out: str) -> str:
    """Why a row is left out."""
    return {
        Out.HEAD: _("heading"),
        Out.TOTAL: _("total"),
        Out.PAGE: _("page number"),
        Out.SEPARATOR: _("line"),
        Out.PLACEHOLDER: _("no name yet"),
        Out.GREETING: _("part of a message"),
        Out.TITLE: _("title"),
        Out.PERSON: _("left out"),
    }[Out(out)]


def oddity_words(oddity: str) -> str:
    """What a person should know about how a file was read."""
    return {
        Oddity.FORMULAS: _("Formulas are not computed: the text saved with them is read."),
        Oddity.HIDDEN: _("Hidden rows and columns are not read."),
        Oddity.SHEETS: _("Only the first sheet is read."),
        Oddity.MERGED: _("A merged cell counts for each of its rows."),
        Oddity.QUOTES: _("A quotation mark has no end: all are read as letters."),
        Oddity.WIDE: _("Columns far to the right are not read."),
    }[Oddity(oddity)]


def code_words(code: str | None) -> str:
    """Why a line or a list waits; "" without a reason."""
    words = {
        LIST_PRICE: _("The price is higher now than it was shown."),
        LIST_METERED: _("The price was fixed, and is by the meter now."),
        LIST_GUARD: _("This guest has an open ride from there. A second car may be meant, or not."),
        LIST_NOT_BOOKABLE: _(
            "This can't be booked as it is now. Correct the line, or leave it out."
        ),
        LIST_STOPPED: _("Stopped. Nothing more is booked until somebody goes on."),
        LIST_FAILING: _(
            "Stopped: none of the last cars was booked. Look at them before you go on."
        ),
        LIST_RESTORED: _(
            "Stopped: the database was restored. Decide about missing bookings first, then go on."
        ),
        LIST_SILENT: _("Stopped: the ride company could not be asked for ten minutes."),
    }
    if not code:
        return ""
    return words.get(code) or reason_words(code)


@dataclass(frozen=True)
class LineView:
    """A line as the table shows it. `state` is one of out, open, wrong, waiting, asked, ordered."""

    number: int
    row: int
    state: str
    cells: tuple[str, ...]
    more: tuple[tuple[str, str], ...]  # corrections without a column: name of the field, text
    name: str
    read: tuple[str, ...]  # how it was read, where the cells do not say it
    problems: tuple[str, ...]
    asks: tuple[tuple[str, str], ...]  # questions that yes answers: code, words
    # presses that choose a place or a time, with words: "place:<line>:lat,lng,name", or
    # "time:<line>:text", or "phone:<line>:+digits"
    choices: tuple[tuple[str, str], ...]
    out: str
    car: int
    shared: bool
    price: str
    car_view: GroupCar | None
    answer: str  # the code of the question that a button answers
    answer_words: str
    small: TooSmall | None = None  # the car is too small; at its first line
    failed: bool = False  # its order was not booked
    room: str = ""  # of the guest, once the line is ordered
    now: bool = False  # a press sends it at once
    goes: bool = False  # it is a guest who is not ordered yet


@dataclass(frozen=True)
class ListPage:
    """The page of a list."""

    row: GuestList
    home: Property
    lines: tuple[LineView, ...]
    reads: tuple[ReadLine, ...]
    columns: tuple[tuple[int, str, str], ...]  # index, field, an example
    counts: Counter[str]
    total: str
    cars: int
    now: int  # how many of the cars go at once
    pending: bool  # whether places or prices are still to be asked for
    why: str  # why the list waits, or is stopped
    first_order: int | None
    open_dates: bool
    date_order: str
    same: GuestList | None
    accounts: tuple[Account, ...]
    centres: tuple[CostCentre, ...]
    capacity: Capacity  # of a car of the chosen category

    @property
    def live(self) -> bool:
        """Whether the page changes by itself."""
        return self.row.state == ListState.RUNNING

    @property
    def may_book(self) -> bool:
        """Whether a press would book anything."""
        again = self.same is None or bool(self.row.sheet.get("again_ok"))
        return self.cars > 0 and not self.pending and again and not self.asked

    @property
    def asked(self) -> tuple[tuple[int, str], ...]:
        """The columns of which a person has to say what they are: each with one of its texts."""
        found = []
        for at, field, _text in self.columns:
            cells = [line.cells[at] for line in self.lines if at < len(line.cells) and line.goes]
            texts = list(filter(None, cells))
            if field == Field.ASKED and texts:
                found.append((at + 1, texts[0]))
        return tuple(found)

    @property
    def shown(self) -> str:
        """A digest of what a press books, as the page shows it."""
        facts = [asdict(plan) for plan in plans(self)]
        prices = [(line.row.number, line.row.shown_minor, line.row.metered) for line in self.reads]
        stated = json.dumps([facts, prices, self.row.trip.get("category")], default=str)
        return hashlib.sha256(stated.encode()).hexdigest()[:24]

    @property
    def button(self) -> str:
        """What the button says: how many cars, which one, their price, how many now and later."""
        words = ngettext("Book %(num)d car", "Book %(num)d cars", self.cars)
        found = [words, car_name(self.row), self.total]
        if self.now:
            found.append(_("%(n)d now", n=self.now))
        if self.cars > self.now:
            found.append(_("%(n)d planned", n=self.cars - self.now))
        return " · ".join(filter(None, found))

    @property
    def asks_car(self) -> bool:
        """Whether a person has to choose the car: there is none as long as nobody does."""
        return bool(self.row.sheet.get("cars")) and not self.row.trip.get("category")


def here_of(home: Property, now: datetime) -> Here:
    """What lines are read with."""
    return Here(home.country, formatting.zone(home.timezone), now, time_words(locale()))


def readings(s: Session, found: GuestList, home: Property, now: datetime) -> list[ReadLine]:
    """The lines of a list as they read now, with planned rides of the same guests."""
    lines = read_lines(found, lines_of(s, found.id), here_of(home, now))
    lines = with_needs(s, found, lines)
    wanted: Any = planned_query(found, lines)
    if wanted is None:
        return lines
    return with_planned(lines, planned_nearby(s, *wanted))


def list_page(
    s: Session, found: GuestList, home: Property, now: datetime, people: tuple[Any, Any]
) -> ListPage:
    """The page of a list. `people`: the accounts and the open cost centres of the property."""
    reads = readings(s, found, home, now)
    ids = sorted({line.row.order_id for line in reads if line.row.order_id})
    pages = {page.order.id: page for page in orders_by_ids(s, home.id, ids, light=True)}
    shown = _Shown(s, found, home, now, pages, reads)
    views = tuple(map(shown.line, reads))
    heads = shown.heads
    priced = [line for line in heads if trips.is_priced(found, line)]
    bookable = [line for line in priced if not line.row.data.get("refused")]
    wanting = any(line.pending and line.is_inside for line in reads)
    unpriced = bool(found.trip.get("category")) and any(
        trips.needs_price(found, line) for line in heads
    )
    outdated = "cars" in found.sheet and bool(heads) and not are_current(found, reads)
    fields = fields_of(found)
    return ListPage(
        row=found,
        home=home,
        lines=views,
        reads=tuple(reads),
        columns=tuple((at, str(field), "") for at, field in enumerate(fields)),
        counts=Counter(view.state for view in views),
        total=shown.total(bookable),
        cars=len(bookable),
        now=sum(line.reading.now for line in bookable),
        pending=wanting or unpriced or outdated,
        why=code_words(found.code),
        first_order=ids[0] if ids else None,
        open_dates=has_open_dates(reads) or bool(found.sheet.get("date_order")),
        date_order=date_order_of(found, reads),
        same=alike(s, found) if found.state == ListState.DRAFT else None,
        accounts=people[0],
        centres=people[1],
        capacity=shown.capacity,
    )


def plans(page: ListPage) -> list[CarPlan]:
    """What a press books: a plan for each car of which the first line can be booked."""
    by_car: dict[int, list[ReadLine]] = {}
    for line in page.reads:
        if line.is_open and not line.row.data.get("refused"):
            by_car.setdefault(line.row.car, []).append(line)
    return [_plan(lines) for lines in by_car.values() if trips.is_priced(page.row, lines[0])]


def _plan(lines: Sequence[ReadLine]) -> CarPlan:
    head, *others = lines
    guest = head.reading
    names = [_with_room(line) for line in others]
    notes = [guest.note, *(line.reading.note for line in others)]
    if names:
        notes.append(_("Also in this car: %(guests)s", guests=" · ".join(names)))
    return CarPlan(
        number=head.row.number,
        name=guest.name,
        room=guest.room or None,
        phone=guest.phone,
        phone2=guest.phone2,
        pickup_at=guest.at.at if guest.at else None,
        flight=guest.flight or None,
        note=" · ".join(filter(None, notes))[:500] or None,
        twice="twice" in head.row.data.get("meant", ()),
        own_drop=head.place,
        others=tuple(map(_along, others, names)),
    )


def _along(line: ReadLine, shown: str) -> Along:
    guest = line.reading
    room = guest.room or None
    return Along(line.row.number, shown, guest.name, room, guest.phone, guest.phone2)


def _with_room(line: ReadLine) -> str:
    guest = line.reading
    if not guest.room:
        return guest.name
    return f"{guest.name} ({guest.room})"


class _Shown:
    """Makes the views of the lines of one list."""

    def __init__(
        self,
        s: Session,
        found: GuestList,
        home: Property,
        now: datetime,
        pages: Mapping[int, OrderPage],
        reads: Sequence[ReadLine],
    ) -> None:
        self.s = s
        self.found = found
        self.now = now
        self.pages = pages
        self.tz: ZoneInfo = formatting.zone(home.timezone)
        self.country = home.country
        self.fields = fields_of(found)
        self.names = field_names()
        self.capacity = capacity_of(s, home.id, found.trip.get("category") or "")
        self.small = small_cars(reads, self.capacity)
        self.sharing = Counter(line.row.car for line in reads if line.is_inside)
        seen: set[int] = set()
        self.heads = []
        for line in reads:
            if line.is_open and line.row.car not in seen:
                self.heads.append(line)
                seen.add(line.row.car)

    def line(self, line: ReadLine) -> LineView:
        """One line."""
        row = line.row
        page = self.pages.get(row.order_id or 0)
        cells = tuple(row.data.get("cells", ()))
        car = car_of(row.number, page) if page else None
        name, room = _guest_of(line, page, car)
        asks = _asks(line)
        problems = _problems(line)
        return LineView(
            number=row.number,
            row=row.row,
            state=_state(line, bool(problems or asks)),
            cells=tuple(self._cell(line, at, cell) for at, cell in enumerate(cells)),
            more=self._more(line),
            name=name,
            read=self._read(line),
            problems=problems,
            asks=asks,
            choices=self._choices(line),
            out=out_words(row.out) if row.out else "",
            car=row.car,
            shared=self.sharing[row.car] > 1,
            price=trips.price_text(self.s, row) if trips.is_priced(self.found, line) else "",
            car_view=car,
            answer=_answerable(row),
            answer_words=self._answer(row),
            small=self.small.get(row.number),
            failed=car is not None and car.failed,
            room=room,
            now=line.reading.now and line.is_inside,
            goes=line.is_inside,
        )

    def _choices(self, line: ReadLine) -> tuple[tuple[str, str], ...]:
        """What a person may choose from: the times, phones and places that the line may mean."""
        number = line.row.number
        times = [at for problem in line.problems for at in problem.times]
        return (
            *(
                (f"time:{number}:{typed_text(at, self.tz)}", in_full(at, self.now, self.tz))
                for at in times
            ),
            *((f"phone:{number}:{each}", described(each)) for each in self._phones(line)),
            *(
                (f"place:{number}:{each['lat']},{each['lng']},{each['name']}", _named(each))
                for each in line.choices
            ),
        )

    def _phones(self, line: ReadLine) -> tuple[str, ...]:
        """The numbers that a text may be, as they are stored; a text as it is is typed anew."""
        if not any(problem.code == "phone" for problem in line.problems):
            return ()
        found = reading_of(line.texts.get(Field.PHONE, ""), self.country)
        if found.as_typed:
            return ()
        return found.choices

    def total(self, heads: Sequence[ReadLine]) -> str:
        """The price of all cars together, "" where one has none."""
        amounts = [trips.amount_of(line.row) for line in heads]
        known = [amount for amount in amounts if amount is not None]
        currencies = {line.row.currency for line in heads}
        if not known or len(currencies - {None}) != 1:
            return ""
        shown = money(sum(known, Decimal(0)), (currencies - {None}).pop(), locale())
        metered = sum(line.row.metered and line.row.shown_minor is not None for line in heads)
        if metered == len(known):
            shown = _("up to %(price)s, by the meter", price=shown)
        elif metered:
            shown = _("up to %(price)s, %(n)d of them by the meter", price=shown, n=metered)
        if len(known) < len(amounts):
            return _(
                "%(price)s, and %(n)d without a price", price=shown, n=len(amounts) - len(known)
            )
        return shown

    def _cell(self, line: ReadLine, at: int, cell: str) -> str:
        """The cell, or what a person typed in its place."""
        field = self.fields[at] if at < len(self.fields) else Field.UNREAD
        if field is Field.UNREAD:
            return cell
        return str(line.row.data.get("typed", {}).get(field, cell))

    def _more(self, line: ReadLine) -> tuple[tuple[str, str], ...]:
        typed = line.row.data.get("typed", {})
        return tuple(
            (self.names[field], str(typed[field]))
            for field in EDITABLE
            if typed.get(field) and field not in self.fields
        )

    def _read(self, line: ReadLine) -> tuple[str, ...]:
        """How a line was read: its number, its time and its drop, in full.

        () once it is ordered or left out.
        """
        if not line.is_inside:
            return ()
        guest = line.reading
        found = []
        cells = line.row.data.get("cells", ())
        if guest.name and guest.name not in cells:
            found.append(guest.name)
        if guest.phone:
            found.append(described(guest.phone))
        if guest.phone2:
            found.append(described(guest.phone2))
        if guest.at is not None:
            found.append(planned_time(guest.at.at, self.now, self.tz, locale()))
        if line.place is not None:
            found.append(_("to %(place)s", place=line.place["name"]))
        if guest.persons > 1:
            found.append(ngettext("%(num)d person", "%(num)d people", guest.persons))
        return (*found, *guest.said)

    def _answer(self, row: ListLine) -> str:
        if row.state != LineState.ASKED:
            return ""
        if row.code == LIST_GUARD:
            return _("Book a second car on purpose")
        price = Decimal(row.price_minor or 0) / 100
        return _("Book at %(price)s", price=money(price, row.currency, locale()))


def _named(place: Mapping[str, Any]) -> str:
    if not place.get("area"):
        return str(place["name"])
    return f"{place['name']} · {place['area']}"


def _guest_of(line: ReadLine, page: OrderPage | None, car: GroupCar | None) -> tuple[str, str]:
    """The name of a line's guest, and their room once the line is ordered."""
    if page is None or car is None:
        return line.reading.name, ""
    plan = line.row.plan
    if plan and plan.get("with"):
        return str(plan["with"]), plan.get("room") or ""
    return line.reading.name or page.guest.name, car.room


def _asks(line: ReadLine) -> tuple[tuple[str, str], ...]:
    """The questions about a guest who is not ordered yet, that yes answers: code, words."""
    if not line.is_inside:
        return ()
    return tuple((p.code, p.words) for p in line.problems if p.code in MEANT)


def _problems(line: ReadLine) -> tuple[str, ...]:
    """Why a guest who is not ordered yet can't be, in words."""
    row = line.row
    if not line.is_inside:
        return ()
    if row.state == LineState.ASKED:
        return (code_words(row.code),)
    found = tuple(p.words for p in line.problems if p.code not in MEANT)
    if row.data.get("refused") and line.is_open:
        return (*found, str(row.data["refused"]))
    return found


def _state(line: ReadLine, wrong: bool) -> str:
    row = line.row
    if row.state == LineState.ORDERED:
        return "ordered"
    if row.out:
        return "out"
    if row.state == LineState.ASKED:
        return "asked"
    if row.state == LineState.WAITING:
        return "waiting"
    return "wrong" if wrong else "open"


def _answerable(row: ListLine) -> str:
    """The code of the question that a button answers; "" without one."""
    if row.state != LineState.ASKED or row.code not in ANSWERABLE:
        return ""
    return row.code
