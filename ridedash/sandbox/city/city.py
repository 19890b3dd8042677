"""The two fictional cities: service area, places, hotspots, streets.

They are read from their plans on first use. The streets of a city are built when they are first
requested: lists of places and outlines don't need them. A process that has called `keep_streets`
reads them from a file.
"""

import functools
import gc
import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from ridedash.geo import LatLng, contains
from ridedash.sandbox.city.data import port_meridian, saltmere
from ridedash.sandbox.city.data.plan import CityPlan, Km, NamedPlace, PlannedZone
from ridedash.sandbox.city.geometry import Frame
from ridedash.sandbox.city.kept_streets import kept
from ridedash.sandbox.city.roads import RoadNetwork
from ridedash.sandbox.city.streets import grow

Ring = tuple[LatLng, ...]
"""An open ring of points."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place that people search for by name.

    `kind` is one word such as hotel or station; `area` is the district.
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
    """Areas in which a shared ride may not end: such a drop is refused as unsuitable."""
    no_share_heading: tuple[Ring, ...]
    """Areas in which a shared ride may not end: such a drop is refused as having no cab that goes
    that way.
    """

    @cached_property
    def roads(self) -> RoadNetwork:
        """The streets. At the first use they are read from a file, or grown in most of a second."""
        # Concurrent first uses wait for one build instead of each doing their own.
        with _build_lock:
            return _built_roads(self.slug)

    def contains(self, p: LatLng) -> bool:
        """Whether a point lies within the service area."""
        return contains(self.boundary, p)

    def place(self, place_id: str) -> Place | None:
        """The place with this id, or None."""
        return next((place for place in self.places if place.id == place_id), None)

    def hotspot_at(self, p: LatLng) -> Hotspot | None:
        """The hotspot whose boundary contains a point, or None."""
        return next((zone for zone in self.hotspots if contains(zone.boundary, p)), None)


_build_lock = threading.Lock()


@dataclass
class _Keeping:
    """The folder in which this process keeps grown streets; None without one."""

    folder: Path | None = None


_keeping = _Keeping()


def keep_streets(instance: Path) -> None:
    """From now on read streets that are not built yet from this instance folder, and keep them."""
    _keeping.folder = instance / "streets"


@functools.cache
def cities() -> tuple[City, City]:
    """Port Meridian and Saltmere."""
    return _city(port_meridian.PLAN, 100), _city(saltmere.PLAN, 500)


@functools.cache
def _built_roads(slug: str) -> RoadNetwork:
    plan = next(plan for plan in plans() if plan.slug == slug)
    collecting = gc.isenabled()
    # The build makes a million small tuples and no cycles: the collector would take a quarter of
    # the time and find nothing.
    gc.disable()
    try:
        grown = partial(grow, plan)
        mesh = kept(_keeping.folder, slug, grown) if _keeping.folder else grown()
        return RoadNetwork(mesh, Frame(plan.origin))
    finally:
        if collecting:
            gc.enable()


def city_at(p: LatLng) -> City | None:
    """The city whose service area contains a point, or None."""
    return next((city for city in cities() if city.contains(p)), None)


def plans() -> tuple[CityPlan, CityPlan]:
    """The plans of Port Meridian and Saltmere, in the order of `cities()`."""
    return port_meridian.PLAN, saltmere.PLAN


def _city(plan: CityPlan, first_point_id: int) -> City:
    frame = Frame(plan.origin)
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
        places=tuple(_place(frame, planned) for planned in plan.places),
        hotspots=tuple(
            _hotspot(frame, zone, first_point_id + 10 * i) for i, zone in enumerate(plan.zones)
        ),
        unshareable=tuple(_ring(frame, ring) for ring in plan.unshareable),
        no_share_heading=tuple(_ring(frame, ring) for ring in plan.no_share_heading),
    )


def _point(frame: Frame, at: Km) -> LatLng:
    return frame.latlng((at[0] * 1000, at[1] * 1000))


def _ring(frame: Frame, ring: tuple[Km, ...]) -> Ring:
    return tuple(_point(frame, at) for at in ring)


def _place(frame: Frame, planned: NamedPlace) -> Place:
    position = _point(frame, planned.at)
    return Place(slug(planned.name), planned.name, planned.kind, planned.area, position)


def _hotspot(frame: Frame, zone: PlannedZone, first_id: int) -> Hotspot:
    points = tuple(
        PickupPoint(first_id + i, name, _point(frame, at))
        for i, (name, at) in enumerate(zone.points)
    )
    return Hotspot(zone.name, _ring(frame, zone.ring), points, first_id)


def slug(name: str) -> str:
    """A name as an id of lower-case ASCII letters, digits and hyphens."""
    plain = (
        unicodedata.normalize("NFKD", name)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
