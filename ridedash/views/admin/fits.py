"""Settings of a property's cars: how many people and bags fit into each category."""

from typing import Final

from flask import Blueprint, redirect, request

from ridedash.extensions import services
from ridedash.fits import MOST_FIT, Capacity
from ridedash.inputs import whole_number
from ridedash.store.capacities import car_kinds, set_capacities
from ridedash.store.properties import locked_property
from ridedash.views.admin.property import Answer, FitRow, property_page, record, rows_of
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin_fits", __name__, url_prefix="/admin/property")
TYPED_MAX: Final = 8  # characters of a number that are shown again


@bp.post("/fits")
@needs(MANAGE)
def save() -> Answer:
    """Store what fits, or show which number can't be stored; then nothing is.

    Categories that the form does not name stay as they are.
    """
    property_id = current_staff().property_id
    with services().db.read() as s:
        kinds = car_kinds(s, property_id)
    sent = {code: n for n, code in enumerate(request.form.getlist("category"))}
    rows: list[FitRow] = []
    wrong: dict[str, str] = {}
    wanted: dict[str, Capacity] = {}
    for row in rows_of(kinds):
        if row.category in sent:
            row = _typed(row, sent[row.category])
            wanted[row.category] = _read(row, wrong)
        rows.append(row)
    if wrong:
        return property_page(wrong, fits=rows), 422
    names = {kind.category: kind.name for kind in kinds}
    with services().db.write() as s:
        prop = locked_property(s, property_id)
        changed = set_capacities(s, property_id, names, wanted)
        if changed:
            record(s, "property.fits", f"properties:{prop.id}", changed=changed)
    return redirect("/admin/property?said=saved#fits", code=303)


def _typed(row: FitRow, at: int) -> FitRow:
    """The row with the numbers at this place of the form, as they were typed."""
    found = []
    for name in ("persons", "bags"):
        texts = request.form.getlist(name)
        found.append(texts[at].strip()[:TYPED_MAX] if at < len(texts) else "")
    return FitRow(row.category, row.name, *found)


def _read(row: FitRow, wrong: dict[str, str]) -> Capacity:
    """What fits, by a row; `wrong` gets a message for each number that can't be used."""
    persons = whole_number(row.persons, 1, MOST_FIT)
    bags = whole_number(row.bags, 0, MOST_FIT)
    if row.persons and persons is None:
        wrong[f"persons-{row.category}"] = _(
            "%(car)s: type from 1 to %(most)d people, or nothing.", car=row.name, most=MOST_FIT
        )
    if row.bags and bags is None:
        wrong[f"bags-{row.category}"] = _(
            "%(car)s: type from 0 to %(most)d bags, or nothing.", car=row.name, most=MOST_FIT
        )
    return Capacity(persons, bags)
