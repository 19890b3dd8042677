"""Saltmere's grounds, places, districts and hotspots."""

from ridedash.sandbox.city.data.plan import Km, NamedPlace, PlannedZone, Site


def _block(x: float, y: float, half_w: float, half_h: float) -> tuple[Km, ...]:
    """A rectangle about a point."""
    return (
        (x - half_w, y - half_h),
        (x + half_w, y - half_h),
        (x + half_w, y + half_h),
        (x - half_w, y + half_h),
    )


SITES = (
    Site("square", "Salt Market", _block(0.16, 0.46, 0.08, 0.07)),
    Site("park", "Rampart Gardens", _block(-0.35, 1.2, 0.22, 0.12)),
    Site("park", "Heronry", ((2.2, -1.2), (2.65, -1.15), (2.6, -1.6), (2.2, -1.65))),
    Site("park", "Samphire Park", _block(-1.9, 2.45, 0.28, 0.22)),
    Site("station", "", _block(0.42, 1.78, 0.2, 0.08)),
    Site("hospital", "Lagoon Hospital", _block(-2.35, 0.55, 0.16, 0.13)),
    Site("campus", "College of Salt and Sea", _block(1.35, 1.75, 0.2, 0.14)),
    Site("stadium", "Rampart Ground", _block(-2.75, -0.7, 0.14, 0.17)),
    Site("park", "Evaporation Green", _block(1.9, 2.65, 0.26, 0.16)),
    Site("cemetery", "Quiet Field", _block(-3.25, 1.15, 0.18, 0.16)),
    Site("square", "Heron Square", _block(-0.62, 0.35, 0.07, 0.06)),
    Site("square", "Ropery Square", _block(-1.62, -0.85, 0.06, 0.08)),
    Site("hall", "", _block(0.42, 1.77, 0.13, 0.02)),
    Site("hall", "", _block(0.25, -0.36, 0.03, 0.1)),
    Site("hall", "", _block(-2.35, 0.56, 0.05, 0.04)),
    Site("hall", "", _block(1.35, 1.75, 0.06, 0.03)),
    Site(
        "hall",
        "",
        (
            (-2.82, -0.76),
            (-2.68, -0.76),
            (-2.66, -0.7),
            (-2.68, -0.64),
            (-2.82, -0.64),
            (-2.84, -0.7),
        ),
        True,
    ),
    Site(
        "beach",
        "Outer Beach",
        ((-1.9, 3.72), (-0.4, 3.92), (1.2, 3.72), (1.3, 4.0), (-0.4, 4.25), (-2.1, 4.05)),
        True,
    ),
    Site(
        "green",
        "",
        (
            (0.25, 0.08),
            (1.12, -0.14),
            (1.56, -0.9),
            (1.36, -1.7),
            (0.9, -2.15),
            (-0.78, -2.1),
            (-1.27, -1.6),
            (-1.31, -0.75),
            (-0.72, -0.13),
        ),
        True,
    ),
    Site(
        "green",
        "South Horn",
        ((1.1, -2.65), (1.6, -2.85), (2.3, -2.72), (1.6, -3.15), (0.8, -2.9)),
        True,
    ),
    Site(
        "industrial",
        "Salt Works",
        ((3.2, 2.3), (3.55, 1.95), (4.2, 0.95), (4.02, 0.75), (3.45, 1.5), (3.1, 2.1)),
        True,
    ),
)

DISTRICTS = (
    NamedPlace("Lagoonside", "district", "", (0.65, 0.35)),
    NamedPlace("Pans Quarter", "district", "", (-1.0, 0.28)),
    NamedPlace("Ropery", "district", "", (-1.72, -0.45)),
    NamedPlace("East Strand", "district", "", (1.95, -0.5)),
    NamedPlace("Northgate", "district", "", (0.6, 1.35)),
    NamedPlace("Rampart", "district", "", (-1.25, 1.3)),
    NamedPlace("Westgate", "district", "", (-2.75, 0.25)),
    NamedPlace("Brinefield", "district", "", (2.75, 0.75)),
    NamedPlace("Samphire", "district", "", (-1.35, 2.75)),
    NamedPlace("Outer Strand", "district", "", (0.9, 3.25)),
    NamedPlace("South Horn", "district", "", (1.75, -2.45)),
    NamedPlace("West Horn", "district", "", (-1.6, -2.5)),
    NamedPlace("The Lagoon", "water", "", (0.12, -1.15)),
)

PLACES = (
    NamedPlace("Saltmere Station", "station", "Northgate", (0.42, 1.68)),
    NamedPlace("Lagoon Ferry", "ferry", "Lagoonside", (0.25, -0.2)),
    NamedPlace("Coach Yard", "bus", "Northgate", (0.75, 1.62)),
    NamedPlace("Hotel Salicorne", "hotel", "Lagoonside", (0.72, 0.28)),
    NamedPlace("The Salt Loft", "hotel", "Pans Quarter", (-0.95, 0.5)),
    NamedPlace("Rampart Hotel", "hotel", "Rampart", (-0.75, 1.62)),
    NamedPlace("Hotel Marée Haute", "hotel", "East Strand", (1.82, -0.25)),
    NamedPlace("Outer Strand Hotel", "hotel", "Outer Strand", (0.4, 3.5)),
    NamedPlace("Lagoon Hospital", "hospital", "Westgate", (-2.35, 0.55)),
    NamedPlace("East Strand Clinic", "hospital", "East Strand", (2.45, -0.35)),
    NamedPlace("Salt Museum", "museum", "Pans Quarter", (-0.45, 0.28)),
    NamedPlace("House of Tides", "museum", "East Strand", (1.75, -1.1)),
    NamedPlace("Brine Theatre", "theatre", "Lagoonside", (1.15, 0.42)),
    NamedPlace("Town Hall", "civic", "Lagoonside", (0.42, 0.62)),
    NamedPlace("Weigh House", "landmark", "Lagoonside", (0.02, 0.3)),
    NamedPlace("Salt Bridge Tower", "landmark", "South Horn", (1.12, -2.15)),
    NamedPlace("White Windmill", "landmark", "Outer Strand", (-0.6, 3.35)),
    NamedPlace("College of Salt and Sea", "university", "Northgate", (1.35, 1.75)),
    NamedPlace("Salt Market", "market", "Lagoonside", (0.16, 0.46)),
    NamedPlace("Northgate Centre", "shopping", "Northgate", (-0.12, 1.95)),
    NamedPlace("Rampart Gardens", "park", "Rampart", (-0.35, 1.2)),
    NamedPlace("Samphire Park", "park", "Samphire", (-1.9, 2.45)),
    NamedPlace("Heronry", "park", "East Strand", (2.42, -1.4)),
    NamedPlace("Rampart Ground", "stadium", "Westgate", (-2.75, -0.7)),
    NamedPlace("Congress Hall", "venue", "Brinefield", (2.55, 1.05)),
    NamedPlace("Outer Beach", "beach", "Outer Strand", (0.0, 3.83)),
    NamedPlace("West Horn Marina", "ferry", "West Horn", (-1.05, -2.72)),
)

ZONES = (
    PlannedZone(
        "Saltmere Station",
        ((0.1, 1.58), (0.86, 1.5), (0.9, 1.95), (0.12, 1.98)),
        (
            ("Station Forecourt", (0.4185, 1.6223)),
            ("Coach Yard Gate", (0.7179, 1.5883)),
            ("Platform Side", (0.40886, 1.911)),
        ),
    ),
    PlannedZone(
        "Lagoon Ferry",
        ((-0.12, 0.26), (0.62, 0.26), (0.62, -0.12), (-0.12, -0.12)),
        (
            ("Ferry Steps", (0.25, 0.14)),
            ("Parade West", (-0.0505, 0.1245)),
            ("Parade East", (0.5028, 0.1235)),
        ),
    ),
)

BOUNDARY = (
    (-5.0, 0.6),
    (-4.6, 2.3),
    (-3.6, 3.6),
    (-2.0, 4.3),
    (-0.4, 4.6),
    (1.3, 4.4),
    (3.0, 3.7),
    (4.2, 2.5),
    (4.9, 0.8),
    (4.7, -0.9),
    (4.0, -2.3),
    (2.8, -3.1),
    (1.5, -3.5),
    (-1.3, -3.6),
    (-2.7, -3.3),
    (-3.9, -2.4),
    (-4.8, -1.0),
)

UNSHAREABLE = (((2.9, 2.4), (3.4, 2.5), (4.5, 1.0), (4.0, 0.6), (3.3, 1.4)),)

NO_SHARE_HEADING = (
    ((-3.3, -1.9), (-2.9, -1.7), (-1.6, -2.15), (-0.8, -2.1), (-0.4, -3.3), (-2.6, -3.2)),
)
