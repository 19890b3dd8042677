"""What we send to create a booking, and what the service answers.

See docs/service-interface.md 1 to 4, 7, 8.
"""

from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ridedash.geo import LatLng, is_valid
from ridedash.service.parsing.fields import Fact, ident, items, row, text
from ridedash.service.parsing.units import duration


class NewBooking(BaseModel):
    """The body of create, the call that books. We make it ourselves, so it is checked strictly.

    Raises pydantic.ValidationError, which is a ValueError.
    """

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
        """The JSON body with the interface's names; what is None is left out."""
        body: dict[str, Any] = {"pickup_lat": self.pickup.lat, "pickup_lng": self.pickup.lng}
        if self.drop is not None:
            body |= {"drop_lat": self.drop.lat, "drop_lng": self.drop.lng}
        return body | self.model_dump(exclude={"pickup", "drop"}, exclude_none=True)

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        for position in (self.pickup, self.drop):
            if position is not None and not is_valid(*position):
                raise ValueError("a position off the globe")
        if self.category != "share" and (self.seats is not None or self.retry is not None):
            raise ValueError("seats and retry are for share only")
        return self


class CreateBody(Fact):
    """The fields that the answer to create may have; each is optional."""

    status: str | None = None  # in capitals: SUCCESS or FAILURE
    booking_id: str | None = None  # None while a share retry is in progress
    txn_id: str | None = None  # stands for booking_id while a share retry is in progress
    message: str | None = None
    code: str | None = None  # as the service spelled it
    header: str | None = None
    text: str | None = None
    reason: str | None = None
    merchant_txn_id: str | None = None  # the one that we sent, echoed
    booking_timeout_s: int | None = None  # the search for a driver ends after this
    retry_timeout_s: int | None = None  # the booking timeout in the object `retry`
    next_retry_time: str | None = None  # as the service wrote it

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Parse the body of create. Raises nothing."""
        got = row(body)
        retry = row(got.get("retry"))
        return cls(
            **_words(got),
            booking_id=ident(got.get("booking_id")),
            txn_id=ident(got.get("txn_id")),
            reason=text(got.get("reason")),
            merchant_txn_id=ident(got.get("merchant_txn_id")),
            booking_timeout_s=_seconds(got),
            retry_timeout_s=_seconds(retry),
            next_retry_time=text(retry.get("next_retry_time")),
        )

    @staticmethod
    def usable(body: Any) -> bool:
        """Whether a body can prove anything: it is an object, and its ids can be parsed.

        An echoed merchant_txn_id that can't be parsed may be that of another order: it must not be
        treated as missing. A txn_id beside a booking_id does not matter.
        """
        got = row(body)
        names = ["booking_id", "merchant_txn_id"]
        if ident(got.get("booking_id")) is None:
            names.append("txn_id")
        sent = (got.get(name) for name in names)
        return isinstance(body, dict) and all(
            each in (None, "") or ident(each) is not None for each in sent
        )


def _words(got: dict[str, Any]) -> dict[str, Any]:
    status = text(got.get("status")) or ""
    names = ("message", "code", "header", "text")
    return {
        "status": status.upper() or None,
        **{name: text(got.get(name)) for name in names},
    }


def _seconds(got: dict[str, Any]) -> int | None:
    span = duration(got.get("booking_timeout"), got.get("booking_timeout_unit"), "second")
    return span.seconds if span else None


class CreateAnswer(Fact):
    """The answer to create as it came; `rides.state.outcome` decides what it proves."""

    http_status: int
    body: CreateBody | None = None  # None when no JSON object came
    # whether the body is a complete JSON object, not compressed, and all its ids can be parsed
    readable: bool = False
    # whether the id of a ride occurs anywhere in the body, even if the body is incomplete
    names_id: bool = False
    unread: bool = False  # the body is too long or compressed: it may name an id
    retry_after_s: float | None = None
    evidence: str = ""  # the first 2 kB of the body without secrets


class Done(Fact):
    """The answer to abort, cancel, drop_location or feedback if the call succeeded."""

    status: str = "SUCCESS"
    request_type: str | None = None
    header: str | None = None
    text: str | None = None
    message: str | None = None
    code: str | None = None

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Parse the body of such an answer."""
        got = row(body)
        words = _words(got)
        return cls(
            **{**words, "status": words["status"] or "SUCCESS"},
            request_type=text(got.get("request_type")),
        )


class FeedbackOptions(Fact):
    """The labels to choose from, by rating 1 to 5 (docs/service-interface.md Feedback options)."""

    options: dict[int, tuple[str, ...]]
    # the labels from the interface document, because the service gave none
    from_document: bool = False

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Parse `driver_feedback_options`: keys from 1 to 5, and their labels that have text."""
        got = row(row(body).get("driver_feedback_options"))
        labels = {
            rating: [text(each) for each in items(got.get(str(rating)))] for rating in range(1, 6)
        }
        return cls(
            options={
                rating: tuple(filter(None, texts)) for rating, texts in labels.items() if any(texts)
            }
        )

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
DOCUMENT_OPTIONS: Final = FeedbackOptions(
    options={**dict.fromkeys((1, 2, 3, 4), _POOR), 5: _GOOD}, from_document=True
)
