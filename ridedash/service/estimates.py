"""What a ride will cost: estimates for most categories, fixed fares for share (field notes; Endpoints, 6)."""

from decimal import Decimal

from ridedash.service.fields import Distance, Duration, Fact


class FeeLine(Fact):
    """One line of `booking_fee_breakup`."""

    display_text: str
    value: Decimal


class HubCharges(Fact):
    """Charges of an airport or station (`hub_charges`)."""

    total_hub_fee: Decimal | None = None
    pickup_hub_fee: Decimal | None = None
    pickup_hub_name: str | None = None


class Discounts(Fact):
    """What is taken off (`discounts`)."""

    discount_type: str | None = None
    discount_code: str | None = None
    discount_mode: str | None = None
    discount: Decimal | None = None
    cashback: Decimal | None = None
    pass_savings: Decimal | None = None


class Estimate(Fact):
    """An element of `ride_estimate` of a category other than share. Amounts are in the product's currency."""

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


class ShareEstimate(Fact):
    """The element of `ride_estimate` for share: prices are always fixed."""

    travel_time_min: Duration | None = None  # at the least
    travel_time_max: Duration | None = None  # at the most
    promotional_message: str | None = None
    fares: tuple[ShareFare, ...] = ()

    def fare(self, seats: int) -> ShareFare | None:
        """The fare for a number of seats, or None."""
        return next((each for each in self.fares if each.seats == seats), None)
