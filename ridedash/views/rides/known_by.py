"""How we know what a ride's page says: what was asked of the service, and what it answered.

Only people who may read the audit log see this. It has no data of the guest, because the service
never gets any, and no secrets, because the answer is stored without them (docs/security.md 8).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ridedash import wire
from ridedash.rides.journals.restore import FROM_JOURNAL
from ridedash.rides.state.codes import NO_CONNECTION, RESTORED
from ridedash.rides.state.states import UNSENT
from ridedash.rides.tracking.merge import HANDOVER
from ridedash.rides.tracking.policy import READ_BACK, RIDE_ENDED, SUPERSEDED
from ridedash.store.models.orders import OrderState
from ridedash.store.orders import Action, Order, TimelineEvent
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web.formatting import clock_time, day_text
from ridedash.wording import gettext as _
from ridedash.wording import lazy, say, service_quote

Found = tuple[datetime, str, str]  # when, our words, the quoted words of the answer
# an action is stored as called just before its call; when the call was sent is stored nowhere
REQUESTS: Final = {
    "abort": lazy("We began to ask the ride company to stop the search."),
    "cancel": lazy("We began to ask the ride company to cancel the ride."),
    "drop": lazy("We began to ask the ride company to change the drop."),
    "feedback": lazy("We began to send the feedback."),
}
ANSWERS: Final = {
    OrderState.BOOKED: lazy("The ride company answered: booked, with the number {id}."),
    OrderState.MATCHING: lazy("The ride company answered that it looks for a shared ride."),
    OrderState.REJECTED: lazy("The ride company refused the booking[: {code}]."),
    OrderState.NOT_SENT: lazy("The ride company answered that it booked nothing[: {code}]."),
    OrderState.UNKNOWN: lazy("The answer proves neither a booking nor a refusal."),
    OrderState.CLOSED_NOT_BOOKED: lazy("A member of staff said that nothing was booked."),
}
RESULTS: Final = {
    "done": lazy("The ride company did it."),
    "refused": lazy("The ride company refused[: {code}]."),
    "unconfirmed": lazy("No clear answer came."),
}
NO_EFFECT: Final = lazy("It had no effect[: {code}].")  # shown by an answer or by a poll
# by state and code: only a poll gives the first three codes, an answer may give the others too
POLL_RESULTS: Final = {
    ("done", READ_BACK): lazy("A later look at the ride showed what we asked for."),
    ("refused", RIDE_ENDED): lazy("A later look at the ride did not show its effect[: {code}]."),
    ("refused", SUPERSEDED): lazy("A later look at the ride did not show its effect[: {code}]."),
    ("refused", wire.BOOKING_ALLOTED): NO_EFFECT,
    ("refused", wire.CANCELLATION_NOT_ALLOWED): NO_EFFECT,
}
# codes of `not_sent` actions whose call never left; with others, a 401 or a 429 may have come
NEVER_SENT: Final = frozenset({NO_CONNECTION, "NO_BOOKING_ID"})


@dataclass(frozen=True)
class Proof:
    """One thing that was asked or answered, with its time in the property's zone."""

    day: str
    time: str
    instant: str
    words: str
    quote: str = ""


@dataclass(frozen=True)
class KnownExchanges:
    """Everything asked and answered, the oldest first; `answer` is the answer to the order."""

    proofs: tuple[Proof, ...]
    http_status: int | None
    answer: str


def known_by(facts: RideFacts) -> KnownExchanges:
    """How we know the state of an order and of its ride."""
    order = facts.page.order
    found = [*_of_order(facts), *_of_actions(facts), *_of_ride(facts)]
    found.sort(key=lambda each: each[0])
    proofs = tuple(_proof(facts, *each) for each in found)
    return KnownExchanges(proofs, order.http_status, order.evidence or "")


def _proof(facts: RideFacts, at: datetime, words: str, quote: str) -> Proof:
    shown = facts.time.shown(at)
    here = shown.astimezone(facts.tz)
    day = ""
    if here.date() != facts.time.shown(facts.now).astimezone(facts.tz).date():
        day = day_text(here, "MMMd", facts.locale)
    time = clock_time(shown, facts.tz, seconds=True)
    return Proof(day, time, shown.isoformat(), words, quote)


def _of_order(facts: RideFacts) -> Iterator[Found]:
    order = facts.page.order
    events = facts.page.events
    if order.state in UNSENT:
        return
    sentence = _("We began to ask the ride company to book, with the reference {ref}.")
    for at in _sends(order, events):
        yield at, say(sentence, {"ref": order.mtx}), ""
    if order.state == OrderState.SENDING:
        return
    state = OrderState(order.state)
    reached = _reached(events)
    looked_for = state is OrderState.BOOKED and OrderState.MATCHING in reached
    at = order.sent_at or order.ready_at or order.created_at
    if looked_for or state is OrderState.FAILED:
        first = OrderState.MATCHING
    else:
        first = state
        at = order.resolved_at or at
    words = say(_answer(order, first), {"id": order.booking_id, "code": order.code})
    yield reached.get(first, at), words, _quote(order)
    if looked_for:
        yield _booked_later(order, events)


def _reached(events: Iterable[TimelineEvent]) -> dict[str, datetime]:
    """When the order first came to MATCHING and to UNKNOWN, which another state may follow."""
    return {
        event.name: event.at
        for event in reversed(tuple(events))
        if event.what == "order" and event.name in (OrderState.MATCHING, OrderState.UNKNOWN)
    }


def _sends(order: Order, events: Iterable[TimelineEvent]) -> list[datetime]:
    """When the order was claimed, just before each call; empty if there was none, or none is known.

    In a restored database `sent_at` may be an estimate, which is not shown.
    """
    if _never_left(order):
        return []
    began = [each.at for each in events if (each.what, each.name) == ("order", OrderState.SENDING)]
    doubted = order.code == RESTORED or any(each.name == FROM_JOURNAL for each in events)
    if not began and order.sent_at is not None and (order.recovered_at or not doubted):
        return [order.sent_at]
    return began


def _booked_later(order: Order, events: Iterable[TimelineEvent]) -> Found:
    """A poll showed the driver or the number of a shared ride that the service was looking for."""
    at = order.resolved_at or order.sent_at or order.created_at
    numbered = all(each.at <= at for each in events if each.name == HANDOVER)
    words = _("A later look at the ride showed that it is booked[, with the number {id}].")
    return at, say(words, {"id": order.booking_id if numbered else None}), ""


def _quote(order: Order) -> str:
    """What the service or the member of staff said; "" if `message` is our own."""
    if order.state == OrderState.CLOSED_NOT_BOOKED:
        return order.resolve_reason or ""
    if order.http_status is None:
        return ""
    return service_quote(order.message)


def _is_unsent(order: Order) -> bool:
    """Whether our own knowledge of the last attempt proves that nothing was booked."""
    return order.state in (OrderState.NOT_SENT, OrderState.REJECTED) and order.http_status is None


def _never_left(order: Order) -> bool:
    """Whether an order is unsent, and no earlier attempt ended with a 401 or a 429."""
    again = order.reauthorised or order.throttled or order.attempt > 1
    return _is_unsent(order) and not again


def _answer(order: Order, state: OrderState) -> str:
    """What brought the order into a state, or what came in place of an answer."""
    no_answer = order.http_status is None
    if state is OrderState.CLOSED_NOT_BOOKED:
        return str(ANSWERS[state])
    if state is OrderState.BOOKED and order.resolved_by is not None and no_answer:
        return _("A member of staff typed the number {id}, and the ride company knows it.")
    if order.recovered_at is not None and state is OrderState.UNKNOWN:
        return _("The notes of the machine that sent it prove neither a booking nor a refusal.")
    if order.recovered_at is not None:
        return _("Known from the notes of the machine that sent it, after a restore.")
    if _never_left(order):
        return _("The request never left for the ride company[: {code}].")
    if _is_unsent(order):
        return _("Nothing was booked[: {code}].")
    if state is OrderState.UNKNOWN and order.code == RESTORED:
        return _("Our database was restored, and does not know whether the request left.")
    if state is OrderState.UNKNOWN and no_answer:
        return _("No whole answer came.")
    return str(ANSWERS[state])


def _of_actions(facts: RideFacts) -> Iterator[Found]:
    for action in facts.page.actions:
        if action.name not in REQUESTS or action.called_at is None:
            continue
        in_vain = action.state == "not_sent" or action.calls == 0
        if not in_vain:
            yield action.called_at, str(REQUESTS[action.name]), ""
        if in_vain or action.state in RESULTS:
            words = say(_result(action, in_vain), {"code": action.code})
            yield action.settled_at or action.called_at, words, _said(action)


def _said(action: Action) -> str:
    return service_quote(wire.said(action.header, action.text))


def _result(action: Action, in_vain: bool) -> str:
    """What an answer, or else a poll, proves about an action."""
    if in_vain and action.code in NEVER_SENT:
        return _("It never left for the ride company.")
    if in_vain:
        return str(NO_EFFECT)
    answered = action.header or action.text
    of_poll = POLL_RESULTS.get((action.state, action.code or ""))
    if of_poll and not answered:
        return str(of_poll)
    return str(RESULTS[action.state])


def _of_ride(facts: RideFacts) -> Iterator[Found]:
    for event in facts.page.events:
        if event.what == "ride":
            sentence = _("Asked how the ride is, the ride company answered {status}.")
            yield event.at, say(sentence, {"status": event.name}), ""
