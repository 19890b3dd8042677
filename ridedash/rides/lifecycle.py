"""Pure decisions about an order and its ride, in one place for whoever shows or moves them."""

from ridedash.rides.schedule import cancel_free_until, freshness, next_poll_s
from ridedash.rides.states import ActionAllowed, BadMove, actions, allowed_move
from ridedash.store.order_tables import OrderState

__all__ = [
    "ActionAllowed",
    "BadMove",
    "OrderState",
    "actions",
    "allowed_move",
    "cancel_free_until",
    "freshness",
    "next_poll_s",
]
