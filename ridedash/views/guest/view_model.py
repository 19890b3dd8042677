"""The view models of the pages behind links: the guest's, and a smaller one for followers.

Both list the fields that they show; nothing is derived by removing fields from the staff's page
(docs/security.md 6).
"""

import zlib
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from ridedash import wire
from ridedash.rides.orders.guest_start import may_start
from ridedash.rides.share_links import LinkKind
from ridedash.rides.state.transitions import NOT_STARTED
from ridedash.service_time import ServiceTime
from ridedash.store.orders import OrderPage, OrderState
from ridedash.views.rides import components as parts
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.prices import (
    Invoice,
    detail_says_pay,
    guest_pays_words,
    guest_price,
    price_expected,
)
from ridedash.views.rides.receipt import guest_invoice
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.formatting import (
    age,
    clock_held,
    day_time,
    driver_words,
    first_name,
    plate,
    spelled,
    stamp,
)
from ridedash.wording import Audience, pgettext
from ridedash.wording import gettext as _
from ridedash.wording.attention import not_started_words
from ridedash.wording.followers import follower_words
from ridedash.wording.say import english_beneath

# with this interval three devices behind one address stay within a link's limit of 60 requests a
# minute (_count_look in views/guest/pages.py)
POLL_MS: Final = 3_000
PLATE_END: Final = 4  # how many of the last characters of a plate a follower sees


@dataclass(frozen=True)
class Pin:
    """A point of the trip, on the guest's own page only."""

    lat: float
    lng: float
    name: str


@dataclass(frozen=True)
class Ready:
    """What the guest reads before they start the ride, on their own page only."""

    car: str
    price: str  # the price that staff were shown
    ceiling: str
    pays: str
    meter: str  # says that the ride may cost more than its estimate; or ""
    refused: str  # the reason why the last press ordered nothing; or ""


@dataclass(frozen=True)
class GuestView:
    """Everything on a link's page that can change. A field that is "" is not shown.

    Its JSON has instants and no ages, so that it changes only when the ride does.
    """

    version: int
    status: str | None
    held: str  # in a demo: a message that the service's clock is held, so the car stands still
    headline: str
    detail: str
    tone: str
    icon: str
    # the English headline and the line below, if no one has reviewed their translation
    english: str
    changed: str  # a message that another car is coming instead; or ""
    changed_english: str
    was: str  # the previous plate
    plate: str
    spelled: str
    car: str
    driver: str
    driver_phone: str
    code: str
    code_label: str
    pickup: Pin | None
    drop: Pin | None
    position: parts.Position | None
    steps: tuple[parts.ProgressStep, ...]
    invoice: Invoice | None
    ready: Ready | None
    seen_at: str
    updated: str
    freshness: str
    live: bool
    unasked: bool  # the service has had no request for the ride yet: no age of an update is shown
    poll_ms: int
    stop: bool
    # for the guest alone: who pays, and how; and how much, as far as it is known
    pays: str = ""
    pays_english: str = ""
    price: str = ""

    @property
    def age_text(self) -> str:
        """The age of the shown facts when the page is rendered; its script then updates the age."""
        if self.freshness in ("stale", "lost"):
            return _("Not updating · last news {age}").replace("{age}", self.updated)
        if self.updated:
            return _("Updated {age}").replace("{age}", self.updated)
        return _("No news yet")

    def as_json(self) -> dict[str, Any]:
        """The body of a poll: without empty fields, the age (which is in headers) and `spelled`."""
        body = asdict(self)
        for name in ("seen_at", "updated", "freshness", "spelled"):
            del body[name]
        body["steps"] = [[step.state, step.time] for step in self.steps]
        if body["ready"]:
            # the same order of members as in the page's own JSON, which the script compares
            body["ready"] = dict(sorted(body["ready"].items()))
        return {name: value for name, value in body.items() if value not in (None, "", (), [])}

    def digest(self) -> str:
        """A short text that changes with every shown field."""
        return f"{self.version}-{zlib.crc32(repr(self.as_json()).encode()):x}"


def guest_view(
    page: OrderPage,
    kind: LinkKind,
    now: datetime,
    time: ServiceTime,
    locale: str,
    code: str = "",
) -> GuestView:
    """The view that a link of this kind shows. `code`: the start code, or "" to hide it."""
    facts = RideFacts(page, now, time, locale)
    view = ride_view(page, now, time, locale, Audience.GUEST)
    follows = _follower(facts, view)
    if kind is LinkKind.FOLLOWER:
        return follows
    return _rider(facts, view, follows, code)


def code_is_due(page: OrderPage, kind: LinkKind, facts: RideFacts) -> bool:
    """Whether a page shows the start code: only the guest's own, only while the driver is there."""
    if kind is not LinkKind.RIDER or page.ride is None:
        return False
    return facts.status in wire.OTP_STATUSES and page.ride.otp_enc is not None


def _facts_for_followers(facts: RideFacts) -> dict[str, str | None]:
    """The facts that may be in a follower's sentences."""
    known = {name: facts.for_words[name] for name in ("eta", "left_line")}
    named = _named_to_followers(facts.page.guest.name)
    starter = named if may_start(facts.page.order, facts.now) else None
    return known | {"guest": named, "starter": starter, "due": _due(facts)}


def _named_to_followers(guest: str) -> str:
    name = first_name(guest)
    if not name:
        return _("the guest")
    # T: a guest's first name, as it stands in a sentence to somebody else
    return pgettext("name of a guest", "%(name)s", name=name)


def _follower(facts: RideFacts, view: RideView) -> GuestView:
    known = _facts_for_followers(facts)
    state = parts.state_for_followers(facts)
    headline, detail = follower_words(state, facts.status, facts.kind, known)
    swapped = any(notice.name == "swapped" for notice in view.notices)
    last = (view.cab or parts.NO_CAB).plate.replace(" ", "")[-PLATE_END:]
    seen = facts.snapshot
    return GuestView(
        version=view.version,
        status=facts.status,
        held=clock_held(view.held),
        headline=_capital(headline),
        detail=detail,
        tone=view.tone,
        icon=view.icon,
        english=english_beneath(f"{headline} {detail}"),
        changed_english="",
        changed=_("The car has changed") if swapped else "",
        was="",
        plate=f"… {last}" if last else "",
        spelled=spelled(last),
        car=_car(seen.vehicle_color, seen.vehicle_type) if view.cab else "",
        driver="",
        driver_phone="",
        code="",
        code_label="",
        pickup=None,
        drop=None,
        invoice=None,
        ready=None,
        position=view.position if view.live else None,
        steps=view.steps,
        seen_at=stamp(view.seen_at),
        updated=_updated(facts, view),
        freshness=view.freshness,
        live=view.live,
        unasked=facts.page.order.state in (OrderState.WAITING, OrderState.SCHEDULED),
        poll_ms=max(view.poll_ms, POLL_MS),
        stop=view.stop,
    )


def _rider(facts: RideFacts, view: RideView, follower: GuestView, code: str) -> GuestView:
    """The follower's view in words for the guest, with the fields that only the guest may see."""
    words = parts.guest_words(facts)
    found = guest_invoice(facts, view)
    cab = view.cab or parts.NO_CAB
    ready = _ready(facts)
    pays = _pays(facts, ready)
    return replace(
        follower,
        headline=words.headline,
        detail=words.detail,
        english=english_beneath(f"{words.headline} {words.detail}"),
        pays=pays,
        pays_english=english_beneath(pays),
        price="" if ready else guest_price(facts),
        plate=cab.plate,
        spelled=spelled(cab.plate),
        car=cab.car,
        driver=driver_words((view.driver or parts.NO_DRIVER).name),
        code=code,
        code_label=view.otp.label if view.otp and code else "",
        invoice=found and found.without(words.detail),
        ready=ready,
        **_changed_car(facts, follower),
        **_while_live(facts, view),
    )


def _pays(facts: RideFacts, ready: Ready | None) -> str:
    """Who pays the ride; "" where other words of the page say it."""
    if detail_says_pay(facts) or (ready and ready.pays):
        return ""
    return guest_pays_words(facts)


def _changed_car(facts: RideFacts, follower: GuestView) -> dict[str, Any]:
    """The fields on a change of the car, in words for the guest."""
    ride = facts.page.ride
    if ride is None or not follower.changed:
        return {}
    # T: critical
    changed = _("Your car has changed")
    return {
        "changed": changed,
        "changed_english": english_beneath(changed),
        "was": plate(ride.previous_plate),
    }


def _while_live(facts: RideFacts, view: RideView) -> dict[str, Any]:
    """The fields that the guest sees until the ride is over: both ends, the driver's phone."""
    if not view.live:
        return {}
    found: dict[str, Any] = {"pickup": Pin(*facts.pickup[0], facts.pickup[1])}
    if view.drop is not None:
        found["drop"] = Pin(view.drop.lat, view.drop.lng, view.drop.name)
    if view.driver is not None and facts.status not in wire.TERMINAL:
        found["driver_phone"] = view.driver.phone
    return found


def _ready(facts: RideFacts) -> Ready | None:
    """The ride that waits for the guest's press; None if a press would start nothing."""
    page = facts.page
    if not may_start(page.order, facts.now):
        return None
    detail = next((item.detail for item in page.attention if item.name == NOT_STARTED), None)
    return Ready(
        car=page.offer.display_name,
        price=price_expected(facts)[0],
        ceiling=facts.ceiling,
        # T: critical
        pays=_("You pay the driver in cash.") if page.order.payment == wire.CASH else "",
        # T: critical
        meter=_("It runs by the meter, which may say more than the estimate.")
        if facts.metered
        else "",
        refused=not_started_words(detail, facts.price_refused, facts.ceiling),
    )


def _due(facts: RideFacts) -> str:
    order = facts.page.order
    return day_time(order.pickup_at or order.due_at, facts.now, facts.tz, facts.locale)


def _updated(facts: RideFacts, view: RideView) -> str:
    """The age of the shown facts; 0 without a ride, because an order is read from the database."""
    return view.updated if facts.page.ride else age(0)


def _car(*words: str | None) -> str:
    return " · ".join(filter(None, map(parts.titled, words)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
