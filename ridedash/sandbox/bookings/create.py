"""Create booking: check the request in the order of the interface, plan the trip, store it.

A repeated create makes a second booking, even with the same merchant_txn_id: the interface does
not promise to recognise it.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng, contains, distance_m
from ridedash.sandbox import request_parsing
from ridedash.sandbox.bookings.snapshots import iso
from ridedash.sandbox.city.city import City
from ridedash.sandbox.pricing import rates
from ridedash.sandbox.pricing.categories import CATEGORY_IDS, Category, tariff_of
from ridedash.sandbox.pricing.estimates import at_airport, priced_trip, terms
from ridedash.sandbox.pricing.fare_ids import LIFETIME_S
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.services import SandboxServices
from ridedash.sandbox.trips import planner
from ridedash.sandbox.trips.drivers import seeded_rng
from ridedash.sandbox.trips.ledger import Booking, BookingTerms, next_number, pop_scenario
from ridedash.sandbox.users import SandboxUser

SAME_PLACE_M: Final = 5.0  # no car drives five metres
SAME_PLACE: Final = "Pickup and drop are the same place"
NONE_HEADED: Final = "No cabs are headed toward your destination"
# how often the first search fails, if a share booking allows a retry and a cab is near
RETRY_CHANCE: Final = 0.6
PREFIX: Final = {wire.Kind.POINT_TO_POINT: "PT", wire.Kind.SHARE: "SH", wire.Kind.AUTO: "AU"}
REFUSALS: Final = {
    wire.BANNED_USER: "This account can't book",
    wire.OUTSTANDING_DUE: "86.50 is due for an earlier ride",
    wire.PAYMENT_PENDING: "The payment of an earlier ride is still pending",
    wire.SVC_CREDIT_DUE: "The credit of this account must be repaid first",
}
# Codes of our own: the interface has none for these failures.
FARE_ID_REQUIRED: Final = "FARE_ID_REQUIRED"
INVALID_FARE_ID: Final = "INVALID_FARE_ID"
FARE_EXPIRED: Final = "FARE_EXPIRED"
DROP_REQUIRED: Final = "DROP_REQUIRED"
AFFILIATE_UID_REQUIRED: Final = "AFFILIATE_UID_REQUIRED"
RIDE_LATER_NOT_AVAILABLE: Final = "RIDE_LATER_NOT_AVAILABLE"


@dataclass(frozen=True)
class Payload:
    """The fields of a create request, parsed but not yet checked."""

    pickup: LatLng
    drop: LatLng | None
    category: str
    later: bool
    cash: bool
    fare_id: str | None
    affiliate_uid: str | None
    coupon: str | None
    merchant_txn_id: str | None
    seats: int
    retry: bool


@dataclass(frozen=True)
class Accepted:
    """A payload that passed all checks except those of the price, with its city and category."""

    user: SandboxUser
    city: City
    category: Category
    payload: Payload


def read(body: Mapping[str, Any]) -> Payload:
    """Parse the fields of a create request.

    Raises RequestRefusal (HTTP 400) for the first wrong one.
    """
    mode = request_parsing.text(body, "pickup_mode").lower()
    if mode not in (wire.PICKUP_NOW, wire.PICKUP_LATER):
        raise request_parsing.bad_request("pickup_mode must be now or later")
    instrument = request_parsing.optional_text(body, "payment_instrument_type") or wire.SVC_MONEY
    if instrument not in (wire.CASH, wire.SVC_MONEY):
        raise request_parsing.bad_request("payment_instrument_type must be cash or svc_money")
    return Payload(
        pickup=request_parsing.point(
            request_parsing.number(body, "pickup_lat"),
            request_parsing.number(body, "pickup_lng"),
            "pickup",
        ),
        drop=request_parsing.optional_point(
            request_parsing.number(body, "drop_lat"),
            request_parsing.number(body, "drop_lng"),
            "drop",
        ),
        category=request_parsing.text(body, "category"),
        later=mode == wire.PICKUP_LATER,
        cash=instrument == wire.CASH,
        fare_id=request_parsing.optional_text(body, "fare_id") or None,
        affiliate_uid=request_parsing.optional_text(body, "affiliate_uid"),
        coupon=request_parsing.optional_text(body, "coupon_code"),
        merchant_txn_id=request_parsing.merchant_txn_id(body),
        seats=request_parsing.seats(body),
        retry=request_parsing.flag(body, "retry"),
    )


def create(
    sandbox: SandboxServices, user: SandboxUser, body: Mapping[str, Any], now: float
) -> dict[str, Any]:
    """Create a booking and return the body of the answer."""
    accepted = _checked(sandbox, user, read(body))
    request = _priced(sandbox, accepted, now)
    with sandbox.store.write() as connection:
        booking = _planned(connection, sandbox, accepted, request, now)
        sandbox.ledger.add(connection, booking)
    return _answer(booking, accepted.city)


def _checked(sandbox: SandboxServices, user: SandboxUser, payload: Payload) -> Accepted:
    """Run the checks that need no price, in the order of the interface."""
    if payload.category not in CATEGORY_IDS:
        raise booking_failed(wire.INVALID_CAR_CATEGORY)
    city = sandbox.city_at(payload.pickup)
    if city is None:
        raise booking_failed(wire.INVALID_CITY)
    category = tariff_of(city.currency).find(payload.category)
    if category is None:
        raise booking_failed(wire.INVALID_CAR_CATEGORY)
    if payload.drop and same_place(payload.pickup, payload.drop):
        raise failure(wire.SAME_PICKUP_DROP, SAME_PLACE)
    if user.refusal:
        raise failure(user.refusal, REFUSALS[user.refusal])
    if user.affiliate and not (payload.affiliate_uid or "").strip():
        raise failure(AFFILIATE_UID_REQUIRED, "This account is booked with an affiliate_uid only")
    if payload.drop and not city.contains(payload.drop):
        raise failure(wire.INVALID_DROP_LOCATION, "The drop is in another city")
    if payload.later:
        raise failure(RIDE_LATER_NOT_AVAILABLE, "Rides can be booked for now only")
    if category.kind is wire.Kind.SHARE:
        _check_shared(city, payload.drop)
    return Accepted(user, city, category, payload)


def _check_shared(city: City, drop: LatLng | None) -> None:
    if drop is None:
        raise failure(DROP_REQUIRED, "A shared ride needs a drop")
    words = share_refusal(city, drop)
    if words is not None:
        raise failure(None, words)


def same_place(pickup: LatLng, drop: LatLng) -> bool:
    """Whether a drop is at the pickup."""
    return distance_m(pickup, drop) <= SAME_PLACE_M


def share_refusal(city: City, drop: LatLng) -> str | None:
    """The service's words why no shared cab goes to a drop; None if one does."""
    if any(contains(ring, drop) for ring in city.no_share_heading):
        return NONE_HEADED
    if any(contains(ring, drop) for ring in city.unshareable):
        return "Your destination is not appropriate for sharing a ride"
    return None


def _priced(sandbox: SandboxServices, accepted: Accepted, now: float) -> BookingTerms:
    """The request with its terms: locked by a fare_id, fixed for share, metered otherwise."""
    city = accepted.city
    category = accepted.category
    payload = accepted.payload
    when = rates.local(now, city.timezone)
    agreed = terms(city, category, (payload.pickup, payload.drop), when, payload.coupon)
    fixed: Decimal | None = None
    if category.upfront:
        fixed = _locked(sandbox, category, payload)
    elif category.kind is wire.Kind.SHARE and payload.drop:
        shared = priced_trip(city, tariff_of(city.currency), payload.pickup, payload.drop, now)
        fixed = shared.share(category, payload.seats)[1]
    agreed = replace(agreed, fixed=fixed, advance=_advance(accepted))
    return BookingTerms(
        payload.pickup, payload.drop, payload.seats, payload.cash, agreed, payload.affiliate_uid
    )


def _advance(accepted: Accepted) -> Decimal:
    """The amount that an auto booked at the airport takes from the wallet at once."""
    city = accepted.city
    payload = accepted.payload
    auto = accepted.category.kind is wire.Kind.AUTO
    if not auto or payload.cash or not at_airport(city, payload.pickup):
        return Decimal(0)
    return tariff_of(city.currency).airport_advance


def _locked(sandbox: SandboxServices, category: Category, payload: Payload) -> Decimal:
    if payload.drop is None:
        raise failure(DROP_REQUIRED, "This category has a fixed price and needs a drop")
    if payload.fare_id is None:
        raise failure(FARE_ID_REQUIRED, "This category has a fixed price and needs its fare_id")
    locked = sandbox.fare_signer.read(payload.fare_id)
    if locked is None or not locked.fits(category.id, payload.pickup, payload.drop):
        raise failure(INVALID_FARE_ID, "This fare_id was not given for this trip")
    if sandbox.clock.wall_seconds_since(locked.issued_at) > LIFETIME_S:
        raise failure(FARE_EXPIRED, "The price has expired; ask for a new one")
    return locked.total


def _planned(
    connection: sqlite3.Connection,
    sandbox: SandboxServices,
    accepted: Accepted,
    request: BookingTerms,
    now: float,
) -> Booking:
    """The booking with its whole timeline.

    Drivers, cars, codes and times depend on the seed and the booking's number, so that a demo
    repeats them after a reset. The booking's ids also depend on the time of the request: a partner
    may still know the ids from before the reset.
    """
    category = accepted.category
    draw = (sandbox.seed(), next_number(connection))
    rng = seeded_rng(*draw)
    ids = seeded_rng(*draw, round(now, 3))
    scenario = _scenario(connection, sandbox, accepted, now, rng)
    trip = planner.TripRequest(
        city=accepted.city,
        tariff=tariff_of(accepted.city.currency),
        category=category,
        pickup=accepted.payload.pickup,
        drop=accepted.payload.drop,
        rider=accepted.user.rider,
        scenario=scenario,
        start=now,
    )
    return Booking(
        booking_id=_fresh_id(connection, PREFIX[category.kind], ids),
        txn_id=f"TX{ids.randrange(16**12):012X}" if scenario in planner.RETRYING else None,
        merchant_txn_id=accepted.payload.merchant_txn_id,
        user=accepted.user.id,
        category=category.id,
        city=accepted.city.slug,
        created_at=now,
        scenario=scenario,
        request=request,
        plan=planner.Planner(trip, sandbox.fleet(accepted.city.slug), rng).plan(),
    )


def _scenario(
    connection: sqlite3.Connection,
    sandbox: SandboxServices,
    accepted: Accepted,
    now: float,
    rng: Random,
) -> str:
    """The scenario that was queued through the control API, or the normal one.

    For share this also decides whether a cab is found at once or after a retry.
    """
    category = accepted.category
    payload = accepted.payload
    scenario = pop_scenario(connection, category.kind) or planner.NORMAL
    if category.kind is not wire.Kind.SHARE:
        return scenario
    fleet = sandbox.fleet(accepted.city.slug)
    near = fleet.nearest(category.id, payload.pickup, now) is not None
    return _shared_scenario(scenario, payload.retry, near, rng)


def _shared_scenario(scenario: str, retry: bool, near: bool, rng: Random) -> str:
    at_once = {
        planner.NORMAL: not retry or rng.random() >= RETRY_CHANCE,
        planner.SHARE_IMMEDIATE: True,
    }
    if near and at_once.get(scenario, False):
        return planner.SHARE_IMMEDIATE
    if not retry:
        raise failure(None, NONE_HEADED)
    if scenario in (planner.SLOW_ALLOTMENT, planner.SHARE_RETRY_SLOW):
        return planner.SHARE_RETRY_SLOW
    if scenario in (planner.NO_CAB, planner.SHARE_RETRY_FAIL):
        return planner.SHARE_RETRY_FAIL
    return planner.SHARE_RETRY


def _fresh_id(connection: sqlite3.Connection, prefix: str, rng: Random) -> str:
    while True:
        booking_id = f"{prefix}{rng.randrange(10**9, 10**10)}"
        query = "SELECT 1 FROM bookings WHERE booking_id = ?"
        if connection.execute(query, (booking_id,)).fetchone() is None:
            return booking_id


def _answer(booking: Booking, city: City) -> dict[str, Any]:
    """The body of a successful create, in one of its three shapes."""
    timeout = {"booking_timeout": planner.BOOKING_TIMEOUT_S, "booking_timeout_unit": "SECONDS"}
    body: dict[str, Any] = {"status": wire.SUCCESS, "booking_id": booking.booking_id}
    if booking.txn_id is not None:
        next_try = iso(booking.created_at + planner.RETRY_EVERY_S, city.timezone)
        body |= {
            "booking_id": None,
            "retry": {**timeout, "next_retry_time": next_try},
            "txn_id": booking.txn_id,
        }
    elif booking.kind is not wire.Kind.SHARE:
        body |= {
            "message": "Your booking is made. We are looking for a cab near the pickup.",
            **timeout,
        }
    if booking.merchant_txn_id is not None:
        body["merchant_txn_id"] = booking.merchant_txn_id
    return body


def booking_failed(code: str) -> RequestRefusal:
    """A failure of create with `message` BOOKING_FAILED and a code, but without `status`."""
    return RequestRefusal(200, {"message": wire.BOOKING_FAILED, "code": code})


def failure(code: str | None, message: str) -> RequestRefusal:
    """A failure of create with `status` FAILURE; two of the share failures have no code."""
    body = {"status": wire.FAILURE, "code": code, "message": message}
    return RequestRefusal(200, {key: value for key, value in body.items() if value is not None})
