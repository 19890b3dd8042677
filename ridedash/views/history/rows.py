"""A ride as one line of the history, the search and the hand-over sheet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from ridedash.geo import LatLng
from ridedash.places import coordinates_text
from ridedash.rides.state.codes import WITHDRAWN
from ridedash.rides.tracking.totals import MINOR
from ridedash.store.history import Record, RideOutcome, outcome_of
from ridedash.store.orders import OrderState
from ridedash.views.web.formatting import (
    FlightTime,
    belonging,
    clock_time,
    day_text,
    day_time,
    flight_words,
    joined,
    money,
    plate,
    stamp,
)
from ridedash.wire import kind_of
from ridedash.wording import Audience, order_words, status_words
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class State:
    """An outcome, or the state of a ride under way: label, colour and icon."""

    words: str
    tone: str
    icon: str


@dataclass(frozen=True)
class RecordLine:
    """One ride in words; "" for unknown facts."""

    id: int
    at: str
    short: str  # the time, without the day if that is today
    instant: str
    state: State
    outcome: str
    guest: str
    room: str
    start: str
    to: str
    product: str
    plate: str
    price: str
    staff: str
    centre: str
    note: str
    car: str  # what distinguishes the ride from the other rides of the same press


def outcomes() -> dict[RideOutcome, State]:
    """Label, colour and icon of each outcome."""
    return {
        RideOutcome.PLANNED: State(_("Planned"), "quiet", "waiting"),
        RideOutcome.LIVE: State(_("Under way"), "info", "riding"),
        RideOutcome.COMPLETED: State(_("Completed"), "quiet", "done"),
        RideOutcome.CANCELLED: State(_("Cancelled"), "quiet", "cancelled"),
        RideOutcome.NO_DRIVER: State(_("No driver found"), "warn", "needs"),
        RideOutcome.NOT_BOOKED: State(_("Not booked"), "bad", "cancelled"),
        RideOutcome.UNKNOWN: State(_("We don't know"), "unknown", "unknown"),
    }


def lines(records: Sequence[Record], now: datetime, tz: ZoneInfo, locale: str) -> list[RecordLine]:
    """The records of a list in words, at `now`; if one price has cents, the others get them too."""
    cents = have_cents(record.total_minor for record in records)
    return [_line(record, now, tz, locale, cents=cents) for record in records]


def _line(record: Record, now: datetime, tz: ZoneInfo, locale: str, *, cents: bool) -> RecordLine:
    outcome = outcome_of(record.state, record.ended_as)
    live = outcome is RideOutcome.LIVE
    return RecordLine(
        id=record.id,
        at=record_time(record.at, now, tz, locale),
        short=day_time(record.at, now, tz, locale),
        instant=stamp(record.at),
        state=_live(record) if live else outcomes()[shown_outcome(record)],
        outcome=outcome.value,
        guest=record.guest,
        room=record.room or "",
        start=record.pickup or _("the pinned place"),
        to=drop_name(record),
        product=record.product,
        plate=plate(record.plate),
        price=amount(record.total_minor, record.currency, locale, cents=cents),
        staff=record.staff or placed_at(record.kiosk),
        centre=record.centre or "",
        note=" · ".join(filter(None, (_flight(record, tz, locale), record.note))),
        car=belonging(record.car, record.series, back=record.is_way_back),
    )


def shown_outcome(record: Record) -> RideOutcome:
    """The outcome in words: a ride that was cancelled before it was sent is cancelled, too."""
    outcome = outcome_of(record.state, record.ended_as)
    if outcome is RideOutcome.NOT_BOOKED and record.code == WITHDRAWN:
        return RideOutcome.CANCELLED
    return outcome


def placed_at(kiosk: str | None) -> str:
    """The kiosk at which a guest placed an order; "" if staff placed it."""
    return _("Kiosk %(name)s", name=kiosk) if kiosk else ""


def _flight(record: Record, tz: ZoneInfo, locale: str) -> str:
    when = FlightTime(record.departs_at, lands=record.flight_lands)
    words = flight_words(record.flight, when, tz, locale)
    return _("Flight %(words)s", words=words) if words else ""


def drop_name(record: Record) -> str:
    """The destination of the ride."""
    if record.end is not None and not record.has_drop:
        return record.drop or coordinates_text(LatLng(*record.end))
    if not record.has_drop:
        return _("The guest tells the driver")
    return record.drop or _("the pinned place")


def amount(minor: int | None, currency: str | None, locale: str, *, cents: bool = False) -> str:
    """Hundredths as money; "" when unknown. Cents are shown if there are any, and with `cents`."""
    if minor is None:
        return ""
    return money(Decimal(minor) / MINOR, currency, locale, cents=cents, hundredths=True)


def have_cents(amounts: Iterable[int | None]) -> bool:
    """Whether an amount of a column is not a whole unit: then all of them are shown with cents."""
    return any(minor % MINOR for minor in amounts if minor is not None)


def record_time(at: datetime, now: datetime, tz: ZoneInfo, locale: str) -> str:
    """Day and time in the property's zone; with the year unless it is the current one."""
    here = at.astimezone(tz)
    parts = "MMMEd"
    if here.year != now.astimezone(tz).year:
        parts = "yMMMd"
    return joined(day_text(here, parts, locale), clock_time(at, tz, locale), locale)


def _live(record: Record) -> State:
    nothing: dict[str, str | None] = {}
    if record.state == OrderState.BOOKED and record.status:
        words = status_words(record.status, kind_of(record.category), Audience.STAFF, nothing)
    else:
        words = order_words(record.state, Audience.STAFF, nothing)
    return State(words.headline, words.tone, words.icon)
