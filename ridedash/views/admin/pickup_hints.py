"""Settings of the walk to a pickup point: words, metres and minutes on foot, and steps."""

from typing import Any, Final

from flask import Blueprint, abort, redirect, request

from ridedash.extensions import services
from ridedash.inputs import whole_number
from ridedash.store.kiosk_desk import hint_of, hints_of
from ridedash.store.models.kiosks import PickupHint
from ridedash.text import one_line
from ridedash.views.admin.kiosk_form import KioskForm, read_position
from ridedash.views.admin.kiosks import device_page, mine
from ridedash.views.admin.property import Answer, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _
from ridedash.wording.languages import ENGLISH, LANGUAGES

bp = Blueprint("admin_hints", __name__, url_prefix="/admin")
WORDS_MAX: Final = 160
POINT_MAX: Final = 120
MOST_METRES: Final = 5_000
MOST_MINUTES: Final = 90
STEPS: Final = {"": None, "no": False, "yes": True}


@bp.post("/kiosks/<int:kiosk_id>/hints")
@needs(MANAGE)
def add(kiosk_id: int) -> Answer:
    """Add a hint on the walk from a kiosk to a point; it replaces one to a point of this name."""
    with services().db.read() as s:
        mine(s, kiosk_id)
    read = _read()
    if read.wrong:
        return device_page(kiosk_id, hint=read), 422
    property_id = current_staff().property_id
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        older = [each for each in hints_of(s, property_id) if each.kiosk_id == row.id]
        for each in older:
            if (each.point or "").casefold() == (read.valid["point"] or "").casefold():
                s.delete(each)
        hint = PickupHint(property_id=property_id, kiosk_id=row.id, **read.valid)
        s.add(hint)
        s.flush()
        record(s, "kiosk.hint", f"pickup_hints:{hint.id}", kiosk=row.id)
    return redirect(f"/admin/kiosks/{kiosk_id}?said=hint#hints", code=303)


@bp.post("/pickup-hints/<int:hint_id>/remove")
@needs(MANAGE)
def remove(hint_id: int) -> Answer:
    """Remove a hint from the list."""
    with services().db.write() as s:
        row = hint_of(s, current_staff().property_id, hint_id) or abort(404)
        kiosk_id = row.kiosk_id
        s.delete(row)
        record(s, "kiosk.hint_removed", f"pickup_hints:{row.id}")
    back = f"/admin/kiosks/{kiosk_id}?said=removed#hints" if kiosk_id else "/admin/kiosks"
    return redirect(back, code=303)


def _read() -> KioskForm:
    form = request.form
    typed: dict[str, Any] = {"point": one_line(form.get("point", ""), POINT_MAX)}
    typed |= {name: form.get(name, "")[:8] for name in ("metres", "minutes", "steps")}
    typed["words"] = {
        code: one_line(form.get(f"words_{code}", ""), WORDS_MAX) for code in LANGUAGES
    }
    read = KioskForm(typed)
    _check(read)
    # without a position, the name of the point identifies it
    read_position(read, form, "where", services().geocoder)
    return read


def _check(read: KioskForm) -> None:
    typed = read.typed
    valid = read.valid
    wrong = read.wrong
    if not typed["point"]:
        wrong["point"] = _("Type the point's name, as the ride company calls it.")
    words = {code: text for code, text in typed["words"].items() if text}
    if words and ENGLISH not in words:
        wrong["words"] = _("Type it in English too: it is read where a language has no words.")
    valid |= {"point": typed["point"], "words": words}
    for name, most in (("metres", MOST_METRES), ("minutes", MOST_MINUTES)):
        valid[name] = whole_number(typed[name], 0, most)
        if typed[name] and valid[name] is None:
            wrong[name] = _("Type a whole number up to %(most)d, or nothing.", most=most)
    if typed["steps"] not in STEPS:
        wrong["steps"] = _("Choose one from the list.")
    valid["steps"] = STEPS.get(typed["steps"])
    if not words and valid["metres"] is None and valid["minutes"] is None:
        wrong.setdefault("words", _("Type the way in words, or how far it is."))
