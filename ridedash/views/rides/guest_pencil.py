"""What the pencil of a ride's page shows: the guest as stored, and what a correction led to."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import request

from ridedash.extensions import Services
from ridedash.inputs import row_id
from ridedash.rides.actions.correct_guest import Corrected, GuestFacts, other_rides
from ridedash.store.orders import OrderPage, orders_by_ids
from ridedash.views.rides.action_forms import FormError
from ridedash.views.web.permissions import BOOK, may
from ridedash.wording import gettext as _

# `FormError.field` of a form that a colleague overtook: it then shows what is stored now
OVERTAKEN: Final = "overtaken"
MOST_BESIDE: Final = 5  # other open rides that an answer names


@dataclass(frozen=True)
class FollowedRide:
    """Another open ride of a corrected guest."""

    order_id: int
    words: str


def pencil(page: OrderPage, s: Services, error: FormError | None) -> dict[str, Any]:
    """The guest's values in the form, and those that it tells the server were shown.

    None of them once the guest was removed, and for users who may not book.
    """
    if page.guest.erased_at is not None or not may(BOOK):
        return {}
    stored = GuestFacts(page.guest.name, page.guest.phone, page.order.room)
    with s.db.read() as db:
        others = other_rides(db, page.order)
    shown = {f"shown_{name}": value or "" for name, value in stored._asdict().items()}
    values = {f"guest_{name}": value or "" for name, value in stored._asdict().items()}
    if error is not None and error.panel == "guest":
        values = {name: request.form.get(name, "") for name in values}
        if error.field != OVERTAKEN:
            shown = {name: request.form.get(name, "") for name in shown}
    return values | shown | {"others": others, "now": stored}


def said(done: Corrected) -> str:
    """The query of the redirect after a correction: what the page says about it."""
    query = {"said": "guest-done", "changed": " ".join(done.changed)}
    if done.links_ended:
        query["ended"] = str(done.links_ended)
    if done.beside:
        query["beside"] = " ".join(map(str, done.beside[:MOST_BESIDE]))
    return urlencode(query)


def followed(page: OrderPage, s: Services) -> dict[str, Any]:
    """What a correction led to, for the page after it; {} on any other page."""
    if not request.args.get("said", "").startswith("guest-"):
        return {}
    typed = request.args.get("beside", "")[:200].split()[:MOST_BESIDE]
    ids = [number for each in typed if (number := row_id(each)) is not None]
    with s.db.read() as db:
        beside = orders_by_ids(db, page.order.property_id, ids) if ids else []
    return {
        "ended": "ended" in request.args,
        "phone": "phone" in request.args.get("changed", "") and bool(page.guest.phone),
        "beside": [FollowedRide(each.order.id, _ride_words(each)) for each in beside],
    }


def _ride_words(page: OrderPage) -> str:
    room = _("Room %(room)s", room=page.order.room) if page.order.room else ""
    return " · ".join(filter(None, [page.guest.name, room, page.offer.display_name]))
