"""How a finished ride is paid, in words for staff and for guests (docs/wording.md 4).

The words for a ride on the wallet never ask anybody to pay the driver: that would be a second
payment. Without a payment in the order the service takes the wallet (docs/service-interface.md 1).
"""

from typing import Final

from ridedash import wire
from ridedash.wire import Kind
from ridedash.wording.say import Audience, Text, say
from ridedash.wording.say import lazy as _

NOT_KNOWN: Final = "not_known"  # for an order that was recovered after a restore of the database
# payment -> sentences for staff and for guests; the first one whose facts are known is used
_PAYS: Final[dict[str, tuple[tuple[Text, ...], tuple[Text, ...]]]] = {
    wire.CASH: (
        (
            _("The guest pays the driver {amount} in cash."),
            _("The ride company sends no amount: the guest pays the driver what the meter shows."),
        ),
        (
            # T: critical
            _("Pay the driver {amount} in cash."),
            # T: critical
            _("Pay the driver what the meter shows."),
        ),
    ),
    wire.SVC_MONEY: (
        (
            _("{amount} is paid from the ride wallet, not to the driver."),
            _(
                "The ride company sends no amount: it is paid from the ride wallet, not to the "
                "driver."
            ),
        ),
        (
            # T: critical
            _(
                "Paid from our ride wallet, not to the driver. If the driver asks for money, call "
                "our desk first."
            ),
        ),
    ),
    NOT_KNOWN: (
        (
            _(
                "We don't know if {amount} is paid to the driver or from the ride wallet: ask the "
                "ride company."
            ),
            _("We don't know how this ride is paid: ask the ride company."),
        ),
        (
            # T: critical
            _("Ask our desk how this ride is paid."),
        ),
    ),
}
_NAMES: Final[dict[str | None, Text]] = {
    wire.CASH: _("Cash, to the driver"),
    wire.SVC_MONEY: _("Ride wallet"),
    None: _("Ride wallet (the ride company's default)"),
    NOT_KNOWN: _("Not known: the order was lost in a restore"),
}


def payment_words(audience: Audience, payment: str | None, amount: str = "") -> str:
    """Who pays whom after the ride; `amount` is the total in words, "" if unknown."""
    for_staff, for_guest = _PAYS.get(payment or wire.SVC_MONEY, _PAYS[wire.SVC_MONEY])
    sentences = for_guest if audience is Audience.GUEST else for_staff
    return say(sentences, {"amount": amount})


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
