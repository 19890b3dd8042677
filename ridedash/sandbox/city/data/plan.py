"""The vocabulary of a city plan, as a cartographer would note it: kilometres east and north of the
middle.
"""

from dataclasses import dataclass

from ridedash.geo import LatLng

Km = tuple[float, float]
"""East and north of the city's origin, in kilometres."""


@dataclass(frozen=True, slots=True)
class Road:
    """A road that gives the city its skeleton. Rank 0 trunk, 1 main, 2 connecting. Its ends may
    overshoot.
    """

    name: str
    rank: int
    via: tuple[Km, ...]
    closed: bool = False
    straight: bool = False


@dataclass(frozen=True, slots=True)
class River:
    """A river with its width in metres at each point, and streets along both banks between two of
    the points.
    """

    name: str
    via: tuple[Km, ...]
    widths: tuple[float, ...]
    left_bank: str = ""
    right_bank: str = ""
    banks: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Fabric:
    """The weave of local streets that fills the face of the skeleton around `at`.

    `angle` in degrees; streets every `across` metres, cross streets every `along`; both bent by
    `bend` metres over
    `wave`; `gaps` is the share of pieces left out. With a `hub` the streets run round it, the cross
    streets towards it.
    """

    at: Km
    theme: str
    angle: float = 0.0
    across: float = 105.0
    along: float = 185.0
    bend: float = 18.0
    wave: float = 1500.0
    gaps: float = 0.1
    hub: Km | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """Ground with one use (park, campus, square, …): no local street crosses it.

    `soft` outlines are curves.
    """

    kind: str
    name: str
    ring: tuple[Km, ...]
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """A place people ask for. Without `slug` its id comes from its name."""

    name: str
    kind: str
    area: str
    at: Km


@dataclass(frozen=True, slots=True)
class Zone:
    """A hotspot: within the ring, pickups happen at the named points only; the first is the
    default.
    """

    name: str
    ring: tuple[Km, ...]
    points: tuple[tuple[str, Km], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is drawn by hand for one city."""

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
    districts: tuple[Spot, ...]
    spots: tuple[Spot, ...]
    zones: tuple[Zone, ...]
    boundary: tuple[Km, ...]
    unshareable: tuple[tuple[Km, ...], ...]
    no_share_heading: tuple[tuple[Km, ...], ...]
