"""What a ride costs: the service's total, or the sum of the lines of its bill. Pure.

See docs/booking-protocol.md 3.4.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from ridedash import wire
from ridedash.service.types.tracking import PriceDetails, Snapshot, TripInfo
from ridedash.wire import Kind

BILLED: Final = {  # the statuses with a bill
    Kind.AUTO: (wire.INVOICE, wire.COMPLETED),
    Kind.SHARE: (wire.INVOICE, wire.IN_PROGRESS, wire.COMPLETED),
    Kind.POINT_TO_POINT: (wire.INVOICE, wire.COMPLETED),
}
_ZERO: Final = Decimal(0)
# Stored totals are in hundredths. In a currency with thousandths, the history therefore adds up
# rounded totals; bills show all three decimals.
MINOR: Final = 100


def total_of(price: PriceDetails | None) -> Decimal | None:
    """fare + service_tax + toll_charges - discount_value of price_details; None without a fare.

    A discount above that sum makes the ride free: the total is never negative.
    """
    if price is None or price.fare is None:
        return None
    return max(
        _ZERO,
        price.fare
        + sum((p for p in (price.service_tax, price.toll_charges) if p), _ZERO)
        - (price.discount_value or _ZERO),
    )


def payable_of(trip: TripInfo | None) -> Decimal | None:
    """The rest to pay for an auto ride: payable_amount, else the cash, else the sum of lines."""
    if trip is None:
        return None
    if trip.payable_amount is not None:
        return trip.payable_amount
    # cash_paid of 0 doesn't mean that the ride cost nothing: the guest's wallet may have paid
    return trip.cash_paid or sum_of(trip)


def wallet_fell_by(facts: Snapshot) -> Decimal | None:
    """By how much the wallet's balance fell from an auto's bill to its end; None if unknown."""
    before = facts.balance_at_bill
    after = facts.balance_at_end
    if before is None or after is None:
        return None
    return before - after


def cost_of(trip: TripInfo | None) -> Decimal | None:
    """The price of an auto ride: the rest to pay plus the advance.

    If only the lines are known, the price is their sum, because the advance may exceed the price.
    """
    left = payable_of(trip)
    if trip is None or left is None:
        return None
    if trip.payable_amount is None and not trip.cash_paid:
        return _lines_of(trip)
    return left + (trip.advance or _ZERO)


def sum_of(trip: TripInfo) -> Decimal | None:
    """The sum of the lines of an auto ride's bill, minus the advance; None without a fare.

    Like each total, it is never negative.
    """
    lines = _lines_of(trip)
    if lines is None:
        return None
    return max(_ZERO, lines - (trip.advance or _ZERO))


def _lines_of(trip: TripInfo) -> Decimal | None:
    if trip.amount is None:
        return None
    return max(_ZERO, trip.amount + (trip.convenience_charge or _ZERO) - (trip.discount or _ZERO))


def total(kind: Kind, facts: Snapshot) -> Decimal | None:
    """The total of a ride of any kind; None while it is unknown."""
    if kind is Kind.AUTO:
        return cost_of(facts.trip)
    return total_of(facts.price)


def bill(kind: Kind, status: str | None, facts: Snapshot) -> Decimal | None:
    """The total on the bill of a ride in this status; None while there is no bill."""
    if status not in BILLED[kind]:
        return None
    return total(kind, facts)


def minor(amount: Decimal) -> int:
    """An amount in hundredths."""
    return int((amount * MINOR).to_integral_value(ROUND_HALF_UP))
