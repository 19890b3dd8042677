"""The sandbox's clock, set through /control: holds, speeds, leaps and times; and its turns."""

import pytest

from tests.sandbox.sandbox_desk import CONTROL, NOON

HALF_HOUR = 1800


def refused(desk, path, **body):
    answer = desk.web.post(f"/control/{path}", json=body, headers=CONTROL)
    return answer.status_code, answer.json["message"]


def clock(desk):
    return desk.web.get("/control/clock", headers=CONTROL).json


def test_each_change_of_the_clock_is_a_clock_turn(desk):
    began = NOON.timestamp()
    assert clock(desk)["turns"] == [{"wall": began, "service": began, "speed": 1}]
    desk.clock.advance(10)
    desk.control("speed", speed=20)
    desk.clock.advance(10)
    desk.control("advance", seconds=60)
    desk.clock.advance(10)
    answer = desk.control("clock", speed=0, leap=30)
    assert [tuple(turn.values()) for turn in answer["turns"][1:]] == [
        (began + 10, began + 10, 20),
        (began + 20, began + 270, 20),
        (began + 30, began + 500, 0),
    ]
    assert (answer["now"], answer["speed"]) == (began + 500, 0)
    assert clock(desk) == answer


def test_what_changes_nothing_is_no_clock_turn(desk):
    desk.control("speed", speed=1)
    desk.control("advance", seconds=0)
    desk.control("clock", speed=1, leap=0)
    assert len(clock(desk)["turns"]) == 1


def test_while_the_clock_is_held_answers_repeat(desk):
    desk.control("clock", speed=0)
    booking = desk.book("mini")
    before = desk.track(booking), desk.products(), clock(desk)["now"]
    desk.clock.advance(600)
    assert (desk.track(booking), desk.products(), clock(desk)["now"]) == before
    desk.control("clock", speed=60)
    desk.clock.advance(10)
    assert desk.track(booking) != before[0]


def test_a_price_keeps_its_five_minutes_of_people_under_a_turned_clock(desk):
    payload = desk.payload("mini")
    desk.control("clock", leap=7200)
    desk.clock.advance(290)
    assert desk.post("/v1.5/bookings/create", payload).json["status"] == "SUCCESS"
    desk.clock.advance(20)
    assert desk.post("/v1.5/bookings/create", payload).json["code"] == "FARE_EXPIRED"
    desk.control("clock", speed=0)
    payload = desk.payload("mini")
    desk.clock.advance(900)  # no price expires while the clock is held
    assert desk.post("/v1.5/bookings/create", payload).json["status"] == "SUCCESS"


def test_the_clock_is_set_back_only_without_bookings(desk):
    desk.control("clock", at=NOON.timestamp() + 86_400)
    desk.book("suv")
    status, message = refused(desk, "clock", at=NOON.timestamp())
    assert (status, "reset" in message) == (409, True)
    desk.control("reset")
    assert desk.control("clock", at=NOON.timestamp(), speed=0)["now"] == NOON.timestamp()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"speed": 0.5},
        {"speed": 61},
        {"speed": False},
        {"speed": None},
        {"leap": -1},
        {"leap": 1e9},
        {"at": "soon"},
        {"at": -1},
        {"at": 1e12},
    ],
)
def test_an_impossible_clock_turn_is_refused_and_changes_nothing(desk, body):
    before = clock(desk)
    assert refused(desk, "clock", **body)[0] == 400
    assert clock(desk) == before


def test_a_leap_goes_one_second_behind_the_next_phase(desk):
    desk.control("clock", speed=0)
    seen, answer = [], {}
    booking = desk.book("suv")
    while answer.get("booking_status") != "COMPLETED":
        answer = desk.control("leap", booking_id=booking)
        assert answer["booking_id"] == booking
        assert answer["booking_status"] == desk.track(booking)["booking_status"]
        if answer["leapt"] < HALF_HOUR:
            seen.append(answer["booking_status"])
    assert seen == ["CALL_DRIVER", "CLIENT_LOCATED", "IN_PROGRESS", "COMPLETED"]
    assert refused(desk, "leap", booking_id=booking)[0] == 409


def test_a_leap_says_how_many_other_rides_it_moved(desk):
    first = desk.book("suv")
    desk.clock.advance(20)
    others = [desk.book("suv"), desk.book("suv")]
    until = desk.control("leap", booking_id=others[1])
    moved = {first, *others} - {others[1]}
    stepped = [each for each in moved if desk.track(each)["booking_status"] == "CALL_DRIVER"]
    assert until["others"] == len(stepped) >= 1


def test_without_an_id_the_leap_is_to_the_next_phase_of_all(desk):
    first = desk.book("suv")
    desk.clock.advance(30)
    desk.book("suv")
    assert desk.control("leap")["booking_id"] == first


def test_the_clock_runs_to_the_next_phase_and_is_held_there(desk):
    desk.control("clock", speed=0)
    booking = desk.book("suv")
    answer = desk.control("leap", booking_id=booking, speed=60)
    stop = answer["stop"]
    assert (answer["speed"], answer["booking_status"]) == (60, "CALL_DRIVER")
    assert stop["service"] == answer["now"] + answer["leapt"]
    assert desk.track(booking)["booking_status"] == "ALLOTMENT_PENDING"
    desk.clock.advance(900)  # however late it is read
    after = clock(desk)
    assert (after["now"], after["speed"], after["stop"]) == (stop["service"], 0, None)
    assert after["turns"][-1] == stop
    assert desk.track(booking)["booking_status"] == "CALL_DRIVER"
    on = desk.control("clock", speed=1)
    assert [on["now"], *on["turns"][-2:]] == [
        stop["service"],
        stop,
        {"wall": desk.clock().timestamp(), "service": stop["service"], "speed": 1},
    ]


@pytest.mark.parametrize("body", [{"speed": 60}, {"speed": 20}, {"leap": 1}])
def test_a_clock_turn_during_a_leap_removes_its_stop(desk, body):
    booking = desk.book("suv")
    desk.control("leap", booking_id=booking, speed=60)
    assert desk.control("clock", **body)["stop"] is None
    desk.clock.advance(30)
    assert clock(desk)["speed"] == body.get("speed", 60)


def test_a_reset_takes_the_stop_away(desk):
    desk.control("leap", booking_id=desk.book("suv"), speed=60)
    desk.control("reset", at=NOON.timestamp(), speed=0)
    assert (clock(desk)["stop"], clock(desk)["now"]) == (None, NOON.timestamp())


@pytest.mark.parametrize("speed", [0, 61, "fast", None])
def test_a_leap_at_an_impossible_speed_is_refused(desk, speed):
    booking = desk.book("suv")
    assert refused(desk, "leap", booking_id=booking, speed=speed)[0] == 400
    assert len(clock(desk)["turns"]) == 1


def test_a_leap_needs_a_ride_in_progress(desk):
    assert refused(desk, "leap") == (409, "no ride is under way")
    assert refused(desk, "leap", booking_id="PT1")[0] == 404
    booking = desk.book("suv")
    desk.post("/v1/bookings/abort", {"booking_id": booking})
    assert refused(desk, "leap", booking_id=booking)[0] == 409


def test_a_share_ride_is_led_on_by_its_txn_id(desk):
    desk.control("next", scenario="share_retry")
    txn_id = desk.book("share", retry=True)
    assert desk.control("leap", booking_id=txn_id)["booking_status"] == "CALL_DRIVER"
    assert "booking_id" in desk.track(txn_id)


def test_the_service_is_down_for_a_time_not_for_a_number_of_calls(desk):
    desk.control("clock", speed=0)
    desk.control("faults", operation="*", fault="down", seconds=90)
    for _ in range(5):
        answer = desk.get("/v1/products", pickup_lat=-38.507, pickup_lng=-128.01)
        assert int(answer.headers["Content-Length"]) > len(answer.data)  # a broken connection
        desk.clock.advance(15)
    desk.clock.advance(20)
    assert desk.products()["categories"]


def test_one_operation_may_be_down_and_an_outage_be_ended(desk):
    desk.control("faults", operation="create", fault="down", seconds=600)
    payload = desk.payload("suv")
    down = desk.post("/v1.5/bookings/create", payload)
    assert int(down.headers["Content-Length"]) > len(down.data)
    desk.control("faults", operation="create", fault="down", seconds=0)
    assert desk.post("/v1.5/bookings/create", payload).json["status"] == "SUCCESS"
    assert refused(desk, "faults", operation="*", fault="down", seconds=601)[0] == 400


def cast(desk):
    located = desk.until(desk.book("suv"), "CLIENT_LOCATED")
    return located["driver_name"], located["vehicle_number"], located["otp"]


def test_a_reset_takes_a_seed_and_ends_an_outage(desk):
    first = cast(desk)
    desk.control("faults", operation="*", fault="down", seconds=600)
    desk.control("reset", seed=7)
    other = cast(desk)
    desk.control("reset")
    assert cast(desk) == first != other
    desk.control("reset", seed=7)
    assert cast(desk) == other
    assert refused(desk, "reset", seed=0)[0] == 400


def test_a_file_of_a_release_without_clock_turns_gets_its_first(desk_at):
    desk = desk_at(NOON)
    desk.control("speed", speed=20)
    with desk.app.extensions["sandbox"].store.write() as connection:
        connection.execute("DROP TABLE turns")
    desk.close()
    from ridedash.sandbox import create_sandbox

    desk.app = create_sandbox(desk.settings)
    desk.web = desk.app.test_client()
    (turn,) = clock(desk)["turns"]
    assert turn["speed"] == 20
