"""Linking the house's account anew: to the service's own page and back (security.md 10.1, 10.2)."""

from typing import Final

from flask import Blueprint, abort, redirect, request, session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.ext import services
from ridedash.rides.linking import EXPIRED, NO_ANSWER, REFUSED, Back, Linker, LinkFailed, Member
from ridedash.views.auth import current_staff
from ridedash.views.errors import Answer, page
from ridedash.views.permissions import MANAGE, may, needs
from ridedash.wording import gettext as _

bp = Blueprint("accounts", __name__, url_prefix="/accounts")

LONGEST: Final = 2000  # characters of a code or a state


@bp.post("/<int:account_id>/link")
@needs(MANAGE)
def link(account_id: int) -> BaseResponse:
    """Start: away to the service. Managers only."""
    order_id = request.form.get("order", type=int)
    address = linker().start(account_id, member(), order_id)
    return redirect(address, code=303) if address else abort(404)


@bp.get("/callback")
@needs(MANAGE)
def callback() -> BaseResponse | Answer:
    """End: back from the service with a code, or with its refusal."""
    state, code = (request.args.get(name, "")[:LONGEST] for name in ("state", "code"))
    try:
        order_id = linker().finish(Back(state, code, session["sid"]))
    except LinkFailed as failed:
        return _failed(failed.reason)
    return redirect(f"/rides/{order_id}?said=link-done" if order_id else "/admin/accounts?said=linked", code=303)


def may_link() -> bool:
    """Whether whoever asks may connect the house's accounts: that lets rides be booked on its money."""
    return may(MANAGE)


def member() -> Member:
    """Whoever asks, as the linker knows them."""
    staff = current_staff()
    return Member(staff.property_id, staff.id, session["sid"])


def linker() -> Linker:
    """The linker of this app; the service knows our callback by the public address."""
    s = services()
    return Linker(s.db, s.vault, s.oauth, s.clock, f"{s.settings.public_url}/accounts/callback")


def _failed(reason: str) -> Answer:
    why = {
        EXPIRED: _("This took longer than ten minutes, or was begun in another browser."),
        REFUSED: _("The service did not allow it."),
        NO_ANSWER: _("The ride service is not answering."),
    }[reason]
    return page(400, (_("The account was not connected"), why, _("Begin again from the list of accounts.")))
