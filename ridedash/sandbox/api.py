"""The eight operations on their paths: who calls, what is asked, what is answered."""

import hmac
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from flask import Blueprint, Request, Response, jsonify, request

from ridedash import wire
from ridedash.sandbox import bookings, faults, feedback_options, moves, reading, snapshots
from ridedash.sandbox.categories import tariff_of
from ridedash.sandbox.products import products
from ridedash.sandbox.reading import Refusal
from ridedash.sandbox.tokens import user_of
from ridedash.sandbox.users import SandboxUser, find_user
from ridedash.sandbox.world import World, world

bp: Final = Blueprint("api", __name__)
INVALID_TOKEN: Final = "invalid_token"  # noqa: S105 - a code, not a token

Operation = Callable[[World, SandboxUser], dict[str, Any]]


def operation(name: str) -> Callable[[Operation], Callable[[], Response]]:
    """An operation for a user: X-APP-TOKEN and bearer are checked, and ordered faults are played."""

    def wrap(function: Operation) -> Callable[[], Response]:
        @wraps(function)
        def view() -> Response:
            sandbox = world()
            return _played(sandbox, name, lambda: function(sandbox, user_calling(sandbox, request)))

        return view

    return wrap


def _played(sandbox: World, name: str, answer: Callable[[], dict[str, Any]]) -> Response:
    fault = faults.take(sandbox.store, name)
    ended = faults.before(fault, request.environ)
    if ended is not None:
        return ended
    try:
        check_partner(sandbox, request)
        response = jsonify(answer())
    except Refusal as refusal:
        response = refused(refusal)
    return faults.after(fault, response, request.environ)


def refused(refusal: Refusal) -> Response:
    """A refusal as an answer."""
    response = jsonify(refusal.body)
    response.status_code = refusal.status
    response.headers.update(refusal.headers)
    return response


def check_partner(sandbox: World, asking: Request) -> None:
    """Every operation needs the partner's X-APP-TOKEN (Authentication, 1)."""
    sent = asking.headers.get(wire.APP_TOKEN_HEADER, "")
    if not hmac.compare_digest(sent.encode(), sandbox.settings.app_token.encode()):
        body = {"status": wire.FAILURE, "code": wire.INVALID_PARTNER_KEY, "message": "X-APP-TOKEN is missing or wrong"}
        raise Refusal(403, body)


def user_calling(sandbox: World, asking: Request) -> SandboxUser:
    """The user whose bearer token came (Authentication, 2)."""
    scheme, _, token = asking.headers.get("Authorization", "").partition(" ")
    user = None
    if scheme.lower() == "bearer" and token.strip():
        with sandbox.store.read() as connection:
            user = find_user(user_of(connection, token.strip(), sandbox.clock.wall()) or "")
    if user is None:
        body = {
            "status": wire.FAILURE,
            "code": INVALID_TOKEN,
            "message": "The access token is missing, wrong or expired",
        }
        raise Refusal(401, body, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    return user


@bp.post("/v1.5/bookings/create")
@operation("create")
def create(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Create booking (Endpoints, 1)."""
    return bookings.create(sandbox, user, reading.json_body(request), sandbox.clock.now())


@bp.post("/v1/bookings/abort")
@operation("abort")
def abort(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Abort booking (Endpoints, 2)."""
    booking_id = reading.text(reading.json_body(request), "booking_id")
    return moves.abort(sandbox, user.id, booking_id, sandbox.clock.now())


@bp.post("/v1/bookings/drop_location")
@operation("drop_location")
def drop_location(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Update drop location (Endpoints, 3)."""
    body = reading.json_body(request, typed=True)
    booking_id = reading.text(body, "booking_id")
    drop = reading.point(reading.number(body, "drop_lat"), reading.number(body, "drop_lng"), "drop")
    return moves.change_drop(sandbox, user.id, booking_id, drop, sandbox.clock.now())


@bp.post("/v1/bookings/cancel")
@operation("cancel")
def cancel(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Cancel booking (Endpoints, 4)."""
    body = reading.json_body(request)
    booking_id, reason = reading.text(body, "booking_id"), reading.text(body, "reason")
    return moves.cancel(sandbox, user.id, booking_id, reason, sandbox.clock.now())


@bp.get("/v1/bookings/track_ride")
@operation("track_ride")
def track_ride(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Track ride by booking_id or, for a share booking still retrying, by txn_id (Endpoints, 5)."""
    booking_id, txn_id = request.args.get("booking_id", ""), request.args.get("txn_id", "")
    if not booking_id and not txn_id:
        raise reading.bad_request("booking_id or txn_id is required")
    now = sandbox.clock.now()
    with sandbox.store.read() as connection:
        if booking_id:
            booking = sandbox.ledger.find(connection, user.id, booking_id, now)
        else:
            booking = sandbox.ledger.find_txn(connection, user.id, txn_id)
    if booking is None:
        raise moves.unknown_booking(request_type=wire.TRACK_RIDE)
    if not booking_id:
        return snapshots.by_txn(booking, now)
    city = sandbox.city(booking.city)
    return snapshots.by_booking(booking, tariff_of(city.currency), city.timezone, now)


@bp.get("/v1/products")
def list_products() -> Response:
    """List products: X-APP-TOKEN is enough, a bearer token is not looked at (Endpoints, 6; Authentication, 3)."""
    sandbox = world()
    return _played(sandbox, "products", lambda: _products(sandbox))


def _products(sandbox: World) -> dict[str, Any]:
    args = request.args
    lat, lng = (reading.query_number(args, name) for name in ("pickup_lat", "pickup_lng"))
    pickup = reading.point(lat, lng, "pickup")
    lat, lng = (reading.query_number(args, name) for name in ("drop_lat", "drop_lng"))
    drop = reading.optional_point(lat, lng, "drop")
    return products(sandbox, pickup, drop, args.get("category") or None, sandbox.clock.now())


@bp.post("/v1/bookings/feedback")
@operation("feedback")
def feedback(sandbox: World, user: SandboxUser) -> dict[str, Any]:
    """Submit feedback (Endpoints, 7)."""
    body = reading.json_body(request, typed=True)
    booking_id, rating = reading.text(body, "booking_id"), reading.whole(body, "rating", range(1, 6))
    labels, comments = reading.optional_text(body, "feedback"), reading.optional_text(body, "comments")
    return moves.feedback(sandbox, user.id, booking_id, rating, labels, comments, sandbox.clock.now())


@bp.get("/v1.5/bookings/feedback/options")
@operation("feedback_options")
def options(sandbox: World, user: SandboxUser) -> dict[str, Any]:  # noqa: ARG001 - the same for every user
    """Feedback options (Endpoints, 8)."""
    return feedback_options.options(request.args.get("category", ""), request.args.get("sub_category", ""))
