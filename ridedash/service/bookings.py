"""What we send to create a booking, and what the service answers (Endpoints, 1 to 4, 7 and 8)."""

from datetime import datetime
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ridedash.geo import LatLng
from ridedash.service.fields import Fact


class NewBooking(BaseModel):
    """The payload of create. Checked strictly: it is ours. Raises pydantic.ValidationError (a ValueError)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pickup: LatLng
    category: str = Field(min_length=1, max_length=100)
    pickup_mode: Literal["now", "later"] = "now"
    drop: LatLng | None = None  # required when upfront pricing applies
    payment_instrument_type: Literal["cash", "svc_money"] | None = None  # None: the wallet balance
    fare_id: str | None = None  # required when upfront pricing applies
    affiliate_uid: str | None = None  # required for affiliate-payment bookings
    coupon_code: str | None = None
    merchant_txn_id: str | None = Field(default=None, pattern=r"\A[A-Za-z0-9-]{1,64}\z")
    seats: Literal[1, 2] | None = None  # share only
    retry: bool | None = None  # share only; True enables the retry mechanism

    def payload(self) -> dict[str, Any]:
        """The JSON body with the document's names; what is None is left out."""
        raise NotImplementedError


class CreateBody(Fact):
    """Every field that an answer of create may carry; all optional. Read by `from_wire`, never raises."""

    status: str | None = None  # in capitals: SUCCESS or FAILURE
    booking_id: str | None = None  # None while a share retry is in progress
    txn_id: str | None = None  # stands for booking_id while a share retry is in progress
    message: str | None = None
    code: str | None = None  # as the service spelled it
    header: str | None = None
    text: str | None = None
    reason: str | None = None
    merchant_txn_id: str | None = None  # echoed
    booking_timeout_s: int | None = None  # after this, allotment no longer happens
    retry_timeout_s: int | None = None  # the same, of the retry object
    next_retry_time: str | None = None  # as the service wrote it
    next_retry_at: datetime | None = None  # the same instant in UTC, where it could be understood

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Read the body of create."""
        raise NotImplementedError


class CreateAnswer(Fact):
    """What came back from create: never judged here (booking-protocol, 1.4, is the caller's)."""

    http_status: int
    body: CreateBody | None = None  # None when no JSON object came
    readable: bool = False  # a JSON object, whole, not encoded, with an id that is usable where there is one
    retry_after_s: float | None = None
    evidence: str = ""  # the first 2 kB of the body, scrubbed


class Done(Fact):
    """The success of abort, cancel, drop_location and feedback, in the service's own words."""

    status: str = "SUCCESS"
    request_type: str | None = None
    header: str | None = None
    text: str | None = None
    message: str | None = None
    code: str | None = None


class FeedbackOptions(Fact):
    """The labels to choose from, by rating 1 to 5 (Feedback options)."""

    options: dict[int, tuple[str, ...]]
    from_document: bool = False  # the service could not be asked; these are the document's labels

    def for_rating(self, rating: int) -> tuple[str, ...]:
        """The labels of a rating; empty when there are none."""
        return self.options.get(rating, ())


_POOR: Final = (
    "Delayed Pick up",
    "Driver Unprofessional",
    "Driver Untrained",
    "Unsafe Driving",
    "Car Quality",
    "Incorrect Billing",
    "Dropped at wrong location",
    "Not Value for Money",
)
_GOOD: Final = (
    "Polite and professional driver",
    "On-time pickup",
    "Comfortable feature-rich car",
    "Driver familiar with the route",
    "Value for Money",
)
DOCUMENT_OPTIONS: Final = FeedbackOptions(options={**dict.fromkeys((1, 2, 3, 4), _POOR), 5: _GOOD}, from_document=True)
