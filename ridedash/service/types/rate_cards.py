"""Rate cards, surcharges, rental packages, cancellation (docs/service-interface.md Resources)."""

from decimal import Decimal
from typing import Any, Final, Self

from ridedash.service.parsing.fields import (
    Distance,
    Duration,
    Fact,
    currency,
    flag,
    ident,
    items,
    number,
    positive,
    row,
    rows,
    text,
)
from ridedash.service.parsing.units import (
    duration,
    length,
    length_unit,
    measured_length,
    measured_time,
    time_unit,
)

_AMOUNTS: Final = (
    "minimum_distance",
    "minimum_time",
    "base_fare",
    "minimum_fare",
    "cost_per_distance",
    "waiting_cost_per_minute",
    "ride_cost_per_minute",
    "night_time_charges",
)


class Surcharge(Fact):
    """One element of `surcharge`. Its shape is not documented, so every field is optional."""

    name: str | None = None
    type: str | None = None  # e.g. a multiplier, a percentage or an amount
    value: Decimal | None = None
    description: str | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one surcharge, an object or a text; None when it is empty."""
        got = row(value)
        return cls(
            name=text(got.get("name")) or text(value),
            type=text(got.get("type")),
            value=number(got.get("value")),
            description=text(got.get("description")),
        ).unless_empty()


class RateCard(Fact):
    """One element of `fare_breakup`, in the product's currency and units.

    Cards of the types flat_rate and airport_rate have amounts, those of the type standard_rate the
    text `fare`. Other types occur.
    """

    type: str | None = None  # flat_rate, airport_rate, standard_rate, or others
    minimum_distance: Decimal | None = None  # in the product's distance_unit
    minimum_time: Decimal | None = None  # in the product's time_unit
    base_fare: Decimal | None = None
    minimum_fare: Decimal | None = None
    cost_per_distance: Decimal | None = None  # for each distance_unit
    waiting_cost_per_minute: Decimal | None = None
    ride_cost_per_minute: Decimal | None = None
    night_time_charges: Decimal | None = None  # the text NA is None
    night_time_duration: str | None = None  # the text NA is None
    rates_higher_than_usual: bool = False  # surge
    surcharges: tuple[Surcharge, ...] = ()
    fare: str | None = None  # descriptive text

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Parse one element of `fare_breakup`, of any type."""
        got = row(value)
        surcharges = (Surcharge.from_wire(each) for each in items(got.get("surcharge")))
        return cls(
            type=text(got.get("type")),
            **{name: positive(got.get(name)) for name in _AMOUNTS},
            night_time_duration=_unless_na(got.get("night_time_duration")),
            rates_higher_than_usual=flag(got.get("rates_higher_than_usual")) or False,
            surcharges=tuple(each for each in surcharges if each is not None),
            fare=text(got.get("fare")),
        )


def _unless_na(value: Any) -> str | None:
    words = text(value)
    if words is None or words.upper() in {"NA", "N/A"}:
        return None
    return words


class CancellationPolicy(Fact):
    """Cancelling is free until `applies_after` has passed, then costs `charge`.

    See docs/service-interface.md Limits, 6.
    """

    charge: Decimal | None = None
    currency: str | None = None
    applies_after: Duration | None = None

    @property
    def free_minutes(self) -> int:
        """For how many whole minutes cancelling is free, rounded down."""
        if not self.applies_after:
            return 0
        return self.applies_after.seconds // 60

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `cancellation_policy`; None when it is empty."""
        got = row(value)
        found = cls(
            charge=positive(got.get("cancellation_charge")),
            currency=currency(got.get("currency")),
            applies_after=duration(
                got.get("cancellation_charge_applies_after_time"), got.get("time_unit")
            ),
        )
        if found.charge is None and found.applies_after is None:
            return None
        return found


class Package(Fact):
    """A rental package: a duration and a distance for a base fare, and the prices beyond these."""

    sub_category: str | None = None  # the id that feedback_options needs for rental
    display_name: str | None = None
    duration: Duration | None = None
    distance: Distance | None = None
    base_fare: Decimal | None = None
    cost_per_distance: Decimal | None = None  # beyond `distance`, for each distance_unit
    ride_cost_per_minute: Decimal | None = None  # beyond `duration`

    @classmethod
    def list_from_wire(cls, value: Any) -> tuple[Self, ...]:
        """Parse `sub_categories`: a Package for each element of their `packages`.

        A sub-category without packages also gets one, with its own id and name alone.
        The field names of packages vary, so several are tried.
        """
        return tuple(
            cls._one(row(sub), each)
            for sub in rows(value)
            for each in rows(row(sub).get("packages")) or [{}]
        )

    @classmethod
    def _one(cls, sub: dict[str, Any], got: dict[str, Any]) -> Self:
        span = measured_time(got.get("duration"), time_unit(got.get("time_unit")) or "minute")
        reach = measured_length(
            got.get("distance"), length_unit(got.get("distance_unit")) or "kilometre"
        )
        return cls(
            sub_category=ident(sub.get("id")),
            display_name=text(got.get("display_name"))
            or text(got.get("name"))
            or text(sub.get("display_name")),
            duration=span
            or duration(got.get("hours"), "hour")
            or duration(got.get("minimum_time")),
            distance=reach or length(got.get("km")) or length(got.get("minimum_distance")),
            base_fare=positive(got.get("base_fare")),
            cost_per_distance=positive(got.get("cost_per_distance")),
            ride_cost_per_minute=positive(got.get("ride_cost_per_minute")),
        )
