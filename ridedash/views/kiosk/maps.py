"""The maps on a kiosk's screens: where to meet the car, and the way to a destination.

Each is JSON: `tiles` are [address, x, y] in a map of `width` by `height` px; `credit` names the
source of the tiles, "" for the sandbox's, for which the page has its own words.
"""

from typing import Any, Final

from ridedash.config import SANDBOX_CREDIT
from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.views.rides.print_assets import StillMap, still_map, way_map

MEETING: Final = {"zoom": 17, "width": 480, "height": 240}  # 570 m wide at the equator, else less
WAY: Final = (420, 300)  # px
WAY_RIM: Final = 48  # px between the edge of the map and the ends of the way, for their pins


def meeting_map(pickup: LatLng) -> dict[str, Any]:
    """The surroundings of a meeting point, which is in the middle."""
    return _as_json(still_map(services().settings.tiles_url, pickup, **MEETING))


def map_of_way(start: LatLng, end: LatLng) -> dict[str, Any]:
    """Both ends of a way; `start` and `end` are their [x, y] in the map, in px."""
    found = way_map(services().settings.tiles_url, start, end, WAY, WAY_RIM)
    return _as_json(found.still) | {"start": found.start, "end": found.end}


def _as_json(still: StillMap) -> dict[str, Any]:
    credit = services().settings.tiles_attribution
    return {
        "width": still.width,
        "height": still.height,
        "tiles": [[tile.href, tile.x, tile.y] for tile in still.tiles],
        "credit": {SANDBOX_CREDIT: ""}.get(credit, credit),
    }
