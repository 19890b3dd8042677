"""The history as a CSV file: all that a bill needs, a line for each ride, sent as it is read.

Posted, since it is recorded and counted; its address is the history's, so what is seen is what is
exported.
"""

import csv
import io
import logging
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, abort, request
from pydantic import ValidationError

from ridedash.extensions import limiter, services
from ridedash.observability.exceptions import reason
from ridedash.rides.tracking import totals
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.history import (
    Evidence,
    PageKey,
    Record,
    RideFilter,
    evidence,
    outcome_of,
    page,
    records,
)
from ridedash.views.history.filters import Question, question, unsealed
from ridedash.views.history.rows import outcomes
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import plate
from ridedash.views.web.permissions import EXPORT, needs
from ridedash.views.web.request_log import reference
from ridedash.wire import Kind
from ridedash.wording import gettext as _

bp = Blueprint("history_csv", __name__)
log = logging.getLogger(__name__)

AT_ONCE: Final = 500  # rides in memory, and in one short reading of the database
BOM: Final = "\ufeff"  # without it spreadsheets take the file for their own old encoding
DANGEROUS: Final = tuple("=+-@＝＋－＠\t\r\n")  # a spreadsheet would take such a text for a formula
# and where it splits a line there, the rest of it
INSIDE: Final = re.compile(r"[;\t]\s*[=+\-@＝＋－＠]")
FIGURE: Final = re.compile(r"-?\d+(?:\.\d+)?")
COLUMNS: Final = (
    "reference",
    "booking_id",
    "outcome",
    "placed_at",
    "pickup_planned_for",
    "began_at",
    "ended_at",
    "guest",
    "room",
    "phone",
    "pickup",
    "pickup_lat",
    "pickup_lng",
    "drop",
    "drop_lat",
    "drop_lng",
    "category",
    "product",
    "seats",
    "driver",
    "plate",
    "distance_km",
    "minutes",
    "payment",
    "currency",
    "fare",
    "tax",
    "tolls",
    "extra_charges",
    "discount",
    "advance",
    "total",
    "booked_by",
    "cost_centre",
    "note",
)


class CutShort(Exception):
    """An export ended before its last ride."""


@bp.post("/history.csv")
@needs(EXPORT)
@limiter.limit("5/hour", key_func=lambda: f"staff-{current_staff().id}")
def export() -> Response:
    """The rides that the history's address asks for, from the newest on.

    The export is recorded before it begins.
    """
    s = services()
    with s.db.read() as db:
        put = question(db, unsealed(request.args))
    if put.chosen.wrong:
        abort(400)  # it would be another file than the one that was asked for
    _record(put)
    words = {outcome.value: state.words for outcome, state in outcomes().items()}
    parts = _lines(_rows(s.db, put.house.id, put.chosen.asked(put.tz), put.tz, words))
    # while a failure can still be answered with its page; most files have no second part
    begin = next(parts)
    first, last = put.chosen.first.isoformat(), put.chosen.last.isoformat()
    headers = {
        "Content-Disposition": f'attachment; filename="rides-{first}-to-{last}.csv"',
        "Cache-Control": "no-store",
    }
    cut = _("INCOMPLETE: rides are missing here, because reading them failed. Export again.")
    return Response(_or_cut(begin, parts, cut, reference()), mimetype="text/csv", headers=headers)


def _record(put: Question) -> None:
    """That it was exported, by whom, how filtered; about which guest is nobody's business a year
    later.
    """
    wanted, house, who = put.chosen, put.house.id, f"staff:{current_staff().id}"
    days = {"from": wanted.first.isoformat(), "to": wanted.last.isoformat()}
    with services().db.write() as db:
        audit.record(
            db,
            who,
            "history.exported",
            f"properties:{house}",
            "ok",
            put.now,
            property_id=house,
            filters=wanted.filters(),
            by_guest=bool(wanted.person()),
            **days,
        )


def _lines(rows: Iterable[list[str]]) -> Iterator[str]:
    """Some rows at a time as text."""
    held = io.StringIO()
    write = csv.writer(held)
    held.write(BOM)
    write.writerow(COLUMNS)
    for number, row in enumerate(rows, 1):
        write.writerow([harmless(cell) for cell in row])
        if number % AT_ONCE == 0:
            yield held.getvalue()
            held.seek(0)
            held.truncate()
    yield held.getvalue()


def _or_cut(begin: str, parts: Iterator[str], cut: str, name: str) -> Iterator[str]:
    """All parts; where they break off a last line that says so, then a failure.

    Most servers break the transfer then, and browsers call the download failed; granian ends it as
    if all were there, and so may a proxy: for them is the line.
    """
    yield begin
    try:
        yield from parts
    except Exception as error:
        log.error("an export was cut short by %s, reference %s", reason(error), name)
        held = io.StringIO()
        csv.writer(held).writerow([harmless(cut)])
        yield held.getvalue()
        # the servers log it: without the statement, which may name a guest
        raise CutShort from None


def harmless(text: str) -> str:
    """A text that no spreadsheet runs: a quote goes before what looks like a formula, also behind
    spaces.

    Plain figures stay figures, also those below zero; a phone's plus is no figure.
    """
    if text.lstrip(" ").startswith(DANGEROUS) and not FIGURE.fullmatch(text):
        return f"'{text}"
    return INSIDE.sub(lambda found: f"{found[0][:-1]}'{found[0][-1]}", text)


def _rows(
    db: Database, property_id: int, asked: RideFilter, tz: ZoneInfo, words: dict[str, str]
) -> Iterator[list[str]]:
    """Each part is read in a transaction of its own: a slow reader holds none open."""
    before: PageKey | None = None
    while True:
        with db.read() as s:
            keys = page(s, property_id, asked, AT_ONCE, before)
            found = records(s, property_id, [key.id for key in keys])
            more = evidence(s, property_id, [record.id for record in found])
        for record in found:
            yield _row(record, more[record.id], tz, words)
        if len(keys) < AT_ONCE:
            return
        before = keys[-1]


def _row(record: Record, more: Evidence, tz: ZoneInfo, words: dict[str, str]) -> list[str]:
    facts = _facts(more)
    planned = record.at if record.planned else None
    times = (more.created_at, planned, more.began_at, more.ended_at)
    return [
        record.mtx,
        record.booking_id or "",
        words[outcome_of(record.state, record.ended_as)],
        *(_time(at, tz) for at in times),
        record.guest,
        record.room or "",
        record.phone or "",
        record.pickup or "",
        *map(_degrees, more.pickup),
        record.drop or "",
        *(map(_degrees, more.drop) if more.drop else ("", "")),
        record.category,
        record.product,
        str(more.seats or ""),
        facts.driver_name or "",
        plate(record.plate),
        *_way(facts, more),
        more.payment or "",
        *_money(record, more, facts),
        record.staff or "",
        record.centre or "",
        record.note or "",
    ]


def _facts(more: Evidence) -> Snapshot:
    try:
        return Snapshot.model_validate(more.facts)
    except ValidationError:
        return Snapshot()


def _money(record: Record, more: Evidence, facts: Snapshot) -> list[str]:
    """Currency, the service's lines in plain decimals, and the total that the history adds up."""
    trip, price = facts.trip, facts.price
    total = None if record.total_minor is None else Decimal(record.total_minor) / totals.MINOR
    if record.total_minor is None:
        lines: tuple[Decimal | None, ...] = (None,) * 6
    elif more.kind == Kind.AUTO and trip is not None:
        lines = (trip.amount, None, None, trip.convenience_charge, trip.discount, trip.advance)
    elif price is not None:
        lines = (
            price.fare,
            price.service_tax,
            price.toll_charges,
            None,
            price.discount_value,
            None,
        )
    else:
        lines = (None,) * 6
    return [record.currency or "", *map(_number, lines), _number(total)]


def _way(facts: Snapshot, more: Evidence) -> tuple[str, str]:
    """How far and how long it went: the service's figures, else the time between our two
    instants.
    """
    trip = facts.trip
    took = (trip.ride_time or trip.trip_time) if trip else None
    seconds = took.seconds if took else None
    if seconds is None and more.began_at and more.ended_at:
        seconds = round((more.ended_at - more.began_at).total_seconds())
    far = trip.distance.km if trip and trip.distance else None
    return _number(far), "" if seconds is None else str(round(seconds / 60))


def _time(at: datetime | None, tz: ZoneInfo) -> str:
    """On the property's clock, with its distance from UTC: 2026-05-04T14:00:00+05:30."""
    return "" if at is None else at.astimezone(tz).isoformat(timespec="seconds")


def _degrees(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _number(value: Decimal | None) -> str:
    return "" if value is None else format(value, "f")
