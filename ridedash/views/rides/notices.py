"""The notices of a ride beside its headline: unusual facts, open actions, attention items."""

from dataclasses import dataclass, replace
from typing import Final

from ridedash import wire
from ridedash.rides.actions.acknowledge import NOT_BOOKED, SEEN_NOT_BOOKED, STOPPABLE
from ridedash.rides.actions.door_marks import mark_of
from ridedash.rides.orders.after_restore import RECOVERED
from ridedash.rides.orders.due import ORDERED_LATE
from ridedash.rides.state.codes import START_MISSED, WITHDRAWN
from ridedash.rides.state.states import FAILED_STATES
from ridedash.rides.state.transitions import HELD, NOT_STARTED, PLAN_FAILED
from ridedash.rides.tracking.merge import DRIVER_LOST
from ridedash.rides.tracking.policy import STOPPED
from ridedash.store.board import SHIFT
from ridedash.store.orders import Action
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web.formatting import plate
from ridedash.wording import Audience, outcome_words, say
from ridedash.wording import gettext as _
from ridedash.wording.attention import attention_words, door_words, seen_verb

# attention items that the headline or another notice already mentions
SAID_ELSEWHERE: Final = frozenset({"unknown", "late_double", "unknown_status", "car_swapped"})
BEGUN_OR_OVER: Final = frozenset({wire.IN_PROGRESS, *wire.TERMINAL})


@dataclass(frozen=True)
class Notice:
    """A tone and an icon of the style sheet, a title, and a line below.

    `name` identifies the notice for scripts and tests.
    """

    name: str
    tone: str
    icon: str
    title: str
    detail: str = ""
    seen: str = ""  # the attention item that a press clears
    verb: str = ""  # what its button says
    stop: bool = False  # whether "Stop following" is offered too


def notices(facts: RideFacts, audience: Audience) -> tuple[Notice, ...]:
    """All notices that apply now, in the order of the page. Guests see only a change of the car."""
    swapped = _swapped(facts)
    if audience is Audience.GUEST:
        return tuple(filter(None, [swapped]))
    found: list[Notice | None] = [
        _late_double(facts),
        swapped,
        _stopped(facts),
        _reported(facts),
        _reconnect(facts),
        _ambiguous_time(facts),
        _ordered_late(facts),
        _recovered(facts),
        _at_door(facts),
    ]
    found += [*_under_way(facts), *_attention(facts), _not_booked(facts)]
    return tuple(replace(each, verb=seen_verb(each.seen)) for each in found if each)


def _late_double(facts: RideFacts) -> Notice | None:
    if not facts.page.order.late_double or not _open_item(facts, "late_double"):
        return None
    return Notice(
        "late_double",
        "unknown",
        "unknown",
        _("Two rides may exist for this guest"),
        _(
            "A late answer came after “book again”. Stop or cancel the older one, or keep both on "
            "purpose."
        ),
        seen=_open_item(facts, "late_double"),
    )


def _swapped(facts: RideFacts) -> Notice | None:
    ride = facts.page.ride
    if ride is None or not ride.previous_plate or facts.status not in wire.BEFORE_RIDE:
        return None
    new = plate(facts.snapshot.vehicle_number)
    title = say((_("Car changed: now {new}"), _("Car changed")), {"new": new})
    old = say(_("Tell the guest. It was {old}."), {"old": plate(ride.previous_plate)})
    return Notice("swapped", "warn", "car", title, old, seen=_open_item(facts, "car_swapped"))


def _stopped(facts: RideFacts) -> Notice | None:
    """The notice that a person stopped the polling of a ride that had not ended."""
    ride = facts.page.ride
    at = facts.since(STOPPED)
    if ride is None or at is None or ride.ended_at is not None or ride.next_poll_at is not None:
        return None
    title = say(_("Followed no longer, since {at}"), {"at": facts.at(at)})
    return Notice(
        STOPPED,
        "info",
        "info",
        title,
        _("The ride itself is not affected. This page shows the last news."),
    )


def _reported(facts: RideFacts) -> Notice | None:
    ride = facts.page.ride
    if ride is None or not ride.reported:
        return None
    title = say(_("The ride company reports “{status}”"), {"status": ride.reported})
    return Notice(
        "reported",
        "warn",
        "info",
        title,
        _("We don't know that word. What you see is the last we understood; we keep checking."),
    )


def _reconnect(facts: RideFacts) -> Notice | None:
    if facts.page.account.state != "reconnect":
        return None
    return Notice(
        "reconnect",
        "warn",
        "link",
        _("The account needs reconnecting"),
        _("Until a manager reconnects it, this page shows the last facts."),
    )


def _ambiguous_time(facts: RideFacts) -> Notice | None:
    """The notice that clocks show the planned pickup time twice, and which one is meant."""
    order = facts.page.order
    if order.state != "SCHEDULED" or order.pickup_at is None:
        return None
    here = order.pickup_at.astimezone(facts.tz)
    if here.utcoffset() == here.replace(fold=1 - here.fold).utcoffset():
        return None
    title = _("%(time)s comes twice that night", time=f"{here:%H:%M}")
    detail = _("Clocks go back then. The car is booked for the first of the two.")
    if here.fold:
        detail = _("Clocks go back then. The car is booked for the second of the two.")
    return Notice("twice", "info", "info", title, detail)


def _ordered_late(facts: RideFacts) -> Notice | None:
    """The notice that the planned ride could not be ordered when it was due."""
    late = next((m.detail for m in reversed(facts.page.events) if m.name == ORDERED_LATE), None)
    if late is None or facts.status in BEGUN_OR_OVER or facts.page.order.state in FAILED_STATES:
        return None
    title = _("Booked %(n)s min late", n=late)
    detail = _("The car may come late: tell the guest.")
    return Notice("ordered_late", "info", "waiting", title, detail)


def _recovered(facts: RideFacts) -> Notice | None:
    """The notice that the order was recovered from the sent journal, which contains no guest."""
    if facts.page.order.recovered_at is None:
        return None
    title = _("Taken up again after a restore")
    detail = _("It was booked before. Its guest, note and price were lost with the database.")
    return Notice(RECOVERED, "info", "info", title, detail)


def _at_door(facts: RideFacts) -> Notice | None:
    """The doorman's mark, until the ride is over."""
    mark = mark_of(facts.page)
    if mark is None or facts.status in wire.TERMINAL:
        return None
    detail = say(_("Said at the door, {at}"), {"at": facts.at(mark[1])})
    return Notice("door", "info", "user", door_words(mark[0]), detail)


def _under_way(facts: RideFacts) -> list[Notice]:
    """Notices of actions: cancels that wait for a booking number (armed), actions that got no clear
    answer, and actions that were just refused or not sent.
    """
    newest: dict[str, Action] = {action.name: action for action in facts.page.actions}
    found = []
    for name, action in newest.items():
        outcome = {"calling": "unconfirmed"}.get(action.state, action.state)
        if name == "feedback" and outcome == "unconfirmed" and action.settled_at is not None:
            outcome = "unanswered"
        if outcome not in ("armed", "unconfirmed", "unanswered", "refused", "not_sent"):
            continue
        if outcome in ("refused", "not_sent") and not _still_matters(facts, action):
            continue
        if outcome == "armed" and facts.page.order.booking_id:
            found.append(_matched())
            continue
        words = outcome_words(
            name,
            outcome,
            code=action.code,
            header=action.header,
            text=action.text,
            fee=facts.fee,
            drop=facts.drop_name,
        )
        found.append(
            Notice(f"{name}_{outcome}", words.tone, words.icon, words.headline, words.detail)
        )
    return found


def _matched() -> Notice:
    """The notice that a cancel which waited for a booking number is being made now."""
    return Notice(
        "cancel_armed",
        "info",
        "waiting",
        _("Matched: it is being cancelled now"),
        _("The fee rules apply."),
    )


def _still_matters(facts: RideFacts, action: Action) -> bool:
    """Whether an action that was refused or not sent is still shown: until the next status."""
    moved = max((m.at for m in facts.page.events if m.what == "ride"), default=None)
    return moved is None or action.made_at >= moved


def _attention(facts: RideFacts) -> list[Notice]:
    found = []
    for item in facts.page.attention:
        if item.name in SAID_ELSEWHERE:
            continue
        if item.name == DRIVER_LOST and facts.status not in wire.SEARCHING | wire.BEFORE_RIDE:
            continue  # the guest has found the car, or none comes
        title, detail = attention_words(item.name, item.detail)
        if item.name == NOT_STARTED and facts.price_refused:
            prices = {"price": facts.price_refused, "ceiling": facts.ceiling}
            title = say(_("The guest pressed: it costs {price} now, above {ceiling}"), prices)
        seen = "" if item.name == HELD else item.name  # that item ends only with a decision
        found.append(
            Notice(item.name, "warn", "needs", title, detail, seen, stop=item.name in STOPPABLE)
        )
    return found


def _not_booked(facts: RideFacts) -> Notice | None:
    """The notice about an order that failed lately, if no one has acknowledged or repeated it."""
    page = facts.page
    failed = page.order.state in FAILED_STATES or facts.status == wire.ALLOTMENT_FAILED
    done_with = (
        page.superseded_by is not None
        or page.order.code in (WITHDRAWN, START_MISSED)
        or _open_item(facts, PLAN_FAILED)
        or facts.since(SEEN_NOT_BOOKED)
    )
    ended = page.order.resolved_at
    if facts.status is not None:
        ended = page.ride.ended_at if page.ride else None
    if not failed or done_with or facts.now - (ended or page.order.created_at) >= SHIFT:
        return None
    title = _("Still on the list under “Needs you”")
    return Notice(
        NOT_BOOKED,
        "quiet",
        "list",
        title,
        _("Until somebody has seen it; the hand-over sheet names it after twelve hours."),
        NOT_BOOKED,
    )


def _open_item(facts: RideFacts, name: str) -> str:
    return name if any(item.name == name for item in facts.page.attention) else ""
