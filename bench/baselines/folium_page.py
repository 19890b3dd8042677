"""The map page as folium's own pages show it first: a map, an outline, a marker with a popup for
each point.
"""

from collections.abc import Sequence

import folium

from ridedash.geo import LatLng


def naive_map(center: LatLng, ring: Sequence[LatLng], points: Sequence[tuple[LatLng, str]]) -> str:
    """A whole page, as `Map.get_root().render()` writes it for every request."""
    shown = folium.Map(location=center, zoom_start=15)
    folium.Polygon(list(ring), tooltip="Pickup zone").add_to(shown)
    for point, name in points:
        folium.Marker(point, popup=name, tooltip=name).add_to(shown)
    return str(shown.get_root().render())
