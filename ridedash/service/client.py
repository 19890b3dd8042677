"""RideClient: the eight operations of the ride service (docs/service-interface.md, Endpoints)."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from ridedash import wire
from ridedash.geo import LatLng, is_valid
from ridedash.service import responses
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    ServiceError,
    Throttled,
    Unauthorized,
    Unreadable,
)
from ridedash.service.hooks import MarkedCall, exchange_of
from ridedash.service.throttle.traffic import Priority, Result, Traffic
from ridedash.service.transport.http import Answer, Http, Marks, Request, safe_address
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

OPTIONS_CACHED_S: Final = 24 * 3600.0  # the reasons for a rating hardly ever change
OPTIONS_CACHED: Final = 100  # categories
# A Date header older than this is not used. Its age is measured by the monotonic clock, which may
# stop while the machine is suspended.
DATE_LASTS_S: Final = 60.0
# from and to, by chance, so that repetitions don't come all at once
RETRY_PAUSE_S: Final = (0.1, 0.3)
RETRY_LEAST_S: Final = 0.5  # a second try needs at least this much time
# How long a create waits for its permit. A short wait is enough: while a 429 stops all calls,
# `Sender.due` leaves out the orders that can still be sent afterwards. The others shall fail soon.
CREATE_PATIENCE_S: Final = 0.5
# how long other calls wait; polls don't wait, because they are repeated anyway
PATIENCE_S: Final = {
    Priority.WRITE: 2.0,
    Priority.PAGE: 1.0,
    Priority.WAITING: 0.0,
    Priority.REST: 0.0,
}


class Operation(NamedTuple):
    """Method and path of an operation, and the seconds that it may take, connecting included."""

    method: str
    path: str
    total_s: float
    fresh: bool = False  # on a new connection


PRODUCTS: Final = Operation("GET", "/v1/products", 4)
# After 20 s without an answer the order is shown as UNKNOWN; a later answer still counts.
CREATE: Final = Operation("POST", "/v1.5/bookings/create", 60, fresh=True)
ABORT: Final = Operation("POST", "/v1/bookings/abort", 8, fresh=True)
DROP_LOCATION: Final = Operation("POST", "/v1/bookings/drop_location", 8, fresh=True)
CANCEL: Final = Operation("POST", "/v1/bookings/cancel", 8, fresh=True)
TRACK: Final = Operation("GET", "/v1/bookings/track_ride", 5)
FEEDBACK: Final = Operation("POST", "/v1/bookings/feedback", 5, fresh=True)
OPTIONS: Final = Operation("GET", "/v1.5/bookings/feedback/options", 4)


class RideClient:
    """A client of the service. `token` is a user's bearer token. Safe to share between threads.

    Operations raise the errors of `errors` (create_booking and feedback_options only some), and
    ValueError for invalid arguments before anything is sent. `pause` sleeps before a second try;
    `monotonic` is the clock of deadlines and of the cached feedback options; both in seconds.
    `traffic` gives each call its permit (Throttled is raised when it gives none); by default it has
    a circuit breaker and no rate limit. Each call is reported to `traffic.hooks`.
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
    ) -> None:
        self._http = http
        self._base_url = safe_address(base_url).rstrip("/")
        self._app_token = app_token
        self._pause = pause
        self._monotonic = monotonic
        self.traffic = traffic or Traffic(math.inf)
        self._options: dict[tuple[str, str | None], tuple[float, FeedbackOptions]] = {}
        # the Date header of the last answer that had one, and when it arrived
        self._dated: tuple[datetime, float] | None = None

    def __repr__(self) -> str:
        return f"RideClient({self._base_url!r})"

    def clock_ahead_s(self, now: datetime) -> float | None:
        """By how many seconds `now` is ahead of the service's clock; negative if it is behind.

        None when no answer of the last DATE_LASTS_S had a Date.
        """
        if self._dated is None:
            return None
        date, came = self._dated
        since = self._monotonic() - came
        if since > DATE_LASTS_S:
            return None
        return (now - date).total_seconds() - since

    def products(
        self,
        pickup: LatLng,
        drop: LatLng | None = None,
        category: str | None = None,
        token: str | None = None,
    ) -> ProductList:
        """What can be booked here; with a drop, estimates too (docs/service-interface.md 6)."""
        params = _coordinates("pickup", pickup)
        if drop is not None:
            params |= _coordinates("drop", drop)
        if category is not None:
            params["category"] = category
        request = self._request(PRODUCTS, token, params=params)
        return ProductList.from_wire(
            self._get_twice(request, ("categories", "ride_estimate", "hotspot_zone"))
        )

    def create_booking(self, order: NewBooking, token: str) -> CreateAnswer:
        """Create a booking, once, on a fresh connection (docs/service-interface.md 1).

        Raises errors.NoAnswer only. The caller decides what the answer means
        (`rides.state.outcome`, docs/booking-protocol.md 1.4).
        """
        request = self._request(CREATE, token, json=order.payload())
        return create_answer_of(self._call(request, Priority.WRITE, CREATE_PATIENCE_S))

    def abort_booking(self, booking_id: str, token: str) -> Done:
        """Stop the search for a cab (docs/service-interface.md 2).

        When a cab is allotted already, the service refuses with the code BOOKING_ALLOTED.
        """
        return self._post(ABORT, token, {"booking_id": booking_id})

    def update_drop_location(self, booking_id: str, drop: LatLng, token: str) -> Done:
        """Change the drop of a ride (docs/service-interface.md 3).

        When the service refuses, Refused has `header` and `text`, and no code.
        """
        _require_valid(drop)
        body = {"drop_lat": drop.lat, "drop_lng": drop.lng, "booking_id": booking_id}
        return self._post(DROP_LOCATION, token, body)

    def cancel_booking(self, booking_id: str, reason: str, token: str) -> Done:
        """Cancel an allotted ride (docs/service-interface.md 4).

        When the service refuses, Refused has the reason CANCELLATION_NOT_ALLOWED.
        """
        return self._post(CANCEL, token, {"booking_id": booking_id, "reason": reason})

    def track_ride(
        self,
        token: str,
        *,
        booking_id: str | None = None,
        txn_id: str | None = None,
        priority: Priority = Priority.REST,
    ) -> Snapshot:
        """The snapshot of a ride, by exactly one of the two ids (docs/service-interface.md 5)."""
        return snapshot_of(
            self.track_answer(token, booking_id=booking_id, txn_id=txn_id, priority=priority)
        )

    def track_answer(
        self, token: str, *, booking_id: str | None, txn_id: str | None, priority: Priority
    ) -> Answer:
        """The answer of track_ride before it is parsed: the caller passes it to `snapshot_of`.

        So a worker that polls many rides can parse their answers together.
        """
        if bool(booking_id) == bool(txn_id):
            raise ValueError("a ride is tracked by its booking_id or by its txn_id")
        params = {"booking_id": booking_id} if booking_id else {"txn_id": str(txn_id)}
        request = self._request(TRACK, token, params=params)
        return self._call(request, priority, PATIENCE_S[priority])

    def submit_feedback(
        self,
        booking_id: str,
        rating: int,
        token: str,
        feedback: Sequence[str] = (),
        comments: str | None = None,
    ) -> Done:
        """Rate a ride 1 to 5, with labels of feedback_options (docs/service-interface.md 7)."""
        if rating not in {1, 2, 3, 4, 5}:
            raise ValueError("a rating is 1 to 5")
        body: dict[str, Any] = {"booking_id": booking_id, "rating": rating}
        if feedback:
            body["feedback"] = ",".join(feedback)
        if comments:
            body["comments"] = comments
        return self._post(FEEDBACK, token, body)

    def feedback_options(
        self, category: str, token: str, sub_category: str | None = None
    ) -> FeedbackOptions:
        """The feedback labels by rating (docs/service-interface.md 8), cached for 24 h.

        Without a clear answer these are the labels that the interface document lists. Raises
        errors.Refused and errors.Unauthorized.
        """
        key = (category, sub_category)
        now = self._monotonic()
        stored = self._options.get(key)
        if stored is not None and now - stored[0] < OPTIONS_CACHED_S:
            return stored[1]
        params = {"category": category}
        if sub_category:
            params["sub_category"] = sub_category
        request = self._request(OPTIONS, token, params=params)
        try:
            body = self._get_twice(request, ("driver_feedback_options",))
        except Unauthorized:
            raise
        except (NoAnswer, BadStatus, Unreadable):
            return DOCUMENT_OPTIONS
        found = FeedbackOptions.from_wire(body)
        if not found.options:
            return DOCUMENT_OPTIONS
        if len(self._options) >= OPTIONS_CACHED:
            self._options.clear()
        self._options[key] = (now, found)
        return found

    def _post(self, operation: Operation, token: str, body: dict[str, Any]) -> Done:
        request = self._request(operation, token, json=body)
        answer = self._call(request, Priority.WRITE, PATIENCE_S[Priority.WRITE])
        return Done.from_wire(responses.success_of(answer))

    def _get_twice(self, request: Request, needed: tuple[str, ...]) -> dict[str, Any]:
        """A GET, repeated once after an unclear answer, within the time limit of one call."""
        end = self._monotonic() + request.total_s
        try:
            return self._get(request, needed)
        except ServiceError as exc:
            left = end - self._monotonic() - RETRY_PAUSE_S[1]
            if not _worth_retry(exc) or left < RETRY_LEAST_S or not self.traffic.may_repeat():
                raise
        self._pause(random.uniform(*RETRY_PAUSE_S))  # noqa: S311 - spreads load, guards nothing
        return self._get(replace(request, total_s=left, attempt=2, marks=self._marks()), needed)

    def _get(self, request: Request, needed: tuple[str, ...]) -> dict[str, Any]:
        """The body of the answer. Raises Unreadable when it has none of the `needed` members."""
        answer = self._call(request, Priority.PAGE, PATIENCE_S[Priority.PAGE])
        body = responses.object_of(answer)
        if not body.keys() & set(needed):
            raise Unreadable(answer.status, f"no {needed[0]}", answer.evidence)
        return body

    def _request(
        self,
        operation: Operation,
        token: str | None,
        *,
        params: dict[str, str] | None = None,
        json: Any = None,
    ) -> Request:
        headers = {wire.APP_TOKEN_HEADER: self._app_token}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return Request(
            operation.method,
            self._base_url + operation.path,
            operation.total_s,
            headers=headers,
            params=params,
            json=json,
            fresh=operation.fresh,
            secrets=(self._app_token, token or ""),
            marks=self._marks(),
        )

    def _marks(self) -> Marks | None:
        """The marks for a request if calls are recorded, else None.

        They are made with the request, because copying the request later is slow.
        """
        return Marks() if self.traffic.hooks.records else None

    def _call(self, request: Request, priority: Priority, patience_s: float) -> Answer:
        """One call, reported to the hooks. Raises errors.NoAnswer; Throttled if no permit came."""
        hooks = self.traffic.hooks
        marks = request.marks
        started = time.perf_counter()
        outcome = "failed"
        ended = None
        try:
            ended = answer = self._permitted(request, priority, patience_s)
            outcome = responses.outcome_of(answer)
            if marks is not None and answer.unread:
                marks.failed(Unreadable(answer.status, answer.unread, answer.evidence))
        except NoAnswer as exc:
            outcome = responses.outcome_of(exc)
            if marks is not None:
                marks.failed(exc)
            raise
        finally:
            path = request.url.removeprefix(self._base_url)
            seconds = time.perf_counter() - started
            hooks.call(path, outcome, seconds)
            if marks is not None:
                call = MarkedCall(path, outcome, priority.name.lower(), started, seconds)
                hooks.exchange(exchange_of(request, marks, call, ended))
        return answer

    def _permitted(self, request: Request, priority: Priority, patience_s: float) -> Answer:
        """One call with a permit; its result is reported to the throttle."""
        permit = self.traffic.enter(priority, patience_s)
        if request.marks is not None:
            request.marks.permitted = time.perf_counter()
        result = Result.VOID
        wait_s = None
        try:
            if permit.waited_s:
                left = max(RETRY_LEAST_S, request.total_s - permit.waited_s)
                request = replace(request, total_s=left)
            answer = self._http.call(request)
            self._note_date(answer)
            result = responses.result_of(answer)
            if result is Result.LIMITED:
                wait_s = responses.retry_after_s(answer)
        except NoAnswer as exc:
            result = responses.result_of_error(exc)
            raise
        finally:
            self.traffic.settle(permit, result, wait_s)
        return answer

    def _note_date(self, answer: Answer) -> None:
        """Store what the service's clock shows.

        An answer with an Age header is ignored: its Date is old.
        """
        date = responses.http_date(answer.headers.get("date", ""))
        if date is not None and "age" not in answer.headers:
            self._dated = date, self._monotonic()


def snapshot_of(answer: Answer) -> Snapshot:
    """The snapshot in an answer of track_ride. Raises ServiceError when the answer is an error."""
    body = responses.object_of(answer)
    if not body.keys() & {"status", "booking_status", "booking_id"}:
        raise Unreadable(answer.status, "no snapshot", answer.evidence)
    return Snapshot.from_wire(body)


def create_answer_of(answer: Answer) -> CreateAnswer:
    """The answer to create, read but not judged yet. Raises nothing."""
    facts: dict[str, Any] = {
        "http_status": answer.status,
        "evidence": answer.evidence,
        "retry_after_s": responses.retry_after_s(answer),
        "names_id": responses.names_an_id(answer),
        "unread": bool(answer.unread),
    }
    try:
        body = answer.json()
    except Unreadable:
        return CreateAnswer(**facts)
    parsed = CreateBody.from_wire(body) if isinstance(body, dict) else None
    return CreateAnswer(**facts, body=parsed, readable=CreateBody.usable(body))


def _worth_retry(exc: ServiceError) -> bool:
    if isinstance(exc, Throttled):
        return False
    return isinstance(exc, NoAnswer | Unreadable) or (
        isinstance(exc, BadStatus) and exc.status >= 500
    )


def _require_valid(position: LatLng) -> None:
    if not is_valid(*position):
        raise ValueError("a position off the globe")


def _coordinates(name: str, position: LatLng) -> dict[str, str]:
    _require_valid(position)
    return {f"{name}_lat": f"{position.lat:.7f}", f"{name}_lng": f"{position.lng:.7f}"}
