"""The transitions that an order may make, and the actions that people may take now. Pure.

See docs/booking-protocol.md 1.5 and 1.6.
"""

from dataclasses import dataclass
from typing import Final

from ridedash import wire
from ridedash.store.models.orders import OrderState

TRANSITIONS: Final[dict[OrderState, frozenset[OrderState]]] = {
    # UNKNOWN: only in a restored database (docs/booking-protocol.md 1.7)
    OrderState.SCHEDULED: frozenset({OrderState.READY, OrderState.NOT_SENT, OrderState.UNKNOWN}),
    OrderState.WAITING: frozenset({OrderState.READY, OrderState.NOT_SENT, OrderState.UNKNOWN}),
    OrderState.READY: frozenset({OrderState.SENDING, OrderState.NOT_SENT, OrderState.UNKNOWN}),
    OrderState.SENDING: frozenset(
        {
            OrderState.BOOKED,
            OrderState.MATCHING,
            OrderState.REJECTED,
            OrderState.NOT_SENT,
            OrderState.UNKNOWN,
            OrderState.READY,
        }
    ),
    OrderState.UNKNOWN: frozenset(
        {OrderState.BOOKED, OrderState.MATCHING, OrderState.REJECTED, OrderState.CLOSED_NOT_BOOKED}
    ),
    OrderState.MATCHING: frozenset({OrderState.BOOKED, OrderState.FAILED}),
    OrderState.CLOSED_NOT_BOOKED: frozenset({OrderState.BOOKED, OrderState.UNKNOWN}),
    OrderState.BOOKED: frozenset(),
    OrderState.REJECTED: frozenset(),
    # SCHEDULED, WAITING: a withdrawal is undone. UNKNOWN: in a restored database, if it was undone
    # after the backup
    OrderState.NOT_SENT: frozenset({OrderState.SCHEDULED, OrderState.WAITING, OrderState.UNKNOWN}),
    OrderState.FAILED: frozenset(),
}
# nothing was sent yet
UNSENT: Final = frozenset({OrderState.SCHEDULED, OrderState.WAITING, OrderState.READY})
# a worker sends the order, or is about to
BEING_SENT: Final = frozenset({OrderState.READY, OrderState.SENDING})
# the service has accepted the order
ACCEPTED: Final = frozenset({OrderState.BOOKED, OrderState.MATCHING})
FAILED_STATES: Final = frozenset({OrderState.REJECTED, OrderState.NOT_SENT, OrderState.FAILED})
# nothing is booked, as far as we know
WITHOUT_RIDE: Final = FAILED_STATES | {OrderState.CLOSED_NOT_BOOKED}
ABORTABLE: Final = wire.SEARCHING
FEEDBACK_CALLS: Final = 3  # a lost rating harms no one, so it is not repeated for long
REPEATABLE: Final = ("armed", "unconfirmed")  # states of an action that the worker may call


class BadTransition(Exception):
    """The protocol does not have the transition that an order was about to make."""


@dataclass(frozen=True)
class ActionAllowed:
    """An action that a page may offer.

    `note` is the reason why the action is not allowed, or why a cancel can only be armed. It is a
    constant below, for which wording/ has the words; "" if there is none.
    """

    # release, ordered, start, change, withdraw, abort, cancel, drop, feedback, again, resolve, arm,
    # reopen
    name: str
    allowed: bool
    note: str = ""


# the service has given no booking id yet; without one, no ride can be stopped
NO_BOOKING_ID: Final = "no_booking_id"
ARMED: Final = "armed"  # a cancel is waiting for the booking id
TOO_LATE: Final = "too_late"  # a driver is allotted: too late for abort, but cancel may be possible
ON_TRIP: Final = "on_trip"
ENDED: Final = "ended"
GIVEN: Final = "given"  # feedback was sent


def has_failed(order_state: OrderState, status: str | None) -> bool:
    """Whether a new order may replace this one.

    True if nothing is booked, and if the booking ended in a status other than COMPLETED. True also
    for an order of unknown outcome, which a person may decide to book again.
    """
    if order_state != OrderState.BOOKED:
        return order_state == OrderState.UNKNOWN or order_state in WITHOUT_RIDE
    return status in wire.TERMINAL and status != wire.COMPLETED


def may_cancel(status: str | None, kind: wire.Kind) -> bool:
    """Whether a cancel is offered: while there is a driver and the ride has not started.

    Whether it is possible is the service's decision, not ours.
    """
    return status in wire.BEFORE_RIDE and not (status == wire.INVOICE and kind is wire.Kind.AUTO)


def is_allowed(a: OrderState, b: OrderState) -> bool:
    """Whether an order may go from `a` to `b`."""
    return b in TRANSITIONS[a]


def actions(
    order_state: OrderState,
    status: str | None,
    kind: wire.Kind,
    booking_id: str | None,
    armed: bool,
    feedback_given: bool = False,
) -> tuple[ActionAllowed, ...]:
    """The actions that pages show to staff, allowed or not, in the order of their buttons.

    `status` is the last known booking_status (None before the first poll), `armed` whether a cancel
    is armed.
    """
    by_state: dict[OrderState, tuple[ActionAllowed, ...]] = {
        OrderState.SCHEDULED: (ActionAllowed("change", True), ActionAllowed("withdraw", True)),
        OrderState.WAITING: (ActionAllowed("start", True), ActionAllowed("withdraw", True)),
        OrderState.READY: (ActionAllowed("withdraw", True),),
        OrderState.SENDING: (),
        OrderState.UNKNOWN: (ActionAllowed("resolve", True),),
        OrderState.CLOSED_NOT_BOOKED: (ActionAllowed("reopen", True), ActionAllowed("again", True)),
        OrderState.REJECTED: (ActionAllowed("again", True),),
        OrderState.NOT_SENT: (ActionAllowed("again", True),),
        OrderState.FAILED: (ActionAllowed("again", True),),
        OrderState.MATCHING: (_arm(armed),),
    }
    if order_state in by_state:
        return by_state[order_state]
    return _ride_actions(status, kind, booking_id, armed, feedback_given)


def held_actions(order_state: OrderState = OrderState.SCHEDULED) -> tuple[ActionAllowed, ...]:
    """The actions for a ride that is held after a restore of the database.

    A ride that waits for its guest (WAITING) can't be changed.
    """
    names = ["release", "ordered", "change", "withdraw"]
    if order_state == OrderState.WAITING:
        names.remove("change")
    return tuple(ActionAllowed(name, True) for name in names)


def _arm(armed: bool) -> ActionAllowed:
    return ActionAllowed("arm", not armed, ARMED if armed else NO_BOOKING_ID)


def _ride_actions(
    status: str | None, kind: wire.Kind, booking_id: str | None, armed: bool, feedback_given: bool
) -> tuple[ActionAllowed, ...]:
    if status == wire.COMPLETED and booking_id is None:
        return ()  # feedback needs the booking id
    if status == wire.COMPLETED:
        return (ActionAllowed("feedback", not feedback_given, GIVEN if feedback_given else ""),)
    if status in wire.TERMINAL:
        return (ActionAllowed("again", True),)
    if booking_id is None:
        return (_arm(armed),)
    if status == wire.INVOICE and kind is wire.Kind.AUTO:
        return ()
    if status is None or status in ABORTABLE:
        stop = ActionAllowed("abort", True)
    elif may_cancel(status, kind):
        stop = ActionAllowed("cancel", True)
    else:
        stop = ActionAllowed("cancel", False, ON_TRIP)
    return ActionAllowed("drop", True), stop
