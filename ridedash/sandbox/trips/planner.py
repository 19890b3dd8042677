"""Lays a trip out at the moment of booking: search, approach, waiting, ride and end, by kind and
scenario.
"""

from dataclasses import dataclass
from random import Random
from typing import Final

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.sandbox.city.city import City
from ridedash.sandbox.city.roads import Route
from ridedash.sandbox.pricing.categories import Category, Tariff
from ridedash.sandbox.trips.crews import Crew, draw_crew, draw_riders, draw_start_code
from ridedash.sandbox.trips.fleet import Fleet
from ridedash.sandbox.trips.timeline import Leg, Phase, Plan, Stop, joined

BOOKING_TIMEOUT_S: Final = 240
RETRY_EVERY_S: Final = 30
SHORTEST_PHASE_S: Final = 120.0  # so that each phase is seen at 60 times the speed
ALLOTMENT_S: Final = (45.0, 75.0)
SLOW_ALLOTMENT_S: Final = 150.0
WAITING_S: Final = (120.0, 180.0)
ACCEPTED_S: Final = 10.0  # a driver who will cancel accepts so soon,
CANCELLED_S: Final = 40.0  # and cancels within 45 s of accepting
LEAVING_S: Final = (50.0, 90.0)  # the same, seen as CALL_DRIVER in between
STROLL_M: Final = (1500.0, 6000.0)  # how far rides without a drop go

NORMAL: Final = "normal"
NO_CAB: Final = "no_cab"
SHARE_IMMEDIATE: Final = "share_immediate"
SHARE_RETRY: Final = "share_retry"
SHARE_RETRY_FAIL: Final = "share_retry_fail"
SHARE_RETRY_SLOW: Final = "share_retry_slow"
DRIVER_CANCELS: Final = "driver_cancels"
DRIVER_CANCELS_FAIL: Final = "driver_cancels_fail"
DRIVER_LEAVES: Final = "driver_leaves"
SLOW_ALLOTMENT: Final = "slow_allotment"
SCENARIOS: Final = {  # and the kind that each needs
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
}
RETRYING: Final = frozenset({SHARE_RETRY, SHARE_RETRY_FAIL, SHARE_RETRY_SLOW})


@dataclass(frozen=True)
class TripRequest:
    """What a booking asks for, checked."""

    city: City
    tariff: Tariff
    category: Category
    pickup: LatLng
    drop: LatLng | None
    rider: str
    scenario: str
    start: float


class Planner:
    """Plans one trip. Every random number comes from `rng`."""

    def __init__(self, request: TripRequest, fleet: Fleet, rng: Random) -> None:
        self._request = request
        self._fleet = fleet
        self._rng = rng
        self._phases: list[Phase] = []
        self._legs: list[Leg] = []
        self._crews: list[Crew] = []

    def plan(self) -> Plan:
        """The whole timeline; without a cab it ends in ALLOTMENT_FAILED."""
        allotted_at = self._search()
        if allotted_at is None or not self._approach(allotted_at):
            self._phases = [phase for phase in self._phases if phase.crew is None]
            return self._finish(None)
        drop, route = self._journey()
        self._ride(route)
        return self._finish(drop)

    def _search(self) -> float | None:
        """Lay out the search; when a driver is found, or None."""
        request, waiting = self._request, _waiting_status(self._request.category.kind)
        if request.scenario != SHARE_IMMEDIATE:
            self._add(waiting, request.start)
        if request.scenario in (NO_CAB, SHARE_RETRY_FAIL):
            return None
        if request.scenario in (DRIVER_CANCELS, DRIVER_CANCELS_FAIL, DRIVER_LEAVES):
            return self._search_again()
        if request.scenario in (SLOW_ALLOTMENT, SHARE_RETRY_SLOW):
            return request.start + SLOW_ALLOTMENT_S
        return request.start + (
            0.0 if request.scenario == SHARE_IMMEDIATE else self._rng.uniform(*ALLOTMENT_S)
        )

    def _search_again(self) -> float | None:
        """Auto: the driver who accepted cancels within 45 s; the search is repeated, once at
        most.
        """
        start, leaves = self._request.start, self._request.scenario == DRIVER_LEAVES
        if leaves and not self._call(start + LEAVING_S[0]):
            return None
        again = start + (LEAVING_S[1] if leaves else ACCEPTED_S + CANCELLED_S)
        self._add(wire.ALLOTMENT_RETRYING, again)
        found = self._request.scenario != DRIVER_CANCELS_FAIL
        return again + SHORTEST_PHASE_S + self._rng.uniform(0, 20) if found else None

    def _call(self, at: float) -> bool:
        """A driver accepts and sets off so as to be at the pickup after SHORTEST_PHASE_S or
        more.
        """
        request = self._request
        cab = self._fleet.nearest(request.category.id, request.pickup, at)
        if cab is None:
            return False
        departs = at + max(0.0, SHORTEST_PHASE_S - cab.eta_s)
        self._legs.append(Leg(departs, cab.route))
        self._crews.append(draw_crew(self._rng, request.tariff, request.category))
        self._add(wire.CALL_DRIVER, at, leg=len(self._legs) - 1, crew=len(self._crews) - 1)
        return True

    def _approach(self, allotted_at: float) -> bool:
        if not self._call(allotted_at):
            return False
        here, leg, crew = self._legs[-1].arrives, len(self._legs) - 1, len(self._crews) - 1
        if self._request.category.kind is not wire.Kind.AUTO:
            self._add(wire.CLIENT_LOCATED, here, leg, crew)
            here += self._rng.uniform(*WAITING_S)
        if self._request.category.kind is wire.Kind.SHARE:
            self._add(wire.INVOICE, here, leg, crew)
            here += self._rng.uniform(*WAITING_S)
        self._starts = here if self._request.category.kind is not wire.Kind.AUTO else here + 60.0
        return True

    def _ride(self, route: Route) -> None:
        self._legs.append(Leg(self._starts, route))
        leg, crew = len(self._legs) - 1, len(self._crews) - 1
        self._add(wire.IN_PROGRESS, self._starts, leg, crew)
        end = self._starts + max(SHORTEST_PHASE_S, route.total_s)
        if self._request.category.kind is wire.Kind.AUTO:
            self._add(wire.INVOICE, end, leg, crew)
            end += self._rng.uniform(*WAITING_S)
        self._add(wire.COMPLETED, end, leg, crew)

    def _journey(self) -> tuple[LatLng, Route]:
        """Where the ride goes, and how: to the drop; without one to a place near; a rental calls
        somewhere first.
        """
        request, roads = self._request, self._request.city.roads
        if request.category.rental:
            via = stroll(request.city, request.pickup, self._rng)
            end = request.drop or request.pickup
            return end, joined([roads.route(request.pickup, via), roads.route(via, end)])
        end = request.drop or stroll(request.city, request.pickup, self._rng)
        return end, roads.route(request.pickup, end)

    def _finish(self, drop: LatLng | None) -> Plan:
        if drop is None:
            self._add(
                wire.ALLOTMENT_FAILED,
                max(self._request.start + BOOKING_TIMEOUT_S, self._phases[-1].at + 120.0),
            )
        shared = drop is not None and self._request.category.kind is wire.Kind.SHARE
        riders = draw_riders(self._rng, self._rng.choice((1, 1, 2))) if shared else ()
        return Plan(
            phases=tuple(self._phases),
            legs=tuple(self._legs),
            crews=tuple(self._crews),
            drop=drop,
            start_code=draw_start_code(self._rng),
            riders=riders,
            stops=self._stops(riders, drop) if drop and shared else (),
        )

    def _stops(self, riders: tuple[str, ...], drop: LatLng) -> tuple[Stop, ...]:
        """Co-passengers are aboard before us and get out on our way, so that the cab makes no
        detour.
        """
        approach, ride = self._legs[-2].route, self._legs[-1].route
        parts = [(number + 1) / (len(riders) + 1) for number in range(len(riders))]
        ins = [
            Stop(r, "pickup", approach.at_seconds(approach.total_s * p * 0.6).position)
            for r, p in zip(riders, parts, strict=True)
        ]
        outs = [
            Stop(r, "drop", ride.at_seconds(ride.total_s * p).position)
            for r, p in zip(riders, parts, strict=True)
        ]
        own = self._request.rider
        return (*ins, Stop(own, "pickup", self._request.pickup), *outs, Stop(own, "drop", drop))

    def _add(self, status: str, at: float, leg: int | None = None, crew: int | None = None) -> None:
        self._phases.append(Phase(status, at, leg, crew))


def _waiting_status(kind: wire.Kind) -> str:
    return wire.PENDING if kind is wire.Kind.AUTO else wire.ALLOTMENT_PENDING


def stroll(city: City, start: LatLng, rng: Random) -> LatLng:
    """A place of the city that is neither next door nor at the other end."""
    shortest, longest = STROLL_M
    fitting = [
        place.position
        for place in city.places
        if shortest <= distance_m(start, place.position) <= longest
    ]
    return rng.choice(fitting or [place.position for place in city.places])
