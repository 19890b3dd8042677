"""Handles Book at a kiosk, and then the ride: shows it and its start code, and cancels it.

The form contains the drop, the car and the guest. Who pays, and with which account, is read from
the database (rides/kiosk/place.py). The page repeats its press until it knows the result;
one press makes at most one order (docs/booking-protocol.md 1.9).
"""

from dataclasses import replace
from typing import Any, Final

from flask import Blueprint
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.geo import LatLng
from ridedash.inputs import row_id
from ridedash.rides.actions import request as actions
from ridedash.rides.actions.request import ActionResult
from ridedash.rides.kiosk import rules, tickets
from ridedash.rides.kiosk.opening import takes_orders
from ridedash.rides.kiosk.place import order_of_page, order_of_press, page_secret
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused
from ridedash.rides.kiosk.tickets import Look, Looked
from ridedash.rides.orders import resolve
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import TokenReused
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.share_links import RideOver, give_link, token_of
from ridedash.rides.state import transitions
from ridedash.rides.tracking.record import otp_of
from ridedash.rides.tracking.told import note_told
from ridedash.store import audit, kiosk_visits
from ridedash.store.actors import by_kiosk
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.orders import Offer, Order
from ridedash.store.orders import OrderPage, order_page
from ridedash.text import one_line
from ridedash.views.kiosk import ride_view
from ridedash.views.kiosk.cars import meeting_map
from ridedash.views.kiosk.pressed import Asking, Changed, NotNow, Try, press_book
from ridedash.views.kiosk.visit_requests import (
    VisitRequest,
    answer,
    by_kiosk_key,
    form_token,
    here,
    minutes_until,
    the_visit,
    within,
)
from ridedash.views.rides.print_assets import qr_code
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import KIOSK, needs
from ridedash.views.web.responses import locale
from ridedash.wording.kiosk import Said, kiosk_words

bp = Blueprint("kiosk_orders", __name__)
# attempts of one page to book: each follows a proved failure and uses a newer price
MOST_TRIES: Final = 5
REASON: Final = "cancelled by the guest on a kiosk"
# the state and the words for each reason why a kiosk may not order
REFUSALS: Final = {
    KioskRefusal.CLOSED: ("trouble", "trouble"),
    KioskRefusal.HOURS: ("trouble", "hours"),
    KioskRefusal.HOURLY: ("full", "full_hourly"),
    KioskRefusal.LIVE: ("full", "full_live"),
    KioskRefusal.UNCLEAR: ("full", "full_unclear"),
    KioskRefusal.NEEDS_CODE: ("needs_code", "needs_code"),
    KioskRefusal.WRONG_CODE: ("wrong_code", "wrong_code"),
    KioskRefusal.TOO_MANY_CODES: ("full", "too_many_codes"),
    KioskRefusal.NOT_HERE: ("refused", "car"),
    KioskRefusal.NOT_APPROVED: ("declined", "expired"),
}


@bp.post("/kiosk/order")
@needs(KIOSK)
def order() -> Response:
    """Book; a repetition of the same press makes no other order, and returns the order's result.

    After a proved failure, the same form token may book again at a newer price (`_try`).
    """
    return booked(here())


def booked(at: VisitRequest) -> Response:
    """The answer of /kiosk/order, for a guest at this kiosk or on their own phone."""
    visit = the_visit(at)
    token = form_token(at)
    offer_id = row_id(at.values.get("offer", ""))
    if visit is None or not token or offer_id is None:
        return answer("refused", kiosk_words("car"))
    try:
        tried, page = _try(at, Try(visit, token, offer_id))
        if page is None:
            if at.values.get("look") == "1":  # the page only asks for the result of an order
                return answer("sending", kiosk_words("sending"))
            if not within(at, _count_presses):
                return answer("limited", kiosk_words("slowly"))
            if not takes_orders(at.kiosk, services().clock(), zone(at.home.timezone)):
                # checked here, before the desk is asked, and again in the commit
                return _refused(at, KioskRefusal.HOURS)
            placed = press_book(at, tried)
            services().wake()
            page = _page(at, placed.order_id)
        return _answer_with_ticket(at, page, tried)
    except Asking:
        return answer("asking", kiosk_words("asking"))
    except Changed as new:
        facts = {"offer": new.offer_id, "old": new.old, "new": new.new}
        return answer("changed", kiosk_words("changed", old=new.old, new=new.new), changed=facts)
    except NotNow as why:
        return answer(why.state, why.words, **why.facts)
    except KioskRefused as refused:
        return _refused(at, refused.why)
    except GuardBusy:
        return _refused(at, KioskRefusal.SAME_GUEST, by_guard=True)
    except TokenReused:  # two presses at the same time with different contents: the order exists
        return answer("sending", kiosk_words("sending"))
    except PlaceError:
        return answer("refused", kiosk_words("car"))
    except DatabaseBusy:
        return answer("trouble", kiosk_words("trouble"))
    except CommitUnknown:  # the page repeats its press, which finds the order or makes it
        return answer("sending", kiosk_words("sending"))


@bp.post("/kiosk/ride")
@needs(KIOSK)
def ride() -> Response:
    """The ride with a number and PIN; with `code` its start code, while the driver is there."""
    at = here()
    if not within(at, _count_looks):
        return answer("limited", kiosk_words("slowly"))
    page, look = _looked_up(at)
    if page is None:
        return _not_shown(at, look)
    app = services()
    now = app.clock()
    view = ride_view.view_json(page, now, app.time(), locale())
    facts: dict[str, Any] = {
        "view": view,
        "cancel": ride_view.cancel_json(page, now, app.time(), locale()),
    }
    if at.values.get("code") == "1" and view["code_due"]:
        facts["code"] = _code(at, page)
    return answer("ok", **facts)


@bp.post("/kiosk/cancel")
@needs(KIOSK)
def cancel() -> Response:
    """Cancel the ride with a number and a PIN, by the action that is possible now."""
    at = here()
    if not within(at, _count_cancels):
        return answer("limited", kiosk_words("slowly"))
    page, look = _looked_up(at)
    if page is None:
        return _not_shown(at, look)
    stop = ride_view.stop_of(page)
    if not stop:
        outcome = ride_view.stopped_before(page)
        return answer(outcome.state, outcome.words)
    try:
        outcome = ride_view.stopped(stop, _stop(at, page.order.id, stop))
    except (DatabaseBusy, CommitUnknown):  # the service may have been called: result unknown
        return answer("trouble", kiosk_words("slowly"))
    services().wake()
    return answer(outcome.state, outcome.words)


@limiter.shared_limit("60/minute", scope="kiosk presses", key_func=by_kiosk_key)
def _count_presses() -> None:
    """Raise TooManyRequests when a kiosk sends too many presses that have made no order yet."""


@limiter.shared_limit("120/minute", scope="kiosk looks", key_func=by_kiosk_key)
def _count_looks() -> None:
    """Raise TooManyRequests when a kiosk reads rides too often: a shown ride is read 20 times a
    minute.
    """


@limiter.shared_limit("10/minute", scope="kiosk cancels", key_func=by_kiosk_key)
def _count_cancels() -> None:
    """Raise TooManyRequests when a kiosk cancels too often: each cancel calls the service."""


@limiter.shared_limit("20/minute", scope="kiosk codes", key_func=by_kiosk_key)
def _count_codes() -> None:
    """Raise TooManyRequests when a kiosk shows too many start codes."""


def _try(at: VisitRequest, first: Try) -> tuple[Try, OrderPage | None]:
    """The attempt that this press belongs to, and its order if it has made one.

    After a proved failure the same page may try again with a price that is newer than the failed
    order; a repeated press is not a new attempt.
    """
    with services().db.read() as s:
        offer = s.get(Offer, first.offer_id)
        for token in _tokens(first.form_token):
            tried = replace(first, form_token=token)
            found = order_of_press(s, at.id, tried.secret)
            if found is None or (page := order_page(s, at.property_id, found.id)) is None:
                return tried, None
            newer = offer is not None and offer.fetched_at > page.order.created_at
            if not (newer and ride_view.has_no_ride(page)):
                break
    return tried, page


def _tokens(form_token: str) -> list[str]:
    """The form tokens of all attempts that a page with this token may make, in order."""
    return [form_token, *(f"{form_token}.{number}" for number in range(1, MOST_TRIES))]


def _answer_with_ticket(at: VisitRequest, page: OrderPage | None, tried: Try) -> Response:
    """The result of a press.

    Unless there is no ride, it has the ride's number and PIN; once the outcome is known or unclear,
    also the guest's link and a map; once it is booked, the ride's present state. Only the page that
    pressed has the form token by which `_try` finds the order.
    """
    if page is None:
        return answer("sending", kiosk_words("sending"))
    outcome = ride_view.outcome(page)
    app = services()
    with app.db.read() as s:
        ticket = tickets.ticket_of(s, page.order.id)
    if ticket is None or ride_view.has_no_ride(page):
        return answer(outcome.state, outcome.words)
    known: dict[str, Any] = {
        "number": tickets.ride_number(ticket.number),
        "pin": tickets.pin_of(app.settings.secret_key, tried.secret),
    }
    if outcome.state != "sending":
        known |= _link(at, page.order.id, tried)
        pickup = LatLng(page.offer.pickup_lat, page.offer.pickup_lng)
        known["map"] = meeting_map(pickup)
    if outcome.state != "booked":
        return answer(outcome.state, outcome.words, ride=known)
    view = ride_view.view_json(page, app.clock(), app.time(), locale())
    return answer(outcome.state, outcome.words, ride=known, view=view)


def _link(at: VisitRequest, order_id: int, tried: Try) -> dict[str, Any]:
    """The guest's link as `link`, `short` and `qr`, equal in each answer to this page.

    {} if the ride is over, or the link can't be stored now.
    """
    app = services()
    token = token_of(app.settings.secret_key, tried.secret)
    try:
        give_link(app.db, app.clock(), order_id, by_kiosk(at.id), token)
    except (RideOver, DatabaseBusy, CommitUnknown):  # the next request tries again
        return {}
    link = f"{app.settings.public_url}/t/{token}"
    made = qr_code(link)
    qr = {"size": made.size, "path": made.path}
    return {"link": link, "short": link.split("://")[-1], "qr": qr}


def _refused(at: VisitRequest, why: KioskRefusal, *, by_guard: bool = False) -> Response:
    """The answer when a kiosk may not order. `by_guard`: the duplicate-booking guard refused.

    The audit log gets the reason, except for a missing code and for an approval that expired.
    """
    app = services()
    now = app.clock()
    with app.db.write() as s:
        kiosk = s.get_one(Kiosk, at.id, with_for_update=True)
        # the transaction that noticed cancelled rides was rolled back, so they are noted again
        rules.watch_ended(s, kiosk, now)
        if why not in (KioskRefusal.NEEDS_CODE, KioskRefusal.NOT_APPROVED):
            rules.note_refused(s, kiosk, why, now)
    if why is KioskRefusal.SAME_GUEST:
        return _already(at, by_guard)
    state, words = REFUSALS[why]
    return answer(state, kiosk_words(words))


def _already(at: VisitRequest, by_guard: bool) -> Response:
    """The answer when there is an open ride for the stated guest: repeats only what was typed.

    Two guests may have one name: the page asks for it again, with a room number. What the guard
    compares is the phone number, or the guest that a desk code names; a room has one car at a time.
    """
    who = rules.who_is(one_line(at.values.get("name", ""), rules.LONGEST_NAME + 1))
    other = by_guard and bool(at.values.get("phone") or at.values.get("code"))
    if who is None or other:
        return answer("already", kiosk_words("already"))
    if who.room:
        return answer("already", kiosk_words("already_room", room=who.room))
    return answer("already", kiosk_words("already_name", name=who.name), field="name")


def _looked_up(at: VisitRequest) -> tuple[OrderPage | None, Look]:
    """The ride with the form's number and PIN; None with the reason if it can't be shown.

    If this visit ordered the ride, its page has shown the ticket, which is recorded.
    """
    app = services()
    now = app.clock()
    visit = the_visit(at)
    typed = at.values.get("number", "")[:20], at.values.get("pin", "")[:20]
    with app.db.write() as s:
        look = _own_ride(s, at, typed[0]) or tickets.look_up_at(
            s, app.settings.secret_key, (at.property_id, at.id), typed, now
        )
        if look.last:
            audit.record(
                s,
                by_kiosk(at.id),
                "kiosk.pins",
                f"kiosks:{at.id}",
                "throttled",
                now,
                property_id=at.property_id,
            )
        for order_id in look.shut:
            shut = s.get_one(Order, order_id)
            transitions.raise_attention(s, shut, rules.WRONG_PINS, None, now)
        seen = look.order_id
        if visit is not None and seen and not kiosk_visits.shows_ticket(s, visit, seen):
            kiosk_visits.note_ticket(s, visit, seen, now)
    if not seen:
        return None, look
    return _page(at, seen), look


def _own_ride(s: Session, at: VisitRequest, number: str) -> Look | None:
    """The ride with this number, for the page that ordered it, which alone knows the form token.

    So wrong PINs of other people can't close a ride for the guest who is looking at it. GONE for a
    page that ordered a ride which a restored database lacks: another guest may have its number now.
    None for any other page.
    """
    visit = the_visit(at)
    token = form_token(at)
    if visit is None or not token:
        return None
    secrets = [page_secret(at.id, visit.id, each) for each in _tokens(token)]
    order = order_of_page(s, at.id, secrets)
    if order is None and at.values.get("ordered") == "1":
        return Look(Looked.GONE)
    if order is None:
        return None
    ticket = tickets.ticket_of(s, order.id)
    if ticket is None or ticket.number != tickets.read_number(number):
        return None
    return Look(Looked.FOUND, ticket.order_id)


def _not_shown(at: VisitRequest, look: Look) -> Response:
    if look.what is Looked.LIMITED:
        return answer(look.what.value, _stopped_words(at))
    words = {Looked.CLOSED: "closed", Looked.GONE: "gone"}
    return answer(look.what.value, kiosk_words(words.get(look.what, "wrong")))


def _stopped_words(at: VisitRequest) -> Said:
    """For how long wrong PINs have stopped this kiosk from showing rides."""
    now = services().clock()
    with services().db.read() as s:
        until = tickets.looks_stopped_until(s, at.id, now)
    return kiosk_words("pins", n=str(minutes_until(until, now) or 1))


def _page(at: VisitRequest, order_id: int) -> OrderPage | None:
    with services().db.read() as s:
        return order_page(s, at.property_id, order_id)


def _code(at: VisitRequest, page: OrderPage) -> str:
    """The start code, recorded in the audit log; "" without one, or above the limit."""
    app = services()
    ride = page.ride
    if ride is None or not within(at, _count_codes):
        return ""
    code = otp_of(ride, app.vault)
    if code is None:
        return ""
    with app.db.write() as s:
        audit.record_code_shown(s, by_kiosk(at.id), ride, "kiosk", app.clock())
        note_told(s, s.get_one(Order, page.order.id), app.clock())
    return code


def _stop(at: VisitRequest, order_id: int, stop: str) -> ActionResult:
    app = services()
    who = by_kiosk(at.id)
    if stop == "withdraw":
        done = resolve.withdraw(app.db, app.clock, order_id, who)
        return ActionResult("done" if done else "not_now")
    if stop == "abort":
        return actions.abort(app.runtime, order_id, who)
    if stop == "arm":
        return actions.arm_cancel(app.db, app.clock, order_id, who, REASON)
    return actions.cancel(app.runtime, order_id, who, REASON)
