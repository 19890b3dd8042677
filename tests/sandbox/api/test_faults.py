"""Control of the sandbox: faults over a real socket, scenarios, the clock, the header."""

import re
import time
from pathlib import Path

import httpx
import pytest

from tests.sandbox.sandbox_desk import CONTROL, NOON
from tests.sandbox.serving import waitress, werkzeug

OPERATING = Path(__file__).parents[3] / "docs" / "operating.md"
CREATE = "/v1.5/bookings/create"


@pytest.fixture(params=[waitress, werkzeug])
def wire(request, desk):
    """A partner's session over a real socket."""
    with (
        request.param(desk.app) as address,
        httpx.Client(base_url=address, headers=desk.headers) as session,
    ):
        yield session


def set_fault(wire, **fault):
    assert wire.post("/control/faults", json=fault, headers=CONTROL).status_code == 200


def bookings(wire):
    return len(wire.get("/control/ledger", headers=CONTROL).json()["bookings"])


def test_cut_before_breaks_the_connection_and_books_nothing(desk, wire):
    set_fault(wire, operation="create", fault="cut_before")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        wire.post(CREATE, json=desk.payload("suv"))
    assert bookings(wire) == 0


def test_cut_after_books_and_breaks_the_connection_without_an_answer(desk, wire):
    set_fault(wire, operation="create", fault="cut_after")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        wire.post(CREATE, json=desk.payload("suv"))
    assert bookings(wire) == 1
    assert wire.post(CREATE, json=desk.payload("suv")).json()["status"] == "SUCCESS"


def test_html_books_and_answers_with_a_web_page(desk, wire):
    set_fault(wire, operation="create", fault="html")
    answer = wire.post(CREATE, json=desk.payload("suv"))
    assert answer.headers["Content-Type"].startswith("text/html")
    assert bookings(wire) == 1


def test_http_500_books_nothing_and_has_no_body_of_the_interface(desk, wire):
    set_fault(wire, operation="create", fault="http_500")
    answer = wire.post(CREATE, json=desk.payload("suv"))
    assert answer.status_code == 500
    assert not {"status", "code"} & set(answer.json())
    assert bookings(wire) == 0


def test_rate_limit_has_a_retry_after_header(desk, wire):
    set_fault(wire, operation="create", fault="rate_limit", seconds=7)
    answer = wire.post(CREATE, json=desk.payload("suv"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    assert answer.json()["code"] == "rate_limit"
    assert bookings(wire) == 0


def test_delay_answers_late_but_correctly(desk, wire):
    set_fault(wire, operation="products", fault="delay", seconds=0.3)
    begun = time.monotonic()
    assert (
        wire.get(
            "/v1/products", params={"pickup_lat": "-38.507", "pickup_lng": "-128.0101"}
        ).status_code
        == 200
    )
    assert time.monotonic() - begun >= 0.3


def test_a_fault_applies_to_its_operation_as_many_times_as_set(desk):
    desk.control("faults", operation="track_ride", fault="http_500", times=2)
    booking = desk.book("suv")
    path = "/v1/bookings/track_ride"
    assert [desk.get(path, booking_id=booking).status_code for _ in range(3)] == [500, 500, 200]


def test_a_fault_for_any_operation_applies_to_the_next_call(desk):
    desk.control("faults", operation="*", fault="http_500")
    assert desk.get("/v1.5/bookings/feedback/options", category="mini").status_code == 500
    assert desk.get("/v1.5/bookings/feedback/options", category="mini").status_code == 200


def test_without_access_to_the_socket_the_answer_is_incomplete(desk):
    desk.control("faults", operation="create", fault="cut_after")
    answer = desk.post(CREATE, desk.payload("suv"))
    assert int(answer.headers["Content-Length"]) > len(answer.data)


def test_control_needs_a_header_that_a_form_cannot_send(desk):
    for path in ("speed", "next", "faults", "advance", "reset"):
        answer = desk.web.post(f"/control/{path}", json={})
        assert (answer.status_code, answer.json["status"]) == (403, "FAILURE")
    assert desk.web.get("/control/ledger").status_code == 403


@pytest.mark.parametrize(
    "request_args",
    [
        {"environ_base": {"REMOTE_ADDR": "192.0.2.9"}},
        {"environ_base": {"REMOTE_ADDR": "127.0.0.1"}, "headers": {"X-Forwarded-For": "192.0.2.9"}},
        {"base_url": "http://sandbox.example:8001"},  # a site whose name leads to this machine
        {"base_url": "http://192.0.2.1:8001"},
    ],
)
def test_control_answers_programs_of_this_machine_only(desk, request_args):
    more = {"headers": CONTROL | request_args.get("headers", {})}
    answer = desk.web.post("/control/reset", json={}, **(request_args | more))
    assert (answer.status_code, answer.json["code"]) == (403, "CONTROL_REFUSED")
    assert "this machine" in answer.json["message"]
    assert desk.web.get("/control/ledger", **(request_args | more)).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8001", "localhost", "[::1]:8001", "[::1]"])
def test_control_answers_under_each_name_of_this_machine(desk, host):
    answer = desk.web.get("/control/clock", headers=CONTROL, base_url=f"http://{host}")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("speed", {"speed": 0.5}),
        ("speed", {"speed": 61}),
        ("speed", {"speed": "fast"}),
        ("advance", {"seconds": -1}),
        ("next", {"scenario": "meteor"}),
        ("faults", {"operation": "create", "fault": "meteor"}),
        ("faults", {"operation": "walk", "fault": "delay"}),
        ("faults", {"operation": "create", "fault": "delay", "times": 0}),
        ("faults", {"operation": "create", "fault": "delay", "seconds": 1e9}),
    ],
)
def test_control_refuses_invalid_values(desk, path, body):
    answer = desk.web.post(f"/control/{path}", json=body, headers=CONTROL)
    assert (answer.status_code, answer.json["code"]) == (400, "BAD_REQUEST")


def first_cells(section, header):
    """The first cell of each row of the table with that header in a section of operating.md."""
    text = OPERATING.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    rows = text.split(f"| {header} |")[1].split("\n\n")[0].splitlines()[2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]


def test_each_scenario_fault_and_route_of_control_is_documented(desk):
    scenarios = list_in(desk, "next", "scenario")
    assert sorted(first_cells("Steer the sandbox", "scenario")) == sorted(scenarios)
    faults = {"operation": "none", "fault": "none"}
    answer = desk.web.post("/control/faults", json=faults, headers=CONTROL).json["message"]
    operations, known = re.findall(r": ([\w, *]+)(?:;|$)", answer.partition("known are")[2])
    assert sorted(first_cells("Steer the sandbox", "fault")) == sorted(known.split(", "))
    words = " ".join(OPERATING.read_text().split())
    listed = "`, `".join(operations.removesuffix(", *").split(", "))
    assert f"Operations are `{listed}`, and `*`" in words
    served = {
        f"{method} {rule}"
        for rule in desk.app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if str(rule).startswith("/control/")
    }
    assert set(first_cells("Steer the sandbox", "route")) == served


def list_in(desk, path, name):
    """The values that a route of control names when it refuses another one."""
    answer = desk.web.post(f"/control/{path}", json={name: "none"}, headers=CONTROL)
    return answer.json["message"].partition("one of ")[2].split(", ")


def test_without_control_its_routes_do_not_exist(desk_at):
    closed = desk_at(NOON, control=False)
    assert closed.web.post("/control/speed", json={"speed": 2}, headers=CONTROL).status_code == 404


def test_a_scenario_stays_queued_until_a_booking_of_its_kind(desk):
    desk.control("next", scenario="share_retry_fail")
    desk.book("mini")
    assert desk.create("share", retry=True)["booking_id"] is None
    assert [line["scenario"] for line in desk.ledger()] == ["normal", "share_retry_fail"]


def test_the_clock_runs_at_the_speed_that_was_set(desk):
    booking = desk.book("suv")
    desk.control("speed", speed=60)
    desk.clock.advance(1)
    assert desk.track(booking)["booking_status"] in ("ALLOTMENT_PENDING", "CALL_DRIVER")
    desk.clock.advance(1)
    assert desk.track(booking)["booking_status"] == "CALL_DRIVER"
    desk.control("speed", speed=1)
    status = desk.track(booking)["booking_status"]
    desk.clock.advance(5)
    assert desk.track(booking)["booking_status"] == status


def test_advance_moves_the_clock_and_reset_deletes_bookings_but_not_tokens(desk):
    booking = desk.book("suv")
    desk.control("advance", seconds=3600)
    assert desk.track(booking)["booking_status"] == "COMPLETED"
    desk.control("reset")
    assert desk.ledger() == []
    assert desk.book("suv") != booking
