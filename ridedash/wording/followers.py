"""The words for a follower of another person's ride: without places, prices and accounts."""

from collections.abc import Mapping
from typing import Final

from ridedash import wire
from ridedash.wire import Kind
from ridedash.wording.say import Text, say
from ridedash.wording.say import lazy as _

Sentence = tuple[Text, Text]  # headline and line below

_FINDING: Final = (_("Finding a driver for {guest}"), _("Usually under a minute"))
_HERE: Final = (_("The driver is waiting for {guest}"), _("The ride starts in a moment"))
_THERE: Final = (_("{guest} has arrived"), _("This ride is over"))
_NOTHING: Final = (_("No ride was booked"), _("Nobody is on the way"))

_STATUSES: Final[dict[str, Sentence]] = {
    wire.ALLOTMENT_PENDING: _FINDING,
    wire.PENDING: _FINDING,
    wire.ALLOTMENT_RETRYING: (
        _("Finding another driver for {guest}"),
        _("The first one had to cancel"),
    ),
    wire.SOFT_ALLOCATED: (_("{guest} is in the queue for a car"), _("The car is named soon")),
    wire.CALL_DRIVER: (_("A driver is on the way to {guest}"), _("[There in {eta}]")),
    wire.CLIENT_LOCATED: _HERE,
    wire.INVOICE: _HERE,
    wire.IN_PROGRESS: (_("{guest} is on the way"), "[{left_line}]"),
    wire.COMPLETED: _THERE,
    wire.ALLOTMENT_FAILED: (_("No driver was found for {guest}"), _("This ride is over")),
    wire.BOOKING_CANCELLED: (_("The ride was cancelled"), _("This ride is over")),
}
_BOOKED: Final = (_("A ride is booked for {guest}"), _("Waiting for the first news"))
_ORDERS: Final[dict[str, Sentence]] = {
    "WAITING": (
        _("A ride waits for {guest}"),
        (
            _("It is booked only when {starter} presses “I'm ready”"),
            _("It is not booked yet"),
        ),
    ),
    "SCHEDULED": (_("A ride is planned for {guest}"), _("[For {due}]")),
    "READY": (_("Booking a ride for {guest}"), _("One moment")),
    "SENDING": (_("Booking a ride for {guest}"), _("One moment")),
    "BOOKED": _BOOKED,
    "MATCHING": (_("Looking for a shared ride for {guest}"), _("This can take some minutes")),
    "UNKNOWN": (
        # T: critical
        _("The team is checking the booking"),
        _("This page tells what comes of it"),
    ),
    "REJECTED": _NOTHING,
    "NOT_SENT": _NOTHING,
    "CLOSED_NOT_BOOKED": _NOTHING,
    "FAILED": (_("No shared ride was found"), _("Nobody is on the way")),
}


def follower_words(
    state: str, status: str | None, kind: Kind, facts: Mapping[str, str | None]
) -> tuple[str, str]:
    """The headline and the line below.

    Facts: guest (a first name), starter (the same name, but only while the guest may start the
    ride), eta, left_line, due.

    Tone and icon are the same as on the guest's own page.
    """
    if status is None:
        headline, detail = _ORDERS[state]
    elif status == wire.INVOICE and kind is Kind.AUTO:
        headline, detail = _THERE
    else:
        headline, detail = _STATUSES.get(status, _BOOKED)
    return say(headline, facts), say(detail, facts)
