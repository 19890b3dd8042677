"""Abort, cancel, change of drop, feedback: recorded before the call, called once, read back (booking-protocol.md 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ridedash.geo import LatLng
from ridedash.store.db import Database

if TYPE_CHECKING:
    from ridedash.rides.accounts import AccountTokens
    from ridedash.service.client import RideClient

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class ActionResult:
    """What came of an action.

    `outcome`: done · refused (the service said no: code, header, text are its own words) · unconfirmed (asked, no
    clear answer: the worker reads it back) · not_sent (proved: nothing reached the service) · armed · not_now (the
    ride's state does not allow it; nothing was asked).
    """

    outcome: str
    code: str | None = None
    header: str | None = None
    text: str | None = None
    action_id: int | None = None


def abort(
    db: Database, client: "RideClient", tokens: "AccountTokens", clock: Clock, order_id: int, staff_id: int
) -> ActionResult:
    """Stop the search for a driver. Refused with BOOKING_ALLOTED: a driver has accepted, offer to cancel."""
    raise NotImplementedError


def cancel(
    db: Database, client: "RideClient", tokens: "AccountTokens", clock: Clock, order_id: int, staff_id: int, reason: str
) -> ActionResult:
    """Cancel a ride that has a driver; a fee may apply."""
    raise NotImplementedError


def arm_cancel(db: Database, clock: Clock, order_id: int, staff_id: int, reason: str) -> ActionResult:
    """Cancel as soon as a shared ride is matched: sent by the worker when the booking id comes."""
    raise NotImplementedError


def disarm_cancel(db: Database, clock: Clock, order_id: int, staff_id: int) -> ActionResult:
    """Take an armed cancel back: done, or not_now when none is armed any more."""
    raise NotImplementedError


def change_drop(
    db: Database,
    client: "RideClient",
    tokens: "AccountTokens",
    clock: Clock,
    order_id: int,
    staff_id: int,
    drop: LatLng,
    name: str | None = None,
) -> ActionResult:
    """Ask for another drop. For auto the answer carries no drop to read back: done means "sent"."""
    raise NotImplementedError


def feedback(
    db: Database,
    client: "RideClient",
    tokens: "AccountTokens",
    clock: Clock,
    order_id: int,
    staff_id: int,
    rating: int,
    options: Sequence[str] = (),
    comments: str | None = None,
) -> ActionResult:
    """Send feedback, once per ride; the worker tries again (three calls at most) after an unclear answer."""
    raise NotImplementedError
