"""How we know what a ride's page says: what was asked of the service, and what it answered.

For people who may read the audit log. Without the guest's data: the service never gets them, and
the kept answer is without secrets (docs/security.md 8).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ridedash.store.models.orders import OrderState as S
from ridedash.store.orders import Action, Order
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web.formatting import clock_time, day_text
from ridedash.wording import gettext as _
from ridedash.wording import lazy, say, service_quote

Found = tuple[datetime, str, str]  # when, our words, the words of whoever answered
UNSENT: Final = frozenset({S.SCHEDULED, S.WAITING, S.READY})
ASKED: Final = {
    "abort": lazy("We asked to stop the search."),
    "cancel": lazy("We asked to cancel the ride."),
    "drop": lazy("We asked to change the drop."),
    "feedback": lazy("We sent the feedback."),
}
ANSWERS: Final = {
    S.BOOKED: lazy("The ride company answered: booked, with the number {id}."),
    S.MATCHING: lazy("The ride company answered that it looks for a shared ride."),
    S.FAILED: lazy("The ride company answered that it looks for a shared ride."),
    S.REJECTED: lazy("The ride company refused the order[: {code}]."),
    S.NOT_SENT: lazy("The ride company answered that it booked nothing[: {code}]."),
    S.UNKNOWN: lazy("The answer proves neither a booking nor a refusal."),
    S.CLOSED_NOT_BOOKED: lazy("A member of staff said that nothing was booked."),
}
AGREED: Final = {
    "done": lazy("The ride company did it."),
    "refused": lazy("The ride company refused[: {code}]."),
    "unconfirmed": lazy("No clear answer came."),
    "not_sent": lazy("It never left for the ride company."),
}


@dataclass(frozen=True)
class Proof:
    """One thing that was asked or answered, with its time in the property's zone."""

    day: str
    time: str
    instant: str
    words: str
    quote: str = ""


@dataclass(frozen=True)
class Known:
    """Everything asked and answered, the oldest first; `answer` is what came to the order."""

    proofs: tuple[Proof, ...]
    http_status: int | None
    answer: str


def known_by(facts: RideFacts) -> Known:
    """How we know the state of an order and of its ride."""
    order = facts.page.order
    found = [*_of_order(facts), *_of_actions(facts), *_of_ride(facts)]
    found.sort(key=lambda each: each[0])
    proofs = tuple(_proof(facts, *each) for each in found)
    return Known(proofs, order.http_status, order.evidence or "")


def _proof(facts: RideFacts, at: datetime, words: str, quote: str) -> Proof:
    shown, now = facts.time.shown(at), facts.time.shown(facts.now)
    here = shown.astimezone(facts.tz)
    today = here.date() == now.astimezone(facts.tz).date()
    return Proof(
        "" if today else day_text(here, "MMMd", facts.locale),
        clock_time(shown, facts.tz, seconds=True),
        shown.isoformat(),
        words,
        quote,
    )


def _of_order(facts: RideFacts) -> Iterator[Found]:
    order = facts.page.order
    if order.state in UNSENT:
        return
    if order.sent_at is not None and not _never_left(order):
        asked = _("We asked the ride company to book, with the reference {ref}.")
        yield order.sent_at, say(asked, {"ref": order.mtx}), ""
    for event in facts.page.events:
        if (event.what, event.name, order.state) == ("order", S.MATCHING, S.BOOKED):
            yield event.at, str(ANSWERS[S.MATCHING]), ""  # what came later named the booking
    if order.state != S.SENDING:
        at = order.resolved_at or order.sent_at or order.ready_at or order.created_at
        words = say(_answer(order), {"id": order.booking_id, "code": order.code})
        yield at, words, _quote(order)


def _quote(order: Order) -> str:
    """What the service or the member of staff said; "" where `message` is not the service's."""
    if order.state == S.CLOSED_NOT_BOOKED:
        return order.resolve_reason or ""
    return service_quote(order.message) if order.http_status is not None else ""


def _never_left(order: Order) -> bool:
    """Whether no answer but our own knowledge proves that nothing was booked."""
    return order.state in (S.NOT_SENT, S.REJECTED) and order.http_status is None


def _answer(order: Order) -> str:
    """What settled the order, or what came in its place."""
    if order.recovered_at is not None:
        return _("Known from the notes of the machine that sent it, after a restore.")
    if _never_left(order):
        return _("The order never left for the ride company[: {code}].")
    if order.state == S.BOOKED and order.resolved_by is not None:
        return _("A member of staff typed the number {id}, and the ride company knows it.")
    if order.state == S.UNKNOWN and order.sent_at is None:
        return _("Our database was restored, and does not know whether the order left.")
    if order.state == S.UNKNOWN and order.http_status is None:
        return _("No whole answer came.")
    return str(ANSWERS[S(order.state)])


def _of_actions(facts: RideFacts) -> Iterator[Found]:
    for action in facts.page.actions:
        if action.name in ASKED and action.called_at is not None:
            yield action.called_at, str(ASKED[action.name]), ""
            if action.state in AGREED:
                yield _answered(action)


def _answered(action: Action) -> Found:
    words = say(AGREED[action.state], {"code": action.code})
    return (
        action.settled_at or action.called_at or action.made_at,
        words,
        service_quote(action.text),
    )


def _of_ride(facts: RideFacts) -> Iterator[Found]:
    for event in facts.page.events:
        if event.what == "ride":
            told = _("Asked how the ride is, the ride company answered {status}.")
            yield event.at, say(told, {"status": event.name}), ""
