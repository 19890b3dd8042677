"""The parts of a ride page besides its view model: map, trip, guest, contents of forms."""

from dataclasses import replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import request
from werkzeug.datastructures import ImmutableMultiDict

from ridedash import wire
from ridedash.extensions import Services
from ridedash.maps import MapParts, map_parts
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.service.errors import ServiceError
from ridedash.service.types.bookings import DOCUMENT_OPTIONS
from ridedash.store.companions import Companion, companions_of
from ridedash.store.models.people import Property
from ridedash.store.orders import Order, OrderPage
from ridedash.store.properties import favourites_of
from ridedash.views.rides.action_forms import FormError
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.guest_language import guest_reads
from ridedash.views.rides.guest_pencil import followed, pencil
from ridedash.views.rides.handouts import link_state
from ridedash.views.rides.known_by import known_by
from ridedash.views.rides.view_model import RideView, placed_text, service_points
from ridedash.views.web.formatting import FlightTime, flight_words, span, stamp
from ridedash.views.web.permissions import AUDIT, MANAGE, may, may_link
from ridedash.wording import Words, lazy, outcome_words, payment_name, say
from ridedash.wording import gettext as _

REASONS: Final = {  # in the words that the ride company reads, and in those for staff
    "Guest changed plans": lazy("Guest changed plans"),
    "Wait is too long": lazy("Wait is too long"),
    "Wrong pickup": lazy("Wrong pickup"),
    "Booked by mistake": lazy("Booked by mistake"),
    "Driver asked to cancel": lazy("Driver asked to cancel"),
}
SENT: Final = frozenset({"calling", "unconfirmed", "done"})
# outcomes and codes that the query of a redirect may name: ?said=name-outcome-code
QUERY_OUTCOMES: Final = frozenset({"done", "armed", "not_now"})
QUERY_CODES: Final = frozenset({"BUSY", "ALREADY_GIVEN", "BOOKING_ALLOTED"})
QUERY_ACTIONS: Final = frozenset(
    {
        "abort",
        "cancel",
        "arm",
        "disarm",
        "drop",
        "feedback",
        "release",
        "start",
        "ordered",
        "change",
        "withdraw",
        "restore",
        "wait",
        "resolve",
        "reopen",
        "stop",
        "link",
        "guest",
    }
)


def _flight(order: Order, tz: ZoneInfo, locale: str) -> str:
    return flight_words(
        order.flight, FlightTime(order.departs_at, lands=order.flight_lands), tz, locale
    )


def _riding_along(page: OrderPage, s: Services) -> list[Companion]:
    with s.db.read() as db:
        return companions_of(db, [page.order.id]).get(page.order.id, [])


def page_context(
    page: OrderPage, view: RideView, s: Services, locale: str, error: FormError | None, code: str
) -> dict[str, Any]:
    """Everything that templates/rides/page.html and templates/rides/panel.html need."""
    now = s.clock()
    facts = RideFacts(page, now, s.time(), locale)
    return {
        "page": page,
        "view": view,
        "map": ride_map(page, s),
        "home": home_of(page.property),
        "pickup": facts.pickup[1],
        "along": _riding_along(page, s),
        "service_points": service_points(facts),
        "coupon": facts.sent("coupon_code"),
        "affiliate": facts.sent("affiliate_uid") if may(MANAGE) else "",
        "placed": placed_text(facts),
        "placed_full": facts.full_at(page.order.created_at),
        "policy": policy_sentence(facts),
        "pays": payment_name(facts.payment),
        "flight": _flight(page.order, facts.tz, locale),
        "fee": facts.fee,
        "fee_now": fee_now(view, facts),
        "said": result_words(view, facts),
        "error": error,
        "typed": request.form if error else ImmutableMultiDict(),
        "sent": sent_feedback(page),
        "code": code,
        "reasons": REASONS,
        "feedback_options": feedback_options(page, s) if _offers(view, "feedback") else {},
        "support_text": support_text(facts) if view.order_state == "UNKNOWN" else "",
        "server_now": stamp(now),
        "seen_at": stamp(view.seen_at),
        "points": _points(page, view),
        "known": known_by(facts) if may(AUDIT) else None,
        "pencil": pencil(page, s, error),
        "followed": followed(page, s),
        **_beside(page, s),
    }


def _beside(page: OrderPage, s: Services) -> dict[str, Any]:
    """Further values: the right to link accounts, the ride's links, the language, favourites."""
    return {
        "may_link": may_link(),
        "links": link_state(page, s),
        "reads": guest_reads(page),
        "favourites": _favourite_drops(page, s),
    }


def _favourite_drops(page: OrderPage, s: Services) -> list[dict[str, Any]]:
    """The favourite drops that one digit chooses, for the form that changes the drop."""
    with s.db.read() as db:
        known = sorted(favourites_of(db, page.order.property_id).items())
    return [
        {"slot": slot, "name": place.name, "lat": place.lat, "lng": place.lng}
        for (kind, slot), place in known
        if kind == "drop"
    ]


def ride_map(page: OrderPage, s: Services) -> MapParts:
    """The map around the pickup; the script fits it to pickup, drop and cab."""
    facts = RideFacts(page, s.clock(), s.time(), "en")
    return map_parts(s.settings, center=facts.pickup[0], zoom=14, map_id="ride")


def home_of(prop: Property) -> dict[str, Any] | None:
    """The property as the map's script shows it; None while its pickup is not set."""
    if prop.pickup_lat is None or prop.pickup_lng is None:
        return None
    return {"lat": prop.pickup_lat, "lng": prop.pickup_lng, "name": prop.name}


def policy_sentence(facts: RideFacts) -> str:
    """The cancellation policy in a sentence, which also says so if there is none."""
    policy = facts.policy
    if policy is None:
        return _("The ride company has given no cancellation fee for this car.")
    if not policy.charge:
        return _("Cancelling is free.")
    if not policy.free_minutes:
        return say(_("Cancelling may cost {fee}."), {"fee": facts.fee})
    # minutes of the service's clock, as on the product card
    time = _("%(n)d min", n=policy.free_minutes)
    return say(
        _("Free to cancel for {time} after a driver accepts, then {fee}."),
        {"time": time, "fee": facts.fee},
    )


def fee_now(view: RideView, facts: RideFacts) -> str:
    """The cost of cancelling when the page is rendered; a script keeps it up to date."""
    left_s = _fee_left_s(facts)
    if left_s is not None and left_s > 0:
        return _("Free to cancel for another {down}").replace("{down}", span(left_s))
    if view.fee_from and facts.fee:
        return _("{fee} may be charged now").replace("{fee}", facts.fee)
    return ""


def _fee_left_s(facts: RideFacts) -> float | None:
    """For how many seconds cancelling is still free; None without a driver or a free time."""
    policy = facts.policy
    ride = facts.page.ride
    if policy is None or policy.applies_after is None or ride is None or ride.allotted_at is None:
        return None
    return facts.time.left(ride.allotted_at, policy.applies_after.seconds, facts.now)


def result_words(view: RideView, facts: RideFacts) -> Words | None:
    """The words for the result that a redirect names: `?said=name-outcome[-code]`; or None."""
    name, outcome, code = [*request.args.get("said", "").split("-"), "", "", ""][:3]
    if outcome not in QUERY_OUTCOMES or name not in QUERY_ACTIONS:
        return None
    known = code if code in QUERY_CODES else None
    found = outcome_words(name, outcome, code=known, fee=facts.fee, drop=facts.drop_name)
    if name == "drop" and outcome == "done":
        return replace(found, detail=view.said_drop)
    return found


def sent_feedback(page: OrderPage) -> dict[str, Any]:
    """The rating, labels and comment that were sent or are waiting to be sent; empty before."""
    sent = (a.payload for a in reversed(page.actions) if a.name == "feedback" and a.state in SENT)
    return next(sent, {})


def feedback_options(page: OrderPage, s: Services) -> dict[int, tuple[str, ...]]:
    """The service's labels for each rating; without an answer, those of the interface document."""
    category = page.order.category
    package = _sub_category(page)
    try:
        found = call_with_token(
            s.tokens,
            page.account.id,
            lambda token: s.client.feedback_options(category, token, package),
        )
    except (ServiceError, NeedsReconnect, NoRefreshNow):
        found = DOCUMENT_OPTIONS
    return {rating: found.for_rating(rating) for rating in range(1, 6)}


def _sub_category(page: OrderPage) -> str | None:
    """The package of a rental, which the service requires; the first one that was offered."""
    packages = page.offer.product.get("packages") or []
    if not packages or not isinstance(packages[0], dict):
        return None
    name = packages[0].get("sub_category")
    return str(name) if name else None


def support_text(facts: RideFacts) -> str:
    """What to send to the service's support about an order whose outcome is unknown.

    It does not name the guest.
    """
    order = facts.page.order
    offer = facts.page.offer
    rows = [
        f"merchant_txn_id: {order.mtx}",
        f"asked: {stamp(order.sent_at)}",
        f"category: {order.category}",
        f"pickup: {offer.pickup_lat:.5f}, {offer.pickup_lng:.5f}",
        f"HTTP status: {order.http_status or 'none'}",
    ]
    if order.evidence:
        rows.append(f"answer: {order.evidence}")
    return "\n".join(rows)


def _offers(view: RideView, name: str) -> bool:
    return any(action.name == name and action.allowed for action in view.actions)


def _points(page: OrderPage, view: RideView) -> dict[str, Any]:
    """What the page's script begins with, as JSON in the page: the pickup and the snapshot."""
    offer = page.offer
    return {
        "pickup": {
            "lat": offer.pickup_lat,
            "lng": offer.pickup_lng,
            "name": offer.pickup_name or "",
        },
        "share": view.kind == wire.Kind.SHARE.value,
        "snapshot": view.as_json(),
    }
