"""What a booking costs: as planned while it runs, as driven at its end, with a changed drop counted
in.
"""

from decimal import Decimal
from typing import Final

from ridedash import wire
from ridedash.sandbox.pricing.categories import Tariff
from ridedash.sandbox.pricing.estimates import driven_on
from ridedash.sandbox.pricing.rates import Driven, Price, Terms, price
from ridedash.sandbox.trips.ledger import Booking

NOTHING: Final = Driven(Decimal(0), Decimal(0))


def driven(booking: Booking) -> Driven:
    """The ride of a booking, with the time that the driver waited for the guest."""
    ride, located = booking.plan.ride, booking.plan.first(wire.CLIENT_LOCATED)
    if ride is None:
        return NOTHING
    return driven_on(ride.route, ride.departs - located.at if located else 0.0)


def bill(booking: Booking, tariff: Tariff, *, ended: bool = True) -> Price:
    """The price as driven; before the end (`ended` false) without the waiting, which isn't over
    yet.
    """
    category = tariff.find(booking.category)
    assert category is not None
    trip = driven(booking)
    if not ended:
        trip = Driven(trip.km, trip.minutes)
    return price(tariff, category, agreed(booking), trip)


def agreed(booking: Booking) -> Terms:
    """The terms that hold: a changed drop ends an upfront price, while a shared fare stays
    fixed.
    """
    terms = booking.request.terms
    if booking.request.drop_changed and booking.kind is not wire.Kind.SHARE:
        return Terms(terms.surge, terms.airport, terms.night, terms.coupon, None)
    return terms
