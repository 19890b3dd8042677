"""The price of a booking: as planned while it runs, as driven when it has ended."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from ridedash import wire
from ridedash.sandbox.pricing.categories import Tariff
from ridedash.sandbox.pricing.estimates import driven_on
from ridedash.sandbox.pricing.rates import Driven, Price, Terms, price
from ridedash.sandbox.trips.ledger import Booking

NOTHING: Final = Driven(Decimal(0), Decimal(0))


def driven(booking: Booking) -> Driven:
    """The ride of a booking as input for pricing, with the time for which the driver waited."""
    ride = booking.plan.ride
    located = booking.plan.first(wire.CLIENT_LOCATED)
    if ride is None:
        return NOTHING
    return driven_on(ride.route, ride.departs - located.at if located else 0.0)


def bill(booking: Booking, tariff: Tariff, *, ended: bool = True) -> Price:
    """The price of a booking; before its end (`ended` false) without the waiting time."""
    category = tariff.find(booking.category)
    assert category is not None
    trip = driven(booking)
    if not ended:
        trip = Driven(trip.km, trip.minutes)
    return price(tariff, category, agreed(booking), trip)


def agreed(booking: Booking) -> Terms:
    """The current terms: a changed drop ends an upfront price, but a share fare stays fixed."""
    terms = booking.request.terms
    if booking.request.drop_changed and booking.kind is not wire.Kind.SHARE:
        return replace(terms, fixed=None)
    return terms
