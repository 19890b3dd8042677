"""The page of the insights: a month or other days, compared with the days before."""

from collections import Counter
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, render_template, request

from ridedash.extensions import limiter, services
from ridedash.views.insights.periods import common
from ridedash.views.insights.pictures import LONG_WAIT, day_bars, heat, minute_words, wait_bars
from ridedash.views.insights.reading import InsightFilters, Month, read, read_filters
from ridedash.views.insights.tables import days_table, tables, tiles
from ridedash.views.insights.waits import by_minutes
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("insights", __name__)
HOURS: Final = tuple(range(24))


@bp.get("/insights")
@needs(MANAGE)
@limiter.limit("60/minute", key_func=by_staff_key)
def show() -> tuple[str, int]:
    """Show metrics, pictures and tables; 422 with a message if the days are invalid or too many."""
    with services().db.read() as db:
        filters = read_filters(db, request.args)
    page = render_template("insights/page.html", **_shown(filters, read(filters), locale()))
    return page, 422 if filters.wrong else 200


def _shown(filters: InsightFilters, month: Month, language: str) -> dict[str, Any]:
    """The context of the template."""
    periods = (filters.period, filters.before)
    now = month.now
    return {
        "filters": filters,
        "here": current_staff().property_id,
        "chosen": {prop.id for prop in filters.properties},
        "names": " · ".join(prop.name for prop in filters.properties),
        "zones": " · ".join(dict.fromkeys(prop.timezone for prop in filters.properties)),
        "days": filters.period.words(language),
        "days_before": filters.before.words(language),
        "spans": [
            (name, urlencode(filters.query(period), doseq=True), period == filters.period)
            for name, period in common(filters.today)
        ],
        "query": urlencode(filters.query(), doseq=True),
        "tiles": tiles(month, language),
        "some": now.total.rides > 0,
        "daily": day_bars(now, month.before, periods, language),
        "by_day": days_table(month, filters, language),
        "week": heat(now.week, language),
        "hours": HOURS,
        "waits": [
            (name, title, wait_bars(waits), _counts(waits))
            for name, title, waits in (
                ("driver", _("From booking to driver"), now.driver_waits),
                ("guest", _("From driver to guest"), now.guest_waits),
            )
            if waits
        ],
        "tables": tables(month, language),
    }


def _counts(waits: Counter[int]) -> list[tuple[str, int]]:
    """The bars of a picture of waits as a table: the words of each bar, and its number of rides."""
    return [
        (minute_words(minute), rides)
        for minute, rides in sorted(by_minutes(waits, LONG_WAIT).items())
    ]
