"""The price of a ride line by line, for each kind of booking. The lines are the service's.

If the service sends no total, the page shows the sum of the lines, and says so
(docs/booking-protocol.md 3.4).
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from ridedash import wire
from ridedash.rides.state.states import WITHOUT_RIDE
from ridedash.rides.tracking.totals import (
    BILLED,
    cost_of,
    payable_of,
    total_of,
    wallet_fell_by,
)
from ridedash.service.parsing.fields import number
from ridedash.service.types.tracking import TripInfo
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.views.web.formatting import decimal, exact, has_cents, minutes, money
from ridedash.wire import Kind
from ridedash.wording import (
    PAYMENT_NOT_KNOWN,
    Audience,
    PayWhen,
    guest_pays,
    payment_words,
    say,
)
from ridedash.wording import gettext as _

NO_PRICE: Final = "–"
INVOICED: Final = frozenset({wire.INVOICE, wire.IN_PROGRESS, wire.COMPLETED})
NOT_RIDDEN: Final = frozenset({wire.BOOKING_CANCELLED, wire.ALLOTMENT_FAILED})


def price(facts: RideFacts) -> tuple[str, str]:
    """The price as far as known, and a note on it.

    A planned ride has only a note; a ride that waits for its guest has the offer's price. For an
    order that led to no booking, and for a ride that did not take place, the price is NO_PRICE; the
    note of a cancelled ride says what its cancel may cost.
    """
    if facts.page.order.state == "SCHEDULED":
        return "", _planned(facts)
    if facts.page.order.state == "WAITING":
        return price_expected(facts)[0], _at_the_press(facts)
    if facts.page.order.state in WITHOUT_RIDE or facts.status in NOT_RIDDEN:
        return NO_PRICE, _cost_of_stopping(facts)
    if facts.total is None or facts.status not in INVOICED:
        return price_expected(facts)
    total = money(facts.total, facts.currency, facts.locale)
    if _older_than_the_drop(facts):
        return total, _("From before the drop was changed")
    return total, _("From the ride company")


def _at_the_press(facts: RideFacts) -> str:
    """The note on what the guest's press may cost."""
    if facts.metered:
        return _(
            "Booked if the estimate at the press is at most %(ceiling)s; the meter may say more",
            ceiling=facts.ceiling,
        )
    return _("At most %(ceiling)s, asked anew at the press", ceiling=facts.ceiling)


def paid_when(facts: RideFacts) -> PayWhen:
    """At which moment of its payment a ride is, for the words that its guest reads."""
    status = facts.status
    if facts.page.order.state in WITHOUT_RIDE or status in NOT_RIDDEN:
        return PayWhen.NO_RIDE
    if status == wire.COMPLETED or (facts.kind is Kind.SHARE and status == wire.IN_PROGRESS):
        return PayWhen.AFTER
    if facts.kind is Kind.SHARE:
        return PayWhen.START
    if facts.kind is Kind.AUTO and status == wire.INVOICE:
        return PayWhen.BILL
    return PayWhen.BEFORE


def guest_pays_words(facts: RideFacts, *, brief: bool = False) -> str:
    """Who pays this ride, and how, for its guest."""
    left = money(facts.payable, facts.currency, facts.locale)
    payment = facts.payment
    if facts.status == wire.COMPLETED and paid_in_cash(facts):
        payment = wire.CASH  # the service has the last word
    return guest_pays(payment, paid_when(facts), left, brief=brief)


def paid_in_cash(facts: RideFacts) -> bool:
    """Whether the service says that an auto's ride was paid wholly in cash."""
    trip = facts.snapshot.trip
    left = facts.payable
    if facts.kind is not Kind.AUTO or trip is None or not trip.cash_paid or left is None:
        return False
    return trip.cash_paid >= left


def detail_says_pay(facts: RideFacts) -> bool:
    """Whether the line below the guest's headline says already what there is to pay."""
    searched = facts.status == wire.ALLOTMENT_FAILED or facts.page.order.state == "FAILED"
    return searched or paid_when(facts) is PayWhen.BILL


def guest_price(facts: RideFacts, *, brief: bool = False) -> str:
    """How much the ride costs, as far as it is known, for its guest; "" if there is no ride.

    `brief`: without the note, unless the amount was for another drop.
    """
    if paid_when(facts) is PayWhen.NO_RIDE:
        return ""
    amount, note = price(facts)
    if brief and amount and facts.drop_change is None:
        return amount
    return " · ".join(filter(None, (amount, note)))


def price_expected(facts: RideFacts) -> tuple[str, str]:
    """The price of the offer; after a change of drop, with a note that it was for the old drop."""
    offer = facts.page.offer
    seats = str(facts.page.order.seats or "")
    moved = facts.drop_change is not None
    fixed = offer.seat_prices.get(seats) or offer.seat_prices.get("")
    if fixed is not None:
        amount = money(Decimal(str(fixed)), facts.currency, facts.locale)
        if moved:
            return amount, _("Fixed for the old drop; the ride company may set another price")
        return amount, _("Fixed price")
    text = offer_price_text(offer, facts.locale)
    if not text:
        return "", ""
    if moved:
        return text, _("Estimated for the old drop; the meter decides")
    return text, _("As estimated")


def _planned(facts: RideFacts) -> str:
    """The note that the price is set when the ride is ordered, with the price shown at planning."""
    price_then = offer_price_text(facts.page.offer, facts.locale)
    return say(_("Priced when booked[; it was {price} when planned]"), {"price": price_then})


def _cost_of_stopping(facts: RideFacts) -> str:
    if facts.status != wire.BOOKING_CANCELLED:
        return ""
    if facts.charged:
        return say(_("A fee of {fee} may be charged"), {"fee": facts.fee})
    if facts.free:
        return _("Cancelled in time: free")
    return ""


def _older_than_the_drop(facts: RideFacts) -> bool:
    """Whether the latest answer of the service is older than its acceptance of another drop."""
    ride = facts.page.ride
    change = facts.drop_change
    if ride is None or change is None or change.settled_at is None:
        return False
    return ride.seen_at is None or ride.seen_at <= change.settled_at


@dataclass(frozen=True)
class InvoiceLine:
    """One line of an invoice; `total`: whether it is shown as the total. `id` names it on pages."""

    id: str
    label: str
    amount: str
    total: bool = False


@dataclass(frozen=True)
class Invoice:
    """Lines from top to bottom, then notes in plain words.

    `title` replaces "Price, line by line" if the lines are not a price.
    """

    lines: tuple[InvoiceLine, ...]
    notes: tuple[str, ...] = ()
    title: str = ""

    def without(self, sentence: str) -> "Invoice":
        """The invoice without a note that the page already shows above."""
        return replace(self, notes=tuple(note for note in self.notes if note != sentence))


def invoice(
    facts: RideFacts, status: str | None, audience: Audience = Audience.STAFF
) -> Invoice | None:
    """The invoice that a ride in this status has, for a reader; None before there is one."""
    if not _is_billed(facts, status):
        return None
    if facts.kind is Kind.AUTO:
        return _auto(facts, audience, over=status == wire.COMPLETED)
    return _fixed(facts)


def _is_billed(facts: RideFacts, status: str | None) -> bool:
    """Whether there is a bill.

    A fare that INVOICE has set before the trip remains during the trip. An auto has INVOICE after
    its trip.
    """
    if status == wire.IN_PROGRESS and facts.since(wire.INVOICE) is not None:
        return facts.kind is not Kind.AUTO
    return status in BILLED[facts.kind]


def _fixed(facts: RideFacts) -> Invoice | None:
    price = facts.snapshot.price
    if price is None:
        return None
    discount = _("Discount")
    if price.discount_percentage:
        share = exact(price.discount_percentage, facts.locale)
        discount = _("Discount ({n} %)").replace("{n}", share)
    rows = [
        ("fare", _("Fare"), price.fare, False),
        ("tax", _("Service tax"), price.service_tax, False),
        ("tolls", _("Tolls"), price.toll_charges, False),
        ("discount", discount, _minus(price.discount_value), False),
        ("total", _("Total"), total_of(price), True),
    ]
    lines = _lines(facts, rows)
    if total_of(price) == 0:  # by a discount above the fare: it is not the sum of the lines
        return Invoice(lines)
    return Invoice(lines, (added_up(),))


def added_up() -> str:
    """The note beside a total of our own, because the service sends none."""
    return _("Total: the sum of the lines above.")


def _auto(facts: RideFacts, audience: Audience, *, over: bool) -> Invoice | None:
    """The invoice of an auto; if the service sends no amount to pay, it says how the guest pays."""
    trip = facts.snapshot.trip
    if trip is None:
        return None
    cash = facts.payment == wire.CASH
    rows = [
        ("meter", _("Meter fare"), trip.amount, False),
        ("convenience", _("Convenience charge"), trip.convenience_charge, False),
        ("discount", _("Discount"), _minus(trip.discount), False),
    ]
    if trip.advance and payable_of(trip) is not None:
        rows.append(("total", _("Total"), cost_of(trip), True))
    rows.append(("advance", _("Paid in advance"), _minus(trip.advance), False))
    notes = _auto_notes(facts, trip, audience)
    if payable_of(trip) is None:
        meter = _("as the meter shows") if cash else _("not sent")
        lines = (InvoiceLine("meter", _("Meter fare"), meter), *_lines(facts, rows))
        pays = payment_words(audience, facts.payment)
        return Invoice(lines, (pays, *notes), _("Payment"))
    if not over:
        wallet = not cash and facts.payment != PAYMENT_NOT_KNOWN
        label = _("From the ride wallet") if wallet else _("To pay")
        rows.append(("payable", label, payable_of(trip), True))
        return Invoice(_lines(facts, rows), tuple(notes))
    if trip.advance:
        rows.append(("payable", _("The rest"), payable_of(trip), False))
    elif trip.payable_amount is not None or not trip.cash_paid:
        rows.append(("payable", _("Total"), payable_of(trip), True))
    paid = trip.cash_paid
    rows.append(("cash", _("Paid in cash"), paid, paid == payable_of(trip)))
    notes = [note for note in (_who_paid(facts, trip), *notes) if note]
    return Invoice(_lines(facts, rows), tuple(notes))


def _who_paid(facts: RideFacts, trip: TripInfo) -> str:
    """A note on what the service's answers prove about the payment of an ended ride, or "".

    They have the cash, and the balance of the wallet with the bill and at the end.
    """
    total = payable_of(trip)
    if total is None or (trip.cash_paid is not None and trip.cash_paid >= total):
        return ""
    fell = wallet_fell_by(facts.snapshot)
    if fell is not None and fell == total - (trip.cash_paid or 0):
        amount = {"amount": money(fell, facts.currency, facts.locale)}
        if trip.cash_paid:
            return say(
                _("The rest was paid from the wallet: its balance fell by {amount}."), amount
            )
        return say(_("Paid from the wallet: its balance fell by {amount}."), amount)
    if fell == 0 and trip.cash_paid == 0:
        return _(
            "Not paid in cash; the wallet's balance was the same with the bill and at the end."
        )
    if trip.cash_paid is None:
        return _("Paid from the wallet or to the driver: the ride company does not say.")
    if not trip.cash_paid:
        return _("Not paid in cash: from the wallet, or not yet. The ride company does not say.")
    return _("The rest was paid from the wallet, or not yet. The ride company does not say.")


def _auto_notes(facts: RideFacts, trip: TripInfo, audience: Audience) -> list[str]:
    """Distance and time, the night charge, our sum; for staff also the balance of the account."""
    notes = []
    measures = [kilometres(trip.distance, facts.locale), service_duration(trip)]
    if any(measures):
        notes.append(" · ".join(filter(None, measures)))
    if trip.night_charges_applied:
        times = number((trip.night_charge_ratio or "").rstrip("xX×"))  # "1.5", "1.5x"
        ratio = f" × {exact(times, facts.locale)}" if times else ""
        notes.append(_("Night charge included{ratio}.").replace("{ratio}", ratio))
    if trip.payable_amount is None and trip.cash_paid is None and payable_of(trip):
        notes.append(added_up())
    balance = facts.snapshot.svc_money_balance
    if balance is not None and audience is Audience.STAFF:
        left = money(balance, facts.currency, facts.locale)
        notes.append(_("Wallet balance {left}.").replace("{left}", left))
    return notes


def service_duration(trip: TripInfo) -> str:
    """How long an auto's ride took, as the service says; "" if it does not."""
    took = trip.ride_time or trip.trip_time
    return minutes(took.seconds) if took else ""


def kilometres(distance: object, locale: str) -> str:
    """A Distance as a language writes it: "7.2 km", "7,2 km" or "350 m"; "" when unknown."""
    metres = getattr(distance, "metres", None)
    if metres is None or metres < 0:
        return ""
    if metres < 1000:
        return _("%(n)d m", n=round(metres))
    return _("%(n)s km", n=decimal(metres / 1000, locale))


def _minus(amount: Decimal | None) -> Decimal | None:
    return -amount if amount else None


def _lines(
    facts: RideFacts, rows: list[tuple[str, str, Decimal | None, bool]]
) -> tuple[InvoiceLine, ...]:
    shown = [
        (name, label, amount, total)
        for name, label, amount, total in rows
        if amount is not None and (amount or total)
    ]
    # either all lines have decimals or none has
    currency = facts.currency
    decimals = any(has_cents(amount, currency) for _name, _label, amount, _total in shown)
    return tuple(
        InvoiceLine(name, label, money(amount, currency, facts.locale, decimals=decimals), total)
        for name, label, amount, total in shown
    )
