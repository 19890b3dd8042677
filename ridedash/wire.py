"""The service's published words: statuses, codes, modes and the kind of a category. No parsing.

Everything here is quoted from docs/service-interface.md (States and transitions, Endpoints, Errors)
or, where noted, from docs/field-notes.md. Compare codes with `normal_code`: the service writes
`BANNED USER` with a space, and its spelling may vary.
"""

from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """The three kinds of booking of the interface; each has its own order of statuses."""

    POINT_TO_POINT = "point_to_point"
    SHARE = "share"
    AUTO = "auto"


def kind_of(category: str) -> Kind:
    """The kind of a category id: `share`, `auto`, and point-to-point for anything else."""
    return {"share": Kind.SHARE, "auto": Kind.AUTO}.get(category, Kind.POINT_TO_POINT)


# booking_status (docs/service-interface.md States and transitions)
ALLOTMENT_PENDING: Final = "ALLOTMENT_PENDING"
PENDING: Final = "PENDING"
ALLOTMENT_RETRYING: Final = "ALLOTMENT_RETRYING"
# docs/field-notes.md: in an airport's queue, with an OTP and no cab yet
SOFT_ALLOCATED: Final = "SOFT_ALLOCATED"
CALL_DRIVER: Final = "CALL_DRIVER"
CLIENT_LOCATED: Final = "CLIENT_LOCATED"
INVOICE: Final = "INVOICE"
IN_PROGRESS: Final = "IN_PROGRESS"
COMPLETED: Final = "COMPLETED"
ALLOTMENT_FAILED: Final = "ALLOTMENT_FAILED"
BOOKING_CANCELLED: Final = "BOOKING_CANCELLED"

SEARCHING: Final = frozenset({ALLOTMENT_PENDING, PENDING, ALLOTMENT_RETRYING, SOFT_ALLOCATED})
TERMINAL: Final = frozenset({COMPLETED, ALLOTMENT_FAILED, BOOKING_CANCELLED})
# a driver has accepted, and the ride has not ended: who comes, and with which cab, is known
CAB_KNOWN: Final = frozenset({CALL_DRIVER, CLIENT_LOCATED, INVOICE, IN_PROGRESS})
HAD_CAB: Final = CAB_KNOWN | {COMPLETED}
# of these, the ones before the ride; but an auto has INVOICE only after it
BEFORE_RIDE: Final = CAB_KNOWN - {IN_PROGRESS}
OTP_STATUSES: Final = frozenset({CLIENT_LOCATED, INVOICE})
MAY_HAVE_OTP: Final = OTP_STATUSES | {SOFT_ALLOCATED}

SEQUENCE: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.POINT_TO_POINT: (
        ALLOTMENT_PENDING,
        CALL_DRIVER,
        CLIENT_LOCATED,
        INVOICE,
        IN_PROGRESS,
        COMPLETED,
    ),
    Kind.SHARE: (ALLOTMENT_PENDING, CALL_DRIVER, CLIENT_LOCATED, INVOICE, IN_PROGRESS, COMPLETED),
    Kind.AUTO: (PENDING, CALL_DRIVER, IN_PROGRESS, INVOICE, COMPLETED),
}
KNOWN_STATUSES: Final = frozenset(
    {*SEQUENCE[Kind.SHARE], *SEQUENCE[Kind.AUTO], ALLOTMENT_RETRYING, SOFT_ALLOCATED, *TERMINAL}
)

# status of an answer
SUCCESS: Final = "SUCCESS"
FAILURE: Final = "FAILURE"

# request_type of an answer
TRACK_RIDE: Final = "TRACK_RIDE"
BOOKING_CANCEL: Final = "BOOKING_CANCEL"
BOOKING_FEEDBACK: Final = "BOOKING_FEEDBACK"
UPDATE_DROP: Final = "Update User Booking Drop Location"

# failures of create (docs/service-interface.md Errors); BOOKING_FAILED is a message, the rest
# are codes
BOOKING_FAILED: Final = "BOOKING_FAILED"
INVALID_CAR_CATEGORY: Final = "INVALID_CAR_CATEGORY"
INVALID_CITY: Final = "INVALID_CITY"
SAME_PICKUP_DROP: Final = "SAME_PICKUP_DROP"
BANNED_USER: Final = "BANNED USER"
OUTSTANDING_DUE: Final = "OUTSTANDING_DUE"
PAYMENT_PENDING: Final = "PAYMENT_PENDING"
SVC_CREDIT_DUE: Final = "SVC_CREDIT_DUE"
INVALID_DROP_LOCATION: Final = "INVALID_DROP_LOCATION"

# failures of the other operations (docs/service-interface.md Errors)
BOOKING_ALLOTED: Final = "BOOKING_ALLOTED"  # the misspelling is the service's
CANCELLATION_NOT_ALLOWED: Final = "CANCELLATION_NOT_ALLOWED"
HEADER_INVALID_DROP: Final = "Invalid Drop Location"
HEADER_OOPS: Final = "Oops!"

# seen in practice (docs/field-notes.md), not in the interface
BOOKING_ALREADY_CANCELLED: Final = "BOOKING_ALREADY_CANCELLED"
RIDE_IN_PROGRESS: Final = "RIDE_IN_PROGRESS"
BOOKING_ALREADY_COMPLETED: Final = "BOOKING_ALREADY_COMPLETED"
NO_CABS_AVAILABLE: Final = "NO_CABS_AVAILABLE"
INVALID_CITY_CAR_CATEGORY: Final = "INVALID_CITY_CAR_CATEGORY"
INVALID_PARTNER_KEY: Final = "invalid_partner_key"
RATE_LIMIT: Final = "rate_limit"
NO_BOOKING: Final = "NO_BOOKING"

CREATE_CODES: Final = frozenset(
    {
        INVALID_CAR_CATEGORY,
        INVALID_CITY,
        SAME_PICKUP_DROP,
        BANNED_USER,
        OUTSTANDING_DUE,
        PAYMENT_PENDING,
        SVC_CREDIT_DUE,
        INVALID_DROP_LOCATION,
        NO_CABS_AVAILABLE,
        INVALID_CITY_CAR_CATEGORY,
        INVALID_PARTNER_KEY,
        RATE_LIMIT,
    }
)

# codes that refuse the partner or the account in any request, and say nothing about a booking
CODES_OF_CALLER: Final = frozenset(
    {
        INVALID_PARTNER_KEY,
        RATE_LIMIT,
        BANNED_USER,
        OUTSTANDING_DUE,
        PAYMENT_PENDING,
        SVC_CREDIT_DUE,
    }
)

# words in requests
PICKUP_NOW: Final = "now"
PICKUP_LATER: Final = "later"
CASH: Final = "cash"
SVC_MONEY: Final = "svc_money"

# headers (docs/service-interface.md Authentication)
APP_TOKEN_HEADER: Final = "X-APP-TOKEN"  # noqa: S105 - the name of a header, not a token


def normal_code(code: str) -> str:
    """A code for comparison: capitals, an underscore for each run of spaces and hyphens.

    >>> normal_code("BANNED USER") == normal_code("banned_user ")
    True
    """
    return "_".join(code.replace("_", " ").replace("-", " ").upper().split())


# headers and messages that say nothing of their own
_MERE_RESULTS: Final = frozenset({"", SUCCESS, FAILURE, BOOKING_FAILED})


def said(*texts: str | None) -> str:
    """What the service says in the texts of one answer (header, message, text), each once.

    "" if they only name the result.
    """
    own = (text for text in texts if text and normal_code(text) not in _MERE_RESULTS)
    return " – ".join(dict.fromkeys(own))


def refuses_key(code: str | None) -> bool:
    """Whether a code refuses the partner's key, so that no account's token can be used."""
    return normal_code(code or "") == normal_code(INVALID_PARTNER_KEY)
