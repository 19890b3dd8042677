"""A receipt: the service's lines and total, the payment, and our sum if it differs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from ridedash import wire
from ridedash.rides.state.states import WITHOUT_RIDE
from ridedash.rides.tracking.totals import payable_of, sum_of
from ridedash.store.orders import OrderPage
from ridedash.views.rides.components import NO_CAB, NO_DRIVER, guest_words
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.prices import Invoice, invoice
from ridedash.views.rides.view_model import RideView
from ridedash.views.web.formatting import first_name, money
from ridedash.wire import Kind
from ridedash.wording import Audience, payment_name, say
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class Receipt:
    """One receipt in words; "" for missing facts."""

    title: str
    number: str
    booking: str
    dated: str
    state: str  # the reason why there is no price, or why it may change
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]  # name of the element, label, facts
    invoice: Invoice | None
    sum_check: str
    payment: str


def receipt(page: OrderPage, facts: RideFacts, view: RideView, cost_centre: str) -> Receipt:
    """The receipt of an order as it stands."""
    found = guest_invoice(facts, view)
    unbilled = Receipt(
        title=_("Ride receipt"),
        number=page.order.mtx,
        booking=page.order.booking_id or "",
        dated=facts.full_at(_when(facts)),
        state=_state(facts, view, found),
        rows=tuple(_rows(page, facts, view, cost_centre)),
        invoice=None,
        sum_check="",
        payment="",
    )
    if found is None:
        return unbilled
    billed = replace(unbilled, invoice=found, sum_check=sum_check(facts), payment=_payment(facts))
    if facts.status == wire.COMPLETED:
        return billed
    return replace(billed, title=_("Ride receipt, not final"))


def guest_invoice(facts: RideFacts, view: RideView) -> Invoice | None:
    """The lines as a guest may see them: without the balance of the paying account."""
    return invoice(facts, view.booking_status, Audience.GUEST)


def sum_check(facts: RideFacts) -> str:
    """A note when the service's total is not the sum of its lines; else ""."""
    trip = facts.snapshot.trip
    if facts.kind is not Kind.AUTO or trip is None:
        return ""
    ours = sum_of(trip)
    theirs = payable_of(trip)
    if ours is None or theirs is None or ours == theirs:
        return ""
    amounts = {
        "sum": money(ours, facts.currency, facts.locale),
        "total": money(theirs, facts.currency, facts.locale),
    }
    return say(_("The lines add up to {sum}; the ride company's total is {total}."), amounts)


def _rows(
    page: OrderPage, facts: RideFacts, view: RideView, cost_centre: str
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    cab = view.cab or NO_CAB
    driver = view.driver or NO_DRIVER
    room = _("room %(room)s", room=page.order.room) if page.order.room else ""
    rows: tuple[tuple[str, str, str | list[str]], ...] = (
        ("guest", _("Guest"), [page.guest.name, room]),
        ("cost_centre", _("Cost centre"), cost_centre),
        ("picked_up", _("Picked up"), facts.picked_up),
        ("pickup", _("From"), facts.pickup[1]),
        ("drop", _("To"), facts.drop_name or _("The guest told the driver")),
        ("ride", _("Ride"), [page.offer.display_name, view.took]),
        ("coupon", _("Coupon"), facts.sent("coupon_code")),
        ("seats", _("Seats"), str(page.order.seats or "")),
        ("driver", _("Driver"), first_name(driver.name)),
        ("car", _("Car"), cab.car),
        ("plate", _("Number plate"), cab.plate),
    )
    for name, label, value in rows:
        parts = tuple(filter(None, [value] if isinstance(value, str) else value))
        if parts:
            yield name, label, parts


def _when(facts: RideFacts) -> datetime:
    return facts.since(wire.COMPLETED) or facts.page.order.created_at


def _state(facts: RideFacts, view: RideView, found: Invoice | None) -> str:
    """Why there is no price, or why it may change; "" for the price of a completed ride."""
    if found is not None and facts.status == wire.COMPLETED:
        return ""
    if found is not None and facts.kind is Kind.AUTO:
        # T: critical
        return _("The ride is over, its payment is not: this may still change.")
    if found is not None:
        return _("The ride is not over: this may still change.")
    if facts.status == wire.COMPLETED:
        return _("The ride is over. The ride company has sent no price for it.")
    if view.live:
        return _("No bill yet: the ride company sends it when the ride is over.")
    if facts.page.order.state in WITHOUT_RIDE:  # what staff read of a refusal names accounts
        words = guest_words(facts)
        return f"{words.headline}. {words.detail}"
    return f"{view.headline}. {view.detail}"


def _payment(facts: RideFacts) -> str:
    trip = facts.snapshot.trip
    over = facts.status == wire.COMPLETED
    if over and facts.kind is Kind.AUTO and trip is not None and trip.cash_paid:
        return ""  # one of the lines already says so
    return payment_name(facts.payment)
