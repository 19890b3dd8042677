"""The history as a CSV file: a row for each ride with all that billing needs, streamed.

The export is a POST, because it is audited and limited. It has the same query as the history page,
so that the file contains what the page shows.
"""

import csv
import io
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, abort, request
from pydantic import ValidationError

from ridedash.extensions import limiter, services
from ridedash.observability.exceptions import reason
from ridedash.rides.tracking import totals
from ridedash.service.types.tracking import Snapshot, TripInfo
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Database
from ridedash.store.history import (
    Evidence,
    PageKey,
    Record,
    RideFilter,
    evidence,
    page,
    records,
)
from ridedash.views.history.filters import HistoryQuery, decrypted, history_query
from ridedash.views.history.rows import outcomes, shown_outcome
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import belonging, plate
from ridedash.views.web.permissions import EXPORT, needs
from ridedash.views.web.request_log import reference
from ridedash.views.web.top_bar import demo_words, marked
from ridedash.wire import Kind
from ridedash.wording import gettext as _

bp = Blueprint("history_csv", __name__)
log = logging.getLogger(__name__)

BATCH: Final = 500  # rides in memory, and in one read transaction
BOM: Final = "\ufeff"  # without it spreadsheets assume a legacy encoding
# the first character of a formula in a spreadsheet
DANGEROUS: Final = tuple("=+-@＝＋－＠\t\r\n")
# A separator or a line end, and the first character of a formula after it: a spreadsheet splits the
# line there, quoted or not. The pattern also matches blanks that no formula follows: if it had to
# fail there, a text of many blanks would take seconds.
INSIDE: Final = re.compile(r"[;\t\r\n][\s\"]*([=+\-@＝＋－＠]?)")
NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
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
    "picked_up_at",
    "part_of",  # "Car 1/3", "Ride 2/12", "Way back"
    # pickup and drop as the ride company reported them
    "service_pickup_lat",
    "service_pickup_lng",
    "service_drop_lat",
    "service_drop_lng",
    "group",  # equal for all cars of a group, and for all rides of a series
    "flight",
)


class CutShort(Exception):
    """An export failed before its last ride."""


@bp.post("/history.csv")
@needs(EXPORT)
@limiter.limit("5/hour", key_func=by_staff_key)
def export() -> Response:
    """The rides that the history page shows for this query, the newest first.

    The audit entry is written before the export begins.
    """
    app = services()
    with app.db.read() as s:
        query = history_query(s, decrypted(request.args))
    if query.filters.wrong:
        abort(400)  # with other filters the file would not be the one that the user wants
    _audit(query)
    words = {outcome.value: state.words for outcome, state in outcomes().items()}
    parts = csv_text(
        COLUMNS,
        _rows(app.db, query.prop.id, query.filters.ride_filter(query.tz), query.tz, words),
        demo_words(app.settings),
    )
    # the first part is read before the answer begins, so that a failure still gets its error page
    begin = next(parts)
    name = f"rides-{query.filters.first.isoformat()}-to-{query.filters.last.isoformat()}.csv"
    headers = {
        "Content-Disposition": f'attachment; filename="{marked(name)}"',
        "Cache-Control": "no-store",
    }
    cut = _("INCOMPLETE: rides are missing here, because reading them failed. Export again.")
    return Response(
        with_cut_line(begin, parts, cut, reference()), mimetype="text/csv", headers=headers
    )


def _audit(query: HistoryQuery) -> None:
    """Write an audit entry: who exported, and with which filters, but never the name of a guest."""
    filters = query.filters
    prop_id = query.prop.id
    days = {"from": filters.first.isoformat(), "to": filters.last.isoformat()}
    with services().db.write() as db:
        audit.record(
            db,
            by_staff(current_staff().id),
            "history.exported",
            f"properties:{prop_id}",
            "ok",
            query.now,
            property_id=prop_id,
            filters=filters.without_person(),
            by_guest=bool(filters.person()),
            **days,
        )


def csv_text(columns: Sequence[str], rows: Iterable[list[str]], mark: str = "") -> Iterator[str]:
    """A CSV file as text, a batch of rows at a time; no spreadsheet evaluates a cell of it.

    `mark`: words for a last column of every row, so that no part of a demo's file is taken for real
    rides.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    more = [harmless(mark)] if mark else []
    buffer.write(BOM)
    writer.writerow([*columns, *more])
    for number, row in enumerate(rows, 1):
        writer.writerow([*map(harmless, row), *more])
        if number % BATCH == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def with_cut_line(begin: str, parts: Iterator[str], cut: str, ref: str) -> Iterator[str]:
    """Yield all parts; if reading fails, yield the words of `cut` as last line, and raise CutShort.

    `ref` is the reference of the request, for the log. Most servers then break the transfer off,
    and the browser reports a failed download. granian, and maybe a proxy, ends the transfer
    normally: the line is for that case.
    """
    yield begin
    try:
        yield from parts
    except Exception as error:
        log.error("an export was cut short by %s, reference %s", reason(error), ref)
        buffer = io.StringIO()
        csv.writer(buffer).writerow([harmless(cut)])
        yield buffer.getvalue()
        # servers log this exception: the original one may quote a statement with a guest's name
        raise CutShort from None


def harmless(text: str) -> str:
    """A text that no spreadsheet evaluates, with a quote before all that looks like a formula.

    Spaces before the formula make no difference. Numbers stay numbers, negative ones too; a phone
    number with a plus is not a number.
    """
    quoted = INSIDE.sub(lambda found: f"{found[0][:-1]}'{found[1]}" if found[1] else found[0], text)
    if text.lstrip(" ").startswith(DANGEROUS) and not NUMBER.fullmatch(text):
        return f"'{quoted}"
    return quoted


def _rows(
    db: Database, property_id: int, ride_filter: RideFilter, tz: ZoneInfo, words: dict[str, str]
) -> Iterator[list[str]]:
    """The cells of each ride. A batch is one transaction, so a slow download keeps none open."""
    before: PageKey | None = None
    while True:
        with db.read() as s:
            keys = page(s, property_id, ride_filter, BATCH, before)
            found = records(s, property_id, [key.id for key in keys])
            evidence_of = evidence(s, property_id, [record.id for record in found])
        for record in found:
            yield _row(record, evidence_of[record.id], tz, words)
        if len(keys) < BATCH:
            return
        before = keys[-1]


def _row(record: Record, more: Evidence, tz: ZoneInfo, words: dict[str, str]) -> list[str]:
    """The cells of a ride, in the order of COLUMNS."""
    facts = _facts(more)
    planned = record.at if record.planned else None
    times = (more.created_at, planned, more.began_at, more.ended_at)
    return [
        record.mtx,
        record.booking_id or "",
        words[shown_outcome(record)],
        *(_time(at, tz) for at in times),
        record.guest,
        record.room or "",
        record.phone or "",
        record.pickup or "",
        *_point(more.pickup),
        record.drop or "",
        *_point(more.drop),
        record.category,
        record.product,
        str(more.seats or ""),
        facts.driver_name or "",
        plate(record.plate),
        *_distance_and_minutes(facts, more),
        more.payment or "",
        *_money(record, more, facts),
        record.staff or "",
        record.centre or "",
        record.note or "",
        _picked_up(facts, tz),
        belonging(record.car, record.series, back=record.is_way_back),
        *_point(facts.pickup),
        *_point(facts.drop),
        record.group or "",
        record.flight or "",
    ]


def _picked_up(facts: Snapshot, tz: ZoneInfo) -> str:
    """When the guest was picked up, as the service states it for autos; "" for other rides."""
    sent = facts.pickup_time
    if sent is None:
        return ""
    if sent.at is None:
        return sent.text
    return _time(sent.at, tz)


def _facts(more: Evidence) -> Snapshot:
    try:
        return Snapshot.model_validate(more.facts)
    except ValidationError:
        return Snapshot()


def _money(record: Record, more: Evidence, facts: Snapshot) -> list[str]:
    """Currency, the service's price lines as numbers, and the total that the history adds up."""
    trip = facts.trip
    price = facts.price
    # fare, tax, tolls, extra charges, discount, advance
    lines: tuple[Decimal | None, ...] = (None,) * 6
    if record.total_minor is None:
        return [record.currency or "", *map(_number, lines), ""]
    if more.kind == Kind.AUTO and trip is not None:
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
    total = Decimal(record.total_minor) / totals.MINOR
    return [record.currency or "", *map(_number, lines), _number(total)]


def _distance_and_minutes(facts: Snapshot, more: Evidence) -> tuple[str, str]:
    """Kilometres and minutes as the service states them, or the minutes from begin to end."""
    trip = facts.trip or TripInfo()
    km = trip.distance.km if trip.distance else None
    took = trip.ride_time or trip.trip_time
    if took:
        return _number(km), str(round(took.seconds / 60))
    if more.began_at is None or more.ended_at is None:
        return _number(km), ""
    took_s = round((more.ended_at - more.began_at).total_seconds())
    return _number(km), str(round(took_s / 60))


def _time(at: datetime | None, tz: ZoneInfo) -> str:
    """A time in the property's zone with its UTC offset: 2026-05-04T14:00:00+05:30."""
    return "" if at is None else at.astimezone(tz).isoformat(timespec="seconds")


def _point(point: tuple[float, float] | None) -> tuple[str, str]:
    """Latitude and longitude as numbers; "" twice without a point."""
    if not point:
        return "", ""
    lat, lng = point
    return _degrees(lat), _degrees(lng)


def _degrees(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _number(value: Decimal | None) -> str:
    return "" if value is None else format(value, "f")
