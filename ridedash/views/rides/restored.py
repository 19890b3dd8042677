"""The page after a restore: rides that are held, and orders that the database has lost.

See docs/booking-protocol.md 1.7.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Blueprint, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.rides.orders.after_restore import CannotTakeUp, TakeUp, dealt_with
from ridedash.rides.orders.after_restore import take_up as take_up_order
from ridedash.service_time import REAL
from ridedash.store import restores
from ridedash.store.models.people import Property
from ridedash.store.models.restores import LostOrder
from ridedash.store.orders import OrderPage, orders_by_ids
from ridedash.text import MAX_NAME, one_line
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import full_time, zone
from ridedash.views.web.permissions import ADMIN, BOOK, SEE, may, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("restored", __name__, url_prefix="/restored")
Answer = str | tuple[str, int] | BaseResponse
LONGEST_REFERENCE: Final = 32


@dataclass(frozen=True)
class HeldRide:
    """A held ride, planned or to be started by its guest, that waits for a decision of staff."""

    id: int
    guest: str
    room: str
    pickup: str  # the pickup time
    to: str
    car: str


@dataclass(frozen=True)
class LostRide:
    """An order that the database has lost, as the sent journal describes it."""

    reference: str
    sent: str  # when it was sent
    car: str
    booking_id: str
    outcome: str


@bp.get("")
@needs(SEE)
def show() -> str:
    """Show what waits for a decision at this property since the restore."""
    return _page()


@bp.post("/take-up")
@needs(BOOK)
def take_up() -> Answer:
    """Make an order from a lost one, and redirect to it."""
    s = services()
    staff = current_staff()
    reference = one_line(request.form.get("reference", ""), LONGEST_REFERENCE)
    guest = one_line(request.form.get("guest", ""), MAX_NAME)
    try:
        order_id = take_up_order(s.runtime, TakeUp(staff.property_id, staff.id, reference, guest))
    except CannotTakeUp as error:
        wrong = {
            "gone": _("This booking is not missing any more: somebody has taken it up."),
            "account": _("No account is linked: ask a manager to connect one first."),
        }
        return _page(wrong[error.why]), 409
    s.wake()
    return redirect(f"/rides/{order_id}", code=303)


@bp.post("/dealt-with")
@needs(ADMIN)
def deal() -> Answer:
    """Remove a lost order, whose property is lost too, from the list once it is dealt with."""
    s = services()
    reference = one_line(request.form.get("reference", ""), LONGEST_REFERENCE)
    if not dealt_with(s.db, s.clock, reference, current_staff().id):
        return _page(_("This booking is not missing any more: somebody has dealt with it.")), 409
    return redirect("/restored", code=303)


def _page(wrong: str = "") -> str:
    s = services()
    property_id = current_staff().property_id
    with s.db.read() as db:
        here = db.get_one(Property, property_id)
        waiting = restores.waiting(db, property_id)
        held = _held_rides(db, property_id, s.clock())
        lost = [_lost(row, here) for row in restores.lost_orders(db, property_id)]
        found = restores.homeless_orders(db) if may(ADMIN) else []
        homeless = [_lost(row, here) for row in found]
    return render_template(
        "rides/restored.html",
        waiting=waiting,
        held=held,
        lost=lost,
        homeless=homeless,
        wrong=wrong,
        longest=MAX_NAME,
    )


def _held_rides(db: Session, property_id: int, now: datetime) -> list[HeldRide]:
    ids = [order.id for order in restores.held_orders(db, property_id)]
    pages = {page.order.id: page for page in orders_by_ids(db, property_id, ids, light=True)}
    return [_held_ride(pages[each], now) for each in ids if each in pages]


def _held_ride(page: OrderPage, now: datetime) -> HeldRide:
    facts = RideFacts(page, now, REAL, locale())
    return HeldRide(
        id=page.order.id,
        guest=page.guest.name or _("Guest"),
        room=page.order.room or "",
        pickup=facts.planned(page.order.pickup_at or page.order.due_at),
        to=facts.drop_name or _("The guest tells the driver"),
        car=page.offer.display_name,
    )


def _lost(row: LostOrder, here: Property) -> LostRide:
    facts = row.outcome or {}
    outcome = {
        "BOOKED": _("Booked"),
        "MATCHING": _("Looking for a shared ride"),
    }.get(str(facts.get("state")), _("We don't know if it was booked"))
    return LostRide(
        reference=row.mtx,
        sent=full_time(row.sent_at, zone(here.timezone), locale()),
        car=row.category.replace("_", " ").capitalize(),
        booking_id=str(facts.get("booking_id") or ""),
        outcome=outcome,
    )
