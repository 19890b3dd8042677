"""RideClient: the eight operations of the ride booking service, one method each.

See docs/service-interface.md Endpoints.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ridedash import wire
from ridedash.geo import LatLng, is_valid
from ridedash.observability.hooks import Unwatched, Watch
from ridedash.service import responses
from ridedash.service.errors import (
    BadStatus,
    Held,
    NoAnswer,
    ServiceError,
    Unauthorized,
    Unreadable,
)
from ridedash.service.throttle.traffic import Lane, Result, Traffic
from ridedash.service.transport.http import CONNECT_S, Answer, Http, safe_address
from ridedash.service.types.bookings import (
    DOCUMENT_OPTIONS,
    CreateAnswer,
    CreateBody,
    Done,
    FeedbackOptions,
    NewBooking,
)
from ridedash.service.types.products import ProductList
from ridedash.service.types.tracking import Snapshot

OPTIONS_KEPT_S: Final = 24 * 3600.0
OPTIONS_KEPT: Final = 100  # categories
RETRY_PAUSE_S: Final = (0.1, 0.3)
RETRY_WORTH_S: Final = 0.5  # with less time left, a second try would only be a second failure
# for a turn; polls come back
PATIENCE_S: Final = {Lane.WRITE: 2.0, Lane.PAGE: 1.0, Lane.WAITING: 0.0, Lane.REST: 0.0}
CREATE_PATIENCE_S: Final = 0.5  # the sender claims an order only when its turn has come


class Operation(NamedTuple):
    """Where an operation lives and how long it may take, in seconds, connecting included."""

    method: str
    path: str
    total_s: float
    fresh: bool = False


PRODUCTS: Final = Operation("GET", "/v1/products", 4)
# people are told after 20 s
CREATE: Final = Operation("POST", "/v1.5/bookings/create", 60, fresh=True)
ABORT: Final = Operation("POST", "/v1/bookings/abort", 8, fresh=True)
DROP_LOCATION: Final = Operation("POST", "/v1/bookings/drop_location", 8, fresh=True)
CANCEL: Final = Operation("POST", "/v1/bookings/cancel", 8, fresh=True)
TRACK: Final = Operation("GET", "/v1/bookings/track_ride", 5)
FEEDBACK: Final = Operation("POST", "/v1/bookings/feedback", 5, fresh=True)
OPTIONS: Final = Operation("GET", "/v1.5/bookings/feedback/options", 4)


class RideClient:
    """The service, seen by us. `token` is a user's bearer token. Safe to share between threads.

    All but create_booking raise the tree of `errors`; local nonsense raises ValueError before
    anything is sent.
    `pause` sleeps before a second try, `monotonic` ages the kept feedback options; both in seconds.
    `traffic` decides what may be asked now (Held when not); without one there is a breaker and no
    limit.
    `watch` is told how each call ended.
    """

    def __init__(
        self,
        http: Http,
        base_url: str,
        app_token: str,
        *,
        pause: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        traffic: Traffic | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._http = http
        self._base_url = safe_address(base_url).rstrip("/")
        self._app_token = app_token
        self._pause = pause
        self._monotonic = monotonic
        self.traffic = traffic or Traffic(math.inf)
        self._watch = watch or Unwatched()
        self._options: dict[tuple[str, str | None], tuple[float, FeedbackOptions]] = {}

    def __repr__(self) -> str:
        return f"RideClient({self._base_url!r})"

    def products(
        self,
        pickup: LatLng,
        drop: LatLng | None = None,
        category: str | None = None,
        token: str | None = None,
    ) -> ProductList:
        """What can be booked at a pickup; with a drop, estimates too.

        See docs/service-interface.md 6.
        """
        params = _pair("pickup", pickup)
        if drop is not None:
            params |= _pair("drop", drop)
        if category is not None:
            params["category"] = category
        return ProductList.from_wire(
            self._asked_twice(
                PRODUCTS, token, params, ("categories", "ride_estimate", "hotspot_zone")
            )
        )

    def create_booking(self, order: NewBooking, token: str) -> CreateAnswer:
        """Create a booking, once, on a fresh connection (docs/service-interface.md 1).

        Raises errors.NoAnswer only.
        """
        try:
            answer = self._call(CREATE, token, json=order.payload(), patience_s=CREATE_PATIENCE_S)
        except Unreadable as exc:
            return CreateAnswer(http_status=exc.http_status, evidence=exc.evidence, names_id=True)
        kept: dict[str, Any] = {"http_status": answer.status, "evidence": answer.evidence}
        kept |= {
            "retry_after_s": responses.retry_after_s(answer),
            "names_id": responses.names_an_id(answer),
        }
        try:
            body = answer.json()
        except Unreadable:
            return CreateAnswer(**kept)
        read = CreateBody.from_wire(body) if isinstance(body, dict) else None
        return CreateAnswer(**kept, body=read, readable=CreateBody.usable(body))

    def abort_booking(self, booking_id: str, token: str) -> Done:
        """Stop the search for a cab (docs/service-interface.md 2).

        Refused with BOOKING_ALLOTED when one is allotted.
        """
        return self._done(ABORT, token, {"booking_id": booking_id})

    def update_drop_location(self, booking_id: str, drop: LatLng, token: str) -> Done:
        """Change the drop of a ride (docs/service-interface.md 3).

        Refused with `header` and `text`, without a code.
        """
        _check(drop)
        return self._done(
            DROP_LOCATION,
            token,
            {"drop_lat": drop.lat, "drop_lng": drop.lng, "booking_id": booking_id},
        )

    def cancel_booking(self, booking_id: str, reason: str, token: str) -> Done:
        """Cancel an allotted ride (docs/service-interface.md 4).

        Refused with reason CANCELLATION_NOT_ALLOWED.
        """
        return self._done(CANCEL, token, {"booking_id": booking_id, "reason": reason})

    def track_ride(
        self,
        token: str,
        *,
        booking_id: str | None = None,
        txn_id: str | None = None,
        lane: Lane = Lane.REST,
    ) -> Snapshot:
        """How a ride stands (docs/service-interface.md 5); exactly one of the two ids."""
        return snapshot_of(self.ask_track(token, booking_id=booking_id, txn_id=txn_id, lane=lane))

    def ask_track(
        self, token: str, *, booking_id: str | None, txn_id: str | None, lane: Lane
    ) -> Answer:
        """The same, not judged: whoever asks about many rides reads their answers together, with
        `snapshot_of`.
        """
        if bool(booking_id) == bool(txn_id):
            raise ValueError("a ride is tracked by its booking_id or by its txn_id")
        params = {"booking_id": booking_id} if booking_id else {"txn_id": str(txn_id)}
        return self._call(TRACK, token, params=params, lane=lane)

    def submit_feedback(
        self,
        booking_id: str,
        rating: int,
        token: str,
        feedback: Sequence[str] = (),
        comments: str | None = None,
    ) -> Done:
        """Rate a ride 1 to 5, with labels from feedback_options (docs/service-interface.md 7)."""
        if rating not in {1, 2, 3, 4, 5}:
            raise ValueError("a rating is 1 to 5")
        body: dict[str, Any] = {"booking_id": booking_id, "rating": rating}
        if feedback:
            body["feedback"] = ",".join(feedback)
        if comments:
            body["comments"] = comments
        return self._done(FEEDBACK, token, body)

    def feedback_options(
        self, category: str, token: str, sub_category: str | None = None
    ) -> FeedbackOptions:
        """The labels by rating, stored for 24 h (docs/service-interface.md 8).

        Those of the interface when no clear answer came.

        Raises errors.Refused and errors.Unauthorized.
        """
        key, now = (category, sub_category), self._monotonic()
        kept = self._options.get(key)
        if kept is not None and now - kept[0] < OPTIONS_KEPT_S:
            return kept[1]
        params = {"category": category} | ({"sub_category": sub_category} if sub_category else {})
        try:
            got = self._asked_twice(OPTIONS, token, params, ("driver_feedback_options",))
        except Unauthorized:
            raise
        except (NoAnswer, BadStatus, Unreadable):
            return DOCUMENT_OPTIONS
        return self._keep(key, now, FeedbackOptions.from_wire(got))

    def _keep(
        self, key: tuple[str, str | None], now: float, found: FeedbackOptions
    ) -> FeedbackOptions:
        if not found.options:
            return DOCUMENT_OPTIONS
        if len(self._options) >= OPTIONS_KEPT:
            self._options.clear()
        self._options[key] = (now, found)
        return found

    def _done(self, operation: Operation, token: str, body: dict[str, Any]) -> Done:
        return Done.from_wire(responses.success_of(self._call(operation, token, json=body)))

    def _asked_twice(
        self,
        operation: Operation,
        token: str | None,
        params: dict[str, str],
        needed: tuple[str, ...],
    ) -> dict[str, Any]:
        """A harmless question, asked once more after an unclear answer; both tries share the time
        of one.
        """
        end = self._monotonic() + operation.total_s
        try:
            return self._asked(operation, token, params, needed)
        except ServiceError as exc:
            left = end - self._monotonic() - RETRY_PAUSE_S[1]
            if not _worth_another(exc) or left < RETRY_WORTH_S or not self.traffic.may_repeat():
                raise
        self._pause(random.uniform(*RETRY_PAUSE_S))  # noqa: S311 - spreads load, guards nothing
        return self._asked(operation._replace(total_s=left), token, params, needed)

    def _asked(
        self,
        operation: Operation,
        token: str | None,
        params: dict[str, str],
        needed: tuple[str, ...],
    ) -> dict[str, Any]:
        answer = self._call(operation, token, params=params)
        got = responses.object_of(answer)
        if not got.keys() & set(needed):
            raise Unreadable(answer.status, f"no {needed[0]}", answer.evidence)
        return got

    def _call(
        self,
        operation: Operation,
        token: str | None,
        *,
        params: dict[str, str] | None = None,
        json: Any = None,
        lane: Lane | None = None,
        patience_s: float | None = None,
    ) -> Answer:
        """One call when its turn comes. Raises errors.Held when it does not."""
        if lane is None:
            lane = Lane.PAGE if operation.method == "GET" else Lane.WRITE
        began, outcome = time.perf_counter(), "failed"
        try:
            answer = self._in_turn(
                operation,
                token,
                params,
                json,
                lane,
                PATIENCE_S[lane] if patience_s is None else patience_s,
            )
            outcome = responses.outcome_of(answer)
        except ServiceError as exc:
            outcome = responses.outcome_of(exc)
            raise
        finally:
            self._watch.call(operation.path, outcome, time.perf_counter() - began)
        return answer

    def _in_turn(
        self,
        operation: Operation,
        token: str | None,
        params: dict[str, str] | None,
        json: Any,
        lane: Lane,
        wait_s: float,
    ) -> Answer:
        """One call; how it ended is told to the traffic."""
        passed = self.traffic.enter(lane, wait_s)
        result, wait = Result.VOID, None
        try:
            left = max(RETRY_WORTH_S, operation.total_s - passed.waited_s)
            answer = self._sent(operation._replace(total_s=left), token, params, json)
            result = responses.result_of(answer)
            wait = responses.retry_after_s(answer) if result is Result.LIMITED else None
        except (NoAnswer, Unreadable) as exc:
            result = responses.result_of_error(exc)
            raise
        finally:
            self.traffic.settle(passed, result, wait)
        return answer

    def _sent(
        self, operation: Operation, token: str | None, params: dict[str, str] | None, json: Any
    ) -> Answer:
        headers = {wire.APP_TOKEN_HEADER: self._app_token}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self._http.call(
            operation.method,
            self._base_url + operation.path,
            headers=headers,
            params=params,
            json=json,
            connect_s=CONNECT_S,
            total_s=operation.total_s,
            fresh=operation.fresh,
            secrets=(self._app_token, token or ""),
        )


def snapshot_of(answer: Answer) -> Snapshot:
    """What an answer to track_ride says. Raises the errors that it stands for."""
    got = responses.object_of(answer)
    if not got.keys() & {"status", "booking_status", "booking_id"}:
        raise Unreadable(answer.status, "no snapshot", answer.evidence)
    return Snapshot.from_wire(got)


def _worth_another(exc: ServiceError) -> bool:
    if isinstance(exc, Held):
        return False
    return isinstance(exc, NoAnswer | Unreadable) or (
        isinstance(exc, BadStatus) and exc.status >= 500
    )


def _check(position: LatLng) -> None:
    if not is_valid(*position):
        raise ValueError("a position off the globe")


def _pair(name: str, position: LatLng) -> dict[str, str]:
    _check(position)
    return {f"{name}_lat": f"{position.lat:.7f}", f"{name}_lng": f"{position.lng:.7f}"}
