"""Sign-in and sign-out: sessions on the server, throttled guesses, a checked `next`.

See docs/security.md 2.
"""

import re
from functools import lru_cache
from typing import Final

from flask import (
    Blueprint,
    Response,
    current_app,
    jsonify,
    redirect,
    render_template,
    request,
    session,
)
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
from ridedash.store.sign_in_tries import (
    sign_in_allowed,
    sign_in_failed,
    sign_in_succeeded,
    sign_in_wait,
)
from ridedash.store.sign_ins import SignInFacts, close_sign_in, open_sign_in, sign_in_facts
from ridedash.views.auth import known_browsers, staying
from ridedash.views.auth.verifying import PLACE_WAIT_S, fresh_hash, password_holds, place
from ridedash.views.web import devices, errors, kept_forms
from ridedash.views.web.current_user import (
    current_staff,
    page_address,
    safe_next,
    sign_in_address,
)
from ridedash.views.web.face import Face, face_of
from ridedash.views.web.permissions import OPEN, SEE, needs
from ridedash.views.web.responses import wants_json
from ridedash.wording import gettext as _
from ridedash.wording.readers import Surface
from ridedash.wording.say import speak

bp = Blueprint("auth", __name__)
Answer = str | tuple[str | Response, int] | BaseResponse
NAME_MAX: Final = 120
DOOR: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
STAGE: Final = "/demo/stage"  # for this target the page of a demo fills in name and password
DEMO_NAME: Final = "desk"  # the sign-in name that `ridedash up` creates
# sign-ins are stored on the server, so Flask-Login need not bind sessions to the browser
login_manager.session_protection = None


@login_manager.unauthorized_handler  # type: ignore[untyped-decorator]
def ask_to_sign_in() -> Answer:
    """401 as JSON for scripts; for people a redirect to the sign-in page, which then leads back.

    A person who sent a booking form gets the sign-in page at once, with what was typed in it.
    """
    if wants_json():
        return jsonify(error="signed_out", message=_("You are signed out.")), 401
    kept = kept_forms.sealed()
    if not kept:
        return redirect(sign_in_address(), code=303)
    answer = current_app.make_response((_form(safe_next(page_address()), kept=kept), 401))
    return vary(answer)


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
def sign_in_post() -> Answer:
    """Check name and password once, throttled (ASVS 6.3.1); then open a new sign-in.

    A script gets JSON: `staying.Presence` with a CSRF token, or the `message` of a refusal.
    """
    target = safe_next(request.form.get("next"))
    name = request.form.get("name", "").strip()[:NAME_MAX]
    password = request.form.get("password", "")
    if not name or not password or len(password) > passwords.LONGEST_TYPED:
        return _refused(target, name, _("Type your name and your password."), 400)
    s = services()
    address = request.remote_addr or ""
    with s.db.read() as db:
        staff = find_staff(db, name)
        browser = known_browsers.key_for(staff)
        wait_s = sign_in_wait(db, name, address, s.clock(), browser)
    if wait_s:
        note_throttled("sign_in", "staff:?", address)
        return _wait(target, name, wait_s)
    with place(known=bool(browser)) as is_free:
        if not is_free:
            return _wait(target, name, PLACE_WAIT_S)
        with s.db.write() as db:
            wait_s = sign_in_allowed(db, name, address, s.clock(), browser)
        holds = not wait_s and password_holds(staff, password)
        fresh = fresh_hash(staff, password) if holds else ""
    if wait_s:
        return _wait(target, name, wait_s)
    if not holds or staff is None:
        _record_refusal(staff, name, address, browser)
        return _refused(target, name, _("That name and password don't go together."), 401)
    known = _start_session(staff, name, browser, fresh)
    answer = _signed_in(known, target)
    known_browsers.remember(answer, staff.id, staff.browsers)
    return answer


def _signed_in(known: SignInFacts, target: str) -> BaseResponse:
    """The answer to a right password: the state as JSON, a form that was kept, or a redirect."""
    if wants_json():
        return staying.answer(staying.presence_of(known))
    text = request.form.get("kept", "")
    if fields := kept_forms.opened(text, known.staff_id, known.property_id):
        return current_app.make_response(render_template("auth/kept.html", fields=fields))
    return redirect(target, code=303)


@bp.errorhandler(CSRFError)
def on_csrf(error: CSRFError) -> Answer | errors.Answer:
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
        if current_user.is_authenticated and "csrf_token" in request.form and not wants_json():
            return redirect(target, code=303)
    except (DatabaseBusy, SQLAlchemyError) as away:
        return errors.on_database(away)
    name = request.form.get("name", "").strip()[:NAME_MAX]
    return _refused(
        target, name, _("This page was no longer valid. Type your password again."), 400
    )


@bp.post("/sign-out")
@needs(SEE)
def sign_out() -> BaseResponse:
    """End the sign-in on the server."""
    staff = current_staff()
    sid = session.get("sid", "")
    s = services()
    with s.db.write() as db:
        close_sign_in(db, sid)
        _record(db, staff.id, staff.property_id, "sign_out")
        door = db.get_one(Property, staff.property_id).door
    if door:
        return ended(f"/sign-in?out=1&at={door}")
    return ended("/sign-in?out=1")


def ended(address: str) -> BaseResponse:
    """Redirect a browser whose sign-in has just ended to this address.

    The browser clears its storage. Its cookies stay but for the session's: it may be a paired
    device, and it stays a known browser. A cache is not cleared: every page says `no-store`, and
    some browsers take many seconds for it. A kiosk in the frame of a demo's stage is un-paired.
    """
    of_stage = devices.is_of_stage()
    session.clear()
    answer = current_app.make_response(redirect(address, code=303))
    answer.headers["Clear-Site-Data"] = '"storage"'
    if of_stage:
        devices.take(answer, KioskKind.KIOSK)
    return answer


def _start_session(staff: Staff, name: str, browser: str, fresh: str) -> SignInFacts:
    """Sign in, and store the password's hash anew if `fresh` is one.

    A sign-in that this browser still has ends. Returns the facts of the new one.
    """
    s = services()
    with s.db.write() as db:
        sign_in_succeeded(db, name, request.remote_addr or "", browser)
        close_sign_in(db, session.get("sid", ""))
        sid = open_sign_in(db, staff.id, s.clock())
        known = sign_in_facts(db, sid, s.clock())
        row = db.get_one(Staff, staff.id)
        if fresh and row.password_hash == staff.password_hash:
            row.password_hash = fresh
        _record(db, staff.id, staff.property_id, "sign_in")
    begin(sid)
    assert known is not None, "it has just been opened"
    return known


def begin(sid: str) -> None:
    """Give this browser a new session for a sign-in; the old session's CSRF token ends too."""
    of_stage = devices.is_of_stage()
    session.clear()
    session["sid"] = sid
    if of_stage:
        session[devices.ENDS_AT_SIGN_OUT] = True


def _record_refusal(staff: Staff | None, name: str, address: str, browser: str) -> None:
    """Count a wrong password and write its audit entry, at the property of the name."""
    if staff is None and not may_note():
        return
    s = services()
    whom = "staff:?"
    home = None
    if staff:
        whom = f"staff:{staff.id}"
        home = staff.property_id
    with s.db.write() as db:
        now = s.clock()
        facts = {"address": address, "property_id": home}
        sign_in_failed(db, name, now, browser)
        audit.record(db, VISITOR, "sign_in", whom, "refused", now, **facts)


def may_note() -> bool:
    """Whether a wrong try for no one in particular gets an audit entry; the try counts either way.

    Of such tries only some are written, so that no one without a sign-in fills the database.
    """
    try:
        _count_nameless()
    except TooManyRequests:
        return False
    return True


@limiter.shared_limit("60/10 minutes", scope="nameless tries", key_func=lambda: "all")
def _count_nameless() -> None:
    """Raises TooManyRequests from the 61st call in ten minutes on."""


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


def _wait(target: str, name: str, wait_s: float) -> BaseResponse:
    seconds = max(1, round(wait_s))
    message = _("Too many tries. Wait %(n)d s, then try again.", n=seconds)
    answer = current_app.make_response(_refused(target, name, message, 429))
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _refused(target: str, name: str, error: str, status: int) -> tuple[str | Response, int]:
    """The form again with what is wrong, and with the form that it keeps; JSON for a script."""
    if wants_json():
        return jsonify(message=error), status
    kept = request.form.get("kept", "")[: kept_forms.LONGEST_SEALED]
    return _form(target, name=name, error=error, kept=kept), status


def _form(target: str, *, name: str = "", error: str = "", kept: str = "") -> str:
    prop = _property()
    demo = _demo()
    return render_template(
        "auth/sign_in.html",
        target=target,
        name=name,
        error=error,
        kept=kept,
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
    if not DOOR.fullmatch(door):
        return ""
    return door


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
    if prop is None:
        return None
    face = face_of(prop)
    return face if face.own else None


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
    if person is None or not _opens(person.password_hash, password):
        return None
    return DEMO_NAME, password


@lru_cache(maxsize=8)
def _opens(password_hash: str, password: str) -> bool:
    """Whether the demo's password is still valid; cached, because the check is slow by design."""
    return passwords.matches(password_hash, password)
