"""The SQL statements of the insights: sums over rides by group. Built once.

Values are bound by name: house (the property's id), since, until, usual (the usual currency).
`times` also has offset0, offset1, …: the local clock's offsets from UTC in seconds. offsetN holds
before the instant changeN; the last offset holds from the last change on.

SQLite sorts rows to group them, and sorts integers twice as fast as texts: so a group is one
integer if possible, which also contains the outcome.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    Integer,
    Select,
    String,
    Text,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import aliased

from ridedash import wire
from ridedash.store.history import OUTCOMES, outcome_number
from ridedash.store.models.orders import Action, Offer, Order, Ride, TimelineEvent

# the dimensions of GROUPS, as named in the column `what` of its rows
CATEGORY: Final = "category"
STAFF: Final = "staff"
CENTRE: Final = "centre"
# the number of pairs (outcome, whether the price is in the usual currency)
KINDS: Final = 2 * len(OUTCOMES)
ID_FACTOR: Final = 2**28  # packs two ids into one integer: greater than any id of a cost centre


class Grouped(NamedTuple):
    """A statement that sums groups of rides, and a second one for money in other currencies.

    Rows begin with a number, followed by `keys` columns that also identify the group. In `usual`
    the number is the group's number times KINDS, plus twice the position of the outcome in
    OUTCOMES, plus one for prices in the usual currency; the columns SUMMED follow. Rows of `others`
    end with a currency and an amount.
    """

    usual: Select[Any] | Any
    others: Select[Any] | Any
    keys: int


_DONE: Final = Order.ended_as == wire.COMPLETED
_USUAL: Final = case((Order.currency == bindparam("usual"), 1), else_=0)
_OTHER: Final = and_(
    _DONE,
    Order.total_minor.is_not(None),
    or_(
        Order.currency.is_(None),
        bindparam("usual", type_=String).is_(None),
        Order.currency != bindparam("usual"),
    ),
)
_KIND: Final = outcome_number() * 2 + _USUAL
_SUMS: Final[tuple[ColumnElement[Any], ...]] = tuple(
    column.label(name)
    for name, column in (
        ("rides", func.count()),
        ("priced", func.count(Order.total_minor)),
        ("amount", func.coalesce(func.sum(Order.total_minor), 0)),
        ("driver_n", func.count(Order.driver_s)),
        ("driver_s", func.coalesce(func.sum(Order.driver_s), 0)),
        ("guest_n", func.count(Order.guest_s)),
        ("guest_s", func.coalesce(func.sum(Order.guest_s), 0)),
    )
)
SUMMED: Final = tuple(each.name for each in _SUMS)
_OTHER_SUMS: Final = (Order.currency.label("currency"), func.sum(Order.total_minor).label("amount"))
_IN_DAYS: Final = (
    Order.happens_at >= bindparam("since"),
    Order.happens_at < bindparam("until"),
)
_IN_SPAN: Final = (Order.property_id == bindparam("house"), *_IN_DAYS)


def _grouped(number: ColumnElement[Any], *keys: ColumnElement[Any] | Any) -> Grouped:
    """Orders of the span, grouped by a number and these columns.

    Of orders it reads only columns of the index orders_history (models.orders.HISTORY).
    """
    packed = (number * KINDS + _KIND).label("packed")
    usual = select(packed, *keys, *_SUMS).where(*_IN_SPAN).group_by(packed, *keys)
    plain = number.label("number")
    others = select(plain, *keys, *_OTHER_SUMS).where(*_IN_SPAN, _OTHER)
    return Grouped(usual, others.group_by(plain, *keys, Order.currency), len(keys))


@cache
def times(dialect: str, changes: int) -> tuple[Grouped, Grouped]:
    """Sums by local day, in days since 1 January 1970, and by hour of the week.

    Hour 0 is Thursday 0:00, because 1 January 1970 was a Thursday. `changes` is how many times the
    offset of the local clock changes in the span.
    """
    offset: ColumnElement[Any] = bindparam(f"offset{changes}", type_=Integer)
    for n in reversed(range(changes)):
        before = Order.happens_at < bindparam(f"change{n}")
        offset = case((before, bindparam(f"offset{n}", type_=Integer)), else_=offset)
    local = _SECONDS[dialect] + offset
    return _grouped(local // 86_400), _grouped(local // 3_600 % 168)


# Whole seconds since 1970. For SQLite, fractions are cut off first: otherwise rounding would move
# the last half second of a day into the next day.
_SECONDS: Final[dict[str, ColumnElement[Any]]] = {
    "sqlite": cast(
        (func.julianday(func.substr(Order.happens_at, 1, 19), type_=Float) - 2_440_587.5) * 86_400
        + 0.5,
        Integer,
    ),
    "postgresql": cast(func.floor(func.extract("epoch", Order.happens_at)), BigInteger),
}


def _by_dimension() -> Grouped:
    """Sums by category, by member of staff and by cost centre, from one pass over the orders."""
    staff, centre = (
        cast(func.coalesce(column, 0), BigInteger)
        for column in (Order.staff_id, Order.cost_centre_id)
    )
    fine = _grouped(staff * ID_FACTOR + centre, Order.category)
    usual = fine.usual.cte("groups")
    others = fine.others.cte("other_groups")

    def rolled(source: Any, number: Any, first: Any, by: list[Any], columns: Iterable[str]) -> Any:
        """Adds up the groups of `source` (by staff, cost centre and category) for each dimension.

        `first` is the first column of the result, `by` are columns that stay separate.
        """
        parts = []
        for what, column in (
            (CATEGORY, source.c.category),
            (STAFF, number // ID_FACTOR),
            (CENTRE, number % ID_FACTOR),
        ):
            key = cast(column, String)
            sums = [func.sum(source.c[name]).label(name) for name in columns]
            part = select(first.label("first"), literal(what).label("what"), key.label("key"))
            named = [each for each in by if each is not first]
            parts.append(part.add_columns(*named, *sums).group_by(key, *by))
        return union_all(*parts)

    kind = usual.c.packed % KINDS
    return Grouped(
        rolled(usual, usual.c.packed // KINDS, kind, [kind], SUMMED),
        rolled(others, others.c.number, literal(0), [others.c.currency], ["amount"]),
        2,
    )


def _with_offers(grouped: Grouped, *conditions: ColumnElement[bool]) -> Grouped:
    """The same sums over rides joined with their offers, with these conditions."""
    join = Offer, Offer.id == Order.offer_id
    return grouped._replace(
        usual=grouped.usual.join(*join).where(*conditions),
        others=grouped.others.join(*join).where(*conditions),
    )


# Literals, as in the conditions of the partial indexes: with bound values these indexes would not
# be used.
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
GROUPS: Final = _by_dimension()
DESTINATIONS: Final = _with_offers(
    _grouped(cast(Offer.drop_lat.is_not(None), Integer), Offer.drop_name),
    Order.id.not_in(select(Action.order_id).where(_DROP_CHANGED)),
)


def _waits(seconds: Any) -> Select[Any]:
    """The number of rides by this wait, to the second, so that a median is exact."""
    known = seconds.is_not(None)
    return select(seconds, func.count()).where(*_IN_SPAN, known).group_by(seconds)


# by the name of their figure in Insights
WAITS: Final = {"driver_waits": _waits(Order.driver_s), "guest_waits": _waits(Order.guest_s)}
# The columns of single orders. CHANGED and WAS_UNKNOWN find orders by a few rows of another table.
# The condition on the property is one on those rows: as a condition on orders it might make SQLite
# read all orders of the span.
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
    .where(_DROP_CHANGED, *_IN_DAYS)
    .order_by(Action.id)
)
WAS_UNKNOWN: Final = (
    select(*_ONE)
    .select_from(TimelineEvent)
    .join(Order, Order.id == TimelineEvent.order_id)
    .join(Offer, Offer.id == Order.offer_id)
    .where(_ONCE_UNKNOWN, *_IN_DAYS)
)
_LOST = aliased(TimelineEvent)
_CAME = aliased(TimelineEvent)
# whether the driver was lost and no other one came: cancelling is free then, as on the ride's page
_WITHOUT_DRIVER: Final = exists().where(
    _LOST.order_id == Order.id,
    _LOST.name == "driver_lost",
    ~exists().where(
        _CAME.order_id == _LOST.order_id,
        _CAME.id > _LOST.id,
        _CAME.name.in_(sorted(wire.CAB_KNOWN)),
    ),
)
_STOPPED: Final = and_(Action.order_id == Order.id, Action.state == "done")
CANCELLED: Final = (
    select(
        *_ONE,
        cast(Offer.cancellation, Text).label("policy"),
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
    .where(~_WITHOUT_DRIVER)
)
