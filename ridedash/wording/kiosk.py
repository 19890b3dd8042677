"""A kiosk's answers to a guest: complete sentences, for one reader who stands before it.

Plain words, at most 12 in a sentence. They don't mention accounts, other guests or other rides. The
page's own words are in views/kiosk/words.py.
"""

from dataclasses import asdict, dataclass
from typing import Final

from ridedash import wire
from ridedash.text import normalised
from ridedash.wording.codes import refusal
from ridedash.wording.payment import When, guest_pays
from ridedash.wording.say import Audience, Text, isolated, lazy_pgettext, say
from ridedash.wording.say import lazy as _


@dataclass(frozen=True)
class Said:
    """What happened, what it means, and one next step; "" where there is nothing to say."""

    headline: str
    why: str = ""
    next: str = ""

    def as_json(self) -> dict[str, str]:
        """The words in the form that the page reads."""
        return asdict(self)


_ASK: Final = _("Please ask our staff.")
_NOTHING: Final = _("Nothing was booked.")
_NONE: Final = ""

_CASES: Final[dict[str, tuple[Text, Text, Text]]] = {
    # before a car is chosen
    "no_cars": (_("There is no car for this way now."), _NONE, _("Choose another place.")),
    "no_way": (_("No car goes there from here."), _NONE, _("Choose another place.")),
    "no_pickup": (_("No car can come here now."), _NONE, _ASK),
    "no_prices": (_("We can't ask for cars now."), _NOTHING, _("Please try again in a minute.")),
    "slowly": (_("Please wait a moment."), _NONE, _("Then try again, or ask our staff.")),
    # about the guest
    "name": (_("Who is the ride for?"), _NOTHING, _("Type a first name or a room number.")),
    "phone": (
        _("This phone number can't be right."),
        _NOTHING,
        _("Type its country code too, or leave it out."),
    ),
    # T: critical
    "car": (_("This car can't be booked now."), _NOTHING, _("Please choose a car again.")),
    "seats": (_("How many people go?"), _NOTHING, _("Choose 1 or 2 people.")),
    # who pays, and limits
    "needs_code": (
        _("Please ask our desk for a code."),
        _("It has six digits."),
        _("Type it here to book."),
    ),
    "wrong_code": (_("That code is not right."), _NOTHING, _("Type it again, or ask our desk.")),
    "too_many_codes": (_("Too many wrong codes."), _NOTHING, _ASK),
    "already_name": (
        _("There is a ride for {name} already."),
        _NOTHING,
        _("If it isn't yours, add your room number."),
    ),
    "already_room": (
        _("There is a ride for room {room} already."),
        _NOTHING,
        _("Our desk can book a second car."),
    ),
    "already": (
        _("There is a ride for this guest already."),
        _NOTHING,
        _("Our desk can book a second car."),
    ),
    "full_live": (
        _("Guests who booked here still wait for their cars."),
        _NOTHING,
        _("Our desk can help."),
    ),
    "full_hourly": (
        _("Many rides were booked here in the last hour."),
        _NOTHING,
        _("Our desk can help."),
    ),
    "full_unclear": (
        _("We are still checking rides that were booked here."),
        _NOTHING,
        _("Our desk can help."),
    ),
    "asking": (
        _("Our desk is confirming your ride."),
        _("It takes 3 minutes at most."),
        _("Please wait here."),
    ),
    "declined": (_("Our desk could not confirm this ride."), _NOTHING, _("Please ask our desk.")),
    "declined_full": (
        _("Our desk can't book this ride now."),
        _NOTHING,
        _("Please come to the desk."),
    ),
    "declined_not_guest": (
        _("Our desk books rides for guests of the house only."),
        _NOTHING,
        _("Please ask our desk."),
    ),
    "expired": (_("Our desk did not answer."), _NOTHING, _("Please come to the desk.")),
    "changed": (
        # T: critical
        _("The price has changed."),
        # T: critical
        _("It was {old}. It is {new} now."),
        _("Nothing was booked yet."),
    ),
    # after Book
    "sending": (_("Booking your ride"), _("This usually takes 2 seconds."), _NONE),
    "booked": (_("Your ride is booked"), _NONE, _NONE),
    "unknown": (
        # T: critical
        _("We are checking your booking. Please don't book again."),
        _NONE,
        _("Our desk knows about it, and can help."),
    ),
    # T: critical
    "not_booked": (_("Nothing was booked."), _NONE, _("Try again, or ask our staff.")),
    "no_driver": (
        _("No driver found this time"),
        _("No ride, nothing to pay to a driver"),
        _("You can try another car."),
    ),
    "closed_by_desk": (_("Not booked"), _NONE, _("Please ask our staff")),
    "replaced": (_("Our desk has booked another car for you."), _NONE, _NONE),
    "withdrawn": (_("This ride is cancelled."), _("Nothing to pay."), _NONE),
    # T: critical
    "trouble": (_("We can't book cars from this screen now."), _NOTHING, _("Our desk can help.")),
    "hours": (_("This screen is closed now."), _NOTHING, _("Our desk can help.")),
    # T: critical
    "not_here": (_("We can't book this here."), _NOTHING, _ASK),
    # a ride found by its number
    "wrong": (
        _("We can't find that ride."),
        _("Check the number and the PIN."),
        _("Our staff can help."),
    ),
    "pins": (
        _("Too many wrong PINs were typed here."),
        _("Try again in {n} min."),
        _("Our desk can help."),
    ),
    "closed": (_("This ride can't be shown here."), _NONE, _("Please ask our desk about it.")),
    "gone": (_("We can't follow your ride here any more."), _NONE, _("Please ask our desk now.")),
    # cancelling
    "cancelled": (_("Your ride is cancelled."), _NONE, _NONE),
    "cancelling": (
        _("We have asked to cancel your ride."),
        _("It is not confirmed yet."),
        _("Please wait a moment."),
    ),
    # T: critical
    "not_cancelled": (_("Your ride can't be cancelled now."), _NONE, _ASK),
    "not_asked": (
        _("We could not ask to cancel."),
        _("Nothing has changed."),
        _("Please try again, or ask our staff."),
    ),
}
# T: Words that guests type for a kind of place, parted by bars: all usual ones, without an article.
# T: Accents may be left out of what is typed. In Japanese and Chinese in Latin letters as well.
_TYPED: Final = {
    "airport": lazy_pgettext("typed place", "airport|flight|plane"),
    "stations": lazy_pgettext("typed place", "station|train|railway|bus|metro"),
    "hospitals": lazy_pgettext("typed place", "hospital|clinic|doctor|emergency"),
    "sights": lazy_pgettext("typed place", "sight|museum|park|garden|square|monument|gallery"),
}
MOST_SHORT: Final = 4  # letters; so short a word must be a whole word of the name
# the words of these codes are about accounts, keys and our faults, which guests need not know
_HOUSE: Final = frozenset(
    map(
        wire.normal_code,
        (
            wire.BANNED_USER,
            wire.OUTSTANDING_DUE,
            wire.PAYMENT_PENDING,
            wire.SVC_CREDIT_DUE,
            wire.INVALID_PARTNER_KEY,
            *("ACCOUNT", "RECONNECT", "KEY_MISSING", "NOT_BUILT", "NO_JOURNAL"),
        ),
    )
)
# T: critical
_FREE: Final = _("Cancelling costs nothing now.")
# T: critical
_FREE_UNTIL: Final = _("Cancelling costs nothing until {at}, then {fee}.")
# T: critical
_FEE: Final = _("Cancelling may cost {fee}.")
# T: critical
_FEE_UNKNOWN: Final = _("Cancelling may cost a fee.")


def kiosk_words(case: str, **given: str) -> Said:
    """The words of a case with these facts. Raises KeyError for an unknown one."""
    facts = {name: str(fact) for name, fact in isolated(given).items()}
    headline, why, after = _CASES[case]
    return Said(say(headline, facts), say(why, facts), say(after, facts))


def typed_kind(typed: str) -> str:
    """The kind of place that a guest names in their language; "" for any other text."""
    name = normalised(typed)
    for kind, text in _TYPED.items():
        if name and any(_is_named(word, name) for word in map(normalised, str(text).split("|"))):
            return kind
    return ""


def _is_named(word: str, name: str) -> bool:
    """Whether `word` begins with `name` or occurs in `name`; both are normalised.

    A word in ASCII must begin a word of the name, and a short one must be a whole word of it: "bus"
    is not in "Bushwick". Any other word may be anywhere in the name, because some languages are
    written without spaces, and an Arabic article is written together with its word.
    """
    if word.startswith(name):
        return True
    if not word.isascii():
        return word.strip() in name
    if len(word.strip()) <= MOST_SHORT:
        return f"{word} " in f"{name} "
    return word in name


def declined_words(reason: str) -> Said:
    """Why the desk declined; `reason` is one of REASONS in rides/kiosk/approvals.py."""
    if reason in ("full", "not_guest"):
        return kiosk_words(f"declined_{reason}")
    return kiosk_words("declined")


def refused_words(code: str | None) -> Said:
    """Why an order was refused. For the codes of _HOUSE this only says whom to ask."""
    normal = wire.normal_code(code or "")
    if normal in _HOUSE:
        return kiosk_words("not_here")
    if normal == "WITHDRAWN":
        return kiosk_words("withdrawn")
    if not normal or normal in ("NOT_SENT", "NO_CONNECTION", "EXPIRED", "RATE_LIMITED"):
        return kiosk_words("not_booked")
    headline = refusal(code, Audience.GUEST).headline
    return Said(headline, str(_NOTHING), str(_ASK))


def cancel_words(fee: str = "", free_until: str = "", *, free: bool = False) -> str:
    """The cost of cancelling, shown before the guest cancels.

    `fee` and `free_until` are an amount and a time, as texts to show; "" if unknown.
    """
    if free:
        return str(_FREE)
    if fee and free_until:
        return say(_FREE_UNTIL, {"at": free_until, "fee": fee})
    if fee:
        return say(_FEE, {"fee": fee})
    return str(_FEE_UNKNOWN)


def pays_words(house_pays: bool) -> str:
    """Who pays for a ride that is not booked yet, and how."""
    return guest_pays(wire.SVC_MONEY if house_pays else wire.CASH, When.BEFORE, brief=True)
