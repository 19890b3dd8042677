"""Where the lines of a list go and what that costs: places are looked up, prices asked for.

Both call others, so a request does only a part (`MOST_CALLS`) and says whether more is left; the
page asks again until nothing is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.places import PlacesUnavailableError, Unread, find_typed
from ridedash.rides.orders.guest_start import in_minor, is_metered, price_of
from ridedash.service.types.products import Product
from ridedash.store.guest_lists import GuestList, LineState, ListLine, lines_of, locked_list
from ridedash.store.models.desk import Favourite
from ridedash.store.models.orders import Offer
from ridedash.store.offers import Trip
from ridedash.store.properties import favourites_of
from ridedash.text import normalised
from ridedash.views.booking.estimates import EstimateFailedError, Estimates
from ridedash.views.booking.form import estimator
from ridedash.views.lists.lines import ReadLine, point_of
from ridedash.views.rides.offer_price import needs_drop, offer_price_text
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.place_names import named_points
from ridedash.views.web.responses import locale

MOST_CALLS: Final = 6  # places, and trips, that one request asks for
CHOICES: Final = 5  # places among which a person chooses
Place = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """The answer to a text: one place, or those that it may mean; `failed` without an answer.

    `unread`: why a text that is no name of a place names none.
    """

    place: Place | None = None
    choices: tuple[Place, ...] = ()
    failed: bool = False
    unread: Unread | None = None


def look_up(text: str, near: LatLng | None, favourites: Sequence[Favourite]) -> Found:
    """The place that a text names: a favourite, a point, or what the place search knows."""
    wanted = normalised(text)
    for each in favourites:
        if normalised(each.name) == wanted:
            return Found(_place(each.name, LatLng(each.lat, each.lng)))
    try:
        typed = find_typed(services().geocoder, text, near, CHOICES)
    except PlacesUnavailableError:
        return Found(failed=True)
    if typed.unread:
        return Found(unread=typed.unread)
    found = named_points(services().geocoder, typed)
    if typed.is_sure:
        return Found(_place(found[0].name, found[0].position))
    exact = [place for place in found if normalised(place.name) == wanted]
    if len(exact) == 1 or len(found) == 1:
        best = (exact or found)[0]
        return Found(_place(best.name, best.position))
    return Found(choices=tuple({**_place(p.name, p.position), "area": p.area} for p in found))


def favourite_drops(s: Session) -> list[Favourite]:
    """The favourite drops of the property, in the order of their numbers."""
    found = favourites_of(s, current_staff().property_id)
    return [place for (kind, _slot), place in sorted(found.items()) if kind == "drop"]


def pickup_point(trip: Mapping[str, Any]) -> LatLng | None:
    """The pickup of a list's trip; None while there is none."""
    if not trip.get("pickup"):
        return None
    return point_of(trip["pickup"])


def find_drops(found: GuestList, lines: Sequence[ReadLine]) -> bool:
    """Look up drops of lines, some of them. Returns whether the place search answered."""
    with services().db.read() as s:
        favourites = favourite_drops(s)
    near = pickup_point(found.trip)
    texts = list(dict.fromkeys(line.reading.drop for line in lines if line.pending))[:MOST_CALLS]
    answers = {text: look_up(text, near, favourites) for text in texts}
    usable = {text: each for text, each in answers.items() if not each.failed}
    numbers = {line.row.number: line.reading.drop for line in lines if line.pending}

    def keep(row: ListLine) -> None:
        answer = usable.get(numbers.get(row.number, ""))
        if answer is None:
            return
        text = numbers[row.number]
        choices = [dict(each) for each in answer.choices]
        looked = {"for": text, "choices": choices, "unread": answer.unread}
        row.data = {**row.data, "looked": looked}
        if answer.place is not None:
            row.data = {**row.data, "place": {**answer.place, "for": text}}

    _keep(found.id, keep)
    return len(usable) == len(answers)


def priced_key(found: GuestList, line: ReadLine) -> str:
    """What a price is for: the car and both ends; "" while one of them is not chosen."""
    trip = trip_of(found, line)
    category = found.trip.get("category")
    if trip is None or not category:
        return ""
    drop = f"{trip.drop.lat:.6f},{trip.drop.lng:.6f}" if trip.drop else ""
    return f"{category}|{trip.pickup.lat:.6f},{trip.pickup.lng:.6f}|{drop}"


def trip_of(found: GuestList, line: ReadLine) -> Trip | None:
    """The trip of a line; None without a pickup, and while its drop is only a text."""
    start = found.trip.get("pickup")
    end = line.place or found.trip.get("drop")
    if not start or lacks_place(found, line):
        return None
    trip = Trip(point_of(start), str(start["name"]) or None)
    if not end:
        return trip
    return replace(trip, drop=point_of(end), drop_name=str(end["name"]))


def lacks_place(found: GuestList, line: ReadLine) -> bool:
    """Whether the line goes to a drop of which the place is not known, its own or the list's."""
    if line.place is not None:
        return False
    return bool(line.reading.drop or (found.trip.get("drop_text") and not found.trip.get("drop")))


def is_priced(found: GuestList, line: ReadLine) -> bool:
    """Whether the present trip of a line has been priced, also if it has no price."""
    key = priced_key(found, line)
    return bool(key) and line.row.data.get("priced") == key


def needs_price(found: GuestList, line: ReadLine) -> bool:
    """Whether a line can be booked but for its price."""
    return line.is_open and not is_priced(found, line)


def ask_prices(found: GuestList, lines: Sequence[ReadLine]) -> str:
    """Ask for prices of some trips, and keep them. Returns why that failed; "" if it did not."""
    asks = estimator()
    trips = {priced_key(found, line): line for line in lines if needs_price(found, line)}
    trips.pop("", None)
    for key, line in list(trips.items())[:MOST_CALLS]:
        trip = trip_of(found, line)
        assert trip is not None
        try:
            _text, offer_id = asks.quote_offer(
                trip, found.trip["category"], found.trip["account_id"]
            )
        except EstimateFailedError as error:
            if error.again_s is not None:
                return error.sentences
            _refuse(found, lines, key, error.sentences)
            continue
        if not offer_id and trip.drop is None:
            _refuse(found, lines, key, needs_drop())
        else:
            _keep_price(found, lines, key, offer_id)
    return ""


def listing(trip: Trip, account_id: int) -> Estimates:
    """The cars of a trip with their prices. Raises EstimateFailedError."""
    return estimator().estimates(trip, account_id)


def price_text(s: Session, row: ListLine) -> str:
    """The price of a line as it was shown, in words; "" without one."""
    offer = _offer(s, row.offer_id)
    return offer_price_text(offer, locale()) if offer else ""


def amount_of(row: ListLine) -> Decimal | None:
    """The highest price of a line that was shown."""
    return None if row.shown_minor is None else Decimal(row.shown_minor) / 100


def _keep_price(found: GuestList, lines: Sequence[ReadLine], key: str, offer_id: int) -> None:
    with services().db.read() as s:
        offer = _offer(s, offer_id)
    shown = _highest(offer)
    numbers = {line.row.number for line in lines if priced_key(found, line) == key}

    def keep(row: ListLine) -> None:
        if row.number not in numbers or row.state != LineState.OPEN:
            return  # what was pressed is for the price that was shown at the press
        row.data = {**row.data, "priced": key, "refused": ""}
        row.offer_id = offer.id if offer else None
        row.shown_minor, row.metered = shown
        row.currency = offer.currency if offer else None

    _keep(found.id, keep)


def _offer(s: Session, offer_id: int | None) -> Offer | None:
    return s.get(Offer, offer_id) if offer_id else None


def _highest(offer: Offer | None) -> tuple[int | None, bool]:
    """The highest price of an offer in hundredths, and whether it is by the meter."""
    if offer is None:
        return None, True
    try:
        product = Product.model_validate(offer.product)
    except ValidationError:
        return None, True
    price = price_of(product, None)
    if price is None:
        return None, is_metered(product)
    return in_minor(price), is_metered(product)


def _refuse(found: GuestList, lines: Sequence[ReadLine], key: str, why: str) -> None:
    """Keep why the ride company takes nobody on this trip."""
    numbers = {line.row.number for line in lines if priced_key(found, line) == key}

    def keep(row: ListLine) -> None:
        if row.number in numbers and row.state == LineState.OPEN:
            row.data = {**row.data, "priced": key, "refused": why}
            row.offer_id = row.shown_minor = None

    _keep(found.id, keep)


def _keep(list_id: int, keep: Any) -> None:
    """Change lines of a list, with the list locked."""
    with services().db.write() as s:
        found = locked_list(s, list_id)
        if found is None:
            return
        for row in lines_of(s, list_id):
            keep(row)
        found.version += 1


def _place(name: str, point: LatLng) -> dict[str, Any]:
    return {"name": name[:200], "lat": point.lat, "lng": point.lng}
