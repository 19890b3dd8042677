"""Linked accounts of a property: their state, which one is the default, connecting and removing
them.
"""

from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.places import plain
from ridedash.rides.accounts.linking import (
    EXPIRED,
    NO_ANSWER,
    REFUSED,
    Back,
    Linker,
    LinkFailed,
    Member,
)
from ridedash.rides.accounts.manage import IN_USE, NOT_NOW, AccountKeeper
from ridedash.store.accounts import account_of, accounts_of, tokens_can_be_read
from ridedash.views.admin.property import Answer, said
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.errors import Answer as ErrorAnswer
from ridedash.views.web.errors import page
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.security_headers import let_forms_lead_to
from ridedash.wording import gettext as _

link_bp = Blueprint("accounts", __name__, url_prefix="/accounts")
LONGEST: Final = 2000  # characters of a code or a state


@link_bp.post("/<int:account_id>/link")
@needs(MANAGE)
def link(account_id: int) -> BaseResponse:
    """Start: away to the service. Managers only."""
    order_id = request.form.get("order", type=int)
    address = linker().start(account_id, member(), order_id)
    return redirect(address, code=303) if address else abort(404)


@link_bp.get("/callback")
@needs(MANAGE)
def callback() -> BaseResponse | ErrorAnswer:
    """End: back from the service with a code, or with its refusal."""
    state, code = (request.args.get(name, "")[:LONGEST] for name in ("state", "code"))
    try:
        order_id = linker().finish(Back(state, code, session["sid"]))
    except LinkFailed as failed:
        return _failed(failed.reason)
    return redirect(
        f"/rides/{order_id}?said=link-done" if order_id else "/admin/accounts?said=linked", code=303
    )


def member() -> Member:
    """Whoever asks, as the linker knows them."""
    staff = current_staff()
    return Member(staff.property_id, staff.id, session["sid"])


def linker() -> Linker:
    """The linker of this app; the service knows our callback by the public address."""
    s = services()
    return Linker(s.db, s.vault, s.oauth, s.clock, f"{s.settings.public_url}/accounts/callback")


def _failed(reason: str) -> ErrorAnswer:
    why = {
        EXPIRED: _("This took longer than ten minutes, or was begun in another browser."),
        REFUSED: _("The service did not allow it."),
        NO_ANSWER: _("The ride service is not answering."),
    }[reason]
    return page(
        400, (_("The account was not connected"), why, _("Begin again from the list of accounts."))
    )


bp = Blueprint("admin_accounts", __name__, url_prefix="/admin/accounts")
LABEL_MAX: Final = 60


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """The list."""
    return _page()


@bp.post("")
@needs(MANAGE)
def connect() -> Answer:
    """Away to the service, which asks whether this account may be used from here."""
    label = plain(request.form.get("label", ""), LABEL_MAX)
    if not label:
        return _page({"label": _("Type what staff will see, such as House account.")}), 422
    return redirect(linker().start_new(label, member()), code=303)


@bp.post("/<int:account_id>")
@needs(MANAGE)
def change(account_id: int) -> BaseResponse:
    """Make one the default, or remove it."""
    s, me = services(), current_staff()
    with s.db.read() as db:
        if account_of(db, me.property_id, account_id) is None:
            abort(404)
    keeper = AccountKeeper(s.db, s.clock, me.property_id, me.id)
    deed = {"default": keeper.make_default, "remove": keeper.remove}.get(
        request.form.get("what", "")
    )
    try:
        outcome = deed(account_id) if deed else abort(400)
    except LookupError:
        abort(404)
    return redirect(f"/admin/accounts?said={outcome}", code=303)


def _page(wrong: dict[str, str] | None = None) -> str:
    s = services()
    with s.db.read() as db:
        accounts = accounts_of(db, current_staff().property_id)
    let_forms_lead_to(s.settings.oauth_authorize_url)
    told = (
        said({"done": _("Saved."), "linked": _("The account is connected.")}) if not wrong else ""
    )
    refused = said(
        {
            IN_USE: _(
                "Rides are waiting or under way with this account. Remove it when they have ended."
            ),
            NOT_NOW: _("Reconnect this account first."),
        }
    )
    sealed = {each.id for each in accounts if not tokens_can_be_read(each, s.vault)}
    facts = {
        "accounts": accounts,
        "sealed": sealed,
        "said": told,
        "refused": refused,
        "wrong": wrong or {},
    }
    return render_template("admin/accounts.html", tab="accounts", **facts)
