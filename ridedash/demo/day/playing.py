"""Orders the rides of a day through the program itself, on a clock that is set from ride to ride.

The rows are the same as after a real week: each order was placed, sent and followed at its own
moment, and the sandbox's database has the bookings.
"""

import heapq
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.demo.day.plan import CENTRES, RideRequest
from ridedash.demo.sandbox_control import SandboxControl
from ridedash.demo.words import FAULTS
from ridedash.extensions import Services
from ridedash.geo import LatLng
from ridedash.rides.actions import request as actions
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import place
from ridedash.rides.tracking import claims
from ridedash.rides.worker import Worker
from ridedash.store.accounts import accounts_of, default_account
from ridedash.store.actors import Actor
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner, Trip
from ridedash.store.properties import cost_centres_of, favourites_of, set_favourite
from ridedash.views.booking.estimates import EstimateFailedError, Estimator

INSTEAD: Final = "mini"  # the category that is ordered where the requested one is not offered
SENT_AFTER: Final = timedelta(seconds=0.4)  # how long after the press an order is sent
SEEN_AFTER: Final = timedelta(seconds=3)  # how long after a new status a poll finds it
TRIES: Final = 10  # for the prices of a trip: on a busy machine they can come too late
AGAIN_S: Final = 0.2  # between two of them
PRESSED_AFTER: Final = timedelta(seconds=115)  # how long after a new status staff press Cancel
FEEDBACK_AFTER: Final = timedelta(minutes=4)  # how long after the ride feedback is given
MOST_AT_ONCE: Final = 20  # rides that one call of `_poll` polls, at most
PHONE: Final = "+442079460990"  # of the range that Ofcom reserves for fiction
# favourite drops; cli/demo_kiosks.py adds the first six to every demo
DROPS: Final = (
    *("Meridian Airport", "Port Meridian Central Station", "Ferry Terminal"),
    *("Meridian General Hospital", "Conference Centre", "Cathedral of the Two Tides"),
    *("Opera on the Lode", "Harbour Market", "Lode Stadium"),
)


class LedClock:
    """A clock that shows the time to which it was set; it never goes back."""

    def __init__(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def __call__(self) -> datetime:
        return self._at

    def lead(self, at: datetime) -> None:
        """Set the clock to a moment, unless that is in its past."""
        self._at = max(self._at, at.astimezone(UTC))


@dataclass(frozen=True)
class Desk:
    """Where and by whom the rides are ordered."""

    property_id: int
    pickup: LatLng
    pickup_name: str
    zone: ZoneInfo
    accounts: dict[str, int]  # accounts by label; "" is the usual one
    centres: dict[str, int]  # cost centres by name
    places: dict[str, LatLng]  # the city's places by name
    actor: Actor


def desk_of(s: Session, prop: Property, actor: Actor, places: dict[str, LatLng]) -> Desk:
    """The desk of a property that has a pickup place and a default account."""
    usual = default_account(s, prop.id)
    if usual is None or prop.pickup_lat is None or prop.pickup_lng is None:
        raise ValueError("the property has no pickup place or no account")
    return Desk(
        property_id=prop.id,
        pickup=LatLng(prop.pickup_lat, prop.pickup_lng),
        pickup_name=prop.pickup_name or prop.name,
        zone=ZoneInfo(prop.timezone),
        accounts={each.label: each.id for each in accounts_of(s, prop.id)} | {"": usual.id},
        centres={each.name: each.id for each in cost_centres_of(s, prop.id)},
        places=places,
        actor=actor,
    )


def furnish(s: Session, prop: Property, places: Mapping[str, LatLng]) -> Property:
    """Add favourite places, cost centres and a phone number, unless the property has them."""
    known = favourites_of(s, prop.id)
    for slot, name in enumerate(DROPS, 1):
        if ("drop", slot) not in known:
            set_favourite(s, prop.id, "drop", slot, name, places[name])
    have = {each.name for each in cost_centres_of(s, prop.id)}
    s.add_all(CostCentre(property_id=prop.id, name=name) for name in CENTRES if name not in have)
    prop.phone = prop.phone or PHONE
    return prop


class Player:
    """Orders the rides of a plan one after the other, and polls each ride at every new status.

    `services`, `worker` and the sandbox behind `control` all read `clock`.
    """

    def __init__(
        self, services: Services, worker: Worker, control: SandboxControl, clock: LedClock
    ) -> None:
        self.services = services
        self.worker = worker
        self.control = control
        self.clock = clock
        self._numbers = itertools.count()  # the order of actions for the same time
        self._ordered = 0
        self._ahead: list[tuple[datetime, int, Callable[[], None]]] = []

    def play(
        self,
        desk: Desk,
        requests: Sequence[RideRequest],
        until: datetime,
        go_on: Callable[[int], bool],
    ) -> bool:
        """Order all rides and follow them until the time `until`. Returns whether all was played.

        `go_on` is called before each step with the number of rides ordered so far; if it returns
        false, play stops.
        """
        for n, request in enumerate(requests):
            self._later(request.at, partial(self._order_it, desk, request, n))
        while self._ahead and self._ahead[0][0] <= until:
            if not go_on(self._ordered):
                return False
            at, _, action = heapq.heappop(self._ahead)
            self.clock.lead(at)
            action()
        self.clock.lead(until)
        self._poll()
        return True

    def _later(self, at: datetime, action: Callable[[], Any]) -> None:
        heapq.heappush(self._ahead, (at.astimezone(UTC), next(self._numbers), action))

    def _order_it(self, desk: Desk, request: RideRequest, n: int) -> None:
        self._ordered = n + 1
        if request.goes:
            self.control.arm(request.goes)
        if request.lost:
            self.control.add_fault(FAULTS["lost_answer"].body)
        account = desk.accounts[request.account]
        category, offer_id = self._offer(desk, request, account)
        booking = BookingRequest(
            property_id=desk.property_id,
            actor=desk.actor,
            tz=desk.zone,
            form_token=f"day-{request.at.timestamp():.0f}-{n}",
            pickup_at=request.pickup_at.astimezone(UTC) if request.pickup_at else None,
            offer_id=offer_id,
            guest_name=request.guest.name,
            guest_room=request.guest.room,
            guest_language=request.guest.language,
            cost_centre_id=desk.centres.get(request.centre),
            note=request.note,
            seats=1 if wire.kind_of(category) is wire.Kind.SHARE else None,
            payment=request.payment,
            account_id=account,
        )
        try:
            order_id = place(self.services.db, self.clock, booking).order_id
        except GuardBusy:
            return  # the guest has an open ride from here
        if request.pickup_at is None:
            self.clock.lead(self.clock() + SENT_AFTER)
            self.worker.sender.send(order_id)
            self._follow(order_id, request, desk.actor)

    def _offer(self, desk: Desk, request: RideRequest, account: int) -> tuple[str, int]:
        """The category and id of an offer: of the requested category, or else of INSTEAD."""
        owner = OfferOwner(desk.property_id, desk.actor, account)
        estimator = Estimator(self.services, owner, "en")
        trip = Trip(desk.pickup, desk.pickup_name, desk.places[request.to], request.to)
        for category in (request.car, INSTEAD):
            _price, offer_id = _quoted(estimator, trip, category, account)
            if offer_id:
                return category, offer_id
        raise LookupError(f"nothing is offered to {request.to}")

    def _follow(self, order_id: int, request: RideRequest, actor: Actor) -> None:
        """Poll the ride at every new status, and do what its plan says (cancel, rate)."""
        with self.services.db.read() as s:
            mtx = s.get_one(Order, order_id).mtx
        for phase in self.control.phases(mtx):
            seen = phase.at + SEEN_AFTER
            self._later(seen, self._poll)
            if phase.status == request.cancelled:
                self._later(seen + PRESSED_AFTER, lambda: self._cancel(order_id, actor))
            if phase.status == wire.COMPLETED:
                self._later(seen + SEEN_AFTER, lambda: self._settle(order_id))
                if request.rating is not None:
                    say = partial(self._feedback, order_id, actor, request.rating)
                    self._later(seen + FEEDBACK_AFTER, say)

    def _cancel(self, order_id: int, actor: Actor) -> None:
        runtime = self.services.runtime
        actions.cancel(runtime, order_id, actor, "Change of plans")
        self._later(self.clock() + SEEN_AFTER, lambda: self._settle(order_id))

    def _feedback(self, order_id: int, actor: Actor, rating: int) -> None:
        actions.feedback(self.services.runtime, order_id, actor, rating)

    def _settle(self, order_id: int) -> None:
        """Poll until the ride has no next poll: its invoice may follow after its end."""
        self._poll()
        with self.services.db.read() as s:
            next_at = s.scalar(select(Ride.next_poll_at).where(Ride.order_id == order_id))
        if next_at is not None:
            self._later(max(next_at, self.clock() + SEEN_AFTER), lambda: self._settle(order_id))

    def _poll(self) -> None:
        """Poll all rides that are under way."""
        tracker = self.worker.tracker
        claims.make_due(self.services.db, self.clock())
        claimed = tracker.claim(MOST_AT_ONCE)
        tracker.record([tracker.ask(each) for each in claimed])


def _quoted(estimator: Estimator, trip: Trip, category: str, account: int) -> tuple[str, int]:
    for _ in range(TRIES):
        try:
            return estimator.quote_offer(trip, category, account)
        except EstimateFailedError as error:
            if error.again_s is None:
                break
            time.sleep(error.again_s or AGAIN_S)
    return "", 0
