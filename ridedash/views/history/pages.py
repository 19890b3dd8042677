"""The history of a property's rides: who went where, when, how it ended, and what it came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.store.history import PageKey, Totals, categories, page, records, totals
from ridedash.store.properties import cost_centres_of, staff_of
from ridedash.views.history.filters import Question, key_of, question, spans, unsealed
from ridedash.views.history.rows import amount, line, outcomes
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("history", __name__)

SIZE: Final = 50


@dataclass(frozen=True)
class Choices:
    """What the selects of the form offer: (value, title)."""

    states: list[tuple[str, str]]
    staff: list[tuple[int, str]]
    categories: list[tuple[str, str]]
    centres: list[tuple[int, str]]


@bp.get("/history")
@needs(SEE)
def show() -> str:
    """A page of rides that fit, the newest first, under what all of them come to; older ones by a
    link.
    """
    return _page(unsealed(request.args), key_of(request.args.get("before", "")))


@bp.post("/history")
@needs(SEE)
def ask() -> Response | tuple[str, int]:
    """The filters were sent: on to the page that shows it, whose address names nobody."""
    with services().db.read() as db:
        wanted = question(db, request.form).chosen
    if wanted.wrong:
        return _page(request.form), 422
    return redirect(f"/history?{wanted.query()}", code=303)


def _page(form: Mapping[str, str], begin: PageKey | None = None) -> str:
    with services().db.read() as db:
        put = question(db, form)
        house, wanted, asked = put.house, put.chosen, put.chosen.asked(put.tz)
        keys = page(db, house.id, asked, SIZE + 1, begin)
        found = records(db, house.id, [key.id for key in keys[:SIZE]])
        sums = _sums(totals(db, house.id, asked, house.currency))
        choices = _choices(db, house.id)
    lines = [line(record, put.now, put.tz, locale()) for record in found]
    older = wanted.query(keys[SIZE - 1]) if len(keys) > SIZE else ""
    return render_template(
        "history/page.html",
        **_said(put),
        lines=lines,
        sums=sums,
        choices=choices,
        older=older,
        paged=begin is not None,
        zone=house.timezone,
    )


def _said(put: Question) -> dict[str, Any]:
    """How the question is shown."""
    wanted = put.chosen
    filtered = bool(wanted.filters() or wanted.person())
    return {
        "chosen": wanted,
        "spans": spans(put.today, wanted),
        "query": wanted.query(),
        "filtered": filtered,
    }


def _sums(found: Totals) -> list[tuple[str, str, str]]:
    """Totals in words: label, figure, and what is to be known about it."""
    money = " + ".join(
        amount(minor, currency, locale())
        for currency, minor in sorted(found.sums.items(), key=lambda each: str(each))
    )
    unpriced = _("%(n)d without a price", n=found.unpriced) if found.unpriced else ""
    return [
        (_("Rides"), f"{found.rides:,}", ""),
        (_("Completed"), f"{found.completed:,}", ""),
        (_("Cancelled"), f"{found.cancelled:,}", ""),
        (_("Completed rides came to"), money or "–", unpriced),
    ]


def _choices(db: Session, property_id: int) -> Choices:
    return Choices(
        [(outcome.value, state.words) for outcome, state in outcomes().items()],
        [(each.id, each.name) for each in staff_of(db, property_id)],
        [(each, each) for each in categories(db, property_id)],
        [(each.id, each.name) for each in cost_centres_of(db, property_id)],
    )
