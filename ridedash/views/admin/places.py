"""Favourite places, numbered 1 to 9 for pickups and 1 to 9 for drops, and cost centres."""

from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, session
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.inputs import whole_number
from ridedash.store.models.desk import CostCentre
from ridedash.store.properties import (
    cost_centre_of,
    cost_centres_of,
    favourites_of,
    move_favourite,
    set_favourite,
)
from ridedash.text import normalised, one_line
from ridedash.views.admin.property import (
    Answer,
    TypedPlace,
    UnknownPlace,
    message_for,
    read_place,
    record,
)
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin_places", __name__, url_prefix="/admin")

KINDS: Final = ("pickup", "drop")
SLOTS: Final = range(1, 10)
CENTRE_MAX: Final = 80
PLACE_NAME_MAX: Final = 200
# key in the session: the place that was removed last, so that this can be undone
TAKEN_OFF: Final = "taken_off"


@bp.get("/places")
@needs(MANAGE)
def show() -> str:
    """Show both lists, and the cost centres."""
    return _page()


@bp.post("/places")
@needs(MANAGE)
def save() -> Answer:
    """Add a favourite place, or change the one with a number: its name, its place in the list.

    Without a number, a new place gets the first free number. A place that already has the number is
    only replaced with `replace`.
    """
    kind = request.form.get("kind", "")
    number = request.form.get("slot", "")
    if kind not in KINDS or number not in ("", *map(str, SLOTS)):
        abort(400)
    if what := request.form.get("what"):
        return _change(kind, int(number or 0), what)
    try:
        place = read_place(request.form, "place", services().geocoder)
    except UnknownPlace as error:
        typed = TypedPlace.typed(request.form, "place")
        return _page(_typed(typed) | {"place": str(error)}), 422
    property_id = current_staff().property_id
    with services().db.write() as s:
        taken = {
            slot: row.name
            for (of, slot), row in favourites_of(s, property_id).items()
            if of == kind
        }
        slot = whole_number(number) or next((n for n in SLOTS if n not in taken), None)
        if slot is not None and (slot not in taken or "replace" in request.form):
            point = LatLng(place.lat or 0.0, place.lng or 0.0)
            set_favourite(s, property_id, kind, slot, place.name, point)
            record(s, "place.set", f"properties:{property_id}", kind=kind, slot=slot)
            session.pop(TAKEN_OFF, None)
            return redirect("/admin/places?said=saved", code=303)
    if slot is None:
        why = _("All nine numbers are taken. Choose the one whose place makes room.")
    else:
        why = _(
            "%(n)d is %(place)s. Choose another number, or replace it.", n=slot, place=taken[slot]
        )
    return _page(_typed(place) | {"slot_taken": why}), 422


def _change(kind: str, slot: int, what: str) -> Answer:
    if what == "remove":
        return _remove(kind, slot)
    if what == "rename":
        return _rename(kind, slot)
    if what not in ("up", "down"):
        abort(400)
    return _move(kind, slot, what)


def _rename(kind: str, slot: int) -> Answer:
    property_id = current_staff().property_id
    name = one_line(request.form.get("place_name", ""), PLACE_NAME_MAX)
    if not name:
        return _page({"renamed": f"{kind}-{slot}", "why": _("Type a name.")}), 422
    with services().db.write() as s:
        if not _is_named(s, property_id, kind, slot, name):
            why = _("There is one of this name already.")
            return _page({"renamed": f"{kind}-{slot}", "why": why}), 422
    return redirect(f"/admin/places?said=saved#{kind}-{slot}", code=303)


def _is_named(s: Session, property_id: int, kind: str, slot: int, name: str) -> bool:
    """Name a place; False if another one of its list has the name: the form shows it once."""
    rows = favourites_of(s, property_id)
    row = rows.get((kind, slot)) or abort(404)
    if row.name == name:
        return True
    others = (each for (of, number), each in rows.items() if of == kind and number != slot)
    if any(normalised(each.name) == normalised(name) for each in others):
        return False
    row.name = name
    record(s, "place.renamed", f"properties:{property_id}", kind=kind, slot=slot)
    return True


def _move(kind: str, slot: int, way: str) -> Answer:
    """Exchange a place with its neighbour; the button that was pressed keeps the focus.

    A name that was typed in the row is saved by the same press.
    """
    property_id = current_staff().property_id
    name = one_line(request.form.get("place_name", ""), PLACE_NAME_MAX)
    with services().db.write() as s:
        if name and not _is_named(s, property_id, kind, slot, name):
            why = _("There is one of this name already.")
            return _page({"renamed": f"{kind}-{slot}", "why": why}), 422
        there = move_favourite(s, property_id, kind, slot, up=way == "up")
        if there is not None:
            record(s, "place.moved", f"properties:{property_id}", kind=kind, slot=there)
    return redirect(f"/admin/places?said=saved#{kind}-{there or slot}-{way}", code=303)


def _remove(kind: str, slot: int) -> BaseResponse:
    property_id = current_staff().property_id
    with services().db.write() as s:
        row = favourites_of(s, property_id).get((kind, slot))
        if row is not None:
            session[TAKEN_OFF] = {
                name: getattr(row, name) for name in ("kind", "slot", "name", "lat", "lng")
            }
            s.delete(row)
            record(s, "place.removed", f"favourites:{row.id}", kind=kind, slot=slot)
    return redirect("/admin/places?said=removed", code=303)


def _typed(place: TypedPlace) -> dict[str, object]:
    """The contents of the form for a new place, to show them again."""
    return {"found": place} | {
        name: request.form.get(name, "") for name in ("kind", "slot", "place_name")
    }


@bp.post("/cost-centres")
@needs(MANAGE)
def add_centre() -> Answer:
    """Add a cost centre."""
    property_id = current_staff().property_id
    name = one_line(request.form.get("name", ""), CENTRE_MAX)
    with services().db.write() as s:
        known = {row.name.casefold() for row in cost_centres_of(s, property_id)}
        if name and name.casefold() not in known:
            row = CostCentre(property_id=property_id, name=name, closed_at=None)
            s.add(row)
            s.flush()
            record(s, "cost_centre.made", f"cost_centres:{row.id}")
            return redirect("/admin/places?said=saved#cost-centres", code=303)
    why = _("Type a name.")
    if name:
        why = _("There is one of this name already.")
    return _page({"centre": why, "centre_name": name}), 422


@bp.post("/cost-centres/<int:centre_id>")
@needs(MANAGE)
def change_centre(centre_id: int) -> Answer:
    """Rename a cost centre, close it, or open it again. Rides that are charged to it keep it."""
    what = request.form.get("what")
    if what == "rename":
        return _rename_centre(centre_id)
    with services().db.write() as s:
        row = cost_centre_of(s, current_staff().property_id, centre_id) or abort(404)
        subject = f"cost_centres:{row.id}"
        if what != "open":
            row.closed_at = services().clock()
            record(s, "cost_centre.closed", subject)
        else:
            row.closed_at = None
            record(s, "cost_centre.opened", subject)
    return redirect("/admin/places?said=saved#cost-centres", code=303)


def _rename_centre(centre_id: int) -> Answer:
    property_id = current_staff().property_id
    name = one_line(request.form.get("name", ""), CENTRE_MAX)
    with services().db.write() as s:
        row = cost_centre_of(s, property_id, centre_id) or abort(404)
        others = {
            each.name.casefold() for each in cost_centres_of(s, property_id) if each is not row
        }
        if name and name.casefold() not in others:
            row.name = name
            record(s, "cost_centre.renamed", f"cost_centres:{row.id}")
            return redirect(f"/admin/places?said=saved#centre-{centre_id}", code=303)
    why = _("Type a name.")
    if name:
        why = _("There is one of this name already.")
    return _page({"renamed": f"centre-{centre_id}", "why": why}), 422


def _page(wrong: dict[str, object] | None = None) -> str:
    property_id = current_staff().property_id
    with services().db.read() as s:
        favourites = favourites_of(s, property_id)
        centres = cost_centres_of(s, property_id)
    known = {"saved": _("Saved."), "removed": _("Taken off the list.")}
    lists = {"pickup": _("Pickups"), "drop": _("Drops")}
    return render_template(
        "admin/places.html",
        favourites=favourites,
        centres=centres,
        lists=lists,
        slots=SLOTS,
        numbers=[(str(slot), slot) for slot in SLOTS],
        wrong=wrong or {},
        message=message_for(known, wrong),
        taken_off=session.get(TAKEN_OFF) if request.args.get("said") == "removed" else None,
        tab="places",
    )
