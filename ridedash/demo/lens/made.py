"""What the program concludes from each answer, in words. Pure.

The answers of a ride are judged again, in their order, by the functions that decided on them:
`classify` for create, `merge` for track_ride. Secrets are removed from stored answers; no decision
depends on them.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from ridedash.demo.lens.operations import object_in
from ridedash.demo.lens.store import RecordedCall, Side
from ridedash.rides.actions.call import ActionResult, result_of_error
from ridedash.rides.state.codes import (
    CONTRADICTION,
    NO_ANSWER,
    NO_CONNECTION,
    RATE_LIMITED,
    RECONNECT,
)
from ridedash.rides.state.outcome import Outcome, classify
from ridedash.rides.tracking import merge as merging
from ridedash.rides.tracking.merge import Merged, RideState, merge
from ridedash.service.client import create_answer_of, snapshot_of
from ridedash.service.errors import NoAnswer, Refused, ServiceError, Throttled
from ridedash.service.responses import object_of, success_of
from ridedash.service.transport.http import Answer
from ridedash.service.types.bookings import CreateAnswer, Done
from ridedash.service.types.products import ProductList
from ridedash.service.types.tracking import Snapshot
from ridedash.store.models.orders import OrderState
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording.say import Text, lazy, with_pauses

ACTIONS: Final = frozenset({"abort", "cancel", "drop_location", "feedback"})
PAGES: Final = "request "  # the beginning of the cause of a call that a page has made
# The facts of a ride, each with the words that a presenter would use for it. Facts that no page
# shows are left out.
FACTS: Final[dict[str, Text]] = {
    "vehicle_number": lazy("plate"),
    "driver_name": lazy("driver"),
    "driver_number": lazy("driver's phone"),
    "driver_rating": lazy("rating"),
    "vehicle_type": lazy("kind of car"),
    "vehicle_color": lazy("colour"),
    "car_model": lazy("model"),
    "position": lazy("position"),
    "bearing": lazy("direction"),
    "eta": lazy("time to go"),
    "distance": lazy("way to go"),
    "price": lazy("price lines"),
    "trip": lazy("bill"),
    "passengers": lazy("passengers"),
    "route": lazy("stops"),
    "share_ride_url": lazy("company's link"),
    "drop": lazy("drop"),
    "pickup": lazy("pickup"),
    "pickup_time": lazy("time of pickup"),
    "svc_money_balance": lazy("balance"),
}


def made_of(calls: Sequence[RecordedCall], kind: Kind | None = None) -> dict[int, str]:
    """Sentences for each call, by the call's number; "" for an unknown operation.

    `calls` are all calls of one ride of this kind, with their bodies, the earliest first.
    """
    ride = RideState(kind or Kind.POINT_TO_POINT)
    found: dict[int, str] = {}
    for call in calls:
        if call.operation == "track_ride" and not call.cause.startswith(PAGES):
            ride, found[call.number] = _followed(ride, call)
        else:
            found[call.number] = _conclusion(call)
        if call.operation == "create":
            ride = _begun(ride, call)
    return found


def _conclusion(call: RecordedCall) -> str:
    if call.operation == "create":
        return _of_create(_created(call))
    if call.operation == "products":
        return _of_products(call)
    if call.operation in ACTIONS:
        return _of_action(call)
    if call.operation == "track_ride":
        return _("Read by whoever asked. The ride keeps the facts that the worker brings.")
    if call.operation != "feedback_options":
        return ""
    if call.failed:
        return _no_facts()
    return _("The words for ratings come from it.")


def _answer(call: RecordedCall, side: Side) -> Answer:
    return Answer(call.status or 0, side.headers, side.body.encode())


def _error(call: RecordedCall) -> ServiceError:
    """The error of a call without a readable answer, as the client raised it."""
    if call.outcome == "held" and Throttled.LIMITED in call.failure:
        return Throttled(Throttled.LIMITED, 0)
    if call.outcome == "held":
        return Throttled(Throttled.SILENT, 0)
    return NoAnswer(call.failure, sent=call.outcome != "not_sent")


def _created(call: RecordedCall) -> Outcome:
    """What the answer to create proves."""
    reference = str(object_in(call.request.body).get("merchant_txn_id", ""))
    answer: CreateAnswer | Exception
    if call.outcome == "unreadable":
        answer = CreateAnswer(http_status=call.status or 0, unread=True)
    elif call.status is None:
        answer = _error(call)
    else:
        answer = create_answer_of(_answer(call, call.answer))
    return classify(answer, reference)


def _of_create(outcome: Outcome) -> str:
    state = outcome.state
    code = outcome.code or ""
    proof = {
        OrderState.BOOKED: _("Accepted, because it names a booking id."),
        OrderState.MATCHING: _("Accepted, and still searching: it names a txn_id alone."),
        OrderState.REJECTED: _("Refused, because of its code %(code)s.", code=code),
        OrderState.NOT_SENT: _("Nothing was booked, because %(why)s.", why=_why(code)),
        OrderState.UNKNOWN: _("Unknown, because %(why)s.", why=_why(code)),
    }.get(state, "")
    then = _("The order is now %(state)s.", state=state)
    if outcome.retry:
        then = _("The order may be sent once more.")
    elif state is OrderState.UNKNOWN:
        then = _("The order is now UNKNOWN: nobody books again before a person has looked.")
    return f"{proof} {then}"


def _why(code: str) -> str:
    return {
        NO_CONNECTION: _("no connection was made"),
        RATE_LIMITED: _("too many calls were made"),
        RECONNECT: _("the token was refused"),
        NO_ANSWER: _("the request left and no answer came"),
        CONTRADICTION: _("the answer contradicts itself"),
    }.get(code, _("the answer proves neither a booking nor a refusal"))


def _begun(ride: RideState, call: RecordedCall) -> RideState:
    outcome = _created(call)
    if not (outcome.booking_id or outcome.txn_id):
        return ride
    return RideState(ride.kind, booking_id=outcome.booking_id, txn_id=outcome.txn_id)


def _of_products(call: RecordedCall) -> str:
    try:
        if call.status is None:
            raise _error(call)
        listed = ProductList.from_wire(object_of(_answer(call, call.answer))).products
    except Refused as error:
        return _("Refused with %(code)s: no car is shown.", code=error)
    except ServiceError:
        return _("No car is shown: no clear answer came.")
    priced = sum(each.estimate is not None or each.share is not None for each in listed)
    return _("Cars read: %(n)d, with a price: %(priced)d.", n=len(listed), priced=priced)


def _of_action(call: RecordedCall) -> str:
    try:
        if call.status is None:
            raise _error(call)
        done = Done.from_wire(success_of(_answer(call, call.answer)))
        result = ActionResult("done", done.code)
    except ServiceError as error:
        result = result_of_error(error)
    return {
        "done": _("Done: the service confirms it."),
        "refused": _("Refused, because of %(code)s. The ride goes on.", code=result.code or "?"),
        "unconfirmed": _("Not clear. The worker reads back what came of it."),
        "not_sent": _("Nothing was changed: the request did not reach the service."),
    }[result.outcome]


def _followed(ride: RideState, call: RecordedCall) -> tuple[RideState, str]:
    """The ride after an answer of track_ride, or several equal ones, and what we conclude."""
    if call.first is None:
        return _merged(ride, call, call.answer, call.began)
    ride, first = _merged(ride, call, call.first, call.began)
    ride, _last = _merged(ride, call, call.answer, call.ended)
    again = _("The same again: %(n)d answers in a row.", n=call.same)
    return ride, f"{first} {again}"


def _merged(ride: RideState, call: RecordedCall, side: Side, at: datetime) -> tuple[RideState, str]:
    if call.cut:
        return ride, _("Too long to be judged here: only its beginning is kept.")
    try:
        if call.status is None:
            raise _error(call)
        snapshot = snapshot_of(_answer(call, side))
    except Refused as error:
        return ride, _("Refused with %(code)s: the facts of before stay.", code=error)
    except ServiceError:
        return ride, _no_facts()
    merged = merge(ride, snapshot, ride.merged_seq + 1, at)
    return merged.ride, " ".join(_of_merge(ride, merged, snapshot))


def _no_facts() -> str:
    return _("No facts came: those of before stay, and grow older.")


def _of_merge(before: RideState, merged: Merged, snapshot: Snapshot) -> Iterator[str]:
    names = {event.name for event in merged.events}
    ride = merged.ride
    sent = snapshot.booking_status or ""
    if merging.OTHER_BOOKING in names:
        yield _("Not believed: it is about another booking.")
        return
    if merging.AFTER_END in names:
        yield _("Not shown: the ride is over.")
        return
    if ride.back_status and ride.back_status != before.back_status:
        yield _("Not believed yet: a step back to %(status)s must come twice.", status=sent)
        return
    if merging.STATUS in names:
        yield _("The ride is now %(status)s.", status=ride.status)
    else:
        yield _("The ride is still %(status)s.", status=ride.status or "–")
    if merging.UNKNOWN_STATUS in names:
        yield _("%(status)s is not in the document: the last known one stays.", status=sent)
    if merging.HANDOVER in names and before.txn_id:
        yield _("Its booking id has come.")
    if merging.DRIVER_LOST in names:
        yield _("The driver has left.")
    if merging.CAR_SWAPPED in names:
        yield _("Another car comes: desk and guest are told.")
    yield from _of_facts(_shown(before), _shown(ride))


def _shown(ride: RideState) -> dict[str, Any]:
    """The facts that pages show, by their names; unknown facts are left out."""
    facts = {name: getattr(ride.facts, name) for name in FACTS}
    named = {str(FACTS[name]): value for name, value in facts.items() if value not in (None, ())}
    if ride.otp:
        named[_("start code")] = ride.otp
    return named


def _of_facts(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    fresh = [name for name in new if name not in old]
    other = [name for name in new if name in old and new[name] != old[name]]
    gone = [name for name in old if name not in new]
    if fresh:
        yield _("New: %(facts)s.", facts=with_pauses(*fresh))
    if other:
        yield _("Changed: %(facts)s.", facts=with_pauses(*other))
    if gone:
        yield _("Gone: %(facts)s.", facts=with_pauses(*gone))
    if not (fresh or other or gone):
        yield _("Nothing else is new.")
