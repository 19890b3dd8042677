"""The history of a property's rides: who went where, when, how it ended, and what it came to."""

from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from flask import Blueprint, render_template, request
from flask_babel import get_locale
from sqlalchemy.orm import Session

from ridedash.ext import services
from ridedash.store.history import Totals, categories, page, totals
from ridedash.store.houses import cost_centres_of, staff_of
from ridedash.store.people import Property
from ridedash.store.records import records
from ridedash.views.auth import current_staff
from ridedash.views.formats import zone
from ridedash.views.history_asked import Chosen, chosen, key_of, spans
from ridedash.views.permissions import SEE, needs
from ridedash.views.record_lines import amount, line, outcomes
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
    """A page of rides that fit, the newest first, under what all of them come to; older ones by a link."""
    s, staff = services(), current_staff()
    now = s.clock()
    with s.db.read() as db:
        house = db.get_one(Property, staff.property_id)
        tz = zone(house.timezone)
        today = now.astimezone(tz).date()
        wanted = chosen(request.args, today)
        begin, asked = key_of(request.args.get("before", "")), wanted.asked(tz)
        keys = page(db, house.id, asked, SIZE + 1, begin)
        found = records(db, house.id, [key.id for key in keys[:SIZE]])
        sums = _sums(totals(db, house.id, asked, house.currency))
        choices = _choices(db, house.id)
    lines = [line(record, now, tz, _locale()) for record in found]
    older = wanted.query(keys[SIZE - 1]) if len(keys) > SIZE else ""
    return render_template("records/history.html", **_said(wanted, today), lines=lines, sums=sums, choices=choices,
                           older=older, paged=begin is not None, zone=house.timezone)  # fmt: skip


def _said(wanted: Chosen, today: date) -> dict[str, Any]:
    """How the question is shown."""
    return {"chosen": wanted, "spans": spans(today, wanted), "query": wanted.query()}


def _sums(found: Totals) -> list[tuple[str, str, str]]:
    """Totals in words: label, figure, and what is to be known about it."""
    money = " + ".join(
        amount(minor, currency, _locale()) for currency, minor in sorted(found.sums.items(), key=lambda each: str(each))
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


def _locale() -> str:
    return str(get_locale() or "en")
