"""A booking number typed by staff for an order whose outcome is unknown: checked with track_ride, then linked."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ridedash.store.db import Database

if TYPE_CHECKING:
    from ridedash.rides.accounts import AccountTokens
    from ridedash.service.client import RideClient


@dataclass(frozen=True)
class Checked:
    """What came of a typed booking number.

    `outcome`: booked (place confirmed), booked_place_unconfirmed (it exists; the answer carried no pickup),
    not_found (the service does not know it), far (its pickup is `metres` away: more than 250), linked (another
    order, `order_id`, has it), no_answer (try again), wrong_state (the order is not UNKNOWN or CLOSED_NOT_BOOKED).
    """

    outcome: str
    metres: float | None = None
    order_id: int | None = None
    text: str | None = None  # the service's own words, when it refused


def resolve_booked(
    db: Database,
    client: "RideClient",
    tokens: "AccountTokens",
    clock: Callable[[], datetime],
    order_id: int,
    booking_id: str,
    staff_id: int,
) -> Checked:
    """UNKNOWN (or CLOSED_NOT_BOOKED) to BOOKED when the typed number proves to be this order's booking."""
    raise NotImplementedError
