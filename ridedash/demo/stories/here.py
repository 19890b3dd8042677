"""Where a story plays: the property of the presenter, and places of its city."""

import contextlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.places import Place, PlacesUnavailableError
from ridedash.store.accounts import default_account
from ridedash.store.models.people import Account, Property
from ridedash.store.offers import OfferOwner, Trip
from ridedash.views.booking.estimates import EstimateFailedError, Estimator
from ridedash.views.booking.product_cards import Card
from ridedash.views.web.current_user import current_staff

# searches for a place; together they take less time than interpreter.TAKES allows an action
SEARCHES: Final = 3
SILENT: Final = 500  # an error status from here up means: no answer; a lower one is a refusal


class NotYet(Exception):
    """A service that the action needs does not answer yet. Nothing was done; try it again."""


class NotPlayed(Exception):
    """The action can't be done; the message says why."""


@dataclass(frozen=True)
class StoryProperty:
    """A property and one of its accounts."""

    property_id: int
    pickup: LatLng
    pickup_name: str
    account_id: int

    def trip(self, to: str) -> Trip:
        """A trip from the property to the place with this name. Raises NotPlayed and NotYet."""
        return Trip(self.pickup, self.pickup_name, place_named(to, self.pickup), to)


def here(label: str = "") -> StoryProperty:
    """The presenter's property and its account with this label; without a label, its default one.

    Raises NotPlayed.
    """
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        account = default_account(s, prop.id)
        if label:
            mine = select(Account).where(Account.property_id == prop.id, Account.label == label)
            account = s.scalars(mine).first()
        if account is None or prop.pickup_lat is None or prop.pickup_lng is None:
            raise NotPlayed("the property has no pickup place or no account")
        pickup = LatLng(prop.pickup_lat, prop.pickup_lng)
        return StoryProperty(prop.id, pickup, prop.pickup_name or prop.name, account.id)


def place_named(name: str, near: LatLng) -> LatLng:
    """The point of the place with this name. Raises NotPlayed if none is found, and NotYet."""
    found = _found(name, near)
    for place in found:
        if place.name == name:
            return place.position
    raise NotPlayed(f"no place is called {name}")


def _found(name: str, near: LatLng) -> list[Place]:
    """The places that a search finds. Raises NotYet.

    The search is repeated, because the first one of a sandbox loads the places and may fail.
    """
    for _ in range(SEARCHES):
        with contextlib.suppress(PlacesUnavailableError):
            return services().geocoder.search(name, near)
    raise NotYet


def offered(owner: OfferOwner, trip: Trip, car: str, language: str) -> Card:
    """A car for a trip, with its price and its offer.

    Raises EstimateFailedError when the service refuses, NotPlayed, and NotYet without an answer.
    """
    try:
        found = Estimator(services(), owner, language).estimates(trip, owner.account_id)
    except EstimateFailedError as error:
        if error.status >= SILENT:
            raise NotYet from error
        raise
    card = next((each for each in found.cards if each.category == car), None)
    if card is None:
        raise NotPlayed(f"no {car} is offered")
    return card


def offer_to_book(owner: OfferOwner, trip: Trip, car: str, language: str) -> int:
    """The id of an offer of a car that can be booked. Raises NotPlayed and NotYet."""
    try:
        card = offered(owner, trip, car, language)
    except EstimateFailedError as error:
        raise NotPlayed(error.headline) from error
    if card.offer_id is None:
        raise NotPlayed(f"the {car} can't be booked")
    return card.offer_id
