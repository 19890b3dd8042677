"""ride_view(): the one view model of the tracking page and its JSON, of links, groups and handouts.

See docs/pages.md 1.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.places import coordinates_text
from ridedash.rides.orders.resolve import BOOK_UNDO, undo_until
from ridedash.rides.state.states import WITHOUT_RIDE, actions, held_actions
from ridedash.rides.tracking.intervals import freshness
from ridedash.rides.tracking.policy import SAME_PLACE_M
from ridedash.service.parsing.fields import Distance
from ridedash.service_time import ServiceTime
from ridedash.store.models.orders import OrderState
from ridedash.store.orders import OrderPage
from ridedash.views.rides import components as parts
from ridedash.views.rides.facts import RideFacts, status_of
from ridedash.views.rides.prices import (
    Invoice,
    detail_says_pay,
    guest_pays_words,
    guest_price,
    invoice,
    kilometres,
    price,
    service_duration,
)
from ridedash.views.web.formatting import age, listed, minutes, stamp
from ridedash.wording import Audience, Words
from ridedash.wording import gettext as _
from ridedash.wording.actions import placed_words

POLL_MIN_MS: Final = 500
POLL_MAX_MS: Final = 5_000
STILL_MS: Final = 1_000  # interval of polls between press and answer
WAITING_MS: Final = 5_000  # for an unknown outcome, before a ride is ordered, or after its end
# the fields that only staff see, as the view of a guest has them
NOT_FOR_GUESTS: Final[dict[str, Any]] = {
    "guest": None,
    "person": "",
    "route": (),
    "passengers": "",
    "share_url": "",
    "said_create": "",
    "said_drop": "",
    "undo": None,
    "over": False,
}


@dataclass(frozen=True)
class UndoOffer:
    """A press that can be taken back: by which action, and until when that is offered.

    `act` is restore for a ride that was cancelled, and withdraw or abort for a new order.
    """

    act: str
    until: str


@dataclass(frozen=True)
class RideView:
    """Everything on the page that can change while it is open, in words.

    Times are instants, from which the page's script computes ages.
    """

    version: int
    order_state: str
    booking_status: str | None
    booking_id: str | None
    kind: str
    headline: str
    detail: str
    tone: str
    icon: str
    # the words for the guest, shown when staff turn the desk's screen to the guest
    guest: parts.GuestWords | None
    person: str  # for staff: another value once the guest, as the page names them, is corrected
    timer: parts.Timer | None
    notices: tuple[parts.Notice, ...]
    actions: tuple[parts.ActionView, ...]
    steps: tuple[parts.ProgressStep, ...]
    position: parts.Position | None
    cab: parts.CabView | None
    driver: parts.DriverView | None
    otp: parts.StartCode | None
    route: tuple[parts.ShownStop, ...]
    drop: parts.NamedPoint | None
    eta: str  # the minutes until the cab arrives: at the pickup, then at the drop
    distance: str
    distance_label: str
    took: str
    fare: str
    fare_note: str
    invoice: Invoice | None
    passengers: str  # names of fellow passengers, for staff
    share_url: str  # the service's own page of the ride, for staff
    said_create: str  # the service's own words when it accepted the order, for staff
    said_drop: str  # the same for the last change of drop
    fee_from: str  # when cancelling begins to cost; "" if unknown, or if the clock is stopped
    undo: UndoOffer | None  # the last press, while the page offers to take it back
    # last good poll: sent as a header, not in the JSON, because it changes without the version
    seen_at: datetime | None
    updated: str  # the age in words at `now`, for readers without scripts
    freshness: str  # fresh, aging, stale, lost: at `now`
    live: bool  # whether updates are still expected
    over: bool  # for staff: whether the ride has ended, so that there is a receipt
    poll_ms: int
    stop: bool
    speed: float | None  # how many seconds running timers count per second; None: one
    held: str  # while the service's clock is stopped: the time that it shows

    def as_json(self) -> dict[str, Any]:
        """The snapshot: only what can change, without what is empty."""
        body = dict(vars(self))
        for name in ("seen_at", "updated", "freshness"):
            del body[name]
        if self.cab:
            body["cab"] = replace(self.cab, spelled="")  # the script spells the plate itself
        if not any(action.name == "cancel" and action.allowed for action in self.actions):
            body["fee_from"] = ""
        body["steps"] = [[step.state, step.time] for step in self.steps]
        body["actions"] = [action.as_json() for action in self.actions]
        for name in ("stop", "over"):
            if not body[name]:
                del body[name]
        return {
            name: _lean(value) for name, value in body.items() if value not in (None, "", (), [])
        }


def ride_view(
    page: OrderPage,
    now: datetime,
    time: ServiceTime,
    locale: str = "en",
    audience: Audience = Audience.STAFF,
) -> RideView:
    """The view of `page` at `now` for an audience, in a language.

    Pure; never raises for odd facts.
    """
    facts = RideFacts(page, now, time, locale)
    status = status_of(page)
    lead = parts.lead(facts, audience)
    found = invoice(facts, status, audience)
    return RideView(
        version=page.order.version,
        order_state=page.order.state,
        booking_status=status,
        booking_id=page.order.booking_id,
        kind=facts.kind.value,
        **_words(lead),
        timer=parts.timer(facts),
        notices=parts.notices(facts, audience),
        actions=parts.buttons(facts, allowed_actions(page)),
        steps=parts.steps(facts),
        **_cab_facts(facts),
        drop=parts.drop_place(facts),
        eta=parts.arrival(facts),
        distance=distance_left(facts),
        distance_label=distance_label(facts),
        took=distance_and_time(facts),
        **_price(facts),
        invoice=found and found.without(lead.detail),
        **_for_staff(facts, audience),
        fee_from=stamp(facts.fee_from),
        **_freshness(page, now),
        **_clock(facts),
    )


def words_to_show(facts: RideFacts) -> parts.GuestWords:
    """What the guest reads on the desk's screen: the state of the ride, its price, who pays it."""
    words = replace(parts.guest_words(facts), price=guest_price(facts, brief=True))
    if detail_says_pay(facts):
        return words
    return replace(words, pays=guest_pays_words(facts))


def _clock(facts: RideFacts) -> dict[str, Any]:
    """The speed of the service's clock unless it is real time; while it is stopped, its time."""
    if facts.time.held:
        return {"speed": None, "held": facts.at(facts.now)}
    return {"speed": parts.running_speed(facts.time), "held": ""}


def _freshness(page: OrderPage, now: datetime) -> dict[str, Any]:
    """The age of the facts, whether updates are expected, and when to poll next."""
    ride = page.ride
    live = is_live(page)
    found: dict[str, Any] = {
        "seen_at": None,
        "updated": "",
        "freshness": "fresh",
        "live": live,
        "poll_ms": _poll_ms(page),
        "stop": _stops(page) and not _may_come_back(page, now),
    }
    if ride is None:
        return found
    if ride.seen_at is not None:
        found["seen_at"] = ride.seen_at
        found["updated"] = age((now - ride.seen_at).total_seconds())
    if live:
        found["freshness"] = freshness(ride.seen_at, now, ride.interval_s)
    return found


def allowed_actions(page: OrderPage) -> tuple[Any, ...]:
    """The actions that staff may take now, from the rows of a page."""
    state = OrderState(page.order.state)
    if state in (OrderState.SCHEDULED, OrderState.WAITING) and page.order.held_at is not None:
        return held_actions(state)
    armed = any(a.name == "cancel" and a.state == "armed" for a in page.actions)
    given = any(a.name == "feedback" and a.state != "refused" for a in page.actions)
    return actions(
        state,
        status_of(page),
        wire.kind_of(page.order.category),
        page.order.booking_id,
        armed,
        given,
    )


def _words(words: Words) -> dict[str, Any]:
    return {
        "headline": words.headline,
        "detail": words.detail,
        "tone": words.tone,
        "icon": words.icon,
    }


def _cab_facts(facts: RideFacts) -> dict[str, Any]:
    return {
        "position": parts.position(facts),
        "cab": parts.cab(facts),
        "driver": parts.driver(facts),
        "otp": parts.start_code(facts),
    }


def _for_staff(facts: RideFacts, audience: Audience) -> dict[str, Any]:
    """The fields for staff only: the service's words and its page, fellow passengers, and so on."""
    if audience is not Audience.STAFF:
        return NOT_FOR_GUESTS
    found = NOT_FOR_GUESTS | {
        "guest": words_to_show(facts),
        "person": _person(facts.page),
        "route": parts.route(facts),
        "said_create": facts.handover_message or facts.create_message,
        "said_drop": facts.accepted_message("drop"),
    }
    if facts.status in wire.CAB_KNOWN:
        found["passengers"] = listed(facts.snapshot.passengers, facts.locale)
        found["share_url"] = facts.snapshot.share_ride_url or ""
    return found | {
        "undo": _undo(facts.page, facts.now),
        "over": _is_over(facts),
    }


def _undo(page: OrderPage, now: datetime) -> UndoOffer | None:
    """How the last press can be taken back.

    A new order is withdrawn before it is sent, and its search stopped once it has a number: in
    between nothing can be taken back. A press that made several rides has a page for all of them.
    """
    if _may_come_back(page, now):
        return UndoOffer("restore", stamp(undo_until(page.order)))
    several = page.car or page.series or page.way_back or page.order.back_of
    until = page.order.created_at + BOOK_UNDO
    if several or page.staff is None or now >= until:
        return None
    for action in allowed_actions(page):
        if action.allowed and action.name in ("withdraw", "abort"):
            return UndoOffer(action.name, stamp(until))
    return None


def _person(page: OrderPage) -> str:
    """A checksum of what the page says of its guest: open pages then fetch these parts again."""
    guest = page.guest
    said = guest.name, guest.phone, guest.phone2, page.order.room, guest.erased_at is None
    return format(zlib.crc32(repr(said).encode()), "x")


def _price(facts: RideFacts) -> dict[str, Any]:
    fare, note = price(facts)
    return {"fare": fare, "fare_note": note}


def service_points(facts: RideFacts) -> str:
    """Pickup and drop as the service reports them; "" before it does.

    A point that is not where ours is says how far away it is.
    """
    sent = facts.snapshot
    if sent.pickup is None and sent.drop is None:
        return ""
    pickup = _point_words(facts, sent.pickup, facts.pickup[0])
    drop = _point_words(facts, sent.drop, facts.drop and facts.drop[0])
    return f"{pickup} – {drop}"


def _point_words(facts: RideFacts, sent: LatLng | None, ours: LatLng | None) -> str:
    if sent is None:
        return "–"
    point = coordinates_text(sent)
    if ours is None:
        return point
    away = distance_m(sent, ours)
    if away <= SAME_PLACE_M:
        return point
    far = kilometres(Distance(metres=round(away)), facts.locale)
    return _("%(point)s (%(far)s from ours)", point=point, far=far)


def distance_left(facts: RideFacts) -> str:
    """How far the cab still has to go: to the pickup, then to the drop."""
    if facts.status not in (wire.CALL_DRIVER, wire.IN_PROGRESS):
        return ""
    return kilometres(facts.snapshot.distance, facts.locale)


def distance_label(facts: RideFacts) -> str:
    """The label of `distance_left`, the driver's to the pickup or the guest's to the drop."""
    if not distance_left(facts):
        return ""
    if facts.status == wire.CALL_DRIVER:
        return _("Driver's distance")
    return _("Still to go")


def distance_and_time(facts: RideFacts) -> str:
    """Distance and duration of a completed ride, as far as they are known.

    The duration is the service's, else the time between two events of our timeline.
    """
    if facts.status != wire.COMPLETED:
        return ""
    trip = facts.snapshot.trip
    if trip is None:
        return _time_between_events(facts)
    distance = kilometres(trip.distance, facts.locale)
    time = service_duration(trip) or _time_between_events(facts)
    return " · ".join(filter(None, [distance, time]))


def _time_between_events(facts: RideFacts) -> str:
    """How long a ride took by our timeline; "" without its begin or its end."""
    began = facts.since(wire.IN_PROGRESS)
    ended = facts.since(wire.COMPLETED)
    if began is None or ended is None:
        return ""
    seconds = facts.time.elapsed(began, ended)
    if seconds < 60:  # "about under a minute" is no sentence
        return minutes(seconds)
    return _("about %(time)s", time=minutes(seconds))


def is_live(page: OrderPage) -> bool:
    """Whether updates of a ride are still expected."""
    if page.order.state in WITHOUT_RIDE:
        return False
    ride = page.ride
    return ride is None or (status_of(page) not in wire.TERMINAL and ride.next_poll_at is not None)


def _is_over(facts: RideFacts) -> bool:
    """Whether the guest's trip has ended, or can't begin any more."""
    paying = facts.status == wire.INVOICE and facts.kind is wire.Kind.AUTO
    return paying or facts.status in wire.TERMINAL


def _poll_ms(page: OrderPage) -> int:
    if page.order.state in ("UNKNOWN", "SCHEDULED", "WAITING") or not is_live(page):
        return WAITING_MS
    if page.ride is None:
        return STILL_MS
    return int(min(max(page.ride.interval_s * 1000, POLL_MIN_MS), POLL_MAX_MS))


def _stops(page: OrderPage) -> bool:
    """Whether nothing can change any more: no poll is due and no action is under way."""
    if is_live(page) or any(a.state in ("calling", "unconfirmed", "armed") for a in page.actions):
        return False
    return page.ride is None or page.ride.next_poll_at is None or page.order.state in WITHOUT_RIDE


def _may_come_back(page: OrderPage, now: datetime) -> bool:
    """Whether staff may still undo the withdrawal: then an open page of the guest keeps polling."""
    until = undo_until(page.order)
    return until is not None and now < until


def _lean(value: Any) -> Any:
    """A value as JSON without its empty fields, so that the snapshot stays small."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {
            name: _lean(item)
            for name, item in value.items()
            if item not in (None, "", (), [], False)
        }
    if isinstance(value, (list, tuple)):
        return [_lean(item) for item in value]
    return value


def placed_text(facts: RideFacts) -> str:
    """When and by whom the order was placed; with the day unless that is today."""
    page = facts.page
    at = facts.day_at(page.order.created_at)
    by = page.staff.name if page.staff else kiosk_words(page)
    return placed_words(at, by, page.order.started_by)


def kiosk_words(page: OrderPage) -> str:
    """The kiosk at which a guest placed an order, with the ride number: "Kiosk Lobby · K27".

    An order without staff and kiosk was placed at a kiosk before kiosks had names.
    """
    if page.kiosk is None:
        return _("kiosk")
    name = _("Kiosk %(name)s", name=page.kiosk.name)
    if page.kiosk.number is None:
        return name
    return f"{name} · K{page.kiosk.number}"
