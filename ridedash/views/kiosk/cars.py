"""The cars that a kiosk offers, by price, time and size; where to meet them, and the way."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError

from ridedash.config import SANDBOX_CREDIT
from ridedash.extensions import services
from ridedash.geo import LatLng, distance_m
from ridedash.rides.kiosk.rules import offered_here
from ridedash.service.types.products import Product
from ridedash.store.models.kiosks import Kiosk, PickupHint
from ridedash.store.offers import Trip
from ridedash.store.orders import Offer
from ridedash.views.booking.estimates import Estimates
from ridedash.views.booking.product_cards import Card
from ridedash.views.rides.print_assets import StillMap, still_map, way_map
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording import lazy, ngettext
from ridedash.wording.fits import capacity_words
from ridedash.wording.kiosk import pays_words
from ridedash.wording.say import Text, isolated, own_words

MEETING: Final = {"zoom": 17, "width": 480, "height": 240}  # 570 m wide at the equator, else less
WAY: Final = (420, 300)  # px of the map of a way
WAY_RIM: Final = 48  # px between its edge and the ends of the way, for their pins
SHOWN: Final = 3  # cars at once; the page has a button for more
HINT_M: Final = 25.0  # a hint applies to a point this close
HERE_M: Final = 15.0  # for a meeting point this close no walk is estimated
ROUND_M: Final = 10
LARGE: Final = "suv"  # the drawing of SUVs and vans: views/booking/product_cards.py
# What kind of car it is, by its drawing, for guests who don't know the ride company's names: "Auto"
# is a car in German. Nothing is said of a car of which only the name is known.
KINDS: Final[dict[str, Text]] = {
    "auto": lazy("Three-wheeler with open sides"),
    "bike": lazy("Motorbike for one guest"),
    "hatch": lazy("Small car"),
    "sedan": lazy("Medium-sized car"),
    "lux": lazy("Premium car"),
    "suv": lazy("Large car"),
    "share": lazy("Shared with other passengers"),
}
_NUMBER: Final = re.compile(r"\d{1,3}")  # digits of any script


@dataclass(frozen=True)
class CarChoice:
    """A car that can be booked here: its card, and the product of its offer."""

    card: Card
    product: Product

    @property
    def minutes(self) -> int | None:
        """How many minutes away the nearest one is; None if unknown, or if none is near."""
        eta = self.product.eta
        if self.product.none_near or eta is None:
            return None
        return whole_minutes(eta.seconds)

    @property
    def fixed(self) -> bool:
        """Whether the price is fixed, whatever happens during the ride."""
        estimate = self.product.estimate
        return self.card.seats != () or bool(estimate and estimate.upfront)


def whole_minutes(seconds: float) -> int:
    """A time until a car comes in minutes, as the page shows it: never 0."""
    return max(1, round(seconds / 60))


def choices(cards: Sequence[Card], offers: Sequence[Offer], house_pays: bool) -> list[CarChoice]:
    """The cards that a kiosk offers, in the given order; `cars_json` sorts them for the page."""
    by_id = {offer.id: offer for offer in offers}
    found = []
    for card in cards:
        offer = by_id.get(card.offer_id or 0)
        if offer is None or card.blocked or not offered_here(offer, house_pays):
            continue
        try:
            found.append(CarChoice(card, Product.model_validate(offer.product)))
        except ValidationError:
            continue
    return found


def cars_json(found: Sequence[CarChoice], house_pays: bool) -> list[dict[str, Any]]:
    """The cars as the page shows them: the cheapest, the soonest and the biggest come first.

    All texts are in the guest's language. `persons` is how many people fit in, or None; `seats` is
    None, or the prices of a shared ride by number of people.
    """
    tags = _tags(found)
    tagged = sorted(
        (car for car in found if id(car) in tags), key=lambda car: [*tags].index(id(car))
    )
    rest = sorted((car for car in found if id(car) not in tags), key=_price_key)
    return [_car(each, tags.get(id(each), []), house_pays) for each in (*tagged, *rest)]


def meet_json(
    estimates: Estimates, hints: Sequence[PickupHint], kiosk: Kiosk, start: Trip, language: str
) -> dict[str, Any]:
    """Where the car meets the guest, how to walk there, and the other points of a hotspot."""
    zone = estimates.zone
    trip = estimates.trip
    walks = _Walks(hints, kiosk.id, start.pickup, language)
    name = trip.pickup_name or ""
    if zone is None:
        return {"name": name, **walks.to(name, trip.pickup), "points": []}
    points = []
    for number, point in enumerate(zone.points, 1):
        if number == zone.chosen:
            name = point.name
        place = {"lat": point.position.lat, "lng": point.position.lng}
        points.append({"name": point.name, **walks.to(point.name, point.position), **place})
    return {"name": name, **walks.to(name, trip.pickup), "points": points}


def at_point(estimates: Estimates, name: str) -> Trip | None:
    """The trip from another point of the hotspot; None if there is no such point in it, or if the
    trip starts there already.

    Guests choose points by name.
    """
    if estimates.zone is None:
        return None
    wanted = next((p for p in estimates.zone.points if name in (p.name, p.full)), None)
    if wanted is None or wanted.position == estimates.trip.pickup:
        return None
    return replace(estimates.trip, pickup=wanted.position, pickup_name=wanted.full)


def with_most_room(cards: Sequence[Card]) -> frozenset[int | None]:
    """The offers of these cars that have the most room; none if that is unknown, or equal for all.

    The service states no number of seats and no size, but the property may: for each category, or
    for each drawing in its own words ("Up to 6"). If a number is missing, only one thing is
    assumed: an SUV or a van has more room than other cars.
    """
    sizes = [(each, _people(each)) for each in cards]
    known = [people for _card, people in sizes if people is not None]
    if len(known) < len(sizes):
        large = [each for each in cards if each.drawing == LARGE]
        if len(large) == len(cards):
            return frozenset()
        return _ids(large)
    most = max(known, default=0)
    return _ids(each for each, people in sizes if people == most and min(known) < most)


def _ids(cards: Iterable[Card]) -> frozenset[int | None]:
    return frozenset(each.offer_id for each in cards)


def _people(card: Card) -> int | None:
    """How many people fit in: the largest number in the property's words, else what it has set."""
    said = max((int(found) for found in _NUMBER.findall(_own_size(card))), default=None)
    return card.fits.persons if said is None else said


def _own_size(card: Card) -> str:
    """How many people fit in, in the property's words to this guest; "" without such words."""
    return own_words(f"kiosk_size_{card.drawing}")


def _size(card: Card) -> str:
    """What fits in, in the property's words, else by its numbers; "" if it is unknown.

    A shared ride shows its price for each number of people instead.
    """
    own = _own_size(card)
    if own or card.seats:
        return own
    return capacity_words(card.fits)


def _tags(found: Sequence[CarChoice]) -> dict[int, list[str]]:
    """Labels that distinguish cars, by the `id()` of a choice, sorted as the cars are shown."""
    near = [each for each in found if not each.product.none_near] or list(found)
    priced = [each for each in near if each.card.amount is not None]
    timed = [each for each in near if each.minutes is not None]
    roomy = with_most_room([each.card for each in near])
    big = [each for each in near if each.card.offer_id in roomy]
    picked: list[tuple[str, CarChoice | None]] = [
        ("cheapest", min(priced, key=_price_key, default=None)),
        (
            "soonest",
            min(timed, key=lambda each: (each.minutes or 0, _price_key(each)), default=None),
        ),
        ("biggest", min(big, key=_price_key, default=None)),
    ]
    tags: dict[int, list[str]] = {}
    for tag, car in picked:
        if car is not None and len(found) > 1:
            tags.setdefault(id(car), []).append(tag)
    return tags


def _price_key(each: CarChoice) -> tuple[bool, bool, Decimal]:
    amount = each.card.amount
    return each.product.none_near, amount is None, amount or Decimal(0)


def _car(each: CarChoice, tags: list[str], house_pays: bool) -> dict[str, Any]:
    card = each.card
    return {
        "offer": card.offer_id,
        "name": card.name,
        "drawing": card.drawing,
        "kind": str(KINDS.get(card.drawing, "")),
        "size": _size(card),
        "persons": None if card.seats else _people(card),
        "price": card.price,
        "price_kind": _price_kind(each),
        "fare": each.fixed,
        "minutes": each.minutes,
        "away": card.eta,
        "surge": card.surge,
        "surge_means": card.surge_means,
        "tags": tags,
        "fee": card.cancellation,
        "pays": pays_words(house_pays),
        "seats": _seats(each),
    }


def _seats(each: CarChoice) -> list[dict[str, Any]] | None:
    """The prices of a shared ride by number of people; None for any other ride."""
    if each.product.kind is not Kind.SHARE:
        return None
    return [
        {
            "seats": seat.seats,
            "people": ngettext("%(num)d person", "%(num)d people", seat.seats),
            "price": seat.price,
        }
        for seat in each.card.seats
    ]


def _price_kind(each: CarChoice) -> str:
    """The kind of the price, shown beside it; "" for a price like "from ₹80", "by the meter"."""
    if each.fixed:
        return _("fixed price")
    estimate = each.product.estimate
    if estimate is None or (estimate.amount_min or estimate.amount_max) is None:
        return ""
    return _("about")


@dataclass(frozen=True)
class _Walks:
    """The walks from a kiosk."""

    hints: Sequence[PickupHint]
    kiosk_id: int
    start: LatLng
    language: str

    def to(self, name: str, point: LatLng) -> dict[str, Any]:
        """`walk` and `steps` in words, and `step_free`: True, False, or None if unknown."""
        hint = self._hint(name, point)
        walk = {"walk": self._walk(hint, point), "steps": "", "step_free": None}
        if hint is None or hint.steps is None:
            return walk
        if hint.steps:
            return walk | {"steps": _("with steps"), "step_free": False}
        return walk | {"steps": _("no steps"), "step_free": True}

    def _hint(self, name: str, point: LatLng) -> PickupHint | None:
        """A manager's hint on this point, by its name or its place.

        A hint for this kiosk wins over one for all kiosks; of two such hints, one by name wins over
        one by place.
        """
        mine = [each for each in self.hints if each.kiosk_id in (None, self.kiosk_id)]
        named = [each for each in mine if each.point and each.point.casefold() == name.casefold()]
        near = [
            each
            for each in mine
            if each.lat is not None
            and each.lng is not None
            and distance_m(LatLng(each.lat, each.lng), point) <= HINT_M
        ]
        return next(iter(sorted((*named, *near), key=lambda each: each.kiosk_id is None)), None)

    def _walk(self, hint: PickupHint | None, point: LatLng) -> str:
        parts = []
        if hint is not None:
            words = hint.words.get(self.language) or hint.words.get("en") or ""
            # English words may stand in a text of the other writing direction
            parts.append(str(isolated({"words": words})["words"]))
        if hint is not None and hint.metres is not None:
            parts.append(_("%(n)d m on foot", n=hint.metres))
        if hint is not None and hint.minutes is not None:
            parts.append(_("%(n)d min on foot", n=hint.minutes))
        straight = distance_m(self.start, point)
        if (hint is None or (hint.metres is None and hint.minutes is None)) and straight > HERE_M:
            metres = max(ROUND_M, round(straight / ROUND_M) * ROUND_M)
            parts.append(_("about %(n)d m on foot", n=metres))
        return " · ".join(filter(None, parts))


def meeting_map(pickup: LatLng) -> dict[str, Any]:
    """The surroundings of a meeting point, which is in the middle.

    `tiles` are [address, x, y] in a map of `width` by `height` px; `credit` names the source of the
    tiles, "" for the sandbox's, for which the page has its own words.
    """
    return _map_json(still_map(services().settings.tiles_url, pickup, **MEETING))


def map_of_way(start: LatLng, end: LatLng) -> dict[str, Any]:
    """Both ends of a way, as `meeting_map`; `start` and `end` are their [x, y] in it, in px."""
    found = way_map(services().settings.tiles_url, start, end, WAY, WAY_RIM)
    return _map_json(found.still) | {"start": found.start, "end": found.end}


def _map_json(still: StillMap) -> dict[str, Any]:
    credit = services().settings.tiles_attribution
    return {
        "width": still.width,
        "height": still.height,
        "tiles": [[tile.href, tile.x, tile.y] for tile in still.tiles],
        "credit": {SANDBOX_CREDIT: ""}.get(credit, credit),
    }
