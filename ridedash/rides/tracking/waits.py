"""How long a guest waited: from the press to the first driver, and from then to the pickup.

Two numbers of an order, kept when its ride reaches a status, so that a year of rides is added up
from one index (store/insights.py). Both count from what ridedash was told: a poll comes a few
seconds after the service knows.
"""

from datetime import datetime
from typing import Final

from ridedash import wire
from ridedash.store.models.orders import Order
from ridedash.wire import Kind

FOUND: Final = frozenset({wire.CALL_DRIVER, wire.CLIENT_LOCATED})
# the price of a cab is fixed at the pickup; an auto is billed at the end, and is not said to be
# at the pickup: its wait ends when the ride begins
AT_PICKUP: Final = frozenset({wire.CLIENT_LOCATED, wire.IN_PROGRESS})
PRICED_AT_PICKUP: Final = frozenset({Kind.POINT_TO_POINT, Kind.SHARE})


def note_wait(order: Order, status: str, now: datetime) -> None:
    """Keep the waits that end when the ride of this order reaches this status at `now`.

    A ride whose search was not seen to end, because no worker ran, has no wait; another driver
    after the first begins none anew. An order that was taken up from the sent journal has none
    either: when it was pressed is not known.
    """
    pressed = order.created_at if order.pickup_at is None else order.ready_at
    if pressed is None or order.recovered_at is not None:
        return
    waited = max(0, round((now - pressed).total_seconds()))
    if order.driver_s is None and status in FOUND:
        order.driver_s = waited
    here = status in AT_PICKUP or (status == wire.INVOICE and order.kind in PRICED_AT_PICKUP)
    if order.guest_s is None and order.driver_s is not None and here:
        order.guest_s = max(0, waited - order.driver_s)
