"""The words of attention items, and the reasons why a planned or waiting ride was not ordered."""

from typing import Final

from ridedash.wording.codes import refusal
from ridedash.wording.say import Audience, Text, say
from ridedash.wording.say import lazy as _

_REASONS: Final[dict[str, Text]] = {
    "NO_CONNECTION": _("The ride company could not be reached."),
    "NO_ANSWER": _("The ride company gave no clear answer."),
    "RATE_LIMITED": _("The ride company asked us to wait."),
    "RECONNECT": _("The account needs reconnecting: ask the manager, or choose another account."),
    "KEY_MISSING": _(
        "ridedash can't read its link to the account: tell whoever runs ridedash that a key is "
        "missing."
    ),
    "NOT_BUILT": _("The request could not be made."),
    "EXPIRED": _("It was ready, and was not sent in time."),
    "START_ABOVE": _("The price is above the ceiling now."),
    "START_METERED": _("The price was fixed, and is by the meter now."),
    "START_HELD": _("The database was restored, so the ride waits for a decision."),
    "PLAN_CAR_GONE": _("This car type isn't offered there now: choose another."),
    "PLAN_NO_PRICE": _("The ride company gave no price for this car."),
    "PLAN_GUARD_BUSY": _("The guest already has a ride from there."),
    "PLAN_CLOCK": _(
        "The clock of ridedash is not the ride company's: tell whoever runs ridedash to set it."
    ),
    "PLAN_NO_BOX": _("ridedash could not keep the answer on its disk, so it asked nothing."),
    "PLAN_NO_WORKER": _("ridedash's worker was not running at the time."),
    "PLAN_REFUSED": _("The ride company refused, without saying why."),
}

# the doorman's marks, in words for staff
_AT_DOOR: Final[dict[str, Text]] = {
    "in": _("The guest is in the car"),
    "away": _("The guest is not at the door"),
}


# what guests read for some codes of _REASONS, if their press of “I'm ready” ordered nothing
_GONE: Final = _("This car can't be had here just now. Nothing was booked. Please ask at the desk.")
_LATER: Final = _(
    "The ride company can't be asked just now. Nothing was booked. Try again in a minute, or ask "
    "at the desk."
)
# T: critical
_ASK_DESK: Final = _("Nothing was booked. Please ask at the desk.")

_FOR_GUESTS: Final[dict[str, Text]] = {
    "START_ABOVE": (
        _("It costs {price} now, more than {ceiling}. Nothing was booked. Please ask the desk."),
        _("It costs more than {ceiling} now. Nothing was booked. Please ask at the desk."),
    ),
    "START_METERED": _("The price is no longer fixed. Nothing was booked. Please ask at the desk."),
    "PLAN_CAR_GONE": _GONE,
    "PLAN_NO_PRICE": _("The price can't be told now. Nothing was booked. Please ask at the desk."),
    "PLAN_GUARD_BUSY": _(
        "You already have a ride from here. Nothing more was booked. Please ask at the desk."
    ),
    "NO_CONNECTION": _LATER,
    "NO_ANSWER": _LATER,
    "RATE_LIMITED": _LATER,
}


def reason_words(code: str | None) -> str:
    """A sentence for one of our own codes, or for a code of the service."""
    if code in _REASONS:
        return str(_REASONS[code])
    words = refusal(code, Audience.STAFF)
    return f"{words.headline}. {words.why}"


def not_started_words(code: str | None, price: str, ceiling: str) -> str:
    """What the guest reads if the last press of “I'm ready” ordered nothing; "" without a code.

    It does not mention accounts.
    """
    if not code:
        return ""
    return say(_FOR_GUESTS.get(code, _ASK_DESK), {"price": price, "ceiling": ceiling})


# attention items whose detail is a code for reason_words()
CODED: Final = frozenset({"not_ordered_yet", "not_started", "plan_failed"})
_KIOSK_LIMITS: Final[dict[str, Text]] = {
    "hourly": _("It takes 30 bookings an hour."),
    "live": _("As many of its rides as it may have wait for their guests."),
    "unclear": _("Three of its bookings have an unclear outcome."),
    "same_guest": _("There is a ride for that name or room already."),
}
_NO_BOOKING: Final = frozenset({"CONTRADICTION", "UNCLEAR"})  # details that name no booking
_ITEMS: Final[dict[str, tuple[Text, Text | tuple[Text, Text]]]] = {
    "no_driver": (
        _("No driver in time"),
        _("The ride company should have ended the search by now. We keep asking."),
    ),
    "not_known": (
        _("The ride company no longer knows this ride"),
        _("We ask less often. Call the driver or support."),
    ),
    "poison": (
        _("This ride's news can't be recorded"),
        _("We try again later. Call the driver for the latest."),
    ),
    "too_old": (_("This ride is older than a day"), _("We ask less often. Find out how it ended.")),
    "unknown_status": (
        _("The ride company used a word that we don't know"),
        _("What you see is the last we understood."),
    ),
    "car_swapped": (_("The car was swapped"), _("Tell the guest the new number plate.")),
    "driver_lost": (
        _("The driver cancelled"),
        (
            _("Tell the guest: {detail} does not come."),
            _("Tell the guest: the old number plate no longer holds."),
        ),
    ),
    "after_end": (
        _("News after the end"),
        _("The ride company reported “{detail}” after the ride ended."),
    ),
    "other_booking": (
        _("The ride company answered about another booking"),
        _("That answer was not used."),
    ),
    "contradiction": (
        _("The ride company's answers contradict each other"),
        (
            _(
                "One of them names booking {detail}: ask the ride company's support about that "
                "number."
            ),
            _("Check with the ride company's support."),
        ),
    ),
    "unknown": (_("We don't know if this ride was booked"), _("Do not book again yet.")),
    "not_ordered_yet": (
        _("This planned ride could not be booked yet"),
        _(
            "{detail} It is tried again until ten minutes after the pickup time. Change it, or "
            "find another way."
        ),
    ),
    "not_started": (
        _("Somebody pressed “I'm ready”, and nothing was booked"),
        _("{detail} Speak to the guest; cancel it here and book another car if need be."),
    ),
    "held": (
        _("Not booked: the database was restored"),
        _("Book it as planned, or say that it was booked already. Nothing happens by itself."),
    ),
    "plan_failed": (
        _("A planned ride was not booked"),
        _("{detail} The guest has no car: book again, or call one."),
    ),
    "kiosk_no_ticket": (
        _("A guest at the kiosk may have no ticket"),
        _("{detail}: the screen went away before it showed the ticket. Look for the guest."),
    ),
    "kiosk_ended_early": (
        _("Two rides of the kiosk ended before they began"),
        _("{detail}. For an hour the kiosk asks for a desk code, unless you end that here."),
    ),
    "kiosk_pins": (
        _("Five wrong PINs were typed for this ride"),
        _("The kiosk shows it again when somebody here has seen this. Its guest may come to you."),
    ),
    "kiosk_limit": (
        _("The kiosk refused one more ride"),
        _("{detail} Book it here if it is for one of your guests."),
    ),
    "late_double": (
        _("Two rides may exist for this guest"),
        _("A late answer came after “book again”."),
    ),
}


_VERBS: Final[dict[str, Text]] = {
    "late_double": _("Keep both"),
    "car_swapped": _("Guest told"),
    "driver_lost": _("Guest told"),
    "long_search": _("Keep waiting"),
    "kiosk_ended_early": _("Ask for no code"),
}
_SEEN: Final = _("Seen")


def seen_verb(name: str) -> str:
    """What the button says that ends an attention item, on the board, the page and in the log."""
    return str(_VERBS.get(name, _SEEN))


def attention_words(name: str, detail: str | None) -> tuple[str, str]:
    """The title of an attention item and the line below; an unknown name gets general words."""
    title, line = _ITEMS.get(name, (_("Somebody should look at this ride"), _("[{detail}]")))
    if name in CODED:
        detail = reason_words(detail)
    elif name == "contradiction" and detail in _NO_BOOKING:
        detail = None
    elif name == "kiosk_limit":
        detail = str(_KIOSK_LIMITS.get(detail or "", _KIOSK_LIMITS["live"]))
    return str(title), say(line, {"detail": detail})


def door_words(mark: str) -> str:
    """The words for a mark of the doorman: `in` or `away`."""
    return str(_AT_DOOR[mark])
