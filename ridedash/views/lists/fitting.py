"""Cars of a list that are too small for the guests in them, and sharing these out over more cars.

What fits is the property's to say (ridedash/store/capacities.py). A car that is too small is named
and never refused. One guest who stands for more people than fit into a car becomes two lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from ridedash.fits import Capacity, Party, packed
from ridedash.lists.table import MOST_GUESTS, Field
from ridedash.rides.orders.request import new_reference
from ridedash.store.guest_lists import GuestList, LineState, ListLine
from ridedash.views.lists.lines import TWICE, ReadLine
from ridedash.wording.fits import too_small


@dataclass(frozen=True)
class TooSmall:
    """Why a car is too small, and how many cars its guests can be shared out over; 0: none."""

    words: str
    cars: int


def small_cars(lines: Sequence[ReadLine], capacity: Capacity) -> dict[int, TooSmall]:
    """The cars that are too small, by the number of their first line."""
    fit = capacity.persons
    if fit is None:
        return {}
    found = {}
    guests = sum(line.is_inside for line in lines)
    for inside in _cars(lines):
        people = sum(line.reading.persons for line in inside)
        if people <= fit:
            continue
        sizes = [size for line in inside for size in _parts(line, fit)]
        may = all(line.row.state == LineState.OPEN for line in inside)
        may = may and guests + len(sizes) - len(inside) <= MOST_GUESTS
        found[inside[0].row.number] = TooSmall(
            words=too_small(Capacity(fit), Party(people), counted=False),
            cars=len(set(packed(sizes, fit))) if may else 0,
        )
    return found


def split(
    s: Session, found: GuestList, lines: Sequence[ReadLine], number: int, capacity: Capacity
) -> None:
    """Share the guests of the car whose first line has this number out over as many as needed."""
    wanted = small_cars(lines, capacity).get(number)
    fit = capacity.persons
    if wanted is None or not wanted.cars or fit is None:
        return
    inside = next(each for each in _cars(lines) if each[0].row.number == number)
    last = max(line.row.number for line in lines)
    rows: list[ListLine] = []
    sizes = []
    for line in inside:
        first, *more = _parts(line, fit)
        rows.append(line.row)
        sizes.append(first)
        if more:
            _say(line.row, first)
        for size in more:
            last += 1
            rows.append(_again(s, found, line.row, last, size))
            sizes.append(size)
    heads: dict[int, int] = {}
    for row, car in zip(rows, packed(sizes, fit), strict=True):
        row.car = heads.setdefault(car, row.number)


def _cars(lines: Sequence[ReadLine]) -> Iterator[list[ReadLine]]:
    """The guests of each car that are not ordered yet."""
    by_car: dict[int, list[ReadLine]] = {}
    for line in lines:
        if line.is_inside:
            by_car.setdefault(line.row.car, []).append(line)
    yield from by_car.values()


def _parts(line: ReadLine, fit: int) -> list[int]:
    """The people of a line, in cars of this many: 6 in cars of 4 are 4 and 2."""
    full, rest = divmod(line.reading.persons, fit)
    found = [fit] * full
    if rest:
        found.append(rest)
    return found


def _say(row: ListLine, persons: int) -> None:
    row.data = {**row.data, "typed": {**row.data.get("typed", {}), Field.PERSONS: str(persons)}}


def _again(s: Session, found: GuestList, row: ListLine, number: int, persons: int) -> ListLine:
    """Another line of the same guest, who is meant to have two cars; its price is asked for."""
    data = {key: value for key, value in row.data.items() if key not in ("priced", "refused")}
    data["meant"] = sorted({*data.get("meant", ()), TWICE})
    made = ListLine(
        list_id=found.id,
        property_id=found.property_id,
        number=number,
        row=row.row,
        data=data,
        out=None,
        car=number,
        mtx=new_reference(),
        state=LineState.OPEN,
    )
    _say(made, persons)
    s.add(made)
    return made
