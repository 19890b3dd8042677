"""The tables and the metrics at the top of the insights, in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ridedash.store.insights import Figures
from ridedash.views.history.rows import amount, have_cents
from ridedash.views.insights.pictures import FULL, day_words
from ridedash.views.insights.reading import InsightFilters, Month, TableLine
from ridedash.views.insights.waits import mean, median, within
from ridedash.views.web.formatting import decimal, span
from ridedash.views.web.responses import locale as page_locale
from ridedash.wording import gettext as _
from ridedash.wording import ngettext

SHOWN: Final = 10  # lines of a table; two or more further groups are added up in one more line
ON_PAPER: Final = 5


@dataclass(frozen=True)
class MetricTile:
    """One metric at the top: its name, its figures (by currency), one remark, its earlier value.

    `note` and `before` are "" where there is nothing to say.
    """

    label: str
    figures: Sequence[str]
    note: str
    before: str
    tone: str = ""


@dataclass(frozen=True)
class TableRow:
    """A line of a table; "" for an empty cell. `width` is the width of its bar."""

    name: str
    of_property: str
    width: float
    rides: str
    before: str
    spend: Sequence[str]  # by currency
    driver: str
    guest: str
    cancelled: str
    no_driver: str
    unknown: str
    rest: bool = False  # whether it stands for all remaining groups
    on_paper: bool = True


@dataclass(frozen=True)
class Table:
    """A table of groups: its name in HTML ids, its title, its lines."""

    name: str
    title: str
    rows: Sequence[TableRow]


def tiles(month: Month, locale: str) -> list[MetricTile]:
    """The metrics of the whole period."""
    now = month.now.total
    then = month.before.total
    return [
        MetricTile(
            _("Rides"),
            [_count(now.rides)],
            _("%(n)s completed", n=_count(now.completed)),
            _more(now, then),
        ),
        _spend(now, then, locale),
        _wait(_("From booking to driver"), month.now.driver_waits, month.before.driver_waits),
        _wait(_("From driver to guest"), month.now.guest_waits, month.before.guest_waits),
        _cancelled(now, then, locale),
        MetricTile(
            _("No driver found"),
            [_count(now.no_driver)],
            _part(now.no_driver, now.rides),
            _beside(then, then.no_driver),
            "warn" if now.no_driver else "",
        ),
        _unknown(now, then),
    ]


def tables(month: Month, locale: str) -> list[Table]:
    """The tables of groups. The one about cost centres exists only if cost centres are used."""
    unused = all(group.now.rides == group.before.rides == 0 for group in month.centres)
    unused = unused or {group.name for group in month.centres} == {_("No cost centre")}
    found = [
        Table("category", _("By car"), _rows(month.categories, locale)),
        Table("destination", _("By destination"), _rows(month.destinations, locale)),
        Table("staff", _("By member of staff"), _rows(month.staff, locale)),
    ]
    if not unused:
        found.append(Table("centre", _("By cost centre"), _rows(month.centres, locale)))
    if len(month.properties) > 1:
        found.insert(0, Table("property", _("By property"), _rows(month.properties, locale)))
    return found


def days_table(month: Month, filters: InsightFilters, locale: str) -> list[TableRow]:
    """Every day of the period, beside the same day of the earlier period."""
    earlier = filters.before.days
    groups = [
        TableLine(
            day_words(day, locale),
            "",
            month.now.days.get(day, Figures()),
            month.before.days.get(earlier[n], Figures()) if n < len(earlier) else Figures(),
        )
        for n, day in enumerate(filters.period.days)
    ]
    cents = have_cents(minor for group in groups for minor in group.now.sums.values())
    return [_row(group, 1, locale, cents=cents) for group in groups]


def money_words(sums: Mapping[str | None, int], locale: str) -> str:
    """Sums side by side: amounts in different currencies are never added; "" for none."""
    return " + ".join(_each_currency(sums, locale))


def _each_currency(
    sums: Mapping[str | None, int], locale: str, *, cents: bool = False
) -> list[str]:
    return [
        amount(minor, currency, locale, cents=cents)
        for currency, minor in sorted(sums.items(), key=lambda each: str(each))
    ]


def _rows(groups: Sequence[TableLine], locale: str) -> list[TableRow]:
    """The groups with the most rides, and one line for all other groups."""
    most = max((group.now.rides for group in groups), default=0)
    shown = groups if len(groups) <= SHOWN + 1 else groups[:SHOWN]
    cents = have_cents(minor for group in groups for minor in group.now.sums.values())
    rows = [_row(group, most, locale, n < ON_PAPER, cents=cents) for n, group in enumerate(shown)]
    others = groups[len(shown) :]
    if others:
        number = _count(len(others))
        rest = TableLine(ngettext("%(n)s other", "%(n)s others", len(others), n=number))
        for group in others:
            rest.now.add(group.now)
            rest.before.add(group.before)
        rows.append(_row(rest, 0, locale, False, rest=True, cents=cents))
    return rows


def _row(
    group: TableLine,
    most: int,
    locale: str,
    on_paper: bool = True,
    *,
    rest: bool = False,
    cents: bool = False,
) -> TableRow:
    now = group.now
    cancelled = _some(now.cancelled)
    late = money_words(now.fees, locale)
    if late:
        cancelled += f" ({late})"
    return TableRow(
        name=group.name,
        of_property=group.of_property,
        width=FULL * min(1, now.rides / most) if most else 0,
        rides=_count(now.rides),
        before=_count(group.before.rides),
        spend=_each_currency(now.sums, locale, cents=cents),
        driver=_average(now.driver_s, now.driver_n),
        guest=_average(now.guest_s, now.guest_n),
        cancelled=cancelled,
        no_driver=_some(now.no_driver),
        unknown=_some(now.unknown + now.cleared),
        rest=rest,
        on_paper=on_paper,
    )


def _count(number: int) -> str:
    return decimal(number, page_locale())


def _some(number: int) -> str:
    return _count(number) if number else ""


def _average(seconds: int, rides: int) -> str:
    return _known(mean(seconds, rides), unknown="")


def _before(figure: str) -> str:
    return _("before: %(figure)s", figure=figure)


def _beside(then: Figures, number: int) -> str:
    """The earlier number of some rides; "" if there were none of any kind to compare with."""
    return _before(_count(number)) if then.rides else ""


def _part(some: int, of: int) -> str:
    """The share in all rides, in words; "" for none."""
    if not some:
        return ""
    return _("%(n)s%% of the rides", n=decimal(100 * some / of, page_locale()))


def _more(now: Figures, then: Figures) -> str:
    """The earlier number of rides, and how many more or fewer there are now."""
    more = now.rides - then.rides
    if not more:
        return _before(_count(then.rides))
    sign = "+" if more > 0 else "−"
    return _before(f"{_count(then.rides)} ({sign}{_count(abs(more))})")


def _spend(now: Figures, then: Figures, locale: str) -> MetricTile:
    note = _("for completed rides")
    if now.unpriced:
        note = _("%(n)s without a price", n=_count(now.unpriced))
    earlier = money_words(then.sums, locale)
    before = _before(earlier) if earlier else ""
    return MetricTile(_("Spend"), _each_currency(now.sums, locale) or ["–"], note, before)


def _wait(label: str, now: Counter[int], then: Counter[int]) -> MetricTile:
    """The median wait. The tables have averages, which they can add up for each group."""
    before = _before(_known(median(then))) if then else ""
    return MetricTile(label, [_known(median(now))], _spread(now), before)


def _spread(waits: Counter[int]) -> str:
    """How far most waits are from the median; the figures of one ride are all the same."""
    if not waits:
        return ""
    if waits.total() == 1:
        return _("the only ride")
    return _("median; 9 of 10 within %(time)s", time=_known(within(waits, 9, 10)))


def _known(seconds: int | None, unknown: str = "–") -> str:
    return unknown if seconds is None else span(seconds)


def _unknown(now: Figures, then: Figures) -> MetricTile:
    """The orders whose outcome is or was unknown; in their colour while one still is."""
    label = _("Outcome unknown")
    figures = [_count(now.unknown + now.cleared)]
    before = _beside(then, then.unknown + then.cleared)
    if not now.unknown:
        return MetricTile(label, figures, "", before)
    note = _("%(n)s still open", n=now.unknown)
    return MetricTile(label, figures, note, before, "unknown")


def _cancelled(now: Figures, then: Figures, locale: str) -> MetricTile:
    note = _part(now.cancelled, now.rides)
    if now.charged:
        note = _(
            "%(n)s too late to be free: %(fees)s by their terms",
            n=_count(now.charged),
            fees=money_words(now.fees, locale),
        )
    before = _beside(then, then.cancelled)
    return MetricTile(_("Cancelled"), [_count(now.cancelled)], note, before)
