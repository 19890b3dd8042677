"""Guests at kiosks who need the desk: help, approvals, desk codes, handing over a tablet.

The top bar detects the calls (views/web/top_bar.py); this module adds their words and actions.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, abort, jsonify, make_response, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.inputs import row_id
from ridedash.rides.kiosk.approvals import (
    REASONS,
    AskAnswer,
    WaitingAsk,
    answer_ask,
    waiting_asks,
)
from ridedash.rides.kiosk.desk_codes import DESK_CODE_LASTS, NewCode, make_code
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.kiosk_desk import ALIVE, Ring, answer_help
from ridedash.store.kiosks import device_of, devices_of
from ridedash.store.models.kiosks import Kiosk, KioskAsk, KioskKind
from ridedash.store.models.people import Property
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import clock_time, stamp, zone
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.languages import LANGUAGES, Language

bp = Blueprint("kiosk_desk", __name__)
Answer = str | tuple[str, int] | BaseResponse
# the answers of the desk: yes, yes and the property pays, no
APPROVE: Final = "approve"
HOUSE: Final = "house"
DECLINE: Final = "decline"


@dataclass(frozen=True)
class KioskCall:
    """A call from a kiosk, as the board shows it. `name` stays the same during the call.

    `what` is "help" or "ask"; `until` is when an approval expires, "" for help.
    """

    name: str
    what: str
    title: str
    detail: str
    since: str
    until: str
    address: str

    def as_json(self) -> dict[str, Any]:
        """All fields that are not empty."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class DeskKiosks:
    """What the board's actions for kiosks need: making desk codes, and handing over tablets.

    `codes`: whether there is a kiosk other than a tablet at the desk. `reasons` are the reasons for
    declining a request, in the words that the guest reads.
    """

    codes: bool
    tablets: list[Kiosk]
    languages: list[Language]
    reasons: dict[str, str]


def calls_of(s: Session, rings: tuple[Ring, ...], now: datetime) -> tuple[KioskCall, ...]:
    """The calls in words. Reads approvals only if one waits."""
    if all(each.what != "ask" for each in rings):
        return tuple(map(_help, rings))
    found = waiting_asks(s, services().vault, current_staff().property_id, now)
    asks = {str(each.id): each for each in found}
    calls = []
    for each in rings:
        if each.what == "help":
            calls.append(_help(each))
        elif each.key in asks:
            calls.append(_ask(asks[each.key]))
    return tuple(calls)


def desk_kiosks(s: Session, now: datetime) -> DeskKiosks:
    """The kiosks of the property shown, for the board's actions; only tablets that are alive."""
    rows = devices_of(s, current_staff().property_id, KioskKind.KIOSK)
    tablets = [row for row in rows if row.attended and row.seen_at and now - row.seen_at <= ALIVE]
    return DeskKiosks(
        codes=any(not row.attended for row in rows),
        tablets=tablets,
        languages=list(LANGUAGES.values()),
        reasons={
            "full": _("We can't book it now"),
            "ask": _("Ask at the desk"),
            "not_guest": _("For guests of the house only"),
        },
    )


@bp.post("/kiosk-helps/<visit_id>")
@needs(BOOK)
def come(visit_id: str) -> Answer:
    """Tell the guest who asked for help that a member of staff is coming."""
    now = services().clock()
    me = current_staff()
    with services().db.write() as s:
        visit = answer_help(s, me.property_id, visit_id[:32], me.id, now)
        if visit is None:
            abort(404)
        subject = f"kiosks:{visit.kiosk_id}"
        facts = {"property_id": me.property_id}
        audit.record(s, by_staff(me.id), "kiosk.help_answered", subject, "ok", now, **facts)
    return _done()


@bp.post("/kiosk-codes")
@needs(BOOK)
@limiter.limit("30/minute", key_func=by_staff_key)
def new_code() -> Answer:
    """Make a desk code for a guest at a kiosk and show it once: only its hash is stored."""
    me = current_staff()
    app = services()
    now = app.clock()
    guest_id = row_id(request.form.get("guest_id", ""))
    wanted = NewCode(me.property_id, me.id, "house_pays" in request.form, guest_id)
    try:
        code = make_code(app.db, now, app.settings.secret_key, wanted)
    except LookupError:
        abort(404)
    with app.db.read() as s:
        tz = zone(s.get_one(Property, me.property_id).timezone)
    shown = {
        "code": code,
        "until": clock_time(now + DESK_CODE_LASTS, tz),
        "house_pays": wanted.house_pays,
    }
    if wants_json():
        answer = jsonify(shown)
        answer.headers["Cache-Control"] = "no-store"
        return answer
    return render_template("board/kiosk_code.html", **shown)


@bp.get("/kiosk-codes")
@needs(BOOK)
def code_form() -> str:
    """The form for a desk code, for pages without scripts and for phones."""
    return render_template("board/kiosk_code.html", code="", until="", house_pays=False)


@bp.post("/kiosk-devices/<int:kiosk_id>/hand")
@needs(BOOK)
def hand_over(kiosk_id: int) -> Answer:
    """Hand a tablet of the desk to a guest: it begins a new visit in the guest's language."""
    language = request.form.get("language", "")
    now = services().clock()
    me = current_staff()
    with services().db.write() as s:
        row = device_of(s, me.property_id, kiosk_id, hold=True)
        if row is None or row.revoked_at is not None or not row.attended:
            abort(404)
        if language not in LANGUAGES:
            abort(400)
        row.handed_at = now
        row.handed_language = language
        facts = {"property_id": me.property_id, "language": language}
        audit.record(s, by_staff(me.id), "kiosk.handed", f"kiosks:{row.id}", "ok", now, **facts)
    return _done()


def _done() -> Answer:
    if wants_json():
        return jsonify(ok=True)
    return redirect("/", code=303)


@bp.post("/kiosk-asks/<int:ask_id>")
@needs(BOOK)
def answer(ask_id: int) -> Answer:
    """Store the desk's answer to a guest's request: yes, yes and the property pays, or no."""
    choice = request.form.get("answer", "")
    me = current_staff()
    reason = ""
    if choice == DECLINE:
        reason = request.form.get("reason", "")
    with services().db.read() as s:
        row = s.get(KioskAsk, ask_id)
        if row is None or row.property_id != me.property_id:
            abort(404)
    if choice not in (APPROVE, HOUSE, DECLINE) or (choice == DECLINE and reason not in REASONS):
        abort(400)
    given = AskAnswer(ask_id, me.property_id, me.id, choice != DECLINE, choice == HOUSE, reason)
    if answer_ask(services().db, services().clock(), given):
        return _done()
    why = _("Too late: it was answered already, or the guest has left.")
    if wants_json():
        return make_response(jsonify(ok=False, message=why), 409)
    return redirect("/", code=303)  # the board shows that the guest no longer waits


def _help(ring: Ring) -> KioskCall:
    return KioskCall(
        f"help-{ring.key}",
        "help",
        _("%(kiosk)s: a guest asks for help", kiosk=ring.kiosk),
        _("Coming tells the guest that somebody is on the way."),
        stamp(ring.at),
        "",
        f"/kiosk-helps/{ring.key}",
    )


def _ask(ask: WaitingAsk) -> KioskCall:
    """An approval in words: who wants to go where, in which car, and the price."""
    offer = ask.offer
    who = ask.name
    if ask.room:
        who = _("Room %(room)s", room=ask.room)
    where = offer.drop_name or _("The guest tells the driver")
    parts = [offer.display_name, offer_price_text(offer, locale())]
    if ask.seats:
        parts.append(ngettext("%(num)d seat", "%(num)d seats", ask.seats))
    return KioskCall(
        f"ask-{ask.id}",
        "ask",
        _("%(kiosk)s: %(who)s wants to go to %(place)s", kiosk=ask.kiosk, who=who, place=where),
        " · ".join(filter(None, parts)),
        stamp(ask.asked_at),
        stamp(ask.until),
        f"/kiosk-asks/{ask.id}",
    )
