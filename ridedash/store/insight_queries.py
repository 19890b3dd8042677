"""The statements of the insights: sums over rides, by the keys that name a group. Built once.

Values are bound by name: house, since, until, usual (the usual currency), and for hours step, first
and last: steps are counted from 1970.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)

from ridedash import wire
from ridedash.store.history import Outcome, has_outcome
from ridedash.store.models.orders import Action, Offer, Order, Ride, TimelineEvent

CATEGORY, STAFF, CENTRE = "category", "staff", "centre"


class Grouped(NamedTuple):
    """A statement that adds up groups of rides, and the same for money of other currencies.

    Rows have `keys` columns that name the group, then SUMMED; those of the others a currency and
    an amount.
    """

    usual: Select[Any] | Any
    others: Select[Any] | Any
    keys: int


def _counted(outcome: Outcome) -> ColumnElement[Any]:
    return func.count(case((has_outcome(outcome), 1)))


_DONE: Final = Order.ended_as == wire.COMPLETED
_USUAL: Final = and_(_DONE, Order.currency == bindparam("usual"))
_OTHER: Final = and_(
    _DONE,
    Order.total_minor.is_not(None),
    or_(
        Order.currency.is_(None),
        bindparam("usual", type_=String).is_(None),
        Order.currency != bindparam("usual"),
    ),
)
_SUMS: Final[tuple[ColumnElement[Any], ...]] = tuple(
    column.label(name)
    for name, column in (
        ("rides", func.count(Order.id)),
        ("completed", func.count(case((_DONE, 1)))),
        ("cancelled", _counted(Outcome.CANCELLED)),
        ("no_driver", _counted(Outcome.NO_DRIVER)),
        ("not_booked", _counted(Outcome.NOT_BOOKED)),
        ("unknown", _counted(Outcome.UNKNOWN)),
        ("priced", func.count(case((_DONE, Order.total_minor)))),
        ("driver_n", func.count(Order.driver_s)),
        ("driver_s", func.coalesce(func.sum(Order.driver_s), 0)),
        ("guest_n", func.count(Order.guest_s)),
        ("guest_s", func.coalesce(func.sum(Order.guest_s), 0)),
        ("in_usual", func.count(case((_USUAL, Order.total_minor)))),
        ("amount", func.coalesce(func.sum(case((_USUAL, Order.total_minor))), 0)),
    )
)
SUMMED: Final = tuple(each.name for each in _SUMS)
_OTHER_SUMS: Final = (Order.currency.label("currency"), func.sum(Order.total_minor).label("amount"))
_HERE: Final = Order.property_id == bindparam("house")
_IN_SPAN: Final = (
    _HERE,
    Order.happens_at >= bindparam("since"),
    Order.happens_at < bindparam("until"),
)


def _grouped(*keys: ColumnElement[Any] | Any) -> Grouped:
    """Rides of the index by these columns."""
    usual = select(*keys, *_SUMS).where(*_IN_SPAN).group_by(*keys)
    others = select(*keys, *_OTHER_SUMS).where(*_IN_SPAN, _OTHER)
    return Grouped(usual, others.group_by(*keys, Order.currency), len(keys))


def _by_steps_of_sqlite() -> Grouped:
    """By steps of time: each is a part of the index, so that nothing is sorted."""
    number: ColumnElement[Any] = bindparam("first", type_=Integer)
    steps = select(number.label("n")).cte("steps", recursive=True)
    steps = steps.union_all(select(steps.c.n + 1).where(steps.c.n + 1 < bindparam("last")))

    def at(n: ColumnElement[Any]) -> ColumnElement[Any]:
        form: ColumnElement[Any] = literal_column("'%Y-%m-%d %H:%M:%S.000000'")
        unit: ColumnElement[Any] = literal_column("'unixepoch'")
        return func.strftime(form, n * bindparam("step"), unit, type_=Order.happens_at.type)

    # an outer join, whose order the planner may not change
    here = and_(_HERE, Order.happens_at >= at(steps.c.n), Order.happens_at < at(steps.c.n + 1))

    def joined(*columns: ColumnElement[Any]) -> Select[Any]:
        return select(steps.c.n, *columns).select_from(steps).outerjoin(Order, here)

    usual = joined(*_SUMS).group_by(steps.c.n).having(func.count(Order.id) > 0)
    others = joined(*_OTHER_SUMS).where(_OTHER).group_by(steps.c.n, Order.currency)
    return Grouped(usual, others, 1)


def _by_dimension() -> Grouped:
    """By category, by member of staff and by cost centre: the index is read once for all three."""
    whats = (
        (CATEGORY, Order.category),
        (STAFF, Order.staff_id),
        (CENTRE, Order.cost_centre_id),
    )
    fine = _grouped(*(column for _, column in whats))
    usual, others = fine.usual.cte("groups"), fine.others.cte("other_groups")

    def rolled(source: Any, columns: Iterable[str], *keys: str) -> Any:
        parts = []
        for what, column in whats:
            key = source.c[column.key]
            named = [source.c[name] for name in keys]
            sums = [func.sum(source.c[name]).label(name) for name in columns]
            part = select(literal(what).label("what"), cast(key, String).label("key"), *named)
            parts.append(part.add_columns(*sums).group_by(key, *named))
        return union_all(*parts)

    return Grouped(
        rolled(usual, SUMMED),
        rolled(others, ["amount"], "currency"),
        2,
    )


def _with_place(grouped: Grouped, *conditions: ColumnElement[bool]) -> Grouped:
    join = Offer, Offer.id == Order.offer_id
    return grouped._replace(
        usual=grouped.usual.join(*join).where(*conditions),
        others=grouped.others.join(*join).where(*conditions),
    )


# Written as they stand in the conditions of partial indexes: a bound value would not match them.
_DROP_CHANGED: Final = and_(
    Action.property_id == bindparam("house"),
    Action.name == literal_column("'drop'"),
    Action.state == literal_column("'done'"),
)
_ONCE_UNKNOWN: Final = and_(
    TimelineEvent.property_id == bindparam("house"),
    TimelineEvent.what == literal_column("'order'"),
    TimelineEvent.name == literal_column("'UNKNOWN'"),
)
_STEP_OF: Final = cast(
    func.floor(func.extract("epoch", Order.happens_at) / bindparam("step", type_=Integer)),
    BigInteger,
)
HOURS: Final = {
    "sqlite": _by_steps_of_sqlite(),
    "postgresql": _grouped(_STEP_OF.label("n")),
}
GROUPS: Final = _by_dimension()
DESTINATIONS: Final = _with_place(
    _grouped(Offer.drop_name, Offer.drop_lat.is_not(None)),
    Order.id.not_in(select(Action.order_id).where(_DROP_CHANGED)),
)
MOST_MINUTES: Final = 60  # longer waits count as so long


def _minutes(seconds: Any) -> ColumnElement[Any]:
    minute, most = literal_column("60", Integer), literal_column(str(MOST_MINUTES), Integer)
    return case((seconds < most * minute, seconds // minute), (seconds.is_not(None), most))


_MINUTES: Final = (_minutes(Order.driver_s), _minutes(Order.guest_s))
WAITS: Final = select(*_MINUTES, func.count()).where(*_IN_SPAN).group_by(*_MINUTES)
_ONE: Final = (
    Order.id,
    Order.happens_at,
    Order.category,
    Order.staff_id,
    Order.cost_centre_id,
    Order.state,
    Order.ended_as,
    Offer.drop_name,
    Offer.drop_lat,
)
CHANGED: Final = (
    select(*_ONE, Order.total_minor, Order.currency, Order.driver_s, Order.guest_s, Action.payload)
    .select_from(Action)
    .join(Order, Order.id == Action.order_id)
    .join(Offer, Offer.id == Order.offer_id)
    .where(_DROP_CHANGED, *_IN_SPAN)
    .order_by(Action.id)
)
WAS_UNKNOWN: Final = (
    select(*_ONE)
    .select_from(TimelineEvent)
    .join(Order, Order.id == TimelineEvent.order_id)
    .join(Offer, Offer.id == Order.offer_id)
    .where(_ONCE_UNKNOWN, *_IN_SPAN)
)
_STOPPED: Final = and_(Action.order_id == Order.id, Action.state == "done")
CANCELLED: Final = (
    select(
        *_ONE,
        Offer.cancellation,
        Offer.currency,
        Ride.allotted_at,
        func.coalesce(
            select(func.max(Action.made_at))
            .where(_STOPPED, Action.name.in_(("abort", "cancel")))
            .correlate(Order)
            .scalar_subquery(),
            Ride.ended_at,
        ).label("stopped_at"),
        select(func.count())
        .where(_STOPPED, Action.name == "abort")
        .correlate(Order)
        .scalar_subquery()
        .label("aborted"),
    )
    .join(Offer, Offer.id == Order.offer_id)
    .join(Ride, Ride.order_id == Order.id)
    .where(*_IN_SPAN, Order.ended_as == wire.BOOKING_CANCELLED, Ride.allotted_at.is_not(None))
)
