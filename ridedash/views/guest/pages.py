"""The page of one ride behind a link, for a guest or a follower: without sign-in or cookie."""

import hashlib
import hmac
import json
import logging
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

from flask import Blueprint, Response, abort, g, redirect, request, session
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.extensions import (
    by_address,
    csrf,
    is_poll,
    limiter,
    reader_language,
    services,
)
from ridedash.geo import LatLng
from ridedash.maps import map_parts
from ridedash.rides.orders import guest_start
from ridedash.rides.orders.guest_start import NotStarted
from ridedash.rides.share_links import LinkKind, ValidLink, find_link
from ridedash.rides.tracking.record import otp_of
from ridedash.rides.tracking.told import is_news, note_told
from ridedash.store.actors import by_guest
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.orders import Order, OrderPage, order_page
from ridedash.store.poll_marks import revision_of
from ridedash.views.guest.view_model import GuestView, code_is_due, guest_view
from ridedash.views.poll_cache.cache import LINKS, CacheEntry, Key, offer, polls
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.snapshot import expires_at
from ridedash.views.web.formatting import stamp
from ridedash.views.web.link_pages import keep_private, link_page
from ridedash.views.web.own_words import languages_for, speak_as
from ridedash.views.web.permissions import OPEN, needs
from ridedash.views.web.request_log import reference
from ridedash.views.web.responses import PollBody, locale, poll_response
from ridedash.wording.readers import TAGS, Surface
from ridedash.wording.say import speak

bp = Blueprint("guest", __name__)
log = logging.getLogger(__name__)

# center of a map that has no point to show; the frame of the map is then hidden
NOWHERE: Final = LatLng(0.0, 0.0)
# requests for one link from one address in a minute
LOOKS: Final = 60
# the same in a demo on our own sandbox, whose pages follow a clock that runs fast or leaps: three
# phones that ask every 0.75 s
STAGE_LOOKS: Final = 240


class Opened(NamedTuple):
    """The order of a link, and its view."""

    page: OrderPage
    view: GuestView


@bp.get("/t/<token>")
@needs(OPEN)
def show(token: str) -> str:
    """The page of a link (docs/wording.md 6)."""
    now = services().clock()
    shared = _shared(token, now)
    page, view = _opened(shared, now)
    frame = None
    if view.live:
        frame = map_parts(services().settings, center=_middle(view), zoom=15, map_id="ride")
    return link_page(
        "guest/ride.html",
        view=view,
        page=page,
        map=frame,
        follows=shared.kind is LinkKind.FOLLOWER,
        address=f"/t/{token}",
        here=_here(token),
        server_now=stamp(now),
        points={"snapshot": view.as_json()},
        key=_press_key(shared) if view.ready else "",
    )


@bp.post("/t/<token>")
@needs(OPEN)
def start(token: str) -> BaseResponse:
    """The guest presses "I'm ready": the ride that waits for them is ordered, once.

    There is no session, and so no CSRF token: the token of the link is the secret, and the form
    carries a key that this installation made for that link (docs/security.md 6). Whatever the
    result of the press, the answer redirects to the page, which shows it.
    """
    s = services()
    shared = _shared(token, s.clock())
    if shared.kind is not LinkKind.RIDER:
        abort(404)
    _count_press()
    given = request.form.get("key", "")
    if not hmac.compare_digest(given.encode(), _press_key(shared).encode()):
        return redirect(_here(token), code=303)
    with s.db.read() as db:
        page = order_page(db, shared.property_id, shared.order_id)
    if page is None:
        abort(404)
    with suppress(NotStarted):  # the page shows the reason
        if guest_start.start(s.runtime, shared.order_id, by_guest(page.guest.id)):
            s.wake()
    return redirect(_here(token), code=303)


csrf.exempt(start)


@bp.get("/t/<token>/snapshot.json")
@needs(OPEN)
def snapshot(token: str) -> BaseResponse:
    """The fields that can change on that page; 304 when none did.

    Headers have the present time, and the time when the service last answered about the ride.
    """
    now = services().clock()
    entry = _snapshot(_shared(token, now), now)
    return poll_response(entry.value, now, of_staff=False)


@bp.after_request
def keep_nothing(answer: Response) -> Response:
    """Make every answer private and free of cookies, error pages included."""
    session.modified = False
    return keep_private(answer)


@bp.errorhandler(HTTPException)
def on_http(error: HTTPException) -> BaseResponse:
    """An error page for guests; it is the same for every link that is not open."""
    given = error.get_response()
    answer = _sorry(error.code or 500, "gone" if error.code == 404 else "busy")
    if "Retry-After" in given.headers:
        answer.headers["Retry-After"] = given.headers["Retry-After"]
    return answer


@bp.errorhandler(DatabaseBusy)
@bp.errorhandler(SQLAlchemyError)
def on_database(_error: Exception) -> BaseResponse:
    """The database is busy or unreachable: the page tries again by itself."""
    answer = _sorry(503, "busy")
    answer.headers["Retry-After"] = "15"
    return answer


def _shared(token: str, now: datetime) -> ValidLink:
    """The ride that a token opens. 404 if it opens none; 429 above the rate limit.

    Only unknown tokens count as guesses. Too many of them are logged, but never block the address:
    all guests' phones in the property's network may share it.
    """
    g.link_key = hashlib.sha256(token.encode()).hexdigest()
    _count_look()
    with services().db.read() as db:
        shared, known = find_link(db, token, now)
    if not known:
        _note_guess()
    return shared or abort(404)


def _opened(shared: ValidLink, now: datetime) -> Opened:
    with services().db.read() as db:
        page = order_page(db, shared.property_id, shared.order_id)
    if page is None:
        abort(404)
    if not is_poll():
        speak(_language_of(page, shared.kind))
    g.guests = languages_for(page.property)
    speak_as(page.property, own=shared.kind is LinkKind.RIDER)
    return Opened(page, _view(page, shared.kind, now))


def _language_of(page: OrderPage, kind: LinkKind) -> str:
    """The language of a link's page.

    A follower's page does not reveal which language the guest reads.
    """
    house = page.property.language
    guests = languages_for(page.property)
    if kind is LinkKind.FOLLOWER:
        return reader_language(Surface.FOLLOWER, house=house, guests=guests)
    return reader_language(Surface.GUEST, own=page.guest.language, house=house, guests=guests)


def _here(token: str) -> str:
    """The address of this page, with the language that was chosen on it."""
    chosen = request.args.get("lang", "")
    if chosen not in TAGS:
        return f"/t/{token}"
    return f"/t/{token}?lang={chosen}"


def _snapshot(shared: ValidLink, now: datetime) -> CacheEntry[PollBody]:
    """The answer of a poll.

    All links of one kind to a ride share it in each language, unless it has a start code.
    """
    cache = polls()
    if cache is None:
        return _make_entry(shared, now)
    key = Key(LINKS, (shared.order_id, shared.kind.value), locale())
    entry = cache.share(key, lambda _before: _make_entry(shared, now))
    offer(key, entry, shared.secret, shared.until)
    return entry


def _make_entry(shared: ValidLink, now: datetime) -> CacheEntry[PollBody]:
    """An answer from the database; one with a start code expires at once."""
    page, view = _opened(shared, now)
    if shared.kind is LinkKind.RIDER and _note_told(page, view, now):
        page, view = _opened(shared, now)
    body = json.dumps(view.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    made = PollBody(body, f"{__version__}-{view.digest()}-{locale()}", view.seen_at)
    revision = revision_of(page.order, page.account, page.ride)
    if view.code:
        return CacheEntry(made, revision, 0.0)
    expires = min(expires_at(page, now, services().time()), shared.until)
    return CacheEntry(made, revision, (expires - now).total_seconds())


def _note_told(page: OrderPage, view: GuestView, now: datetime) -> bool:
    """Record that the guest's open page shows the plate, or that its driver was lost; once each.

    Only polls count: programs that preview a link load its page too, and run no script. Returns
    whether the order has changed.
    """
    if not is_news(page.events, page.attention, page.ride if view.plate else None):
        return False
    with suppress(DatabaseBusy), services().db.write() as db:
        note_told(db, db.get_one(Order, page.order.id), now)
        return True
    return False


def _view(page: OrderPage, kind: LinkKind, now: datetime) -> GuestView:
    s = services()
    code = None
    facts = RideFacts(page, now, s.time(), locale())
    if code_is_due(page, kind, facts) and page.ride is not None:
        code = otp_of(page.ride, s.vault)
    return guest_view(page, kind, now, s.time(), locale(), code or "")


def _press_key(shared: ValidLink) -> str:
    """The key in the form of this link's page, which no other site can know."""
    text = f"press:{shared.order_id}:{shared.secret}".encode()
    secret = services().settings.secret_key.encode()
    return hmac.new(secret, text, hashlib.sha256).hexdigest()[:32]


def _note_guess() -> None:
    """Count an unknown token, and log when an address sends many of them."""
    try:
        _count_miss()
    except TooManyRequests:
        log.warning("many unknown links from one address, reference %s", reference())


def _looks() -> str:
    if services().settings.sandboxed:
        return f"{STAGE_LOOKS}/minute"
    return f"{LOOKS}/minute"


@limiter.shared_limit(_looks, scope="links", key_func=lambda: f"{g.link_key}:{by_address()}")
def _count_look() -> None:
    """Limit the requests for one link from one address.

    The key is a hash, because limits may be stored in Redis.
    """


@limiter.shared_limit("6/minute", scope="presses", key_func=lambda: g.link_key)
def _count_press() -> None:
    """Limit the presses for one link from all addresses, because each requests a price."""


@limiter.shared_limit(
    "20/10 minutes",
    scope="missed links",
    key_func=by_address,
)
def _count_miss() -> None:
    """Raise TooManyRequests when an address has sent too many unknown tokens lately."""


def _middle(view: GuestView) -> LatLng:
    """The center of the map; NOWHERE without a point, as for a follower before a cab is coming."""
    point = view.position or view.pickup
    if point is None:
        return NOWHERE
    return LatLng(point.lat, point.lng)


def _sorry(status: int, why: str) -> BaseResponse:
    if request.path.endswith(".json"):
        return Response('{"error":"' + why + '"}', status, mimetype="application/json")
    return Response(link_page("guest/sorry.html", why=why), status, mimetype="text/html")
