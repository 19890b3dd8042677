"""The board at `/`, its poll `/board.json`, and the template context of every staff page."""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from flask import Blueprint, g, render_template, request
from flask_login import current_user
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.inputs import row_id
from ridedash.maps import MapParts, map_parts
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.models.people import Property
from ridedash.views.board.first_steps import first_steps
from ridedash.views.board.kiosks import KioskCall, calls_of, desk_kiosks
from ridedash.views.board.rows import REVISION, BoardRow, revision
from ridedash.views.board.state import Board, Shown, board_of, marks_of
from ridedash.views.booking.estimates import home_point
from ridedash.views.booking.form import compact_form
from ridedash.views.poll_cache.cache import CacheEntry, Key, offer, polls
from ridedash.views.rides.page_context import home_of
from ridedash.views.rides.snapshot import snapshot_of
from ridedash.views.web.current_user import current_sign_in, current_staff, page_address
from ridedash.views.web.errors import FORGOTTEN, is_forgotten
from ridedash.views.web.permissions import BOOK, MANAGE, SEE, may, may_link, needs
from ridedash.views.web.responses import PollBody, locale, poll_response, reading, wants_json
from ridedash.views.web.security_headers import let_forms_lead_to
from ridedash.views.web.top_bar import StaffBar, bar_facts, demo_words, page_bar, staff_bar
from ridedash.wording import gettext as _

MAX_KNOWN: Final = 16_000  # longest `since`, in characters


@dataclass(frozen=True)
class KnownRevisions:
    """The revisions that a page knows: of the rows' order, the cabs, the chosen ride, each row."""

    order: str
    cabs: str
    ride: str
    rows: frozenset[str]


NOTHING: Final = KnownRevisions("", "", "", frozenset())


def known(since: str) -> KnownRevisions:
    """The parameter `since`, parsed: `order.cabs.ride~rows`.

    `rows` has the revisions of the rows, one after the other. They are revisions of their ids too,
    so no id is sent: with hundreds of rows the address would be too long for some servers. An
    invalid text means that nothing is known.
    """
    head, _tilde, rows = since[:MAX_KNOWN].partition("~")
    parts = head.split(".")
    if len(parts) != 3 or len(rows) % REVISION:
        return NOTHING
    known_rows = (rows[at : at + REVISION] for at in range(0, len(rows), REVISION))
    return KnownRevisions(parts[0], parts[1], parts[2], frozenset(known_rows))


def board_update(
    board: Board, has: KnownRevisions, bar: dict[str, Any], ride_rev: str
) -> dict[str, Any]:
    """The body: changed `rows`, and `order` and `cabs` if they changed.

    `order` has the ids of all rows in their order: a row that is not among them has left the board.
    `v` is the beginning of the page's next `since`.
    """
    body: dict[str, Any] = {"v": f"{board.order_rev}.{board.cabs_rev}.{ride_rev}", "bar": bar}
    body["rows"] = board.json_of(has.rows)
    if has.order != board.order_rev:
        body["order"] = board.order
    if has.cabs != board.cabs_rev:
        body["cabs"] = board.cabs
    return body


def board_tag(board: Board, bar: dict[str, Any], ride_rev: str) -> str:
    """The part of the ETag that differs whenever anything on the board differs."""
    return f"{board.order_rev}{board.cabs_rev}{board.rows_rev}{revision(bar)}-{ride_rev}"


bp = Blueprint("desk", __name__)
T = TypeVar("T")
# how long the same facts are sent to all pages of a property, in each language
SAME_S: Final = 0.25


@bp.get("/")
@needs(SEE)
def board() -> str:
    """The board: unknown orders first, then rides that need attention, then by progress."""
    s = services()
    with s.db.read() as db:
        bar = staff_bar(bar_facts(db, s.clock()))
        prop = db.get_one(Property, current_staff().property_id)
        calls = calls_of(db, bar.rings, s.clock())
        kiosks = desk_kiosks(db, s.clock())
        steps = first_steps(db, prop)
    found = _board(bar)
    if may_link():
        let_forms_lead_to(s.settings.oauth_authorize_url)
    return render_template(
        "board/page.html",
        groups=groups_of(found),
        needs=_needs(found, bar),
        calls=calls,
        kiosks=kiosks,
        first_steps=steps,
        tries_kiosk=s.settings.demo and may(MANAGE),
        map=_map(found, prop),
        home=home_of(prop),
        view="map" if request.args.get("view") == "map" else "list",
        **_form(),
    )


def _form() -> dict[str, Any]:
    """The booking form beside the board, for those who may book."""
    if not may(BOOK):
        return {}
    return compact_form()


def _map(found: Board, prop: Property) -> MapParts:
    """The map, centred on the property's pickup, or without one on a cab."""
    cab = next((LatLng(lat, lng) for _id, lat, lng, _bearing in found.cabs), LatLng(0, 0))
    center = home_point(prop) or cab
    return map_parts(services().settings, center=center, zoom=14, map_id="board")


class Poll(NamedTuple):
    """The parts of a poll's answer: top bar, calls from kiosks, rows, and the chosen ride."""

    bar: StaffBar
    calls: tuple[KioskCall, ...]
    board: Board | None  # None: the page has only the top bar
    ride: PollBody | None
    forgotten: bool = False  # a restored database does not have the chosen ride


@bp.get("/board.json")
@needs(SEE)
def board_json() -> BaseResponse:
    """The changes of the board since `since`, and the chosen `ride`; 304 without any.

    `?only=bar` is for pages that have no list.
    """
    sign_in = current_sign_in()
    now = services().clock()
    number = request.args.get("ride", type=row_id) or 0
    only_bar = request.args.get("only") == "bar"
    page = "/board.json?"
    if only_bar:
        page += "only=bar"
    elif number:
        page += f"ride={number}"
    key = Key(page, (sign_in.property_id, sign_in.role), locale())
    entry = _shared(key, lambda _before: _poll(number, now, only_bar=only_bar))
    offer(key, entry, sign_in.sign_in, sign_in.expires_at)
    bar, calls, found, ride, forgotten = entry.value
    if found is None:
        body = _json({"bar": bar.as_json(), "rows": []})
        return poll_response(PollBody(body, f"{__version__}-bar-{zlib.crc32(body):x}", ""), now)
    shown = bar.as_json()
    if calls:
        shown["calls"] = [each.as_json() for each in calls]
    ride_rev = _rev(ride)
    tag = f"{__version__}-{locale()}-{board_tag(found, shown, ride_rev)}"
    body = b""
    if tag not in request.if_none_match:
        has = known(request.args.get("since", ""))
        changed = board_update(found, has, shown, ride_rev) | {"needs": _needs(found, bar)}
        if forgotten:
            changed["forgotten"] = " ".join(map(str, FORGOTTEN[:2]))
        body = _json(changed)
        if ride and has.ride != ride_rev:
            body = _with_ride(body, ride)
    return poll_response(PollBody(body, tag, ride.seen_at if ride else ""), now)


def _poll(number: int, now: datetime, *, only_bar: bool) -> CacheEntry[Poll]:
    staff = current_staff()
    s = services()
    key = Key("bar", (staff.property_id, staff.role), "")
    bar = staff_bar(_read(key, lambda db: bar_facts(db, now)))
    if only_bar:
        return CacheEntry(Poll(bar, (), None, None), None, SAME_S)
    with s.db.read() as db:
        calls = calls_of(db, bar.rings, now)
    ride = _chosen(number, now)
    forgotten = bool(number) and ride is None and is_forgotten([number])
    return CacheEntry(Poll(bar, calls, _board(bar), ride, forgotten), None, SAME_S)


def _board(bar: StaffBar) -> Board:
    """The rows in a language, shared by all pages of the property in that language."""
    s = services()
    property_id = current_staff().property_id

    def make(before: Board | None) -> CacheEntry[Board]:
        now = s.clock()
        marks = _read(
            Key("marks", (property_id, ""), ""),
            lambda db: marks_of(db, property_id, now, s.past_until),
        )
        shown = Shown(property_id, now, s.time(), locale(), bar.updates_stopped)
        with s.db.read() as db:
            return CacheEntry(board_of(db, shown, marks, before), None, SAME_S)

    key = "rows without freshness" if bar.updates_stopped else "rows"
    return _shared(Key(key, (property_id, ""), locale()), make).value


def _read(key: Key, read: Callable[[Session], T]) -> T:
    """The result of `read`, shared by the pages in all languages for SAME_S."""

    def make(_before: T | None) -> CacheEntry[T]:
        with services().db.read() as db:
            return CacheEntry(read(db), None, SAME_S)

    return _shared(key, make).value


def _shared(key: Key, make: Callable[[T | None], CacheEntry[T]]) -> CacheEntry[T]:
    cache = polls()
    if not cache:
        return make(None)
    return cache.share(key, make)


def _needs(found: Board, bar: StaffBar) -> int:
    return found.needs + len(bar.alerts) + len(bar.rings)


def _chosen(number: int, now: datetime) -> PollBody | None:
    """The snapshot of the chosen ride; None for 0, and for an order of another property."""
    if not number:
        return None
    try:
        return snapshot_of(number, now)[1].value
    except NotFound:
        return None


def _rev(ride: PollBody | None) -> str:
    if ride is None:
        return ""
    return f"{zlib.crc32(ride.etag.encode()):x}"


def _with_ride(body: bytes, ride: PollBody) -> bytes:
    """The body with the bytes of the ride's snapshot inserted."""
    return body[:-1] + b',"ride":' + ride.body + b"}"


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@bp.app_context_processor
def give_bar() -> dict[str, Any]:
    """`staff_bar`, `demo_words`, `page_address()`, language and direction for base.html.

    On error pages, in JSON, and without a signed-in user, there is no bar.
    """
    s = services()
    found: dict[str, Any] = {
        "demo_words": demo_words(s.settings),
        **reading(),
        "page_address": page_address,
        "staff_bar": None,
    }
    if g.get("error_page") or wants_json():
        return found
    try:
        if current_user.is_authenticated:
            with s.db.read() as db:
                found["staff_bar"] = page_bar(db, s.clock())
    except (DatabaseBusy, SQLAlchemyError):
        if "error_page" not in g:
            # an error page is shown without the bar; on other pages the error is raised
            raise
    return found


class RowGroup(NamedTuple):
    """A group of the list: its heading and its rows in their order.

    `whole`: whether the group lists all of its rides, so that the number of rows is that of the
    rides. The group of rides that are done lists only the latest.
    """

    name: str
    title: str
    rows: list[BoardRow]
    whole: bool


def groups_of(found: Board) -> list[RowGroup]:
    """The groups of the list in their order, empty ones too, because the script fills them."""
    titles = {
        "unknown": _("We don't know"),
        "needs": _("Needs you"),
        "now": _("Now"),
        "later": _("Later"),
        "done": _("Done"),
    }
    rows = [each.row for each in found.items]
    return [
        RowGroup(name, title, [row for row in rows if row.group == name], name != "done")
        for name, title in titles.items()
    ]
