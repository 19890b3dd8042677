"""The cabs of a city.

Each cab waits at a stand, then drives to its next stand. Its position depends on the time only.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from ridedash.geo import LatLng, distance_m
from ridedash.sandbox.city.city import City
from ridedash.sandbox.city.roads import Motion, Route
from ridedash.sandbox.pricing.categories import Category, tariff_of
from ridedash.sandbox.trips.drivers import seeded_rng

ROUND_S: Final = 900.0  # one wait at a stand and the drive to the next stand
REACH_M: Final = 3500.0  # cabs farther away are not offered
CANDIDATES: Final = 3  # positions are computed for this many cabs only
# how far a stand may be from the cab's home, in latitude and in longitude, before it is moved to a
# street
ROAM_DEG: Final = 0.004


class NearbyCab(NamedTuple):
    """The route to the pickup for a cab that could come, with its seconds and metres."""

    route: Route
    eta_s: float
    metres: float


class Fleet:
    """All cabs of one city, by category.

    Bookings don't occupy them: any number may be booked at once.
    """

    def __init__(self, city: City, seed: int) -> None:
        self._city = city
        self._seed = seed
        self._homes = {
            category.id: self._draw_homes(category)
            for category in tariff_of(city.currency).categories
        }
        self._drive = lru_cache(maxsize=4096)(self._route_between_stands)

    def nearest(self, category: str, pickup: LatLng, now: float) -> NearbyCab | None:
        """The cab of a category nearest to the pickup, or None when none is within REACH_M.

        Only the CANDIDATES cabs whose homes are nearest are considered.
        """
        homes = self._homes[category]
        by_home = sorted(range(len(homes)), key=lambda index: distance_m(homes[index], pickup))
        near = (self._position(category, index, now).position for index in by_home[:CANDIDATES])
        within = [position for position in near if distance_m(position, pickup) <= REACH_M]
        if not within:
            return None
        start = min(within, key=lambda position: distance_m(position, pickup))
        route = self._city.roads.route(start, pickup)
        return NearbyCab(route, route.total_s, route.total_m)

    def _position(self, category: str, index: int, now: float) -> Motion:
        """Where a cab is: it waits in the first part of a round, and drives in the last."""
        # the rounds of cabs begin at different times
        stagger = seeded_rng(self._seed, self._city.slug, category, index).uniform(0, ROUND_S)
        number, elapsed = divmod(now + stagger, ROUND_S)
        drive = self._drive(category, index, int(number))
        wait_s = ROUND_S - drive.total_s
        return drive.at_seconds(max(0.0, elapsed - wait_s))

    def _route_between_stands(self, category: str, index: int, number: int) -> Route:
        """The drive at the end of round `number`."""
        return self._city.roads.route(
            self._stand(category, index, number), self._stand(category, index, number + 1)
        )

    def _stand(self, category: str, index: int, number: int) -> LatLng:
        """Where a cab waits in round `number`: on a road near its home."""
        rng = seeded_rng(self._seed, self._city.slug, category, index, number)
        home = self._homes[category][index]
        near = LatLng(
            home.lat + rng.uniform(-ROAM_DEG, ROAM_DEG),
            home.lng + rng.uniform(-ROAM_DEG, ROAM_DEG),
        )
        return self._city.roads.snap(near)

    def _draw_homes(self, category: Category) -> tuple[LatLng, ...]:
        """A place on a road inside the city for each cab of a category; the seed determines it."""
        rng = seeded_rng(self._seed, self._city.slug, category.id)
        lats = [point.lat for point in self._city.boundary]
        lngs = [point.lng for point in self._city.boundary]
        homes: list[LatLng] = []
        while len(homes) < category.cabs:
            point = LatLng(rng.uniform(min(lats), max(lats)), rng.uniform(min(lngs), max(lngs)))
            if self._city.contains(point):
                homes.append(self._city.roads.snap(point))
        return tuple(homes)
