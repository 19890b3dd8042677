"""Why a ride needs attention, and the suggested action (docs/wording.md 2)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ridedash import wire
from ridedash.forms.phones import tel
from ridedash.rides.actions.acknowledge import LONG_SEARCH, NOT_BOOKED, SEEN_LONG_SEARCH
from ridedash.rides.actions.door_marks import mark_of
from ridedash.rides.state.transitions import HELD, LATE_DOUBLE
from ridedash.rides.tracking.merge import CAR_SWAPPED, DRIVER_LOST
from ridedash.store.orders import OrderState
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.notices import Notice
from ridedash.wording import action_words
from ridedash.wording import gettext as _
from ridedash.wording.attention import door_words, seen_verb

SEARCH_TOO_LONG: Final = timedelta(minutes=2)  # half of the time that the service searches
WAIT_TOO_LONG: Final = timedelta(minutes=2)
LOUD: Final = ("warn", "unknown", "bad")
RECONNECT: Final = "reconnect"  # shown once for the account, not for each of its rides
ARMED: Final = "cancel_armed"  # the worker will send this cancel, so no one has to act
PANELS: Final = ("cancel", "abort", "drop", "feedback")  # of a ride's page, for its actions
# notice, and the attention item to clear once the guest has been informed
GUEST_MUST_KNOW: Final = {"swapped": CAR_SWAPPED, DRIVER_LOST: DRIVER_LOST}


@dataclass(frozen=True)
class Do:
    """The suggested action.

    `what` is "open" (the ride's panel with the name `on`), "again" (book again), "seen" (clear the
    attention item with the name `on`), "call" (a telephone number) or "go" (another page). `href`
    leads there without scripts.
    """

    what: str
    label: str
    href: str
    on: str = ""


@dataclass(frozen=True)
class Need:
    """The reason in words, and the suggested action."""

    why: str
    do: Do


def need_of(
    facts: RideFacts, notices: tuple[Notice, ...], *, live: bool, stale: bool, paused: bool
) -> Need | None:
    """Why this ride needs attention now; None when it does not.

    `paused`: the top bar already says that no ride is being updated, so the rows don't repeat it.
    """
    page = facts.page
    if page.order.state == OrderState.UNKNOWN:
        return Need("", _open(facts, _("Say what happened"), "resolve"))
    double = next((n for n in notices if n.name == LATE_DOUBLE), None)
    # checked before `superseded_by`, which would hide it: such an order has usually been booked
    # again
    if double is not None:
        return Need(double.title, _about(facts, double))
    if page.superseded_by is not None:
        return None
    loud = next((n for n in notices if n.tone in LOUD and not _needs_no_action(facts, n)), None)
    if loud is not None:
        return Need(loud.title, _about(facts, loud))
    if any(n.name == NOT_BOOKED for n in notices):
        return Need("", _again(facts))  # the headline already says it
    if not live or (stale and paused):
        return None
    return _slow(facts, stale=stale)


def _needs_no_action(facts: RideFacts, notice: Notice) -> bool:
    """Whether a notice with an alarming tone needs no action here.

    That is so if it is shown elsewhere, if the worker acts by itself, or if it was acknowledged.
    """
    if notice.name == "swapped":
        return all(each.name != CAR_SWAPPED for each in facts.page.attention)
    return notice.name in (RECONNECT, ARMED)


def _slow(facts: RideFacts, *, stale: bool) -> Need | None:
    if stale:
        return Need(_("Not updating"), _call(facts, facts.snapshot.driver_number, _("Call driver")))
    if facts.status in wire.SEARCHING:
        return _searching(facts)
    mark = mark_of(facts.page)
    if facts.status == wire.CLIENT_LOCATED and mark and mark[0] == "away":
        return Need(door_words("away"), _call(facts, facts.page.guest.phone, _("Call guest")))
    since = _status_since(facts)
    if since is None:
        return None
    lasts = timedelta(seconds=facts.time.counted(since, facts.now))
    if facts.status == wire.CLIENT_LOCATED and lasts >= WAIT_TOO_LONG:
        return Need(_("Driver is waiting"), _call(facts, facts.page.guest.phone, _("Call guest")))
    return None


def _searching(facts: RideFacts) -> Need | None:
    """A driver was lost, or none has come for long, and nobody has said that they wait for one."""
    lost = facts.since(DRIVER_LOST)
    since = _status_since(facts)
    waits = facts.since(SEEN_LONG_SEARCH)
    begun = max((at for at in (lost, since) if at is not None), default=None)
    if waits is not None and begun is not None and waits >= begun:
        return None
    wait = Do("seen", seen_verb(LONG_SEARCH), _address(facts), LONG_SEARCH)
    if lost is not None or facts.status == wire.ALLOTMENT_RETRYING:
        return Need(_("Driver cancelled"), wait)
    if since is None or timedelta(seconds=facts.time.counted(since, facts.now)) < SEARCH_TOO_LONG:
        return None
    return Need(_("Long search"), wait)


def _status_since(facts: RideFacts) -> datetime | None:
    """Since when the ride has its status; None without a ride."""
    return facts.since(facts.status or "")


def changes_of(facts: RideFacts) -> list[datetime]:
    """The instants at which time alone makes a ride need attention."""
    since = _status_since(facts)
    if since is None:
        return []
    waits = {wire.CLIENT_LOCATED: WAIT_TOO_LONG} | dict.fromkeys(wire.SEARCHING, SEARCH_TOO_LONG)
    if facts.status not in waits:
        return []
    wait = waits[facts.status]
    if not facts.time.turns:
        return [since + wait]
    at = facts.time.due(since, wait.total_seconds())
    return [] if at is None else [at]


def _about(facts: RideFacts, notice: Notice) -> Do:
    order = facts.page.order
    if notice.name in GUEST_MUST_KNOW:
        item = GUEST_MUST_KNOW[notice.name]
        return Do("seen", seen_verb(item), _address(facts), item)
    if notice.name == "plan_failed":
        return _again(facts)
    if notice.name == HELD:
        return _open(facts, _("Decide"), "release")
    if notice.name == "not_ordered_yet":
        return Do("go", _("Change"), f"/rides/new?change={order.id}")
    if notice.name in ("not_known", "no_driver", "poison"):
        return _call(facts, facts.snapshot.driver_number, _("Call driver"))
    # notices about an action are named <action>_<outcome>, and the action's panel has its name
    panel = notice.name.split("_")[0]
    if panel in PANELS:
        return _open(facts, _("Look"), panel)
    return _open(facts, _("Look"))


def _again(facts: RideFacts) -> Do:
    state = facts.status or facts.page.order.state
    return Do(
        "again", action_words("again", state).label, f"/rides/new?again={facts.page.order.id}"
    )


def _call(facts: RideFacts, number: str | None, label: str) -> Do:
    dial = tel(number)
    if not dial:
        return _open(facts, _("Look"))
    return Do("call", label, dial)


def _open(facts: RideFacts, label: str, panel: str = "") -> Do:
    """Open the ride, at one of its panels if one is named."""
    if not panel:
        return Do("open", label, _address(facts))
    return Do("open", label, f"{_address(facts)}#action-{panel}", panel)


def _address(facts: RideFacts) -> str:
    return f"/rides/{facts.page.order.id}"
