"""Restarts, several processes and threads on one database, and equal answers for equal seeds."""

import json
import multiprocessing
import threading
from dataclasses import replace

import pytest

from ridedash.sandbox import SANDBOX_USERS, create_sandbox, mint_token
from ridedash.sandbox.store import Store
from ridedash.sandbox.trips.drivers import Driver
from tests.sandbox.sandbox_desk import CONTROL, Desk, far_drop

KINDS = ("mini", "suv", "share", "auto", "rental")


def restart(desk):
    """Replace the application by a new one on the same database."""
    desk.close()
    desk.app = create_sandbox(desk.settings)
    desk.web = desk.app.test_client()


def test_a_restart_during_each_status_loses_nothing(desk):
    bookings = [desk.book(kind, **({"retry": True} if kind == "share" else {})) for kind in KINDS]
    for _ in range(40):
        before = [desk.track(booking) for booking in bookings]
        restart(desk)
        assert [desk.track(booking) for booking in bookings] == before
        desk.clock.advance(40)


def test_a_restart_keeps_speed_scenarios_faults_and_cancellations(desk):
    booking = desk.book("suv")
    desk.post("/v1/bookings/abort", {"booking_id": booking})
    desk.control("speed", speed=30)
    desk.control("next", scenario="no_cab")
    desk.control("faults", operation="abort", fault="http_500")
    restart(desk)
    assert desk.web.get("/control/clock", headers=CONTROL).json["speed"] == 30
    assert desk.track(booking)["booking_status"] == "BOOKING_CANCELLED"
    assert desk.post("/v1/bookings/abort", {"booking_id": booking}).status_code == 500
    desk.book("suv")
    assert desk.ledger()[-1]["scenario"] == "no_cab"


def test_another_configured_pace_takes_effect_at_the_start(desk):
    desk.settings = replace(desk.settings, pace=60)
    restart(desk)
    assert desk.web.get("/control/clock", headers=CONTROL).json["speed"] == 60


def all_answers(folder):
    """The answers of a fixed sequence of calls."""
    desk = Desk(folder)
    try:
        answers = [desk.products(drop=far_drop())]
        desk.clock.advance(3)
        bookings = [
            desk.book(kind, **({"retry": True} if kind == "share" else {})) for kind in KINDS
        ]
        for _ in range(60):
            answers.append([desk.track(booking) for booking in bookings])
            desk.clock.advance(30)
        return json.dumps(answers)
    finally:
        desk.close()


def test_the_same_seed_and_calls_at_the_same_times_give_the_same_answers(tmp_path):
    assert all_answers(tmp_path / "one") == all_answers(tmp_path / "two")


def cast(desk):
    """What is drawn at random for three rides: drivers, plates, colours, ratings, start codes."""
    bookings = [desk.book(kind) for kind in ("prime", "suv", "share")]
    located = [desk.until(booking, "CLIENT_LOCATED") for booking in bookings]
    names = ("driver_name", "driver_number", "vehicle_number", "vehicle_color", "driver_rating")
    drawn = [
        ([body[name] for name in names], body["otp"]["start_trip"]["value"]) for body in located
    ]
    return drawn, set(bookings)


def test_after_a_reset_the_rides_of_a_demo_have_the_same_cast_under_new_ids(desk):
    first, first_ids = cast(desk)
    desk.control("reset")
    desk.clock.advance(3600)
    again, other_ids = cast(desk)
    assert again == first
    assert not first_ids & other_ids


def test_drivers_stored_by_an_earlier_version_are_read(desk):
    stored = Driver("Driver Fern", "+910000012345", 4.5, "", "mini", "PM 01 AA 1000", "White")
    assert Driver.from_json(stored.to_json() | {"car_model": "Tern Compact"}) == stored


def test_another_seed_gives_other_drivers(desk_at, desk):
    other = desk_at(desk.clock.now, seed=2)
    assert desk.book("suv") != other.book("suv")


def book_some(settings, headers, count, answers):
    app = create_sandbox(settings)
    web = app.test_client()
    body = {
        "pickup_lat": -38.507015,
        "pickup_lng": -128.010112,
        "category": "suv",
        "pickup_mode": "now",
    }
    for _ in range(count):
        answers.put(
            web.post("/v1.5/bookings/create", json=body, headers=headers).json["booking_id"]
        )
    app.extensions["sandbox"].close()


def test_several_processes_may_serve_one_database(tmp_path):
    desk = Desk(tmp_path, clock=None)
    try:
        context = multiprocessing.get_context("spawn")
        answers = context.Queue()
        args = (desk.settings, desk.headers, 10, answers)
        helpers = [context.Process(target=book_some, args=args) for _ in range(2)]
        for helper in helpers:
            helper.start()
        made = {answers.get(timeout=60) for _ in range(20)}
        for helper in helpers:
            helper.join(60)
            assert helper.exitcode == 0
            helper.close()
        answers.close()
        answers.join_thread()
        assert made == {line["booking_id"] for line in desk.ledger()}
        assert len(made) == 20
        assert all(desk.track(booking)["status"] == "SUCCESS" for booking in made)
    finally:
        desk.close()


def test_several_threads_may_book_at_once(desk):
    payload, made = desk.payload("suv"), []

    def book():
        client = desk.app.test_client()
        for _ in range(5):
            made.append(
                client.post("/v1.5/bookings/create", json=payload, headers=desk.headers).json[
                    "booking_id"
                ]
            )

    threads = [threading.Thread(target=book) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(made)) == 20


def test_tokens_can_be_minted_before_the_sandbox_ever_ran(tmp_path):
    tokens = {mint_token(tmp_path / "new.sqlite", user.id) for user in SANDBOX_USERS}
    assert len(tokens) == len(SANDBOX_USERS)
    assert mint_token(tmp_path / "new.sqlite", "house") not in tokens
    with pytest.raises(ValueError, match="no user"):
        mint_token(tmp_path / "new.sqlite", "nobody")


def test_a_failed_write_is_rolled_back(tmp_path):
    store = Store(tmp_path / "store.sqlite")

    def fail():
        with store.write() as connection:
            connection.execute("INSERT INTO scenarios (scenario) VALUES ('normal')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM scenarios").fetchone()[0] == 0
    store.close()
