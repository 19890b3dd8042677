"""Linked accounts of a property: their state, which one is the default, connecting and removing them."""

from typing import Final

from flask import Blueprint, abort, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.ext import services
from ridedash.places import plain
from ridedash.rides.account_keeping import IN_USE, NOT_NOW, AccountKeeper
from ridedash.store.people import account_of, accounts_of, tokens_can_be_read
from ridedash.views.accounts import linker, member
from ridedash.views.admin import Answer, said
from ridedash.views.auth import current_staff
from ridedash.views.headers import let_forms_lead_to
from ridedash.views.permissions import MANAGE, needs
from ridedash.wording import gettext as _

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
    deed = {"default": keeper.make_default, "remove": keeper.remove}.get(request.form.get("what", ""))
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
    told = said({"done": _("Saved."), "linked": _("The account is connected.")}) if not wrong else ""
    refused = said({
        IN_USE: _("Rides are waiting or under way with this account. Remove it when they have ended."),
        NOT_NOW: _("Reconnect this account first."),
    })  # fmt: skip
    sealed = {each.id for each in accounts if not tokens_can_be_read(each, s.vault)}
    facts = {"accounts": accounts, "sealed": sealed, "said": told, "refused": refused, "wrong": wrong or {}}
    return render_template("admin/accounts.html", tab="accounts", **facts)
