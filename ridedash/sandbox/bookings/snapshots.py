"""The bodies of track_ride by kind and status, and the bill of a ride."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.pricing.categories import Tariff
from ridedash.sandbox.pricing.estimates import driven_on
from ridedash.sandbox.pricing.rates import (
    NIGHT_RATIO,
    Driven,
    Price,
    Terms,
    convenience_charge,
    local,
    number,
    price,
)
from ridedash.sandbox.trips.drivers import Driver
from ridedash.sandbox.trips.ledger import Booking
from ridedash.sandbox.trips.timeline import Leg, TripPhase
from ridedash.sandbox.users import wallet_of

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


NO_PLACE: Final = LatLng(0.0, 0.0)  # sent as the drop when the booking has none
MOVING: Final = (  # the fields that change during a status: position, speed, remaining time
    ',"driver_lat":%r,"driver_lng":%r,"bearing":%r,"speed":%r,'
    '"duration":{"value":%d,"unit":"MINUTE"},"distance":{"value":%d,"unit":"METER"}}'
)


def by_txn(booking: Booking, now: float) -> dict[str, Any]:
    """The body for a share booking tracked by txn_id.

    It has only the status. Once a driver is found it also has the booking id, and a message unless
    the booking was cancelled since.
    """
    body: dict[str, Any] = {"status": wire.SUCCESS, "booking_status": booking.status(now)}
    if booking.revealed(now):
        body["booking_id"] = booking.booking_id
        if body["booking_status"] != wire.BOOKING_CANCELLED:
            body["message"] = "A driver was found. Track by booking_id from now on."
    return body


def by_booking(booking: Booking, tariff: Tariff, zone: str, now: float) -> dict[str, Any] | str:
    """The snapshot of a booking at a time.

    Point-to-point and share rides with a known cab give serialised JSON text, others an object.
    """
    phase = booking.phase(now)
    body: dict[str, Any] = {
        "status": wire.SUCCESS,
        "request_type": wire.TRACK_RIDE,
        "booking_id": booking.booking_id,
        "booking_status": phase.status,
    }
    if booking.kind is wire.Kind.AUTO:
        return body | _auto(booking, tariff, zone, phase, now)
    if phase.status in wire.CAB_KNOWN:
        return _full(booking, tariff, phase, now, body)
    if phase.status == wire.COMPLETED:
        body |= _places(booking, ended=True) | _car(_driver(booking, phase))
        return body | _price(booking, tariff, phase.status)
    return body


def _full(
    booking: Booking, tariff: Tariff, phase: TripPhase, now: float, common: dict[str, Any]
) -> str:
    """The full set of cab and driver fields, as JSON text.

    The fields that are constant during a status are serialised once for each driver and cached in
    the booking. The fields that change are appended.
    """
    leg = _leg(booking, phase)
    moving, (seconds, metres) = leg.motion(now), leg.left(now)
    part = f"{phase.status} {phase.driver}"
    if part not in booking.memo:
        booking.memo[part] = json.dumps(
            common | _constant_fields(booking, tariff, phase), separators=(",", ":")
        )[:-1]
    return booking.memo[part] + MOVING % (
        round(moving.position.lat, 6),
        round(moving.position.lng, 6),
        round(moving.bearing, 1) % 360,
        round(moving.speed_kmh, 1),
        minutes(seconds),
        round(metres),
    )


def _constant_fields(booking: Booking, tariff: Tariff, phase: TripPhase) -> dict[str, Any]:
    """The fields that are constant during a status; `otp` and passengers only in some statuses."""
    driver = _driver(booking, phase)
    body = _places(booking) | _car(driver) | _price(booking, tariff, phase.status)
    body |= {
        "driver_rating": driver.driver_rating,
        "share_ride_url": f"https://rides.example/follow/{booking.booking_id}",
        "passengers": [
            {"name": rider} for rider in booking.plan.riders if phase.status == wire.CALL_DRIVER
        ],
        "route": _route(booking),
        "promotional_message": _promotion(booking),
    }
    if phase.status in wire.OTP_STATUSES:
        body["otp"] = {"start_trip": {"text": "Start code", "value": booking.plan.start_code}}
    return body


def _auto(
    booking: Booking, tariff: Tariff, zone: str, phase: TripPhase, now: float
) -> dict[str, Any]:
    """The reduced field sets of auto bookings."""
    if phase.status == wire.CALL_DRIVER:
        return _auto_approach(booking, phase, now)
    if phase.status == wire.IN_PROGRESS:
        return _position(_leg(booking, phase).motion(now).position)
    if phase.status == wire.INVOICE:
        return _auto_bill(booking, tariff, ended=False)
    if phase.status == wire.COMPLETED:
        riding = booking.plan.first(wire.IN_PROGRESS)
        picked_up = riding.at if riding else phase.at
        return _auto_bill(booking, tariff, ended=True) | {"pickup_time": iso(picked_up, zone)}
    return {}


def _auto_approach(booking: Booking, phase: TripPhase, now: float) -> dict[str, Any]:
    driver = _driver(booking, phase)
    leg = _leg(booking, phase)
    seconds, metres = leg.left(now)
    return {
        "driver_name": driver.driver_name,
        "driver_number": driver.driver_number,
        "driver_image_url": driver.driver_image_url,
        "driver_rating": str(driver.driver_rating),
        "vehicle_type": driver.vehicle_type,
        "vehicle_number": driver.vehicle_number,
        **_position(leg.motion(now).position),
        "duration": {"value": minutes(seconds), "unit": "MINUTES"},
        "distance": {"value": round(metres), "unit": "METER"},
    }


def _auto_bill(booking: Booking, tariff: Tariff, *, ended: bool) -> dict[str, Any]:
    """`svc_money_balance`, and `trip_info` with a fare only if the city's autos are billed."""
    price = bill(booking, tariff)
    terms = booking.request.terms
    category = tariff.find(booking.category)
    assert category is not None
    charge = convenience_charge(tariff, category)
    payable = price.total + charge - terms.advance
    info: dict[str, Any] = {
        "billing_enabled": tariff.auto_billing,
        "discount": number(price.discount),
        "advance": number(terms.advance),
        "convenience_charge": number(charge),
    }
    if tariff.auto_billing:
        trip = driven(booking)
        info |= {
            "amount": number(price.fare + price.tax + price.toll),
            "distance": {"value": number(round(trip.km, 2)), "unit": "KMS"},
            "night_charges_applied": terms.night,
            "night_charge_ratio": str(NIGHT_RATIO) if terms.night else "NA",
        }
        time = {"value": max(1, round(trip.minutes)), "unit": "MINUTE"}
        paid = number(payable) if booking.request.cash else 0
        if ended:
            info |= {"ride_time": time, "cash_paid": paid}
        else:
            info |= {"payable_amount": number(payable), "trip_time": time}
    return {"svc_money_balance": _balance(booking, payable, ended=ended), "trip_info": info}


def _balance(booking: Booking, payable: Decimal, *, ended: bool) -> float:
    left = Decimal(str(wallet_of(booking.user))) - booking.request.terms.advance
    if ended and not booking.request.cash:
        left -= payable
    return number(left)


def _price(booking: Booking, tariff: Tariff, status: str) -> dict[str, Any]:
    return {"price_details": bill(booking, tariff, ended=status == wire.COMPLETED).details()}


def _places(booking: Booking, *, ended: bool = False) -> dict[str, Any]:
    drop = booking.request.drop
    if drop is None and ended:
        drop = booking.plan.drop
    return {
        "pickup_location": _lat_lng(booking.request.pickup),
        "drop_location": _lat_lng(drop or NO_PLACE),
    }


def _car(driver: Driver) -> dict[str, Any]:
    return {
        "driver_name": driver.driver_name,
        "driver_number": driver.driver_number,
        "driver_image_url": driver.driver_image_url,
        "vehicle_type": driver.vehicle_type,
        "vehicle_number": driver.vehicle_number,
        "vehicle_color": driver.vehicle_color,
    }


def _route(booking: Booking) -> list[dict[str, Any]]:
    return [
        {"name": stop.name, "state": stop.state, **_lat_lng(stop.position)}
        for stop in booking.plan.stops
    ]


def _promotion(booking: Booking) -> str:
    return "Sharing keeps a car off the road." if booking.kind is wire.Kind.SHARE else ""


def _driver(booking: Booking, phase: TripPhase) -> Driver:
    return booking.plan.drivers[phase.driver or 0]


def _leg(booking: Booking, phase: TripPhase) -> Leg:
    return booking.plan.legs[phase.leg or 0]


def _position(place: LatLng) -> dict[str, float]:
    return {"driver_lat": round(place.lat, 6), "driver_lng": round(place.lng, 6)}


def _lat_lng(place: LatLng) -> dict[str, float]:
    return {"lat": place.lat, "lng": place.lng}


def minutes(seconds: float) -> int:
    """Whole minutes, rounded up: 0 only for 0 seconds."""
    return -int(-seconds // 60)


def iso(time: float, zone: str) -> str:
    """A service time in the city's time zone, as ISO 8601 with its offset."""
    return local(time, zone).isoformat(timespec="seconds")
