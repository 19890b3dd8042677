"""Actions of managers on a device: pairing, its PIN, taking it out of order, revoking."""

import re
from typing import Final

from flask import Blueprint, abort, current_app, redirect, request, session

from ridedash.extensions import services
from ridedash.store import kiosks
from ridedash.text import compact_key
from ridedash.views.admin.kiosks import device_page, mine
from ridedash.views.admin.property import Answer, record
from ridedash.views.web import devices
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin_kiosk", __name__, url_prefix="/admin/kiosks/<int:kiosk_id>")
PIN: Final = re.compile(r"[0-9]{6}", re.ASCII)
COMMON_PINS: Final = frozenset({"123456", "654321", "123123", "112233", "121212", "012345"})


@bp.post("/pair")
@needs(MANAGE)
def pair(kiosk_id: int) -> Answer:
    """Make a pairing code and show it once: only its hash is stored."""
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        code = kiosks.make_pairing_code(row, current_staff().id, services().clock())
        record(s, "kiosk.pairing", f"kiosks:{row.id}")
    return device_page(kiosk_id, code=code)


@bp.post("/pin")
@needs(MANAGE)
def set_pin(kiosk_id: int) -> Answer:
    """Set the six digits with which staff open the kiosk's panel; only a hash is stored."""
    pin = compact_key(request.form.get("pin", "")[:20])
    with services().db.read() as s:
        mine(s, kiosk_id)
    why = _weakness(pin)
    if why:
        return device_page(kiosk_id, wrong={"pin": why}), 422
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        kiosks.set_pin(row, pin)
        record(s, "kiosk.pin", f"kiosks:{row.id}")
    return redirect(f"/admin/kiosks/{kiosk_id}?said=pin", code=303)


@bp.post("/out-of-order")
@needs(MANAGE)
def set_out_of_order(kiosk_id: int) -> Answer:
    """Put a device out of order, or back into service (`what=in`)."""
    out = request.form.get("what") != "in"
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        if row.out_of_order != out:
            row.out_of_order = out
            record(s, "kiosk.out_of_order" if out else "kiosk.in_order", f"kiosks:{row.id}")
    return redirect(f"/admin/kiosks/{kiosk_id}?said=saved", code=303)


@bp.post("/revoke")
@needs(MANAGE)
def revoke(kiosk_id: int) -> Answer:
    """Revoke a device for good: its cookie is not accepted any more."""
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        kiosks.revoke(row, services().clock())
        record(s, "kiosk.revoked", f"kiosks:{row.id}")
    return redirect("/admin/kiosks?said=revoked", code=303)


@bp.post("/here")
@needs(MANAGE)
def open_here(kiosk_id: int) -> Answer:
    """In a demo: make this browser the device, and open its page.

    With `ends=sign-out` in the form, the browser is the device until the next sign-out. Outside of
    demos this address does not exist.
    """
    if not services().settings.demo:
        abort(404)
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        token = kiosks.begin(row, services().clock())
        kind = kiosks.kind_of(row)
        # paired without a code: no one is alerted when this window falls silent
        row.paired_by = None
        record(s, "kiosk.paired", f"kiosks:{row.id}", here=True)
    # A demo's stage has desk and kiosk in one browser. A browser that stays a device after the
    # sign-out could not sign in again.
    session[devices.ENDS_AT_SIGN_OUT] = request.form.get("ends") == "sign-out"
    answer = current_app.make_response(redirect(f"/{kind.value}", code=303))
    devices.give(answer, kind, token)
    return answer


def _weakness(pin: str) -> str:
    """The reason why a PIN can't be used; "" when it can."""
    if not PIN.fullmatch(pin):
        return _("Type six digits.")
    if len(set(pin)) == 1 or pin in COMMON_PINS:
        return _("That is the first one that others try. Choose another.")
    return ""
