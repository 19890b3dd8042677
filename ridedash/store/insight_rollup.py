"""Stores the insights of past spans, so that they are not counted again at each view.

A span is a quarter of a year, a month, a third of a month, or the days of a request before or after
such parts. Its figures come from `insights()` itself and are stored as JSON, so there is one
way to count. Writers don't update them. Each stored span has a random token: when counted data
change, database triggers (migration 0028) record the token of the span, and the next reader
computes that span again.

A reader first claims the missing spans, in a transaction that succeeds only while no other
transaction has uncommitted changes of counted data. Every later change finds the claim and is
recorded. Then the reader computes the figures from one state of the database, and finally stores
them, each under its claim. So each change is either in the figures or recorded. A transaction that
reads the figures and the recorded changes never shows figures that contradict the orders.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Delete, Select, and_, delete, or_, select, text, update
from sqlalchemy.orm import Session

from ridedash.store import history, insight_queries
from ridedash.store import insights as counting
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.insights import (
    COUNTS,
    DAY,
    GROUPED,
    Cancelled,
    Destination,
    Figures,
    Insights,
    InsightsProperty,
    Keys,
    Span,
    insights,
    span_of,
)
from ridedash.store.models.orders import Action, InsightChange, InsightSpan, Order

Wanted = tuple[InsightsProperty, Span]
Spans = Collection[Span]
# instants are stored as microseconds since this one
ORIGIN: Final = datetime.min.replace(tzinfo=UTC)
# the unit of the instants that are stored as whole numbers
MICROSECOND: Final = timedelta(microseconds=1)
TOKEN_BITS: Final = 62  # a random number that fits into every database's integer
WAIT_NAMES: Final = tuple(insight_queries.WAITS)
QUARTERS: Final = (1, 4, 7, 10)  # months with which a quarter begins
THIRDS: Final = (1, 11, 21)  # days of a month on which a third begins
# While this lock is held, no other transaction has uncommitted changes of counted data: the
# triggers make a transaction with such a change lock this table until its end.
ALONE: Final = text("LOCK TABLE insight_changes IN SHARE ROW EXCLUSIVE MODE NOWAIT")
# the lock that the triggers' INSERT takes too: while it is held, no one can claim a span (ALONE)
AS_A_WRITER: Final = text("LOCK TABLE insight_changes IN ROW EXCLUSIVE MODE")


@dataclass
class Rollup:
    """The stored figures that a reader may use.

    `tokens` has one for each span that the reader has claimed; `computed` gets the figures of these
    spans as JSON.
    """

    now: datetime
    tokens: dict[tuple[int, Span], int]
    computed: dict[tuple[int, Span], str] = field(default_factory=dict)

    def insights(self, s: Session, prop: InsightsProperty, span: Span) -> Insights:
        """Like `insights()`: the same figures for the session's own state, to the cent."""
        parts = list(_parts(prop, span, self.now))
        stored = _valid_figures(s, prop, [part for part, over in parts if over])
        found = Insights(prop.tz)
        for part, _over in parts:
            if part in stored:
                _add_packed(found, stored[part])
                continue
            more = insights(s, prop, part)
            if (prop.id, part) in self.tokens:
                self.computed[prop.id, part] = _pack(more)
            found.add(more)
        return found


@contextmanager
def rolled_up(db: Database, wanted: Iterable[Wanted], now: datetime) -> Iterator[Rollup]:
    """Yields the stored figures of these spans, to be read in a session inside the block.

    Figures that were missing are stored at the end, unless the database is busy or full.
    """
    rollup = Rollup(now, _claimed(db, wanted, now))
    yield rollup
    for (property_id, span), figures in rollup.computed.items():
        mine = (
            InsightSpan.property_id == property_id,
            *_is(span),
            InsightSpan.token == rollup.tokens[property_id, span],
        )
        try:
            with db.write() as s:
                # one by one, so that no row is locked while another one is waited for
                s.execute(update(InsightSpan).where(*mine).values(figures=figures))
        except (DatabaseBusy, CommitUnknown):
            return  # the next reader computes the figures again


def forget_places(s: Session, order_ids: Collection[int]) -> None:
    """Delete figures that may name a place to which one of these rides was redirected."""
    if s.get_bind().dialect.name == "postgresql":
        s.execute(AS_A_WRITER)
    redirected = (
        select(Order.happens_at)
        .join(Action, Action.order_id == Order.id)
        .where(
            Order.id.in_(order_ids),
            Action.name == "drop",
            Order.property_id == InsightSpan.property_id,
            Order.happens_at >= InsightSpan.since,
            Order.happens_at < InsightSpan.until,
        )
    )
    _delete(s, delete(InsightSpan).where(redirected.exists()))


@cache
def counted_by() -> str:
    """A digest of the code that counts: figures of another release are computed again."""
    modules = (counting, insight_queries, history)
    paths = [*(str(each.__file__) for each in modules), __file__]
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path in paths)).hexdigest()


def _parts(prop: InsightsProperty, span: Span, now: datetime) -> Iterator[tuple[Span, bool]]:
    """The parts of the span, and whether each may be stored: if it ended at least a day ago."""
    day, end = (each.astimezone(prop.tz).date() for each in (span.since, span.until))
    rest = day  # the first day that is in no part yet
    while day < end:
        whole = next(
            (until for until in _ends(day) if until <= end and _over(prop, until, now)), None
        )
        if whole is None:
            day += DAY
            continue
        if rest < day:
            yield span_of(rest, day - DAY, prop.tz), True  # over, because the next part is over
        yield span_of(day, whole - DAY, prop.tz), True
        day = rest = whole
    if rest < end:
        yield span_of(rest, end - DAY, prop.tz), _over(prop, end, now)


def _ends(day: date) -> Iterator[date]:
    """The ends of a quarter, a month or a third that begins with `day`, the latest first."""
    next_month = _month_after(day)
    if day.day == 1:
        if day.month in QUARTERS:
            yield _month_after(_month_after(next_month))
        yield next_month
    if day.day in THIRDS:
        yield next_month if day.day == THIRDS[-1] else day + 10 * DAY


def _month_after(day: date) -> date:
    return (day.replace(day=1) + 31 * DAY).replace(day=1)


def _over(prop: InsightsProperty, until: date, now: datetime) -> bool:
    return span_of(until, until, prop.tz).since <= now - DAY


def _valid_figures(s: Session, prop: InsightsProperty, spans: Spans) -> dict[Span, str]:
    """The stored figures of these spans that are valid in this session."""
    if not spans:
        return {}
    rows = s.execute(_valid_spans(prop, spans).add_columns(InsightSpan.figures))
    return {Span(row.since, row.until): row.figures for row in rows}


def _valid_spans(prop: InsightsProperty, spans: Spans) -> Select[Any]:
    noted = select(InsightChange.id).where(InsightChange.token == InsightSpan.token)
    return select(InsightSpan.since, InsightSpan.until).where(
        InsightSpan.property_id == prop.id,
        or_(*(and_(*_is(span)) for span in spans)),
        InsightSpan.zone == prop.tz.key,
        InsightSpan.counted_by == counted_by(),
        InsightSpan.figures.is_not(None),
        ~noted.exists(),
    )


def _is(span: Span) -> tuple[Any, Any]:
    return InsightSpan.until == span.until, InsightSpan.since == span.since


def _claimed(db: Database, wanted: Iterable[Wanted], now: datetime) -> dict[tuple[int, Span], int]:
    """Claim those of these spans that have no valid figures.

    Returns their tokens by property id and span; none while another transaction writes.
    """
    missing: list[Wanted] = []
    wanted_spans: dict[InsightsProperty, set[Span]] = {}
    with db.read() as s:
        for prop, span in wanted:
            over = [part for part, is_over in _parts(prop, span, now) if is_over]
            wanted_spans.setdefault(prop, set()).update(over)
            stored = {Span(*row) for row in s.execute(_valid_spans(prop, over))} if over else set()
            missing += [(prop, part) for part in over if part not in stored]
    if not missing:
        return {}
    try:
        with db.write() as s:
            if db.dialect == "postgresql":  # SQLite has one writer anyway
                s.execute(ALONE)
            tokens = {(prop.id, span): _claim(s, prop, span) for prop, span in missing}
            for prop, spans in wanted_spans.items():
                _delete_other_pieces(s, prop, spans)
            known = select(InsightSpan.token)
            _delete(s, delete(InsightChange).where(InsightChange.token.not_in(known)))
            return tokens
    except (DatabaseBusy, CommitUnknown):
        return {}


def _claim(s: Session, prop: InsightsProperty, span: Span) -> int:
    """Replace the row of a span by one without figures. Returns the token for storing them.

    Also deletes the property's rows of another time zone or release.
    """
    others = or_(InsightSpan.zone != prop.tz.key, InsightSpan.counted_by != counted_by())
    outdated = InsightSpan.property_id == prop.id, or_(and_(*_is(span)), others)
    _delete(s, delete(InsightSpan).where(*outdated))
    row = InsightSpan(
        property_id=prop.id,
        until=span.until,
        since=span.since,
        zone=prop.tz.key,
        counted_by=counted_by(),
        token=secrets.randbits(TOKEN_BITS),
        figures=None,
    )
    s.add(row)
    s.flush()
    return row.token


def _delete_other_pieces(s: Session, prop: InsightsProperty, wanted: set[Span]) -> None:
    """Delete stored spans that this request does not want, and that are no quarter, month or third.

    Otherwise each day's view of "the last 30 days" would leave such spans in the table for good.
    """
    rows = s.execute(
        select(InsightSpan.since, InsightSpan.until).where(InsightSpan.property_id == prop.id)
    )
    for span in {Span(*row) for row in rows} - wanted:
        first, end = (each.astimezone(prop.tz).date() for each in (span.since, span.until))
        if end not in _ends(first):
            outdated = InsightSpan.property_id == prop.id, *_is(span)
            _delete(s, delete(InsightSpan).where(*outdated))


def _delete(s: Session, statement: Delete) -> None:
    s.execute(statement.execution_options(synchronize_session=False))


def _pack(found: Insights) -> str:
    """The figures as JSON, without fees, which follow from the cancelled rides."""
    policies = list(dict.fromkeys(each.policy for each in found.cancelled))
    packed: dict[str, Any] = {name: list(getattr(found, name).items()) for name in WAIT_NAMES}
    for name in GROUPED:
        groups = getattr(found, name).items()
        packed[name] = [[_KEYS[name][0](key), *_pack_counts(each)] for key, each in groups]
    packed["policies"] = policies
    packed["cancelled"] = [
        [
            _instant(each.keys.at),
            *each.keys[1:-1],
            *each.keys.destination,
            policies.index(each.policy),
            each.currency,
            _instant(each.allotted_at),
            None if each.stopped_at is None else _instant(each.stopped_at),
            each.aborted,
        ]
        for each in found.cancelled
    ]
    return json.dumps(packed, separators=(",", ":"))


def _add_packed(found: Insights, figures: str) -> None:
    """Add figures that `_pack` wrote."""
    packed = json.loads(figures)
    for name in GROUPED:
        key_of = _KEYS[name][1]
        groups = getattr(found, name)
        for packed_key, sums, *counts in packed[name]:
            key = key_of(packed_key)
            more = Figures(*counts)
            more.sums = dict(sums)
            if key in groups:
                groups[key].add(more)
            else:
                groups[key] = more
            if name == "days":
                found.total.add(more)
    for name in WAIT_NAMES:
        getattr(found, name).update(dict(packed[name]))
    for at, category, staff, centre, name, known, policy, *rest in packed["cancelled"]:
        keys = Keys(_at(at), category, staff, centre, Destination(name, known))
        currency, allotted, stopped, aborted = rest
        stopped_at = None if stopped is None else _at(stopped)
        words = packed["policies"][policy]
        found.cancelled.append(Cancelled(keys, words, currency, _at(allotted), stopped_at, aborted))


def _pack_counts(figures: Figures) -> tuple[Any, ...]:
    return list(figures.sums.items()), *(getattr(figures, name) for name in COUNTS)


def _instant(at: datetime) -> int:
    return (at - ORIGIN) // MICROSECOND


def _at(instant: int) -> datetime:
    return ORIGIN + instant * MICROSECOND


def _same(key: Any) -> Any:
    return key


# conversion of keys of groups to JSON and back
_KEYS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "days": (date.toordinal, date.fromordinal),
    "week": (list, tuple),
    "categories": (_same, _same),
    "staff": (_same, _same),
    "centres": (_same, _same),
    "destinations": (list, lambda key: Destination(*key)),
}
