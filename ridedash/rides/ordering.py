"""Placing an order, taking it back, and what a person may say about one whose outcome is unknown."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ridedash.store.db import Database
from ridedash.store.order_tables import Offer

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Wish:
    """What somebody pressed "Book" for. `seats` 1 or 2 for share only; `payment` cash, svc_money or None."""

    property_id: int
    staff_id: int | None
    account_id: int
    form_token: str  # minted by the server into the form: one order per token
    offer_id: int
    guest_name: str
    guest_phone: str | None = None
    guest_room: str | None = None
    note: str | None = None
    seats: int | None = None
    payment: str | None = None
    coupon: str | None = None
    override_guard: bool = False  # "Book a second car on purpose"
    supersedes: int | None = None  # the order that this one books again


@dataclass(frozen=True)
class Placed:
    """The order of a form token; `created` is False when the same form was sent before."""

    order_id: int
    created: bool


class PlaceError(Exception):
    """No order was made."""


class OfferUnknown(PlaceError):
    """The offer does not exist or belongs to another property."""


class OfferStale(PlaceError):
    """The offer is older than two minutes: show it beside a fresh price, and ask again."""

    def __init__(self, old: Offer) -> None:
        super().__init__(f"offer {old.id} is older than two minutes")
        self.old = old


class TokenReused(PlaceError):
    """This form token was used with other contents: answer 409 and point to that order."""

    def __init__(self, order_id: int) -> None:
        super().__init__(f"the form of order {order_id} was sent again with other contents")
        self.order_id = order_id


class GuardBusy(PlaceError):
    """The guest already has a ride being booked from here (booking-protocol.md 1.2)."""

    def __init__(self, order_id: int, staff_name: str | None, placed_at: datetime) -> None:
        super().__init__(f"order {order_id} is open for the same guest and pickup")
        self.order_id, self.staff_name, self.placed_at = order_id, staff_name, placed_at


class WishRefused(PlaceError):
    """The wish itself can't be ordered: seats missing for share, an account of another property, a bad coupon."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


def place(db: Database, clock: Clock, wish: Wish, at: Callable[[str], None] = lambda _name: None) -> Placed:
    """T1: one READY order in one commit, or the order that this form token already made.

    Raises OfferUnknown, OfferStale, TokenReused, GuardBusy, WishRefused; store.db.DatabaseBusy.
    """
    raise NotImplementedError


def withdraw(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """Take back an order that is not sent yet: it ends as NOT_SENT (code WITHDRAWN). False when it is too late."""
    raise NotImplementedError


def reopen(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """CLOSED_NOT_BOOKED back to UNKNOWN. False when it is in another state."""
    raise NotImplementedError


def resolve_not_booked(db: Database, clock: Clock, order_id: int, staff_id: int, reason: str) -> bool:
    """UNKNOWN to CLOSED_NOT_BOOKED, for a typed reason of 3 letters or more (ValueError). False in another state."""
    raise NotImplementedError
