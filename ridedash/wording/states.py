"""The words of booking statuses and order states.

See docs/wording.md 4 and docs/booking-protocol.md 1.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ridedash import wire
from ridedash.wire import Kind
from ridedash.wording.say import Audience, Text, Words, say
from ridedash.wording.say import lazy as _

Facts = Mapping[str, str | None]


@dataclass(frozen=True)
class _Entry:
    """A row of the table: tone, icon, and headline and line below for staff and for guests."""

    tone: str
    icon: str
    staff: Text
    staff_detail: Text
    guest: Text
    guest_detail: Text


_FARE_SET: Final = _Entry(
    "ok",
    "here",
    _("Driver is here, fare set[: {fare}]"),
    _("Not started yet. The guest tells the driver the code."),
    (_("Fare {fare}. Tell the driver your code"), _("Tell the driver your code")),
    _("The ride has not started yet"),
)
_BILL: Final = _Entry(
    "ok",
    "money",
    (_("Ride over, bill ready: {payable}"), _("Ride over")),
    "{pays}",
    (
        # T: critical
        _("Your bill: {payable}"),
        _("You have arrived"),
    ),
    "{guest_pays}",
)

_STATUSES: Final[dict[str, _Entry]] = {
    wire.ALLOTMENT_PENDING: _Entry(
        "info",
        "search",
        _("Finding a driver"),
        _("Usually under a minute."),
        _("Finding your driver"),
        _("Usually under a minute"),
    ),
    wire.PENDING: _Entry(
        "info",
        "search",
        _("Finding an auto"),
        _("Usually under a minute."),
        _("Finding your auto"),
        _("Usually under a minute"),
    ),
    wire.ALLOTMENT_RETRYING: _Entry(
        "warn",
        "search",
        _("Driver cancelled, finding another"),
        _("Happens at most once per ride.[ {forget}.]"),
        _("Your driver had to cancel. Finding another"),
        ("{forget}", _("Usually under a minute")),
    ),
    wire.SOFT_ALLOCATED: _Entry(
        "info",
        "search",
        _("In the queue for a car"),
        _("The ride company holds a place in its queue; the car is named later."),
        _("You are in the queue for a car"),
        _("Your car is named soon"),
    ),
    wire.CALL_DRIVER: _Entry(
        "info",
        "coming",
        _("Driver on the way[\u00a0· {eta}]"),
        _("Meet at {pickup}."),
        (
            _("{driver} arrives in {eta}"),
            _("Your driver arrives in {eta}"),
            _("Your driver is on the way"),
        ),
        _("Meet at {pickup}"),
    ),
    wire.CLIENT_LOCATED: _Entry(
        "ok",
        "here",
        _("Driver is here"),
        _("At {pickup}. Check the plate; the guest tells the driver the code."),
        _("Your driver is here"),
        # T: critical
        _("Check the plate, tell the driver the code"),
    ),
    wire.INVOICE: _FARE_SET,
    wire.IN_PROGRESS: _Entry(
        "ok",
        "riding",
        _("On trip[\u00a0· {left}]"),
        _("To {drop}."),
        _("On your way"),
        ("{left_line}", _("To {drop}")),
    ),
    wire.COMPLETED: _Entry(
        "ok",
        "done",
        _("Completed[\u00a0· {fare}]"),
        "{price_told}",
        _("You have arrived[. {fare}]"),
        _("Thank you for riding"),
    ),
    wire.ALLOTMENT_FAILED: _Entry(
        "warn",
        "needs",
        _("No driver found"),
        _("No ride, nothing to pay to a driver. Try again, or take another car."),
        _("No driver found this time"),
        # T: critical
        _("No ride, nothing to pay to a driver"),
    ),
    wire.BOOKING_CANCELLED: _Entry(
        "quiet",
        "cancelled",
        _("Cancelled[ by {who}]"),
        (
            _("A fee of {fee} may be charged.[ {said}]"),
            "{free}[ {said}]",
            _("This ride is over.[ {said}]"),
        ),
        _("Ride cancelled"),
        (
            # T: critical
            _("A fee of {fee} may be charged"),
            "{free}",
            _("This ride is over"),
        ),
    ),
}

_NO_STATUS_YET: Final = _Entry(
    "info",
    "search",
    _("Booked[\u00a0· {booking_id}]"),
    _("Waiting for the first news of the ride."),
    _("Booked"),
    _("Waiting for the first news of your ride"),
)

# words for an order in a restored database, by its state
_RESTORED: Final[dict[str, _Entry]] = {
    "SCHEDULED": _Entry(
        "warn",
        "needs",
        _("Planned for {due}: waits for you"),
        _("The database was restored: it may have been booked already. Decide below."),
        _("Your ride is planned"),
        _("For {due}"),
    ),
    "WAITING": _Entry(
        "warn",
        "needs",
        _("A ride that the guest starts: waits for you"),
        _("The database was restored: it may have been started already. Decide below."),
        _("Please ask at the desk"),
        _("Your ride can't be started from here just now"),
    ),
    "UNKNOWN": _Entry(
        "unknown",
        "unknown",
        _("We don't know if this ride was booked"),
        _(
            "The database was restored, and this booking may have been sent[ at {asked}]. Do not "
            "book again yet."
        ),
        # T: critical
        _("We are checking your booking with our team"),
        # T: critical
        _("Please don't book again"),
    ),
}

_ORDERS: Final[dict[str, _Entry]] = {
    "SCHEDULED": _Entry(
        "quiet",
        "waiting",
        _("Planned for {due}"),
        (
            _("Not booked yet; next try at {retry}."),
            _("The ride company is asked at {order_at}."),
        ),
        _("Your ride is planned"),
        _("For {due}"),
    ),
    "WAITING": _Entry(
        "quiet",
        "waiting",
        _("Waiting for the guest[ until {until}]"),
        (
            _("They start it by their link; above {ceiling} nothing is booked."),
            _("They start it by their link."),
        ),
        _("Your ride is ready when you are"),
        _("Press “I'm ready” in your link[ by {until}]"),
    ),
    "READY": _Entry(
        "info",
        "waiting",
        _("Sending request…"),
        _("Not sent yet."),
        _("Booking your ride…"),
        _("One moment"),
    ),
    "SENDING": _Entry(
        "info",
        "waiting",
        _("Waiting for the ride company"),
        _("Usually 2 s."),
        _("Booking your ride…"),
        _("One moment"),
    ),
    "BOOKED": _NO_STATUS_YET,
    "MATCHING": _Entry(
        "info",
        "search",
        _("Looking for a shared ride[\u00a0· next try {next_try}]"),
        _("No booking number yet, so it can't be stopped; it ends by itself[ at {ends}]."),
        _("Looking for a shared ride"),
        _("It ends by itself[ at {ends}] if no shared ride is found"),
    ),
    "REJECTED": _Entry(
        "bad",
        "cancelled",
        _("Not booked"),
        _("The ride company said no."),
        _("Not booked"),
        _("Please ask our staff"),
    ),
    "NOT_SENT": _Entry(
        "bad",
        "cancelled",
        _("Not booked: we never reached the ride company"),
        _("There is nothing to pay."),
        _("Not booked"),
        _("Please try again or ask at the desk"),
    ),
    "UNKNOWN": _Entry(
        "unknown",
        "unknown",
        _("We don't know if this ride was booked"),
        _("[Asked {asked}, ]no clear answer. Do not book again yet."),
        _("We are checking your booking with our team"),
        _("Please don't book again"),
    ),
    "CLOSED_NOT_BOOKED": _Entry(
        "quiet",
        "cancelled",
        _("Closed as not booked[ by {who}][ at {closed}]"),
        _("Kept for the invoice check."),
        _("Not booked"),
        _("Please ask our staff"),
    ),
    "FAILED": _Entry(
        "warn",
        "needs",
        _("No shared ride was found"),
        _("Nothing to pay to a driver. Other cars may be free."),
        _("No shared ride was found"),
        # T: critical
        _("Nothing to pay to a driver"),
    ),
}

_STEPS: Final[dict[str, Text]] = {
    wire.ALLOTMENT_PENDING: _("Finding"),
    wire.PENDING: _("Finding"),
    wire.CALL_DRIVER: _("On the way"),
    wire.CLIENT_LOCATED: _("Here"),
    wire.INVOICE: _("Fare set"),
    wire.IN_PROGRESS: _("On trip"),
    wire.COMPLETED: _("Done"),
}


def status_words(status: str, kind: Kind, audience: Audience, facts: Facts) -> Words:
    """The words of a booking status that is known; otherwise of a booking without a status.

    A status that we do not know never becomes that of a ride (`rides/tracking/merge.py`).
    """
    if status == wire.INVOICE and kind is Kind.AUTO:
        return _words(_BILL, audience, facts)
    return _words(_STATUSES.get(status, _NO_STATUS_YET), audience, facts)


def order_words(state: str, audience: Audience, facts: Facts, *, restored: bool = False) -> Words:
    """The words of an order state, used as long as the ride has no status of its own.

    `restored`: the database was restored, and does not know whether the order was sent.
    """
    entry = _RESTORED.get(state) if restored else None
    return _words(entry or _ORDERS[state], audience, facts)


def status_step(status: str, kind: Kind) -> str:
    """One or two words for a step of the progress line."""
    if status == wire.INVOICE and kind is Kind.AUTO:
        return str(_("Bill"))
    return str(_STEPS.get(status, status))


def _words(entry: _Entry, audience: Audience, facts: Facts) -> Words:
    headline = entry.staff
    detail = entry.staff_detail
    if audience is Audience.GUEST:
        headline = entry.guest
        detail = entry.guest_detail
    return Words(say(headline, facts), say(detail, facts), entry.tone, entry.icon)
