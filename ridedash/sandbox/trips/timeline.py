"""A trip as a timeline: its status and the cab's position are functions of the time."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.city.roads import Motion, Route
from ridedash.sandbox.trips.drivers import Driver


@dataclass(frozen=True)
class Leg:
    """A drive that starts at `departs`.

    Before that, the cab stands at the start of the route; after the drive, at its end.
    """

    departs: float
    route: Route

    @property
    def arrives(self) -> float:
        """The time at which the cab reaches the end."""
        return self.departs + self.route.total_s

    def motion(self, now: float) -> Motion:
        """Position, bearing and speed at a time."""
        moving = self.route.at_seconds(min(max(0.0, now - self.departs), self.route.total_s))
        if not self.departs <= now < self.arrives:
            return moving._replace(speed_kmh=0.0)
        return moving

    def left(self, now: float) -> tuple[float, float]:
        """The remaining (seconds, metres)."""
        seconds = max(0.0, min(self.arrives - now, self.arrives - self.departs))
        metres = seconds / (self.route.total_s or 1.0) * self.route.total_m
        return max(0.0, self.arrives - now), metres


@dataclass(frozen=True)
class TripPhase:
    """A status from `at` on; `leg` and `driver` are indexes into the lists of the plan."""

    status: str
    at: float
    leg: int | None = None
    driver: int | None = None


@dataclass(frozen=True)
class TripStop:
    """A place where a passenger gets in (`pickup`) or out (`drop`)."""

    name: str
    state: str
    position: LatLng


@dataclass(frozen=True)
class TripPlan:
    """The whole course of a trip unless an action changes it.

    Times are the service's, in seconds since 1970.
    """

    phases: tuple[TripPhase, ...]
    legs: tuple[Leg, ...]
    drivers: tuple[Driver, ...]
    drop: LatLng | None  # where the journey ends; None when no cab comes
    start_code: str
    riders: tuple[str, ...] = ()
    stops: tuple[TripStop, ...] = ()

    def phase(self, now: float) -> TripPhase:
        """The phase at a time; the first phase for earlier times."""
        index = bisect_right(self.phases, now, key=_begins) - 1
        return self.phases[max(0, index)]

    def first(self, status: str) -> TripPhase | None:
        """The first phase with a status, or None."""
        return next((phase for phase in self.phases if phase.status == status), None)

    @property
    def allotted_at(self) -> float | None:
        """When the driver who will come is found, or None if no driver is found."""
        calls = (phase.at for phase in reversed(self.phases) if phase.status == wire.CALL_DRIVER)
        return next(calls, None)

    @property
    def ride(self) -> Leg | None:
        """The drive with the guest aboard, or None."""
        riding = self.first(wire.IN_PROGRESS)
        if riding is None or riding.leg is None:
            return None
        return self.legs[riding.leg]

    def to_json(self) -> dict[str, Any]:
        """A JSON object that plan_from_json reads."""
        return {
            "phases": [[phase.status, phase.at, phase.leg, phase.driver] for phase in self.phases],
            "legs": [[leg.departs, leg.route.to_json()] for leg in self.legs],
            "crews": [driver.to_json() for driver in self.drivers],
            "drop": self.drop,
            "start_code": self.start_code,
            "riders": self.riders,
            "stops": [[stop.name, stop.state, stop.position] for stop in self.stops],
        }


def _begins(phase: TripPhase) -> float:
    return phase.at


def plan_from_json(data: dict[str, Any]) -> TripPlan:
    """The plan that to_json wrote."""
    return TripPlan(
        phases=tuple(TripPhase(*phase) for phase in data["phases"]),
        legs=tuple(Leg(departs, Route.from_json(route)) for departs, route in data["legs"]),
        drivers=tuple(Driver.from_json(driver) for driver in data["crews"]),
        drop=LatLng(*data["drop"]) if data["drop"] else None,
        start_code=data["start_code"],
        riders=tuple(data["riders"]),
        stops=tuple(
            TripStop(name, state, LatLng(*position)) for name, state, position in data["stops"]
        ),
    )


def joined(routes: Sequence[Route]) -> Route:
    """Several routes joined to one; each begins where the previous one ends."""
    points = [*routes[0].points]
    metres = [*routes[0].metres]
    seconds = [*routes[0].seconds]
    for route in routes[1:]:
        metres += [metres[-1] + each for each in route.metres[1:]]
        seconds += [seconds[-1] + each for each in route.seconds[1:]]
        points += route.points[1:]
    return Route(tuple(points), tuple(metres), tuple(seconds))


def driven_part(route: Route, seconds: float) -> Route:
    """The part of a route that a cab drives in `seconds`; if it arrives earlier, it then waits."""
    if seconds <= 0:
        return Route((route.points[0],), (0.0,), (0.0,))
    if seconds >= route.total_s:
        end = route.points[-1]
        return Route(
            (*route.points, end), (*route.metres, route.total_m), (*route.seconds, seconds)
        )
    count = bisect_right(route.seconds, seconds)
    before = route.seconds[count - 1]
    after = route.seconds[count]
    step = (seconds - before) / (after - before)
    metres = route.metres[count - 1] + (route.metres[count] - route.metres[count - 1]) * step
    return Route(
        (*route.points[:count], route.at_seconds(seconds).position),
        (*route.metres[:count], metres),
        (*route.seconds[:count], seconds),
    )


def redirected(plan: TripPlan, ride: Route, drop: LatLng, shortest_s: float) -> TripPlan:
    """The plan with another drive to `drop`, which lasts `shortest_s` seconds at least.

    The later phases are shifted with the end of the drive.
    """
    riding = plan.first(wire.IN_PROGRESS)
    if riding is None or riding.leg is None:
        return replace(plan, drop=drop)
    legs = list(plan.legs)
    legs[riding.leg] = Leg(riding.at, ride)
    after = plan.phases.index(riding) + 1
    shift = riding.at + max(shortest_s, ride.total_s) - plan.phases[after].at
    later = tuple(replace(phase, at=phase.at + shift) for phase in plan.phases[after:])
    stops = tuple(stop for stop in plan.stops[:-1]) + tuple(
        replace(stop, position=drop) for stop in plan.stops[-1:]
    )
    return replace(
        plan, phases=plan.phases[:after] + later, legs=tuple(legs), drop=drop, stops=stops
    )
