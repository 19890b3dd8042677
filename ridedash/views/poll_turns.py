"""When time alone will change what a ride's page says: until then an answer made from the same rows is the same."""

from datetime import datetime, time, timedelta

from ridedash.store.orders import OrderPage
from ridedash.views.formats import zone
from ridedash.views.poll_memory import FRESH_S
from ridedash.views.ride_facts import RideFacts
from ridedash.views.ride_notices import STOPS_NEEDING
from ridedash.views.ride_parts import OLD_PLATE_FOR


def serves_s(page: OrderPage, now: datetime, pace: float) -> float:
    """For how many seconds an answer made now may be sent again, as far as time alone changes its words."""
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
        turns.append(datetime.combine(now.astimezone(tz).date() + timedelta(days=1), time(0), tz))
    turns += filter(None, [RideFacts(page, now, pace, "en").fee_from, _retry(order.next_retry)])
    return min((each for each in turns if each > now), default=None)


def _retry(text: str | None) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return parsed if parsed and parsed.tzinfo else None
