"""What a ride comes to: the service's total, or the sum of its lines; kept beside ride and order
once it is billed.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.tracking.merge import RideState
from ridedash.service.types.tracking import PriceDetails, Snapshot, TripInfo
from ridedash.store.models.orders import Offer, Order, Ride
from ridedash.store.models.people import Property
from ridedash.wire import Kind

BILLED: Final = {  # in these statuses there is a bill
    Kind.AUTO: (wire.INVOICE, wire.COMPLETED),
    Kind.SHARE: (wire.INVOICE, wire.IN_PROGRESS, wire.COMPLETED),
    Kind.POINT_TO_POINT: (wire.INVOICE, wire.COMPLETED),
}
MINOR: Final = 100  # hundredths, whatever a currency's own smallest coin is


def total_of(price: PriceDetails | None) -> Decimal | None:
    """What price_details come to: fare + service_tax + toll_charges - discount_value; None without
    a fare.
    """
    if price is None or price.fare is None:
        return None
    return (
        price.fare
        + sum((p for p in (price.service_tax, price.toll_charges) if p), Decimal(0))
        - (price.discount_value or Decimal(0))
    )


def payable_of(trip: TripInfo | None) -> Decimal | None:
    """What an auto ride comes to: the service's payable_amount, else what was paid in cash, else
    the lines' sum.
    """
    if trip is None:
        return None
    if trip.payable_amount is not None:
        return trip.payable_amount
    return trip.cash_paid or sum_of(trip)  # no cash says nothing: the wallet may have paid


def sum_of(trip: TripInfo) -> Decimal | None:
    """What the lines of an auto's bill add up to; None without a meter fare."""
    if trip.amount is None:
        return None
    zero = Decimal(0)
    return (
        trip.amount
        + (trip.convenience_charge or zero)
        - (trip.discount or zero)
        - (trip.advance or zero)
    )


def total(kind: Kind, facts: Snapshot) -> Decimal | None:
    """What the ride comes to as far as known."""
    return payable_of(facts.trip) if kind is Kind.AUTO else total_of(facts.price)


def bill(kind: Kind, status: str | None, facts: Snapshot) -> Decimal | None:
    """What a ride in this status is billed; None while there is no bill."""
    return total(kind, facts) if status in BILLED[kind] else None


def minor(amount: Decimal) -> int:
    """An amount in hundredths."""
    return int((amount * MINOR).to_integral_value(ROUND_HALF_UP))


def other_bill(before: RideState, after: RideState) -> bool:
    """Whether an answer changed what is kept beside the ride for finding and adding up: its plate
    or its bill.
    """
    if before.facts.vehicle_number != after.facts.vehicle_number:
        return True
    if after.status not in BILLED[after.kind]:
        return False
    return total(after.kind, before.facts) != total(after.kind, after.facts)


def keep_bill(s: Session, order: Order, ride: Ride, state: RideState) -> None:
    """Write what the history adds up, in the transaction that writes the ride."""
    amount = bill(state.kind, state.status, state.facts)
    if state.ended_at is not None:
        order.ended_as = state.status
    if amount is None and ride.total_minor is None:
        return
    ride.total_minor = order.total_minor = None if amount is None else minor(amount)
    if ride.currency is None:
        ride.currency = order.currency = _currency(s, order)


def _currency(s: Session, order: Order) -> str | None:
    query = select(func.coalesce(Offer.currency, Property.currency)).join(
        Property, Property.id == Offer.property_id
    )
    return s.scalar(query.where(Offer.id == order.offer_id))
