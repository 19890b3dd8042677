"""When time alone will change what a ride's page says: until then an answer made from the same rows
is the same.
"""

import json
import time
import zlib
from datetime import datetime, timedelta
from datetime import time as time_of_day
from functools import lru_cache
from typing import Final

from flask import Request, Response, request
from werkzeug.exceptions import NotFound
from werkzeug.http import http_date
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.extensions import language, limiter, services
from ridedash.store.orders import OrderPage
from ridedash.store.poll_marks import mark_of
from ridedash.views.poll_cache.cache import FRESH_S, Key, Ready
from ridedash.views.poll_cache.middleware import SAID
from ridedash.views.rides.access import own_order
from ridedash.views.rides.components import OLD_PLATE_FOR
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.notices import STOPS_NEEDING
from ridedash.views.rides.view_model import ride_view
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.formatting import stamp, zone


def serves_s(page: OrderPage, now: datetime, pace: float) -> float:
    """For how many seconds an answer made now may be sent again, as far as time alone changes its
    words.
    """
    turn = turns_at(page, now, pace)
    return (turn - now).total_seconds() if turn else FRESH_S


def turns_at(page: OrderPage, now: datetime, pace: float) -> datetime | None:
    """The next instant after `now` at which a word may turn; None when none will."""
    order, ride = page.order, page.ride
    needed = [order.created_at, order.resolved_at, ride.ended_at if ride else None]
    turns = [each + STOPS_NEEDING for each in needed if each]
    if ride and ride.swapped_at:
        turns.append(ride.swapped_at + OLD_PLATE_FOR)
    if order.state == "SCHEDULED":  # "tomorrow" becomes "today"
        tz = zone(page.property.timezone)
        turns.append(
            datetime.combine(now.astimezone(tz).date() + timedelta(days=1), time_of_day(0), tz)
        )
    turns += filter(None, [RideFacts(page, now, pace, "en").fee_from, _retry(order.next_retry)])
    return min((each for each in turns if each > now), default=None)


def _retry(text: str | None) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return parsed if parsed and parsed.tzinfo else None


_CONDITIONS: Final = frozenset({"HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH", "HTTP_IF_MODIFIED_SINCE"})


def send_snapshot(asked: Request, key: Key, ready: Ready, now: datetime) -> BaseResponse:
    asked.environ[SAID] = key, ready
    own = ("X-Server-Now", stamp(now)), ("Date", _date(int(time.time())))
    answer = Response(ready.body, headers=[*ready.facts, *own])
    return answer if _CONDITIONS.isdisjoint(asked.environ) else answer.make_conditional(asked)


def ready_snapshot(order_id: int, now: datetime) -> tuple[Key, Ready]:
    """What can change about an order that whoever asks may see, ready to be sent. 404 for a foreign
    one.
    """
    memory, staff = services().polls, current_staff()
    key = Key(order_id, staff.property_id, staff.role, language())
    if memory is None:
        _count_poll()
        return key, _rendered(key, now)
    began = memory.moment()  # made once for all who ask, so that nobody needs to be held back
    try:
        with memory.making(key) as made:
            return key, made or memory.keep(key, _rendered(key, now), began)
    except NotFound:  # which is not remembered
        _count_miss()
        raise


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return http_date(second)


@limiter.limit("240/minute", key_func=lambda: f"{current_sign_in().sign_in}:{_asked_for()}")
def _count_poll() -> None:
    """One browser may ask for one ride four times a second, so that twenty open pages don't hold
    each other back.
    """


@limiter.limit("240/minute", key_func=lambda: current_sign_in().sign_in)
def _count_miss() -> None:
    """One browser may ask for so many rides that are not there."""


def _asked_for() -> str:
    return str((request.view_args or {}).get("order_id") or request.args.get("ride", ""))


def _rendered(key: Key, now: datetime) -> Ready:
    """A snapshot made from the database."""
    page = own_order(key.order_id)
    view = ride_view(page, now, services().settings, key.locale)
    body = json.dumps(view.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    # the digest: what time alone or an account changes has no version
    etag = f"{__version__}-{view.version}-{zlib.crc32(body):x}-{key.locale}-{key.role}"
    serves = serves_s(page, now, services().settings.pace)
    return Ready(
        mark_of(page.order, page.account, page.ride), body, etag, stamp(view.seen_at), serves
    )
