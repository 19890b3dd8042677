"""Actions on a booking (abort, cancel, change of drop, feedback) and their failures."""

from dataclasses import dataclass, replace
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.bookings.create import SAME_PLACE, same_place, share_refusal
from ridedash.sandbox.city.city import City
from ridedash.sandbox.pricing.categories import tariff_of
from ridedash.sandbox.pricing.estimates import at_airport
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.services import SandboxServices
from ridedash.sandbox.trips.ledger import Booking, BookingTerms
from ridedash.sandbox.trips.planner import SHORTEST_PHASE_S
from ridedash.sandbox.trips.timeline import TripPlan, driven_part, joined, redirected

CANCELLABLE: Final = frozenset({wire.CALL_DRIVER, wire.CLIENT_LOCATED})
# a code of our own: feedback before the ride ended
RIDE_NOT_COMPLETED: Final = "RIDE_NOT_COMPLETED"
_TOO_LATE: Final = {  # status -> the code and the text of a refused cancel
    wire.BOOKING_CANCELLED: (wire.BOOKING_ALREADY_CANCELLED, "This ride was cancelled before."),
    wire.ALLOTMENT_FAILED: (
        wire.BOOKING_ALREADY_CANCELLED,
        "This ride ended before: no driver was found.",
    ),
    wire.COMPLETED: (wire.BOOKING_ALREADY_COMPLETED, "This ride is completed and billed."),
    wire.IN_PROGRESS: (wire.RIDE_IN_PROGRESS, "This ride is under way and can't be cancelled."),
}


def unknown_booking(**fields: str) -> RequestRefusal:
    """A RequestRefusal: this user has no booking with that id."""
    message = "There is no such booking"
    return RequestRefusal(
        404, {"status": wire.FAILURE, **fields, "code": wire.NO_BOOKING, "message": message}
    )


def abort(sandbox: SandboxServices, user: str, booking_id: str, now: float) -> dict[str, Any]:
    """Stop the search for a driver (docs/service-interface.md 2)."""
    with sandbox.store.write() as connection:
        booking = sandbox.ledger.find(connection, user, booking_id, now)
        if booking is None:
            raise unknown_booking()
        status = booking.status(now)
        if status in (wire.BOOKING_CANCELLED, wire.ALLOTMENT_FAILED):
            raise _failure(wire.BOOKING_ALREADY_CANCELLED, "The booking has ended already")
        if status not in wire.SEARCHING:
            raise _failure(wire.BOOKING_ALLOTED, "A driver is already allotted")
        sandbox.ledger.end(connection, booking, now, None)
    return {
        "status": wire.SUCCESS,
        "message": f"Booking {booking_id} was aborted",
        "code": wire.SUCCESS,
    }


def cancel(
    sandbox: SandboxServices, user: str, booking_id: str, reason: str, now: float
) -> dict[str, Any]:
    """Cancel between allotment and payment or start of the ride (docs/service-interface.md 4)."""
    with sandbox.store.write() as connection:
        booking = sandbox.ledger.find(connection, user, booking_id, now)
        if booking is None:
            raise unknown_booking(request_type=wire.BOOKING_CANCEL)
        status = booking.status(now)
        if status not in CANCELLABLE:
            raise _not_cancellable(status)
        sandbox.ledger.end(connection, booking, now, reason)
    return {
        "status": wire.SUCCESS,
        "request_type": wire.BOOKING_CANCEL,
        "header": wire.SUCCESS,
        "text": f"Your booking {booking_id} is cancelled.{_charge(sandbox, booking, now)}",
    }


def _not_cancellable(status: str) -> RequestRefusal:
    body = {
        "status": wire.FAILURE,
        "request_type": wire.BOOKING_CANCEL,
        "reason": wire.CANCELLATION_NOT_ALLOWED,
        "header": "Can't cancel",
        "text": "This ride can't be cancelled now.",
    }
    if status in _TOO_LATE:
        body["code"], body["text"] = _TOO_LATE[status]
    return RequestRefusal(200, body)


def _charge(sandbox: SandboxServices, booking: Booking, now: float) -> str:
    """A sentence with the charge, or "" during the free minutes.

    The free minutes count from the allotment of the first driver and don't restart with a second
    one. The interface does not say when they begin (docs/service-interface.md Limits, 6).
    """
    city = sandbox.city(booking.city)
    category = tariff_of(city.currency).find(booking.category)
    assert category is not None
    allotted = booking.plan.first(wire.CALL_DRIVER)
    policy = category.cancellation
    if allotted is None or now - allotted.at <= policy.after_minutes * 60:
        return ""
    return f" A cancellation charge of {city.currency} {policy.charge} applies."


def change_drop(
    sandbox: SandboxServices, user: str, booking_id: str, drop: LatLng, now: float
) -> dict[str, Any]:
    """Change the drop from now on (docs/service-interface.md 3)."""
    with sandbox.store.write() as connection:
        booking = sandbox.ledger.find(connection, user, booking_id, now)
        if booking is None:
            raise unknown_booking(
                request_type=wire.UPDATE_DROP,
                header=wire.HEADER_OOPS,
                text="There is no such booking.",
            )
        city = sandbox.city(booking.city)
        status = booking.status(now)
        over = booking.kind is wire.Kind.AUTO and status == wire.INVOICE
        if over or status in wire.TERMINAL:
            raise _drop_refused(wire.HEADER_OOPS, "The ride has ended; its drop can't be changed.")
        problem = _problem_of(city, booking, drop)
        if problem is not None:
            raise _drop_refused(wire.HEADER_INVALID_DROP, problem)
        airport = at_airport(city, booking.request.pickup) or at_airport(city, drop)
        request = _redirected_request(booking.request, drop, airport=airport)
        sandbox.ledger.redirect(
            connection, booking, request, _redirected_plan(sandbox, booking, drop, now)
        )
    return {
        "status": wire.SUCCESS,
        "request_type": wire.UPDATE_DROP,
        "header": wire.SUCCESS,
        "text": "Your drop location is updated.",
    }


def _problem_of(city: City, booking: Booking, drop: LatLng) -> str | None:
    """The reason why create would refuse a booking to the new drop; None if it would not."""
    if not city.contains(drop):
        return "The new drop is in a different city."
    if same_place(booking.request.pickup, drop):
        return SAME_PLACE
    if booking.kind is wire.Kind.SHARE:
        return share_refusal(city, drop)
    return None


def _redirected_request(request: BookingTerms, drop: LatLng, *, airport: bool) -> BookingTerms:
    return replace(
        request, drop=drop, drop_changed=True, terms=replace(request.terms, airport=airport)
    )


def _redirected_plan(
    sandbox: SandboxServices, booking: Booking, drop: LatLng, now: float
) -> TripPlan:
    """The plan with a new drop.

    Before the ride the whole route is new; during the ride, only the part after the cab's position.
    """
    plan = booking.plan
    roads = sandbox.city(booking.city).roads
    ride = plan.ride
    if ride is None:
        return replace(plan, drop=None)
    if now <= ride.departs:
        return redirected(plan, roads.route(booking.request.pickup, drop), drop, SHORTEST_PHASE_S)
    done = driven_part(ride.route, now - ride.departs)
    return redirected(
        plan, joined([done, roads.route(done.points[-1], drop)]), drop, now - ride.departs
    )


def _drop_refused(header: str, text: str) -> RequestRefusal:
    return RequestRefusal(
        200,
        {"status": wire.FAILURE, "request_type": wire.UPDATE_DROP, "header": header, "text": text},
    )


@dataclass(frozen=True)
class Feedback:
    """A rating from 1 to 5, with labels of the service and free comments of the rider."""

    rating: int
    labels: str | None
    comments: str | None


def give_feedback(
    sandbox: SandboxServices, user: str, booking_id: str, feedback: Feedback, now: float
) -> dict[str, Any]:
    """Store feedback on a completed ride; a later one replaces it (docs/service-interface.md 7)."""
    with sandbox.store.write() as connection:
        booking = sandbox.ledger.find(connection, user, booking_id, now)
        if booking is None:
            raise unknown_booking(request_type=wire.BOOKING_FEEDBACK)
        if booking.status(now) != wire.COMPLETED:
            raise _failure(
                RIDE_NOT_COMPLETED, "The ride is not completed", request_type=wire.BOOKING_FEEDBACK
            )
        connection.execute(
            "REPLACE INTO feedback (booking_id, rating, feedback, comments, at)"
            " VALUES (?, ?, ?, ?, ?)",
            (booking_id, feedback.rating, feedback.labels, feedback.comments, now),
        )
    return {"status": wire.SUCCESS, "request_type": wire.BOOKING_FEEDBACK}


def _failure(code: str, message: str, **fields: str) -> RequestRefusal:
    return RequestRefusal(200, {"status": wire.FAILURE, **fields, "code": code, "message": message})
