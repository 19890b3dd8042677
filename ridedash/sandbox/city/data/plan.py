"""The types of a city plan. Coordinates are kilometres east and north of the city's origin."""

from dataclasses import dataclass

from ridedash.geo import LatLng

Km = tuple[float, float]
"""East and north of the city's origin, in kilometres."""


@dataclass(frozen=True, slots=True)
class Road:
    """A drawn road. Rank 0 is a trunk road, 1 a main road, 2 a connecting street.

    Its ends may run past other roads; the overshoot is cut off.
    """

    name: str
    rank: int
    via: tuple[Km, ...]
    closed: bool = False
    straight: bool = False


@dataclass(frozen=True, slots=True)
class River:
    """A river with its width in metres at each point of `via`.

    `left_bank` and `right_bank` name streets along the banks; `banks` is the part of the river,
    as fractions of its length, along which they run.
    """

    name: str
    via: tuple[Km, ...]
    widths: tuple[float, ...]
    left_bank: str = ""
    right_bank: str = ""
    banks: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Fabric:
    """The grid of local streets that fills the area between drawn roads around `at`.

    `angle` is in degrees. There is a street every `across` metres and a cross street every `along`
    metres. Both are bent by `bend` metres over a length of `wave` metres. With a `hub` the streets
    run around it, and the cross streets towards it.
    """

    at: Km
    theme: str
    angle: float = 0.0
    across: float = 105.0
    along: float = 185.0
    bend: float = 18.0
    wave: float = 1500.0
    hub: Km | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """An area with one use (park, campus, square, …).

    No local street crosses it if its kind is one of GROUNDS (city/streets.py). Its outline is a
    smooth curve if `soft`, otherwise a polygon.
    """

    kind: str
    name: str
    ring: tuple[Km, ...]
    soft: bool = False


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place that people search for."""

    name: str
    kind: str
    area: str
    at: Km


@dataclass(frozen=True, slots=True)
class PlannedZone:
    """A hotspot: within the ring, pickups are at its named points only, by default the first.

    The points lie on streets.
    """

    name: str
    ring: tuple[Km, ...]
    points: tuple[tuple[str, Km], ...]


@dataclass(frozen=True, slots=True)
class CityPlan:
    """The hand-drawn plan of one city."""

    slug: str
    name: str
    currency: str
    timezone: str
    origin: LatLng
    coast: tuple[Km, ...]
    quays: tuple[tuple[Km, ...], ...]
    lakes: tuple[Site, ...]
    rivers: tuple[River, ...]
    roads: tuple[Road, ...]
    fabrics: tuple[Fabric, ...]
    sites: tuple[Site, ...]
    rails: tuple[tuple[Km, ...], ...]
    runways: tuple[tuple[Km, Km], ...]
    districts: tuple[NamedPlace, ...]
    places: tuple[NamedPlace, ...]
    zones: tuple[PlannedZone, ...]
    boundary: tuple[Km, ...]
    unshareable: tuple[tuple[Km, ...], ...]
    no_share_heading: tuple[tuple[Km, ...], ...]
