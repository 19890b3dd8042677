"""What an answer to create proves about the order (docs/booking-protocol.md 1.4). Pure.

Only a proof of refusal rejects an order.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from ridedash import wire
from ridedash.rides.state.codes import (
    CONTRADICTION,
    NO_ANSWER,
    NO_CONNECTION,
    RATE_LIMITED,
    RECONNECT,
    UNCLEAR,
)
from ridedash.service.errors import NoAnswer, Throttled
from ridedash.service.parsing.fields import TEXT_LIMIT
from ridedash.service.types.bookings import CreateAnswer, CreateBody
from ridedash.store.models.orders import OrderState

AUTH: Final = "auth"
RATE: Final = "rate"
REFUSALS: Final = frozenset({400, 403, 404, 405, 413, 415, 422})  # HTTP statuses
_KNOWN_CODES: Final = frozenset(map(wire.normal_code, wire.CREATE_CODES))


@dataclass(frozen=True)
class Outcome:
    """What the answer to an order's call proves.

    `retry` is AUTH or RATE where the protocol lets the order go back to READY, each of them once.
    `alarm`: the answer contradicts itself, so an attention item is raised; `named` is the id of a
    booking or shared ride in that answer, which proves nothing. `booking_timeout_s` counts by the
    service's clock, which a demo runs faster.
    """

    state: OrderState
    retry: str = ""
    retry_after_s: float | None = None
    booking_id: str | None = None
    txn_id: str | None = None
    code: str | None = None
    message: str | None = None
    http_status: int | None = None
    evidence: str = ""
    booking_timeout_s: float | None = None
    next_retry: str | None = None
    alarm: bool = False
    named: str | None = None


def from_record(record: dict[str, Any]) -> Outcome:
    """The outcome in a record of a journal. It permits no second attempt, which would be too late.

    Raises LookupError, TypeError or ValueError for a record that is none.
    """
    facts = {name: value for name, value in record.items() if name in Outcome.__dataclass_fields__}
    return Outcome(**{**facts, "state": OrderState(record["state"]), "retry": ""})


def classify(answer: CreateAnswer | Exception, reference: str) -> Outcome:
    """The outcome that an answer to create, or the error in its place, proves.

    `reference` is the partner reference that was sent. The first row of the table in
    docs/booking-protocol.md 1.4 that matches wins.
    """
    # our own rate limit has the same effect as a 429 of the service
    if isinstance(answer, Throttled) and answer.why == Throttled.LIMITED:
        return Outcome(
            OrderState.NOT_SENT, retry=RATE, retry_after_s=answer.wait_s, code=RATE_LIMITED
        )
    if isinstance(answer, NoAnswer) and not answer.sent:
        return Outcome(OrderState.NOT_SENT, code=NO_CONNECTION)
    if isinstance(answer, Exception):
        return Outcome(OrderState.UNKNOWN, code=NO_ANSWER, message=type(answer).__name__)
    outcome = _of_answer(answer, reference)
    return replace(outcome, http_status=answer.http_status, evidence=answer.evidence)


def _of_answer(answer: CreateAnswer, reference: str) -> Outcome:
    # a 401 or 429 that names a booking proves no more than any other 4xx; if its body can't be
    # read, its status decides
    names_id = answer.names_id
    key_refused = answer.body is not None and wire.refuses_key(answer.body.code)
    if answer.http_status == 401 and not names_id and not key_refused:
        return Outcome(OrderState.NOT_SENT, retry=AUTH, code=RECONNECT, message=_said(answer.body))
    if answer.http_status == 429 and not names_id:
        return Outcome(
            OrderState.NOT_SENT,
            retry=RATE,
            retry_after_s=answer.retry_after_s,
            code=RATE_LIMITED,
            message=_said(answer.body),
        )
    body = answer.body
    if body is None or not _is_of_the_service(body):
        return _without_body(answer)
    if body.merchant_txn_id is not None and body.merchant_txn_id != reference:
        return _contradiction(body)
    if body.status == wire.SUCCESS:
        return _success(answer, body)
    return _failure(answer, body)


def _is_of_the_service(body: CreateBody) -> bool:
    """Whether a body has any of the fields that the service's answers have."""
    return any((body.status, body.code, body.message, body.booking_id, body.txn_id))


def _without_body(answer: CreateAnswer) -> Outcome:
    unclear_id = answer.unread or (answer.body is not None and not answer.readable)
    if answer.http_status in REFUSALS and not answer.names_id and not unclear_id:
        return Outcome(OrderState.REJECTED, code=f"HTTP_{answer.http_status}")
    return Outcome(OrderState.UNKNOWN, code=UNCLEAR)


def _success(answer: CreateAnswer, body: CreateBody) -> Outcome:
    if not 200 <= answer.http_status < 300 or not answer.readable:
        return _alarm(UNCLEAR, body)
    if body.booking_id:
        return Outcome(
            OrderState.BOOKED,
            booking_id=body.booking_id,
            txn_id=body.txn_id,
            message=body.message,
            booking_timeout_s=body.booking_timeout_s,
        )
    if body.txn_id:
        return Outcome(
            OrderState.MATCHING,
            txn_id=body.txn_id,
            message=body.message,
            booking_timeout_s=body.retry_timeout_s or body.booking_timeout_s,
            next_retry=body.next_retry_time,
        )
    return _contradiction(body)


def _failure(answer: CreateAnswer, body: CreateBody) -> Outcome:
    if body.booking_id or body.txn_id or not answer.readable:
        return _contradiction(body)
    code = wire.normal_code(body.code or "")
    known = code in _KNOWN_CODES or wire.normal_code(body.message or "") == wire.BOOKING_FAILED
    if body.status == wire.FAILURE or (body.status is None and known):
        return Outcome(OrderState.REJECTED, code=body.code, message=_said(body))
    plain = answer.http_status in REFUSALS and not answer.names_id
    if plain and body.status is None and code != wire.SUCCESS:
        return Outcome(
            OrderState.REJECTED,
            code=body.code or f"HTTP_{answer.http_status}",
            message=_said(body),
        )
    return Outcome(OrderState.UNKNOWN, code=UNCLEAR, message=_said(body))


def _said(body: CreateBody | None) -> str | None:
    """The service's own words in an answer that is no booking; None if it has none."""
    if body is None:
        return None
    words = wire.said(body.header, body.message, body.text)
    return words[:TEXT_LIMIT] or body.message


def _contradiction(body: CreateBody) -> Outcome:
    return _alarm(CONTRADICTION, body)


def _alarm(code: str, body: CreateBody) -> Outcome:
    return Outcome(
        OrderState.UNKNOWN,
        code=code,
        message=_said(body),
        alarm=True,
        named=body.booking_id or body.txn_id,
    )
