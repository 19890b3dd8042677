"""The page of the audit log: filtered by day, person and action."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from babel.dates import format_datetime
from flask import Blueprint, render_template, request

from ridedash.extensions import services
from ridedash.store.audit import AuditFilter, AuditRow, entries
from ridedash.store.database.database import MAX_ID
from ridedash.store.models.people import Property
from ridedash.store.properties import staff_of
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import ADMIN, AUDIT, may, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import lazy

bp = Blueprint("admin_audit", __name__, url_prefix="/admin/audit")
LIMIT: Final = 100
ACTIONS: Final = {
    "sign_in": lazy("Signed in"),
    "sign_out": lazy("Signed out"),
    "sign_out.everywhere": lazy("Signed out everywhere"),
    "order.place": lazy("Booked a ride"),
    "order.move": lazy("Order moved on"),
    "order.bad_move": lazy("Order could not move on"),
    "order.resolve": lazy("Settled an unknown order"),
    "order.late_answer": lazy("A late answer came"),
    "again": lazy("Began to book again"),
    "order.change": lazy("Changed a planned ride"),
    "link.made": lazy("Made a guest's link"),
    "link.ended": lazy("Ended a guest's link"),
    "ride.abort": lazy("Stopped the search"),
    "ride.cancel": lazy("Cancelled a ride"),
    "ride.drop": lazy("Changed the drop"),
    "ride.feedback": lazy("Gave feedback"),
    "ride.alarm": lazy("Something to look at"),
    "ride.stop_following": lazy("Stopped following"),
    "attention.seen": lazy("Marked as seen"),
    "code_shown": lazy("Showed a start code"),
    "history.exported": lazy("Exported rides"),
    "guest.erased": lazy("Erased a guest"),
    "property.changed": lazy("Changed the property"),
    "property.made": lazy("Made a property"),
    "property.looked_at": lazy("Looked at the property"),
    "place.set": lazy("Set a favourite place"),
    "place.removed": lazy("Removed a favourite place"),
    "cost_centre.made": lazy("Made a cost centre"),
    "cost_centre.closed": lazy("Closed a cost centre"),
    "cost_centre.opened": lazy("Opened a cost centre again"),
    "invitation.made": lazy("Made an invitation"),
    "invitation.withdrawn": lazy("Withdrew an invitation"),
    "staff.added": lazy("Added somebody to the staff"),
    "staff.joined": lazy("Joined by invitation"),
    "staff.role": lazy("Changed a role"),
    "staff.disabled": lazy("Disabled somebody"),
    "staff.enabled": lazy("Enabled somebody"),
    "staff.signed_out": lazy("Signed somebody out"),
    "password.changed": lazy("Changed the own password"),
    "password.set": lazy("Set a password by a link"),
    "account.linked": lazy("Connected an account"),
    "account.lost": lazy("An account needs reconnecting"),
    "account.default": lazy("Chose the default account"),
    "account.removed": lazy("Removed an account"),
    "account.affiliate": lazy("Changed an account's affiliate id"),
    "keys.rotated": lazy("Changed the keys of tokens"),
    "refused": lazy("Tried what is not open to them"),
}
RESULTS: Final = {
    "ok": "",
    "refused": lazy("Refused"),
    "throttled": lazy("Too many tries"),
    "left": lazy("Some kept the old key"),
}


@dataclass(frozen=True)
class AuditLine:
    """One audit entry in words. `order` is the order that it is about, if any."""

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
    """A page of entries, the newest first, with a link to older ones."""
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        people = {f"staff:{each.id}": each.name for each in staff_of(s, prop.id)}
        tz = zone(prop.timezone)
        rows = entries(s, prop.id, _filter(tz), LIMIT + 1)
    names = people | {
        "worker": _("ridedash itself"),
        "cli": _("Command line"),
        "visitor": _("Nobody signed in"),
    }
    older = _older(rows[LIMIT - 1].id) if len(rows) > LIMIT else ""
    lines = [_line(row, names, tz) for row in rows[:LIMIT]]
    chosen = {name: request.args.get(name, "") for name in ("day", "who", "what")}
    return render_template(
        "admin/audit_log.html",
        lines=lines,
        older=older,
        names=names,
        actions=actions(),
        chosen=chosen,
        filtered=any(chosen.values()) or "before" in request.args,
        zone=prop.timezone,
        tab="audit",
    )


def actions() -> dict[str, str]:
    """The words for each action, by its name in the audit log."""
    return {name: str(words) for name, words in ACTIONS.items()}


def results() -> dict[str, str]:
    """The words for each result of an action."""
    return {name: str(words) for name, words in RESULTS.items()}


def _filter(tz: ZoneInfo) -> AuditFilter:
    """The filter of the query; values that make no sense are left out."""
    since, until = _day(request.args.get("day", ""), tz)
    before = request.args.get("before", type=int)
    return AuditFilter(
        since,
        until,
        who=request.args.get("who", "")[:80] or None,
        what=request.args.get("what", "")[:60] or None,
        before=min(before, MAX_ID) if before else None,
        nobodys=may(ADMIN),
    )


def _day(text: str, tz: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """The first instants of a day and of the next, in a time zone; none for an invalid day."""
    try:
        day = date.fromisoformat(text)
        next_day = day + timedelta(days=1)
        return datetime.combine(day, time(), tz), datetime.combine(next_day, time(), tz)
    except (ValueError, OverflowError):
        return None, None


def _older(last: int) -> str:
    query = {name: request.args[name] for name in ("day", "who", "what") if request.args.get(name)}
    return "/admin/audit?" + urlencode(query | {"before": last})


def _line(row: AuditRow, names: dict[str, str], tz: ZoneInfo) -> AuditLine:
    table, _colon, number = row.subject.partition(":")
    order = int(number) if table == "orders" and number.isdigit() else None
    bad = row.result in ("refused", "throttled")
    return AuditLine(
        at=format_datetime(row.at.astimezone(tz), "d MMM y HH:mm:ss", locale=locale()),
        instant=row.at.isoformat(),
        who=names.get(row.who, row.who),
        what=actions().get(row.what, row.what),
        result=results().get(row.result, row.result.replace("_", " ").lower()),
        order=order,
        subject=names.get(row.subject, "") if row.subject != row.who else "",
        tone="warn" if bad else "quiet",
    )
