"""Who pays a ride, and how, in words for staff and for guests (docs/wording.md 4).

One table has what guests read in every state, on whatever surface. The words for a ride on the
wallet never ask anybody to pay the driver: that would be a second payment. Without a payment in the
order the service takes the wallet (docs/service-interface.md 1).
"""

from enum import StrEnum
from typing import Final

from ridedash import wire
from ridedash.wire import Kind
from ridedash.wording.say import Audience, Text, say
from ridedash.wording.say import lazy as _


class When(StrEnum):
    """When a guest reads who pays, as far as it changes the words."""

    BEFORE = "before"  # nothing is to be paid yet
    START = "start"  # a shared ride, which is paid before it starts
    BILL = "bill"  # the bill of an auto is there
    AFTER = "after"  # the ride has perhaps been paid
    NO_RIDE = "no_ride"


PAYMENT_NOT_KNOWN: Final = (
    "not_known"  # for an order that was recovered after a restore of the database
)
# payment -> sentences about a bill; the first one whose facts are known is used
_FOR_STAFF: Final[dict[str, tuple[Text, ...]]] = {
    wire.CASH: (
        _("The guest pays the driver {amount} in cash."),
        _("The ride company sends no amount: the guest pays the driver what the meter shows."),
    ),
    wire.SVC_MONEY: (
        _("{amount} is paid from the ride wallet, not to the driver."),
        _("The ride company sends no amount: it is paid from the ride wallet, not to the driver."),
    ),
    PAYMENT_NOT_KNOWN: (
        _(
            "We don't know if {amount} is paid to the driver or from the ride wallet: ask the "
            "ride company."
        ),
        _("We don't know how this ride is paid: ask the ride company."),
    ),
}
_BY_DRIVER: Final[dict[When, tuple[Text, ...]]] = {
    # T: critical
    When.BEFORE: (_("You pay the driver in cash."),),
    # T: critical
    When.START: (_("You pay the driver in cash before the ride starts."),),
    When.BILL: (
        # T: critical
        _("Pay the driver {amount} in cash."),
        # T: critical
        _("Pay the driver what the meter shows."),
    ),
    When.AFTER: (_("Cash, to the driver"),),
}
# T: critical
_HOUSE: Final = _("The house pays this ride.")
# T: critical
_WALLET: Final = _(
    "Paid from our ride wallet, not to the driver. If the driver asks for money, call our desk "
    "first."
)
# T: critical
_ASK: Final = _("Ask our desk how this ride is paid.")
# T: critical
_NOTHING: Final = _("Nothing to pay to a driver")
_NAMES: Final[dict[str | None, Text]] = {
    wire.CASH: _("Cash, to the driver"),
    wire.SVC_MONEY: _("Ride wallet"),
    None: _("Ride wallet (the ride company's default)"),
    PAYMENT_NOT_KNOWN: _("Not known: the booking was lost in a restore"),
}


def payment_words(audience: Audience, payment: str | None, amount: str = "") -> str:
    """Who pays whom once the bill is there; `amount` is the total in words, "" if unknown."""
    if audience is Audience.GUEST:
        return guest_pays(payment, When.BILL, amount)
    sentences = _FOR_STAFF.get(payment or wire.SVC_MONEY, _FOR_STAFF[wire.SVC_MONEY])
    return say(sentences, {"amount": amount})


def guest_pays(payment: str | None, when: When, amount: str = "", *, brief: bool = False) -> str:
    """Who pays, and how, for the guest; `brief`: one short sentence."""
    if when is When.NO_RIDE:
        return str(_NOTHING)
    if payment == wire.CASH:
        return say(_BY_DRIVER[when], {"amount": amount})
    if payment == PAYMENT_NOT_KNOWN:
        return str(_ASK)
    if brief:
        return str(_HOUSE)
    return f"{_HOUSE} {_WALLET}"


def price_told(kind: Kind, payment: str | None, amount: str) -> str:
    """For staff: where the price of a completed ride is.

    Without an amount: how an auto is paid, or that the service sent no price.
    """
    if amount:
        return str(_("The price stands on this page, line by line."))
    if kind is Kind.AUTO:
        return payment_words(Audience.STAFF, payment)
    return str(_("The ride company has sent no price."))


def payment_name(payment: str | None) -> str:
    """The means of payment for a ride, from `payment` of its order."""
    return str(_NAMES.get(payment, _NAMES[None]))
