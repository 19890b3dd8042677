"""The cars that a list may be booked in, by the trips that its lines really have.

Which cars there are, and whether one may go without a drop, depends on the trips: they are listed
again when these change. A car that no person chose is then chosen anew.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.lists.lines import LineProblem
from ridedash.lists.table import Field
from ridedash.store.guest_lists import GuestList, LineState, locked_list, touch
from ridedash.store.offers import Trip, fixed_price_categories
from ridedash.views.booking.estimates import EstimateFailedError
from ridedash.views.lists.lines import ReadLine, with_problem
from ridedash.views.lists.trip import lacks_place, listing, trip_of
from ridedash.wording import gettext as _

MOST_TRIPS: Final = 3  # trips of which the cars are asked for, until one is not refused
Cars = list[dict[str, Any]]


def trips_of(found: GuestList, lines: Sequence[ReadLine]) -> list[Trip]:
    """The trips of the guests who are not ordered yet, those with a drop first."""
    known = [trip_of(found, line) for line in lines if line.is_inside and not line.pending]
    each = list(dict.fromkeys(trip for trip in known if trip is not None))
    return sorted(each, key=lambda trip: trip.drop is None)


def cars_key(found: GuestList, lines: Sequence[ReadLine]) -> str:
    """What the cars of a list are offered for: its account, and all of its trips."""
    ends = sorted(f"{trip.pickup}{trip.drop}" for trip in trips_of(found, lines))
    told = f"{found.trip.get('account_id')}{ends}"
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def are_current(found: GuestList, lines: Sequence[ReadLine]) -> bool:
    """Whether the cars that are stored are those of the present trips."""
    return found.sheet.get("cars_of") == cars_key(found, lines)


def cars_for(found: GuestList, lines: Sequence[ReadLine]) -> tuple[Cars, str]:
    """The cars of the list's trips, each with category and name; and why there are none.

    Those of a trip with a drop, if the list has one: a line without the drop that its car needs is
    named (`with_needs`). A trip that is refused keeps no other one from being asked about.
    """
    why = ""
    for trip in trips_of(found, lines)[:MOST_TRIPS]:
        try:
            listed = listing(trip, found.trip["account_id"])
        except EstimateFailedError as error:
            why = error.sentences
            if error.again_s is not None:
                break
            continue
        cards = [card for card in listed.cards if not (card.seats or card.rental or card.blocked)]
        # as on the form the cheapest private car is chosen until a person chooses another one;
        # whether a cab is near says nothing of rides that are planned
        cards.sort(key=lambda card: (not card.private_car, card.amount is None, card.amount or 0))
        return [{"category": card.category, "name": card.name} for card in cards], ""
    return [], why


def keep_cars(list_id: int, cars: Cars, key: str) -> str:
    """Store the cars of a list. Returns why a person has to choose one; "" if nobody has to.

    A car that the program chose is chosen anew; one that a person chose stays, or is asked for.
    """
    with services().db.write() as s:
        found = locked_list(s, list_id)
        if found is None:
            return ""
        old = found.trip.get("category")
        is_chosen = bool(found.trip.get("car_by_person"))
        name = car_name(found, old)
        found.sheet = {**found.sheet, "cars": cars, "cars_of": key}
        names = [car["category"] for car in cars]
        touch(found, services().clock())
        if not names or (is_chosen and old in names):
            return ""
        found.trip = {**found.trip, "category": "" if is_chosen else names[0]}
        if not is_chosen or not old:
            return ""
        return _("%(car)s is not offered for these rides. Choose another car.", car=name)


def car_name(found: GuestList, category: str | None = None) -> str:
    """The name of a car of the list as it is shown; the car of the list by default."""
    wanted = category
    if wanted is None:
        wanted = found.trip.get("category")
    named = {car["category"]: car["name"] for car in found.sheet.get("cars") or ()}
    return str(named.get(wanted, wanted or ""))


def with_needs(s: Session, found: GuestList, lines: Sequence[ReadLine]) -> list[ReadLine]:
    """The lines, with what is wrong where one has no drop.

    The list's own drop may not be found yet, and a car with a fixed price goes nowhere without one.
    """
    without = [line for line in lines if _is_without_drop(found, line)]
    if not without:
        return list(lines)
    words = ""
    category = found.trip.get("category")
    if lacks_place(found, without[0]):
        words = _("The drop of the list is not found yet.")
    elif category and category in fixed_price_categories(s, found.property_id):
        words = _(
            "%(car)s has a fixed price and needs a drop. Type one, or choose another car.",
            car=car_name(found),
        )
    if not words:
        return list(lines)
    problem = LineProblem("drop_needed", words, Field.DROP)
    needing = {line.row.number for line in without}
    return [with_problem(line, problem) if line.row.number in needing else line for line in lines]


def _is_without_drop(found: GuestList, line: ReadLine) -> bool:
    """Whether a guest who is not pressed yet has no drop, neither an own one nor the list's."""
    row = line.row
    if row.out is not None or row.state != LineState.OPEN or line.reading.drop:
        return False
    return not found.trip.get("drop")
