"""The two fictional cities: service area, places, hotspots, streets.

Built from their plans on first use, then kept.
"""

import functools
import gc
import re
import threading
import unicodedata
from dataclasses import dataclass

from ridedash.geo import LatLng, contains
from ridedash.sandbox.city.data import port_meridian, saltmere
from ridedash.sandbox.city.data.plan import Km, Plan, Spot, Zone
from ridedash.sandbox.city.geometry import Frame
from ridedash.sandbox.city.roads import RoadNetwork
from ridedash.sandbox.city.streets import grow

Ring = tuple[LatLng, ...]
"""An open ring of points."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place people ask for by name. `kind` is one word such as hotel or station; `area` its
    district.
    """

    id: str
    name: str
    kind: str
    area: str
    position: LatLng


@dataclass(frozen=True, slots=True)
class PickupPoint:
    """A named point of a hotspot, on a street."""

    id: int
    name: str
    position: LatLng


@dataclass(frozen=True, slots=True)
class Hotspot:
    """A zone within which pickups happen at named points only."""

    name: str
    boundary: Ring
    points: tuple[PickupPoint, ...]
    default_point_id: int


@dataclass(frozen=True)
class City:
    """One city.

    `bounds` are its south-west and north-east corners; `boundary` is the service area.
    """

    slug: str
    name: str
    currency: str
    timezone: str
    center: LatLng
    bounds: tuple[LatLng, LatLng]
    boundary: Ring
    places: tuple[Place, ...]
    hotspots: tuple[Hotspot, ...]
    unshareable: tuple[Ring, ...]
    """Grounds to which no shared cab goes."""
    no_share_heading: tuple[Ring, ...]
    """Grounds towards which no shared cab ever heads."""
    roads: RoadNetwork

    def contains(self, p: LatLng) -> bool:
        """Whether a point lies within the service area."""
        return contains(self.boundary, p)

    def place(self, place_id: str) -> Place | None:
        """A place by its id."""
        return next((place for place in self.places if place.id == place_id), None)

    def hotspot_at(self, p: LatLng) -> Hotspot | None:
        """The hotspot whose boundary holds a point."""
        return next((spot for spot in self.hotspots if contains(spot.boundary, p)), None)


_building = threading.Lock()


def cities() -> tuple[City, City]:
    """Port Meridian and Saltmere. The first call takes about half a second, later ones nothing."""
    # threads that come together wait for one building, instead of each making their own
    with _building:
        return _both()


@functools.cache
def _both() -> tuple[City, City]:
    collecting = gc.isenabled()
    # a million small tuples and no cycles: the collector would only cost a quarter of the time
    gc.disable()
    try:
        return _build(port_meridian.PLAN, 100), _build(saltmere.PLAN, 500)
    finally:
        if collecting:
            gc.enable()


def city_at(p: LatLng) -> City | None:
    """The city whose service area holds a point."""
    return next((city for city in cities() if city.contains(p)), None)


def plans() -> tuple[Plan, Plan]:
    """The plans that the cities are built from, in the same order."""
    return port_meridian.PLAN, saltmere.PLAN


def _build(plan: Plan, first_point_id: int) -> City:
    frame = Frame(plan.origin)
    roads = RoadNetwork(grow(plan), frame)
    boundary = _ring(frame, plan.boundary)
    lats, lngs = [p.lat for p in boundary], [p.lng for p in boundary]
    return City(
        slug=plan.slug,
        name=plan.name,
        currency=plan.currency,
        timezone=plan.timezone,
        center=plan.origin,
        bounds=(LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))),
        boundary=boundary,
        places=tuple(_place(frame, spot) for spot in plan.spots),
        hotspots=tuple(
            _hotspot(frame, roads, z, first_point_id + 10 * i) for i, z in enumerate(plan.zones)
        ),
        unshareable=tuple(_ring(frame, ring) for ring in plan.unshareable),
        no_share_heading=tuple(_ring(frame, ring) for ring in plan.no_share_heading),
        roads=roads,
    )


def _point(frame: Frame, at: Km) -> LatLng:
    return frame.latlng((at[0] * 1000, at[1] * 1000))


def _ring(frame: Frame, ring: tuple[Km, ...]) -> Ring:
    return tuple(_point(frame, at) for at in ring)


def _place(frame: Frame, spot: Spot) -> Place:
    return Place(slug(spot.name), spot.name, spot.kind, spot.area, _point(frame, spot.at))


def _hotspot(frame: Frame, roads: RoadNetwork, zone: Zone, first_id: int) -> Hotspot:
    points = tuple(
        PickupPoint(first_id + i, name, roads.snap(_point(frame, at)))
        for i, (name, at) in enumerate(zone.points)
    )
    return Hotspot(zone.name, _ring(frame, zone.ring), points, first_id)


def slug(name: str) -> str:
    """A name as an id: plain small letters and hyphens."""
    plain = (
        unicodedata.normalize("NFKD", name)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
