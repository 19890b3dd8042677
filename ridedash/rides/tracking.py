"""Following rides: claim those that are due, ask once, record what came (booking-protocol.md 3)."""

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.exc import DataError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from ridedash.observing.watch import Unwatched, Watch
from ridedash.rides import following, moves
from ridedash.rides.accounts import AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.bearers import Bearers
from ridedash.rides.claiming import Bounds, Claim, claim_due
from ridedash.rides.merging import merge
from ridedash.rides.moves import At, Clock, nothing
from ridedash.rides.plain import Plain, plain, write_plain
from ridedash.rides.recording import record
from ridedash.rides.rows import state_as_claimed, state_of, write_state
from ridedash.rides.schedule import MIN_INTERVAL_S
from ridedash.rides.states import BadMove
from ridedash.service.client import RideClient
from ridedash.service.errors import Held, Refused, ServiceError, Unauthorized
from ridedash.service.tracks import Snapshot
from ridedash.service.traffic import Lane
from ridedash.store.db import Database
from ridedash.store.order_tables import Order, Ride

# raised by recording, these are the ride's own fault: its row or its answers
POISONOUS: Final = (BadMove, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, DataError)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Polled:
    """A ride that was asked about: the answer, or why there is none; `plain` when it needs no care."""

    claim: Claim
    answer: Snapshot | Exception
    plain: Plain | None = None


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
        watch: Watch | None = None,
    ) -> None:
        self.db, self.client, self.tokens, self.clock = db, client, tokens, clock
        self.pace, self.owner, self.at, self.chance = pace, owner, at, chance
        self.watch = watch or Unwatched()
        self.bearers = Bearers(tokens)

    def claim(self, limit: int, rest: int | None = None) -> Sequence[Claim]:
        """Lease up to `limit` due rides in one commit; only `rest` of those for whom no guest waits."""
        return claim_due(self.db, self.clock(), Bounds(limit, limit if rest is None else rest), self.owner)

    def poll(self, claim: Claim) -> bool:
        """Ask about one ride and record the answer. False when it got none, or somebody else went on meanwhile."""
        return self.record([self.ask(claim)]) == 1

    def ask(self, claim: Claim) -> Polled:
        """Ask about one ride and work out what the answer means; writes nothing."""
        self.at("poll.claimed")
        answer = self._ask(claim)
        self.at("poll.answered")
        late = claim.at - claim.row.next_poll_at
        self.watch.poll("answered" if isinstance(answer, Snapshot) else type(answer).__name__, late.total_seconds())
        return Polled(claim, answer, None if isinstance(answer, Exception) else self._plain(claim, answer))

    def record(self, polled: Sequence[Polled]) -> int:
        """Write what came: plain polls in one transaction, the others one by one. How many answers were recorded.

        Raises DatabaseBusy and SQLAlchemyError when nothing can be written now: the leases end, and all are asked anew.
        """
        plainly = {each.claim.ride_id: each for each in polled if each.plain is not None}
        careful = [each for each in polled if each.plain is None]
        written: Sequence[Plain] = ()
        if plainly:
            try:
                written, late = write_plain(self.db, [each.plain for each in plainly.values() if each.plain])
                careful += [plainly[each.claim.ride_id] for each in late]
            except (*POISONOUS, SQLAlchemyError) as error:
                if isinstance(error, OperationalError):
                    raise
                log.error("a batch of polls was recorded one by one: %s", type(error).__name__)
                careful += plainly.values()
        for _ in written:
            self.at("poll.merged")
        return len(written) + sum(self._carefully(each) for each in careful)

    def _carefully(self, polled: Polled) -> bool:
        try:
            merged = self._record(polled.claim, polled.answer)
        except POISONOUS as error:
            self._poisoned(polled.claim, error)
            return False
        self.at("poll.merged")
        return merged

    def _plain(self, claim: Claim, answer: Snapshot) -> Plain | None:
        """Pure but for the clock and chance; whatever goes wrong here goes wrong again the careful way, and is told."""
        now = self.clock()
        try:
            before = state_as_claimed(claim.row, self.tokens.vault)
            merged = merge(before, answer, claim.seq, now)
            return plain(claim, before, merged, now, self.pace, self._spread)
        except POISONOUS:
            return None

    def _ask(self, claim: Claim) -> Snapshot | Exception:
        try:
            token = self.bearers.bearer(claim.account_id)
            try:
                return self._track(claim, token)
            except Unauthorized:
                return self._track(claim, self.bearers.refreshed(claim.account_id, token))
        except (ServiceError, NeedsReconnect, NoRefreshNow) as error:
            return error

    def _track(self, claim: Claim, token: str) -> Snapshot:
        lane = Lane.WAITING if claim.guest_waits else Lane.REST
        if claim.booking_id:
            return self.client.track_ride(token, booking_id=claim.booking_id, lane=lane)
        return self.client.track_ride(token, txn_id=claim.txn_id, lane=lane)

    def _record(self, claim: Claim, answer: Snapshot | Exception) -> bool:
        now = self.clock()
        with self.db.write() as s:
            order = s.get_one(Order, claim.order_id, with_for_update=True)  # before its ride, as everybody does
            ride = s.get_one(Ride, claim.ride_id, with_for_update=True)
            if ride.poll_seq != claim.seq:
                return False
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
        """The schedule is the retry; last facts stay as they are. What we did not ask is no failure of the ride."""
        if isinstance(error, Held):
            self._next(ride, max(MIN_INTERVAL_S, error.wait_s), now)
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
        ride.next_poll_at = now + self._spread(wait_s)

    def _spread(self, wait_s: float) -> timedelta:
        """The wait, 10 % more or less, so that rides do not march in step."""
        return timedelta(seconds=max(MIN_INTERVAL_S, wait_s * (0.9 + 0.2 * self.chance())))

    def _poisoned(self, claim: Claim, error: Exception) -> None:
        """Recording raised: push this ride ahead, so that the others go on."""
        now = self.clock()
        with self.db.write() as s:
            order = s.get_one(Order, claim.order_id, with_for_update=True)
            ride = s.get_one(Ride, claim.ride_id, with_for_update=True)
            if ride.poll_seq != claim.seq:
                return
            ride.poison += 1
            ride.lease_until = ride.owner = None
            ride.interval_s = following.poison_wait_s(ride.poison)
            ride.next_poll_at = now + timedelta(seconds=ride.interval_s)
            moves.attention(s, order, following.POISON, type(error).__name__, now)
