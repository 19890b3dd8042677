"""The words of refusals: every code of the service, and our own codes (docs/wording.md 5).

The service's codes are those of docs/service-interface.md, Errors, and of docs/field-notes.md. Each
entry says what happened, what it means, and one next step. A headline never contains a code, and
words for guests never mention accounts. For translators, `T: critical` marks the texts about money,
safety or a second booking (docs/languages.md).
"""

from dataclasses import dataclass
from typing import Final

from ridedash import wire
from ridedash.wording.say import Audience, Text, say
from ridedash.wording.say import lazy as _


@dataclass(frozen=True)
class Refusal:
    """What happened, why, and the next step.

    `quote` is the service's own message; "" if it sent none. A refusal for which we have no words
    of its own then quotes the code.
    """

    headline: str
    why: str
    next_step: str
    quote: str = ""


@dataclass(frozen=True)
class _Entry:
    headline: Text
    why: Text
    next_step: Text
    guest: Text
    code_quoted: bool = False  # in place of a message, if the service sent none


_ASK: Final = _("We can't book this here. Please ask our staff")
# T: critical
_ASK_PAYMENT: Final = _("Please ask our staff about payment")

_CAR_TYPE: Final = _Entry(
    _("This car type isn't offered here"),
    _("The ride company does not take it for this pickup."),
    _("Pick another car; the list is reloaded."),
    _("That car isn't available. Choose another"),
)
_OTHER_CITY: Final = _Entry(
    _("The drop is in another city"),
    _("City rides stay inside one city."),
    _("Use an outstation car, or choose a nearer drop."),
    _("That's outside the city. Choose another place"),
)
_INVALID_DROP: Final = _Entry(
    _("The ride company does not take this drop"),
    _("It may be too far away for this car."),
    _("Use an outstation car, or choose a nearer drop."),
    _("Choose a different drop"),
)
_OUR_KEY: Final = _Entry(
    _("Not booked"),
    _("The ride company refused this desk's key."),
    _("Ask the manager to check the link to the ride company."),
    _ASK,
)

_CREATE: Final[dict[str, _Entry]] = {
    wire.INVALID_CAR_CATEGORY: _CAR_TYPE,
    wire.INVALID_CITY_CAR_CATEGORY: _CAR_TYPE,
    wire.INVALID_CITY: _Entry(
        _("No service at this pickup"),
        _("It lies outside the cities that the ride company covers."),
        _("Check the pin, or call a local cab."),
        _("We can't pick up from here. Please ask our staff"),
    ),
    wire.SAME_PICKUP_DROP: _Entry(
        _("Pickup and drop are the same"),
        _("A ride needs two places."),
        _("Change the drop."),
        _("Choose a different drop"),
    ),
    wire.BANNED_USER: _Entry(
        _("The ride company blocked this account"),
        _("That is the ride company's decision."),
        _("Use the house account, or contact partner support."),
        _ASK,
    ),
    wire.OUTSTANDING_DUE: _Entry(
        _("The account owes for an earlier ride"),
        _("An earlier ride is unpaid."),
        _("The guest settles it in the ride app; then try again, or use the house account."),
        _ASK_PAYMENT,
    ),
    wire.PAYMENT_PENDING: _Entry(
        _("A payment of the account is open"),
        _("The ride company waits for it."),
        _("The guest settles it in the ride app; then try again, or use the house account."),
        _ASK_PAYMENT,
    ),
    wire.SVC_CREDIT_DUE: _Entry(
        _("The account has credit to repay"),
        _("The ride company wants its credit back first."),
        _("The guest settles it in the ride app; then try again, or use the house account."),
        _ASK_PAYMENT,
    ),
    wire.INVALID_DROP_LOCATION: _INVALID_DROP,
    "OTHER_CITY": _OTHER_CITY,
    wire.NO_CABS_AVAILABLE: _Entry(
        _("No car is free right now"),
        _("The ride company has none for this ride."),
        _("Try again in a few minutes, or pick another car."),
        _("No car right now. Other cars may be free"),
    ),
    wire.INVALID_PARTNER_KEY: _OUR_KEY,
    wire.RATE_LIMIT: _Entry(
        _("Too many requests at once"),
        _("The ride company asked us to wait. Nothing was booked."),
        _("Book again in a moment."),
        _("One moment…"),
    ),
    "FARE_EXPIRED": _Entry(
        _("The fixed price has run out"),
        _("A fixed price holds for a few minutes. Nothing was booked."),
        _("Fix and try again: the price is fetched anew."),
        # T: critical
        _("The price has changed. Choose again"),
    ),
    "FARE_CHANGED": _Entry(
        # T: critical
        _("The price changed[ from {old} to {new}]"),
        _("Nothing was booked."),
        _("Accept the new price, or go back."),
        _("The price changed[ from {old} to {new}]"),
    ),
    "SHARE_NONE": _Entry(
        _("No shared ride that way now"),
        _("Or the place isn't served by shared rides."),
        _("Book the same trip with another car."),
        _("No shared ride right now. Other cars:"),
        code_quoted=True,
    ),
    "NOT_SENT": _Entry(
        _("Not booked: we never reached the ride company"),
        _("There is nothing to pay."),
        _("Book again; the price is checked once more."),
        # T: critical
        _("Not booked. Try again"),
    ),
    "EXPIRED": _Entry(
        _("Not booked: it was not sent in time"),
        _("No late car comes."),
        _("Book again; the price is checked once more."),
        _("Not booked. Try again"),
    ),
    "ACCOUNT": _Entry(
        _("The account needs reconnecting"),
        _("The ride company no longer accepts our link to it. Nothing was booked."),
        _("Ask the manager to reconnect it, or use another account."),
        _("Please ask our staff"),
    ),
    "KEY_MISSING": _Entry(
        _("ridedash can't read its link to this account"),
        _("A key is missing from the settings of ridedash. Nothing was booked."),
        _("Tell whoever runs ridedash; the account itself is well. Or use another account."),
        _("Please ask our staff"),
    ),
    "NOT_BUILT": _Entry(
        _("Not booked: the request could not be made"),
        _("There is nothing to pay."),
        _("Fix and try again; if it stays, ask the manager."),
        # T: critical
        _("Not booked. Please ask our staff"),
    ),
    "NO_JOURNAL": _Entry(
        _("Not booked: ridedash could not write to its disk"),
        _("It sends nothing that it can't note down first."),
        _("Try again in a minute; if it stays, tell whoever runs ridedash."),
        _("Not booked. Please ask our staff"),
    ),
    "WITHDRAWN": _Entry(
        _("Cancelled before it was booked"),
        _("It costs nothing."),
        _("Book again when the guest is ready."),
        # T: critical
        _("It was not booked, so it costs nothing"),
    ),
    "PLAN_MISSED": _Entry(
        _("Not booked: the planned time has passed"),
        _("It could not be sent in time."),
        _("Book again; the price is checked once more."),
        _("Not booked. Please ask our staff"),
    ),
    "START_MISSED": _Entry(
        _("The guest did not start it in time"),
        _("Nothing was booked, so it costs nothing."),
        _("Book again when the guest is ready."),
        _("The time to start it is over. Please ask at the desk"),
    ),
    "NO_DB": _Entry(
        _("ridedash can't save right now, so it won't book"),
        _("Nothing was booked."),
        _("Try again in a minute, or call the cab desk."),
        # T: critical
        _("Out of order, please ask our staff"),
    ),
}

_RIDE: Final[dict[str, _Entry]] = {
    wire.BOOKING_ALLOTED: _Entry(
        _("Too late to stop: a driver accepted"),
        _("The ride is on."),
        _("Cancel the ride instead[ ({fee} may apply)]."),
        # T: critical
        _("A driver has accepted. Cancel anyway?"),
    ),
    wire.HEADER_INVALID_DROP: _Entry(
        _("Drop not changed: the ride company does not take that place"),
        _("Still going to {drop}."),
        _("Choose another place."),
        _("That was not possible. Please ask our staff"),
    ),
    wire.HEADER_OOPS: _Entry(
        _("Drop not changed: the ride company refused"),
        _("A drop can change only while a ride is live."),
        _("If the ride is on, call the driver; if it is over, book a new one."),
        _("That was not possible. Please ask our staff"),
    ),
    wire.CANCELLATION_NOT_ALLOWED: _Entry(
        _("Can't be cancelled now"),
        _("The ride company keeps the ride."),
        _("Call the driver or support."),
        # T: critical
        _("Can't be cancelled now. Please ask our staff"),
        code_quoted=True,
    ),
    wire.BOOKING_ALREADY_CANCELLED: _Entry(
        _("Already cancelled"),
        _("The ride company had ended this ride before."),
        _("Nothing more to do."),
        _("Ride cancelled"),
    ),
    wire.RIDE_IN_PROGRESS: _Entry(
        _("Can't be cancelled: the guest is on the trip"),
        _("The ride has started."),
        _("Call the driver if it must stop."),
        _("Can't be cancelled now. Please ask our staff"),
    ),
    wire.BOOKING_ALREADY_COMPLETED: _Entry(
        _("Too late: the ride is over"),
        _("The ride company has closed it."),
        _("See the price below."),
        _("You have arrived"),
    ),
    "BUSY": _Entry(
        _("Asked a moment ago"),
        _("The ride company has not answered yet."),
        _("Wait a few seconds before you ask again."),
        _("One moment…"),
    ),
    "RIDE_ENDED": _Entry(
        _("The ride has ended"),
        _("The ride company reports its end."),
        _("Nothing more to do."),
        _("This ride is over"),
    ),
    "ALREADY_GIVEN": _Entry(
        _("Feedback was sent before"),
        _("The ride company takes it once per ride."),
        _("Nothing more to do."),
        _("Thank you"),
    ),
    wire.NO_BOOKING: _Entry(
        _("The ride company doesn't know this booking"),
        _("Its number may be wrong, or very old."),
        _("Check the number, or contact support with the reference."),
        _("Please ask our staff"),
    ),
    wire.INVALID_PARTNER_KEY: _Entry(
        _("The ride company refused this desk's key"),
        _("Nothing has changed."),
        _("Ask the manager to check the link to the ride company."),
        _("That was not possible. Please ask our staff"),
    ),
    wire.RATE_LIMIT: _Entry(
        _("The ride company wants no more questions just now"),
        _("Nothing has changed."),
        _("Try again, or call the driver."),
        _("That was not possible. Please ask our staff"),
    ),
}

_OTHER: Final = _Entry(
    _("Not booked"),
    _("There is nothing to pay."),
    _("Try again, or copy the text for support."),
    _("Not booked. Please ask our staff"),
    code_quoted=True,
)
_OTHER_RIDE: Final = _Entry(
    _("The ride company refused"),
    _("Nothing has changed."),
    _("Try again, or call the driver."),
    # T: critical
    _("That was not possible. Please ask our staff"),
    code_quoted=True,
)

_ALIASES: Final = {
    "NO_CONNECTION": "NOT_SENT",
    "RECONNECT": "ACCOUNT",
    "RATE_LIMITED": wire.RATE_LIMIT,
}
_CREATE.update({alias: _CREATE[code] for alias, code in _ALIASES.items()})
_OF_ORDERS: Final = {wire.normal_code(code): entry for code, entry in _CREATE.items()}
_OF_RIDES: Final = {wire.normal_code(code): entry for code, entry in _RIDE.items()}


def refusal(
    code: str | None,
    audience: Audience,
    *,
    message: str | None = None,
    ordering: bool = True,
    **facts: str | None,
) -> Refusal:
    """The words for a refusal by the service or by us.

    `code` is the service's or our own, or, of a refused change of the drop, the `header` in the
    body of the answer. `ordering`: whether a booking was refused, or an action on a ride. Facts:
    fee, drop, old, new. Staff read the service's `message` too, wherever it says something.
    """
    entry = _entry(code, ordering)
    if audience is Audience.GUEST:
        return Refusal(say(entry.guest, facts), "", "")
    quote = wire.said(message)
    if entry.code_quoted:
        quote = quote or code or ""
    return Refusal(
        say(entry.headline, facts), say(entry.why, facts), say(entry.next_step, facts), quote
    )


def _entry(code: str | None, ordering: bool) -> _Entry:
    normal = wire.normal_code(code or "")
    if ordering:
        return _OF_ORDERS.get(normal) or _OF_RIDES.get(normal, _OTHER)
    return _OF_RIDES.get(normal) or _OF_ORDERS.get(normal, _OTHER_RIDE)
