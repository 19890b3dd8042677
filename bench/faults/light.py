"""One hostile answer for each operation, parsed and classified without database and pages."""

import json
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Final

from bench.faults.bodies import Hostile
from bench.faults.shop import Shop
from ridedash import wire
from ridedash.rides.actions.call import result_of_error
from ridedash.rides.journals.answer_journal import _packed
from ridedash.rides.state.outcome import Outcome, classify
from ridedash.rides.tracking.merge import RideState, merge
from ridedash.service.errors import ServiceError
from ridedash.service.types.bookings import Done, NewBooking
from ridedash.service.types.tracking import Snapshot
from ridedash.store.orders import Order
from ridedash.views.booking.product_cards import card
from tests.rides.desk_world import DROP, PICKUP
from tests.service.bodies import CREATED

LIVE: Final = (
    None,
    "ALLOTMENT_PENDING",
    "PENDING",
    "CALL_DRIVER",
    "CLIENT_LOCATED",
    "INVOICE",
    "IN_PROGRESS",
    "COMPLETED",
)
OUTCOMES: Final = {"done", "refused", "unconfirmed", "not_sent"}


class Reader:
    """Parses answers one by one.

    Each method takes one answer. It raises AssertionError for a wrong result, and lets through an
    exception that the program should not have raised.
    """

    def __init__(
        self, desk: Shop, rng: random.Random, answers: dict[str, list[Hostile | None]]
    ) -> None:
        self.desk, self.rng, self.answers, self.number = desk, rng, answers, 0
        self.ride = RideState(wire.Kind.SHARE, booking_id="SHR1")

    def products(self) -> None:
        """Get products, make their cards, and check that each product can be stored as JSON."""
        try:
            listed = self.desk.s.client.products(PICKUP, DROP)
        except ServiceError:
            return
        for product in listed.products:
            card(product, has_drop=self.rng.random() < 0.8, locale="en")
            strict(product.model_dump(mode="json"))

    def create(self) -> None:
        """Classify an answer to create: the outcome must be honest, and fit into the journal."""
        self.number += 1
        # Half of the orders have the partner reference that the real body names.
        own = str(CREATED["merchant_txn_id"])
        mtx = own if self.rng.random() < 0.5 else f"RD-LIGHT-{self.number}"
        order = NewBooking(pickup=PICKUP, drop=DROP, category="mini", merchant_txn_id=mtx)
        try:
            outcome = classify(self.desk.s.client.create_booking(order, "good"), mtx)
        except ServiceError as error:
            outcome = classify(error, mtx)
        answer = self.answers.pop(mtx)[-1]
        assert answer is None or honest(outcome, answer, mtx), (
            f"{outcome.state} after HTTP {answer.status}"
        )
        assert len(_packed({"mtx": mtx, **asdict(outcome)})) <= 4096

    def track_ride(self) -> None:
        """Merge an answer into the known ride, and check that its facts survive storing as JSON."""
        try:
            snapshot = self.desk.s.client.track_ride("good", booking_id="SHR1")
        except ServiceError:
            return
        self.number += 1
        before = replace(
            self.ride,
            status=self.rng.choice(LIVE),
            kind=self.rng.choice(list(wire.Kind)),
            ended_at=None,
        )
        merged = merge(before, snapshot, self.number, self.desk.clock()).ride
        facts = strict(merged.facts.model_dump(mode="json", exclude_none=True))
        assert Snapshot.model_validate(facts) == merged.facts
        self.ride = merged

    def abort(self) -> None:
        """Stop the search for a driver."""
        self._act(lambda: self.desk.s.client.abort_booking("C1", "good"))

    def cancel(self) -> None:
        """Cancel a ride."""
        self._act(lambda: self.desk.s.client.cancel_booking("C1", "changed mind", "good"))

    def drop_location(self) -> None:
        """Change the drop."""
        self._act(lambda: self.desk.s.client.update_drop_location("C1", DROP, "good"))

    def feedback(self) -> None:
        """Send feedback."""
        self._act(lambda: self.desk.s.client.submit_feedback("C1", 5, "good"))

    def options(self) -> None:
        """Get the labels of a feedback form."""
        self.number += 1
        try:
            found = self.desk.s.client.feedback_options(f"mini-{self.number}", "good")
        except ServiceError:
            return
        strict({str(rating): found.for_rating(rating) for rating in range(1, 6)})

    def _act(self, call: Callable[[], Done]) -> None:
        try:
            strict(call().model_dump(mode="json"))
        except ServiceError as error:
            result = result_of_error(error, 1)
            assert result.outcome in OUTCOMES
            strict(asdict(result))


def strict(value: Any) -> Any:
    """The value after a round trip through strict JSON in UTF-8."""
    return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


def honest(found: Outcome | Order, answer: Hostile, mtx: str = "") -> bool:
    """Whether an outcome claims no more than the answer proves, by an independent check.

    `mtx` is the partner reference of the order, needed for an Outcome only.
    """
    body, names_id = _json_of(answer.content), _names_id(answer.content)
    if found.state in ("BOOKED", "MATCHING"):
        success = answer.status // 100 == 2 and "success" in str(body.get("status")).lower()
        return (
            success
            and _named(found, body)
            and _echoed(body, found.mtx if isinstance(found, Order) else mtx)
        )
    if found.state in ("NOT_SENT", "READY"):
        return answer.status in (401, 429)
    if found.state != "REJECTED":
        return found.state == "UNKNOWN"
    refused = "failure" in str(body.get("status")).lower() or _known(body)
    refusing = answer.status in (400, 403, 404, 405, 413, 415, 422) and not names_id
    return not body.get("booking_id") and (refused or refusing)


def usable(answer: Hostile) -> bool:
    """Whether an answer may say something about a ride: a success whose body is a JSON object."""
    return answer.status // 100 == 2 and bool(_json_of(answer.content))


def _names_id(content: bytes) -> bool:
    """Whether a body of any shape names the id of a ride.

    A name whose value is null or "" doesn't count.
    """
    letters = content.replace(b"\0", b"").replace(b"\\", b"").decode("latin-1").lower()
    text = "".join(letters.split()).replace("merchant_txn_id", "")
    named = text.count("booking_id") + text.count("txn_id")
    return named > sum(
        text.count(f'{name}":{none}')
        for name in ("booking_id", "txn_id")
        for none in ("null", '""')
    )


def _named(found: Outcome | Order, body: dict[str, Any]) -> bool:
    """Whether the order has the id that the answer gives: the booking's, or else the search's."""
    ids = (body.get(name) for name in ("booking_id", "txn_id"))
    booking, search = ("" if each is None else str(each).strip() for each in ids)
    if found.state == "BOOKED":
        return booking != "" and found.booking_id == booking
    return booking == "" and search != "" and found.txn_id == search


def _echoed(body: dict[str, Any], mtx: str) -> bool:
    """Whether the answer is about no other order than this one."""
    echo = body.get("merchant_txn_id")
    return echo in (None, "") or str(echo).strip() == mtx


def _json_of(content: bytes) -> dict[str, Any]:
    try:
        read = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    folded = {str(key).strip().lower(): value for key, value in read.items()}
    return folded | {
        key: read[key] for key in folded if key in read
    }  # the exact spelling has priority


def _known(body: dict[str, Any]) -> bool:
    words = {wire.normal_code(str(body.get(name))) for name in ("code", "message")}
    return bool(
        words & {wire.normal_code(code) for code in (*wire.CREATE_CODES, wire.BOOKING_FAILED)}
    )
