"""Following rides: claim those that are due, ask once, record what came (booking-protocol.md 3)."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash.rides import following, moves
from ridedash.rides.accounts import AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.merging import merge
from ridedash.rides.moves import At, Clock, nothing
from ridedash.rides.recording import record
from ridedash.rides.rows import state_of, write_state
from ridedash.rides.states import BadMove
from ridedash.service.client import RideClient
from ridedash.service.errors import Refused, ServiceError, Unauthorized
from ridedash.service.tracks import Snapshot
from ridedash.store.db import Database
from ridedash.store.order_tables import Order, Ride

LEASE: Final = timedelta(seconds=15)


@dataclass(frozen=True)
class Claim:
    """The right to poll one ride once. `seq` is the poll's number: only its answer may be merged."""

    ride_id: int
    order_id: int
    account_id: int
    seq: int
    booking_id: str | None
    txn_id: str | None
    at: datetime


class Tracker:
    """Follows rides for one worker. Safe to share between threads."""

    def __init__(
        self,
        db: Database,
        client: RideClient,
        tokens: AccountTokens,
        clock: Clock,
        *,
        pace: float = 1.0,
        owner: str = "worker",
        at: At = nothing,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.db, self.client, self.tokens, self.clock = db, client, tokens, clock
        self.pace, self.owner, self.at, self.chance = pace, owner, at, chance

    def claim(self, limit: int) -> Sequence[Claim]:
        """Lease up to `limit` due rides, the longest overdue first, in one commit."""
        now = self.clock()
        due = (Ride.next_poll_at <= now, or_(Ride.lease_until.is_(None), Ride.lease_until <= now))
        with self.db.read() as s:
            if s.scalars(select(Ride.id).where(*due).limit(1)).first() is None:
                return ()
        with self.db.write() as s:
            rides = s.scalars(select(Ride).where(*due).order_by(Ride.next_poll_at).limit(limit)).all()
            for ride in rides:
                ride.poll_seq += 1
                ride.lease_until, ride.owner = now + LEASE, self.owner
            return [Claim(r.id, r.order_id, r.account_id, r.poll_seq, r.booking_id, r.txn_id, now) for r in rides]

    def poll(self, claim: Claim) -> bool:
        """Ask about one ride and record the answer. False when it got none, or somebody else went on meanwhile."""
        self.at("poll.claimed")
        answer = self._ask(claim)
        self.at("poll.answered")
        try:
            merged = self._record(claim, answer)
        except (BadMove, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            self._poisoned(claim, error)
            return False
        self.at("poll.merged")
        return merged

    def _ask(self, claim: Claim) -> Snapshot | Exception:
        try:
            token = self.tokens.bearer(claim.account_id)
            try:
                return self._track(claim, token)
            except Unauthorized:
                return self._track(claim, self.tokens.refreshed(claim.account_id, token))
        except (ServiceError, NeedsReconnect, NoRefreshNow) as error:
            return error

    def _track(self, claim: Claim, token: str) -> Snapshot:
        if claim.booking_id:
            return self.client.track_ride(token, booking_id=claim.booking_id)
        return self.client.track_ride(token, txn_id=claim.txn_id)

    def _record(self, claim: Claim, answer: Snapshot | Exception) -> bool:
        now = self.clock()
        with self.db.write() as s:
            ride = s.get_one(Ride, claim.ride_id)
            if ride.poll_seq != claim.seq:
                return False
            order = s.get_one(Order, claim.order_id)
            if isinstance(answer, Exception):
                self._failed(s, order, ride, answer, now)
                return False
            had_id = ride.booking_id is not None
            self._merge(s, order, ride, answer, claim, now)
        if not had_id and ride.booking_id is not None:
            self.at("handover.merged")
        return True

    def _merge(self, s: Session, order: Order, ride: Ride, answer: Snapshot, claim: Claim, now: datetime) -> None:
        vault = self.tokens.vault
        merged = merge(state_of(ride, vault), answer, claim.seq, now)
        merged = following.unless_taken(s, order, ride, merged)
        was_ended = ride.ended_at is not None
        write_state(ride, merged.ride, vault)
        record(s, order, ride, merged, now)
        following.read_back(s, order, ride, answer, claim.at, now)
        ride.errors = ride.poison = ride.unknown_id = 0
        ride.final_polls += was_ended
        self._next(ride, following.wait_s(s, order, ride, now, self.pace), now)

    def _failed(self, s: Session, order: Order, ride: Ride, error: Exception, now: datetime) -> None:
        """The schedule is the retry; last facts stay as they are."""
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
        ride.next_poll_at = now + timedelta(seconds=max(0.5, wait_s * (0.9 + 0.2 * self.chance())))

    def _poisoned(self, claim: Claim, error: Exception) -> None:
        """Recording raised: push this ride ahead, so that the others go on."""
        now = self.clock()
        with self.db.write() as s:
            ride = s.get_one(Ride, claim.ride_id)
            if ride.poll_seq != claim.seq:
                return
            ride.poison += 1
            ride.lease_until = ride.owner = None
            ride.interval_s = following.poison_wait_s(ride.poison)
            ride.next_poll_at = now + timedelta(seconds=ride.interval_s)
            order = s.get_one(Order, claim.order_id)
            moves.attention(s, order, following.POISON, type(error).__name__, now)
