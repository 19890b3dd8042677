"""The board at `/`, the one poll that keeps all of it live, and what every page of the staff's
shows on top.
"""

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from flask import Blueprint, g, render_template, request
from flask_babel import get_locale
from flask_login import current_user
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.maps import MapParts, map_parts
from ridedash.store.database.database import MAX_ID
from ridedash.store.properties import Property
from ridedash.views.board.rows import revision
from ridedash.views.board.state import Board, Shown, board_of
from ridedash.views.booking.form import desk_form
from ridedash.views.poll_cache.cache import Entry, Key, offer, polls
from ridedash.views.rides.snapshot import snapshot_of
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.permissions import BOOK, SEE, may, may_link, needs
from ridedash.views.web.responses import Snapshot, poll_response
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
# how long the same rows, and the answer made of them, are shown to all who ask this process
SAME_S: Final = 0.25


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


class Poll(NamedTuple):
    """What a poll is answered from: the top bar, all rows, the snapshot of the chosen ride."""

    bar: StaffBar
    board: Board | None  # none: only the bar was asked for
    ride: Snapshot | None


@bp.get("/board.json")
@needs(SEE)
def board_json() -> BaseResponse:
    """What changed on the board since `since`, and the chosen `ride`; 304 when nothing did.

    `?only=bar` is for pages that have no list.
    """
    cache, sign_in, now = polls(), current_sign_in(), services().clock()
    number, only_bar = request.args.get("ride", 0, type=int), request.args.get("only") == "bar"
    page = "/board.json?"
    if only_bar:
        page += "only=bar"
    elif number:
        page += f"ride={number}"
    key = Key(page, (sign_in.property_id, sign_in.role), _locale())
    if cache is None:
        entry = _poll(number, now, only_bar=only_bar)
    else:
        entry = cache.share(key, lambda _before: _poll(number, now, only_bar=only_bar))
    offer(key, entry, sign_in.sign_in, sign_in.expires_at)
    bar, found, ride = entry.value
    if found is None:
        body = _json({"bar": bar.as_json(), "rows": []})
        return poll_response(Snapshot(body, f"{__version__}-bar-{zlib.crc32(body):x}", ""), now)
    tag = f"{__version__}-{_locale()}-{board_tag(found, bar.as_json(), _rev(ride))}"
    if tag in request.if_none_match:
        body = b""
    else:
        has = known(request.args.get("since", ""))
        changed = board_update(found, has, bar.as_json(), _rev(ride)) | {
            "needs": _needs(found, bar)
        }
        body = _with_ride(_json(changed), None if has.ride == _rev(ride) else ride)
    return poll_response(Snapshot(body, tag, ride.seen_at if ride else ""), now)


def _poll(number: int, now: datetime, *, only_bar: bool) -> Entry[Poll]:
    with services().db.read() as db:
        bar = staff_bar(db, now)
    board = None if only_bar else _board(bar)
    return Entry(Poll(bar, board, None if only_bar else _chosen(number, now)), None, SAME_S)


def _board(bar: StaffBar) -> Board:
    """The rows that all who watch the property share."""
    s, cache, property_id = services(), polls(), current_staff().property_id

    def make(before: Board | None) -> Entry[Board]:
        shown = Shown(property_id, s.clock(), s.settings.pace, _locale(), bar.told)
        with s.db.read() as db:
            return Entry(board_of(db, shown, before), None, SAME_S)

    key = Key("rows without freshness" if bar.told else "rows", (property_id, ""), _locale())
    return (cache.share(key, make) if cache else make(None)).value


def _needs(found: Board, bar: StaffBar) -> int:
    return found.needs + len(bar.alerts)


def _chosen(number: int, now: datetime) -> Snapshot | None:
    """The snapshot of the ride that the user looks at; none when there is no such ride here."""
    try:
        return snapshot_of(number, now)[1].value if number else None
    except NotFound:
        return None


def _rev(ride: Snapshot | None) -> str:
    return f"{zlib.crc32(ride.etag.encode()):x}" if ride else ""


def _with_ride(body: bytes, ride: Snapshot | None) -> bytes:
    """The body as it is sent; the snapshot is put in as the bytes that it is."""
    return body if ride is None else body[:-1] + b',"ride":' + ride.body + b"}"


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


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
