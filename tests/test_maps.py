"""The map's frame from folium: no foreign host, no text inside, cached, and nothing executable."""

import re
from dataclasses import dataclass

import pytest

from ridedash.geo import LatLng
from ridedash.maps import MIN_ZOOM, NAMES_FROM, Shapes, _frame, map_parts
from ridedash.sandbox.tiles import server
from ridedash.sandbox.tiles.labels import RANKING

HERE = LatLng(-38.5, -128.0)
RING = (LatLng(-38.4, -128.1), LatLng(-38.4, -127.9), LatLng(-38.6, -127.9))


@dataclass
class Tiles:
    tiles_url: str = "/tiles/{z}/{x}/{y}.svg"
    tiles_attribution: str = "A city that does not exist"


def test_the_map_is_an_element_a_script_and_their_common_name() -> None:
    parts = map_parts(Tiles(), center=HERE, map_id="picker")
    assert parts.name == "map_picker"
    assert parts.html == '<div class="folium-map" id="map_picker" ></div>'
    assert "window.map_picker = L.map(" in parts.script
    assert "center: [-38.5, -128.0]" in parts.script
    assert '"/tiles/{z}/{x}/{y}.svg"' in parts.script


@pytest.mark.parametrize(
    ("by_day", "by_night"),
    [
        ("/tiles/{z}/{x}/{y}.svg", "/tiles/dark/{z}/{x}/{y}.svg"),
        (
            "http://127.0.0.1:8001/tiles/{z}/{x}/{y}.svg",
            "http://127.0.0.1:8001/tiles/dark/{z}/{x}/{y}.svg",
        ),
        ("https://tiles.example/tiles/{z}/{x}/{y}.svg", ""),
        ("/tiles/{z}/{x}/{y}.png", ""),
    ],
)
def test_the_sandboxs_tiles_have_an_address_by_night(by_day: str, by_night: str) -> None:
    parts = map_parts(Tiles(tiles_url=by_day), center=HERE, map_id="picker")
    assert (parts.by_day, parts.by_night) == (by_day, by_night)
    assert f"window.{parts.tiles} = L.tileLayer(" in parts.script
    chosen = f'matchMedia("(prefers-color-scheme: dark)").matches ? "{by_night}" : "{by_day}"'
    assert (chosen in parts.script) is bool(by_night)


@pytest.mark.parametrize("kind", ["hotel", "hospital"])
def test_the_map_knows_from_which_zoom_on_its_tiles_name_the_property(kind: str) -> None:
    assert map_parts(Tiles(), center=HERE).names_from == RANKING[kind][0] == 15
    foreign = Tiles(tiles_url="https://tiles.example/{z}/{x}/{y}.png")
    assert map_parts(foreign, center=HERE).names_from == NAMES_FROM


@pytest.mark.parametrize(
    ("tiles", "told"),
    [("/tiles/{z}/{x}/{y}.png", False), ("https://tiles.example/{z}/{x}/{y}.png", True)],
)
def test_a_host_of_tiles_is_told_the_origin_alone(tiles: str, told: bool) -> None:
    script = map_parts(Tiles(tiles_url=tiles), center=HERE, map_id="picker").script
    assert ('"referrerPolicy": "origin"' in script) is told


@pytest.mark.parametrize(
    ("tiles", "least"),
    [
        ("/tiles/{z}/{x}/{y}.svg", server.MIN_ZOOM),
        ("https://tiles.example/{z}/{x}/{y}.png", MIN_ZOOM),
    ],
)
def test_no_one_can_zoom_out_to_where_there_are_no_tiles(tiles: str, least: int) -> None:
    script = map_parts(Tiles(tiles_url=tiles), center=HERE, map_id="picker").script
    assert set(re.findall(r'"?minZoom"?: (\d+)', script)) == {str(least)}


def test_the_map_has_no_foreign_host_no_library_but_leaflet_and_no_tag() -> None:
    parts = map_parts(Tiles(), center=HERE, shapes=Shapes([RING], RING, [HERE]))
    for text in (parts.html, parts.script):
        assert not re.search(r"//[a-z]", text)
        assert not re.search(r"jquery|bootstrap|awesome|\$\(", text, re.IGNORECASE)
        assert "<script" not in text
        assert "</" not in parts.script
        assert "`" not in text


def test_geometry_is_drawn_and_the_hotspots_layer_is_named_for_the_script() -> None:
    plain = map_parts(Tiles(), center=HERE, map_id="ride")
    zoned = map_parts(
        Tiles(), center=HERE, map_id="ride", shapes=Shapes([RING], RING, [HERE, RING[0]])
    )
    assert plain.zone is None
    assert plain.script.count("L.polygon(") == 0
    assert zoned.zone == "feature_group_zone_ride"
    assert f"window.{zoned.zone} = " in zoned.script
    assert zoned.script.count("L.polygon(") == 2
    assert zoned.script.count("L.circleMarker(") == 2


HOSTILE = "{{7*191}} {% raw %} ${7*191} `+1+` </script><script>alert(1)</script>"


def test_the_attribution_is_text_for_the_template_and_never_in_the_map() -> None:
    parts = map_parts(Tiles(tiles_attribution=HOSTILE), center=HERE)
    assert parts.credit == HOSTILE
    assert "7*191" not in parts.script
    assert "1337" not in parts.script


@pytest.mark.parametrize(
    "url",
    [
        "/tiles/{{7*191}}/{z}/{x}/{y}.svg",
        "/tiles/{z}/{x}/{y}.svg${7*191}",
        "/tiles/{z}/{x}/{y}.svg{% raw %}",
        "/tiles/{z}/{x}/{y}.svg</script>",
        '/tiles/{z}/{x}/{y}.svg"',
        "/tiles/{z}/{x}/{y}.svg`",
        "javascript:alert(1)",
    ],
)
def test_an_executable_tile_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="RIDEDASH_TILES_URL"):
        map_parts(Tiles(tiles_url=url), center=HERE)


@pytest.mark.parametrize("map_id", ["", "a b", "x;alert(1)", "{{7*191}}", "A", "é"])
def test_an_invalid_name_is_refused(map_id: str) -> None:
    with pytest.raises(ValueError, match="id"):
        map_parts(Tiles(), center=HERE, map_id=map_id)


@pytest.mark.parametrize(
    "center", [LatLng(float("nan"), 0), LatLng(91, 0), LatLng(0, float("inf"))]
)
def test_an_invalid_center_is_refused(center: LatLng) -> None:
    with pytest.raises(ValueError, match="center"):
        map_parts(Tiles(), center=center)


def test_a_text_instead_of_a_coordinate_never_reaches_a_template() -> None:
    hostile = Shapes(boundary=[LatLng(HOSTILE, 1.0)])  # type: ignore[arg-type]
    with pytest.raises((ValueError, TypeError)):
        map_parts(Tiles(), center=HERE, shapes=hostile)


def test_another_view_of_the_same_map_is_not_rendered_again() -> None:
    first = map_parts(Tiles(), center=HERE, map_id="cached")
    rendered = _frame.cache_info().misses
    views = [
        map_parts(Tiles(), center=LatLng(lat / 100, 1.0), zoom=12, map_id="cached")
        for lat in range(200)
    ]
    assert _frame.cache_info().misses == rendered
    assert len({view.script for view in views}) == 200
    assert all(view.html == first.html for view in views)
    assert '"zoom": 12,' in views[0].script
