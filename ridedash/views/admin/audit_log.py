"""The audit log: filtered by day, person, action and ride, as a page and as a CSV file."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, render_template, request
from sqlalchemy.orm import Session

from ridedash.extensions import limiter, services
from ridedash.inputs import calendar_day, row_id
from ridedash.rides.actions.correct_guest import corrections
from ridedash.store.actors import ActorKind, by_staff
from ridedash.store.audit import AuditFilter, AuditRow, entries, record
from ridedash.store.database.database import Database
from ridedash.store.history import Record, records
from ridedash.store.kiosks import devices_of
from ridedash.store.models.people import Property
from ridedash.store.properties import staff_of
from ridedash.text import one_line
from ridedash.views.history.csv_export import csv_text, with_cut_line
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import clock_time, day_text, joined, zone
from ridedash.views.web.permissions import ADMIN, AUDIT, may, needs
from ridedash.views.web.request_log import reference
from ridedash.views.web.responses import locale
from ridedash.views.web.top_bar import demo_words, marked
from ridedash.wording import gettext as _
from ridedash.wording import lazy, ngettext
from ridedash.wording.actions import ACTOR_WORDS, actor_words
from ridedash.wording.attention import seen_verb

bp = Blueprint("admin_audit", __name__, url_prefix="/admin/audit")
LIMIT: Final = 100
ACTIONS: Final = {
    "sign_in": lazy("Signed in"),
    "sign_out": lazy("Signed out"),
    "sign_out.everywhere": lazy("Signed out everywhere"),
    "order.place": lazy("Booked a ride"),
    "order.move": lazy("The booking changed state"),
    "order.bad_move": lazy("The booking could not change state"),
    "order.resolve": lazy("Said what happened to a booking"),
    "order.not_started": lazy("A press started no ride"),
    "order.late_answer": lazy("A late answer came"),
    "order.released": lazy("Booked a held ride"),
    "order.recovered": lazy("Took up a lost booking"),
    "lost.dealt_with": lazy("Dealt with a booking of a lost property"),
    "database.restored": lazy("The database was restored"),
    "restore.accepted": lazy("Accepted the restore"),
    "again": lazy("Began to book again"),
    "order.change": lazy("Changed a planned ride"),
    "list.read": lazy("Read a guest list"),
    "list.book": lazy("Booked a guest list"),
    "list.stop": lazy("Stopped a guest list"),
    "list.continue": lazy("Went on booking a guest list"),
    "list.answer": lazy("Answered for a line of a guest list"),
    "list.delete": lazy("Deleted a guest list"),
    "link.made": lazy("Made a guest's link"),
    "link.ended": lazy("Ended a guest's link"),
    "message.prepared": lazy("Prepared a message for the guest"),
    "ride.abort": lazy("Stopped the search"),
    "ride.cancel": lazy("Cancelled a ride"),
    "ride.drop": lazy("Changed the drop"),
    "ride.feedback": lazy("Gave feedback"),
    "ride.alarm": lazy("Something to look at"),
    "ride.stop_following": lazy("Stopped following"),
    "attention.seen": lazy("Seen"),
    "code_shown": lazy("Showed a start code"),
    "door.mark": lazy("Marked a guest at the door"),
    "history.exported": lazy("Exported rides"),
    "insights.exported": lazy("Exported the insights"),
    "audit.exported": lazy("Exported the audit log"),
    "guest.erased": lazy("Erased a guest"),
    "guest.phone_as_typed": lazy("Confirmed a phone number as typed"),
    "guest.corrected": lazy("Corrected a guest"),
    "property.changed": lazy("Changed the property"),
    "property.fits": lazy("Changed how many fit into cars"),
    "words.written": lazy("Changed the property's own words"),
    "words.read": lazy("Said that a language was read"),
    "words.unread": lazy("Took back that a language was read"),
    "property.made": lazy("Made a property"),
    "property.looked_at": lazy("Looked at the property"),
    "place.set": lazy("Set a favourite place"),
    "place.renamed": lazy("Renamed a favourite place"),
    "place.moved": lazy("Moved a favourite place in its list"),
    "place.removed": lazy("Removed a favourite place"),
    "cost_centre.made": lazy("Made a cost centre"),
    "cost_centre.renamed": lazy("Renamed a cost centre"),
    "cost_centre.closed": lazy("Closed a cost centre"),
    "cost_centre.opened": lazy("Opened a cost centre again"),
    "invitation.made": lazy("Made an invitation"),
    "invitation.withdrawn": lazy("Took back an invitation"),
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
    "kiosk.added": lazy("Added a kiosk"),
    "kiosk.changed": lazy("Changed a kiosk"),
    "kiosk.pairing": lazy("Made a pairing code for a kiosk"),
    "kiosk.paired": lazy("Paired a screen"),
    "kiosk.unpaired": lazy("Un-paired a screen"),
    "kiosk.panel": lazy("Opened a kiosk's panel"),
    "kiosk.reload": lazy("Reloaded a kiosk"),
    "kiosk.sound": lazy("Tried a kiosk's sound"),
    "kiosk.measured": lazy("Measured a kiosk's screen"),
    "kiosk.pin": lazy("Set the staff PIN of a kiosk"),
    "kiosk.out_of_order": lazy("Put a kiosk out of order"),
    "kiosk.in_order": lazy("Put a kiosk back in order"),
    "kiosk.revoked": lazy("Revoked a kiosk"),
    "kiosk.refused": lazy("A kiosk refused to book"),
    "kiosk.pins": lazy("Tried PINs of rides at a kiosk"),
    "kiosk.asks_code": lazy("A kiosk began to ask for desk codes"),
    "kiosk.asks_no_code": lazy("Let a kiosk ask for no more desk codes"),
    "kiosk.code_made": lazy("Made a desk code for a kiosk"),
    "kiosk.asked": lazy("A guest at a kiosk asked the desk"),
    "kiosk.answered": lazy("Answered a guest at a kiosk"),
    "kiosk.help_answered": lazy("Answered a call for help from a kiosk"),
    "kiosk.handed": lazy("Handed a tablet of the desk to a guest"),
    "ticket.reopened": lazy("Opened a ride number again"),
    "kiosk.hint": lazy("Described the way to a pickup point"),
    "kiosk.hint_removed": lazy("Removed the way to a pickup point"),
    "demo.clock": lazy("Turned the demo's clock"),
    "demo.next": lazy("Led the demo's clock to the next event"),
    "demo.armed": lazy("Said how the demo's next booking goes"),
    "demo.fault": lazy("Let something go wrong in the demo"),
    "demo.reset": lazy("Reset the demo"),
    "demo.story": lazy("Began a story of the demo"),
    "keys.rotated": lazy("Changed the keys of tokens"),
    "refused": lazy("Tried what is not open to them"),
}
CORRECTED_FIELDS: Final = {
    "name": lazy("Guest name"),
    "phone": lazy("Phone"),
    "room": lazy("Room or ref."),
}
RESULTS: Final = {
    "ok": "",
    "in": lazy("In the car"),
    "away": lazy("Not at the door"),
    "refused": lazy("Refused"),
    "throttled": lazy("Too many tries"),
    "left": lazy("Some kept the old key"),
    "held": lazy("Held until somebody decides"),
    "stopped": lazy("Stopped"),
    "done": lazy("Done"),
    "approved": lazy("Approved"),
    "declined": lazy("Declined"),
    "closed": lazy("It is out of order"),
    "hours": lazy("It is closed at this hour"),
    "hourly": lazy("Too many bookings in an hour"),
    "live": lazy("Too many rides without a guest aboard"),
    "same_guest": lazy("A ride for that name or room"),
    "wrong_code": lazy("A wrong desk code"),
    "too_many_codes": lazy("Too many wrong desk codes"),
    "not_here": lazy("Not a car of this kiosk"),
    "unconfirmed": lazy("Not confirmed"),
    "not_sent": lazy("Not sent"),
    "armed": lazy("Waits for the booking id"),
    "not_now": lazy("Not possible now"),
    "no refresh token": lazy("It can't be renewed"),
    "car_swapped": lazy("Another car"),
    "unknown_status": lazy("An unknown status"),
    "other_booking": lazy("Facts of another booking"),
    "after_end": lazy("News after the end"),
    "driver_lost": lazy("The driver cancelled"),
    "long_search": lazy("Long search"),
    "not_booked": lazy("Not booked"),
}
STATES: Final = {  # the states of an order, as results of placing and changing it
    "SCHEDULED": lazy("Planned"),
    "WAITING": lazy("Waiting for the guest"),
    "READY": lazy("Ready to be sent"),
    "SENDING": lazy("Being sent"),
    "BOOKED": lazy("Booked"),
    "MATCHING": lazy("Looking for a shared ride"),
    "REJECTED": lazy("Refused by the ride company"),
    "NOT_SENT": lazy("Not sent"),
    "UNKNOWN": lazy("We don't know"),
    "CLOSED_NOT_BOOKED": lazy("Closed as not booked"),
    "FAILED": lazy("No shared ride"),
}
# actions with results that are not shown: people would read "Ready to be sent" as the state of the
# order now, and the words of an action on a guest list say its result
WITHOUT_RESULT: Final = re.compile(r"order\.place READY|list\..*")
FILTERS: Final = ("day", "who", "what", "ride", "machine")
COLUMNS: Final = ("at", "who", "what", "result", "ride", "reference", "details")
BATCH: Final = 500


@dataclass(frozen=True)
class AuditLine:
    """One audit entry in words. `order` is the id of its order, if any."""

    at: str
    instant: str
    who: str
    what: str
    result: str
    order: int | None
    guest: str  # guest and room of that order; "" if unknown
    subject: str
    tone: str
    key: str  # the actor's key in the audit log
    machine: bool  # whether ridedash took this step by itself
    changes: tuple[str, ...] = ()  # of a correction, while the guest is stored: from what to what


@dataclass(frozen=True)
class Fold:
    """Consecutive entries; steps of ridedash itself are folded together."""

    lines: list[AuditLine]
    title: str  # title of folded entries; "" for entries that are shown


@bp.get("")
@needs(AUDIT)
def show() -> str:
    """A page of entries, the newest first, with a link to older ones."""
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        names = _names(s, prop.id)
        tz = zone(prop.timezone)
        rows = entries(s, prop.id, _filter(tz), LIMIT + 1)
        chosen_ride = request.args.get("ride", type=row_id)
        rides = _rides(s, prop.id, rows, chosen_ride)
        changes = corrections(s, [each for each in map(_order, rows) if each is not None])
    older = ""
    if len(rows) > LIMIT:
        older = "/admin/audit?" + _query(before=rows[LIMIT - 1].id)
    lines = [
        replace(
            _line(row, names, rides, tz), changes=_changes(changes.get((_order(row) or 0, row.at)))
        )
        for row in rows[:LIMIT]
    ]
    wants_steps = request.args.get("what") or request.args.get("who") == "worker"
    chosen = {name: request.args.get(name, "") for name in FILTERS}
    return render_template(
        "admin/audit_log.html",
        folds=_folds(lines, folded=not wants_steps),
        older=older,
        names=names,
        actions=actions(),
        chosen=chosen,
        query=_query(),
        ride=_guest(rides.get(chosen_ride)) or chosen_ride or "",
        filtered=any(chosen.values()) or "before" in request.args,
        zone=prop.timezone,
        tab="audit",
    )


@bp.post("/export.csv")
@needs(AUDIT)
@limiter.limit("5/hour", key_func=by_staff_key)
def export() -> Response:
    """The entries of this query as a CSV file, the newest first, without names of guests.

    The audit entry of the export is written before it begins.
    """
    app = services()
    me = current_staff()
    with app.db.read() as s:
        prop = s.get_one(Property, me.property_id)
        names = _names(s, prop.id)
    tz = zone(prop.timezone)
    subject = f"properties:{prop.id}"
    now = app.clock()
    filters = _filter(tz)
    with app.db.write() as s:
        facts = {"property_id": prop.id, "query": _filter_facts(filters)}
        record(s, by_staff(me.id), "audit.exported", subject, "ok", now, **facts)
    parts = csv_text(
        COLUMNS, _exported(app.db, prop.id, filters, names, tz), demo_words(app.settings)
    )
    cut = _("INCOMPLETE: entries are missing here, because reading them failed. Export again.")
    name = marked(f"audit-{now.astimezone(tz):%Y-%m-%d}.csv")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    begin = next(parts)  # read before the answer begins, so that a failure gets its error page
    return Response(
        with_cut_line(begin, parts, cut, reference()), mimetype="text/csv", headers=headers
    )


def _exported(
    db: Database, property_id: int, filters: AuditFilter, names: dict[str, str], tz: ZoneInfo
) -> Iterator[list[str]]:
    """Yields the rows of the file.

    Each batch is read in a transaction of its own, so that a slow download keeps none open.
    """
    while True:
        with db.read() as s:
            rows = entries(s, property_id, filters, BATCH)
            rides = _rides(s, property_id, rows, None)
        for row in rows:
            line = _line(row, names, rides, tz)
            ride = rides.get(_order(row))
            yield [
                row.at.astimezone(tz).isoformat(timespec="seconds"),
                line.who,
                line.what,
                line.result or row.result,
                str(line.order or ""),
                ride.mtx if ride else "",
                json.dumps(row.facts, ensure_ascii=False, sort_keys=True) if row.facts else "",
            ]
        if len(rows) < BATCH:
            return
        filters = replace(filters, before=rows[-1].id)


def _names(s: Session, property_id: int) -> dict[str, str]:
    """The names of the property's staff and devices, and of actors without a row, by actor key."""
    people = {f"staff:{each.id}": each.name for each in staff_of(s, property_id)}
    people |= {f"kiosk:{each.id}": each.name for each in devices_of(s, property_id, ended=True)}
    others = (ActorKind.GUEST, ActorKind.WORKER, ActorKind.CLI, ActorKind.VISITOR)
    return people | {kind.value: str(ACTOR_WORDS[kind]) for kind in others}


def _folds(lines: list[AuditLine], *, folded: bool) -> list[Fold]:
    """The lines, with consecutive steps of ridedash itself folded together if that is wanted."""
    found = []
    for machine, run in groupby(lines, lambda line: folded and line.machine):
        steps = list(run)
        if machine:
            title = ngettext("%(num)d step of ridedash", "%(num)d steps of ridedash", len(steps))
            found.append(Fold(steps, title))
        else:
            found.append(Fold(steps, ""))
    return found


def _order(row: AuditRow) -> int | None:
    """The id of the order that an entry is about; None for other subjects."""
    table, _colon, number = row.subject.partition(":")
    if table != "orders":
        return None
    return row_id(number)


def _subject(row: AuditRow, names: dict[str, str]) -> str:
    """The person or kiosk that an entry is about; "" if it is the actor, and for other subjects."""
    about = row.subject.replace("kiosks:", "kiosk:")
    if about == row.who:
        return ""
    return names.get(about, "")


def _rides(
    s: Session, property_id: int, rows: list[AuditRow], more: int | None
) -> dict[int | None, Record]:
    """The rides of this property that the entries are about, and the ride `more`, by order id."""
    ids = {*map(_order, rows), more} - {None}
    wanted = sorted(number for number in ids if number is not None)
    return {each.id: each for each in records(s, property_id, wanted)}


def _changes(detail: str | None) -> tuple[str, ...]:
    """What a correction changed, a sentence for each field; none for other entries."""
    both = json.loads(detail or "{}")
    return tuple(
        _(
            "%(field)s: from %(before)s to %(after)s",
            field=str(CORRECTED_FIELDS.get(name, name)),
            before=before or "–",
            after=after or "–",
        )
        for name, (before, after) in both.items()
    )


def _guest(ride: Record | None) -> str:
    if ride is None:
        return ""
    return " · ".join(filter(None, [ride.room, ride.guest]))


def actions() -> dict[str, str]:
    """The words for each action, by its key in the audit log; actions of a demo only in a demo."""
    demo = services().settings.demo
    shown = (name for name in ACTIONS if demo or not name.startswith("demo."))
    return {name: str(ACTIONS[name]) for name in shown}


def results() -> dict[str, str]:
    """The words for each result of an action."""
    return {name: str(words) for name, words in RESULTS.items()}


def _result(row: AuditRow) -> str:
    """The words for a result; a code without words is shown as it is."""
    result = row.result
    if WITHOUT_RESULT.fullmatch(f"{row.what} {result}"):
        return ""
    words = RESULTS.get(result, STATES.get(result))
    if words is not None:
        return str(words)
    changes = {" to ": _refused_change, " after ": _late}
    for between, say in changes.items():
        one, found, two = result.partition(between)
        if found and one in STATES and two in STATES:
            return say(str(STATES[one]), str(STATES[two]))
    return result.replace("_", " ").lower()


def _refused_change(before: str, after: str) -> str:
    return _("from “%(before)s” to “%(after)s”", before=before, after=after)


def _late(answer: str, known: str) -> str:
    return _("“%(answer)s”, after “%(known)s”", answer=answer, known=known)


def _filter(tz: ZoneInfo) -> AuditFilter:
    """The filter in the query string; invalid values are left out."""
    since, until = _day(request.args.get("day", ""), tz)
    who = one_line(request.args.get("who", ""), 80) or None
    what = one_line(request.args.get("what", ""), 60) or None
    order = request.args.get("ride", type=row_id)
    return AuditFilter(
        since,
        until,
        who=who,
        what=what,
        before=request.args.get("before", type=row_id),
        order=order,
        # a filter by ride, by action or for ridedash itself includes the steps of ridedash
        people=not (order or what or who == "worker" or request.args.get("machine")),
        nobodys=may(ADMIN),
    )


def _day(text: str, tz: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """The start of a day and of the next one in a time zone; None for an invalid day."""
    day = calendar_day(text)
    if day is None:
        return None, None
    next_day = day + timedelta(days=1)
    return datetime.combine(day, time(), tz), datetime.combine(next_day, time(), tz)


def _filter_facts(filters: AuditFilter) -> dict[str, str]:
    """The exported filter as it was read, for the audit log; its length is bounded."""
    fields = {
        "from": _iso(filters.since),
        "to": _iso(filters.until),
        "who": filters.who or "",
        "what": filters.what or "",
        "ride": str(filters.order or ""),
        "machine": "" if filters.people else "1",
    }
    return {name: text for name, text in fields.items() if text}


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _query(**more: int) -> str:
    """The filters of the request as a query string."""
    query = {name: request.args[name] for name in FILTERS if request.args.get(name)}
    return urlencode(query | more)


def _day_and_time(at: datetime, tz: ZoneInfo) -> str:
    clock = clock_time(at, tz, seconds=True)
    return joined(day_text(at.astimezone(tz), "yMMMd", locale()), clock, locale())


def _action(row: AuditRow) -> str:
    if row.what == "attention.seen":
        return seen_verb(row.result)
    return str(ACTIONS.get(row.what, row.what))


def _line(
    row: AuditRow, names: dict[str, str], rides: dict[int | None, Record], tz: ZoneInfo
) -> AuditLine:
    order = _order(row)
    bad = row.result in ("refused", "throttled")
    return AuditLine(
        at=_day_and_time(row.at, tz),
        instant=row.at.isoformat(),
        who=names.get(row.who) or actor_words(row.who, {}),
        what=_action(row),
        result=_result(row),
        order=order,
        guest=_guest(rides.get(order)),
        subject=_subject(row, names),
        tone="warn" if bad else "quiet",
        key=row.who,
        machine=row.who == "worker",
    )
