"""A user's own settings: password, the end of all sign-ins, shortcuts, sound, language."""

from flask import Blueprint, redirect, render_template, request, session
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import reader_language, services, staff_languages
from ridedash.store import audit, passwords
from ridedash.store.actors import by_staff
from ridedash.store.invitations import end_password_links
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import sign_ins_of
from ridedash.store.sign_in_tries import sign_in_allowed, sign_in_failed, sign_in_succeeded
from ridedash.store.sign_ins import close_all_sign_ins, close_sign_in, open_sign_in
from ridedash.views.auth import known_browsers
from ridedash.views.auth.invitations import password_error
from ridedash.views.auth.sign_in import begin, ended
from ridedash.views.auth.verifying import password_holds, place
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.permissions import SEE, needs
from ridedash.wording import gettext as _
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.readers import Surface

bp = Blueprint("me", __name__, url_prefix="/me")

Answer = str | tuple[str, int] | BaseResponse


@bp.get("")
@needs(SEE)
def show() -> str:
    """The page of the user's own settings."""
    return _page({})


@bp.post("/password")
@needs(SEE)
def change_password() -> Answer:
    """Change the password of a user who knows the present one; other browsers are signed out.

    Wrong guesses are throttled as those of a known browser: this one is signed in.
    """
    s = services()
    me = current_staff()
    browser = f"signed-in:{current_sign_in().sign_in}"
    address = request.remote_addr or ""
    new_password = request.form.get("password", "")
    with s.db.write() as db:
        staff = db.get_one(Staff, me.id)
        property_name = db.get_one(Property, staff.property_id).name
        wait_s = sign_in_allowed(db, staff.sign_in_name, address, s.clock(), browser)
    if wait_s:
        return _page(
            {"current": _("Too many tries. Wait %(n)d s, then try again.", n=max(1, round(wait_s)))}
        ), 429
    with place(known=True):
        holds = password_holds(staff, request.form.get("current", "")[: passwords.LONGEST_TYPED])
    if not holds:
        with s.db.write() as db:
            sign_in_failed(db, staff.sign_in_name, s.clock(), browser)
            _record(db, "password.changed", "refused")
        return _page({"current": _("That is not your present password.")}), 422
    weak = password_error(new_password, property_name, staff.name, staff.sign_in_name)
    if weak or not passwords.are_same(new_password, request.form.get("repeated", "")):
        with s.db.write() as db:
            # the present password was right, so this try does not count as a guess
            sign_in_succeeded(db, staff.sign_in_name, address, browser)
        if weak:
            return _page({"password": weak}), 422
        differ = _("The two passwords differ. Type the same one twice.")
        return _page({"repeated": differ}), 422
    answer = redirect("/me?said=password", code=303)
    _store_password(answer, staff, new_password)
    return answer


def _store_password(answer: BaseResponse, staff: Staff, new_password: str) -> None:
    """Store the password; end all sign-ins, and the links for setting another password.

    This browser gets a new sign-in that ends when the old one would have, and stays known.
    """
    s = services()
    before = current_sign_in()
    hashed = passwords.hashed(new_password)
    with s.db.write() as db:
        db.get_one(Staff, staff.id).password_hash = hashed
        close_all_sign_ins(db, staff.id)
        end_password_links(db, staff.id, s.clock())
        sid = open_sign_in(
            db, staff.id, s.clock(), property_id=before.property_id, instead_of=before
        )
        _record(db, "password.changed", "ok")
        browsers = db.get_one(Staff, staff.id, populate_existing=True).browsers
    begin(sid)
    known_browsers.remember(answer, staff.id, browsers)


@bp.post("/sign-outs")
@needs(SEE)
def sign_out_everywhere() -> BaseResponse:
    """End every sign-in of the user, this one too."""
    with services().db.write() as db:
        close_sign_in(db, session.get("sid", ""))
        close_all_sign_ins(db, current_staff().id)
        _record(db, "sign_out.everywhere", "ok")
    return ended("/sign-in?out=1")


@bp.post("/preferences")
@needs(SEE)
def prefer() -> BaseResponse:
    """Store the user's preferences for single-key shortcuts and the sound."""
    with services().db.write() as db:
        staff = db.get_one(Staff, current_staff().id)
        staff.shortcuts = "shortcuts" in request.form
        staff.sound = "sound" in request.form
    return redirect("/me?said=preferences", code=303)


@bp.post("/language")
@needs(SEE)
def choose_language() -> Answer:
    """Store the language of the user's own pages; an empty choice means the property's default."""
    code = request.form.get("language", "")
    if code not in ("", *(row.code for row in staff_languages())):
        return _page({"language": _("Choose a language from the list.")}), 422
    with services().db.write() as db:
        db.get_one(Staff, current_staff().id).language = code or None
    return redirect("/me?said=preferences", code=303)


def _record(db: Session, what: str, result: str) -> None:
    me = current_staff()
    audit.record(
        db,
        by_staff(me.id),
        what,
        f"staff:{me.id}",
        result,
        services().clock(),
        property_id=me.property_id,
    )


def _page(wrong: dict[str, str]) -> str:
    s = services()
    messages = {
        "password": _("Your password is changed. Other browsers are signed out."),
        "preferences": _("Saved."),
    }
    message = messages.get(request.args.get("said", ""), "") if not wrong else ""
    with s.db.read() as db:
        staff = db.get_one(Staff, current_staff().id)
        property_language = db.get_one(Property, current_staff().property_id).language
        count = sign_ins_of(db, [staff.id], s.clock()).get(staff.id, 0)
    return render_template(
        "auth/profile.html",
        me=staff,
        count=count,
        wrong=wrong,
        message=message,
        tab="me",
        languages=staff_languages(),
        usual=LANGUAGES[reader_language(Surface.STAFF, house=property_language)],
    )
