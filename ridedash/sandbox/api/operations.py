"""The routes of the eight operations, with the checks of partner, user and parameters."""

import hmac
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, NamedTuple

from flask import Blueprint, Request, Response, jsonify, request

from ridedash import wire
from ridedash.sandbox import request_parsing
from ridedash.sandbox.api import faults
from ridedash.sandbox.api.products import products
from ridedash.sandbox.bookings import actions, snapshots
from ridedash.sandbox.bookings import create as bookings
from ridedash.sandbox.oauth.tokens import user_of
from ridedash.sandbox.pricing.categories import CATEGORY_IDS, tariff_of
from ridedash.sandbox.request_parsing import RequestRefusal, bad_request
from ridedash.sandbox.services import SandboxServices, services
from ridedash.sandbox.store import ReadCache
from ridedash.sandbox.users import SandboxUser, find_user

COMPLAINTS: Final = (
    "Delayed Pick up",
    "Driver Unprofessional",
    "Driver Untrained",
    "Unsafe Driving",
    "Car Quality",
    "Incorrect Billing",
    "Dropped at wrong location",
    "Not Value for Money",
)
PRAISE: Final = (
    "Polite and professional driver",
    "On-time pickup",
    "Comfortable feature-rich car",
    "Driver familiar with the route",
    "Value for Money",
)
NEEDS_SUB_CATEGORY: Final = frozenset({"rental", "outstation"})


def feedback_options(category: str, sub_category: str) -> dict[str, Any]:
    """The body of the answer to feedback_options.

    Raises RequestRefusal for a missing or unknown category, and for rental or outstation without a
    sub_category.
    """
    if not category:
        raise bad_request("category is required")
    if category not in CATEGORY_IDS | NEEDS_SUB_CATEGORY:
        message = "There is no such category"
        raise RequestRefusal(
            200, {"status": wire.FAILURE, "code": wire.INVALID_CAR_CATEGORY, "message": message}
        )
    if category in NEEDS_SUB_CATEGORY and not sub_category:
        raise bad_request("sub_category is required for outstation and rental")
    labels = {str(rating): list(COMPLAINTS) for rating in range(1, 5)} | {"5": list(PRAISE)}
    return {"status": wire.SUCCESS, "driver_feedback_options": labels}


bp: Final = Blueprint("api", __name__)
INVALID_TOKEN: Final = "invalid_token"  # noqa: S105 - a code, not a token

Body = dict[str, Any] | str  # a body as an object, or already serialised as JSON


class OperationCall(NamedTuple):
    """One call: the request, the services of the sandbox, and the current cache of its database."""

    request: Request
    sandbox: SandboxServices
    cache: ReadCache

    def now(self) -> float:
        """The service's time now."""
        return self.sandbox.clock.now(self.cache)


def operation(
    name: str,
) -> Callable[[Callable[[OperationCall, SandboxUser], Body]], Callable[[], Response]]:
    """Decorate an operation that acts for a user.

    The view checks X-APP-TOKEN and the bearer token, and injects faults (api/faults.py).
    """

    def wrap(function: Callable[[OperationCall, SandboxUser], Body]) -> Callable[[], Response]:
        @wraps(function)
        def view() -> Response:
            return _respond_with_faults(name, lambda call: function(call, user_calling(call)))

        return view

    return wrap


def _respond_with_faults(name: str, answer: Callable[[OperationCall], Body]) -> Response:
    sandbox = services()
    current = request._get_current_object()  # type: ignore[attr-defined]
    call = OperationCall(current, sandbox, sandbox.store.read_cache())
    fault = faults.next_fault(sandbox.store, call.cache, name, sandbox.clock.wall())
    if fault is None:
        return _respond(call, answer)
    early = faults.before(fault, call.request.environ)
    if early is not None:
        return early
    # the fault may have delayed the call, so the cache may be old
    late = call._replace(cache=sandbox.store.read_cache())
    return faults.after(fault, _respond(late, answer), call.request.environ)


def _respond(call: OperationCall, answer: Callable[[OperationCall], Body]) -> Response:
    try:
        check_partner(call)
        body = answer(call)
    except RequestRefusal as refusal:
        return refused(refusal)
    if isinstance(body, str):
        return Response(body, mimetype="application/json")
    return jsonify(body)


def refused(refusal: RequestRefusal) -> Response:
    """The response for a RequestRefusal."""
    response = jsonify(refusal.body)
    response.status_code = refusal.status
    response.headers.update(refusal.headers)
    return response


def check_partner(call: OperationCall) -> None:
    """Refuse a call without the partner's X-APP-TOKEN.

    See docs/service-interface.md Authentication, 1.
    """
    sent = call.request.headers.get(wire.APP_TOKEN_HEADER, "")
    if not hmac.compare_digest(sent.encode(), call.sandbox.settings.app_token.encode()):
        body = {
            "status": wire.FAILURE,
            "code": wire.INVALID_PARTNER_KEY,
            "message": "X-APP-TOKEN is missing or wrong",
        }
        raise RequestRefusal(403, body)


def user_calling(call: OperationCall) -> SandboxUser:
    """The user of the bearer token (docs/service-interface.md Authentication, 2)."""
    scheme, _, token = call.request.headers.get("Authorization", "").partition(" ")
    user = None
    if scheme.lower() == "bearer" and token.strip():
        user = find_user(user_of(call.cache, token.strip(), call.sandbox.clock.wall()) or "")
    if user is None:
        body = {
            "status": wire.FAILURE,
            "code": INVALID_TOKEN,
            "message": "The access token is missing, wrong or expired",
        }
        raise RequestRefusal(401, body, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    return user


@bp.post("/v1.5/bookings/create")
@operation("create")
def create(call: OperationCall, user: SandboxUser) -> Body:
    """Create booking (docs/service-interface.md 1)."""
    return bookings.create(call.sandbox, user, request_parsing.json_body(call.request), call.now())


@bp.post("/v1/bookings/abort")
@operation("abort")
def abort(call: OperationCall, user: SandboxUser) -> Body:
    """Abort booking (docs/service-interface.md 2)."""
    booking_id = request_parsing.text(request_parsing.json_body(call.request), "booking_id")
    return actions.abort(call.sandbox, user.id, booking_id, call.now())


@bp.post("/v1/bookings/drop_location")
@operation("drop_location")
def drop_location(call: OperationCall, user: SandboxUser) -> Body:
    """Update drop location (docs/service-interface.md 3)."""
    body = request_parsing.json_body(call.request, typed=True)
    booking_id = request_parsing.text(body, "booking_id")
    drop = request_parsing.point(
        request_parsing.number(body, "drop_lat"), request_parsing.number(body, "drop_lng"), "drop"
    )
    return actions.change_drop(call.sandbox, user.id, booking_id, drop, call.now())


@bp.post("/v1/bookings/cancel")
@operation("cancel")
def cancel(call: OperationCall, user: SandboxUser) -> Body:
    """Cancel booking (docs/service-interface.md 4)."""
    body = request_parsing.json_body(call.request)
    booking_id = request_parsing.text(body, "booking_id")
    reason = request_parsing.text(body, "reason")
    return actions.cancel(call.sandbox, user.id, booking_id, reason, call.now())


@bp.get("/v1/bookings/track_ride")
@operation("track_ride")
def track_ride(call: OperationCall, user: SandboxUser) -> Body:
    """Track a ride by booking_id or, while a share booking retries, by txn_id.

    See docs/service-interface.md 5.
    """
    sandbox = call.sandbox
    now = call.now()
    booking_id, txn_id = _tracked_ids(call.request.query_string)
    if not booking_id and not txn_id:
        raise request_parsing.bad_request("booking_id or txn_id is required")
    booking = sandbox.ledger.tracked(call.cache, user.id, booking_id, txn_id)
    if booking is None or (booking_id and not booking.revealed(now)):
        raise actions.unknown_booking(request_type=wire.TRACK_RIDE)
    if not booking_id:
        return snapshots.by_txn(booking, now)
    city = sandbox.city(booking.city)
    return snapshots.by_booking(booking, tariff_of(city.currency), city.timezone, now)


@lru_cache(maxsize=4096)
def _tracked_ids(query: bytes) -> tuple[str, str]:
    """The booking_id and txn_id of a query string, each "" when absent.

    Polls repeat the same few query strings, hence the cache.
    """
    args = Request({"QUERY_STRING": query.decode("latin-1")}).args
    return args.get("booking_id", ""), args.get("txn_id", "")


@bp.get("/v1/products")
def list_products() -> Response:
    """List products: X-APP-TOKEN is enough, a bearer token is ignored.

    See docs/service-interface.md 6; Authentication, 3.
    """
    return _respond_with_faults("products", _products)


def _products(call: OperationCall) -> Body:
    args = call.request.args
    lat, lng = (request_parsing.query_number(args, name) for name in ("pickup_lat", "pickup_lng"))
    pickup = request_parsing.point(lat, lng, "pickup")
    lat, lng = (request_parsing.query_number(args, name) for name in ("drop_lat", "drop_lng"))
    drop = request_parsing.optional_point(lat, lng, "drop")
    return products(call.sandbox, pickup, drop, args.get("category") or None, call.now())


@bp.post("/v1/bookings/feedback")
@operation("feedback")
def feedback(call: OperationCall, user: SandboxUser) -> Body:
    """Submit feedback (docs/service-interface.md 7)."""
    body = request_parsing.json_body(call.request, typed=True)
    booking_id = request_parsing.text(body, "booking_id")
    given = actions.Feedback(
        rating=request_parsing.whole(body, "rating", range(1, 6)),
        labels=request_parsing.optional_text(body, "feedback"),
        comments=request_parsing.optional_text(body, "comments"),
    )
    return actions.give_feedback(call.sandbox, user.id, booking_id, given, call.now())


@bp.get("/v1.5/bookings/feedback/options")
@operation("feedback_options")
def options(call: OperationCall, user: SandboxUser) -> Body:  # noqa: ARG001 - equal for all users
    """Feedback options (docs/service-interface.md 8)."""
    return feedback_options(
        call.request.args.get("category", ""), call.request.args.get("sub_category", "")
    )
