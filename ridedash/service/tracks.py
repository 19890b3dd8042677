"""What track-ride says about a ride, for all kinds of booking (Track-ride snapshot; Endpoints, 5)."""

from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import Field

from ridedash.geo import LatLng
from ridedash.service.fields import Distance, Duration, Fact, Moment


class PriceDetails(Fact):
    """`price_details`; there is no total in it and no currency (it is the product's)."""

    fare: Decimal | None = None
    service_tax: Decimal | None = None
    discount_percentage: Decimal | None = None
    discount_value: Decimal | None = None
    toll_charges: Decimal | None = None


class RouteStop(Fact):
    """A place where somebody gets in (`pickup`) or out (`drop`). Names passengers: for staff only."""

    name: str | None = None
    state: Literal["pickup", "drop"] | None = None
    position: LatLng | None = None


class TripInfo(Fact):
    """The invoice of an auto ride (`trip_info`); which fields are there depends on status and billing."""

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


class Snapshot(Fact):
    """One answer of track-ride. Whatever it did not carry, or carried wrongly, is None or empty."""

    status: str | None = None  # in capitals
    request_type: str | None = None
    booking_status: str | None = None  # as sent, in capitals; an unknown one is kept
    booking_id: str | None = None
    message: str | None = None
    pickup: LatLng | None = None
    drop: LatLng | None = None  # None also for the service's (0, 0)
    position: LatLng | None = None  # of the cab
    bearing: float | None = None  # degrees in [0, 360), 0 is north
    speed: float | None = None  # the unit is not shown; km/h is assumed
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
    distance: Distance | None = None  # the same, as a length
    price: PriceDetails | None = None
    passengers: tuple[str, ...] = Field(default=(), repr=False)  # staff only
    route: tuple[RouteStop, ...] = Field(default=(), repr=False)  # staff only
    promotional_message: str | None = None
    otp: str | None = Field(default=None, repr=False)  # the start code, only while the service sends it
    otp_text: str | None = None
    trip: TripInfo | None = None  # auto: INVOICE and COMPLETED
    svc_money_balance: Decimal | None = None  # auto: INVOICE and COMPLETED
    pickup_time: Moment | None = None  # auto: COMPLETED

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Read the body of track-ride. Never raises."""
        raise NotImplementedError
