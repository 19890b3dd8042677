"""The deeds of a story, done by the same functions as the presses of pages."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from ridedash.demo.beginning import control
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.stories.model import Act, Book, Deed, Fault, Press, Scenario
from ridedash.demo.stories.runs import Run
from ridedash.demo.words import FAULTS
from ridedash.extensions import Services, services
from ridedash.geo import LatLng
from ridedash.rides.actions import request as actions
from ridedash.rides.orders import resolve
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import PlaceError, TokenReused, place
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.accounts import default_account
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Account, Property
from ridedash.store.orders import OfferOwner, Trip
from ridedash.views.booking.estimates import EstimateFailedError, Estimator
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.responses import locale


class NotPlayed(Exception):
    """The deed could not be done: why, in words."""


@dataclass(frozen=True)
class _At:
    """The property of the one who presses, and its usual account."""

    property_id: int
    pickup: LatLng
    pickup_name: str
    account_id: int


def do(run: Run, deed: Deed) -> dict[str, Any]:
    """Do it. What the run has to remember of it. Raises NotPlayed."""
    try:
        match deed:
            case Book():
                return _book(run, deed)
            case Act():
                return _act(run, deed)
            case Scenario(name):
                control().arm(name)
            case Fault():
                return _break(deed)
    except NotDone as error:
        raise NotPlayed("the sandbox does not answer") from error
    return {}


def _book(run: Run, deed: Book) -> dict[str, Any]:
    """Order the ride; by the form token of the run, so that it is one order however often."""
    s, here = services(), _here(deed.account)
    token = token_of(run, deed.ride)
    who = current_staff().actor
    estimator = Estimator(s, OfferOwner(here.property_id, who, here.account_id), locale())
    trip = Trip(here.pickup, here.pickup_name, place_named(s, deed.to, here.pickup), deed.to)
    try:
        found = estimator.estimates(trip, here.account_id)
    except EstimateFailedError as error:
        raise NotPlayed(error.headline) from error
    offer = next((each.offer_id for each in found.cards if each.category == deed.car), None)
    if offer is None:
        raise NotPlayed(f"no {deed.car} is offered")
    wanted = BookingRequest(
        property_id=here.property_id,
        actor=who,
        form_token=token,
        offer_id=offer,
        guest_name=deed.guest,
        guest_room=deed.room,
        guest_language=deed.language,
        seats=deed.seats,
        payment=deed.payment,
        account_id=here.account_id,
    )
    try:
        order_id = place(s.db, s.clock, wanted).order_id
    except TokenReused as error:
        order_id = error.order_id
    except PlaceError as error:
        raise NotPlayed(str(error)) from error
    s.wake()
    return {"orders": run.kept.get("orders", {}) | {deed.ride: order_id}}


def token_of(run: Run, ride: str) -> str:
    """The form token of a ride in a run."""
    return f"{run.id}-{ride}"


def place_named(s: Services, name: str, near: LatLng) -> LatLng:
    """Where a place of the city is. Raises NotPlayed for one that is not found."""
    for found in s.geocoder.search(name, near):
        if found.name == name:
            return found.position
    raise NotPlayed(f"no place is called {name}")


def _here(label: str) -> _At:
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        account = default_account(s, prop.id)
        if label:
            mine = select(Account).where(Account.property_id == prop.id, Account.label == label)
            account = s.scalars(mine).first()
        if account is None or prop.pickup_lat is None or prop.pickup_lng is None:
            raise NotPlayed("the property has no pickup place or no account")
        pickup = LatLng(prop.pickup_lat, prop.pickup_lng)
        return _At(prop.id, pickup, prop.pickup_name or prop.name, account.id)


def _act(run: Run, deed: Act) -> dict[str, Any]:
    order_id = run.order(deed.ride)
    if order_id is None:
        raise NotPlayed(f"{deed.ride} was not booked")
    s, who = services(), current_staff().actor
    match deed.press:
        case Press.ABORT:
            actions.abort(s.runtime, order_id, who)
        case Press.CANCEL:
            actions.cancel(s.runtime, order_id, who, "No longer needed")
        case Press.ARM_CANCEL:
            actions.arm_cancel(s.db, s.clock, order_id, who, "No longer needed")
        case Press.RELEASE_CANCEL:
            actions.disarm_cancel(s.db, s.clock, order_id, who)
        case Press.CHANGE_DROP:
            here = _here("")
            drop = place_named(s, deed.text, here.pickup)
            actions.change_drop(s.runtime, order_id, who, drop, deed.text)
        case Press.FEEDBACK:
            actions.feedback(s.runtime, order_id, who, int(deed.text))
        case Press.LINK:
            now, mine = s.clock(), current_staff().property_id
            link = make_link(s.db, now, mine, order_id, LinkKind.RIDER, who)
            return {"link": f"/t/{link}"}
        case Press.SETTLE:
            _settle(s, order_id)
    s.wake()
    return {}


def _settle(s: Services, order_id: int) -> None:
    """Link an order of unknown outcome to its booking, by the number that the ledger has."""
    with s.db.read() as session:
        mtx = session.get_one(Order, order_id).mtx
    number = next((each.booking_id for each in control().ledger() if each.mtx == mtx), None)
    if number is None:
        raise NotPlayed("the ledger has no such booking")
    resolve.resolve_booked(s.runtime, order_id, number, current_staff().id)


def _break(deed: Fault) -> dict[str, Any]:
    body = dict(FAULTS[deed.name].body)
    if deed.lasts_s is not None:
        body["seconds"] = deed.lasts_s
    control().add_fault(body)
    return {}
