"""The record of who did what, for reading: by day, by person, by deed."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from babel.dates import format_datetime
from flask import Blueprint, render_template, request
from flask_babel import get_locale

from ridedash.ext import services
from ridedash.store.audit import Asked, AuditRow, entries
from ridedash.store.houses import staff_of
from ridedash.store.orders import MAX_ID
from ridedash.store.people import Property
from ridedash.views.admin_deeds import deeds, results
from ridedash.views.auth import current_staff
from ridedash.views.formats import zone
from ridedash.views.permissions import ADMIN, AUDIT, may, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin_audit", __name__, url_prefix="/admin/audit")

LIMIT: Final = 100


@dataclass(frozen=True)
class Line:
    """One deed in words. `order` is the ride that it was done to, if any."""

    at: str
    instant: str
    who: str
    what: str
    result: str
    order: int | None
    subject: str
    tone: str


@bp.get("")
@needs(AUDIT)
def show() -> str:
    """A page of the record, the newest first; older ones by a link."""
    with services().db.read() as s:
        house = s.get_one(Property, current_staff().property_id)
        people = {f"staff:{each.id}": each.name for each in staff_of(s, house.id)}
        tz = zone(house.timezone)
        rows = entries(s, house.id, _asked(tz), LIMIT + 1)
    names = people | {"worker": _("ridedash itself"), "cli": _("Command line"), "visitor": _("Nobody signed in")}
    older = _older(rows[LIMIT - 1].id) if len(rows) > LIMIT else ""
    lines = [_line(row, names, tz) for row in rows[:LIMIT]]
    chosen = {name: request.args.get(name, "") for name in ("day", "who", "what")}
    return render_template(
        "admin/audit_log.html", lines=lines, older=older, names=names, deeds=deeds(), chosen=chosen,
        filtered=any(chosen.values()) or "before" in request.args, zone=house.timezone, tab="audit",
    )  # fmt: skip


def _asked(tz: ZoneInfo) -> Asked:
    """What the query asks for; what makes no sense is not asked for."""
    since, until = _day(request.args.get("day", ""), tz)
    before = request.args.get("before", type=int)
    return Asked(
        since, until, who=request.args.get("who", "")[:80] or None, what=request.args.get("what", "")[:60] or None,
        before=min(before, MAX_ID) if before else None, nobodys=may(ADMIN),
    )  # fmt: skip


def _day(text: str, tz: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """A day of the property's as two instants; none for what is no day."""
    try:
        day = date.fromisoformat(text)
        return tuple(datetime.combine(each, time(), tz) for each in (day, day + timedelta(days=1)))  # type: ignore[return-value]
    except (ValueError, OverflowError):
        return None, None


def _older(last: int) -> str:
    kept = {name: request.args[name] for name in ("day", "who", "what") if request.args.get(name)}
    return "/admin/audit?" + urlencode(kept | {"before": last})


def _line(row: AuditRow, names: dict[str, str], tz: ZoneInfo) -> Line:
    table, _colon, number = row.subject.partition(":")
    order = int(number) if table == "orders" and number.isdigit() else None
    bad = row.result in ("refused", "throttled")
    return Line(
        at=format_datetime(row.at.astimezone(tz), "d MMM y HH:mm:ss", locale=str(get_locale() or "en")),
        instant=row.at.isoformat(),
        who=names.get(row.who, row.who),
        what=deeds().get(row.what, row.what),
        result=results().get(row.result, row.result.replace("_", " ").lower()),
        order=order,
        subject=names.get(row.subject, "") if row.subject != row.who else "",
        tone="warn" if bad else "quiet",
    )
