"""The two cities: connected, far apart, equal in every process, with enough streets and places."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ridedash.geo import LatLng, contains, distance_m
from ridedash.sandbox.city.city import City, cities, city_at, plans
from ridedash.sandbox.city.data.names import THEMES
from ridedash.sandbox.city.gazetteer import _read_entries, find, prepare

BOTH = pytest.mark.parametrize("city", [plan.slug for plan in plans()], indirect=True)


def test_the_two_cities_are_far_apart_in_the_open_ocean() -> None:
    first, second = cities()
    assert (first.name, first.currency, first.timezone) == ("Port Meridian", "INR", "Asia/Kolkata")
    assert (second.name, second.currency) == ("Saltmere", "EUR")
    assert distance_m(first.center, LatLng(-38.5, -128.0)) < 100
    assert 80_000 < distance_m(first.center, second.center) < 120_000


def test_a_point_belongs_to_the_city_whose_boundary_contains_it() -> None:
    first, second = cities()
    assert city_at(first.center) is first
    assert city_at(second.center) is second
    assert city_at(LatLng(-38.2, -127.6)) is None


@BOTH
def test_each_city_has_several_hundred_named_streets(city: City) -> None:
    names = {edge.name for edge in city.roads.mesh.edges}
    assert len(names) >= 300
    assert all(name.strip() and name[0].isupper() for name in names)


def test_the_gazetteer_has_at_least_sixty_places_with_unique_ids() -> None:
    places = [place for city in cities() for place in city.places]
    assert len(places) >= 80
    for city in cities():
        assert len({place.id for place in city.places}) == len(city.places)
    assert all(place.name and place.kind and place.area for place in places)
    assert {"station", "airport", "hotel", "hospital", "park"} <= {place.kind for place in places}


def test_a_search_waits_for_the_names_that_are_read_at_the_start() -> None:
    _read_entries.cache_clear()
    with ThreadPoolExecutor() as threads:
        read, found = threads.submit(prepare), threads.submit(find, "airport", (None, None), 1)
        assert [place.kind for place in found.result()] == ["airport"]
        read.result()
    assert _read_entries.cache_info().misses == 1


@BOTH
def test_every_place_lies_in_the_service_area_and_near_a_street(city: City) -> None:
    for place in city.places:
        assert city.contains(place.position), place.name
        assert distance_m(place.position, city.roads.snap(place.position)) < 900, place.name


@BOTH
def test_pickup_points_lie_on_streets_within_their_hotspot_and_the_default_is_one_of_them(
    city: City,
) -> None:
    for zone in city.hotspots:
        assert zone.default_point_id in {point.id for point in zone.points}
        for point in zone.points:
            assert contains(zone.boundary, point.position), point.name
            assert distance_m(point.position, city.roads.snap(point.position)) < 1
    ids = [point.id for zone in city.hotspots for point in zone.points]
    assert len(set(ids)) == len(ids)


def test_hotspots_are_the_station_the_airport_and_more() -> None:
    first, second = cities()
    assert {"Port Meridian Central Station", "Meridian Airport"} <= {
        zone.name for zone in first.hotspots
    }
    assert len(first.hotspots) >= 2
    assert len(first.hotspots) + len(second.hotspots) >= 3


def test_the_demo_hotel_stands_beside_a_hotspot() -> None:
    city = cities()[0]
    hotel = city.place("grand-meridian-hotel")
    assert hotel is not None
    assert hotel.name == "Grand Meridian Hotel"
    assert city.hotspot_at(hotel.position) is None
    nearest = min(
        distance_m(hotel.position, p.position) for zone in city.hotspots for p in zone.points
    )
    assert nearest < 600


@BOTH
def test_shared_cabs_do_not_go_to_some_sites_and_never_head_to_others(city: City) -> None:
    streets = [city.roads.frame.latlng(edge.line[0]) for edge in city.roads.mesh.edges]
    for rings in (city.unshareable, city.no_share_heading):
        assert rings
        assert any(contains(rings[0], p) for p in streets)
        assert not any(
            contains(ring, point.position)
            for ring in rings
            for s in city.hotspots
            for point in s.points
        )


@BOTH
def test_streets_form_one_connected_graph(city: City) -> None:
    around = city.roads.mesh.around()
    reached, stack = set(), [next(iter(around))]
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            edges = (city.roads.mesh.edges[number] for number in around[node])
            stack += [edge.b if edge.a == node else edge.a for edge in edges]
    assert reached == set(around)


def test_every_process_builds_the_same_cities() -> None:
    script = (
        "from ridedash.sandbox.city.city import cities; import hashlib;"
        "print(hashlib.sha256(repr([[e.line for e in c.roads.mesh.edges] for c in "
        "cities()]).encode()).hexdigest())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


def test_no_word_for_street_names_comes_twice_in_its_theme() -> None:
    for words in THEMES.values():
        assert len(set(words)) == len(words)


def test_plans_are_in_the_order_of_the_cities() -> None:
    assert [plan.slug for plan in plans()] == [city.slug for city in cities()]


@pytest.mark.parametrize("words", ["مطار", "空港", "हवाई अड्डा", "Airport مطار", "Airport ٢"])
def test_letters_that_no_name_has_find_nothing_rather_than_another_place(words: str) -> None:
    assert find(words, (None, None), 8) == []


@pytest.mark.parametrize("words", ["BELLE ÉTOILE", "belle etoile", "Ｂｅｌｌｅ　É"])
def test_a_place_is_found_without_its_accents_and_in_wide_letters(words: str) -> None:
    assert find(words, (None, None), 8)[0].name == "Hotel Belle Étoile"


def test_streets_that_the_map_names_are_found_after_every_place() -> None:
    near = cities()[0].center
    for city in cities():
        names = sorted({edge.name for edge in city.roads.mesh.edges})
        for name in names[:: len(names) // 40]:
            found = find(name, (city.center.lat, city.center.lng), 8)
            assert found, name
            assert found[0].name == name
            here = found[0].position
            assert city.contains(here)
            assert distance_m(here, city.roads.snap(here)) < 1, name
    kinds = [place.kind for place in find("station", (near.lat, near.lng), 50)]
    assert "street" in kinds
    assert kinds == sorted(kinds, key=lambda kind: kind == "street")
    assert "street" not in {place.kind for place in find("", (None, None), 1000)}
