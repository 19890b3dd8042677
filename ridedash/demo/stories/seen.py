"""Checks the rides of a story: whether a step may go on, and how the story ended."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from ridedash.demo.sandbox_control import LedgerEntry
from ridedash.demo.stories.model import (
    AllReached,
    Answering,
    Check,
    Count,
    CountCheck,
    Dearer,
    EndsAs,
    Fresh,
    Happened,
    Happens,
    HasStatus,
    Noted,
    NotOffered,
    Pressed,
    Reached,
    RefusedCheck,
    Seen,
    Settled,
)
from ridedash.demo.stories.runs import LATE, StoryRun
from ridedash.extensions import services
from ridedash.rides.tracking.merge import rank
from ridedash.store.models.orders import Order, OrderState, Ride, TimelineEvent
from ridedash.wire import ALLOTMENT_RETRYING, COMPLETED, TERMINAL, Kind, normal_code
from ridedash.wording import gettext as _
from ridedash.wording import refusal
from ridedash.wording.say import Audience, ngettext
from ridedash.wording.states import status_words

# a live ride that was polled within this time counts as followed
FRESH: Final = timedelta(seconds=10)


@dataclass(frozen=True)
class CheckedLine:
    """A check at the end of a story, and whether it holds."""

    words: str
    holds: bool


def is_seen(run: StoryRun, wanted: Seen) -> bool:
    """Whether the condition of a step holds."""
    with services().db.read() as s:
        match wanted:
            case Settled(states, ride):
                order = order_of(s, run, ride)
                return order is not None and order.state in states
            case Reached(status, ride):
                return _has_reached(s, run, ride, status)
            case AllReached(status, rides):
                return all(_has_reached(s, run, ride, status) for ride in rides)
            case HasStatus(statuses, ride):
                found = ride_of(s, run, ride)
                return found is not None and found.status in statuses
            case Happened(event, ride):
                return _events(s, run, ride, event) > 0
            case Answering(answers):
                return _is_followed(s, run.property_id) == answers


def ride_behind(run: StoryRun, wanted: Seen) -> Ride | None:
    """The ride whose next change in the sandbox may meet the condition; None if there is none."""
    with services().db.read() as s:
        match wanted:
            case Reached() | HasStatus() | Happened():
                return ride_of(s, run, wanted.ride)
            case AllReached(status, rides):
                behind = (each for each in rides if not _has_reached(s, run, each, status))
                return ride_of(s, run, next(behind, rides[0]))
            case _:
                return None


def all_shown(property_id: int) -> bool:
    """Whether every ride under way was polled since the last change of the service's clock.

    Otherwise the next change could skip a status, and the story would depend on the order of the
    polls.
    """
    turned_at = services().time().turned_at
    if turned_at is None:
        return True
    behind = or_(Ride.seen_at.is_(None), Ride.seen_at <= turned_at)
    followed = Ride.ended_at.is_(None), Ride.next_poll_at.is_not(None)
    query = select(Ride.id).where(Ride.property_id == property_id, *followed, behind).limit(1)
    with services().db.read() as s:
        return s.scalars(query).first() is None


def fresh_rides(property_id: int) -> tuple[int, int]:
    """How many rides under way were polled a moment ago, and how many rides are under way."""
    mine = Ride.property_id == property_id, Ride.ended_at.is_(None)
    with services().db.read() as s:
        seen = list(s.scalars(select(Ride.seen_at).where(*mine)))
    now = services().clock()
    return sum(at is not None and now - at < FRESH for at in seen), len(seen)


def lines(run: StoryRun, ends: tuple[Check, ...], ledger: list[LedgerEntry]) -> list[CheckedLine]:
    """The results of a story's checks, and a line about bookings that were made once more.

    `ledger` is the list of all bookings in the sandbox; the rest is read from our database and the
    values of the run.
    """
    with services().db.read() as s:
        found = [_line(s, run, each, ledger) for each in ends]
    late = len(_late(run))
    if late:
        words = ngettext(
            "%(num)d booking was not sent in time, and made once more",
            "%(num)d bookings were not sent in time, and made once more",
            late,
        )
        found.append(CheckedLine(words, True))
    return found


def _line(s: Session, run: StoryRun, check: Check, ledger: list[LedgerEntry]) -> CheckedLine:
    match check:
        case Count(what, least, most):
            found = _count(s, run, what, ledger)
            return CheckedLine(_counted(what, found, most), least <= found <= most)
        case EndsAs(status, ride):
            found_ride = ride_of(s, run, ride)
            kind = Kind.POINT_TO_POINT if found_ride is None else Kind(found_ride.kind)
            words = status_words(status, kind, Audience.STAFF, {}).headline
            line = _("How the ride ended: %(words)s", words=words)
            return CheckedLine(line, found_ride is not None and found_ride.status == status)
        case Happens(event, words, ride):
            return CheckedLine(str(words), _events(s, run, ride, event) > 0)
        case RefusedCheck(code, ride):
            refused = order_of(s, run, ride)
            words = refusal(code, Audience.STAFF).headline
            return CheckedLine(words, refused is not None and _is_refused(refused, code))
        case _:
            return _line_of_run(run, check)


def _line_of_run(
    run: StoryRun, check: NotOffered | Dearer | Pressed | Fresh | Noted
) -> CheckedLine:
    """The result of a check that needs only `run.values`, which the story's actions stored."""
    prices = run.values.get("asked", {})
    match check:
        case NotOffered(name):
            refused = prices.get(name, {}).get("refused", "")
            return CheckedLine(refused or _("Not offered"), bool(refused))
        case Dearer(before, after):
            return _dearer(prices.get(before, {}), prices.get(after, {}))
        case Pressed(press, outcome, words, ride):
            result = run.values.get("pressed", {}).get(f"{ride} {press}")
            return CheckedLine(str(words), result == outcome)
        case Fresh(within_s):
            if run.values.get("unwatched"):
                return CheckedLine(_("Every ride is fresh. Nobody watched the outage end."), True)
            return _fresh(run.values.get("silent_s"), within_s)
        case Noted(name, words):
            return CheckedLine(str(words), name in run.values.get("noted", ()))


def _fresh(silent_s: int | None, within_s: int) -> CheckedLine:
    if silent_s is None:
        return CheckedLine(_("Nobody waited for the end of the outage."), False)
    if silent_s < 0:
        return CheckedLine(_("The outage was ended early, and every ride is fresh."), True)
    words = _(
        "Every ride was fresh %(n)d s after the outage, %(most)d s at most",
        n=silent_s,
        most=within_s,
    )
    return CheckedLine(words, silent_s <= within_s)


def _dearer(before: dict[str, str], after: dict[str, str]) -> CheckedLine:
    words = _(
        "%(before)s before, %(after)s now",
        before=before.get("price", "?"),
        after=after.get("price", "?"),
    )
    rose = Decimal(after.get("amount", "0")) > Decimal(before.get("amount", "0")) > 0
    return CheckedLine(words, rose and bool(after.get("busy")) and not before.get("busy"))


def _is_refused(order: Order, code: str) -> bool:
    return order.state == OrderState.REJECTED and normal_code(order.code or "") == normal_code(code)


def _counted(what: CountCheck, n: int, most: int) -> str:
    match what:
        case CountCheck.BOOKINGS:
            return ngettext(
                "%(num)d booking at the ride company", "%(num)d bookings at the ride company", n
            )
        case CountCheck.ORDERS:
            return ngettext("%(num)d booking here", "%(num)d bookings here", n)
        case CountCheck.UNKNOWN:
            return ngettext(
                "%(num)d booking with unknown outcome", "%(num)d bookings with unknown outcome", n
            )
        case CountCheck.REFUSED:
            return ngettext("%(num)d booking was refused", "%(num)d bookings were refused", n)
        case CountCheck.CALLS:
            return _("%(n)d calls during the outage, %(most)d at most", n=n, most=most)


def _count(s: Session, run: StoryRun, what: CountCheck, ledger: list[LedgerEntry]) -> int:
    mine = Order.property_id == run.property_id
    match what:
        case CountCheck.BOOKINGS:
            return len(ledger)
        case CountCheck.ORDERS:
            return _number(s, mine, Order.id.not_in(_late(run)))
        case CountCheck.UNKNOWN:
            return _number(s, mine, Order.state == OrderState.UNKNOWN)
        case CountCheck.REFUSED:
            return _number(s, mine, Order.state == OrderState.REJECTED)
        case CountCheck.CALLS:
            return int(run.values.get("calls", 0))


def _number(s: Session, *where: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(Order).where(*where)
    return s.scalar(query) or 0


def _late(run: StoryRun) -> list[int]:
    """The orders that were not sent in time; each was replaced by a new one."""
    return [each for ride in run.values.get(LATE, {}) for each in run.late(ride)]


def order_of(s: Session, run: StoryRun, ride: str) -> Order | None:
    """The order of a ride in the story; None before the order was placed."""
    order_id = run.order(ride)
    if order_id is None:
        return None
    return s.get(Order, order_id)


def ride_of(s: Session, run: StoryRun, ride: str) -> Ride | None:
    """A ride of the story; None before the service has accepted it."""
    order_id = run.order(ride)
    return s.scalars(select(Ride).where(Ride.order_id == order_id)).first()


def _has_reached(s: Session, run: StoryRun, name: str, status: str) -> bool:
    ride = ride_of(s, run, name)
    if ride is None:
        return False
    was = select(TimelineEvent.id).where(
        TimelineEvent.order_id == ride.order_id,
        TimelineEvent.what == "ride",
        TimelineEvent.name == status,
    )
    if ride.status == status or s.scalars(was).first() is not None:
        return True
    if status == ALLOTMENT_RETRYING:
        return False  # not each ride has a second search
    if ride.status in TERMINAL - {COMPLETED}:
        return False  # the ride has ended before that status
    kind = Kind(ride.kind)
    return rank(kind, ride.status) > rank(kind, status)


def _events(s: Session, run: StoryRun, name: str, event: str) -> int:
    query = select(func.count()).where(
        TimelineEvent.order_id == run.order(name),
        TimelineEvent.what == "event",
        TimelineEvent.name == event,
    )
    return s.scalar(query) or 0


def _is_followed(s: Session, property_id: int) -> bool:
    """Whether every ride under way was polled a moment ago, apart from rides never polled yet."""
    oldest = select(func.min(Ride.seen_at)).where(
        Ride.property_id == property_id, Ride.ended_at.is_(None)
    )
    seen = s.scalar(oldest)
    return seen is None or services().clock() - seen < FRESH
