"""The answers to polls of a ride, and the instant at which time alone will change them."""

import json
import zlib
from datetime import datetime, timedelta
from datetime import time as day_time

from flask import request
from werkzeug.exceptions import NotFound

from ridedash.__about__ import __version__
from ridedash.extensions import language, limiter, services
from ridedash.rides.orders.resolve import BOOK_UNDO, undo_until
from ridedash.service_time import ServiceTime
from ridedash.store.board import SHIFT
from ridedash.store.orders import OrderPage
from ridedash.store.poll_marks import revision_of
from ridedash.views.poll_cache.cache import CacheEntry, Key, polls
from ridedash.views.rides.access import own_order
from ridedash.views.rides.components import OLD_PLATE_FOR
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.guest_language import desk_view
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.formatting import stamp, zone
from ridedash.views.web.responses import PollBody


def expires_at(page: OrderPage, now: datetime, time: ServiceTime) -> datetime:
    """The next instant after `now` at which time alone changes what is shown of an order.

    At the latest that is midnight at the property, when "tomorrow" becomes "today".
    """
    order = page.order
    ride = page.ride
    facts = RideFacts(page, now, time, "en")
    tz = zone(page.property.timezone)
    changes = [datetime.combine(now.astimezone(tz).date() + timedelta(days=1), day_time(0), tz)]
    # a failed order stops needing attention this long after one of these (views/rides/notices.py)
    starts = (order.created_at, order.resolved_at, ride.ended_at if ride else None)
    changes += [each + SHIFT for each in starts if each]
    if ride and ride.swapped_at:
        changes.append(ride.swapped_at + OLD_PLATE_FOR)
    undos = (order.created_at + BOOK_UNDO, undo_until(order))
    instants = (facts.fee_from, facts.retries_at, *undos, order.guest_until)
    changes += [each for each in instants if each]
    return min(each for each in changes if each > now)


def snapshot_of(order_id: int, now: datetime) -> tuple[Key, CacheEntry[PollBody]]:
    """The snapshot of an order, with its cache key; 404 for an order of another property."""
    cache = polls()
    staff = current_staff()
    page = f"/rides/{order_id}/snapshot.json"
    key = Key(page, (staff.property_id, staff.role), language())
    if cache is None:
        _count_poll()
        return key, _make_snapshot(order_id, key, now)
    try:  # viewers share the cached snapshot, so polls need no rate limit here
        return key, cache.share(key, lambda _before: _make_snapshot(order_id, key, now))
    except NotFound:  # a 404 is not cached: each one reads the database, so these are limited
        _count_miss()
        raise


@limiter.limit("240/minute", key_func=lambda: f"{current_sign_in().sign_in}:{_requested_ride()}")
def _count_poll() -> None:
    """Rate limit of polls without the cache: each sign-in has 240 a minute for each ride."""


@limiter.limit("240/minute", key_func=lambda: current_sign_in().sign_in)
def _count_miss() -> None:
    """Rate limit of polls of rides that do not exist: each sign-in has 240 a minute."""


def _requested_ride() -> str:
    return str((request.view_args or {}).get("order_id") or request.args.get("ride", ""))


def _make_snapshot(order_id: int, key: Key, now: datetime) -> CacheEntry[PollBody]:
    """Make the snapshot of an order from the database. 404 for an order of another property."""
    page = own_order(order_id)
    view = desk_view(page, now, key.locale)
    body = json.dumps(view.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    # the checksum is needed too: changes by time, or of the account, do not raise the version
    etag = f"{__version__}-{view.version}-{zlib.crc32(body):x}-{key.locale}-{key.audience[1]}"
    serves_s = (expires_at(page, now, services().time()) - now).total_seconds()
    return CacheEntry(
        PollBody(body, etag, stamp(view.seen_at)),
        revision_of(page.order, page.account, page.ride),
        serves_s,
    )
