"""One ride as a row of the board. Pure: made from an order's page at an instant."""

import base64
import hashlib
import json
import math
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ridedash import wire
from ridedash.rides.actions.door_marks import mark_of
from ridedash.rides.state.states import BEING_SENT
from ridedash.store.orders import OrderPage, OrderState
from ridedash.views.board.attention import Do, Need, changes_of, need_of
from ridedash.views.rides import components as parts
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.notices import notices
from ridedash.views.rides.snapshot import expires_at
from ridedash.views.rides.view_model import is_live, kiosk_words
from ridedash.views.web.formatting import belonging, stamp
from ridedash.wording import Audience, say
from ridedash.wording import gettext as _
from ridedash.wording.attention import door_words

RANKS: Final = {
    wire.CLIENT_LOCATED: 2,
    wire.INVOICE: 2,
    wire.CALL_DRIVER: 3,
    wire.ALLOTMENT_RETRYING: 4,
    wire.ALLOTMENT_PENDING: 4,
    wire.PENDING: 4,
    wire.SOFT_ALLOCATED: 4,
    wire.IN_PROGRESS: 6,
}
UNKNOWN: Final = 0
NEEDS: Final = 1
PLANNED: Final = 8
ENDED: Final = 9
LATER: Final = frozenset({OrderState.SCHEDULED, OrderState.WAITING})
WAITING: Final = LATER | BEING_SENT
# letters, of 6 bits each: on a board of a thousand rows, two are equal once in 100,000 times
REVISION: Final = 6
GROUPS: Final = {UNKNOWN: "unknown", NEEDS: "needs", PLANNED: "later", ENDED: "done"}

Cab = tuple[int, float, float, int | None]  # order id, latitude, longitude, bearing in degrees


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """One ride of the list.

    `group` is unknown, needs, now, later or done; `placed` is the time of the order, in done of its
    end. `car` distinguishes the rides of one press; `fold` is equal for the cars that one guest has
    of them, which the list can show as one row. `eta`: the minutes until the cab arrives.
    `seen` is when the service last answered about the ride, if that is too long ago. `waiting` is
    true until the order has left SENDING. `mark` is the doorman's mark. `plate`, `eta` and `seen`
    are of a ride that is under way, `why` and `do` of one that needs attention.
    """

    id: int
    group: str
    icon: str
    tone: str
    headline: str
    guest: str
    room: str
    car: str
    fold: str = ""
    to: str
    plate: str = ""
    eta: str = ""
    placed: str
    timer: dict[str, Any] | None
    why: str = ""
    do: Do | None = None
    seen: str = ""
    mark: str = ""
    waiting: bool | None
    # the kiosk where a guest placed it, who pays, and that the guest is unverified; or ""
    kiosk: str

    def as_json(self) -> dict[str, Any]:
        """The fields that are not empty."""
        body = {name: value for name, value in vars(self).items() if value not in ("", None)}
        if self.do:
            body["do"] = {k: v for k, v in vars(self.do).items() if v}
        return body


@dataclass(frozen=True)
class BoardItem:
    """A row, its position in the list, its cab on the map, and when time alone changes it."""

    row: BoardRow
    json: dict[str, Any]  # the row as it is sent, with its revision `rev`
    place: tuple[float, ...]
    cab: Cab | None
    expires: datetime


def item(facts: RideFacts, *, stale: bool, paused: bool) -> BoardItem:
    """The row of an order now.

    `stale`: its facts are too old. `paused`: no ride is being updated, and the top bar says so.
    """
    page = facts.page
    shown = notices(facts, Audience.STAFF)
    live = is_live(page)
    need = need_of(facts, shown, live=live, stale=stale, paused=paused)
    rank = _rank(facts, live, need)
    row = _row(facts, live, need, GROUPS.get(rank, "now"), stale)
    changes = [
        expires_at(page, facts.now, facts.time),
        *(each for each in changes_of(facts) if each > facts.now),
    ]
    body = row.as_json()
    return BoardItem(
        row,
        body | {"rev": revision(body)},
        (rank, *_order_key(facts, rank)),
        cab_of(facts),
        min(changes),
    )


def cab_of(facts: RideFacts) -> Cab | None:
    """The cab on the map, while updates of its ride are expected."""
    at = parts.position(facts)
    if at is None or not is_live(facts.page):
        return None
    return facts.page.order.id, round(at.lat, 5), round(at.lng, 5), _whole(at.bearing)


def revision(body: object) -> str:
    """REVISION letters that change with the body."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
    return base64.urlsafe_b64encode(digest)[:REVISION].decode()


def _rank(facts: RideFacts, live: bool, need: Need | None) -> int:
    """The rank of the row: outcome unknown, needs attention, in progress (RANKS), later, ended."""
    state = facts.page.order.state
    if state == OrderState.UNKNOWN:
        return UNKNOWN
    if need is not None:
        return NEEDS
    if not live:
        return ENDED
    if state in LATER:
        return PLANNED
    return RANKS.get(facts.status or "", 5)


def _order_key(facts: RideFacts, rank: int) -> tuple[float, ...]:
    """The order within a rank: later rides by their time, others by the minutes until they arrive.

    Those without minutes follow, and what needs somebody and ended rides are newest first. The cars
    of one press were placed at one instant, and are in the order of their numbers.
    """
    order = facts.page.order
    then = order.pickup_at or order.guest_until
    if rank == PLANNED and then:
        return then.timestamp(), order.id
    if rank == ENDED:
        # without a time, the ride counts as ended just now
        return -(_ended_at(facts.page) or facts.now).timestamp(), -order.id
    number, _cars = facts.page.car or (0, 0)
    return _arrives(facts, rank), -order.created_at.timestamp(), number, -order.id


def _arrives(facts: RideFacts, rank: int) -> float:
    """The minutes until a cab arrives; whole ones, so that rows rarely change places."""
    if rank == NEEDS or facts.status not in (wire.CALL_DRIVER, wire.IN_PROGRESS):
        return 0.0
    if facts.eta_s is None:
        return math.inf
    return round(facts.eta_s / 60)


def _ended_at(page: OrderPage) -> datetime | None:
    """The end of the ride, or of an order that never became one; None if that is unknown."""
    if page.ride is None:
        return page.order.resolved_at
    return page.ride.ended_at


def _row(facts: RideFacts, live: bool, need: Need | None, group: str, stale: bool) -> BoardRow:
    page = facts.page
    words = parts.lead(facts, Audience.STAFF)
    row = BoardRow(
        id=page.order.id,
        group=group,
        icon=words.icon,
        tone=words.tone,
        headline=_headline(facts, words.headline),
        guest=page.guest.name,
        room=page.order.room or "",
        car=belonging(page.car, page.series, back=page.order.back_of is not None),
        fold=_fold(page),
        to=_drop_name(facts),
        placed=_placed(facts, group),
        timer=_timer(parts.timer(facts)),
        waiting=page.order.state in WAITING or None,
        kiosk=_kiosk(page),
    )
    if live:
        row = replace(row, plate=_plate(facts), eta=parts.arrival(facts), mark=_mark(facts))
    if live and stale and page.ride:
        row = replace(row, seen=stamp(page.ride.seen_at))
    if need:  # the reason stands in place of the mark
        why = _unless_repeated(words.headline, need.why)
        row = replace(row, why=why, do=need.do, mark="")
    return row


def _fold(page: OrderPage) -> str:
    if page.car is None:
        return ""
    return revision([page.order.group_key, page.order.guest_id])


def _drop_name(facts: RideFacts) -> str:
    drop = parts.drop_place(facts)
    if drop is None:
        return _("The guest tells the driver")
    return drop.name


def _plate(facts: RideFacts) -> str:
    cab = parts.cab(facts)
    if cab is None:
        return ""
    return cab.plate


def _kiosk(page: OrderPage) -> str:
    """Such as "Kiosk Lobby · K27 · guest pays · unverified"; "" for an order that staff placed."""
    if page.kiosk is None:
        return ""
    payer = _("guest pays") if page.order.payment == wire.CASH else _("house pays")
    words = [kiosk_words(page), payer]
    if page.guest.unverified:
        words.append(_("unverified"))
    return " · ".join(words)


def _placed(facts: RideFacts, group: str) -> str:
    """The time of the order, and for a ride that is over the time by which those are sorted.

    "" for a later ride, whose headline has another time.
    """
    if group == "done":
        return facts.day_at(_ended_at(facts.page))
    if facts.page.order.state in LATER:
        return ""
    return facts.day_at(facts.page.order.created_at)


def _mark(facts: RideFacts) -> str:
    """The doorman's last mark for the present car, in words; "" without one."""
    mark = mark_of(facts.page)
    if mark is None:
        return ""
    return door_words(mark[0])


def _headline(facts: RideFacts, headline: str) -> str:
    """The headline; for a cancelled ride with the cancellation fee, if that is known.

    An unknown outcome is named in two words, because its time stands beside it.
    """
    if facts.page.order.state == OrderState.UNKNOWN:
        return _("Outcome unknown")
    if facts.status != wire.BOOKING_CANCELLED:
        return headline
    if facts.charged:
        return f"{headline} · {say(_('fee of {fee} possible'), {'fee': facts.fee})}"
    if facts.free:
        return f"{headline} · {_('free')}"
    return headline


def _timer(timer: parts.Timer | None) -> dict[str, Any] | None:
    if timer is None:
        return None
    body: dict[str, Any] = {
        "pattern": timer.pattern,
        "since": timer.since,
        "until": timer.until,
    }
    if timer.speed is not None:
        body["speed"] = timer.speed
    return body


def _unless_repeated(headline: str, why: str) -> str:
    """The reason; "" if the headline begins with it."""
    if headline.casefold().startswith(why.casefold()):
        return ""
    return why


def _whole(bearing: float | None) -> int | None:
    return None if bearing is None else round(bearing) % 360
