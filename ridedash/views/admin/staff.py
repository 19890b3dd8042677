"""Staff of a property: their names and roles, and the links with which they get access."""

from typing import Final

from flask import Blueprint, abort, redirect, render_template, request
from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.store.invitations import (
    invitation_of,
    invite,
    invite_to_new_password,
    open_invitations,
)
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import sign_ins_of, staff_member, staff_of
from ridedash.store.sign_ins import close_all_sign_ins
from ridedash.store.staff_names import cleaned, wrong_with
from ridedash.views.admin.property import Answer, message_for, record
from ridedash.views.auth.invitations import name_error
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_time, zone
from ridedash.views.web.permissions import (
    MANAGE,
    ROLES,
    may_invite,
    may_reset_password,
    needs,
    outranks,
)
from ridedash.views.web.responses import forward_form, locale
from ridedash.wording import gettext as _

bp = Blueprint("admin_staff", __name__, url_prefix="/admin")

# the forms that posted to /admin/staff/<id> in earlier releases, by their field `what`
FORWARDED: Final = {
    "role": "admin_staff.change_role",
    "disable": "admin_staff.disable",
    "enable": "admin_staff.enable",
    "sign_out": "admin_staff.sign_out",
    "password": "admin_staff.make_password_link",
}


@bp.get("/staff")
@needs(MANAGE)
def show() -> str:
    """Show all staff, and the open invitations."""
    return _page()


@bp.post("/staff")
@needs(MANAGE)
def invite_somebody() -> Answer:
    """Make a link for a new member of staff and show it once: only its hash is stored."""
    typed = request.form.get("name", "")
    role = request.form.get("role", "")
    if not may_invite(current_staff().role, role):
        abort(400)
    name = cleaned(typed)
    with services().db.read() as s:
        bad = wrong_with(s, current_staff().property_id, name)
    if bad is not None:
        return _page(wrong={"name": name_error(bad)}, typed=typed), 422
    with services().db.write() as s:
        row, secret = invite(
            s, current_staff().property_id, role, name, current_staff().id, services().clock()
        )
        record(s, "invitation.made", f"invitations:{row.id}", role=role)
    return _page(link=_link(secret), link_for=name)


@bp.post("/staff/<int:staff_id>/role")
@needs(MANAGE)
def change_role(staff_id: int) -> Answer:
    """Change a person's role, which ends their sign-ins."""
    role = request.form.get("role", "")
    with services().db.write() as s:
        staff = _changeable(s, staff_id)
        if role not in ROLES or not outranks(current_staff().role, role):
            abort(400)
        if staff.role != role:
            record(s, "staff.role", f"staff:{staff.id}", was=staff.role, role=role)
            staff.role = role
    return redirect("/admin/staff?said=saved", code=303)


@bp.post("/staff/<int:staff_id>/disable")
@needs(MANAGE)
def disable(staff_id: int) -> Answer:
    """Disable a person, who can't sign in any more; this ends their sign-ins."""
    with services().db.write() as s:
        staff = _changeable(s, staff_id)
        staff.disabled_at = services().clock()
        record(s, "staff.disabled", f"staff:{staff.id}")
    return redirect("/admin/staff?said=saved", code=303)


@bp.post("/staff/<int:staff_id>/enable")
@needs(MANAGE)
def enable(staff_id: int) -> Answer:
    """Enable a person again."""
    with services().db.write() as s:
        staff = _changeable(s, staff_id)
        staff.disabled_at = None
        record(s, "staff.enabled", f"staff:{staff.id}")
    return redirect("/admin/staff?said=saved", code=303)


@bp.post("/staff/<int:staff_id>/sign-out")
@needs(MANAGE)
def sign_out(staff_id: int) -> Answer:
    """End all sign-ins of a person, in all processes."""
    with services().db.write() as s:
        staff = _changeable(s, staff_id)
        close_all_sign_ins(s, staff.id)
        record(s, "staff.signed_out", f"staff:{staff.id}")
    return redirect("/admin/staff?said=saved", code=303)


@bp.post("/staff/<int:staff_id>/password-link")
@needs(MANAGE)
def make_password_link(staff_id: int) -> Answer:
    """Make a link with which a person sets a new password. It is shown once."""
    me = current_staff()
    now = services().clock()
    with services().db.write() as s:
        staff = _changeable(s, staff_id)
        if not may_reset_password(me.role, staff.role):
            abort(403)
        if staff.disabled_at is not None:
            abort(409)
        name = staff.name
        row, secret = invite_to_new_password(s, staff, me.id, now)
        record(s, "invitation.made", f"invitations:{row.id}", staff=staff.id)
    return _page(link=_link(secret), link_for=name, link_resets=True)


@bp.post("/staff/<int:staff_id>")
@needs(MANAGE)
def forward_change(staff_id: int) -> Answer:
    """The former address of five forms: forwards each of them to its own route."""
    with services().db.read() as s:
        _changeable(s, staff_id)
    endpoint = FORWARDED.get(request.form.get("what", "")) or abort(400)
    return forward_form(endpoint, staff_id=staff_id)


@bp.post("/invitations/<int:invitation_id>/withdraw")
@needs(MANAGE)
def withdraw(invitation_id: int) -> Answer:
    """Withdraw an invitation."""
    now = services().clock()
    with services().db.write() as s:
        row = invitation_of(s, current_staff().property_id, invitation_id) or abort(404)
        if row.used_at is None and row.expires_at > now:
            row.expires_at = now
            record(s, "invitation.withdrawn", f"invitations:{row.id}")
    return redirect("/admin/staff?said=withdrawn", code=303)


def _changeable(s: Session, staff_id: int) -> Staff:
    """Another member of the property's staff with no higher role than the user; else 404 or 403."""
    staff = staff_member(s, current_staff().property_id, staff_id)
    if staff is None:
        abort(404)
    if staff.id == current_staff().id or not outranks(current_staff().role, staff.role):
        abort(403)
    return staff


def _link(secret: str) -> str:
    return f"{services().settings.public_url}/invite/{secret}"


def _page(
    link: str = "",
    link_for: str = "",
    *,
    link_resets: bool = False,
    wrong: dict[str, str] | None = None,
    typed: str = "",
) -> str:
    me = current_staff()
    now = services().clock()
    with services().db.read() as s:
        tz = zone(s.get_one(Property, me.property_id).timezone)
        people = staff_of(s, me.property_id)
        counts = sign_ins_of(s, [each.id for each in people], now)
        invited = open_invitations(s, me.property_id, now)
    known = {"saved": _("Saved."), "withdrawn": _("That link works no more.")}
    until = {row.id: day_time(row.expires_at, now, tz, locale()) for row in invited}
    return render_template(
        "admin/staff.html",
        people=people,
        counts=counts,
        invited=invited,
        until=until,
        roles=role_names(),
        me=me,
        outranks=outranks,
        may_reset_password=may_reset_password,
        link=link,
        link_for=link_for,
        link_resets=link_resets,
        wrong=wrong or {},
        typed=typed,
        message=message_for(known, wrong or link),
        tab="staff",
    )


def role_names() -> dict[str, str]:
    """The names of the roles."""
    return {"concierge": _("Concierge"), "manager": _("Manager"), "admin": _("Admin")}
