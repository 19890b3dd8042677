"""The careful way to record polls: events, ends, errors, open actions; everything that a plain poll has not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides import following
from ridedash.rides.accounts import TokenUnreadable
from ridedash.rides.bills import keep_bill
from ridedash.rides.claiming import Claim
from ridedash.rides.merging import merge
from ridedash.rides.moves import Clock
from ridedash.rides.plain import need_care
from ridedash.rides.recording import record
from ridedash.rides.rows import state_of, write_state
from ridedash.rides.schedule import MIN_INTERVAL_S
from ridedash.service.errors import Held, Refused
from ridedash.service.tracks import Snapshot
from ridedash.store.crypto import TokenVault
from ridedash.store.db import Database
from ridedash.store.order_tables import Order, Ride

UNREAD_S: Final = 5.0  # until a ride is tried again whose account's token this process can't read: another may

Row = TypeVar("Row", Order, Ride)
Answered = tuple[Claim, Snapshot | Exception]


@dataclass(frozen=True)
class Written:
    """How many answers were recorded, and how many of them brought a booking id for what had none."""

    merged: int = 0
    handed_over: int = 0


class Careful:
    """Records some polls in one transaction; whatever goes wrong with one of them undoes all."""

    def __init__(self, db: Database, vault: TokenVault, clock: Clock, pace: float, chance: Callable[[], float]) -> None:
        self.db, self.vault, self.clock, self.pace, self.chance = db, vault, clock, pace, chance

    def write(self, answered: Sequence[Answered]) -> Written:
        """Raises whatever a row or an answer makes recording raise, DatabaseBusy and SQLAlchemyError."""
        with self.db.write() as s:
            # orders before their rides, as everybody locks them
            orders = _held(s, Order, [claim.order_id for claim, _ in answered])
            rides = _held(s, Ride, [claim.ride_id for claim, _ in answered])
            busy = need_care(s.connection(), list(orders))
            done = [
                self._one(s, orders[claim.order_id], rides[claim.ride_id], claim, answer, claim.order_id in busy)
                for claim, answer in answered
                if rides[claim.ride_id].poll_seq == claim.seq
            ]
        return Written(sum(each is not None for each in done), sum(bool(each) for each in done))

    def spread(self, wait_s: float) -> timedelta:
        """The wait, 10 % more or less, so that rides do not march in step."""
        return timedelta(seconds=max(MIN_INTERVAL_S, wait_s * (0.9 + 0.2 * self.chance())))

    def _one(
        self, s: Session, order: Order, ride: Ride, claim: Claim, answer: Snapshot | Exception, busy: bool
    ) -> bool | None:
        """Whether the booking id came with it; None for what is no answer."""
        now = self.clock()
        if isinstance(answer, Exception):
            self._failed(s, order, ride, answer, now)
            return None
        had_id = ride.booking_id is not None
        self._merge(s, order, ride, answer, claim, now, busy)
        return not had_id and ride.booking_id is not None

    def _merge(
        self, s: Session, order: Order, ride: Ride, answer: Snapshot, claim: Claim, now: datetime, busy: bool
    ) -> None:
        merged = merge(state_of(ride, self.vault), answer, claim.seq, now)
        merged = following.unless_taken(s, order, ride, merged)
        was_ended = ride.ended_at is not None
        write_state(ride, merged.ride, self.vault)
        keep_bill(s, order, ride, merged.ride)
        record(s, order, ride, merged, now)
        if busy:
            following.read_back(s, order, ride, answer, claim.at, now)
        ride.errors = ride.poison = ride.unknown_id = 0
        ride.final_polls += was_ended
        self._next(ride, following.wait_s(s, order, ride, now, self.pace, clear=busy), now)

    def _failed(self, s: Session, order: Order, ride: Ride, error: Exception, now: datetime) -> None:
        """The schedule is the retry; last facts stay as they are. What we did not ask is no failure of the ride."""
        if isinstance(error, Held | TokenUnreadable):
            self._next(ride, max(MIN_INTERVAL_S, error.wait_s if isinstance(error, Held) else UNREAD_S), now)
            return
        ride.errors += 1
        ride.unknown_id = ride.unknown_id + 1 if isinstance(error, Refused) else 0
        wait = following.wait_after_error_s(s, order, ride, error, now, self.pace, self.chance())
        given_up = ride.ended_at is not None and ride.errors >= following.FINAL_TRIES
        self._next(ride, None if given_up else wait, now)

    def _next(self, ride: Ride, wait_s: float | None, now: datetime) -> None:
        ride.lease_until = ride.owner = None
        if wait_s is None:
            ride.next_poll_at = None
            return
        ride.interval_s = wait_s
        ride.next_poll_at = now + self.spread(wait_s)


def _held(s: Session, table: type[Row], ids: Sequence[int]) -> dict[int, Row]:
    """Rows by id, locked in the order of their ids."""
    query = select(table).where(table.id.in_(ids)).order_by(table.id).with_for_update()
    return {row.id: row for row in s.scalars(query)}
