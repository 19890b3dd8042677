"""Decisions after a restore: ordering held rides, restoring lost orders, accepting the restore.

A lost order is one that a sent journal names and the restored database lacks
(docs/booking-protocol.md 1.7). Staff of the property decide about single rides; the operator of the
program accepts or declares a restore.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.rides.journals.restore import Noticed, RestoreWatch, doubt, note_restore
from ridedash.rides.journals.sent_journal import SentJournal
from ridedash.rides.orders.request import digest
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import RESTORED
from ridedash.rides.state.outcome import from_record
from ridedash.rides.state.settle import settle
from ridedash.service.errors import ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.bookings import NewBooking
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit, restores
from ridedash.store.accounts import account_of, accounts_of
from ridedash.store.actors import CLI, Who, by_staff
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.guests import GuestDetails, lock_guest, store_guest
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import Account, Guest, Property
from ridedash.store.models.restores import LostOrder
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import order_of_staff, placed_by

RELEASED: Final = "released"  # timeline events
RECOVERED: Final = "recovered"
# stands for a pickup that neither the property nor the service knows
NOWHERE: Final = LatLng(0.0, 0.0)


@dataclass(frozen=True)
class AcceptedRestore:
    """The results of accepting a restore."""

    restored_to: datetime | None
    released: int  # rides that will be ordered when they are due, or when their guest starts them
    lost: int  # lost orders that staff have not dealt with yet


def release(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """Let a held ride be ordered as planned. False when it is not held any more."""
    with db.write() as s:
        order = _held_order(s, order_id, staff_id)
        if order is None:
            return False
        _set_free(s, order, clock(), by_staff(staff_id))
        return True


def ordered_already(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """Set a held ride to UNKNOWN, because it was ordered already; staff then type its booking id.

    False when it is not held any more.
    """
    with db.write() as s:
        order = _held_order(s, order_id, staff_id)
        if order is None:
            return False
        doubt(s, order, order.due_at, clock(), by_staff(staff_id))
        return True


def accept(db: Database, clock: Clock) -> AcceptedRestore | None:
    """Accept the restore: all held rides may be ordered as planned.

    Returns None when there is none to accept.
    """
    now = clock()
    with db.write() as s:
        found = restores.open_restore(s)
        if found is None:
            return None
        orders = restores.held_orders(s)
        for order in orders:
            _set_free(s, order, now, CLI)
        found.accepted_at = now
        subject = f"restores:{found.id}"
        audit.record(s, CLI, "restore.accepted", subject, "ok", now, released=len(orders))
        return AcceptedRestore(found.restored_to, len(orders), len(restores.lost_orders(s)))


def declare(db: Database, clock: Clock, to: datetime) -> int:
    """Declare that the database was restored to a moment, and hold all planned rides.

    Returns how many orders are held.
    """
    return note_restore(db, clock, CLI, Noticed(to)) or 0


def compare(db: Database, clock: Clock, journal: SentJournal) -> None:
    """Compare the database with the journals of this machine, as a worker does at its start."""
    watch = RestoreWatch(db, clock, journal)
    for _ in range(2):  # a restore that the first comparison notices requires a second one
        with db.write() as s:
            watch.raise_watermark(s)
        watch.look()


class CannotTakeUp(Exception):
    """No order can be made of a lost one.

    `why` is `gone` (unknown, or closed already) or `account` (the property has no account for it).
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class TakeUp:
    """A request to restore the lost order with this reference; `guest_name` is "" if unknown."""

    property_id: int
    staff_id: int
    reference: str
    guest_name: str = ""


def take_up(runtime: Runtime, wanted: TakeUp) -> int:
    """Make an order of a lost one, marked as recovered, with the trip that the service reports.

    Returns its id. The guest comes from `wanted`: the journal does not contain them. Raises
    CannotTakeUp.
    """
    with runtime.db.read() as s:
        lost = restores.lost_order(s, wanted.property_id, wanted.reference)
        if lost is None or lost.closed_at is not None:
            raise CannotTakeUp("gone")
        account = _account(s, lost)
    if account is None:
        raise CannotTakeUp("account")
    snapshot = _tracked(runtime, lost, account.id)
    return retry_conflict(lambda: _make(runtime, wanted, account.id, snapshot))


def dealt_with(db: Database, clock: Clock, reference: str, staff_id: int) -> bool:
    """Close a lost order whose property is lost too.

    False when it is closed already, or is not such an order.
    """
    now = clock()
    with db.write() as s:
        lost = restores.homeless_order(s, reference)
        if lost is None or lost.closed_at is not None:
            return False
        lost.closed_at = now
        who = by_staff(staff_id)
        subject = f"lost_orders:{reference}"
        audit.record(s, who, "lost.dealt_with", subject, "ok", now)
        return True


def _held_order(s: Session, order_id: int, staff_id: int) -> Order | None:
    order = order_of_staff(s, order_id, staff_id, (OrderState.SCHEDULED, OrderState.WAITING))
    if order is None or order.held_at is None:
        return None
    return order


def _set_free(s: Session, order: Order, now: datetime, who: Who) -> None:
    order.held_at = order.lease_until = None
    transitions.clear_attention(s, order, transitions.HELD, now)
    transitions.add_event(s, order, "event", RELEASED, now)
    facts = {"property_id": order.property_id}
    audit.record(s, who, "order.released", f"orders:{order.id}", order.state, now, **facts)


def _account(s: Session, lost: LostOrder) -> Account | None:
    """The account with which the order was sent; if it is lost too, the property's default one."""
    assert lost.property_id is not None
    same = account_of(s, lost.property_id, lost.account_id)
    if same is not None and same.created_at <= lost.sent_at:
        return same
    return next(iter(accounts_of(s, lost.property_id)), None)


def _tracked(runtime: Runtime, lost: LostOrder, account_id: int) -> Snapshot | None:
    """The service's data about the booking, for the trip; None when there are none."""
    facts = lost.outcome or {}
    booking_id = facts.get("booking_id")
    txn_id = facts.get("txn_id")
    if not booking_id and not txn_id:
        return None
    try:
        return call_with_token(
            runtime.tokens,
            account_id,
            lambda token: runtime.client.track_ride(
                token, booking_id=booking_id, txn_id=txn_id, priority=Priority.PAGE
            ),
        )
    except (ServiceError, NeedsReconnect, NoRefreshNow):
        return None


def _make(runtime: Runtime, wanted: TakeUp, account_id: int, snapshot: Snapshot | None) -> int:
    """Store the order with guest and offer: as UNKNOWN, then settled if its outcome is journalled.

    Returns its id.
    """
    now = runtime.clock()
    who = by_staff(wanted.staff_id)
    with runtime.db.write() as s:
        lost = restores.lost_order(s, wanted.property_id, wanted.reference, lock=True)
        if lost is None or lost.closed_at is not None:
            raise CannotTakeUp("gone")
        order = _order(lost, account_id, now)
        if lost.number is not None and s.get(Order, lost.number) is None:
            order.id = lost.number  # so pages and papers of before the restore lead to it again
        order.staff_id = wanted.staff_id
        order.guest_id = _guest(s, wanted, now).id
        trip = _trip(s.get_one(Property, wanted.property_id), snapshot)
        order.offer_id = _offer(s, order, trip, now)
        body = NewBooking(
            pickup=trip.pickup, drop=trip.drop, category=lost.category, merchant_txn_id=lost.mtx
        )
        order.body = body.model_dump_json()
        order.body_digest = digest(order.body)
        s.add(order)
        s.flush()
        transitions.add_event(s, order, "order", OrderState.UNKNOWN, now)
        transitions.add_event(s, order, "event", RECOVERED, now)
        transitions.raise_attention(s, order, transitions.OUTCOME_UNKNOWN, order.mtx, now)
        if lost.outcome is not None:
            settle(s, order, from_record(lost.outcome), now, who)
            _note_proved(s, order, now)
        facts = {"property_id": order.property_id, "sent_at": lost.sent_at.isoformat()}
        audit.record(s, who, "order.recovered", f"orders:{order.id}", order.state, now, **facts)
        lost.closed_at = now
        lost.order_id = order.id
        return order.id


def _note_proved(s: Session, order: Order, now: datetime) -> None:
    """Clear the attention item of an order whose outcome is proved."""
    if order.state != OrderState.UNKNOWN:
        transitions.clear_attention(s, order, transitions.OUTCOME_UNKNOWN, now)


def _order(lost: LostOrder, account_id: int, now: datetime) -> Order:
    """The row of a recovered order, with what the journal contains; not yet in a session."""
    return Order(
        property_id=lost.property_id,
        account_id=account_id,
        form_token=f"recovered-{lost.mtx}",
        form_digest="",
        mtx=lost.mtx,
        category=lost.category,
        kind=wire.kind_of(lost.category),
        state=OrderState.UNKNOWN,
        code=RESTORED,
        version=0,
        created_at=lost.sent_at,
        due_at=lost.sent_at,
        ready_at=lost.sent_at,
        sent_at=lost.sent_at,
        attempt=lost.attempt,
        recovered_at=now,
        reauthorised=False,
        throttled=False,
        late_double=False,
        open=True,
    )


def _guest(s: Session, wanted: TakeUp, now: datetime) -> Guest:
    if wanted.guest_name:
        details = GuestDetails(wanted.guest_name)
        lock_guest(s, wanted.property_id, details)
        return store_guest(s, wanted.property_id, details, now, wanted.staff_id)
    guest = Guest(property_id=wanted.property_id, staff_id=wanted.staff_id, name="", created_at=now)
    s.add(guest)
    s.flush()
    return guest


def _trip(here: Property, snapshot: Snapshot | None) -> Trip:
    """The trip as the service reports it; otherwise from the property's usual pickup."""
    if snapshot is not None and snapshot.pickup is not None:
        return Trip(snapshot.pickup, None, snapshot.drop)
    if here.pickup_lat is None or here.pickup_lng is None:
        return Trip(NOWHERE)
    return Trip(LatLng(here.pickup_lat, here.pickup_lng), here.pickup_name)


def _offer(s: Session, order: Order, trip: Trip, now: datetime) -> int:
    """The id of a new offer in place of the lost one: trip and category, without a price."""
    product = {"category": order.category}
    name = order.category.replace("_", " ").capitalize()
    priced = Priced(order.category, order.kind, name, None, None, product)
    owner = OfferOwner(order.property_id, placed_by(order), order.account_id)
    return add_offer(s, owner, trip, priced, now).id
