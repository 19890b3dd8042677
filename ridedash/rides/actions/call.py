"""Claims one stored action, makes its call once, and settles it (docs/booking-protocol.md 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ScalarSelect, and_, exists, or_, select, update
from sqlalchemy.orm import Session, aliased

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import (
    ELSEWHERE,
    NeedsReconnect,
    NoRefreshNow,
    call_with_token,
)
from ridedash.rides.runtime import Runtime
from ridedash.rides.state.codes import NO_CONNECTION, RATE_LIMITED, RECONNECT
from ridedash.rides.state.states import FEEDBACK_CALLS, REPEATABLE
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    Refused,
    ServiceError,
    is_rate_limited,
)
from ridedash.service.parsing.fields import TEXT_LIMIT
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.bookings import Done
from ridedash.store import audit
from ridedash.store.actors import WORKER
from ridedash.store.models.orders import Action, Order, Ride
from ridedash.store.orders import placed_by

# a short outage has often ended by then; it doubles with each call
FEEDBACK_WAIT: Final = timedelta(seconds=5)
# feedback that could not be sent is tried for this long
FEEDBACK_LASTS: Final = timedelta(hours=24)
ARMED_WAIT: Final = timedelta(seconds=5)  # as long as the breaker waits for its first probe
# the budget of retries has grown by then; feedback is never urgent
RETRY_AFTER: Final = timedelta(seconds=30)
_NEWER: Final = aliased(Action)
# changes of the drop that were replaced by a later one: the next poll settles them
_OVERTAKEN: Final = and_(
    Action.name == "drop",
    exists().where(
        _NEWER.order_id == Action.order_id, _NEWER.name == "drop", _NEWER.id > Action.id
    ),
)
UNDER_WAY: Final = frozenset({"calling", "unconfirmed"})  # states without a known result
REFUSALS: Final = frozenset({400, 401, 403, 404, 405, 413, 415, 422})  # HTTP statuses of a refusal


@dataclass(frozen=True)
class ActionResult:
    """The result of an action.

    `outcome` is one of: done, refused (code, header and text are the service's own words),
    unconfirmed (sent without a clear answer: the worker reads the result back), not_sent (the
    service has certainly not done it), armed (stored, to be sent once the shared ride has its
    booking), not_now (the state of the ride does not allow it; nothing was sent).
    """

    outcome: str
    code: str | None = None
    header: str | None = None
    text: str | None = None
    action_id: int | None = None


class Caller:
    """Makes the calls of actions, for a request or for the worker."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def due(self, limit: int) -> Sequence[int]:
        """Actions that the worker shall call now, the longest due first.

        They are armed cancels whose booking now exists, and actions whose last call was not sent or
        got no clear answer. Empty while no call may start.
        """
        if self.runtime.client.traffic.wait_s(Priority.WRITE) > 0:
            return ()
        now = self.runtime.clock()
        foreign = self.runtime.tokens.foreign(Action.account_id)
        query = select(Action.id).where(
            Action.state.in_(REPEATABLE),
            Action.next_try_at <= now,
            or_(Action.next_try_at <= now - ELSEWHERE, ~foreign),
            ~_OVERTAKEN,
        )
        with self.runtime.db.read() as s:
            return s.scalars(query.order_by(Action.next_try_at).limit(limit)).all()

    def again(self, action_id: int) -> bool:
        """Call a due action.

        False if another worker has claimed it, if feedback must wait because the budget of retries
        is used up, or if staff have changed the drop since: this call could undo the newer change.
        """
        now = self.runtime.clock()
        if self._postponed(action_id, now):
            return False
        claim = (
            update(Action)
            .where(
                Action.id == action_id,
                Action.state.in_(REPEATABLE),
                Action.next_try_at <= now,
                ~_OVERTAKEN,
            )
            .values(state="calling", called_at=now, calls=Action.calls + 1, next_try_at=None)
        )
        with self.runtime.db.write() as s:
            # The order is locked first. So a newer change of the drop is stored either before this
            # claim, which then fails, or after it, and finds this change under way.
            s.scalars(select(Order).where(Order.id == _order_of(action_id))).first()
            if s.connection().execute(claim).rowcount != 1:
                return False
        self.call(action_id, by_worker=True)
        return True

    def call(self, action_id: int, *, by_worker: bool = False) -> ActionResult:
        """Make the call of an action in the state `calling`, and settle the action.

        The audit entry names the member of staff or the kiosk, or the worker with `by_worker`.
        """
        with self.runtime.db.read() as s:
            action = s.get_one(Action, action_id)
            booking = select(Order.booking_id).where(Order.id == action.order_id)
            booking_id = s.scalars(booking).one()
        result = self._result(action, booking_id)
        with self.runtime.db.write() as s:
            order = s.get_one(Order, action.order_id)  # locked first, then what belongs to it
            now = self.runtime.clock()
            _settle(s, order, s.get_one(Action, action_id), result, now, by_worker)
        return result

    def _postponed(self, action_id: int, now: datetime) -> bool:
        """Postpone repeated feedback while the budget of retries is used up.

        Returns whether it was postponed: a cancel, an abort or a new drop never is.
        """
        with self.runtime.db.read() as s:
            action = s.get(Action, action_id)
        if action is None or action.name != "feedback" or not action.calls:
            return False
        if self.runtime.client.traffic.may_repeat():
            return False
        with self.runtime.db.write() as s:
            s.execute(
                update(Action).where(Action.id == action_id).values(next_try_at=now + RETRY_AFTER)
            )
        return True

    def _result(self, action: Action, booking_id: str | None) -> ActionResult:
        if booking_id is None:
            return ActionResult("not_sent", "NO_BOOKING_ID", action_id=action.id)
        try:
            done = call_with_token(
                self.runtime.tokens,
                action.account_id,
                lambda token: self._send(action, booking_id, token),
            )
        except ServiceError as error:
            return result_of_error(error, action.id)
        except (NeedsReconnect, NoRefreshNow) as error:
            return ActionResult("not_sent", error.code, action_id=action.id)
        text = _cut(wire.said(done.text, done.message))
        return ActionResult("done", done.code, done.header, text, action.id)

    def _send(self, action: Action, booking_id: str, token: str) -> Done:
        client = self.runtime.client
        payload: dict[str, Any] = action.payload
        if action.name == "abort":
            return client.abort_booking(booking_id, token)
        if action.name == "cancel":
            return client.cancel_booking(booking_id, payload["reason"], token)
        if action.name == "drop":
            drop = LatLng(payload["lat"], payload["lng"])
            return client.update_drop_location(booking_id, drop, token)
        options = tuple(payload["options"])
        comments = payload["comments"]
        return client.submit_feedback(booking_id, payload["rating"], token, options, comments)


def _order_of(action_id: int) -> ScalarSelect[int]:
    return select(Action.order_id).where(Action.id == action_id).scalar_subquery()


def _settle(
    s: Session,
    order: Order,
    action: Action,
    result: ActionResult,
    now: datetime,
    by_worker: bool,
) -> None:
    """Write the result of a call, and poll the ride soon, so that pages show its effect."""
    unchanged = by_worker and result.outcome == "not_sent" and action.code == result.code
    if action.name == "feedback" or action.state in UNDER_WAY:
        action.code = result.code
        action.header = result.header
        action.text = result.text
    if action.name == "feedback":
        _schedule_feedback(action, result, now)
    else:
        _schedule(action, result, now)
    if unchanged and action.settled_at is None:
        return
    order.version += 1
    _poll_soon(s, order.id, now)
    who = WORKER if by_worker else placed_by(action)
    what = f"ride.{action.name}"
    subject = f"orders:{order.id}"
    facts = {"property_id": order.property_id, "code": result.code}
    audit.record(s, who, what, subject, result.outcome, now, **facts)


def _schedule(action: Action, result: ActionResult, now: datetime) -> None:
    """Set the new state of an action after its call, and when to call it again, if ever."""
    if action.state not in UNDER_WAY:
        return  # a poll has settled the action meanwhile
    if action.calls > 1 and result.outcome == "not_sent":
        # the previous call may have taken effect
        action.state = "unconfirmed"
        action.calls -= 1
    elif action.payload.get("armed") and result.outcome == "not_sent" and result.code != RECONNECT:
        # the person who armed the cancel may have left, and can't repeat it
        action.state = "armed"
        action.calls = 0
        action.next_try_at = now + ARMED_WAIT
    elif action.state == "calling":
        action.state = result.outcome
        action.settled_at = None if result.outcome == "unconfirmed" else now


def _schedule_feedback(action: Action, result: ActionResult, now: datetime) -> None:
    """Set when to send feedback again: for a day if it can't be sent, else three calls in all."""
    if result.outcome == "not_sent" and now < action.made_at + FEEDBACK_LASTS:
        action.state = "unconfirmed"
        action.calls -= 1
        action.next_try_at = now + RETRY_AFTER
    elif result.outcome == "unconfirmed" and action.calls < FEEDBACK_CALLS:
        action.state = "unconfirmed"
        action.next_try_at = now + FEEDBACK_WAIT * 2**action.calls
    else:
        action.state = result.outcome
        action.settled_at = now


def _poll_soon(s: Session, order_id: int, now: datetime) -> None:
    followed = (
        Ride.order_id == order_id,
        Ride.next_poll_at > now,
        Ride.ended_at.is_(None),
        Ride.poison == 0,
    )
    s.connection().execute(update(Ride).where(*followed).values(next_poll_at=now))


def result_of_error(error: ServiceError, action_id: int | None = None) -> ActionResult:
    """What an error at the end of a call proves about its action."""
    if isinstance(error, Refused):
        code = error.code or error.reason
        text = _cut(wire.said(error.text, error.message))
        return ActionResult("refused", code, error.header, text, action_id)
    if is_rate_limited(error):
        text = error.message if isinstance(error, BadStatus) else None
        return ActionResult("not_sent", RATE_LIMITED, text=text, action_id=action_id)
    if isinstance(error, NoAnswer) and not error.sent:
        return ActionResult("not_sent", NO_CONNECTION, action_id=action_id)
    if isinstance(error, BadStatus) and error.status in REFUSALS:
        code = error.code or f"HTTP_{error.status}"
        return ActionResult("refused", code, text=error.message, action_id=action_id)
    return ActionResult("unconfirmed", action_id=action_id)


def _cut(text: str) -> str | None:
    """A text of the service in the length that is stored; None for ""."""
    return text[:TEXT_LIMIT] or None
