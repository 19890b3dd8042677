"""Rounds of hostile answers to each operation of the service, and checks of the pages."""

import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import httpx
from flask.testing import FlaskClient
from sqlalchemy import delete, select, update

from bench.faults.bodies import Hostile
from bench.faults.light import LIVE, Reader, honest, usable
from bench.faults.shop import Service, Shop, csrf_of
from ridedash.rides.actions.request import ActionResult, abort, cancel, change_drop, feedback
from ridedash.service.errors import ServiceError
from ridedash.store.offers import OfferOwner, Trip
from ridedash.store.orders import Action, Order, OrderState, Ride
from ridedash.views.booking.estimates import EstimateFailedError, Estimator
from tests.rides.desk_world import DROP, PICKUP
from tests.service.bodies import CREATED, SNAPSHOT

# What the real bodies name: the partner reference of an order, and the booking id of a ride.
ECHO: Final = {"create": CREATED["merchant_txn_id"], "track_ride": SNAPSHOT["booking_id"]}
LIGHT: Final = 20  # answers of a round that are only parsed, classified and merged
AT_ONCE: Final = 5  # answers of a round that go all the way through database and pages
RIDES: Final = 10
# The pages of `Trial.look` show the data of these operations, but little of the others.
SHOWN: Final = ("create", "track_ride")
# What a ride is known by, and its price: columns that only a usable answer may change.
KEPT: Final = (
    *("booking_id", "status", "reported", "facts", "otp_enc", "total_minor", "plate"),
    *("position_at", "ended_at", "seen_at", "merged_seq"),
)
QUERY: Final = (
    f"pickup_lat={PICKUP.lat}&pickup_lng={PICKUP.lng}&drop_lat={DROP.lat}&drop_lng={DROP.lng}"
)
WORKER: Final = "ridedash.rides"  # the parent of the loggers of workers


class Liar(Service):
    """A service that answers normally, except the operation `target`: its answers are from `feed`.

    `calls_of_target` counts its calls. `sent_answers` has the answers that each order or ride got,
    by the partner reference of a create, and by the id with which a ride is polled.
    """

    def __init__(self, target: str, feed: Iterator[Hostile]) -> None:
        super().__init__()
        self.target, self.feed, self.served, self.calls_of_target = "", feed, 0, 0
        # None: it got a correct answer
        self.sent_answers: dict[str, list[Hostile | None]] = {}
        self.aim = target

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one call."""
        if not self.target or not request.url.path.endswith(f"/{self.target}"):
            return super().handle(request)
        self.calls_of_target += 1
        hostile = next(self.feed, None)
        if self.target in ECHO:
            facts = json.loads(request.content) if request.content else dict(request.url.params)
            names = ("merchant_txn_id", "booking_id", "txn_id")
            own = next(str(facts[name]) for name in names if facts.get(name))
            # In half of the answers, the name in the real body is replaced by that of the request.
            if hostile is not None and self.served % 2:
                echo = json.dumps(ECHO[self.target]).encode()
                content = hostile.content.replace(echo, json.dumps(own).encode())
                hostile = replace(hostile, content=content)
            self.sent_answers.setdefault(own, []).append(hostile)
        if hostile is None:
            return super().handle(request)
        self.served += 1
        return hostile.response()


class Complaints(logging.Handler):
    """A log handler that counts the messages of workers about failed jobs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.complaints: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Count the failure that the message names."""
        self.complaints[record.getMessage().split(" failed: ")[-1][:80]] += 1


class Trial:
    """One operation, a property with rides (for create, none at first), and the errors found."""

    def __init__(self, desk: Shop, service: Liar, rng: random.Random) -> None:
        self.desk, self.service, self.rng = desk, service, rng
        self.browser: FlaskClient = desk.browser()
        self.page = self.browser.get("/rides/new").text
        self.errors500, self.rounds, self.wrong = 0, 0, Counter[str]()
        self.orders: list[int] = []
        self.kept = 0  # rides whose polls brought nothing that can be used
        self.reader = Reader(desk, rng, service.sent_answers)
        kinds = ["point_to_point", "share", "auto", "point_to_point"]
        if service.aim != "create":
            self.orders = [desk.place(kind=kinds[n % 4]) for n in range(RIDES)]
            service.create = [service.matching if n == 1 else service.booked for n in range(RIDES)]
            desk.clock.go(1)
            desk.worker.step()
            desk.worker.step()
        self.booked = [each for each in self.orders if desk.order(each).booking_id]
        service.target = service.aim

    def round(self) -> None:
        """Play about two dozen hostile answers; look at pages in every second or fourth round."""
        self.desk.clock.go(7)
        self.desk.forget()
        try:
            with self.desk.app.test_request_context("/"):
                for _ in range(LIGHT):
                    getattr(self.reader, self.service.target)()
            before = self.service.calls_of_target
            ROUNDS[self.service.target](self)
            self.wrong["too few calls"] += self.service.calls_of_target < before + AT_ONCE
        except Exception as error:  # a page or a worker would fail by it
            self.wrong[f"{type(error).__name__} at {_where(error)}: {error!s:.40}"] += 1
        self.rounds += 1
        if self.rounds % (2 if self.service.target in SHOWN else 4) == 0:
            self.look()

    def look(self) -> None:
        """Check the board and the page of a ride, and the JSON of both."""
        # there is no order if the first round failed, which was reported then
        order_id = self.rng.choice(self.orders or [0])
        for path in ("/", "/board.json", f"/rides/{order_id}", f"/rides/{order_id}/snapshot.json"):
            status = self.get(path)
            self.wrong[f"a page: HTTP {status}"] += status not in (200, 500)

    def get(self, path: str) -> int:
        """Get one page: its status must not be 500, and its JSON must be strict."""
        answer = self.browser.get(path)
        if answer.status_code == 500:
            self.errors500 += 1
            self.wrong[f"500 at {path.partition('?')[0].rstrip('0123456789')}"] += 1
        elif path.partition("?")[0].endswith(".json"):
            self.strict(answer.get_data())
        return answer.status_code

    def strict(self, data: bytes) -> None:
        """Parse JSON strictly: no NaN, no unpaired surrogate."""
        try:
            read = json.loads(data.decode(), parse_constant=_refuse)
            json.dumps(read, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:
            self.wrong[f"JSON: {type(error).__name__}"] += 1

    def products(self) -> None:
        """Request prices for a trip: from the Estimator, and by the pages of the booking form."""
        owner = OfferOwner(self.desk.property_id, self.desk.actor)
        with self.desk.app.test_request_context("/"):
            for _ in range(AT_ONCE):
                try:
                    Estimator(self.desk.s, owner, "en").estimates(
                        Trip(PICKUP, "Lobby", DROP, "Airport")
                    )
                except EstimateFailedError:
                    continue
        self.get(f"/products.json?{QUERY}")
        self.get(f"/rides/new?show=1&{QUERY}")

    def create(self) -> None:
        """Send a few orders, and check that no state claims more than the answer proves."""
        made = [self.desk.place() for _ in range(AT_ONCE)]
        for _ in range(3):
            self.desk.worker.step()
            with self.desk.s.db.write() as s:
                s.execute(update(Ride).values(next_poll_at=None))
        for order_id in made:
            order = self.desk.order(order_id)
            answers = self.service.sent_answers.get(order.mtx)
            self.wrong[f"not sent: {order.state}"] += not answers
            answer = answers[-1] if answers else None
            if answer is not None and not honest(order, answer):
                self.wrong[f"filed as {order.state} after HTTP {answer.status}"] += 1
        self.orders = made

    def track_ride(self) -> None:
        """Poll all rides, each with a random last status; count answers that can't be stored.

        What is known of a ride stays when no answer to its polls can be used.
        """
        with self.desk.s.db.write() as s:
            for ride in s.scalars(select(Ride)):
                ride.status, ride.ended_at, ride.reported = self.rng.choice(LIVE), None, None
                ride.next_poll_at, ride.lease_until, ride.poison, ride.errors = (
                    self.desk.clock(),
                    None,
                    0,
                    0,
                )
            s.execute(
                update(Order)
                .where(Order.state == OrderState.FAILED)
                .values(state=OrderState.MATCHING)
            )
        before = self._rides()
        self.service.sent_answers.clear()
        for _ in range(2):
            self.desk.worker.step()
        for ride_id, after in self._rides().items():
            self.wrong["poisoned rides"] += after.poison > 0
            ride = before[ride_id]
            answers = self.service.sent_answers.get(str(ride.booking_id or ride.txn_id), [None])
            if not any(answer is None or usable(answer) for answer in answers):
                self.kept += 1
                changed = [name for name in KEPT if getattr(ride, name) != getattr(after, name)]
                self.wrong[f"changed by no answer: {', '.join(changed)}"] += bool(changed)

    def _rides(self) -> dict[int, Ride]:
        with self.desk.s.db.read() as s:
            return {ride.id: ride for ride in s.scalars(select(Ride))}

    def act(self) -> None:
        """Do the action for a few rides: for one by the form of its page, else by direct calls."""
        actions = {
            "abort": self._abort,
            "cancel": self._cancel,
            "drop_location": self._drop,
            "feedback": self._feedback,
        }
        status = {"abort": "ALLOTMENT_PENDING", "feedback": "COMPLETED"}.get(
            self.service.target, "CALL_DRIVER"
        )
        with self.desk.s.db.write() as s:
            s.execute(delete(Action))
            s.execute(update(Ride).values(status=status, next_poll_at=None))
        for order_id in self.booked[1:AT_ONCE]:
            result = actions[self.service.target](order_id)
            self.wrong[f"not now: {result.code}"] += result.outcome == "not_now"
        self._press(self.booked[0])

    def _facts(self, order_id: int) -> tuple[Any, ...]:
        return self.desk.s.runtime, order_id, self.desk.actor

    def _abort(self, order_id: int) -> ActionResult:
        return abort(*self._facts(order_id))

    def _cancel(self, order_id: int) -> ActionResult:
        return cancel(*self._facts(order_id), "changed mind")

    def _drop(self, order_id: int) -> ActionResult:
        return change_drop(*self._facts(order_id), DROP, "Airport")

    def _feedback(self, order_id: int) -> ActionResult:
        return feedback(*self._facts(order_id), 5, ["Car Quality"], None)

    def _press(self, order_id: int) -> None:
        name = self.service.target.partition("_")[0]
        facts = {
            "reason": "Changed plans",
            "rating": "5",
            "name": "Airport",
            "lat": DROP.lat,
            "lng": DROP.lng,
        }
        answer = self.browser.post(
            f"/rides/{order_id}/{name}", data={"csrf_token": csrf_of(self.page), **facts}
        )
        if answer.status_code != 303 or "not_now" in answer.location:
            self.errors500 += answer.status_code == 500
            self.wrong[f"POST {name}: HTTP {answer.status_code}"] += 1

    def options(self) -> None:
        """Get the labels of a feedback form by direct calls, then on the page of a ride."""
        with self.desk.s.db.write() as s:
            s.execute(update(Ride).values(status="COMPLETED", next_poll_at=None))
        for number in range(AT_ONCE):
            try:
                self.desk.s.client.feedback_options(f"mini-{self.service.served}-{number}", "good")
            except ServiceError:
                continue
        self.desk.forget()
        self.get(f"/rides/{self.orders[0]}")


ROUNDS: Final[dict[str, Callable[[Trial], None]]] = {
    "products": Trial.products,
    "create": Trial.create,
    "abort": Trial.act,
    "drop_location": Trial.act,
    "cancel": Trial.act,
    "track_ride": Trial.track_ride,
    "feedback": Trial.act,
    "options": Trial.options,
}


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace is not None else "?"
