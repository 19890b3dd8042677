"""Sign in and out: sessions kept on the server, guessing slowed down, `next` kept on this site (security.md 2)."""

import re
import secrets
import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, cast
from urllib.parse import unquote, urlencode, urlsplit

from flask import Blueprint, Response, current_app, g, jsonify, redirect, render_template, request, session
from flask_login import UserMixin, current_user
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect
from werkzeug.security import check_password_hash, generate_password_hash
from werkzeug.wrappers import Request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.ext import login_manager, services
from ridedash.secrets_file import demo_secrets
from ridedash.store import audit
from ridedash.store.people import (
    Staff,
    close_sign_in,
    find_staff,
    open_sign_in,
    sign_in_allowed,
    sign_in_succeeded,
)
from ridedash.store.watching import SignInFacts, sign_in_facts
from ridedash.views.permissions import OPEN, SEE, needs
from ridedash.views.poll_memory import KNOWN
from ridedash.wording import gettext as _

bp = Blueprint("auth", __name__)

NEXT: Final = re.compile(r"/(?![/\\])[A-Za-z0-9_\-./~%?=&+]*")
FORM_PAGE: Final = re.compile(r"/rides/([0-9]+|new)")  # the page that has the forms posted below it
NAME_MAX: Final = 120
PASSWORD_MAX: Final = 128
DEMO_NAME: Final = "desk"  # as `ridedash up` seeds it
_verifying = threading.BoundedSemaphore(4)  # scrypt takes 16 MB each: four at once, the others wait

login_manager.session_protection = None  # our sessions live on the server; nothing of the browser's is trusted


@dataclass(frozen=True)
class SignedIn(UserMixin):  # type: ignore[misc] # flask_login ships no types
    """The member of staff behind a request; a copy of the row's facts, so that no session stays open."""

    id: int
    property_id: int
    name: str
    role: str


def current_staff() -> SignedIn:
    """Who is signed in; only behind a view that needs more than OPEN."""
    return cast(SignedIn, current_user)


@login_manager.request_loader  # type: ignore[untyped-decorator]
def load_staff(request: Request) -> SignedIn | None:
    """The signed cookie carries a sign-in's secret; the row decides whether it still holds.

    For polls both may have been seen to a moment ago (PollSessions).
    """
    known = request.environ.get(KNOWN)
    if known is None:
        sid = session.get("sid")
        if not isinstance(sid, str) or g.get("error_page"):  # the database may be what failed
            return None
        s = services()
        now = s.clock()
        with s.db.read() as db:
            known = sign_in_facts(db, sid, now)
        request.environ[KNOWN] = known
        if known and s.polls:
            s.polls.remember(request.environ.get("HTTP_COOKIE"), known, now)
    return SignedIn(known.staff_id, known.property_id, known.name, known.role) if known else None


def current_sign_in() -> SignInFacts:
    """The sign-in behind a request; only behind a view that needs more than OPEN."""
    return cast(SignInFacts, request.environ[KNOWN])


@login_manager.unauthorized_handler  # type: ignore[untyped-decorator]
def ask_to_sign_in() -> tuple[Response, int] | BaseResponse:
    """401 as JSON for scripts; for people the sign-in page, which brings them back."""
    wants_json = request.path.endswith(".json") or request.accept_mimetypes.best == "application/json"
    if wants_json:
        return jsonify(error="signed_out", message=_("You are signed out.")), 401
    return redirect(sign_in_address(), code=303)


def sign_in_address() -> str:
    """The sign-in page, which leads back to the page that was asked for, or from which a form came."""
    came_from = request.full_path.rstrip("?") if request.method == "GET" else form_page() or "/"
    query = urlencode({"next": came_from}) if came_from != "/" and safe_next(came_from) != "/" else ""
    return "/sign-in" + (f"?{query}" if query else "")


def form_page() -> str:
    """The page that has the form whose address is asked for; "" when that is no form's."""
    page = FORM_PAGE.match(request.path)
    return page.group() if page else ""


def safe_next(target: str | None) -> str:
    """`target` when it is a page of this site that can be opened, else "/" (security.md 3.7.2)."""
    if not target or len(target) > 500 or not NEXT.fullmatch(target):
        return "/"
    path = unquote(urlsplit(target).path)
    try:
        current_app.url_map.bind("localhost").match(path, method="GET")
    except (HTTPException, RequestRedirect):
        return "/"
    return target


@bp.get("/sign-in")
@needs(OPEN)
def sign_in() -> str | BaseResponse:
    """The form; whoever is signed in goes on at once."""
    target = safe_next(request.args.get("next"))
    if current_user.is_authenticated:
        return redirect(target, code=303)
    return _form(target)


@bp.post("/sign-in")
@needs(OPEN)
def sign_in_post() -> tuple[str, int] | BaseResponse:
    """Verify once, slowed down by name and address; at success a new sign-in with a new secret."""
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
            audit.record(db, "visitor", "sign_in", "staff:?", "throttled", s.clock(), address=address)
    if wait_s:
        return _wait(target, name, wait_s)
    if not password_holds(staff, password) or staff is None:
        with s.db.write() as db:
            _record_refusal(db, staff, address)
        return _form(target, name=name, error=_("That name and password don't go together.")), 401
    _start_session(staff, name, address)
    return redirect(target, code=303)


@bp.post("/sign-out")
@needs(SEE)
def sign_out() -> BaseResponse:
    """End the sign-in on the server; the browser forgets what it kept of us."""
    staff, sid = current_staff(), session.get("sid", "")
    s = services()
    with s.db.write() as db:
        close_sign_in(db, sid)
        _record(db, staff.id, staff.property_id, "sign_out")
    session.clear()
    answer = redirect("/sign-in?out=1", code=303)
    answer.headers["Clear-Site-Data"] = '"cache", "cookies", "storage"'
    return answer


def _start_session(staff: Staff, name: str, address: str) -> None:
    s = services()
    with s.db.write() as db:
        sign_in_succeeded(db, name, address)
        sid = open_sign_in(db, staff.id, s.clock())
        _record(db, staff.id, staff.property_id, "sign_in")
    begin(sid)


def begin(sid: str) -> None:
    """This browser goes on with another sign-in; nothing from before it stays, its CSRF token included."""
    session.clear()
    session["sid"] = sid


def _record_refusal(db: Session, staff: Staff | None, address: str) -> None:
    """A wrong password, in the record of the property of whoever it was tried for."""
    whom, place = (f"staff:{staff.id}", staff.property_id) if staff else ("staff:?", None)
    audit.record(db, "visitor", "sign_in", whom, "refused", services().clock(), address=address, property_id=place)


def _record(db: Session, staff_id: int, property_id: int, what: str) -> None:
    audit.record(
        db, f"staff:{staff_id}", what, f"staff:{staff_id}", "ok", services().clock(), property_id=property_id
    )  # fmt: skip


def password_holds(staff: Staff | None, password: str) -> bool:
    """One verification for a known and for an unknown name alike."""
    with _verifying:
        held = check_password_hash(staff.password_hash if staff else _dummy_hash(), password)
    return held and staff is not None


@cache
def _dummy_hash() -> str:
    """A hash that no password opens, as costly as a real one."""
    return generate_password_hash(secrets.token_urlsafe(16))


def _wait(target: str, name: str, wait_s: float) -> tuple[str, int] | BaseResponse:
    seconds = max(1, round(wait_s))
    message = _("Too many tries. Wait %(n)d s, then try again.", n=seconds)
    answer = current_app.make_response((_form(target, name=name, error=message), 429))
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _form(target: str, *, name: str = "", error: str = "") -> str:
    return render_template(
        "auth/sign_in.html",
        target=target,
        name=name,
        error=error,
        demo=_demo(),
        signed_out=request.args.get("out") == "1",
        password_set=request.args.get("set") == "1",
    )


def _demo() -> tuple[str, str] | None:
    """Name and password of a demo's own person; none where it would open nothing, or the database can't be read."""
    s = services()
    if not s.settings.demo:
        return None
    try:
        with s.db.read() as db:
            person = find_staff(db, DEMO_NAME)
    except SQLAlchemyError:  # without tables yet, or away: whoever signs in is told
        return None
    password = demo_secrets(s.settings.instance)["staff_password"]
    return (DEMO_NAME, password) if person and _opens(person.password_hash, password) else None


@lru_cache(maxsize=8)
def _opens(password_hash: str, password: str) -> bool:
    """Kept, because finding out is slow on purpose."""
    return check_password_hash(password_hash, password)
