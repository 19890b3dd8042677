"""The one price that a ride shows, and what kind of price it is."""

from decimal import Decimal
from typing import Final

from ridedash import wire
from ridedash.views.formats import money
from ridedash.views.ride_facts import RideFacts
from ridedash.wording import gettext as _
from ridedash.wording import say

NO_PRICE: Final = "–"
NO_RIDE: Final = frozenset({"REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED"})
BILLED: Final = frozenset({wire.INVOICE, wire.IN_PROGRESS, wire.COMPLETED})
NOT_RIDDEN: Final = frozenset({wire.BOOKING_CANCELLED, wire.ALLOTMENT_FAILED})


def price(facts: RideFacts) -> tuple[str, str]:
    """The price as far as known, and a note on it. Where nobody rode, no price: at most what stopping may cost."""
    if facts.page.order.state == "SCHEDULED":
        return "", _planned(facts)
    if facts.page.order.state in NO_RIDE or facts.status in NOT_RIDDEN:
        return NO_PRICE, _cost_of_stopping(facts)
    if facts.total is not None and facts.status in BILLED:
        note = _("From before the drop was changed") if _older_than_the_drop(facts) else _("From the service")
        return money(facts.total, facts.currency, facts.locale), note
    return _expected(facts)


def _expected(facts: RideFacts) -> tuple[str, str]:
    """The offer's price. A changed drop makes it one for the old drop, until the service sends another."""
    offer, seats = facts.page.offer, str(facts.page.order.seats or "")
    moved = facts.drop_change is not None
    fixed = offer.seat_prices.get(seats) or offer.seat_prices.get("")
    if fixed is not None:
        note = _("Fixed for the old drop; the service may set another price") if moved else _("Fixed price")
        return money(Decimal(str(fixed)), facts.currency, facts.locale), note
    if not offer.price_text:
        return "", ""
    return offer.price_text, _("Estimated for the old drop; the meter decides") if moved else _("As estimated")


def _planned(facts: RideFacts) -> str:
    """No price holds yet; what the card said when it was planned is a hint."""
    said = facts.page.offer.price_text
    return say(_("Priced when ordered[; it was {price} when planned]"), {"price": said})


def _cost_of_stopping(facts: RideFacts) -> str:
    if facts.status != wire.BOOKING_CANCELLED:
        return ""
    if facts.charged:
        return say(_("A fee of {fee} may be charged"), {"fee": facts.fee})
    return _("Cancelled in time: free") if facts.free else ""


def _older_than_the_drop(facts: RideFacts) -> bool:
    """Whether no news has come since the service took another drop."""
    ride, change = facts.page.ride, facts.drop_change
    if ride is None or change is None or change.settled_at is None:
        return False
    return ride.seen_at is None or ride.seen_at <= change.settled_at
