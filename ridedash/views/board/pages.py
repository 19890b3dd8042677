"""The board at `/`, the one poll that keeps all of it live, and what every page of the staff's
shows on top.
"""

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response, current_app, g, render_template, request
from flask.blueprints import BlueprintSetupState
from flask_babel import get_locale
from flask_login import current_user
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.maps import MapParts, map_parts
from ridedash.store.orders import MAX_ID
from ridedash.store.properties import Property
from ridedash.views.board.rows import revision
from ridedash.views.board.state import Board, BoardMemory
from ridedash.views.booking.form import desk_form
from ridedash.views.poll_cache.cache import Ready
from ridedash.views.rides.snapshot import ready_snapshot
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import stamp
from ridedash.views.web.permissions import BOOK, SEE, may, may_link, needs
from ridedash.views.web.security_headers import let_forms_lead_to
from ridedash.views.web.top_bar import StaffBar, page_bar, staff_bar
from ridedash.wording import gettext as _

MAX_KNOWN: Final = 16_000  # characters
LONGEST_STEP: Final = 13  # digits in base 36: no id has more


@dataclass(frozen=True)
class Known:
    """What somebody has, as `since` says: revisions of the order, the cabs and the chosen ride, and
    of each row.
    """

    order: str
    cabs: str
    ride: str
    rows: dict[int, str]


NOTHING: Final = Known("", "", "", {})


def known(since: str) -> Known:
    """`since` read: `order.cabs.ride~rows`, where each row is its distance from the one before
    (base 36) and four letters of its revision. Whatever can't be read is not known.
    """
    head, _tilde, rows = since[:MAX_KNOWN].partition("~")
    parts = head.split(".")
    if len(parts) != 3:
        return NOTHING
    try:
        return Known(parts[0], parts[1], parts[2], _rows(rows))
    except ValueError:
        return NOTHING


def _rows(text: str) -> dict[int, str]:
    found, at = {}, 0
    for part in text.split(".") if text else ():
        at += int(part[:-4][:LONGEST_STEP], 36)
        if not 0 < at <= MAX_ID:
            raise ValueError("no such row")
        found[at] = part[-4:]
    return found


def board_update(board: Board, has: Known, bar: dict[str, Any], ride_rev: str) -> dict[str, Any]:
    """The body: `rows` that changed, `gone` ones, and `order` and `cabs` where they are others.

    `v` is what the asker says of them next time, before its rows.
    """
    body: dict[str, Any] = {"v": f"{board.order_rev}.{board.cabs_rev}.{ride_rev}", "bar": bar}
    body["rows"] = board.json_of(has.rows)
    gone = [number for number in has.rows if number not in board.revisions]
    if gone:
        body["gone"] = gone
    if has.order != board.order_rev:
        body["order"] = board.order
    if has.cabs != board.cabs_rev:
        body["cabs"] = board.cabs
    return body


def board_tag(board: Board, bar: dict[str, Any], ride_rev: str) -> str:
    """What differs whenever anything on the board does."""
    return f"{board.order_rev}{board.cabs_rev}{board.rows_rev}{revision(bar)}-{ride_rev}"


bp = Blueprint("desk", __name__)
MEMORY: Final = "ridedash.boards"  # where the memory stands among the app's extensions


@bp.record_once
def remember(state: BlueprintSetupState) -> None:
    """Each app remembers its own boards."""
    state.app.extensions[MEMORY] = BoardMemory()


@bp.get("/")
@needs(SEE)
def board() -> str:
    """The board: what is unknown first, then what needs somebody, then by progress."""
    s = services()
    with s.db.read() as db:
        bar, house = staff_bar(db, s.clock()), db.get_one(Property, current_staff().property_id)
    found = _board(bar)
    if may_link():
        let_forms_lead_to(s.settings.oauth_authorize_url)
    return render_template(
        "board/page.html",
        rows=[each.row for each in found.items],
        groups=group_names(),
        needs=_needs(found, bar),
        map=_map(found, house),
        view="map" if request.args.get("view") == "map" else "list",
        **(desk_form() if may(BOOK) else {}),
    )


def _map(found: Board, house: Property) -> MapParts:
    """Where the property is; else where its cabs are."""
    center = next((LatLng(lat, lng) for _id, lat, lng, _bearing in found.cabs), LatLng(0, 0))
    if house.pickup_lat is not None and house.pickup_lng is not None:
        center = LatLng(house.pickup_lat, house.pickup_lng)
    return map_parts(services().settings, center=center, zoom=14, map_id="board")


@bp.get("/board.json")
@needs(SEE)
def board_json() -> BaseResponse:
    """What changed on the board since `since`, and the chosen `ride`; 304 when nothing did.

    `?only=bar` is for pages that have no list.
    """
    s = services()
    now = s.clock()
    with s.db.read() as db:
        bar = staff_bar(db, now)
    if request.args.get("only") == "bar":
        return _only_bar(bar, now)
    found, (ride, seen_at) = _board(bar), _chosen(now)
    tag = f"{__version__}-{_locale()}-{board_tag(found, bar.as_json(), _rev(ride))}"
    answer = Response(mimetype="application/json")
    if tag not in request.if_none_match:
        has = known(request.args.get("since", ""))
        body = board_update(found, has, bar.as_json(), _rev(ride)) | {"needs": _needs(found, bar)}
        answer.set_data(_with_ride(body, ride, has))
    return _sent(answer, tag, now, seen_at)


def _board(bar: StaffBar) -> Board:
    memory: BoardMemory = current_app.extensions[MEMORY]
    return memory.board(services(), current_staff().property_id, _locale(), told=bar.told)


def _needs(found: Board, bar: StaffBar) -> int:
    return found.needs + len(bar.alerts)


def _only_bar(bar: StaffBar, now: datetime) -> BaseResponse:
    body = json.dumps(
        {"bar": bar.as_json(), "rows": []}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    return _sent(
        Response(body, mimetype="application/json"), f"{__version__}-bar-{zlib.crc32(body):x}", now
    )


def _sent(answer: Response, tag: str, now: datetime, seen_at: str = "") -> BaseResponse:
    answer.set_etag(tag)
    answer.headers["X-Server-Now"] = stamp(now)
    if seen_at:
        answer.headers["X-Seen-At"] = seen_at
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.vary.add("Cookie")
    return answer.make_conditional(request)


def _chosen(now: datetime) -> tuple[Ready | None, str]:
    """The snapshot of the ride that somebody looks at; none when there is no such ride here."""
    number = request.args.get("ride", type=int)
    if number is None:
        return None, ""
    try:
        _key, ready = ready_snapshot(number, now)
    except NotFound:
        return None, ""
    return ready, ready.seen_at


def _rev(ride: Ready | None) -> str:
    return f"{zlib.crc32(ride.etag.encode()):x}" if ride else ""


def _with_ride(body: dict[str, Any], ride: Ready | None, has: Known) -> bytes:
    """The body as it is sent; the snapshot is put in as the bytes that it is."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    if ride is None or has.ride == _rev(ride):
        return text
    return text[:-1] + b',"ride":' + ride.body + b"}"


@bp.app_context_processor
def give_bar() -> dict[str, Any]:
    """`staff_bar`, `demo_mode` and `page_locale` for base.html; no bar on error pages or for
    strangers.
    """
    s = services()
    found: dict[str, Any] = {
        "demo_mode": s.settings.demo,
        "page_locale": _locale(),
        "staff_bar": None,
    }
    if g.get("error_page") or not current_user.is_authenticated:
        return found
    with s.db.read() as db:
        found["staff_bar"] = page_bar(db, s.clock())
    return found


def group_names() -> dict[str, str]:
    """Headings of the list's groups, in their order."""
    return {"unknown": _("We don't know"), "needs": _("Needs you"), "now": _("Now")} | {
        "later": _("Later"),
        "done": _("Done"),
    }


def _locale() -> str:
    return str(get_locale() or "en")
