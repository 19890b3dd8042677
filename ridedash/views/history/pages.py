"""The history page: a property's rides by filters, with their totals."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.store.history import PageKey, Totals, page, records, totals
from ridedash.store.saved_views import VIEW_NAME_MAX
from ridedash.views.history.chips import chips_of, saved, span_choices
from ridedash.views.history.filters import HistoryQuery, decrypted, history_query, key_of
from ridedash.views.history.rows import amount, lines
from ridedash.views.web.formatting import days_text, decimal
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("history", __name__)

SIZE: Final = 50


@bp.get("/history")
@needs(SEE)
def show() -> str:
    """Show a page of matching rides, the newest first, totals of all, and a link to older ones."""
    return history_page(decrypted(request.args), key_of(request.args.get("before", "")))


@bp.post("/history")
@needs(SEE)
def ask() -> Response | tuple[str, int]:
    """Redirect to the page of these filters; its address holds guest and room encrypted."""
    with services().db.read() as db:
        filters = history_query(db, request.form).filters
    if filters.wrong:
        return history_page(request.form), 422
    return redirect(f"/history?{filters.query()}", code=303)


def history_page(form: Mapping[str, str], begin: PageKey | None = None, wrong: str = "") -> str:
    """The page of a form's or an address's filters, from `begin` on; `wrong` is a message."""
    with services().db.read() as db:
        query = history_query(db, form)
        prop = query.prop
        filters = query.filters
        ride_filter = filters.ride_filter(query.tz)
        keys = page(db, prop.id, ride_filter, SIZE + 1, begin)
        found = records(db, prop.id, [key.id for key in keys[:SIZE]])
        counted = totals(db, prop.id, ride_filter, prop.currency)
        chips = chips_of(db, query)
        views = saved(db, query)
    older = filters.query(keys[SIZE - 1]) if len(keys) > SIZE else ""
    return render_template(
        "history/page.html",
        **_shown(query),
        lines=lines(found, query.now, query.tz, locale()),
        sums=_sums(counted),
        listed=_listed(len(found), counted.rides),
        chips=chips,
        views=views,
        wrong=wrong or filters.wrong,
        older=older,
        paged=begin is not None,
        zone=prop.timezone,
    )


def _shown(query: HistoryQuery) -> dict[str, Any]:
    """The filters, as the template needs them."""
    filters = query.filters
    return {
        "chosen": filters,
        "spans": span_choices(filters, query.today),
        "days": days_text(filters.first, filters.last, locale()),
        "query": filters.query(),
        "kept": filters.kept(),
        "others": filters.without_person(),
        "all_of_days": replace(
            filters, state="", category="", staff=0, centre=0, guest="", room=""
        ).query(),
        "view_name_max": VIEW_NAME_MAX,
        "filtered": bool(filters.without_person() or filters.person()),
    }


def _listed(shown: int, rides: int) -> str:
    """How many of the counted rides the table lists; "" where it lists all.

    A reader of a printed page has no links to the other rides, which the totals include.
    """
    if shown >= rides:
        return ""
    return _(
        "%(shown)s of these %(rides)s rides are listed here; the totals are of all of them.",
        shown=decimal(shown, locale()),
        rides=decimal(rides, locale()),
    )


def _sums(found: Totals) -> list[tuple[str, str, str]]:
    """The totals: label, value, and a remark or ""."""
    money = " + ".join(
        amount(minor, currency, locale())
        for currency, minor in sorted(found.sums.items(), key=lambda each: str(each))
    )
    unpriced = _("%(n)d without a price", n=found.unpriced) if found.unpriced else ""
    return [
        (_("Rides"), decimal(found.rides, locale()), ""),
        (_("Completed"), decimal(found.completed, locale()), ""),
        (_("Cancelled"), decimal(found.cancelled, locale()), ""),
        (_("Completed rides came to"), money or "–", unpriced),
    ]
