"""Linked accounts of a property: their state, the default one, connecting and removing."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.inputs import row_id
from ridedash.rides.accounts.linking import (
    EXPIRED,
    NO_ANSWER,
    REFUSED,
    CallbackRequest,
    Linker,
    LinkFailed,
    LinkOwner,
)
from ridedash.rides.accounts.manage import IN_USE, NOT_NOW, AccountManager
from ridedash.store.accounts import (
    AFFILIATE_MAX,
    account_of,
    accounts_of,
    tokens_can_be_read,
)
from ridedash.text import one_line
from ridedash.views.admin.property import Answer, message_for
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.errors import Answer as ErrorAnswer
from ridedash.views.web.errors import page
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import forward_form
from ridedash.views.web.security_headers import let_forms_lead_to
from ridedash.wording import gettext as _

link_bp = Blueprint("accounts", __name__, url_prefix="/accounts")
bp = Blueprint("admin_accounts", __name__, url_prefix="/admin/accounts")
LONGEST: Final = 2000  # characters of a code or a state in the callback's address
LABEL_MAX: Final = 60
# the forms that posted to /admin/accounts/<id> in earlier releases, by their field `what`
FORWARDED: Final = {"default": "admin_accounts.make_default", "remove": "admin_accounts.remove"}


@link_bp.post("/<int:account_id>/link")
@needs(MANAGE)
def link(account_id: int) -> BaseResponse:
    """Send the browser to the service, which asks the user whether we may use the account."""
    order_id = request.form.get("order", type=row_id)
    address = linker().start(account_id, member(), order_id)
    if not address:
        abort(404)
    return redirect(address, code=303)


@link_bp.get("/callback")
@needs(MANAGE)
def callback() -> BaseResponse | ErrorAnswer:
    """Link the account when the service sends the browser back with a code, or show why not."""
    state, code = (request.args.get(name, "")[:LONGEST] for name in ("state", "code"))
    try:
        order_id = linker().finish(CallbackRequest(state, code, session["sid"]))
    except LinkFailed as failed:
        return _failed(failed.reason)
    if order_id:
        return redirect(f"/rides/{order_id}?said=link-done", code=303)
    return redirect("/admin/accounts?said=linked", code=303)


def member() -> LinkOwner:
    """The signed-in member of staff, as the owner of a linking."""
    staff = current_staff()
    return LinkOwner(staff.property_id, staff.id, session["sid"])


def linker() -> Linker:
    """The linker of this app, with the public address of `callback`."""
    s = services()
    return Linker(s.db, s.vault, s.oauth, s.clock, f"{s.settings.public_url}/accounts/callback")


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """Show the list of accounts."""
    return _page()


@bp.post("")
@needs(MANAGE)
def connect() -> Answer:
    """Add an account, and send the browser to the service to link it."""
    label = one_line(request.form.get("label", ""), LABEL_MAX)
    if not label:
        return _page({"label": _("Type what staff will see, such as House account.")}), 422
    return redirect(linker().start_new(label, member()), code=303)


@bp.post("/<int:account_id>/default")
@needs(MANAGE)
def make_default(account_id: int) -> BaseResponse:
    """Make an account the one that rides are booked with unless another is chosen."""
    return _change(account_id, AccountManager.make_default)


@bp.post("/<int:account_id>/affiliate")
@needs(MANAGE)
def name_affiliate(account_id: int) -> BaseResponse:
    """Set or clear the affiliate id of an account, which is sent with its bookings."""
    typed = one_line(request.form.get("affiliate_uid", ""), AFFILIATE_MAX) or None
    return _change(account_id, lambda manager, id_: manager.name_affiliate(id_, typed))


@bp.post("/<int:account_id>/remove")
@needs(MANAGE)
def remove(account_id: int) -> BaseResponse:
    """Remove an account that no open ride needs."""
    return _change(account_id, AccountManager.remove)


@bp.post("/<int:account_id>")
@needs(MANAGE)
def forward_change(account_id: int) -> BaseResponse:
    """The former address of two forms: forwards each of them to its own route."""
    _require_own(account_id)
    endpoint = FORWARDED.get(request.form.get("what", "")) or abort(400)
    return forward_form(endpoint, account_id=account_id)


def _change(account_id: int, change: Callable[[AccountManager, int], str]) -> BaseResponse:
    _require_own(account_id)
    s = services()
    me = current_staff()
    try:
        outcome = change(AccountManager(s.db, s.clock, me.property_id, me.id), account_id)
    except LookupError:
        abort(404)
    return redirect(f"/admin/accounts?said={outcome}", code=303)


def _require_own(account_id: int) -> None:
    """Answer 404 for an account of another property."""
    with services().db.read() as db:
        if account_of(db, current_staff().property_id, account_id) is None:
            abort(404)


def _page(wrong: dict[str, str] | None = None) -> str:
    s = services()
    with s.db.read() as db:
        accounts = accounts_of(db, current_staff().property_id)
    let_forms_lead_to(s.settings.oauth_authorize_url)
    known = {"done": _("Saved."), "linked": _("The account is connected.")}
    refused = message_for(
        {
            IN_USE: _(
                "Rides are waiting or under way with this account. Remove it when they have ended."
            ),
            NOT_NOW: _("Reconnect this account first."),
        }
    )
    unreadable = {each.id for each in accounts if not tokens_can_be_read(each, s.vault)}
    facts = {
        "accounts": accounts,
        "unreadable": unreadable,
        "message": message_for(known, wrong),
        "refused": refused,
        "wrong": wrong or {},
    }
    return render_template("admin/accounts.html", tab="accounts", **facts)


def _failed(reason: str) -> ErrorAnswer:
    why = {
        EXPIRED: _("This took longer than ten minutes, or was begun in another browser."),
        REFUSED: _("The ride company did not allow it."),
        NO_ANSWER: _("The ride company is not answering."),
    }[reason]
    return page(
        400, (_("The account was not connected"), why, _("Begin again from the list of accounts."))
    )
