"""The insights: sums over the rides of a time span, by hour, category, person and place.

The database computes the sums from only one index (models.orders.HISTORY), except for
destinations, which are in the offers. Few rows are read one by one: rides with a changed drop,
orders whose outcome was unknown, cancelled rides. Orders are counted as in the history, so that
both agree to the cent.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store import insight_queries as queries
from ridedash.store.history import OUTCOMES, RideOutcome, by_index, outcome_of
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Staff

# hundredths by currency; amounts of different currencies are never added
Money = dict[str | None, int]


@dataclass(slots=True)
class Figures:
    """Sums over some rides. Waits are in whole seconds: `_n` is their number, `_s` their sum."""

    rides: int = 0
    completed: int = 0
    cancelled: int = 0
    no_driver: int = 0
    not_booked: int = 0
    unknown: int = 0  # orders whose outcome is still unknown
    priced: int = 0  # completed rides with a price
    driver_n: int = 0  # rides whose wait for a driver is known
    driver_s: int = 0
    guest_n: int = 0  # rides for which the time until the driver's arrival is known
    guest_s: int = 0
    cleared: int = 0  # orders whose outcome was unknown and is known now
    charged: int = 0  # orders that were cancelled too late to be free
    sums: Money = field(default_factory=dict)  # prices of completed rides
    fees: Money = field(default_factory=dict)  # the costs of those cancellations by their policies

    @property
    def unpriced(self) -> int:
        """Completed rides for which the service sent no price."""
        return self.completed - self.priced

    def add(self, other: "Figures") -> None:
        """Add the figures of other rides."""
        # field by field: a year of a busy property adds tens of thousands of figures
        self.rides += other.rides
        self.completed += other.completed
        self.cancelled += other.cancelled
        self.no_driver += other.no_driver
        self.not_booked += other.not_booked
        self.unknown += other.unknown
        self.priced += other.priced
        self.driver_n += other.driver_n
        self.driver_s += other.driver_s
        self.guest_n += other.guest_n
        self.guest_s += other.guest_s
        self.cleared += other.cleared
        self.charged += other.charged
        for mine, theirs in ((self.sums, other.sums), (self.fees, other.fees)):
            for currency, minor in theirs.items():
                mine[currency] = mine.get(currency, 0) + minor


COUNTS: Final = tuple(each.name for each in fields(Figures) if each.name not in ("sums", "fees"))
COUNTED: Final = {  # outcomes that have a figure of their own
    RideOutcome.COMPLETED: "completed",
    RideOutcome.CANCELLED: "cancelled",
    RideOutcome.NO_DRIVER: "no_driver",
    RideOutcome.NOT_BOOKED: "not_booked",
    RideOutcome.UNKNOWN: "unknown",
}
SECOND = timedelta(seconds=1)  # clock changes are found to the second
DAY = timedelta(days=1)  # a clock changes at most once in a day
EPOCH: Final = date(1970, 1, 1).toordinal()  # the day 1970-01-01, from which days are counted
EPOCH_WEEKDAY: Final = date(1970, 1, 1).weekday()  # it was a Thursday


class Destination(NamedTuple):
    """A destination: `name` is None for a place without a name, `known` False without a drop."""

    name: str | None
    known: bool


class Keys(NamedTuple):
    """The keys under which one ride is counted."""

    at: datetime
    category: str
    staff_id: int | None
    centre_id: int | None
    destination: Destination


class Cancelled(NamedTuple):
    """A cancelled ride that had a driver, and the facts that decide whether cancelling was free."""

    keys: Keys
    policy: str | None  # CancellationPolicy as JSON
    currency: str | None
    allotted_at: datetime
    stopped_at: datetime | None
    aborted: bool


@dataclass(frozen=True)
class InsightsProperty:
    """The facts of a property that its insights need; days and hours are in its time zone."""

    id: int
    tz: ZoneInfo
    currency: str | None


@dataclass(frozen=True)
class Span:
    """A time span that begins and ends with a day of the property; `until` is not included."""

    since: datetime
    until: datetime


def span_of(first: date, last: date, tz: ZoneInfo) -> Span:
    """The instants of these days in a time zone; both days are included."""
    return Span(_midnight(first, tz), _midnight(last + DAY, tz))


def _midnight(day: date, tz: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tz).astimezone(UTC)


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
    # number of rides by seconds of `Order.driver_s`, the wait for a driver, and of
    # `Order.guest_s`, the wait from then on until the driver arrived
    driver_waits: Counter[int] = field(default_factory=Counter)
    guest_waits: Counter[int] = field(default_factory=Counter)
    cancelled: list[Cancelled] = field(default_factory=list)

    def clear(self, keys: Keys) -> None:
        """Count an order whose outcome is no longer unknown, in all figures that include it."""
        for group in self._of(keys):
            group.cleared += 1

    def charge(self, keys: Keys, currency: str | None, minor: int) -> None:
        """Count a ride that was cancelled too late to be free, with the cost of that."""
        for group in self._of(keys):
            group.charged += 1
            group.fees[currency] = group.fees.get(currency, 0) + minor

    def add(self, other: "Insights") -> None:
        """Add the figures of other days of the same property."""
        self.total.add(other.total)
        for name in GROUPED:
            mine = getattr(self, name)
            for key, figures in getattr(other, name).items():
                mine[key].add(figures)
        self.add_waits(other)
        self.cancelled += other.cancelled

    def add_waits(self, other: "Insights") -> None:
        """Add the waits of other rides."""
        self.driver_waits.update(other.driver_waits)
        self.guest_waits.update(other.guest_waits)

    def _of(self, keys: Keys) -> tuple[Figures, ...]:
        """The figures that include one ride."""
        here = keys.at.astimezone(self.tz)
        return (
            self.total,
            self.days[here.date()],
            self.week[here.weekday(), here.hour],
            self.categories[keys.category],
            self.staff[keys.staff_id],
            self.centres[keys.centre_id],
            self.destinations[keys.destination],
        )


GROUPED: Final = ("days", "week", "categories", "staff", "centres", "destinations")


def insights(s: Session, prop: InsightsProperty, span: Span) -> Insights:
    """All figures of a property in a span, except fees: those follow from `cancelled`.

    They are computed from the orders; insight_rollup.py gives them faster for past days.
    """
    by_index(s)
    found = Insights(prop.tz)
    _add_times(s, prop, span, found)
    _add_groups(s, prop, span, found)
    _add_waits(s, prop, span, found)
    changed = _add_destinations(s, prop, span, found)
    _add_unknown(s, prop, span, found, changed)
    found.cancelled = [
        Cancelled(
            _keys(row, changed),
            row.policy,
            row.currency,
            row.allotted_at,
            row.stopped_at,
            bool(row.aborted),
        )
        for row in s.execute(queries.CANCELLED, _values(prop, span))
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


def _add_times(s: Session, prop: InsightsProperty, span: Span, found: Insights) -> None:
    """Add days and hours of the week, by the property's clock."""
    clock = _clock(prop.tz, span)
    values: dict[str, Any] = {}
    for n, (change, offset) in enumerate(clock):
        values |= {f"change{n}": change, f"offset{n}": offset}
    del values[f"change{len(clock) - 1}"]  # the last offset applies until the end of the span
    days, hours = queries.times(s.get_bind().dialect.name, len(clock) - 1)
    values |= _values(prop, span)
    found.days.update(_read_groups(s, days, prop, values, _day))
    found.week.update(_read_groups(s, hours, prop, values, _hour_of_week))
    for figures in found.days.values():
        found.total.add(figures)


def _day(number: int) -> date:
    return date.fromordinal(EPOCH + number)


def _hour_of_week(number: int) -> tuple[int, int]:
    return (EPOCH_WEEKDAY + number // 24) % 7, number % 24


def _clock(tz: ZoneInfo, span: Span) -> list[tuple[datetime, int]]:
    """The offsets of the clock from UTC, in seconds, each with its end, for the whole span."""
    found: list[tuple[datetime, int]] = []
    at = span.since
    while at < span.until:
        offset = _ahead(tz, at)
        until = min(at + DAY, span.until)
        if _ahead(tz, until) != offset:
            until = _change(tz, at, until)
        if found and found[-1][1] == offset:
            found.pop()
        found.append((until, offset))
        at = until
    return found


def _change(tz: ZoneInfo, at: datetime, until: datetime) -> datetime:
    """When the offset from UTC changes, to the second: after `at` and not after `until`."""
    before = _ahead(tz, at)
    while until - at > SECOND:
        middle = at + (until - at) // SECOND // 2 * SECOND
        if _ahead(tz, middle) == before:
            at = middle
        else:
            until = middle
    return until


def _ahead(tz: ZoneInfo, at: datetime) -> int:
    offset = at.astimezone(tz).utcoffset()
    assert offset is not None, "a zone has one"
    return round(offset.total_seconds())


def _add_groups(s: Session, prop: InsightsProperty, span: Span, found: Insights) -> None:
    """Add categories, members of staff and cost centres."""

    def name(_number: int, what: str, key: str) -> tuple[str, Any]:
        # `key` is a category, or an id as text, with 0 for none
        return what, key if what == queries.CATEGORY else (int(key) or None)

    groups: dict[str, dict[Any, Figures]] = {
        queries.CATEGORY: found.categories,
        queries.STAFF: found.staff,
        queries.CENTRE: found.centres,
    }
    figures = _read_groups(s, queries.GROUPS, prop, _values(prop, span), name)
    for (what, key), each in figures.items():
        groups[what][key] = each


def _add_waits(s: Session, prop: InsightsProperty, span: Span, found: Insights) -> None:
    for name, query in queries.WAITS.items():
        waits: Counter[int] = getattr(found, name)
        for seconds, rides in s.execute(query, _values(prop, span)):
            waits[seconds] = rides


def _add_destinations(
    s: Session, prop: InsightsProperty, span: Span, found: Insights
) -> dict[int, Destination]:
    """Add the figures by destination. Returns the destinations of changed drops, by order id."""
    values = _values(prop, span)

    def name(known: int, name: str | None) -> Destination:
        return _place(name, known)

    found.destinations.update(_read_groups(s, queries.DESTINATIONS, prop, values, name))
    changed: dict[int, Destination] = {}
    rides: dict[int, Figures] = {}
    for row in s.execute(queries.CHANGED, values):
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
    s: Session,
    prop: InsightsProperty,
    span: Span,
    found: Insights,
    changed: Mapping[int, Destination],
) -> None:
    """Add orders whose outcome was unknown for a time and is known now."""
    rows = {row.id: row for row in s.execute(queries.WAS_UNKNOWN, _values(prop, span))}
    for row in rows.values():
        if outcome_of(row.state, row.ended_as) is not RideOutcome.UNKNOWN:
            found.clear(_keys(row, changed))


def _keys(row: Any, changed: Mapping[int, Destination]) -> Keys:
    place = changed.get(row.id) or _place(row.drop_name, row.drop_lat is not None)
    return Keys(row.happens_at, row.category, row.staff_id, row.cost_centre_id, place)


def _place(name: str | None, known: Any) -> Destination:
    return Destination(name if known else None, bool(known))


def _of_one(row: Any) -> Figures:
    """The figures of one ride."""
    outcome = outcome_of(row.state, row.ended_as)
    priced = outcome is RideOutcome.COMPLETED and row.total_minor is not None
    figures = Figures(
        rides=1,
        priced=priced,
        driver_n=row.driver_s is not None,
        driver_s=row.driver_s or 0,
        guest_n=row.guest_s is not None,
        guest_s=row.guest_s or 0,
        sums={row.currency: row.total_minor} if priced else {},
    )
    if outcome in COUNTED:
        setattr(figures, COUNTED[outcome], 1)
    return figures


def _values(prop: InsightsProperty, span: Span) -> dict[str, Any]:
    return {
        "house": prop.id,
        "since": span.since,
        "until": span.until,
        "usual": prop.currency,
    }


def _read_groups(
    s: Session,
    grouped: queries.Grouped,
    prop: InsightsProperty,
    values: Mapping[str, Any],
    name: Callable[..., Any],
) -> dict[Any, Figures]:
    """Run a statement. Returns the figures of each group of rides, by the group's key.

    `name` makes that key from the number and the other columns of a row (queries.Grouped). Sums in
    other currencies than the property's need a second statement, which is run only if there are
    some.
    """
    n = grouped.keys + 1
    others = False
    found: dict[Any, Figures] = defaultdict(Figures)
    for row in s.execute(grouped.usual, values):
        # `kind` contains the outcome, and whether the prices are in the property's currency
        number, kind = divmod(int(row[0]), queries.KINDS)
        rides, priced, amount, driver_n, driver_s, guest_n, guest_s = map(int, row[n:])
        figures = found[name(number, *row[1:n])]
        outcome = OUTCOMES[kind // 2]
        figures.rides += rides
        figures.driver_n += driver_n
        figures.driver_s += driver_s
        figures.guest_n += guest_n
        figures.guest_s += guest_s
        if outcome in COUNTED:
            setattr(figures, COUNTED[outcome], getattr(figures, COUNTED[outcome]) + rides)
        if outcome is RideOutcome.COMPLETED and priced:
            figures.priced += priced
            if kind % 2:
                figures.sums[prop.currency] = figures.sums.get(prop.currency, 0) + amount
            else:
                others = True
    if others:
        for row in s.execute(grouped.others, values):
            sums = found[name(*row[:n])].sums
            sums[row[n]] = sums.get(row[n], 0) + int(row[n + 1])
    return found
