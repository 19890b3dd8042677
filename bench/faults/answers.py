"""The kinds of answers that the double of the service gives to create, by name.

See docs/booking-protocol.md 1.4. The coupon of an order selects the kind of its answer.
"""

from dataclasses import dataclass
from typing import Any, Final

HTML: Final = "<html><h1>Bad gateway</h1></html>"


@dataclass(frozen=True)
class AnswerKind:
    """One kind of answer.

    `made`: the booking is made before any byte of the answer is sent. `means` is the state of the
    order that the answer proves once it was read completely. `first` is the kind of answer to a
    first attempt, if it differs.
    """

    made: bool
    means: str
    status: int = 200
    body: str = "booked"
    manner: str = "plain"  # plain, slow, drip, reset, close, silent, truncated
    headers: tuple[str, ...] = ()
    first: str = ""


ANSWERS: Final[dict[str, AnswerKind]] = {
    "booked": AnswerKind(True, "BOOKED"),
    "number": AnswerKind(True, "BOOKED", body="number"),
    "slow": AnswerKind(True, "BOOKED", manner="slow"),
    "drip": AnswerKind(True, "BOOKED", manner="drip"),
    "matching": AnswerKind(True, "MATCHING", body="matching"),
    "match_cancel": AnswerKind(True, "MATCHING", body="matching"),
    "match_fails": AnswerKind(True, "MATCHING", body="matching"),
    "forever": AnswerKind(True, "BOOKED"),
    "refused": AnswerKind(False, "REJECTED", body="refused"),
    "refused_422": AnswerKind(False, "REJECTED", 422, "refused"),
    "refused_500": AnswerKind(False, "REJECTED", 500, "refused"),
    "spaced": AnswerKind(False, "REJECTED", body="spaced"),
    "unlisted": AnswerKind(False, "REJECTED", body="unlisted"),
    "wordless": AnswerKind(False, "REJECTED", 404, "html"),
    "401_once": AnswerKind(True, "BOOKED", first="401"),
    "401": AnswerKind(False, "NOT_SENT", 401, "nothing"),
    "429_once": AnswerKind(True, "BOOKED", first="429"),
    "429": AnswerKind(False, "NOT_SENT", 429, "nothing", headers=("Retry-After: 2",)),
    "429_long": AnswerKind(False, "NOT_SENT", 429, "nothing", headers=("Retry-After: 290",)),
    "429_odd": AnswerKind(False, "NOT_SENT", 429, "nothing", headers=("Retry-After: soon",)),
    "502_after": AnswerKind(True, "UNKNOWN", 502, "html"),
    "503_before": AnswerKind(False, "UNKNOWN", 503, "html"),
    "500_after": AnswerKind(True, "UNKNOWN", 500, "error"),
    "409_after": AnswerKind(True, "UNKNOWN", 409, "nothing"),
    "302_after": AnswerKind(
        True, "UNKNOWN", 302, "nothing", headers=("Location: http://127.0.0.1:9/",)
    ),
    "html_after": AnswerKind(True, "UNKNOWN", body="html"),
    "empty_after": AnswerKind(True, "UNKNOWN", body="nothing"),
    "garbage_after": AnswerKind(True, "UNKNOWN", body="garbage"),
    "truncated_after": AnswerKind(True, "UNKNOWN", manner="truncated"),
    "reset_after": AnswerKind(True, "UNKNOWN", manner="reset"),
    "reset_before": AnswerKind(False, "UNKNOWN", manner="reset"),
    "close_after": AnswerKind(True, "UNKNOWN", manner="close"),
    "silent_after": AnswerKind(True, "UNKNOWN", manner="silent"),
    "silent_before": AnswerKind(False, "UNKNOWN", manner="silent"),
    "crossed": AnswerKind(False, "UNKNOWN", body="crossed"),
    "crossed_after": AnswerKind(True, "UNKNOWN", body="crossed"),
    "failure_with_id": AnswerKind(True, "UNKNOWN", body="failure_with_id"),
    "success_without_id": AnswerKind(True, "UNKNOWN", body="success_without_id"),
}
# MIXED has COMMON and every kind once, except three that differ only in answers to later polls.
COMMON: Final = ("booked",) * 8 + ("matching", "slow")
MIXED: Final = (
    *COMMON,
    *(name for name in ANSWERS if name not in {"forever", "match_cancel", "match_fails"}),
)
CLEAR: Final = ("booked", "booked", "number", "slow", "drip", "matching", "refused", "spaced")


def body_of(name: str, mtx: str, booking_id: str, txn_id: str) -> dict[str, Any] | str:
    """The body of an answer: an object for JSON, or text."""
    ok = {
        "status": "SUCCESS",
        "booking_timeout": 240,
        "booking_timeout_unit": "SECONDS",
        "merchant_txn_id": mtx,
    }
    retry = {
        "booking_timeout": 180,
        "booking_timeout_unit": "SECONDS",
        "next_retry_time": "14:02:30",
    }
    bodies: dict[str, dict[str, Any] | str] = {
        "booked": {**ok, "booking_id": booking_id},
        "number": {**ok, "booking_id": int(booking_id.lstrip("C"))},
        "matching": {"status": "SUCCESS", "booking_id": None, "txn_id": txn_id, "retry": retry},
        "refused": {"status": "FAILURE", "code": "INVALID_CITY", "message": "no cars there"},
        "spaced": {"status": "FAILURE", "code": "BANNED USER", "message": "no"},
        "unlisted": {"status": "FAILURE", "code": "FULL_MOON", "message": "not tonight"},
        "crossed": {**ok, "booking_id": f"F{booking_id}", "merchant_txn_id": "RD-ANOTHERS"},
        "failure_with_id": {
            "status": "FAILURE",
            "code": "BOOKING_FAILED",
            "booking_id": booking_id,
        },
        "success_without_id": {"status": "SUCCESS", "merchant_txn_id": mtx},
        "error": {"error": "internal"},
        "html": HTML,
        "garbage": '{"status": "SUCC\x00\x17 ',
        "nothing": "",
    }
    return bodies[name]
