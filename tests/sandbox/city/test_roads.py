"""Routes follow streets, are consistent, avoid water and detours."""

import itertools
import json

import pytest

from ridedash.geo import LatLng, between, distance_m
from ridedash.sandbox.city.city import City, cities, plans
from ridedash.sandbox.city.geometry import inside
from ridedash.sandbox.city.roads import Route
from ridedash.sandbox.tiles.atlas import Atlas

BOTH = pytest.mark.parametrize("city", [plan.slug for plan in plans()], indirect=True)


def _pairs(city: City, step: int) -> list[tuple[LatLng, LatLng]]:
    places = [place.position for place in city.places]
    return list(itertools.combinations(places, 2))[::step]


@BOTH
def test_a_route_starts_and_ends_on_the_streets_nearest_to_its_ends(city: City) -> None:
    for a, b in _pairs(city, 37):
        route = city.roads.route(a, b)
        assert distance_m(route.points[0], city.roads.snap(a)) < 1
        assert distance_m(route.points[-1], city.roads.snap(b)) < 1


@BOTH
def test_metres_are_the_length_of_the_line_and_speeds_are_those_of_a_city(city: City) -> None:
    for a, b in _pairs(city, 37):
        route = city.roads.route(a, b)
        assert route.metres[0] == route.seconds[0] == 0
        assert all(x < y for x, y in itertools.pairwise(route.seconds))
        line_m = sum(distance_m(x, y) for x, y in itertools.pairwise(route.points))
        assert line_m == pytest.approx(route.total_m, rel=0.003, abs=3)
        assert 20 < route.total_m / route.total_s * 3.6 < 70


@BOTH
def test_a_route_is_not_a_large_detour(city: City) -> None:
    for a, b in _pairs(city, 23):
        straight = distance_m(city.roads.snap(a), city.roads.snap(b))
        assert city.roads.route(a, b).total_m < 2.2 * straight + 1500


@BOTH
def test_every_point_of_a_route_lies_on_a_street(city: City) -> None:
    for a, b in _pairs(city, 83):
        for p, q in itertools.pairwise(city.roads.route(a, b).points):
            middle = between(p, q, 0.5)
            assert distance_m(middle, city.roads.snap(middle)) < 1


def test_streets_cross_water_on_bridges_only() -> None:
    for plan, city in zip(plans(), cities(), strict=True):
        roads = {road.name for road in plan.roads}
        atlas = Atlas(plan, city.roads.mesh, city.roads.frame)
        for edge in city.roads.mesh.edges:
            wet = any(inside(water, p) for water in atlas.waters for p in edge.line)
            sea = not inside(atlas.coast, edge.line[len(edge.line) // 2])
            assert not (wet or sea) or edge.name in roads, edge.name
        assert atlas.bridges


def test_motion_moves_along_the_route_with_the_bearing_and_speed_of_its_street() -> None:
    city = cities()[0]
    route = city.roads.route(city.places[0].position, city.places[1].position)
    for seconds in range(0, int(route.total_s), 20):
        now, later = route.at_seconds(seconds), route.at_seconds(seconds + 0.05)
        assert 0 <= now.bearing < 360
        assert distance_m(now.position, later.position) / 0.05 * 3.6 == pytest.approx(
            now.speed_kmh, rel=0.5, abs=3
        )
    assert route.at_seconds(-5).position == route.points[0]
    end = route.at_seconds(route.total_s + 60)
    assert end.position == route.points[-1]
    assert end.speed_kmh == 0


def test_a_route_to_the_same_point_is_one_point_at_rest() -> None:
    city = cities()[0]
    route = city.roads.route(city.center, city.center)
    assert len(route.points) == 1
    assert route.at_seconds(10).speed_kmh == 0
    assert route.total_m == route.total_s == 0


def test_a_route_along_one_street_runs_in_both_directions() -> None:
    roads = cities()[0].roads
    edge = max(roads.mesh.edges, key=lambda e: len(e.line))
    a, b = roads.frame.latlng(edge.line[1]), roads.frame.latlng(edge.line[-2])
    there, back = roads.route(a, b), roads.route(b, a)
    assert there.total_m == pytest.approx(back.total_m, abs=1)
    assert distance_m(there.points[0], back.points[-1]) < 1


def test_a_route_survives_json() -> None:
    city = cities()[1]
    route = city.roads.route(city.places[0].position, city.places[5].position)
    again = Route.from_json(json.loads(json.dumps(route.to_json())))
    assert again.points == route.points
    assert again.total_s == pytest.approx(route.total_s, abs=0.001)


@BOTH
def test_the_nearest_street_has_a_name(city: City) -> None:
    names = {edge.name for edge in city.roads.mesh.edges}
    assert all(city.roads.nearest_street_name(place.position) in names for place in city.places)
