"""A ride on the kiosk's screen: a short form of the guest's own page, with its actions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ridedash.rides.actions.request import BUSY, ActionResult
from ridedash.rides.share_links import LinkKind
from ridedash.rides.state.codes import WITHDRAWN
from ridedash.rides.state.states import BEING_SENT, FAILED_STATES, ActionAllowed
from ridedash.service_time import ServiceTime
from ridedash.store.orders import OrderPage, OrderState
from ridedash.views.guest.view_model import code_is_due, guest_view
from ridedash.views.kiosk.cars import whole_minutes
from ridedash.views.rides import components as parts
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.prices import guest_pays_words
from ridedash.views.rides.view_model import allowed_actions, is_live
from ridedash.wire import (
    ALLOTMENT_FAILED,
    BOOKING_CANCELLED,
    CALL_DRIVER,
    COMPLETED,
    IN_PROGRESS,
    INVOICE,
    SEARCHING,
    Kind,
)
from ridedash.wording import Audience, refusal
from ridedash.wording.kiosk import Said, cancel_words, kiosk_words, refused_words

# actions that end a ride; the first one that is possible now is used
STOPS: Final = ("withdraw", "abort", "cancel", "arm")
FREE: Final = frozenset({"withdraw", "abort"})
WAITS: Final = frozenset({"armed", "calling", "unconfirmed"})  # actions without a result yet
NO_RIDE: Final = frozenset({ALLOTMENT_FAILED, BOOKING_CANCELLED})
# phases in which the meeting point counts
MEETS: Final = frozenset({"planned", "open", "unknown", "finding", "coming"})


@dataclass(frozen=True)
class PressResult:
    """The result of a press of Book or Cancel: the state in the answer, and its words."""

    state: str
    words: Said


def outcome(page: OrderPage) -> PressResult:
    """The result for an order. An unclear outcome is called neither booked nor not booked."""
    order = page.order
    if order.state in BEING_SENT:
        return PressResult("sending", kiosk_words("sending"))
    if order.state == OrderState.UNKNOWN:
        return PressResult("unknown", kiosk_words("unknown"))
    if order.state == OrderState.CLOSED_NOT_BOOKED:
        return PressResult(
            "not_booked", kiosk_words("closed_by_desk")
        )  # a member of staff has found this out
    if order.state in FAILED_STATES:
        return PressResult("not_booked", refused_words(order.code))
    status = page.ride.status if page.ride is not None else None
    if status == ALLOTMENT_FAILED:
        return PressResult("no_driver", kiosk_words("no_driver"))
    if status == BOOKING_CANCELLED:
        return PressResult("cancelled", kiosk_words("cancelled"))
    return PressResult("booked", kiosk_words("booked"))


def has_no_ride(page: OrderPage) -> bool:
    """Whether it is proved that an order led to no ride, so that a guest may press again."""
    return page.order.state in FAILED_STATES or outcome(page).state == "no_driver"


def phase_of(facts: RideFacts) -> str:
    """How far a ride is, as the ticket needs it.

    planned (nothing is ordered yet), open (it is not known yet whether there is a ride), unknown (a
    person has to find that out), finding (a driver), coming (or here), aboard, over, none (there is
    no ride any more).
    """
    order = facts.page.order
    status = facts.status
    if order.state in (OrderState.SCHEDULED, OrderState.WAITING):
        return "planned"
    if order.state == OrderState.UNKNOWN:
        return "unknown"
    if order.state in FAILED_STATES or order.state == OrderState.CLOSED_NOT_BOOKED:
        return "none"
    if status is None:
        return "open"
    if status in NO_RIDE:
        return "none"
    if status in SEARCHING:
        return "finding"
    if status == COMPLETED:
        return "over"
    if status == IN_PROGRESS or (status == INVOICE and facts.kind is Kind.AUTO):
        return "aboard"
    return "coming"


def view_json(page: OrderPage, now: datetime, time: ServiceTime, locale: str) -> dict[str, Any]:
    """The present state of the ride, without names and telephone numbers.

    `phase` is one of those of `phase_of`; `minutes` is how far away the car is, or None;
    `code_due`: whether the start code may be shown; `trip`: where the guest of a ride that came to
    nothing wants to go, as {lat, lng, name} or None; `replaced`: whether the desk has ordered
    another car for that guest, who must not book a second one.
    The value changes only when something on the screen changes.
    """
    facts = RideFacts(page, now, time, locale)
    view = guest_view(page, LinkKind.RIDER, now, time, locale)
    eta_s = facts.eta_s if parts.arrival(facts) else None
    phase = phase_of(facts)
    replaced = phase == "none" and page.superseded_by is not None
    # while the car is coming, this line says where to meet it; the screen shows that separately
    detail = "" if facts.status == CALL_DRIVER else view.detail
    return {
        "state": page.order.state,
        "phase": phase,
        "status": view.status,
        "held": view.held,
        "headline": view.headline,
        "detail": kiosk_words("replaced").headline if replaced else detail,
        "tone": view.tone,
        "icon": view.icon,
        "changed": view.changed,
        "plate": view.plate,
        "spelled": view.spelled,
        "old_plate": view.was,
        "car": view.car,
        "minutes": None if eta_s is None else whole_minutes(eta_s),
        "meet": facts.pickup[1] if phase in MEETS else "",
        "drop": facts.drop_name,
        "pays": guest_pays_words(facts, brief=True) if view.pays else "",
        "price": view.price,
        "live": is_live(page),
        "code_due": code_is_due(page, LinkKind.RIDER, facts),
        "trip": _trip(facts) if phase == "none" else None,
        "replaced": replaced,
    }


def _trip(facts: RideFacts) -> dict[str, Any] | None:
    if facts.drop is None:
        return None
    at, name = facts.drop
    return {"lat": at.lat, "lng": at.lng, "name": name}


def stop_of(page: OrderPage) -> str:
    """The action that would end this ride now; "" if none is possible."""
    possible: dict[str, ActionAllowed] = {each.name: each for each in allowed_actions(page)}
    found = (possible[name] for name in STOPS if name in possible)
    return next((each.name for each in found if each.allowed), "")


def cancel_json(page: OrderPage, now: datetime, time: ServiceTime, locale: str) -> dict[str, Any]:
    """Whether the guest may cancel, and what that may cost."""
    stop = stop_of(page)
    if not stop:
        return {"may": False, "fee_words": ""}
    facts = RideFacts(page, now, time, locale)
    policy = facts.policy
    until = facts.fee_from
    free = stop in FREE or facts.held_free or (policy is not None and not policy.charge)
    at = facts.at(until) if until is not None and now < until else ""
    return {"may": True, "fee_words": cancel_words(facts.fee, at, free=free)}


def stopped_before(page: OrderPage) -> PressResult:
    """The answer to a cancel when there is nothing to stop any more.

    The page may have sent the cancel twice because the first answer was lost: then the result of
    the first one counts.
    """
    if page.order.code == WITHDRAWN:
        return PressResult("ok", kiosk_words("withdrawn"))
    if page.ride is not None and page.ride.status == BOOKING_CANCELLED:
        return PressResult("ok", kiosk_words("cancelled"))
    if any(each.name in STOPS and each.state in WAITS for each in page.actions):
        return PressResult("waiting", kiosk_words("cancelling"))
    return PressResult("refused", kiosk_words("not_cancelled"))


def stopped(stop: str, result: ActionResult) -> PressResult:
    """The result of a cancel, in words for the guest."""
    if result.outcome == "done":
        return PressResult("ok", kiosk_words("withdrawn" if stop == "withdraw" else "cancelled"))
    if result.outcome in ("armed", "unconfirmed") or result.code == BUSY:
        return PressResult("waiting", kiosk_words("cancelling"))
    if result.outcome == "not_sent":
        return PressResult("trouble", kiosk_words("not_asked"))
    words = kiosk_words("not_cancelled")
    if result.code:
        headline = refusal(result.code, Audience.GUEST, ordering=False).headline
        words = Said(headline, "", words.next)
    return PressResult("refused", words)
