"""Says what a story waits for, and whether that can still happen.

A waiting story says why and until when. If the ride was refused or has ended otherwise, the story
ends at once and says so.
"""

import math
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from ridedash.demo.beginning import control
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.stories.model import AllReached, Answering, Seen, Settled
from ridedash.demo.stories.runs import StoryRun
from ridedash.demo.stories.seen import FRESH, all_shown, fresh_rides, is_seen, order_of, ride_of
from ridedash.extensions import services
from ridedash.rides.state.codes import EXPIRED
from ridedash.rides.state.states import TRANSITIONS, WITHOUT_RIDE
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import Guest, Property
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.responses import locale
from ridedash.wire import Kind, kind_of
from ridedash.wording import gettext as _
from ridedash.wording import refusal
from ridedash.wording.say import Audience
from ridedash.wording.states import order_words, status_words


def in_vain(run: StoryRun, wanted: Seen) -> str:
    """Why the condition of a step can't be met any more; "" while it still may be met.

    For a ride that has ended, the answer says how it ended, even if the condition is met. Therefore
    call is_seen() too, and after this function, so that a change between the two calls counts as a
    success.
    """
    with services().db.read() as s:
        return next(filter(None, (_over(s, run, ride, wanted) for ride in _rides(wanted))), "")


def came_late(run: StoryRun, ride: str) -> str:
    """The words about a booking that was not sent in time; "" for any other booking."""
    with services().db.read() as s:
        order = order_of(s, run, ride)
        if order is None or (order.state, order.code) != (OrderState.NOT_SENT, EXPIRED):
            return ""
        guest = s.get_one(Guest, order.guest_id).name
    return _(
        "%(guest)s: the booking was not sent in time, and is made once more. Did the computer"
        " sleep?",
        guest=guest,
    )


def waits_for(run: StoryRun, wanted: Seen | None) -> str:
    """What a step waits for and until when, by the service's clock; "" if nothing is known."""
    if wanted is None or is_seen(run, wanted):
        if all_shown(run.property_id):
            return ""
        return _("Each ride is asked about once more, so that all screens show the same.")
    match wanted:
        case Answering(answers):
            return _outage(run) if answers else _silence()
        case Settled(_states, ride):
            return _press(run, ride)
        case AllReached(_status, rides):
            return _of_many(run, rides, wanted)
        case _:
            return _next_of(run, wanted.ride)


def _rides(wanted: Seen) -> tuple[str, ...]:
    match wanted:
        case Answering():
            return ()
        case AllReached(_status, rides):
            return rides
        case _:
            return (wanted.ride,)


def _over(s: Session, run: StoryRun, name: str, wanted: Seen) -> str:
    order = order_of(s, run, name)
    if order is None:
        return _("no ride was booked in the step before")
    words = _end_of(s, run, name, order, wanted)
    if not words:
        return ""
    guest = s.get_one(Guest, order.guest_id).name
    return _("%(guest)s: %(words)s", guest=guest, words=words)


def _end_of(s: Session, run: StoryRun, name: str, order: Order, wanted: Seen) -> str:
    """How an order or its ride has ended, in words; "" before that.

    For Settled, the state of an order that can't reach the wanted states any more.
    """
    state = OrderState(order.state)
    if isinstance(wanted, Settled):
        if state in WITHOUT_RIDE and state not in wanted.states:
            return _refused(order)
        if _leads_to(state, wanted.states):
            return ""
        return order_words(state, Audience.STAFF, {}).headline
    ride = ride_of(s, run, name)
    if state in WITHOUT_RIDE:
        return _refused(order)
    if ride is None or ride.ended_at is None:
        return ""
    status = ride.status or ""
    return status_words(status, Kind(ride.kind), Audience.STAFF, {}).headline


def _refused(order: Order) -> str:
    if order.state == OrderState.REJECTED:
        return refusal(order.code, Audience.STAFF).headline
    if order.state == OrderState.NOT_SENT and order.code:  # the code says why
        return refusal(order.code, Audience.STAFF).headline
    return order_words(order.state, Audience.STAFF, {}).headline


def _leads_to(state: OrderState, wanted: tuple[OrderState, ...]) -> bool:
    """Whether an order may still reach one of these states, by itself or by an action."""
    seen = set[OrderState]()
    ahead = [state]
    while ahead:
        now = ahead.pop()
        if now in wanted:
            return True
        if now not in seen:
            seen.add(now)
            ahead += TRANSITIONS[now]
    return False


def _press(run: StoryRun, name: str) -> str:
    with services().db.read() as s:
        order = order_of(s, run, name)
        if order is None:
            return ""
        guest = s.get_one(Guest, order.guest_id).name
        if order.state == OrderState.UNKNOWN:
            return _("%(guest)s: nobody knows yet whether a car comes.", guest=guest)
    return _("The ride company is asked for a car for %(guest)s.", guest=guest)


def _of_many(run: StoryRun, rides: tuple[str, ...], wanted: AllReached) -> str:
    behind = [each for each in rides if not is_seen(run, AllReached(wanted.status, (each,)))]
    if not behind:
        return ""
    there = _("%(n)d of %(all)d rides are there.", n=len(rides) - len(behind), all=len(rides))
    return f"{there} {_next_of(run, behind[0])}".strip()


def _next_of(run: StoryRun, name: str) -> str:
    """The next event of a ride, and when it comes."""
    with services().db.read() as s:
        order = order_of(s, run, name)
        if order is None:
            return ""
        guest = s.get_one(Guest, order.guest_id).name
        mtx = order.mtx
        kind = kind_of(order.category)
    try:
        now = control().clock().at
        ahead = [each for each in control().phases(mtx) if each.at > now]
    except NotDone:
        return ""
    if not ahead:
        return _("%(guest)s: the desk asks how the ride stands.", guest=guest)
    words = status_words(ahead[0].status, kind, Audience.STAFF, {}).headline
    return _(
        "%(guest)s, at %(at)s: %(words)s.", guest=guest, at=_shown(run, ahead[0].at), words=words
    )


def _silence() -> str:
    seconds = int(FRESH.total_seconds())
    return _("The ride company is silent. After %(n)d s the board says so.", n=seconds)


def _outage(run: StoryRun) -> str:
    """How long an outage still lasts, or how many rides are polled again after it."""
    ends = run.values.get("outage_ends", 0.0)
    left = math.ceil(ends - services().clock().timestamp())
    time = services().time()
    if left <= 0:
        fresh, rides = fresh_rides(run.property_id)
        return _("It is up again: %(n)d of %(all)d rides are fresh.", n=fresh, all=rides)
    if time.held:  # the service's clock stands still, but an outage ends at a wall-clock time
        text = _("It is down for %(n)d s more.", n=left)
    else:
        until = time.shown(datetime.fromtimestamp(ends, UTC))
        text = _(
            "It is down for %(n)d s more, until %(at)s.",
            n=left,
            at=_shown(run, until, seconds=True),
        )
    calls = services().metrics.calls_in_vain()
    before = run.values.get("calls_before", calls)
    return text + " " + _("Calls so far: %(n)d.", n=calls - before)


def _shown(run: StoryRun, at: datetime, *, seconds: bool = False) -> str:
    with services().db.read() as s:
        prop = s.get_one(Property, run.property_id)
    return clock_time(at, zone(prop.timezone), locale(), seconds=seconds)
