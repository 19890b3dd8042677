"""The list of rides at `/`, the small JSON that keeps it live, and the bar on top of every staff page."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Blueprint, Response, g, jsonify, render_template, request
from flask_babel import get_locale
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash import wire
from ridedash.ext import services
from ridedash.rides.attending import NOT_BOOKED
from ridedash.rides.heartbeats import heartbeat_age, service_silent_since
from ridedash.store.orders import OrderPage, OrderState, planned_orders, recent_orders, unknown_count, unknown_since
from ridedash.store.people import Property
from ridedash.views.auth import current_staff
from ridedash.views.formats import age, day_time, stamp, zone
from ridedash.views.permissions import SEE, needs
from ridedash.views.presenters import RideView, ride_view
from ridedash.wording import gettext as _

bp = Blueprint("desk", __name__)

LIMIT: Final = 60
SILENT_S: Final = 30.0
SEARCH_TOO_LONG: Final = timedelta(seconds=60)
WAIT_TOO_LONG: Final = timedelta(minutes=2)
RANKS: Final = {
    wire.CLIENT_LOCATED: 2, wire.INVOICE: 2, wire.CALL_DRIVER: 3, wire.ALLOTMENT_RETRYING: 4,
    wire.ALLOTMENT_PENDING: 4, wire.PENDING: 4, wire.SOFT_ALLOCATED: 4, wire.IN_PROGRESS: 6,
}  # fmt: skip
PLANNED: Final = 8
ENDED: Final = 9
PLANS_STAY: Final = timedelta(days=1)  # after they came due, however many newer rides there are


@dataclass(frozen=True)
class Row:
    """One ride of the list. `group` is unknown, needs, now, later or done; `placed` is when it was."""

    id: int
    group: str
    icon: str
    tone: str
    headline: str
    guest: str
    room: str
    to: str
    start: str
    plate: str
    price: str
    placed: str
    timer: dict[str, str] | None
    why: str


@dataclass(frozen=True)
class StaffBar:
    """What every staff page shows on top."""

    property_name: str
    staff_name: str
    unknown: int
    unknown_text: str
    unknown_since: str
    stopped: bool
    silent: str  # that the ride service does not answer, and since when, in words; "" while it does


@bp.get("/")
@needs(SEE)
def board() -> str:
    """The ride list: what is unknown first, then what needs somebody, then by progress."""
    s = services()
    with s.db.read() as db:
        rows = _rows(db, s.clock())
    return render_template("desk/board.html", rows=rows, groups=group_names())


@bp.get("/board.json")
@needs(SEE)
def board_json() -> BaseResponse:
    """The list and the bar; `?only=bar` for pages that have no list. 304 when nothing changed."""
    s = services()
    now = s.clock()
    with s.db.read() as db:
        bar = staff_bar(db, now)
        rows = [] if request.args.get("only") == "bar" else _rows(db, now)
    bar_facts = {"unknown": bar.unknown, "since": bar.unknown_since, "text": bar.unknown_text}
    bar_facts |= {"stopped": bar.stopped, "silent": bar.silent}
    lean = [{k: v for k, v in vars(row).items() if v not in ("", None)} for row in rows]
    answer: Response = jsonify(bar=bar_facts, rows=lean)
    answer.add_etag()
    answer.headers["X-Server-Now"] = stamp(now)
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer.make_conditional(request)


@bp.app_context_processor
def give_bar() -> dict[str, Any]:
    """`staff_bar`, `demo_mode` and `page_locale` for base.html; no bar on error pages or for strangers."""
    s = services()
    found: dict[str, Any] = {"demo_mode": s.settings.demo, "page_locale": str(get_locale() or "en"), "staff_bar": None}
    if g.get("error_page") or not current_user.is_authenticated:
        return found
    with s.db.read() as db:
        found["staff_bar"] = staff_bar(db, s.clock())
    return found


def staff_bar(db: Session, now: datetime) -> StaffBar:
    """The bar for whoever is signed in."""
    staff = current_staff()
    house = db.get(Property, staff.property_id)
    count, since = unknown_count(db, staff.property_id), unknown_since(db, staff.property_id)
    beat = heartbeat_age(db, now)
    stopped = beat is None or beat > SILENT_S
    text = _("%(n)d unknown", n=count)
    if since is not None:
        text = f"{text} · {age((now - since).total_seconds())}"
    return StaffBar(
        house.name if house else "", staff.name, count, text, stamp(since), stopped,
        "" if stopped or house is None else _silent(db, house, now),
    )  # fmt: skip


def _silent(db: Session, house: Property, now: datetime) -> str:
    """That the ride service gives no answers; without a living worker nobody knows."""
    since = service_silent_since(db, now)
    if since is None:
        return ""
    at = day_time(since, now, zone(house.timezone), str(get_locale() or "en"))
    return _("The ride service has not answered since %(at)s. Rides go on; what you see may be old.", at=at)


def group_names() -> dict[str, str]:
    """Headings of the list's groups, in their order."""
    return {"unknown": _("We don't know"), "needs": _("Needs you"), "now": _("Now")} | {
        "later": _("Later"), "done": _("Done"),
    }  # fmt: skip


def _rows(db: Session, now: datetime) -> list[Row]:
    s, locale = services(), str(get_locale() or "en")
    pages = _listed(db, current_staff().property_id, now)
    found = []
    for page in pages:
        view = ride_view(page, now, s.settings, locale)
        why = needs_you(page, view, now)
        found.append((rank(view, why), _turn(page), row(page, view, why, now, locale)))
    return [each for *_, each in sorted(found, key=lambda placed: placed[:2])]


def _listed(db: Session, property_id: int, now: datetime) -> list[OrderPage]:
    """The newest rides, and planned ones that were placed long before."""
    newest = recent_orders(db, property_id, LIMIT)
    known = {page.order.id for page in newest}
    plans = planned_orders(db, property_id, now - PLANS_STAY)
    return newest + [page for page in plans if page.order.id not in known]


def _turn(page: OrderPage) -> float:
    """Within a rank: planned rides by their pickup, others the newest first."""
    at = page.order.pickup_at
    return at.timestamp() if at and page.order.state == OrderState.SCHEDULED else -page.order.id


def rank(view: RideView, why: str) -> int:
    """Where a ride stands: 0 unknown, 1 needs you (`why` says why), 2 driver here, then by the next event, 9 ended."""
    if view.order_state == "UNKNOWN":
        return 0
    if why:
        return 1
    if not view.live:
        return ENDED
    if view.order_state == OrderState.SCHEDULED:
        return PLANNED
    return RANKS.get(view.booking_status or "", 5)


def needs_you(page: OrderPage, view: RideView, now: datetime) -> str:
    """Why somebody should look at this ride, in words; "" when it goes well (ux.md section 2)."""
    if page.superseded_by is not None:
        return ""
    loud = next((n.title for n in view.notices if n.tone in ("warn", "unknown", "bad")), "")
    if loud or not view.live:
        return loud or (_("Not booked") if any(n.name == NOT_BOOKED for n in view.notices) else "")
    return "" if page.attention else _slow(page, view, now)


def _slow(page: OrderPage, view: RideView, now: datetime) -> str:
    if view.freshness in ("stale", "lost") and page.ride is not None and view.seen_at is not None:
        return _("Not updating")
    if view.booking_status == wire.ALLOTMENT_RETRYING:
        return _("Driver cancelled")
    came = next((m.at for m in reversed(page.moments) if m.name == view.booking_status), None)
    if came is None:
        return ""
    if view.booking_status == wire.CLIENT_LOCATED and now - came > WAIT_TOO_LONG:
        return _("Driver is waiting")
    if view.booking_status in wire.SEARCHING and now - came > SEARCH_TOO_LONG:
        return _("Long search")
    return ""


def _news(headline: str, why: str) -> str:
    """The reason, unless the headline has said it already."""
    return "" if headline.casefold().startswith(why.casefold()) else why


def row(page: OrderPage, view: RideView, why: str, now: datetime, locale: str) -> Row:
    """One line of the list; `why` says why somebody should look at it."""
    group = {0: "unknown", 1: "needs", PLANNED: "later", ENDED: "done"}.get(rank(view, why), "now")
    tz = zone(page.property.timezone)
    return Row(
        id=page.order.id,
        group=group,
        icon=view.icon,
        tone=view.tone,
        headline=view.headline,
        guest=page.guest.name,
        room=page.guest.room or "",
        to=view.drop.name if view.drop else _("The guest tells the driver"),
        start=page.offer.pickup_name or _("the pinned place"),
        plate=view.cab.plate if view.cab and view.live else "",
        price=view.fare,
        placed=day_time(page.order.created_at, now, tz, locale),
        timer=asdict(view.timer) | {"text": ""} if view.timer else None,
        why=_news(view.headline, why) if group == "needs" else "",
    )
