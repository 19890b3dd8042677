"""Create booking: the checks in the interface's order, then the trip is planned and stored.

A repeated create makes a second booking, even with the same merchant_txn_id: the interface does not
promise anything else.
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
from ridedash.sandbox.pricing.estimates import priced_trip, terms
from ridedash.sandbox.request_parsing import Refusal
from ridedash.sandbox.trips import planner, scenarios
from ridedash.sandbox.trips.crews import seeded_rng
from ridedash.sandbox.trips.ledger import Booking, Request, next_number
from ridedash.sandbox.users import SandboxUser
from ridedash.sandbox.world import World

SAME_PLACE_M: Final = 5.0
RETRY_CHANCE: Final = 0.6  # of share bookings that allow the retry
PREFIX: Final = {wire.Kind.POINT_TO_POINT: "PT", wire.Kind.SHARE: "SH", wire.Kind.AUTO: "AU"}
REFUSALS: Final = {
    wire.BANNED_USER: "This account can't book",
    wire.OUTSTANDING_DUE: "An earlier ride is not paid yet",
    wire.PAYMENT_PENDING: "The payment of an earlier ride is still pending",
    wire.SVC_CREDIT_DUE: "The credit of this account must be repaid first",
}
# the interface has no code for these
FARE_ID_REQUIRED: Final = "FARE_ID_REQUIRED"
INVALID_FARE_ID: Final = "INVALID_FARE_ID"
FARE_EXPIRED: Final = "FARE_EXPIRED"
DROP_REQUIRED: Final = "DROP_REQUIRED"
RIDE_LATER_NOT_AVAILABLE: Final = "RIDE_LATER_NOT_AVAILABLE"


@dataclass(frozen=True)
class Payload:
    """The fields of a create, read but not yet checked."""

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
    """A payload that passed the checks which need no price, with its city and category."""

    user: SandboxUser
    city: City
    category: Category
    payload: Payload


def read(body: Mapping[str, Any]) -> Payload:
    """Every payload field of create; a Refusal (HTTP 400) names the first that is wrong."""
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
    sandbox: World, user: SandboxUser, body: Mapping[str, Any], now: float
) -> dict[str, Any]:
    """Book, and answer as create does."""
    accepted = _checked(sandbox, user, read(body))
    request = _priced(sandbox, accepted, now)
    with sandbox.store.write() as connection:
        booking = _planned(connection, sandbox, accepted, request, now)
        sandbox.ledger.add(connection, booking)
    return _answer(booking, accepted.city)


def _checked(sandbox: World, user: SandboxUser, asked: Payload) -> Accepted:
    """The checks that need no price, in the interface's order."""
    if asked.category not in CATEGORY_IDS:
        raise booking_failed(wire.INVALID_CAR_CATEGORY)
    city = sandbox.city_at(asked.pickup)
    if city is None:
        raise booking_failed(wire.INVALID_CITY)
    category = tariff_of(city.currency).find(asked.category)
    if category is None:
        raise booking_failed(wire.INVALID_CAR_CATEGORY)
    if asked.drop and distance_m(asked.pickup, asked.drop) <= SAME_PLACE_M:
        raise failure(wire.SAME_PICKUP_DROP, "Pickup and drop are the same place")
    if user.refusal:
        raise failure(user.refusal, REFUSALS[user.refusal])
    if asked.drop and not city.contains(asked.drop):
        raise failure(wire.INVALID_DROP_LOCATION, "The drop is in another city")
    if asked.later:
        raise failure(RIDE_LATER_NOT_AVAILABLE, "Rides can be booked for now only")
    if category.kind is wire.Kind.SHARE:
        _check_shared(city, asked.drop)
    return Accepted(user, city, category, asked)


def _check_shared(city: City, drop: LatLng | None) -> None:
    if drop is None:
        raise failure(DROP_REQUIRED, "A shared ride needs a drop")
    if any(contains(ring, drop) for ring in city.no_share_heading):
        raise failure(None, "No cabs are headed toward your destination")
    if any(contains(ring, drop) for ring in city.unshareable):
        raise failure(None, "Your destination is not appropriate for sharing a ride")


def _priced(sandbox: World, accepted: Accepted, now: float) -> Request:
    """The terms of the booking: locked by a fare_id, fixed for share, by the meter otherwise."""
    city, category, asked = accepted.city, accepted.category, accepted.payload
    when = rates.local(now, city.timezone)
    agreed = terms(city, category, (asked.pickup, asked.drop), when, asked.coupon)
    fixed: Decimal | None = None
    if category.upfront:
        fixed = _locked(sandbox, category, asked, now)
    elif category.kind is wire.Kind.SHARE and asked.drop:
        shared = priced_trip(city, tariff_of(city.currency), asked.pickup, asked.drop, now)
        fixed = shared.share(category, asked.seats)[1]
    agreed = replace(agreed, fixed=fixed)
    return Request(asked.pickup, asked.drop, asked.seats, asked.cash, agreed, asked.affiliate_uid)


def _locked(sandbox: World, category: Category, asked: Payload, now: float) -> Decimal:
    if asked.drop is None:
        raise failure(DROP_REQUIRED, "This category has a fixed price and needs a drop")
    if asked.fare_id is None:
        raise failure(FARE_ID_REQUIRED, "This category has a fixed price and needs its fare_id")
    locked = sandbox.seal.read(asked.fare_id)
    if locked is None or not locked.fits(category.id, asked.pickup, asked.drop):
        raise failure(INVALID_FARE_ID, "This fare_id was not given for this trip")
    if locked.expired(now, sandbox.clock.speed()):
        raise failure(FARE_EXPIRED, "The price has expired; ask for a new one")
    return locked.total


def _planned(
    connection: sqlite3.Connection,
    sandbox: World,
    accepted: Accepted,
    request: Request,
    now: float,
) -> Booking:
    """The booking with its whole timeline.

    Its random numbers follow from the seed, the booking's number and the time of the create.
    """
    city, category, asked = accepted.city, accepted.category, accepted.payload
    rng = seeded_rng(sandbox.settings.seed, next_number(connection), round(now, 3))
    scenario = _scenario(connection, sandbox, accepted, now, rng)
    booking_id = _fresh_id(connection, PREFIX[category.kind], rng)
    trip = planner.TripRequest(
        city=city,
        tariff=tariff_of(city.currency),
        category=category,
        pickup=asked.pickup,
        drop=asked.drop,
        rider=accepted.user.rider,
        scenario=scenario,
        start=now,
    )
    return Booking(
        booking_id=booking_id,
        txn_id=f"TX{rng.randrange(16**12):012X}" if scenario in planner.RETRYING else None,
        merchant_txn_id=asked.merchant_txn_id,
        user=accepted.user.id,
        category=category.id,
        city=city.slug,
        created_at=now,
        scenario=scenario,
        request=request,
        plan=planner.Planner(trip, sandbox.fleet(city.slug), rng).plan(),
    )


def _scenario(
    connection: sqlite3.Connection, sandbox: World, accepted: Accepted, now: float, rng: Random
) -> str:
    """The scenario that was ordered through control, or the normal one.

    For share it also says whether a cab is found at once or a retry is needed.
    """
    category, asked = accepted.category, accepted.payload
    ordered = scenarios.take(connection, category.kind) or planner.NORMAL
    if category.kind is not wire.Kind.SHARE:
        return ordered
    fleet = sandbox.fleet(accepted.city.slug)
    near = fleet.nearest(category.id, asked.pickup, now) is not None
    return _shared_scenario(ordered, asked.retry, near, rng)


def _shared_scenario(ordered: str, retry: bool, near: bool, rng: Random) -> str:
    at_once = {
        planner.NORMAL: not retry or rng.random() >= RETRY_CHANCE,
        planner.SHARE_IMMEDIATE: True,
    }
    if near and at_once.get(ordered, False):
        return planner.SHARE_IMMEDIATE
    if not retry:
        raise failure(None, "No cabs are headed toward your destination")
    if ordered in (planner.SLOW_ALLOTMENT, planner.SHARE_RETRY_SLOW):
        return planner.SHARE_RETRY_SLOW
    none = ordered in (planner.NO_CAB, planner.SHARE_RETRY_FAIL)
    return planner.SHARE_RETRY_FAIL if none else planner.SHARE_RETRY


def _fresh_id(connection: sqlite3.Connection, prefix: str, rng: Random) -> str:
    while True:
        booking_id = f"{prefix}{rng.randrange(10**9, 10**10)}"
        query = "SELECT 1 FROM bookings WHERE booking_id = ?"
        if connection.execute(query, (booking_id,)).fetchone() is None:
            return booking_id


def _answer(booking: Booking, city: City) -> dict[str, Any]:
    """The three shapes of success."""
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


def booking_failed(code: str) -> Refusal:
    """The failure of create that carries `message` BOOKING_FAILED and a code, without `status`."""
    return Refusal(200, {"message": wire.BOOKING_FAILED, "code": code})


def failure(code: str | None, message: str) -> Refusal:
    """A failure of create with `status` FAILURE; two of the share failures have no code."""
    body = {"status": wire.FAILURE, "code": code, "message": message}
    return Refusal(200, {key: value for key, value in body.items() if value is not None})
