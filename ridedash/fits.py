"""How many people and pieces of luggage fit into a car, and how many cars a group needs. Pure.

The service tells the seats of shared rides alone. For other cars the property says what fits, a
category at a time; a category of which nothing is known says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_FIT: Final = 20  # people, and pieces of luggage, in one car; a coach is no car
MOST_PEOPLE: Final = 24  # in the booking form; more travel by a list of guests
MOST_BAGS: Final = 24


@dataclass(frozen=True)
class Capacity:
    """What fits into one car; None: not known. `bags` may be 0, `persons` is 1 or more."""

    persons: int | None = None
    bags: int | None = None

    def __bool__(self) -> bool:
        return self.persons is not None or self.bags is not None


UNKNOWN: Final = Capacity()


@dataclass(frozen=True)
class Party:
    """Who travels together, with what; None: not said."""

    persons: int | None = None
    bags: int | None = None


def too_few(capacity: Capacity, party: Party, cars: int = 1) -> tuple[str, ...]:
    """What does not fit into this many cars: "persons", "bags", both or nothing.

    What is not known or not said always fits.

    >>> too_few(Capacity(4, 2), Party(6, 4)), too_few(Capacity(4, 2), Party(6, 4), cars=2)
    (('persons', 'bags'), ())
    """
    sides = (
        ("persons", capacity.persons, party.persons),
        ("bags", capacity.bags, party.bags),
    )
    return tuple(
        name
        for name, fit, wanted in sides
        if fit is not None and wanted is not None and wanted > fit * cars
    )


def packed(sizes: Sequence[int], fit: int) -> list[int]:
    """The car of each size, from 0: the first one with room for it. No size is above `fit`.

    >>> packed([3, 3, 1], 4)
    [0, 1, 0]
    """
    free: list[int] = []
    cars = []
    for size in sizes:
        car = next((n for n, left in enumerate(free) if left >= size), len(free))
        if car == len(free):
            free.append(fit)
        free[car] -= size
        cars.append(car)
    return cars


def cars_for(capacity: Capacity, party: Party) -> int | None:
    """How many such cars the party needs; None if that is unknown, or no number is enough.

    >>> cars_for(Capacity(4, 2), Party(6)), cars_for(Capacity(4, 2), Party(6, 5))
    (2, 3)
    >>> cars_for(Capacity(), Party(6)), cars_for(Capacity(1, 0), Party(1, 1))
    (None, None)
    """
    needed = []
    for fit, wanted in ((capacity.persons, party.persons), (capacity.bags, party.bags)):
        if fit is None or not wanted:
            continue
        if fit == 0:
            return None
        needed.append(-(-wanted // fit))
    return max(needed, default=None)
