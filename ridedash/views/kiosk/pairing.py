"""Pairs a browser as a device, and serves the panel for its upkeep by staff (docs/security.md 9).

Both use one address: an 8-character code makes any browser a device; on a kiosk six digits open its
panel. The panel never links to a page of the desk.
"""

import re
import threading
from datetime import datetime
from typing import Final

from flask import Blueprint, Response, current_app, jsonify, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, reader_language, services
from ridedash.inputs import whole_number
from ridedash.rides.kiosk.health import LONG_MM, SHORT_MM, is_too_small
from ridedash.store import audit, kiosks
from ridedash.store.actors import VISITOR, by_kiosk
from ridedash.store.kiosks import WrongPin
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.sign_in_tries import code_allowed
from ridedash.views.auth.sign_in import may_note, note_throttled
from ridedash.views.kiosk.device import HOME, pair_browser, pixels, the_kiosk, unpair_browser
from ridedash.views.web.permissions import SHARED, needs
from ridedash.views.web.responses import reading
from ridedash.wording import gettext as _
from ridedash.wording.readers import Surface
from ridedash.wording.say import speak

bp = Blueprint("kiosk_pairing", __name__)
LONGEST: Final = 40  # characters of a code as people type it
CARD: Final = re.compile(r"[0-9]\.[0-9]{1,6}")
# size of a pixel: from a phone to a wall display
LEAST_MM: Final = 0.05
MOST_MM: Final = 1.5
TOO_FAST_S: Final = 60
# heights of a screen's lower edge above the floor, in mm: below, it was not measured; above, guests
# reach nothing on it, because all that is touched lies below 1220 mm (static/js/kiosk/reach.js)
LOWEST_MM: Final = 100
HIGHEST_MM: Final = 1_100
# actions of the panel: `open` only opens it; the page itself does `reload` and `sound`
ACTIONS: Final = (
    *("open", "reload", "sound"),
    *("out_of_order", "in_order", "calibrate", "unpair"),
)
RECORDED: Final = {"open": "panel", "unpair": "unpaired", "calibrate": "measured"}
_verifying = threading.BoundedSemaphore(2)  # at most two at a time, because scrypt takes 32 MB each


@bp.get("/kiosk/pair")
@needs(SHARED)
def form() -> str:
    """The form for a pairing code."""
    return _form()


@bp.post("/kiosk/pair")
@needs(SHARED)
def pair() -> tuple[str | Response, int] | BaseResponse:
    """Pair this browser by a code; with a PIN, do an action of the kiosk's panel."""
    if "pin" in request.form:
        return _panel(the_kiosk())
    typed = request.form.get("code", "")[:LONGEST]
    s = services()
    address = request.remote_addr or ""
    with s.db.write() as db:
        now = s.clock()
        wait_s = code_allowed(db, address, now)
        paired = None
        if not wait_s:
            paired = kiosks.pair(db, typed, now)
        if paired is not None:
            _record(db, paired[0], "paired", "ok", now)
        elif typed.strip() and not wait_s and may_note():
            audit.record(db, VISITOR, "kiosk.paired", "kiosks:?", "refused", now, address=address)
    if wait_s:
        note_throttled("kiosk.paired", "kiosks:?", address)
        seconds = max(1, round(wait_s))
        words = _("Too many tries. Wait %(n)d s, then try again.", n=seconds)
        answer = current_app.make_response((_form(words), 429))
        answer.headers["Retry-After"] = str(seconds)
        return answer
    if paired is None:
        return _form(_("That code pairs no screen. Codes hold for ten minutes.")), 422
    kiosk, token = paired
    answer = current_app.make_response(redirect(HOME[kiosks.kind_of(kiosk)], code=303))
    pair_browser(answer, kiosk, token)
    return answer


def _form(problem: str = "") -> str:
    speak(reader_language(Surface.DOOR))
    return render_template("kiosk/pair.html", problem=problem, letters=kiosks.LETTERS, **reading())


def _panel(kiosk: Kiosk) -> tuple[Response, int] | Response:
    """Do an action if the PIN is right.

    `state`: ok, wrong, blocked (with `wait_s`), invalid, or unfit: a size of a screen that can't be
    right, or is too small, with `problem` and the limits that its sentence names.
    """
    action = request.form.get("deed", "")
    if action not in ACTIONS:
        return jsonify(state="invalid"), 422
    measured = None
    if action == "calibrate":
        try:
            measured = _measured()
        except Unfit as unfit:
            return jsonify(state="unfit", problem=unfit.problem, **unfit.limits)
    try:
        _count_action()
        _check_pin(kiosk, request.form.get("pin", ""))
    except TooManyRequests:
        # no one types so fast: no audit entry, so that a program can't fill the database
        return jsonify(state="blocked", wait_s=TOO_FAST_S)
    except WrongPin as wrong:
        state = "blocked" if wrong.wait_s else "wrong"
        return jsonify(state=state, wait_s=round(wrong.wait_s))
    s = services()
    with s.db.write() as db:
        row = db.get_one(Kiosk, kiosk.id, with_for_update=True)
        now = s.clock()
        kiosks.forget_tries(row)
        if action in ("out_of_order", "in_order"):
            row.out_of_order = action == "out_of_order"
        elif measured is not None:
            row.mm_per_px, row.bottom_mm = measured
        elif action == "unpair":
            kiosks.unpair(row)
        _record(db, row, RECORDED.get(action, action), "ok", now)
    answer = jsonify(state="ok")
    if action == "unpair":
        unpair_browser(answer, kiosk)
    return answer


@limiter.shared_limit("30/minute", scope="kiosk deeds", key_func=lambda: f"kiosk-{the_kiosk().id}")
def _count_action() -> None:
    """Raise TooManyRequests for more actions than a person can press: each is an audit entry."""


def _check_pin(kiosk: Kiosk, pin: str) -> None:
    """Raise WrongPin if the PIN is wrong. A try is counted in its own commit, before the check."""
    s = services()
    try:
        with s.db.write() as db:
            row = db.get_one(Kiosk, kiosk.id, with_for_update=True)
            now = s.clock()
            kiosks.count_pin(row, now)
        with _verifying:
            kiosks.verify_pin(row, pin, now)
    except WrongPin as wrong:
        with s.db.write() as db:
            _record(db, kiosk, "panel", "throttled" if wrong.wait_s else "refused", s.clock())
        raise


class Unfit(Exception):
    """A size of a screen that can't be right, or is too small for guests.

    `problem` names the sentence that the panel shows (static/js/kiosk/panel.js); `limits` are the
    numbers in it.
    """

    def __init__(self, problem: str, **limits: int) -> None:
        super().__init__(problem)
        self.problem, self.limits = problem, limits


def _measured() -> tuple[float, int | None]:
    """The width of a pixel and the height of the screen's edge, in mm. Raises Unfit."""
    typed = request.form.get("mm_per_px", "")
    edge = request.form.get("bottom_mm", "").strip()
    mm = float(typed) if CARD.fullmatch(typed) else 0.0
    sides = pixels()
    if not sides or not LEAST_MM <= mm <= MOST_MM:
        raise Unfit("card")
    wide, high = (round(each * mm) for each in sides)
    if is_too_small(wide, high):
        raise Unfit("small", wide=wide, high=high, long=LONG_MM, short=SHORT_MM)
    bottom = whole_number(edge, LOWEST_MM, HIGHEST_MM)
    if edge and bottom is None:
        raise Unfit("height", least=LOWEST_MM, most=HIGHEST_MM)
    return mm, bottom


def _record(db: Session, kiosk: Kiosk, action: str, result: str, now: datetime) -> None:
    """Write the audit entry of an action at the device; the person is unknown."""
    audit.record(
        db,
        by_kiosk(kiosk.id),
        f"kiosk.{action}",
        f"kiosks:{kiosk.id}",
        result,
        now,
        property_id=kiosk.property_id,
    )
