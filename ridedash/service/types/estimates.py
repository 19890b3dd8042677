"""Prices before booking: estimates for most categories, fixed fares for share.

See docs/field-notes.md; docs/service-interface.md 6.
"""

from decimal import Decimal
from typing import Any, Self

from ridedash.service.parsing.fields import (
    Distance,
    Duration,
    Fact,
    flag,
    ident,
    integer,
    number,
    positive,
    row,
    rows,
    text,
)
from ridedash.service.parsing.units import duration, length

FARE_ID_LIMIT = 500  # characters; some services put a signed token there


class FeeLine(Fact):
    """One line of `booking_fee_breakup`."""

    display_text: str
    value: Decimal


class HubCharges(Fact):
    """Charges of an airport or station (`hub_charges`)."""

    total_hub_fee: Decimal | None = None
    pickup_hub_fee: Decimal | None = None
    pickup_hub_name: str | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `hub_charges`; None when it is empty."""
        got = row(value)
        return cls(
            total_hub_fee=number(got.get("total_hub_fee")),
            pickup_hub_fee=number(got.get("pickup_hub_fee")),
            pickup_hub_name=text(got.get("pickup_hub_name")),
        ).unless_empty()


class Discounts(Fact):
    """The reductions of a price (`discounts`)."""

    discount_type: str | None = None
    discount_code: str | None = None
    discount_mode: str | None = None
    discount: Decimal | None = None
    cashback: Decimal | None = None
    pass_savings: Decimal | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `discounts`; None when it is empty."""
        got = row(value)
        return cls(
            discount_type=text(got.get("discount_type")),
            discount_code=text(got.get("discount_code")),
            discount_mode=text(got.get("discount_mode")),
            discount=number(got.get("discount")),
            cashback=number(got.get("cashback")),
            pass_savings=number(got.get("pass_savings")),
        ).unless_empty()


class Estimate(Fact):
    """An element of `ride_estimate` of a category other than share, in the product's currency."""

    category: str | None = None
    distance: Distance | None = None
    travel_time: Duration | None = None
    amount_min: Decimal | None = None
    amount_max: Decimal | None = None
    booking_fee: Decimal | None = None
    booking_fee_lines: tuple[FeeLine, ...] = ()
    taxes: Decimal | None = None  # taxes.total_tax
    hub_charges: HubCharges | None = None
    discounts: Discounts | None = None
    upfront: bool = False  # upfront pricing applies: fare_id and a drop are required to book
    upfront_fare: Decimal | None = None  # the fixed price
    fare_id: str | None = None  # locks upfront_fare
    select_discount: Decimal | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one element of `ride_estimate`; None without any known field but the category.

        The shape is that of docs/field-notes.md; the interface does not show it. Elements for
        outstation have other fields.
        """
        got = row(value)
        found = cls(
            category=ident(got.get("category")),
            distance=length(got.get("distance"), got.get("distance_unit")),
            travel_time=duration(got.get("travel_time_in_minutes")),
            amount_min=positive(got.get("amount_min")),
            amount_max=positive(got.get("amount_max")),
            booking_fee=number(got.get("booking_fee")),
            booking_fee_lines=_fee_lines(got.get("booking_fee_breakup")),
            taxes=number(row(got.get("taxes")).get("total_tax")),
            hub_charges=HubCharges.from_wire(got.get("hub_charges")),
            discounts=Discounts.from_wire(got.get("discounts")),
            **_upfront(row(got.get("upfront"))),
        )
        return None if found == cls(category=found.category) else found


def _upfront(got: dict[str, Any]) -> dict[str, Any]:
    """The fields of a fixed price; {} if fare or fare_id is missing, or if it does not apply."""
    fare = positive(got.get("fare"))
    fare_id = ident(got.get("fare_id"), FARE_ID_LIMIT)
    if fare is None or fare_id is None or flag(got.get("is_upfront_applicable")) is False:
        return {}
    discount = number(got.get("select_discount"))
    return {"upfront": True, "upfront_fare": fare, "fare_id": fare_id, "select_discount": discount}


def _fee_lines(value: Any) -> tuple[FeeLine, ...]:
    pairs = ((text(line.get("display_text")), number(line.get("value"))) for line in rows(value))
    return tuple(
        FeeLine(display_text=words, value=amount)
        for words, amount in pairs
        if words and amount is not None
    )


class ShareFare(Fact):
    """The fixed fare for a number of seats."""

    seats: int  # 1 or 2
    cost: Decimal | None = None  # the final fare
    actual_cost: Decimal | None = None
    savings: Decimal | None = None
    peak_time_charge: str | None = None  # multiplier text
    peak_time_text: str | None = None
    discount_string: str | None = None
    fare_string: str | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one element of `fares`; None when its seat count is neither 1 nor 2.

        See docs/service-interface.md Limits, 5.
        """
        got = row(value)
        seats = integer(got.get("seats"))
        if seats not in {1, 2}:
            return None
        return cls(
            seats=seats,
            cost=positive(got.get("cost")),
            actual_cost=positive(got.get("actual_cost")),
            savings=number(got.get("savings")),
            peak_time_charge=text(got.get("peak_time_charge")),
            peak_time_text=text(got.get("peak_time_text")),
            discount_string=text(got.get("discount_string")),
            fare_string=text(got.get("fare_string")),
        )


class ShareEstimate(Fact):
    """The element of `ride_estimate` for share: prices are always fixed."""

    travel_time_min: Duration | None = None  # the shortest
    travel_time_max: Duration | None = None  # the longest
    promotional_message: str | None = None
    fares: tuple[ShareFare, ...] = ()

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse the element of `ride_estimate` that has `fares`; None if no fare can be parsed."""
        got = row(value)
        unit = got.get("travel_time_unit")
        fares = (ShareFare.from_wire(each) for each in rows(got.get("fares")))
        found = cls(
            travel_time_min=duration(got.get("travel_time_min"), unit),
            travel_time_max=duration(got.get("travel_time_max"), unit),
            promotional_message=text(got.get("promotional_message")),
            fares=tuple({each.seats: each for each in fares if each is not None}.values()),
        )
        return found if found.fares else None

    def fare(self, seats: int) -> ShareFare | None:
        """The fare for a number of seats, or None."""
        return next((each for each in self.fares if each.seats == seats), None)
