"""All properties, for admins: add one, and choose the one that every page shows."""

from flask import Blueprint, abort, redirect, render_template, request, session
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Property
from ridedash.store.properties import add_property, find_property, properties
from ridedash.store.sign_ins import close_sign_in, open_sign_in
from ridedash.text import one_line
from ridedash.views.admin.property import NAME_MAX, Answer, check, choices, message_for
from ridedash.views.auth.sign_in import begin
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.permissions import ADMIN, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin_properties", __name__, url_prefix="/admin/properties")


@bp.get("")
@needs(ADMIN)
def show() -> str:
    """Show the list, and the form for a new property."""
    return _page({}, {})


@bp.post("")
@needs(ADMIN)
def create() -> Answer:
    """Add a property; its other values are set on the pages of its settings."""
    typed = {"name": one_line(request.form.get("name", ""), NAME_MAX)}
    typed |= {name: request.form.get(name, "")[:64] for name in ("timezone", "currency", "country")}
    wrong, valid = check(typed)
    with services().db.write() as s:
        if not wrong and find_property(s, typed["name"]) is not None:
            wrong["name"] = _("There is one of this name already.")
        if not wrong:
            place = {name: valid[name] for name in ("currency", "country")}
            prop = add_property(s, typed["name"], typed["timezone"], services().clock(), **place)
            _record(s, "property.made", prop.id)
    if wrong:
        return _page(typed, wrong), 422
    return redirect("/admin/properties?said=made", code=303)


@bp.post("/<int:property_id>/open")
@needs(ADMIN)
def look_at(property_id: int) -> BaseResponse:
    """Open another property, by a new sign-in that ends when the present one would."""
    seen = current_sign_in()
    with services().db.write() as s:
        if s.get(Property, property_id) is None:
            abort(404)
        close_sign_in(s, session.get("sid", ""))
        sid = open_sign_in(
            s, seen.staff_id, services().clock(), property_id=property_id, instead_of=seen
        )
        _record(s, "property.looked_at", property_id)
    begin(sid)
    return redirect("/", code=303)


def _record(s: Session, what: str, property_id: int) -> None:
    """Write an audit entry to the log of the property that it is about."""
    who = by_staff(current_staff().id)
    now = services().clock()
    audit.record(s, who, what, f"properties:{property_id}", "ok", now, property_id=property_id)


def _page(typed: dict[str, str], wrong: dict[str, str]) -> str:
    with services().db.read() as s:
        listed = properties(s)
    return render_template(
        "admin/properties.html",
        listed=listed,
        here=current_staff().property_id,
        typed=typed,
        wrong=wrong,
        message=message_for({"made": _("The property is there.")}, wrong),
        tab="properties",
        **choices(typed),
    )
