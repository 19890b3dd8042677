"""The insights as a CSV file: the metrics of the page, with details by day, hour and wait.

A row belongs to a group in one of the two periods. Further currencies of a group have rows of their
own, which contain only money, so that a spreadsheet counts no ride twice.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from babel.dates import get_day_names
from flask import Blueprint, Response, abort, request

from ridedash.extensions import limiter, services
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.insights import Figures, Insights
from ridedash.views.history.csv_export import csv_text, with_cut_line
from ridedash.views.insights.periods import Period
from ridedash.views.insights.reading import InsightFilters, Month, TableLine, read, read_filters
from ridedash.views.insights.waits import by_minutes, mean, median, within
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import EXPORT, needs
from ridedash.views.web.request_log import reference
from ridedash.views.web.top_bar import demo_words, marked
from ridedash.wording import gettext as _

bp = Blueprint("insights_csv", __name__)

COLUMNS: Final = (
    "part",
    "name",
    "property",
    "from",
    "to",
    "rides",
    "completed",
    "currency",
    "spend",
    "without_price",
    "cancelled",
    "cancelled_late",
    "fees_by_terms",
    "no_driver",
    "not_booked",
    "unknown",
    "unknown_open",
    "driver_wait_s",
    "guest_wait_s",
    "driver_wait_median_s",
    "guest_wait_median_s",
    "driver_wait_9_of_10_s",
    "guest_wait_9_of_10_s",
)
# the last columns, which only the rows of a whole period have
MEDIANS: Final = 4
# waits of this many minutes and longer ones share a row
MOST_MINUTES: Final = 60


@bp.post("/insights.csv")
@needs(EXPORT)
@limiter.limit("20/hour", key_func=by_staff_key)
def export() -> Response:
    """Export the metrics of this query. The audit entries are written before the export begins."""
    with services().db.read() as db:
        filters = read_filters(db, request.args)
        if filters.wrong:
            abort(400)  # otherwise the file would not be the one that the user wants
    month = read(filters)
    _audit(filters, [prop.id for prop in filters.properties])
    parts = csv_text(COLUMNS, rows(month, filters), demo_words(services().settings))
    name = f"insights-{filters.period.first.isoformat()}-to-{filters.period.last.isoformat()}.csv"
    headers = {
        "Content-Disposition": f'attachment; filename="{marked(name)}"',
        "Cache-Control": "no-store",
    }
    cut = _("INCOMPLETE: figures are missing here. Export again.")
    begin = next(parts)
    return Response(
        with_cut_line(begin, parts, cut, reference()), mimetype="text/csv", headers=headers
    )


def _audit(filters: InsightFilters, ids: list[int]) -> None:
    """Write an audit entry for each property whose metrics are in the file."""
    who = by_staff(current_staff().id)
    now = services().clock()
    days = {"from": filters.period.first.isoformat(), "to": filters.period.last.isoformat()}
    with services().db.write() as db:
        for id_ in ids:
            facts = {"property_id": id_} | days
            audit.record(db, who, "insights.exported", f"properties:{id_}", "ok", now, **facts)


def rows(month: Month, filters: InsightFilters) -> Iterator[list[str]]:
    """All metrics of both periods: totals, groups, days, hours of the week, minutes of waiting."""
    both = ((filters.period, month.now), (filters.before, month.before))
    for period, found in both:
        first, *more = _row("total", "", "", period, found.total)
        yield [*first[:-MEDIANS], *_medians(found)]
        yield from more
    groups = {
        "property": month.properties,
        "category": month.categories,
        "destination": month.destinations,
        "staff": month.staff,
        "cost_centre": month.centres,
    }
    for part, all_ in groups.items():
        for group in all_:
            yield from _group(part, group, filters)
    for period, found in both:
        yield from _times(period, found)


def _group(part: str, group: TableLine, filters: InsightFilters) -> Iterator[list[str]]:
    for period, metrics in ((filters.period, group.now), (filters.before, group.before)):
        if metrics.rides or period is filters.period:
            yield from _row(part, group.name, group.of_property, period, metrics)


def _times(period: Period, found: Insights) -> Iterator[list[str]]:
    for day in period.days:
        yield from _row("day", day.isoformat(), "", period, found.days.get(day, Figures()))
    names = get_day_names("wide", locale="en")
    for (day_of_week, hour), metrics in sorted(found.week.items()):
        name = f"{names[day_of_week]} {hour:02d}:00"
        yield from _row("hour", name, "", period, metrics)
    waits = {"driver_wait_min": found.driver_waits, "guest_wait_min": found.guest_waits}
    for part, of_rides in waits.items():
        for minute, count in sorted(by_minutes(of_rides, MOST_MINUTES).items()):
            blank = [""] * (len(COLUMNS) - 6)
            yield [part, str(minute), "", *_days(period), str(count), *blank]


def _days(period: Period) -> list[str]:
    return [period.first.isoformat(), period.last.isoformat()]


def _row(
    part: str, name: str, of_property: str, period: Period, of: Figures
) -> Iterator[list[str]]:
    """The row of a group, and one more row for each further currency."""
    currencies = sorted({**of.sums, **of.fees}, key=str) or [None]
    for n, currency in enumerate(currencies):
        counts = [
            *(of.rides, of.completed, of.unpriced, of.cancelled, of.charged, of.no_driver),
            *(of.not_booked, of.unknown + of.cleared, of.unknown),
        ]
        rides, completed, unpriced, cancelled, charged, *others = [
            str(count) if n == 0 else "" for count in counts
        ]
        waits = _known(mean(of.driver_s, of.driver_n), mean(of.guest_s, of.guest_n))
        yield [
            *(part, name, of_property, *_days(period), rides, completed, currency or ""),
            *(_money(of.sums.get(currency)), unpriced, cancelled, charged),
            *(_money(of.fees.get(currency)), *others),
            *(waits if n == 0 else ("", "")),
            *[""] * MEDIANS,
        ]


def _money(minor: int | None) -> str:
    return "" if minor is None else format(Decimal(minor) / 100, "f")


def _medians(found: Insights) -> list[str]:
    both = (found.driver_waits, found.guest_waits)
    return _known(*map(median, both), *(within(waits, 9, 10) for waits in both))


def _known(*seconds: int | None) -> list[str]:
    return ["" if each is None else str(each) for each in seconds]
