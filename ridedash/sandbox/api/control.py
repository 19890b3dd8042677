"""Control of the sandbox for tests and demos: its clock, scenarios, faults, the ledger.

A real service does not have these routes. They answer programs on the same machine only, and only
if the request names that machine as its host, which prevents DNS rebinding. Each request needs the
header `X-Sandbox-Control: 1`, which a form of another site can't send.
"""

import ipaddress
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Blueprint, Response, jsonify, request

from ridedash.sandbox import request_parsing
from ridedash.sandbox.api import faults
from ridedash.sandbox.bookings.actions import unknown_booking
from ridedash.sandbox.clock import FASTEST, HELD, SLOWEST, SetBack
from ridedash.sandbox.request_parsing import RequestRefusal, bad_request
from ridedash.sandbox.services import services
from ridedash.sandbox.store import delete_bookings
from ridedash.sandbox.trips.ledger import Booking, queue_scenario
from ridedash.sandbox.trips.planner import SCENARIOS

bp: Final = Blueprint("control", __name__, url_prefix="/control")
HEADER: Final = "X-Sandbox-Control"
FORWARDED: Final = "Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"  # a proxy adds one of these
FARTHEST_S: Final = 30 * 86400.0
AFTER_PHASE_S: Final = 1.0
LONGEST_LEAP_S: Final = 1800.0
LONGEST_DELAY_S: Final = 120.0
LONGEST_OUTAGE_S: Final = 600.0
LAST_TIME: Final = 4_102_444_800.0  # the year 2100
SEEDS: Final = range(1, 1_000_001)


@bp.before_request
def check_caller() -> None:
    """Refuse requests from other machines, also those that a proxy on this machine forwards."""
    passed_on = [name for name in FORWARDED if name in request.headers]
    host = urlsplit(f"//{request.host}").hostname or ""
    if passed_on or not (_is_here(request.remote_addr or "") and _is_here(host)):
        raise _refused("control answers programs of this machine only")


def _is_here(address: str) -> bool:
    """Whether a host name or an address can only mean this machine."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _refused(why: str) -> RequestRefusal:
    return RequestRefusal(403, {"status": "FAILURE", "code": "CONTROL_REFUSED", "message": why})


@bp.before_request
def check_header() -> None:
    """Refuse requests that a page of another origin could send without a preflight."""
    if request.headers.get(HEADER) != "1":
        raise _refused(f"{HEADER}: 1 is required")


@bp.post("/speed")
def speed() -> Response:
    """Set the speed. Body: {"speed": service seconds per second of wall time, 1 to 60}."""
    wanted = _number(request_parsing.json_body(request, typed=True), "speed", SLOWEST, FASTEST)
    services().clock.change(speed=wanted)
    return clock()


@bp.post("/advance")
def advance() -> Response:
    """Move service time forward. Body: {"seconds": n}, at most 30 days."""
    seconds = _number(request_parsing.json_body(request, typed=True), "seconds", 0.0, FARTHEST_S)
    services().clock.change(leap=seconds)
    return clock()


@bp.get("/clock")
def clock() -> Response:
    """Answer {"now": the service's time, "speed", "turns": [turn], "stop": turn or null}.

    A turn is {wall, service, speed}: at the wall time `wall` the clock shows `service` and begins
    to run at `speed`. The oldest turn comes first. `stop` is a future turn that stops the clock.
    Times are in seconds since 1970.
    """
    return jsonify(_clock_now())


def _clock_now() -> dict[str, Any]:
    service_clock = services().clock
    stop = service_clock.stop()
    return {
        "status": "SUCCESS",
        "now": service_clock.now(),
        "speed": service_clock.speed(),
        "turns": [turn._asdict() for turn in service_clock.turns()],
        "stop": None if stop is None else stop._asdict(),
    }


@bp.post("/clock")
def turn_clock() -> Response:
    """Turn the clock. Body: {"at"?, "leap"?, "speed"?}, one of them at least; answers as GET does.

    `at` is the service's time in seconds since 1970, by default the present one. `leap` is how many
    seconds are added to it, 30 days at most. `speed` is 1 to 60, or 0 to stop the clock. While
    there are bookings, the clock can't be set back.
    """
    body = request_parsing.json_body(request, typed=True)
    if not body.keys() & {"at", "leap", "speed"}:
        raise bad_request("one of at, leap and speed is required")
    leap = _number({"leap": 0} | body, "leap", 0.0, FARTHEST_S)
    at, runs = _set_to(body)
    try:
        services().clock.change(at=at, leap=leap, speed=runs)
    except SetBack:
        raise bad_request("there are bookings: reset before the clock is set back", 409) from None
    return clock()


def _set_to(body: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The time and the speed to which a body sets the clock; None for what it does not name."""
    at = _number(body, "at", 0.0, LAST_TIME) if "at" in body else None
    if "speed" not in body:
        return at, None
    if body["speed"] == HELD and not isinstance(body["speed"], bool):
        return at, HELD
    return at, _number(body, "speed", SLOWEST, FASTEST)


@bp.post("/leap")
def leap_to_phase() -> Response:
    """Set the clock to 1 s after the next phase of a ride begins. Body: {"booking_id"?, "speed"?}.

    `booking_id` may also be a txn_id. Without it the earliest next phase of any ride counts. With a
    `speed` of 1 to 60 the clock does not leap: it runs to that time and then stops. The answer is
    that of GET /control/clock with {"booking_id", "booking_status", "leapt": seconds, "others": how
    many other rides change their phase}. The clock goes forward by 30 minutes at most: a later
    phase is not reached.
    """
    body = request_parsing.json_body(request, typed=True)
    wanted = request_parsing.optional_text(body, "booking_id")
    runs = _number(body, "speed", SLOWEST, FASTEST) if "speed" in body else None
    sandbox = services()
    now = sandbox.clock.now()
    with sandbox.store.read() as connection:
        rides = sandbox.ledger.all(connection)
    chosen, at = _next_phase(rides, wanted, now)
    seconds = min(max(0.0, at - now) + AFTER_PHASE_S, LONGEST_LEAP_S)
    then = now + seconds
    if runs is None:
        sandbox.clock.change(leap=seconds)
    else:
        sandbox.clock.run_until(then, runs)
    moved = [ride for ride in rides if ride.phase(then) != ride.phase(now)]
    leap = {
        "booking_id": chosen.booking_id,
        "booking_status": chosen.status(then),
        "leapt": seconds,
        "others": sum(ride is not chosen for ride in moved),
    }
    return jsonify(_clock_now() | leap)


def _next_phase(rides: list[Booking], wanted: str | None, now: float) -> tuple[Booking, float]:
    """The ride that changes its phase next, and when; only the wanted ride if one is named."""
    if wanted is not None:
        rides = [ride for ride in rides if wanted in (ride.booking_id, ride.txn_id)]
        if not rides:
            raise unknown_booking()
    ahead = [(ride, at) for ride in rides if (at := ride.next_phase_at(now)) is not None]
    if not ahead:
        raise bad_request("no ride is under way", 409)
    return min(ahead, key=lambda found: found[1])


@bp.post("/next")
def next_scenario() -> Response:
    """Queue a scenario for the next booking to which it applies. Body: {"scenario": name}.

    Scenarios named share_… apply to share bookings, driver_swaps and invoice_before_ride to
    point-to-point ones, and the others named driver_… to autos (docs/operating.md, Steer the
    sandbox).
    """
    wanted = request_parsing.text(request_parsing.json_body(request, typed=True), "scenario")
    if wanted not in SCENARIOS:
        raise bad_request(f"scenario must be one of {', '.join(SCENARIOS)}")
    with services().store.write() as connection:
        queue_scenario(connection, wanted)
    return jsonify({"status": "SUCCESS"})


@bp.post("/faults")
def order_faults() -> Response:
    """Set a fault for the next calls. Body: {"operation", "fault", "times", "seconds"}.

    Each fault is explained in faults.py (and in docs/operating.md, Steer the sandbox). `down`
    counts no calls: it lasts for `seconds` of wall time.
    """
    body = request_parsing.json_body(request, typed=True)
    operation = request_parsing.text(body, "operation")
    fault = request_parsing.text(body, "fault")
    if operation not in (*faults.OPERATIONS, faults.ANY) or fault not in faults.FAULTS:
        known = f"operation: {', '.join(faults.OPERATIONS)}, *; fault: {', '.join(faults.FAULTS)}"
        raise bad_request(f"unknown operation or fault; known are {known}")
    if fault == faults.DOWN:
        lasts_s = _number({"seconds": 3} | body, "seconds", 0.0, LONGEST_OUTAGE_S)
        faults.begin_outage(services().store, operation, services().clock.wall() + lasts_s)
        return jsonify({"status": "SUCCESS"})
    times = request_parsing.whole({"times": 1} | body, "times", range(1, 10_001))
    seconds = _number({"seconds": 3} | body, "seconds", 0.0, LONGEST_DELAY_S)
    faults.order(services().store, operation, fault, times, seconds)
    return jsonify({"status": "SUCCESS"})


@bp.post("/reset")
def reset() -> Response:
    """Delete bookings, feedback, scenarios and faults. Body: {"seed"?, "at"?, "speed"?}.

    `seed` (1 to 1,000,000) determines drivers, plates and codes from now on; without it, the
    configured seed. Bookings are numbered from 1 again, so that the same rides have the same
    drivers. `at` and `speed` set the clock as in POST /control/clock; without them the clock goes
    on, at the configured speed. Tokens are kept.
    """
    body = request_parsing.json_body(request, typed=True)
    sandbox = services()
    seed = sandbox.settings.seed
    if "seed" in body:
        seed = request_parsing.whole(body, "seed", SEEDS)
    at, runs = _set_to(body)
    with sandbox.store.write() as connection:
        delete_bookings(connection)
        connection.execute("REPLACE INTO dice (one, seed) VALUES (1, ?)", (seed,))
    sandbox.clock.change(at=at, speed=sandbox.settings.pace if runs is None else runs)
    return jsonify({"status": "SUCCESS"})


@bp.get("/ledger")
def ledger() -> Response:
    """Answer {"bookings": [...]} with every booking, also those that no client knows."""
    sandbox = services()
    now = sandbox.clock.now()
    with sandbox.store.read() as connection:
        bookings = sandbox.ledger.all(connection)
        ratings = dict(connection.execute("SELECT booking_id, rating FROM feedback").fetchall())
    return jsonify({"bookings": [_ledger_entry(booking, ratings, now) for booking in bookings]})


def _ledger_entry(booking: Booking, ratings: Mapping[str, int], now: float) -> dict[str, Any]:
    driver = booking.plan.drivers[-1] if booking.plan.drivers else None
    return {
        "booking_id": booking.booking_id,
        "txn_id": booking.txn_id,
        "merchant_txn_id": booking.merchant_txn_id,
        "user": booking.user,
        "category": booking.category,
        "city": booking.city,
        "status": booking.status(now),
        "scenario": booking.scenario,
        "created_at": booking.created_at,
        "affiliate_uid": booking.request.affiliate_uid,
        "vehicle_number": driver.vehicle_number if driver else None,
        "rating": ratings.get(booking.booking_id),
        "phases": [{"status": phase.status, "at": phase.at} for phase in booking.plan.phases],
    }


def _number(body: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise bad_request(f"{name} must be a number from {least:g} to {most:g}")
    return float(value)
