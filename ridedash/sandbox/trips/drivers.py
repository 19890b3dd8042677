"""Random drivers, cars, co-passengers and start codes for bookings; none of them is real."""

from dataclasses import asdict, dataclass, fields
from random import Random
from typing import Any, Final

from ridedash.sandbox.pricing.categories import Category, Tariff

DRIVERS: Final = (
    "Cedar",
    "Juniper",
    "Rowan",
    "Hazel",
    "Maple",
    "Alder",
    "Willow",
    "Aspen",
    "Linden",
    "Larch",
    "Spruce",
    "Hawthorn",
    "Sorrel",
    "Bramble",
    "Clover",
    "Fern",
    "Heather",
    "Laurel",
    "Myrtle",
    "Tamarind",
)
RIDERS: Final = (
    "Heron",
    "Plover",
    "Dunlin",
    "Turnstone",
    "Sanderling",
    "Whimbrel",
    "Godwit",
    "Phalarope",
)
COLORS: Final = ("White", "Silver", "Grey", "Deep Blue", "Maroon", "Black")
PLATE_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"


@dataclass(frozen=True)
class Driver:
    """A driver with the cab. `vehicle_type` is the model, which people look for in the street."""

    driver_name: str
    driver_number: str
    driver_rating: float
    driver_image_url: str
    vehicle_type: str
    vehicle_number: str
    vehicle_color: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object that from_json reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Driver":
        """The driver that to_json wrote. Fields of an earlier version are ignored."""
        return cls(**{each.name: data[each.name] for each in fields(cls)})


def draw_driver(rng: Random, tariff: Tariff, category: Category) -> Driver:
    """A driver with a random cab.

    After the country code, phone numbers begin with zeros, as no numbering plan assigns them.
    """
    name = rng.choice(DRIVERS)
    letters = rng.choice(PLATE_LETTERS) + rng.choice(PLATE_LETTERS)
    return Driver(
        driver_name=f"Driver {name}",
        driver_number=f"{tariff.phone}{rng.randrange(10**5):05d}",
        driver_rating=round(rng.uniform(4.2, 4.98), 2),
        driver_image_url=f"https://images.example/drivers/{name.lower()}.png",
        vehicle_type=rng.choice(category.cars),
        vehicle_number=f"{tariff.plate} {rng.randrange(1, 20):02d} {letters} "
        f"{rng.randrange(1000, 10000)}",
        vehicle_color="Yellow" if category.id == "auto" else rng.choice(COLORS),
    )


def draw_riders(rng: Random, count: int) -> tuple[str, ...]:
    """Random names of co-passengers."""
    return tuple(f"Rider {name}" for name in rng.sample(RIDERS, count))


def draw_start_code(rng: Random) -> str:
    """A random start code, which the guest tells the driver."""
    return f"{rng.randrange(1000, 10000)}"


def seeded_rng(*what: object) -> Random:
    """A random number generator seeded by `what`: equal arguments give equal sequences."""
    return Random(":".join(str(each) for each in what))  # noqa: S311 - simulation, not secrets
