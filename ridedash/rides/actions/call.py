"""The call of one recorded action: claimed, made once, settled (docs/booking-protocol.md 2)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import ELSEWHERE, AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.codes import NO_CONNECTION, RATE_LIMITED, RECONNECT
from ridedash.rides.runtime import Clock
from ridedash.service.client import RideClient
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    ServiceError,
    Throttled,
    Unauthorized,
)
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.bookings import Done
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Action, Order, Ride

FEEDBACK_CALLS: Final = 3
FEEDBACK_WAIT: Final = timedelta(seconds=5)
# for so long it is kept for a service that can't be asked
FEEDBACK_LASTS: Final = timedelta(hours=24)
ARMED_WAIT: Final = timedelta(seconds=5)
LATER: Final = timedelta(seconds=30)


@dataclass(frozen=True)
class ActionResult:
    """What came of an action.

    `outcome`: done · refused (the service said no: code, header, text are its own words) ·
    unconfirmed (asked, no
    clear answer: the worker reads it back) · not_sent (proved: nothing reached the service) · armed
    · not_now (the ride's state does not allow it; nothing was asked).
    """

    outcome: str
    code: str | None = None
    header: str | None = None
    text: str | None = None
    action_id: int | None = None


class Caller:
    """Makes the calls of actions, for a request or for the worker."""

    def __init__(
        self, db: Database, client: RideClient, tokens: AccountTokens, clock: Clock
    ) -> None:
        self.db, self.client, self.tokens, self.clock = db, client, tokens, clock

    def due(self, limit: int) -> list[int]:
        """Actions that the worker shall call now: a repeat, a released cancel, feedback that got no
        clear answer.

        None while a call would not be let out: they stay due.
        """
        if self.client.traffic.wait_s(Priority.WRITE) > 0:
            return []
        now = self.clock()
        ours = or_(Action.next_try_at <= now - ELSEWHERE, ~self.tokens.foreign(Action.account_id))
        query = select(Action.id).where(
            Action.state.in_(("armed", "unconfirmed")), Action.next_try_at <= now, ours
        )
        with self.db.read() as s:
            return list(s.scalars(query.order_by(Action.next_try_at).limit(limit)))

    def again(self, action_id: int) -> bool:
        """Call a due action. False when somebody else does, or when too many calls were repeats
        lately.
        """
        now = self.clock()
        if self._put_off(action_id, now):
            return False
        ours = (
            update(Action)
            .where(
                Action.id == action_id,
                Action.state.in_(("armed", "unconfirmed")),
                Action.next_try_at <= now,
            )
            .values(state="calling", called_at=now, calls=Action.calls + 1, next_try_at=None)
        )
        with self.db.write() as s:
            if s.connection().execute(ours).rowcount != 1:
                return False
        self.call(action_id, by_worker=True)
        return True

    def _put_off(self, action_id: int, now: datetime) -> bool:
        """Feedback is repeated only within the budget of repeats; a stop that a person wants is
        always.
        """
        with self.db.read() as s:
            action = s.get(Action, action_id)
        if (
            action is None
            or action.name != "feedback"
            or not action.calls
            or self.client.traffic.may_repeat()
        ):
            return False
        with self.db.write() as s:
            s.execute(update(Action).where(Action.id == action_id).values(next_try_at=now + LATER))
        return True

    def call(self, action_id: int, *, by_worker: bool = False) -> ActionResult:
        """Make the call of an action that is `calling`, and settle it.

        By whoever pressed, unless told otherwise.
        """
        with self.db.read() as s:
            action = s.get_one(Action, action_id)
            booking_id = s.scalars(
                select(Order.booking_id).where(Order.id == action.order_id)
            ).one()
        result = self._outcome(action, booking_id)
        with self.db.write() as s:
            s.get_one(Order, action.order_id)  # held first, then what belongs to it
            self._settle(s, s.get_one(Action, action_id), result, self.clock(), by_worker)
        return result

    def _outcome(self, action: Action, booking_id: str | None) -> ActionResult:
        if booking_id is None:
            return ActionResult("not_sent", "NO_BOOKING_ID", action_id=action.id)
        try:
            done = self._twice(action, booking_id)
        except ServiceError as error:
            return _judged(error, action.id)
        except (NeedsReconnect, NoRefreshNow) as error:
            return ActionResult("not_sent", error.code, action_id=action.id)
        return ActionResult("done", done.code, done.header, done.text or done.message, action.id)

    def _twice(self, action: Action, booking_id: str) -> Done:
        """One call, and another with a fresh token when the first was refused for its token
        alone.
        """
        token = self.tokens.bearer(action.account_id)
        try:
            return self._once(action, booking_id, token)
        except Unauthorized:
            return self._once(action, booking_id, self.tokens.refreshed(action.account_id, token))

    def _once(self, action: Action, booking_id: str, token: str) -> Done:
        payload: dict[str, Any] = action.payload
        if action.name == "abort":
            return self.client.abort_booking(booking_id, token)
        if action.name == "cancel":
            return self.client.cancel_booking(booking_id, payload["reason"], token)
        if action.name == "drop":
            return self.client.update_drop_location(
                booking_id, LatLng(payload["lat"], payload["lng"]), token
            )
        return self.client.submit_feedback(
            booking_id, payload["rating"], token, tuple(payload["options"]), payload["comments"]
        )

    def _settle(
        self, s: Session, action: Action, result: ActionResult, now: datetime, by_worker: bool
    ) -> None:
        nothing_new = by_worker and result.outcome == "not_sent" and action.code == result.code
        action.code, action.header, action.text = result.code, result.header, result.text
        if action.name == "feedback":
            _schedule_feedback(action, result, now)
        else:
            _schedule(action, result, now)
        if nothing_new and action.settled_at is None:
            return
        order = s.get_one(Order, action.order_id)
        order.version += 1
        _poll_soon(s, order.id, now)
        subject, place = f"orders:{order.id}", order.property_id
        who = "worker" if by_worker else f"staff:{action.staff_id}"
        audit.record(
            s,
            who,
            f"ride.{action.name}",
            subject,
            result.outcome,
            now,
            property_id=place,
            code=result.code,
        )


def _schedule(action: Action, result: ActionResult, now: datetime) -> None:
    """When it is called again, if ever."""
    if action.calls > 1 and result.outcome == "not_sent":
        # the call before may have done it
        action.state, action.calls = "unconfirmed", action.calls - 1
    elif action.payload.get("armed") and result.outcome == "not_sent" and result.code != RECONNECT:
        # who armed it has gone away
        action.state, action.calls, action.next_try_at = "armed", 0, now + ARMED_WAIT
    elif action.state == "calling":
        action.state = result.outcome
        action.settled_at = None if result.outcome == "unconfirmed" else now


def _schedule_feedback(action: Action, result: ActionResult, now: datetime) -> None:
    """What never left is kept for a day; what left without a clear answer is sent three times at
    most.
    """
    if result.outcome == "not_sent" and now < action.made_at + FEEDBACK_LASTS:
        action.state, action.calls, action.next_try_at = (
            "unconfirmed",
            action.calls - 1,
            now + LATER,
        )
    elif result.outcome == "unconfirmed" and action.calls < FEEDBACK_CALLS:
        action.state, action.next_try_at = "unconfirmed", now + FEEDBACK_WAIT * 2**action.calls
    else:
        action.state, action.settled_at = result.outcome, now


def _poll_soon(s: Session, order_id: int, now: datetime) -> None:
    """So that the page shows what came of it."""
    followed = (
        Ride.order_id == order_id,
        Ride.next_poll_at > now,
        Ride.ended_at.is_(None),
        Ride.poison == 0,
    )
    s.connection().execute(update(Ride).where(*followed).values(next_poll_at=now))


def _judged(error: ServiceError, action_id: int) -> ActionResult:
    if isinstance(error, Refused):
        code = error.code or error.reason
        return ActionResult("refused", code, error.header, error.text or error.message, action_id)
    if isinstance(error, RateLimited) or (
        isinstance(error, Throttled) and error.why == Throttled.LIMITED
    ):
        return ActionResult("not_sent", RATE_LIMITED, action_id=action_id)
    if isinstance(error, NoAnswer) and not error.sent:
        return ActionResult("not_sent", NO_CONNECTION, action_id=action_id)
    if isinstance(error, BadStatus) and error.status in {400, 401, 403, 404, 405, 413, 415, 422}:
        return ActionResult(
            "refused", error.code or f"HTTP_{error.status}", text=error.message, action_id=action_id
        )
    return ActionResult("unconfirmed", action_id=action_id)
