"""The facts of a ride in an answer of track_ride, for all kinds of booking.

See docs/service-interface.md Track-ride snapshot.
"""

from decimal import Decimal
from typing import Any, Final, Literal, Self

from pydantic import Field

from ridedash.geo import LatLng
from ridedash.service.parsing import fields
from ridedash.service.parsing.fields import (
    Distance,
    Duration,
    Fact,
    ServiceInstant,
    flag,
    ident,
    link,
    number,
    positive,
    row,
    rows,
    text,
)
from ridedash.service.parsing.units import measured_length, measured_time, service_time

PASSENGERS_LIMIT: Final = 20  # more than any shared cab has seats
MOST_STARS: Final = 5  # the scale of the service
STOPS_LIMIT: Final = 40  # getting in and out, for each passenger of the longest list


class PriceDetails(Fact):
    """`price_details`; it has no total and no currency (the currency is the product's)."""

    fare: Decimal | None = None
    service_tax: Decimal | None = None
    discount_percentage: Decimal | None = None
    discount_value: Decimal | None = None
    toll_charges: Decimal | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `price_details`; None when it is empty."""
        got = row(value)
        found = {name: read for name in _PRICES if (read := positive(got.get(name))) is not None}
        return cls(**found) if found else None


_PRICES: Final = tuple(PriceDetails.model_fields)


class RouteStop(Fact):
    """A place where a passenger gets in (`pickup`) or out (`drop`).

    `name` is the passenger's name: only staff may see it.
    """

    name: str | None = None
    state: Literal["pickup", "drop"] | None = None
    position: LatLng | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one element of `route`; None when it has neither a name nor a position."""
        got = row(value)
        states: dict[str, Literal["pickup", "drop"]] = {"pickup": "pickup", "drop": "drop"}
        found = cls(
            name=text(got.get("name")),
            state=states.get((text(got.get("state")) or "").lower()),
            position=fields.place(got),
        )
        return found if found.name or found.position else None


class TripInfo(Fact):
    """The invoice of an auto ride (`trip_info`); its fields depend on status and billing."""

    billing_enabled: bool | None = None
    discount: Decimal | None = None
    advance: Decimal | None = None
    convenience_charge: Decimal | None = None
    amount: Decimal | None = None  # billing enabled
    distance: Distance | None = None  # billing enabled
    night_charges_applied: bool | None = None  # billing enabled
    night_charge_ratio: str | None = None  # None when not applicable (NA)
    payable_amount: Decimal | None = None  # INVOICE
    trip_time: Duration | None = None  # INVOICE
    ride_time: Duration | None = None  # COMPLETED
    cash_paid: Decimal | None = None  # COMPLETED

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `trip_info` in any of its three shapes; None when it is empty."""
        got = row(value)
        if not got:
            return None
        ratio = text(got.get("night_charge_ratio"))
        if ratio is not None and ratio.upper() == "NA":
            ratio = None
        return cls(
            billing_enabled=flag(got.get("billing_enabled")),
            discount=positive(got.get("discount")),
            advance=positive(got.get("advance")),
            convenience_charge=positive(got.get("convenience_charge")),
            amount=positive(got.get("amount")),
            distance=measured_length(got.get("distance"), "kilometre"),
            night_charges_applied=flag(got.get("night_charges_applied")),
            night_charge_ratio=ratio,
            payable_amount=positive(got.get("payable_amount")),
            trip_time=measured_time(got.get("trip_time")),
            ride_time=measured_time(got.get("ride_time")),
            cash_paid=positive(got.get("cash_paid")),
        ).unless_empty()


class Snapshot(Fact):
    """One answer of track_ride. What is missing or invalid in it is None or empty."""

    status: str | None = None  # in capitals
    request_type: str | None = None
    booking_status: str | None = None  # as sent, in capitals; an unknown one is kept
    booking_id: str | None = None
    message: str | None = None
    pickup: LatLng | None = None
    drop: LatLng | None = None  # None also for the service's (0, 0)
    position: LatLng | None = None  # position of the cab
    bearing: float | None = None  # degrees in [0, 360), 0 is north
    speed: float | None = None  # the interface names no unit; km/h is assumed
    driver_name: str | None = None
    driver_number: str | None = Field(default=None, repr=False)
    driver_rating: Decimal | None = None  # None also for 0, which means "not rated"
    driver_image_url: str | None = None  # https only
    vehicle_type: str | None = None
    vehicle_number: str | None = None
    vehicle_color: str | None = None
    car_model: str | None = None
    share_ride_url: str | None = None  # https only
    eta: Duration | None = None  # `duration`: to the pickup before the ride, to the drop during it
    distance: Distance | None = None  # to the same place as `eta`
    price: PriceDetails | None = None
    passengers: tuple[str, ...] = Field(default=(), repr=False)  # staff only
    route: tuple[RouteStop, ...] = Field(default=(), repr=False)  # staff only
    promotional_message: str | None = None
    # the start code, only while the service sends it
    otp: str | None = Field(default=None, repr=False)
    otp_text: str | None = None
    trip: TripInfo | None = None  # auto: INVOICE and COMPLETED
    svc_money_balance: Decimal | None = None  # auto: INVOICE and COMPLETED
    # of merged facts: the balance in the first INVOICE, and in COMPLETED
    balance_at_bill: Decimal | None = None
    balance_at_end: Decimal | None = None
    pickup_time: ServiceInstant | None = None  # auto: COMPLETED

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Parse the body of track_ride. Raises nothing."""
        got = row(body)
        return cls(
            status=upper(got.get("status")),
            request_type=text(got.get("request_type")),
            booking_status=upper(got.get("booking_status")),
            booking_id=ident(got.get("booking_id")),
            message=text(got.get("message")),
            pickup=fields.place(got.get("pickup_location")),
            drop=fields.place(got.get("drop_location")),
            eta=measured_time(got.get("duration")),
            distance=measured_length(got.get("distance"), "metre"),
            price=PriceDetails.from_wire(got.get("price_details")),
            passengers=_passengers(got.get("passengers")),
            route=_route(got.get("route")),
            promotional_message=text(got.get("promotional_message")),
            share_ride_url=link(got.get("share_ride_url")),
            trip=TripInfo.from_wire(got.get("trip_info")),
            svc_money_balance=number(got.get("svc_money_balance")),
            pickup_time=service_time(got.get("pickup_time")),
            **_otp(got),
            **_cab(got),
        )


def upper(value: Any) -> str | None:
    """A word of the service in capitals, without outer spaces; None for anything but text."""
    if not isinstance(value, str):
        return None
    return (text(value) or "").upper() or None


def _otp(got: dict[str, Any]) -> dict[str, Any]:
    start = row(row(got.get("otp")).get("start_trip"))
    return {"otp": text(start.get("value")), "otp_text": text(start.get("text"))}


def _cab(got: dict[str, Any]) -> dict[str, Any]:
    """Driver, vehicle and motion; the vehicle is at the top level or in `cab_details`.

    See docs/field-notes.md 11.
    """
    nested = row(got.get("cab_details"))
    bearing = fields.real(got.get("bearing"))
    speed = fields.positive(got.get("speed"))
    return {
        "position": fields.point(got.get("driver_lat"), got.get("driver_lng")),
        "bearing": None if bearing is None else bearing % 360 % 360,  # -1e-15 % 360 is 360.0
        "speed": None if speed is None else float(speed),
        "driver_name": text(got.get("driver_name")),
        "driver_number": text(got.get("driver_number")),
        "driver_rating": _rating(got.get("driver_rating")),
        "driver_image_url": link(got.get("driver_image_url")),
        "vehicle_type": text(got.get("vehicle_type")) or text(nested.get("cab_type")),
        "vehicle_number": text(got.get("vehicle_number")) or text(nested.get("cab_number")),
        "vehicle_color": text(got.get("vehicle_color")) or text(nested.get("car_color")),
        "car_model": text(got.get("car_model")) or text(nested.get("car_model")),
    }


def _rating(value: Any) -> Decimal | None:
    """A driver's rating of at most five stars; None for 0, "not rated", and for anything else."""
    stars = fields.positive(value)
    if not stars or stars > MOST_STARS:
        return None
    return stars


def _passengers(value: Any) -> tuple[str, ...]:
    names = (text(each.get("name")) for each in rows(value))
    return tuple(name for name in names if name)[:PASSENGERS_LIMIT]


def _route(value: Any) -> tuple[RouteStop, ...]:
    stops = (RouteStop.from_wire(each) for each in rows(value))
    return tuple(stop for stop in stops if stop is not None)[:STOPS_LIMIT]
