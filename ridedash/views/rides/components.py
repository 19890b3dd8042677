"""The pieces of a ride's view model: each a small frozen value made from the gathered facts."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from babel.numbers import format_decimal

from ridedash import wire
from ridedash.rides.orders.guest_start import may_start
from ridedash.rides.state.codes import RESTORED, START_MISSED, WITHDRAWN
from ridedash.rides.state.states import WITHOUT_RIDE, ActionAllowed
from ridedash.rides.tracking.merge import rank
from ridedash.service_time import REAL, ServiceTime
from ridedash.store.orders import Ride
from ridedash.views.rides.facts import RideFacts, status_of
from ridedash.views.rides.notices import Notice, notices
from ridedash.views.web.formatting import (
    day_time,
    first_name,
    initials,
    minutes,
    plate,
    span,
    spelled,
    stamp,
)
from ridedash.wire import Kind
from ridedash.wording import (
    Audience,
    Words,
    action_words,
    note_words,
    order_words,
    refusal,
    say,
    service_quote,
    status_step,
)
from ridedash.wording import gettext as _
from ridedash.wording import status_words as words_of_status
from ridedash.wording.languages import formats_of

__all__ = [
    "NO_CAB",
    "NO_DRIVER",
    "ActionView",
    "CabView",
    "DriverView",
    "GuestWords",
    "NamedPoint",
    "Notice",
    "Position",
    "ProgressStep",
    "ShownStop",
    "StartCode",
    "Timer",
    "arrival",
    "buttons",
    "cab",
    "driver",
    "drop_place",
    "guest_words",
    "lead",
    "notices",
    "position",
    "route",
    "running_speed",
    "start_code",
    "steps",
    "timer",
    "titled",
]

OLD_PLATE_FOR: Final = timedelta(seconds=30)


@dataclass(frozen=True)
class Timer:
    """A timer. In `pattern`, {up} is the time since `since`, {down} the time left to `until`,
    and {total} the time between both.

    A timer that stands still has only words, without instants.
    """

    pattern: str
    since: str
    until: str
    text: str  # the pattern filled in for the present time
    speed: float | None = None  # how many seconds it counts per second; None: one


End = tuple[datetime, float]  # (start, seconds by the service's clock until the end)


@dataclass(frozen=True)
class ActionView:
    """A button and its words; `note`: why it is disabled, or that no booking number is known."""

    name: str
    label: str
    icon: str
    about: str
    allowed: bool
    note: str

    def as_json(self) -> dict[str, Any]:
        """The name, and the fields that may change while a page is open."""
        short: dict[str, Any] = {"name": self.name, "label": self.label, "allowed": self.allowed}
        if self.note:
            short["note"] = self.note
        return short


@dataclass(frozen=True)
class ProgressStep:
    """One step of the progress line: done, now, todo or off (the ride ended before it)."""

    label: str
    state: str
    time: str


@dataclass(frozen=True)
class Position:
    """The cab's last known point, its heading in degrees, and when it was there."""

    lat: float
    lng: float
    bearing: float | None
    at: str


@dataclass(frozen=True)
class CabView:
    """The plate, also letter by letter, and the car; for 30 s after a swap also the old plate."""

    plate: str
    spelled: str
    car: str
    was: str
    was_until: str


NO_CAB: Final = CabView("", "", "", "", "")


@dataclass(frozen=True)
class DriverView:
    """Name, phone and rating as far as known, and initials in place of a picture."""

    name: str
    phone: str
    rating: str
    initials: str


NO_DRIVER: Final = DriverView("", "", "", "")


@dataclass(frozen=True)
class StartCode:
    """The presence of a start code. The code itself is shown only on request, which is recorded."""

    label: str


@dataclass(frozen=True)
class GuestWords:
    """What a guest reads about their ride; `meet`: the meeting place, while the driver is there.

    `price` and `pays`: how much it costs and who pays it, where the desk's screen is turned to
    them; "" where the other words say it.
    """

    headline: str
    detail: str
    meet: str
    price: str = ""
    pays: str = ""


@dataclass(frozen=True)
class NamedPoint:
    """A point, in degrees WGS84, and its name."""

    lat: float
    lng: float
    name: str


@dataclass(frozen=True)
class ShownStop:
    """A stop of a shared ride: who gets in (`pickup`) or out (`drop`) there."""

    name: str
    state: str
    lat: float
    lng: float


def lead(facts: RideFacts, audience: Audience) -> Words:
    """Headline, line below, tone, icon: of the ride once it is booked, of the order before that."""
    if facts.status is not None:
        return words_of_status(facts.status, facts.kind, audience, facts.for_words)
    order = facts.page.order
    restored = order.held_at is not None or order.code == RESTORED
    words = order_words(order.state, audience, facts.for_words, restored=restored)
    if order.state in ("REJECTED", "NOT_SENT"):
        return _refused(facts, audience, words)
    if order.state == "UNKNOWN" and audience is Audience.STAFF:
        sentences = words.detail, service_quote(facts.answered)
        return replace(words, detail=" ".join(filter(None, sentences)))
    return words


def guest_words(facts: RideFacts) -> GuestWords:
    """The headline and the line below for the guest, with the driver's first name."""
    status = facts.status
    if status is None:
        return _guest_words_of_order(facts)
    known = facts.for_words | {"driver": first_name(facts.snapshot.driver_name)}
    if facts.drop is None:
        known["drop"] = _("where you tell the driver")
    words = words_of_status(status, facts.kind, Audience.GUEST, known)
    here = status == wire.CLIENT_LOCATED or (status == wire.INVOICE and facts.kind is not Kind.AUTO)
    meet = _("At %(pickup)s", pickup=facts.pickup[1]) if here else ""
    return GuestWords(words.headline, words.detail, meet)


def _guest_words_of_order(facts: RideFacts) -> GuestWords:
    order = facts.page.order
    words = lead(facts, Audience.GUEST)
    if order.state == "SCHEDULED":
        instant = order.pickup_at or order.due_at
        due = day_time(instant, facts.now, facts.tz, facts.locale)
        return GuestWords(words.headline, _("For %(due)s", due=due), "")
    waits = order.state == "WAITING" and order.held_at is None
    if waits and not may_start(order, facts.now):
        # the page has no button any more; if no worker runs, the order is still WAITING
        refused = refusal(START_MISSED, Audience.GUEST)
        return GuestWords(_("Not booked"), refused.headline, "")
    return GuestWords(words.headline, words.detail, "")


def state_for_followers(facts: RideFacts) -> str:
    """The order state that a follower is told; it may differ from the order's own state.

    A held order that waits for its guest may have been sent before the database was restored, so
    its outcome is unknown. When the time for the guest's press is over, nothing was ordered, even
    if no worker has ended the order yet.
    """
    order = facts.page.order
    if order.state != "WAITING":
        return order.state
    if order.held_at is not None:
        return "UNKNOWN"
    if not may_start(order, facts.now):
        return "NOT_SENT"
    return order.state


def _refused(facts: RideFacts, audience: Audience, words: Words) -> Words:
    code = _refusal_code(facts)
    refused = refusal(code, audience, message=facts.answered, fee=facts.fee)
    if code in (WITHDRAWN, START_MISSED):  # a withdrawal or a missed start is not a failure
        if audience is Audience.GUEST:
            ended = _("Not booked") if code == START_MISSED else _("Ride cancelled")
            return Words(ended, refused.headline, "quiet", words.icon)
        return Words(refused.headline, f"{refused.why} {refused.next_step}", "quiet", words.icon)
    if audience is Audience.GUEST:
        return Words(words.headline, refused.headline, words.tone, words.icon)
    headline = refused.headline
    if not refused.headline.startswith(words.headline.split(":")[0]):
        headline = _("Not booked: %(why)s", why=_within(refused.headline, facts.locale))
    sentences = [refused.why, refused.next_step, service_quote(refused.quote)]
    return Words(headline, " ".join(filter(None, sentences)), words.tone, words.icon)


def _refusal_code(facts: RideFacts) -> str | None:
    """What explains an order that is REJECTED or NOT_SENT: its code, else its state or its kind."""
    order = facts.page.order
    if order.code:
        return order.code
    if order.state == "NOT_SENT":
        return "NOT_SENT"
    if facts.kind is Kind.SHARE:
        return "SHARE_NONE"
    return None


def _within(text: str, locale: str) -> str:
    """A headline as it stands within a sentence: only English begins it with a small letter."""
    if locale != "en":
        return text
    return text[:1].lower() + text[1:]


def timer(facts: RideFacts) -> Timer | None:
    """The timer that is useful in this state: of the search, of the wait, or of our request."""
    order = facts.page.order
    if order.state in ("SENDING", "UNKNOWN"):
        # we are waiting for the answer, in real time
        return _timer(REAL, facts.now, "{up}", order.sent_at)
    if order.state == "MATCHING":
        end = _search_end(facts)
        return _timer(facts.time, facts.now, _("{down} left"), order.sent_at, end)
    if facts.status in wire.SEARCHING:
        return _search_timer(facts)
    if facts.status == wire.CLIENT_LOCATED and facts.page.ride is not None:
        came = facts.since(wire.CLIENT_LOCATED)
        return _timer(facts.time, facts.now, _("waiting {up}"), came)
    return None


def _search_timer(facts: RideFacts) -> Timer | None:
    """The timer of the search, or of its last retry; with its end if that is known and to come."""
    since = facts.page.order.sent_at
    if facts.status == wire.ALLOTMENT_RETRYING:
        since = facts.since(wire.ALLOTMENT_RETRYING)
    end = _search_end(facts)
    if end is None or since is None or facts.time.left(*end, since) <= 0:
        return _timer(facts.time, facts.now, "{up}", since)
    return _timer(facts.time, facts.now, _("{up} of {total}"), since, end)


def _search_end(facts: RideFacts) -> End | None:
    """When the search ends; None if unknown."""
    order = facts.page.order
    ride = facts.page.ride
    if order.booking_timeout_at is not None:
        return order.booking_timeout_at, 0.0
    if ride is None or order.booking_timeout_s is None:
        return None
    return ride.created_at, order.booking_timeout_s


def _timer(
    time: ServiceTime, now: datetime, pattern: str, since: datetime | None, end: End | None = None
) -> Timer | None:
    """A timer; None if its start, or the end to which it counts down, is unknown.

    While the service's clock is stopped, the timer has only words.
    """
    if since is None or ("{down}" in pattern and end is None):
        return None
    until = None
    over = False
    slots = {"up": span(time.counted(since, now))}
    if end is not None:
        until = time.due(*end)
        over = "{down}" not in pattern and time.left(*end, now) <= 0
        slots["down"] = span(time.left(*end, now))
        slots["total"] = span(time.left(*end, since))
    text = slots["up"] if over else say(pattern, slots)
    if time.held:
        return Timer(text, "", "", text)
    if time.turns:
        # the total is filled in here: after a turn of the clock, `until` minus `began` may differ
        pattern = pattern.replace("{total}", slots.get("total", ""))
    began = time.as_if_never_turned(since)
    return Timer(pattern, stamp(began), stamp(until), text, running_speed(time))


def running_speed(time: ServiceTime) -> float | None:
    """How many seconds a running clock of the service counts per second; None: one."""
    return None if time.shown_speed == 1 else time.shown_speed


def buttons(facts: RideFacts, allowed: tuple[ActionAllowed, ...]) -> tuple[ActionView, ...]:
    """The actions in words, in the order of their buttons."""
    views = []
    state = status_of(facts.page) or facts.page.order.state
    for action in allowed:
        words = action_words(action.name, state)
        note = ""
        if not action.allowed or action.note == "no_booking_id":
            note = note_words(action.note)
        views.append(
            ActionView(action.name, words.label, words.icon, words.about, action.allowed, note)
        )
    return tuple(views)


def steps(facts: RideFacts) -> tuple[ProgressStep, ...]:
    """The kind's statuses as steps with times; none if the order is UNKNOWN or in WITHOUT_RIDE."""
    if facts.page.order.state in {"UNKNOWN", *WITHOUT_RIDE}:
        return ()
    sequence = [
        s
        for s in wire.SEQUENCE[facts.kind]
        if s != wire.INVOICE or facts.kind is not Kind.POINT_TO_POINT
    ]
    status = status_of(facts.page)
    reached = [s for s in sequence if facts.since(s) is not None]
    if status in (wire.ALLOTMENT_FAILED, wire.BOOKING_CANCELLED):
        now_at = -1
    elif facts.page.order.state in ("BOOKED", "MATCHING", "SENDING"):
        now_at = _farthest(facts.kind, sequence, status)
    else:
        now_at = -2
    return tuple(_step(facts, s, i, now_at, s in reached) for i, s in enumerate(sequence))


def _farthest(kind: Kind, sequence: list[str], status: str | None) -> int:
    """The index of the step of a status, or of the step before it if the status has none.

    INVOICE of a point-to-point ride has no step and counts as CLIENT_LOCATED, so that the number of
    steps stays the same.
    """
    passed = [i for i, step in enumerate(sequence) if rank(kind, step) <= rank(kind, status)]
    return max(passed, default=0)


def _step(facts: RideFacts, status: str, index: int, now_at: int, reached: bool) -> ProgressStep:
    over = now_at == -1
    if index < now_at or (over and reached) or (index == now_at and status == wire.COMPLETED):
        state = "done"
    elif index == now_at:
        state = "now"
    elif over:
        state = "off"
    else:
        state = "todo"
    time = facts.at(facts.since(status)) if state in ("done", "now") else ""
    return ProgressStep(status_step(status, facts.kind), state, time)


def position(facts: RideFacts) -> Position | None:
    """The cab's position, from the acceptance by a driver until the ride is over; else None."""
    ride = facts.page.ride
    point = facts.snapshot.position
    if ride is None or facts.status not in wire.CAB_KNOWN or point is None:
        return None
    at = stamp(ride.position_at or ride.seen_at)
    return Position(round(point.lat, 6), round(point.lng, 6), facts.snapshot.bearing, at)


def arrival(facts: RideFacts) -> str:
    """The minutes until the cab arrives at the pickup or the drop; "" unless it is driving."""
    if facts.status not in (wire.CALL_DRIVER, wire.IN_PROGRESS):
        return ""
    return minutes(facts.eta_s)


def cab(facts: RideFacts) -> CabView | None:
    """The car, from the acceptance by a driver; None before, and after a cancelled ride."""
    seen = facts.snapshot
    ride = facts.page.ride
    if ride is None or facts.status not in wire.HAD_CAB:
        return None
    if not seen.vehicle_number and not seen.vehicle_type:
        return None
    car = " · ".join(
        filter(None, [titled(seen.vehicle_color), titled(seen.vehicle_type), seen.car_model])
    )
    number = plate(seen.vehicle_number)
    return CabView(number, spelled(number), car, *_old_plate(facts, ride))


def _old_plate(facts: RideFacts, ride: Ride) -> tuple[str, str]:
    """The plate before a swap, and until when it is shown; ("", "") if it is not, or no longer."""
    was = plate(ride.previous_plate)
    if not was or ride.swapped_at is None or facts.status not in wire.CAB_KNOWN:
        return "", ""
    until = ride.swapped_at + OLD_PLATE_FOR
    if facts.now >= until:
        return "", ""
    return was, stamp(until)


def titled(text: str | None) -> str:
    """A word of the service as a title: "white" and "WHITE" become "White", "SUV" stays."""
    if not text:
        return ""
    rest = text[1:]
    if text.isupper() and len(text) > 3:
        rest = rest.lower()
    return text[:1].upper() + rest


def driver(facts: RideFacts) -> DriverView | None:
    """The driver, from the acceptance on; None before, and after a cancelled ride."""
    seen = facts.snapshot
    if facts.status not in wire.HAD_CAB or not (seen.driver_name or seen.driver_number):
        return None
    rating = ""
    if seen.driver_rating:
        rating = format_decimal(seen.driver_rating, "0.0", locale=formats_of(facts.locale))
    return DriverView(
        seen.driver_name or "", seen.driver_number or "", rating, initials(seen.driver_name)
    )


def start_code(facts: RideFacts) -> StartCode | None:
    """The label of the start code; None unless the service sends a code in the present status."""
    ride = facts.page.ride
    if ride is None or ride.otp_enc is None or facts.status not in wire.MAY_HAVE_OTP:
        return None
    return StartCode(facts.snapshot.otp_text or _("Start code"))


def route(facts: RideFacts) -> tuple[ShownStop, ...]:
    """Stops of a shared ride, for staff only, because stops name other passengers."""
    return tuple(
        ShownStop(
            stop.name or "",
            stop.state or "",
            round(stop.position.lat, 6),
            round(stop.position.lng, 6),
        )
        for stop in facts.snapshot.route
        if stop.position is not None
    )


def drop_place(facts: RideFacts) -> NamedPoint | None:
    """Where the ride goes now; None if no drop is known."""
    if facts.drop is None:
        return None
    point, name = facts.drop
    return NamedPoint(round(point.lat, 6), round(point.lng, 6), name)
