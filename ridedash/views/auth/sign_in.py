"""Sign-in and sign-out: sessions on the server, throttled guesses, a checked `next`.

See docs/security.md 2.
"""

import re
import secrets
import threading
from functools import cache, lru_cache
from typing import Final

from flask import Blueprint, Response, current_app, redirect, render_template, request, session
from flask_login import current_user
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, login_manager, reader_language, services
from ridedash.secrets_file import demo_secrets
from ridedash.store import audit, passwords
from ridedash.store.actors import VISITOR, by_staff
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import find_staff, property_at
from ridedash.store.sign_ins import close_sign_in, open_sign_in, sign_in_allowed, sign_in_succeeded
from ridedash.views.web import devices, errors
from ridedash.views.web.current_user import current_staff, safe_next
from ridedash.views.web.face import Face, face_of
from ridedash.views.web.permissions import OPEN, SEE, needs
from ridedash.wording import gettext as _
from ridedash.wording.readers import Surface
from ridedash.wording.say import speak

bp = Blueprint("auth", __name__)
NAME_MAX: Final = 120
PASSWORD_MAX: Final = 128
DOOR: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
STAGE: Final = "/demo/stage"  # for this target the page of a demo fills in name and password
DEMO_NAME: Final = "desk"  # the sign-in name that `ridedash up` creates
# at most four passwords are verified at a time, because scrypt takes 32 MB for each
_verifying = threading.BoundedSemaphore(4)
# sign-ins are stored on the server, so Flask-Login need not bind sessions to the browser
login_manager.session_protection = None


@bp.get("/sign-in")
@needs(OPEN)
def sign_in() -> str | BaseResponse:
    """The form; a user who is signed in is redirected at once."""
    target = safe_next(request.args.get("next"))
    if current_user.is_authenticated:
        return redirect(target, code=303)
    return _form(target)


@bp.post("/sign-in")
@needs(OPEN)
def sign_in_post() -> tuple[str, int] | BaseResponse:
    """Check name and password once, throttled by name and address; then open a new sign-in."""
    target = safe_next(request.form.get("next"))
    name = request.form.get("name", "").strip()[:NAME_MAX]
    password = request.form.get("password", "")
    if not name or not password or len(password) > PASSWORD_MAX:
        return _form(target, name=name, error=_("Type your name and your password.")), 400
    s = services()
    address = request.remote_addr or ""
    with s.db.write() as db:
        wait_s = sign_in_allowed(db, name, address, s.clock())
        staff = find_staff(db, name) if not wait_s else None
    if wait_s:
        note_throttled("sign_in", "staff:?", address)
        return _wait(target, name, wait_s)
    if not password_holds(staff, password) or staff is None:
        with s.db.write() as db:
            _record_refusal(db, staff, address)
        return _form(target, name=name, error=_("That name and password don't go together.")), 401
    _start_session(staff, name, address)
    return redirect(target, code=303)


@bp.errorhandler(CSRFError)
def on_csrf(error: CSRFError) -> errors.Answer | BaseResponse:
    """The sign-in form anew, with a valid token; a user who is signed in by now is redirected.

    Tabs that open the page at the same time each get a session. The browser keeps only the last
    one, so the tokens of the other tabs are not valid.
    """
    if request.endpoint != "auth.sign_in_post" or errors.is_of_another_address(error):
        return errors.on_csrf(error)
    errors.log_refused_form(error)
    target = safe_next(request.form.get("next"))
    try:
        # a request that comes from no page of ours has no token at all
        if current_user.is_authenticated and "csrf_token" in request.form:
            return redirect(target, code=303)
    except (DatabaseBusy, SQLAlchemyError) as away:
        return errors.on_database(away)
    name = request.form.get("name", "").strip()[:NAME_MAX]
    words = _("This page was no longer valid. Type your password again.")
    return _form(target, name=name, error=words), 400


@bp.post("/sign-out")
@needs(SEE)
def sign_out() -> BaseResponse:
    """End the sign-in on the server."""
    staff, sid = current_staff(), session.get("sid", "")
    s = services()
    with s.db.write() as db:
        close_sign_in(db, sid)
        _record(db, staff.id, staff.property_id, "sign_out")
        door = db.get_one(Property, staff.property_id).door
    return ended("/sign-in?out=1" + (f"&at={door}" if door else ""))


def ended(address: str) -> BaseResponse:
    """Redirect a browser whose sign-in has just ended to this address.

    The browser clears its storage, and also its cookies unless it is a paired device. A kiosk in
    the frame of a demo's stage is un-paired.
    """
    of_stage = devices.is_of_stage()
    session.clear()
    answer = current_app.make_response(redirect(address, code=303))
    answer.headers["Clear-Site-Data"] = devices.cleared_at_sign_out()
    if of_stage:
        devices.take(answer, KioskKind.KIOSK)
    return answer


def _start_session(staff: Staff, name: str, address: str) -> None:
    s = services()
    with s.db.write() as db:
        sign_in_succeeded(db, name, address)
        sid = open_sign_in(db, staff.id, s.clock())
        _record(db, staff.id, staff.property_id, "sign_in")
    begin(sid)


def begin(sid: str) -> None:
    """Give this browser a new session for a sign-in; the old session's CSRF token ends too."""
    of_stage = devices.is_of_stage()
    session.clear()
    session["sid"] = sid
    if of_stage:
        session[devices.ENDS_AT_SIGN_OUT] = True


def _record_refusal(db: Session, staff: Staff | None, address: str) -> None:
    """An audit entry for a wrong password, at the property of the name that was tried."""
    whom, place = (f"staff:{staff.id}", staff.property_id) if staff else ("staff:?", None)
    audit.record(
        db,
        VISITOR,
        "sign_in",
        whom,
        "refused",
        services().clock(),
        address=address,
        property_id=place,
    )


def _record(db: Session, staff_id: int, property_id: int, what: str) -> None:
    audit.record(
        db,
        by_staff(staff_id),
        what,
        f"staff:{staff_id}",
        "ok",
        services().clock(),
        property_id=property_id,
    )


def note_throttled(what: str, subject: str, address: str) -> None:
    """Write an audit entry for a try that was refused without checking the password.

    Only a few are written each minute, so that no one can fill the database without a sign-in.
    """
    try:
        _count_note()
    except TooManyRequests:
        return
    s = services()
    with s.db.write() as db:
        audit.record(db, VISITOR, what, subject, "throttled", s.clock(), address=address)


@limiter.shared_limit("6/minute", scope="throttled tries", key_func=lambda: "all")
def _count_note() -> None:
    """Raises TooManyRequests from the seventh call in a minute on."""


def password_holds(staff: Staff | None, password: str) -> bool:
    """Whether the password is right. An unknown name takes as long as a known one."""
    with _verifying:
        holds = passwords.matches(staff.password_hash if staff else _dummy_hash(), password)
    return holds and staff is not None


@cache
def _dummy_hash() -> str:
    """A hash that no password matches, as costly as a real one."""
    return passwords.hashed(secrets.token_urlsafe(16))


def _wait(target: str, name: str, wait_s: float) -> tuple[str, int] | BaseResponse:
    seconds = max(1, round(wait_s))
    message = _("Too many tries. Wait %(n)d s, then try again.", n=seconds)
    answer = current_app.make_response((_form(target, name=name, error=message), 429))
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _form(target: str, *, name: str = "", error: str = "") -> str:
    prop, demo = _property(), _demo()
    return render_template(
        "auth/sign_in.html",
        target=target,
        name=name,
        error=error,
        demo=demo,
        staged=demo is not None and not error and target.startswith(STAGE),
        at=_door(),
        face=_face(prop),
        signed_out=request.args.get("out") == "1",
        password_set=request.args.get("set") == "1",
    )


def _door() -> str:
    """The part of the address that identifies the property of this sign-in page; "" without one."""
    door = request.values.get("at", "")
    return door if DOOR.fullmatch(door) else ""


def _property() -> Property | None:
    """The property of this sign-in page, whose default language the page uses."""
    try:
        with services().db.read() as db:
            prop = property_at(db, _door())
    except SQLAlchemyError:  # no tables or no database yet: the sign-in itself reports that
        return None
    if prop:
        speak(reader_language(Surface.DOOR, house=prop.language))
    return prop


def _face(prop: Property | None) -> Face | None:
    """The logo and colour of this sign-in page's property; None without them or a property."""
    face = face_of(prop) if prop else None
    return face if face and face.own else None


@bp.after_request
def vary(answer: Response) -> Response:
    """Add a Vary header: the words depend on the browser's languages; no user is known yet."""
    answer.vary.add("Accept-Language")
    return answer


def _demo() -> tuple[str, str] | None:
    """Name and password of the demo's user.

    None outside of demos, if they don't match, or if the database can't be read.
    """
    s = services()
    if not s.settings.demo:
        return None
    try:
        with s.db.read() as db:
            person = find_staff(db, DEMO_NAME)
    except SQLAlchemyError:  # no tables or no database yet: the sign-in itself reports that
        return None
    password = demo_secrets(s.settings.instance)["staff_password"]
    return (DEMO_NAME, password) if person and _opens(person.password_hash, password) else None


@lru_cache(maxsize=8)
def _opens(password_hash: str, password: str) -> bool:
    """Whether the demo's password is still valid; cached, because the check is slow by design."""
    return passwords.matches(password_hash, password)
