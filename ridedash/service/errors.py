"""The errors of the ride booking service, one class for each way in which a caller must react.

    ServiceError             anything that went wrong between us and the service
    ├── NoAnswer             no complete answer; `sent` tells whether the service may have acted
    │   └── Throttled        no call was made: the service is silent, or the rate limit is reached
    ├── BadStatus            an HTTP status that is no success, without a refusal in the body
    │   ├── Unauthorized     401: the token is refused; refresh it, or link the account again
    │   └── RateLimited      429: call again after `retry_after_s`
    ├── Refused              the service understood and refused: code, message, header, text
    └── Unreadable           an answer that does not have the documented form

The body decides, not the HTTP status (docs/field-notes.md 8), except for 401 and 429. But a 401
that names the partner's key is a refusal, because no other token would be accepted. No error of
this tree holds a token, in its text, its fields or its chain of causes.
"""

from typing import Final

from ridedash import wire

_CODES_OF_CALLER: Final = frozenset(map(wire.normal_code, wire.CODES_OF_CALLER))


class ServiceError(Exception):
    """The base of every error that this package raises for a call."""


class NoAnswer(ServiceError):
    """No complete answer came.

    `sent` is False only when it is proved that no byte of the request left: refused, DNS, TLS,
    connect or pool timeout, or the request could not be built. `why` is the kind of failure, a
    word. `cause` says why a connection did not open, for example "certificate verify failed".
    """

    def __init__(self, why: str, *, sent: bool, cause: str = "") -> None:
        super().__init__(f"no answer ({why}), {'sent' if sent else 'nothing was sent'}")
        self.why = why
        self.sent = sent
        self.cause = cause


class Throttled(NoAnswer):
    """No call was made, on purpose. `why` is SILENT (no answers lately) or LIMITED.

    `wait_s` is the number of seconds until a call may be made.
    """

    SILENT: Final = "silent"
    LIMITED: Final = "limited"

    def __init__(self, why: str, wait_s: float) -> None:
        super().__init__(why, sent=False)
        self.wait_s = wait_s


class BadStatus(ServiceError):
    """An HTTP status that is no success, without a refusal by the service in the body.

    `retry_after_s` is the Retry-After header in seconds, limited to 1 to 300, or None. `code` and
    `message` are the body's, if it has them. `evidence` is the first 2 kB of the body without
    secrets.
    """

    def __init__(
        self,
        status: int,
        *,
        retry_after_s: float | None = None,
        code: str | None = None,
        message: str | None = None,
        evidence: str = "",
    ) -> None:
        super().__init__(f"HTTP {status}, {code}" if code else f"HTTP {status}")
        self.status = status
        self.retry_after_s = retry_after_s
        self.code = code
        self.message = message
        self.evidence = evidence


class Unauthorized(BadStatus):
    """401: the bearer token is refused. A 401 that names the partner's key is Refused instead."""


class RateLimited(BadStatus):
    """429: too many requests; the service did nothing."""


class Refused(ServiceError):
    """The service refused (docs/service-interface.md Errors).

    `code` is as the service spelled it, or None (share has none; cancel has `reason` instead).
    Compare it with the constants of `wire` through `wire.normal_code`.
    `header` and `text` are the messages of drop_location and cancel. All are cleaned text of 300
    characters at most.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        message: str | None = None,
        header: str | None = None,
        text: str | None = None,
        reason: str | None = None,
        http_status: int = 200,
    ) -> None:
        super().__init__(code or reason or header or message or "refused")
        self.code = code
        self.message = message
        self.header = header
        self.text = text
        self.reason = reason
        self.http_status = http_status

    @property
    def is_of_caller(self) -> bool:
        """Whether the partner or the account is refused; that says nothing about a booking."""
        return wire.normal_code(self.code or "") in _CODES_OF_CALLER


class Unreadable(ServiceError):
    """An answer not in the documented form: not JSON, too long, compressed, without a status.

    `why` is a short reason; `evidence` is the first 2 kB of the body without secrets.
    """

    def __init__(self, http_status: int, why: str, evidence: str = "") -> None:
        super().__init__(f"unreadable answer: {why} (HTTP {http_status})")
        self.http_status = http_status
        self.why = why
        self.evidence = evidence


def is_rate_limited(error: Exception) -> bool:
    """Whether a call failed by a rate limit: the service's (429), or ours before the call."""
    if isinstance(error, Throttled):
        return error.why == Throttled.LIMITED
    return isinstance(error, RateLimited)
