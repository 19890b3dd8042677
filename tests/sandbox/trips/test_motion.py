"""Cabs follow streets; their positions agree with their bearing and speed."""

import itertools

import pytest

from ridedash.geo import LatLng, bearing_deg, distance_m
from ridedash.sandbox.trips.fleet import Fleet
from tests.sandbox.sandbox_desk import HOTEL, PORT, SALT


def place(body):
    return LatLng(body["driver_lat"], body["driver_lng"])


@pytest.mark.parametrize("category", ["mini", "share"])
def test_speed_and_bearing_agree_with_the_motion(desk, category):
    booking = desk.book(category)
    desk.until(booking, "IN_PROGRESS")
    bodies = []
    while (body := desk.track(booking))["booking_status"] == "IN_PROGRESS":
        bodies.append(body)
        desk.clock.advance(1)
    moving = [
        (a, b)
        for a, b in itertools.pairwise(bodies)
        if a["speed"] == b["speed"] > 0 and a["bearing"] == b["bearing"]
    ]
    assert len(moving) > 30
    for a, b in moving:
        step = distance_m(place(a), place(b))
        assert step * 3.6 == pytest.approx(a["speed"], rel=0.1, abs=1.0)
        turn = abs((bearing_deg(place(a), place(b)) - a["bearing"] + 180) % 360 - 180)
        assert turn < 5 or step < 1


def test_a_cab_stays_on_streets_and_never_jumps(desk):
    booking = desk.book("suv")
    desk.until(booking, "CALL_DRIVER")
    last = None
    while (body := desk.track(booking))["booking_status"] != "COMPLETED":
        here = place(body)
        assert distance_m(here, PORT.roads.snap(here)) < 1.0
        assert last is None or distance_m(last, here) < 5 * 70 / 3.6
        last = here
        desk.clock.advance(5)


def test_the_driver_waits_at_the_street_by_the_pickup(desk):
    body = desk.until(desk.book("mini"), "CLIENT_LOCATED")
    assert body["speed"] == 0
    assert distance_m(place(body), PORT.roads.snap(HOTEL)) < 1
    assert body["duration"]["value"] == 0


def test_remaining_time_and_distance_decrease_during_the_approach(desk):
    booking = desk.book("mini")
    first = desk.until(booking, "CALL_DRIVER")
    desk.clock.advance(60)
    second = desk.track(booking)
    assert second["duration"]["value"] < first["duration"]["value"]
    assert second["distance"]["value"] <= first["distance"]["value"]


def test_cabs_stand_and_move_on_streets():
    for city in (PORT, SALT):
        fleet = Fleet(city, seed=1)
        for category in ("share", "auto"):
            seen = [
                fleet._position(category, 3, 1_000_000 + step * 20).position for step in range(200)
            ]
            assert all(distance_m(place, city.roads.snap(place)) < 1 for place in seen)
            steps = [distance_m(a, b) for a, b in itertools.pairwise(seen)]
            assert any(step == 0 for step in steps)
            assert any(step > 20 for step in steps)
            assert max(steps) < 20 * 70 / 3.6
