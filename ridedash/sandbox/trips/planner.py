"""Plans a trip when it is booked: search, approach, waiting, ride and end, by kind and scenario."""

from dataclasses import dataclass
from random import Random
from typing import Final

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.sandbox.city.city import City
from ridedash.sandbox.city.roads import Route
from ridedash.sandbox.pricing.categories import Category, Tariff
from ridedash.sandbox.trips.drivers import Driver, draw_driver, draw_riders, draw_start_code
from ridedash.sandbox.trips.fleet import Fleet
from ridedash.sandbox.trips.timeline import Leg, TripPhase, TripPlan, TripStop, joined

BOOKING_TIMEOUT_S: Final = 240
RETRY_EVERY_S: Final = 30
# for approach and ride: long enough for polls to see them even at 60 times the speed
SHORTEST_PHASE_S: Final = 120.0
ALLOTMENT_S: Final = (45.0, 75.0)
SLOW_ALLOTMENT_S: Final = 150.0
WAITING_S: Final = (120.0, 180.0)
ACCEPTED_S: Final = 10.0  # time until a driver who will cancel accepts
CANCELLED_S: Final = 40.0  # time from acceptance to the cancellation
SWAPPED_AFTER: Final = 0.6  # fraction of the approach after which another driver takes over
LEAVING_S: Final = (50.0, 90.0)  # time until a driver who will leave accepts, and until they leave
DESTINATION_M: Final = (1500.0, 6000.0)  # distance of destinations for rides without a drop

NORMAL: Final = "normal"
NO_CAB: Final = "no_cab"
SHARE_IMMEDIATE: Final = "share_immediate"
SHARE_RETRY: Final = "share_retry"
SHARE_RETRY_FAIL: Final = "share_retry_fail"
SHARE_RETRY_SLOW: Final = "share_retry_slow"
DRIVER_CANCELS: Final = "driver_cancels"
DRIVER_CANCELS_FAIL: Final = "driver_cancels_fail"
DRIVER_LEAVES: Final = "driver_leaves"
DRIVER_SWAPS: Final = "driver_swaps"
SLOW_ALLOTMENT: Final = "slow_allotment"
INVOICE_BEFORE_RIDE: Final = "invoice_before_ride"
SCENARIOS: Final = {  # scenario -> the kind of booking that it needs, None for any
    NORMAL: None,
    NO_CAB: None,
    SLOW_ALLOTMENT: None,
    SHARE_IMMEDIATE: wire.Kind.SHARE,
    SHARE_RETRY: wire.Kind.SHARE,
    SHARE_RETRY_FAIL: wire.Kind.SHARE,
    SHARE_RETRY_SLOW: wire.Kind.SHARE,
    DRIVER_CANCELS: wire.Kind.AUTO,
    DRIVER_CANCELS_FAIL: wire.Kind.AUTO,
    DRIVER_LEAVES: wire.Kind.AUTO,
    DRIVER_SWAPS: wire.Kind.POINT_TO_POINT,
    INVOICE_BEFORE_RIDE: wire.Kind.POINT_TO_POINT,
}
RETRYING: Final = frozenset({SHARE_RETRY, SHARE_RETRY_FAIL, SHARE_RETRY_SLOW})


@dataclass(frozen=True)
class TripRequest:
    """A booking request that passed all checks."""

    city: City
    tariff: Tariff
    category: Category
    pickup: LatLng
    drop: LatLng | None
    rider: str
    scenario: str
    start: float


class Planner:
    """Plans one trip, once. All random numbers come from `rng`."""

    def __init__(self, request: TripRequest, fleet: Fleet, rng: Random) -> None:
        self._request = request
        self._fleet = fleet
        self._rng = rng
        self._phases: list[TripPhase] = []
        self._legs: list[Leg] = []
        self._drivers: list[Driver] = []

    def plan(self) -> TripPlan:
        """The whole timeline. It ends in ALLOTMENT_FAILED if no cab is found."""
        allotted_at = self._search()
        if allotted_at is None or not self._approach(allotted_at):
            self._phases = [phase for phase in self._phases if phase.driver is None]
            return self._finish(None)
        drop, route = self._journey()
        self._ride(route)
        return self._finish(drop)

    def _search(self) -> float | None:
        """Add the phases of the search. Returns when a driver is found, or None."""
        request = self._request
        if request.scenario != SHARE_IMMEDIATE:
            self._add(_waiting_status(request.category.kind), request.start)
        if request.scenario in (NO_CAB, SHARE_RETRY_FAIL):
            return None
        if request.scenario in (DRIVER_CANCELS, DRIVER_CANCELS_FAIL, DRIVER_LEAVES):
            return self._search_again()
        if request.scenario in (SLOW_ALLOTMENT, SHARE_RETRY_SLOW):
            return request.start + SLOW_ALLOTMENT_S
        if request.scenario == SHARE_IMMEDIATE:
            return request.start
        return request.start + self._rng.uniform(*ALLOTMENT_S)

    def _search_again(self) -> float | None:
        """Search again, once, after the driver of an auto accepted and then cancelled.

        Returns when another driver is found, or None.
        """
        start = self._request.start
        leaves = self._request.scenario == DRIVER_LEAVES
        if leaves and not self._call(start + LEAVING_S[0]):
            return None
        again = start + (LEAVING_S[1] if leaves else ACCEPTED_S + CANCELLED_S)
        self._add(wire.ALLOTMENT_RETRYING, again)
        if self._request.scenario == DRIVER_CANCELS_FAIL:
            return None
        return again + SHORTEST_PHASE_S + self._rng.uniform(0, 20)

    def _call(self, at: float) -> bool:
        """Let the nearest driver accept. Returns False if no cab is near.

        A driver who is near departs later, so that the approach takes SHORTEST_PHASE_S at least.
        """
        request = self._request
        cab = self._fleet.nearest(request.category.id, request.pickup, at)
        if cab is None:
            return False
        departs = at + max(0.0, SHORTEST_PHASE_S - cab.eta_s)
        self._legs.append(Leg(departs, cab.route))
        self._drivers.append(draw_driver(self._rng, request.tariff, request.category))
        self._add(wire.CALL_DRIVER, at, leg=len(self._legs) - 1, driver=len(self._drivers) - 1)
        return True

    def _approach(self, allotted_at: float) -> bool:
        if not self._call(allotted_at) or not self._swap(allotted_at):
            return False
        here = self._legs[-1].arrives
        leg = len(self._legs) - 1
        driver = len(self._drivers) - 1
        if self._request.category.kind is not wire.Kind.AUTO:
            self._add(wire.CLIENT_LOCATED, here, leg, driver)
            here += self._rng.uniform(*WAITING_S)
        if self._bills_first():
            self._add(wire.INVOICE, here, leg, driver)
            here += self._rng.uniform(*WAITING_S)
        if self._request.category.kind is wire.Kind.AUTO:
            here += 60.0
        self._starts = here
        return True

    def _swap(self, allotted_at: float) -> bool:
        """Let another driver take over on the way in DRIVER_SWAPS. False if no cab is near."""
        if self._request.scenario != DRIVER_SWAPS:
            return True
        on_the_way_s = self._legs[-1].arrives - allotted_at
        return self._call(allotted_at + SWAPPED_AFTER * on_the_way_s)

    def _bills_first(self) -> bool:
        """Whether INVOICE comes before the ride: always for share, else only in one scenario."""
        shared = self._request.category.kind is wire.Kind.SHARE
        return shared or self._request.scenario == INVOICE_BEFORE_RIDE

    def _ride(self, route: Route) -> None:
        self._legs.append(Leg(self._starts, route))
        leg = len(self._legs) - 1
        driver = len(self._drivers) - 1
        self._add(wire.IN_PROGRESS, self._starts, leg, driver)
        end = self._starts + max(SHORTEST_PHASE_S, route.total_s)
        if self._request.category.kind is wire.Kind.AUTO:
            self._add(wire.INVOICE, end, leg, driver)
            end += self._rng.uniform(*WAITING_S)
        self._add(wire.COMPLETED, end, leg, driver)

    def _journey(self) -> tuple[LatLng, Route]:
        """The destination and the route to it.

        A ride without a drop goes to a random place. A rental visits a random place first.
        """
        request = self._request
        roads = self._request.city.roads
        if request.category.rental:
            via = random_destination(request.city, request.pickup, self._rng)
            end = request.drop or request.pickup
            return end, joined([roads.route(request.pickup, via), roads.route(via, end)])
        end = request.drop or random_destination(request.city, request.pickup, self._rng)
        return end, roads.route(request.pickup, end)

    def _finish(self, drop: LatLng | None) -> TripPlan:
        if drop is None:
            self._add(
                wire.ALLOTMENT_FAILED,
                max(self._request.start + BOOKING_TIMEOUT_S, self._phases[-1].at + 120.0),
            )
        shared = drop is not None and self._request.category.kind is wire.Kind.SHARE
        riders = draw_riders(self._rng, self._rng.choice((1, 1, 2))) if shared else ()
        return TripPlan(
            phases=tuple(self._phases),
            legs=tuple(self._legs),
            drivers=tuple(self._drivers),
            drop=drop,
            start_code=draw_start_code(self._rng),
            riders=riders,
            stops=self._stops(riders, drop) if drop and shared else (),
        )

    def _stops(self, riders: tuple[str, ...], drop: LatLng) -> tuple[TripStop, ...]:
        """The stops of a shared ride.

        Co-passengers get in before our guest and get out along the guest's route, so the cab makes
        no detour.
        """
        approach = self._legs[-2].route
        ride = self._legs[-1].route
        parts = [(number + 1) / (len(riders) + 1) for number in range(len(riders))]
        ins = [
            TripStop(r, "pickup", approach.at_seconds(approach.total_s * p * 0.6).position)
            for r, p in zip(riders, parts, strict=True)
        ]
        outs = [
            TripStop(r, "drop", ride.at_seconds(ride.total_s * p).position)
            for r, p in zip(riders, parts, strict=True)
        ]
        own = self._request.rider
        return (
            *ins,
            TripStop(own, "pickup", self._request.pickup),
            *outs,
            TripStop(own, "drop", drop),
        )

    def _add(
        self, status: str, at: float, leg: int | None = None, driver: int | None = None
    ) -> None:
        self._phases.append(TripPhase(status, at, leg, driver))


def _waiting_status(kind: wire.Kind) -> str:
    if kind is wire.Kind.AUTO:
        return wire.PENDING
    return wire.ALLOTMENT_PENDING


def random_destination(city: City, start: LatLng, rng: Random) -> LatLng:
    """A random place of the city at a distance within DESTINATION_M, or else any place."""
    shortest, longest = DESTINATION_M
    fitting = [
        place.position
        for place in city.places
        if shortest <= distance_m(start, place.position) <= longest
    ]
    return rng.choice(fitting or [place.position for place in city.places])
