"""What an HTTP answer means: its body decides, not its status (docs/field-notes.md 8). Pure."""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ridedash import wire
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    Throttled,
    Unauthorized,
    Unreadable,
)
from ridedash.service.parsing.fields import row, text
from ridedash.service.throttle.traffic import Result
from ridedash.service.transport.http import Answer

RETRY_AFTER_MIN_S: Final = 1.0  # less would be asked again at once
RETRY_AFTER_MAX_S: Final = 300.0  # a wrong header must not silence a house for hours
KEY_WITHIN: Final = 2000  # bytes of an answer that are searched for the word "partner"
# values of NoAnswer.why
NO_CONNECTION: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})

_ID: Final = re.compile(
    rb'(?:booking_id|(?<!merchant_)txn_id)(?!\s*\\?"?\s*:\s*(?:null\b|\\?"\s*\\?"))', re.IGNORECASE
)
_PARTNER: Final = b"partner"  # occurs in the code that refuses the key, in any spelling
_KNOWN_CODES: Final = frozenset(
    wire.normal_code(code)
    for code in (
        *wire.CREATE_CODES,
        wire.BOOKING_ALLOTED,
        wire.CANCELLATION_NOT_ALLOWED,
        wire.BOOKING_ALREADY_CANCELLED,
        wire.RIDE_IN_PROGRESS,
        wire.BOOKING_ALREADY_COMPLETED,
        wire.NO_BOOKING,
    )
)


def is_known_code(code: str | None) -> bool:
    """Whether a code is one of the document or of the field notes, in any spelling."""
    return code is not None and wire.normal_code(code) in _KNOWN_CODES


def names_an_id(answer: Answer) -> bool:
    """Whether the id of a ride occurs anywhere in a body, even an incomplete one or one in UTF-16.

    An id that is null or "" does not count.
    """
    return _ID.search(answer.body.replace(b"\0", b"")) is not None


def object_of(answer: Answer) -> dict[str, Any]:
    """The JSON object of a success, its keys normalised.

    Raises BadStatus and its subclasses, Refused, Unreadable.
    """
    body = None
    unreadable = None
    try:
        body = answer.json()
    except Unreadable as exc:
        unreadable = exc
    got = row(body)
    key_refused = answer.status == 401 and wire.refuses_key(text(got.get("code")))
    if answer.status in {401, 429} and not key_refused:
        raise bad_status(answer, got)
    if _refuses(got, answer.status):
        raise _refusal(got, answer.status)
    if not 200 <= answer.status < 300:
        raise bad_status(answer, got)
    if unreadable is not None:
        raise unreadable
    if not isinstance(body, dict):
        raise Unreadable(answer.status, "not an object", answer.evidence)
    return got


def success_of(answer: Answer) -> dict[str, Any]:
    """The body of a success of an operation that changes something: `status` must be SUCCESS."""
    got = object_of(answer)
    if wire.normal_code(text(got.get("status")) or "") != wire.SUCCESS:
        raise Unreadable(answer.status, "no status", answer.evidence)
    return got


def result_of(answer: Answer) -> Result:
    """The result of a call for the throttle, from its answer.

    Parses the body only when necessary.
    """
    if answer.status == 429:
        return Result.LIMITED
    if _refuses_key(answer):
        return Result.KEY_REFUSED
    if 400 <= answer.status < 500:
        return Result.ANSWERED
    if 200 <= answer.status < 300 and not answer.unread:
        return Result.ANSWERED if answer.body.lstrip()[:1] == b"{" else Result.FAILED
    try:
        got = row(answer.json())
    except Unreadable:
        return Result.FAILED
    return Result.ANSWERED if _refuses(got, answer.status) else Result.FAILED


def _refuses_key(answer: Answer) -> bool:
    """Whether an answer refuses the partner's key: by its code, or a 403 without code and status.

    Only a 403 and answers that contain the word "partner" are parsed.
    """
    if answer.status != 403 and _PARTNER not in answer.body[:KEY_WITHIN].lower():
        return False
    try:
        got = row(answer.json())
    except Unreadable:
        got = {}
    code = text(got.get("code"))
    wordless = answer.status == 403 and code is None and text(got.get("status")) is None
    return wordless or wire.refuses_key(code)


def result_of_error(error: NoAnswer) -> Result:
    """The result for the throttle of a call without a complete answer.

    A request that was not sent is our own failure, unless the connection could not be made.
    """
    if not error.sent and error.why not in NO_CONNECTION:
        return Result.VOID
    return Result.FAILED


def _refuses(got: dict[str, Any], http_status: int) -> bool:
    status = text(got.get("status"))
    code = text(got.get("code"))
    if status is not None:
        return status.upper() == wire.FAILURE
    if is_known_code(code):
        return True
    if wire.normal_code(text(got.get("message")) or "") == wire.BOOKING_FAILED:
        return True
    # An unlisted code is a refusal too, but not in a 5xx, where a gateway may have written it.
    return code is not None and code.upper() != wire.SUCCESS and http_status < 500


def _refusal(got: dict[str, Any], http_status: int) -> Refused:
    return Refused(
        text(got.get("code")),
        message=text(got.get("message")),
        header=text(got.get("header")),
        text=text(got.get("text")),
        reason=text(got.get("reason")),
        http_status=http_status,
    )


def bad_status(answer: Answer, got: dict[str, Any]) -> BadStatus:
    """The error for an HTTP status that is no success."""
    kind = {401: Unauthorized, 429: RateLimited}.get(answer.status, BadStatus)
    return kind(
        answer.status,
        retry_after_s=retry_after_s(answer),
        code=text(got.get("code")),
        message=text(got.get("message")),
        evidence=answer.evidence,
    )


def outcome_of(ended: Answer | NoAnswer) -> str:
    """How a call ended, as a metric label: the class of its status, or what prevented it."""
    if isinstance(ended, Answer):
        if ended.status in (401, 429):
            return str(ended.status)
        return "unreadable" if ended.unread else f"{ended.status // 100}xx"
    if isinstance(ended, Throttled):
        return "held"
    return "unanswered" if ended.sent else "not_sent"


def retry_after_s(answer: Answer) -> float | None:
    """Retry-After in seconds, limited to 1 to 300; None without a valid header.

    If it is a date, the wait is the time from the answer's Date to that date.
    """
    value = answer.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        wait = float(value)
    else:
        until = http_date(value)
        now = http_date(answer.headers.get("date", ""))
        if until is None or now is None:
            return None
        wait = (until - now).total_seconds()
    return min(max(wait, RETRY_AFTER_MIN_S), RETRY_AFTER_MAX_S)


def http_date(value: str) -> datetime | None:
    """The instant of an HTTP date, as in the header Date; None for anything else."""
    try:
        parsed = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if parsed.tzinfo is None:
        return None
    return parsed
