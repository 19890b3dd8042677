"""The insights: what the rides of a time span add up to, by hour, category, person and place.

Sums are made by the database: from one index (models.orders.HISTORY), but for destinations, which
stand in the offers. Few rows are read one by one: changed drops, unknown outcomes, cancelled rides.
An order counts as the history counts it, so that both agree to the cent.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime, timedelta
from math import gcd
from operator import add
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store import insight_queries as queries
from ridedash.store.history import Outcome, by_index, outcome_of
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Staff

Money = dict[str | None, int]  # hundredths by currency; never added up across currencies


@dataclass(slots=True)
class Figures:
    """What some rides add up to. Waits are whole seconds."""

    rides: int = 0
    completed: int = 0
    cancelled: int = 0
    no_driver: int = 0
    not_booked: int = 0
    unknown: int = 0  # still
    priced: int = 0  # completed rides with a price
    driver_n: int = 0  # rides of which the wait for a driver is known
    driver_s: int = 0
    guest_n: int = 0  # rides of which the driver's way to the guest is known
    guest_s: int = 0
    cleared: int = 0  # orders that were unknown, and are not any more
    charged: int = 0  # cancelled later than is free
    sums: Money = field(default_factory=dict)  # of completed rides
    fees: Money = field(default_factory=dict)  # what cancelling these cost by their policies

    @property
    def unpriced(self) -> int:
        """Completed rides for which the service sent no price."""
        return self.completed - self.priced

    def add(self, other: "Figures") -> None:
        """Add the figures of other rides."""
        for name in COUNTS:
            more = getattr(other, name)
            if more:
                setattr(self, name, getattr(self, name) + more)
        for mine, theirs in ((self.sums, other.sums), (self.fees, other.fees)):
            for currency, minor in theirs.items():
                mine[currency] = mine.get(currency, 0) + minor


COUNTS: Final = tuple(each.name for each in fields(Figures) if each.name not in ("sums", "fees"))
COUNTED: Final = queries.SUMMED[:-2]  # by the database
IN_USUAL: Final = len(COUNTED)  # the place of what is in the usual currency, in a row of sums
PRICED: Final = COUNTED.index("priced")


class Destination(NamedTuple):
    """Where rides go: `name` is None for a place without a name, `known` False without a drop."""

    name: str | None
    known: bool


class Keys(NamedTuple):
    """What one ride is counted under."""

    at: datetime
    category: str
    staff_id: int | None
    centre_id: int | None
    destination: Destination


class Cancelled(NamedTuple):
    """A cancelled ride that had a driver, and what tells whether cancelling it was free."""

    keys: Keys
    policy: Mapping[str, Any] | None
    currency: str | None
    allotted_at: datetime
    stopped_at: datetime | None
    aborted: bool


@dataclass(frozen=True)
class House:
    """A property, as its figures are read: days and hours are of its zone."""

    id: int
    tz: ZoneInfo
    currency: str | None


@dataclass(frozen=True)
class Span:
    """A time span that begins and ends with a day of the property; `until` is not included."""

    since: datetime
    until: datetime


@dataclass
class Insights:
    """The figures of a property in a time span."""

    tz: ZoneInfo
    total: Figures = field(default_factory=Figures)
    days: dict[date, Figures] = field(default_factory=lambda: defaultdict(Figures))
    # by day of the week, Monday is 0, and hour
    week: dict[tuple[int, int], Figures] = field(default_factory=lambda: defaultdict(Figures))
    categories: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    staff: dict[int | None, Figures] = field(default_factory=lambda: defaultdict(Figures))
    centres: dict[int | None, Figures] = field(default_factory=lambda: defaultdict(Figures))
    destinations: dict[Destination, Figures] = field(default_factory=lambda: defaultdict(Figures))
    # rides by whole minutes of waiting: from the press to a driver, from then to the guest
    driver_minutes: Counter[int] = field(default_factory=Counter)
    guest_minutes: Counter[int] = field(default_factory=Counter)
    cancelled: list[Cancelled] = field(default_factory=list)

    def add(self, keys: Keys, figures: Figures) -> None:
        """Add figures of one ride everywhere that it is counted."""
        here = keys.at.astimezone(self.tz)
        for group in (
            self.total,
            self.days[here.date()],
            self.week[here.weekday(), here.hour],
            self.categories[keys.category],
            self.staff[keys.staff_id],
            self.centres[keys.centre_id],
            self.destinations[keys.destination],
        ):
            group.add(figures)


def insights(s: Session, house: House, span: Span) -> Insights:
    """All figures of a property in a span, but for fees: `cancelled` tells what they depend on."""
    by_index(s)
    found = Insights(house.tz)
    _add_hours(s, house, span, found)
    _add_groups(s, house, span, found)
    _add_waits(s, house, span, found)
    changed = _add_destinations(s, house, span, found)
    _add_unknown(s, house, span, found, changed)
    found.cancelled = [
        Cancelled(
            _keys(row, changed),
            row.cancellation,
            row.currency,
            row.allotted_at,
            row.stopped_at,
            bool(row.aborted),
        )
        for row in s.execute(queries.CANCELLED, _values(house, span))
    ]
    return found


def staff_names(s: Session, ids: Iterable[int]) -> dict[int, str]:
    """The names of some members of staff."""
    rows = s.execute(select(Staff.id, Staff.name).where(Staff.id.in_(list(ids))))
    return {row[0]: row[1] for row in rows}


def centre_names(s: Session, property_ids: Iterable[int]) -> dict[int, str]:
    """The names of all cost centres of some properties."""
    query = select(CostCentre.id, CostCentre.name)
    return {
        row[0]: row[1]
        for row in s.execute(query.where(CostCentre.property_id.in_(list(property_ids))))
    }


def _add_hours(s: Session, house: House, span: Span, found: Insights) -> None:
    """Days and hours of the week. The database counts by steps that fit hours of this zone."""
    step = _step(house.tz, span)
    steps = {
        "step": step,
        "first": int(span.since.timestamp()) // step,
        "last": -(-int(span.until.timestamp()) // step),
    }

    def day(number: Any) -> date:
        return datetime.fromtimestamp(int(number) * step, house.tz).date()

    def hour(number: Any) -> tuple[int, int]:
        at = datetime.fromtimestamp(int(number) * step, house.tz)
        return at.weekday(), at.hour

    hours = queries.HOURS[s.get_bind().dialect.name]
    days, week = _figures(s, hours, house, _values(house, span) | steps, day, hour)
    found.days.update(days)
    found.week.update(week)
    for figures in days.values():
        found.total.add(figures)


def _step(tz: ZoneInfo, span: Span) -> int:
    """Seconds of the longest step of whole hours, or parts of one, of which no hour is cut."""
    day, step = span.since, 3600
    while day <= span.until:
        offset = day.astimezone(tz).utcoffset() or timedelta(0)
        step, day = gcd(step, int(offset.total_seconds())), day + timedelta(days=1)
    return step


def _add_groups(s: Session, house: House, span: Span, found: Insights) -> None:
    """Categories, members of staff and cost centres."""
    (groups,) = _figures(s, queries.GROUPS, house, _values(house, span), lambda *names: names)
    for (what, key), figures in groups.items():
        if what == queries.CATEGORY:
            found.categories[key] = figures
        else:
            people = found.staff if what == queries.STAFF else found.centres
            people[None if key is None else int(key)] = figures


def _add_waits(s: Session, house: House, span: Span, found: Insights) -> None:
    for driver_min, guest_min, count in s.execute(queries.WAITS, _values(house, span)):
        if driver_min is not None:
            found.driver_minutes[driver_min] += count
        if guest_min is not None:
            found.guest_minutes[guest_min] += count


def _add_destinations(
    s: Session, house: House, span: Span, found: Insights
) -> dict[int, Destination]:
    """Destinations, and those of the rides whose drop was changed, by order."""
    (places,) = _figures(s, queries.DESTINATIONS, house, _values(house, span), _place)
    found.destinations.update(places)
    changed: dict[int, Destination] = {}
    rides: dict[int, Figures] = {}
    for row in s.execute(queries.CHANGED, _values(house, span)):
        drop = row.payload if isinstance(row.payload.get("lat"), (int, float)) else None
        if drop is not None:
            changed[row.id] = Destination(drop.get("name"), True)
        elif row.id not in changed:
            changed[row.id] = _place(row.drop_name, row.drop_lat is not None)
        rides[row.id] = _of_one(row)
    for order_id, figures in rides.items():
        found.destinations[changed[order_id]].add(figures)
    return changed


def _add_unknown(
    s: Session, house: House, span: Span, found: Insights, changed: Mapping[int, Destination]
) -> None:
    """Orders of which the outcome was not known for a time, and is now."""
    rows = {row.id: row for row in s.execute(queries.WAS_UNKNOWN, _values(house, span))}
    for row in rows.values():
        if outcome_of(row.state, row.ended_as) is not Outcome.UNKNOWN:
            found.add(_keys(row, changed), Figures(cleared=1))


def _keys(row: Any, changed: Mapping[int, Destination]) -> Keys:
    place = changed.get(row.id) or _place(row.drop_name, row.drop_lat is not None)
    return Keys(row.happens_at, row.category, row.staff_id, row.cost_centre_id, place)


def _place(name: str | None, known: Any) -> Destination:
    return Destination(name if known else None, bool(known))


def _of_one(row: Any) -> Figures:
    """The figures of one ride."""
    outcome = outcome_of(row.state, row.ended_as)
    done = outcome is Outcome.COMPLETED
    priced = done and row.total_minor is not None
    return Figures(
        rides=1,
        completed=done,
        cancelled=outcome is Outcome.CANCELLED,
        no_driver=outcome is Outcome.NO_DRIVER,
        not_booked=outcome is Outcome.NOT_BOOKED,
        unknown=outcome is Outcome.UNKNOWN,
        priced=priced,
        driver_n=row.driver_s is not None,
        driver_s=row.driver_s or 0,
        guest_n=row.guest_s is not None,
        guest_s=row.guest_s or 0,
        sums={row.currency: row.total_minor} if priced else {},
    )


def _values(house: House, span: Span) -> dict[str, Any]:
    return {
        "house": house.id,
        "since": span.since,
        "until": span.until,
        "usual": house.currency,
    }


def _figures(
    s: Session,
    grouped: queries.Grouped,
    house: House,
    values: Mapping[str, Any],
    *namings: Callable[..., Any],
) -> list[dict[Any, Figures]]:
    """Rows of a statement added up by what each naming makes of the columns of their keys.

    The usual currency needs no sorting; the others are asked for where there are any.
    """
    n, others = grouped.keys, False
    sums: list[dict[Any, Sequence[Any]]] = [{} for _ in namings]
    for row in s.execute(grouped.usual, values):
        counts = row[n:]
        others = others or counts[PRICED] > counts[IN_USUAL]
        for groups, naming in zip(sums, namings, strict=True):
            name = naming(*row[:n])
            held = groups.get(name)
            groups[name] = counts if held is None else tuple(map(add, held, counts))
    found = [{name: _summed(each, house) for name, each in groups.items()} for groups in sums]
    if others:
        for row in s.execute(grouped.others, values):
            money = Figures(sums={row[n]: int(row[n + 1])})
            for ready, naming in zip(found, namings, strict=True):
                ready[naming(*row[:n])].add(money)
    return found


def _summed(counts: Sequence[Any], house: House) -> Figures:
    figures = Figures(**dict(zip(COUNTED, map(int, counts[:IN_USUAL]), strict=True)))
    if counts[IN_USUAL]:
        figures.sums[house.currency] = int(counts[IN_USUAL + 1])
    return figures
