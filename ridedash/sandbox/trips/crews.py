"""Who drives: call signs, plates, phones and start codes drawn for each booking.

No person, plate or number is real.
"""

from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Final

from ridedash.sandbox.pricing.categories import Category, Tariff

DRIVERS: Final = (
    *("Cedar", "Juniper", "Rowan", "Hazel", "Maple", "Alder", "Willow", "Aspen", "Linden", "Larch"),
    *(
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
    ),
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
class Crew:
    """A driver and the cab."""

    driver_name: str
    driver_number: str
    driver_rating: float
    driver_image_url: str
    vehicle_type: str
    vehicle_number: str
    vehicle_color: str
    car_model: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object that from_json reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Crew":
        """The crew that to_json wrote."""
        return cls(**data)


def draw_crew(dice: Random, tariff: Tariff, category: Category) -> Crew:
    """A crew by chance. Phones start with a run of zeros that no numbering plan assigns."""
    name = dice.choice(DRIVERS)
    letters = dice.choice(PLATE_LETTERS) + dice.choice(PLATE_LETTERS)
    return Crew(
        driver_name=f"Driver {name}",
        driver_number=f"{tariff.phone}{dice.randrange(10**5):05d}",
        driver_rating=round(dice.uniform(4.2, 4.98), 2),
        driver_image_url=f"https://images.example/drivers/{name.lower()}.png",
        vehicle_type=category.id,
        vehicle_number=f"{tariff.plate} {dice.randrange(1, 20):02d} {letters} "
        f"{dice.randrange(1000, 10000)}",
        vehicle_color="Yellow" if category.id == "auto" else dice.choice(COLORS),
        car_model=dice.choice(category.cars),
    )


def draw_riders(dice: Random, count: int) -> tuple[str, ...]:
    """Call signs of co-passengers."""
    return tuple(f"Rider {name}" for name in dice.sample(RIDERS, count))


def draw_start_code(dice: Random) -> str:
    """The code that the guest tells the driver."""
    return f"{dice.randrange(1000, 10000)}"


def dice_of(*what: object) -> Random:
    """The dice for something, the same each time. Not for secrets."""
    return Random(":".join(str(each) for each in what))  # noqa: S311 - play, not secrets
