"""Invitation links: a new member of staff chooses name and password; a known one, a new password.

Each link works once.
"""

from datetime import datetime

from flask import Blueprint, Response, abort, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, reader_language, services
from ridedash.store import audit, passwords
from ridedash.store.actors import by_staff
from ridedash.store.encryption import secret_hash
from ridedash.store.invitations import open_invitation
from ridedash.store.models.desk import Invitation
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import add_staff, is_taken
from ridedash.store.sign_ins import close_all_sign_ins
from ridedash.store.staff_names import BadName, Why, cleaned, wrong_with
from ridedash.views.auth import known_browsers
from ridedash.views.web.face import face_of
from ridedash.views.web.permissions import (
    ADMIN,
    OPEN,
    ROLES,
    may_invite,
    may_reset_password,
    needs,
)
from ridedash.wording import gettext as _
from ridedash.wording.readers import Surface
from ridedash.wording.say import speak

bp = Blueprint("invitations", __name__)

Answer = str | tuple[str, int] | BaseResponse


@bp.after_request
def vary(answer: Response) -> Response:
    """Add a Vary header: the words depend on the browser's languages, then on the property."""
    answer.vary.add("Accept-Language")
    return answer


@bp.get("/invite/<token>")
@needs(OPEN)
def show(token: str) -> str:
    """Show the form. An unknown, used or expired link answers 404 in each case."""
    with services().db.read() as s:
        return _page(s, _open(s, token))


@bp.post("/invite/<token>")
@needs(OPEN)
def accept(token: str) -> Answer:
    """Use the link: store the password, and end the sign-ins made with an earlier password."""
    name = cleaned(request.form.get("name", ""))
    password = request.form.get("password", "")
    with services().db.read() as s:
        row = _open(s, token)
        wrong = _wrong(s, row, name, password)
        if wrong:
            return _page(s, row, name, wrong), 422
    hashed = passwords.hashed(password)  # before the transaction, because it is slow
    with services().db.write() as s:
        row = _open(s, token, hold=True)
        if row.staff_id is None and is_taken(s, name):
            return redirect(f"/invite/{token}", code=303)
        staff = _use(s, row, name, hashed, services().clock())
    answer = redirect("/sign-in?set=1", code=303)
    known_browsers.remember(answer, staff.id, staff.browsers)
    return answer


def _open(s: Session, token: str, *, hold: bool = False) -> Invitation:
    row = None
    if len(token) <= 100:
        row = open_invitation(s, token, services().clock(), hold=hold)
    if row is None or not _maker_still_may(s, row):
        _count_unknown()
        abort(404)
    if not hold:
        _count_known()
    language = s.get_one(Property, row.property_id).language
    speak(reader_language(Surface.DOOR, house=language))
    return row


@limiter.shared_limit("60/minute", scope="unknown invitations")
def _count_unknown() -> None:
    """Raise TooManyRequests when an address sends many unknown links; those that hold stay open."""


@limiter.shared_limit("60/minute", scope="invitations", key_func=lambda: _link_key())
def _count_known() -> None:
    """Raise TooManyRequests when one link is asked for too often: answers may hash a password."""


def _link_key() -> str:
    """The key of a link's limit, which no one can use up who does not have the link."""
    return secret_hash(str((request.view_args or {}).get("token", "")))[:32]


def _maker_still_may(s: Session, row: Invitation) -> bool:
    """Whether the maker of a link could make it now; the command line always can.

    A person's links end when they lose the right to make them, but a request of theirs that is
    under way at that moment may still make one.
    """
    if row.made_by is None:
        return True
    maker = s.get_one(Staff, row.made_by)
    anywhere = ADMIN in ROLES.get(maker.role, frozenset())
    if maker.disabled_at is not None or not (anywhere or maker.property_id == row.property_id):
        return False
    if row.staff_id is None:
        return may_invite(maker.role, row.role)
    staff = s.get_one(Staff, row.staff_id)
    at_home = staff.property_id == row.property_id
    return at_home and may_reset_password(maker.role, staff.role)


def _use(s: Session, row: Invitation, name: str, hashed: str, now: datetime) -> Staff:
    row.used_at = now
    if row.staff_id is None:
        what = "staff.joined"
        staff = add_staff(s, row.property_id, name, hashed, row.role, now)
    else:
        what = "password.set"
        staff = s.get_one(Staff, row.staff_id)
        staff.password_hash = hashed
        close_all_sign_ins(s, staff.id)
    who = by_staff(staff.id)
    facts = {"invitation": row.id, "invited_by": row.made_by}
    audit.record(s, who, what, str(who), "ok", now, property_id=row.property_id, **facts)
    return staff


def _wrong(s: Session, row: Invitation, name: str, password: str) -> dict[str, str]:
    """The fields that must be typed again, each with its error message."""
    found = {}
    if row.staff_id is None and (bad := wrong_with(s, row.property_id, name)):
        found["name"] = name_error(bad)
    weak = password_error(password, s.get_one(Property, row.property_id).name, name or row.name)
    if weak:
        found["password"] = weak
    elif not passwords.are_same(password, request.form.get("repeated", "")):
        found["repeated"] = _("The two passwords differ. Type the same one twice.")
    return found


def name_error(bad: BadName) -> str:
    """The message why a name can't be used."""
    return {
        Why.EMPTY: _("Type the name to sign in with, in letters or digits."),
        Why.MIXED: _("One word of this name has letters of several alphabets. Type it in one."),
        Why.TAKEN: _("Somebody signs in with this name already. Choose another."),
        Why.ALIKE: _("This name looks like that of %(name)s. Choose another.", name=bad.colleague),
    }[bad.why]


def password_error(password: str, *names: str) -> str:
    """The message why a password can't be used; "" when it can."""
    return {
        "short": _(
            "Use 12 characters or more. Four words that don't belong together make a good one."
        ),
        "long": _("Use no more than 128 characters."),
        "common": _(
            "A guessing program finds this one quickly. Four words that don't belong together "
            "make a good one."
        ),
    }.get(passwords.weakness(password, names) or "", "")


def _page(
    s: Session, row: Invitation, name: str | None = None, wrong: dict[str, str] | None = None
) -> str:
    staff = None
    if row.staff_id is not None:
        staff = s.get(Staff, row.staff_id)
    if staff is not None:
        name = staff.sign_in_name
    elif name is None:
        name = row.name
    return render_template(
        "auth/invite.html",
        face=face_of(s.get_one(Property, row.property_id)),
        name=name,
        known=staff is not None,
        wrong=wrong or {},
    )
