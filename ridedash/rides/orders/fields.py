"""The fields of the booking form, each stated once.

The form takes its text and choice controls from here. By this table the booking request is built
from the form, the order's row and the frozen request from the booking request; the differences of
a change and what an earlier order fills in are found by it as well. A new field needs an attribute
of `BookingRequest`, its line in a template, and its column with a migration.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from ridedash import wire
from ridedash.rides.orders.schedule_times import MARGIN

MAX_NAME: Final = 120
MAX_NOTE: Final = 500
MOST_CARS: Final = 6  # of a group
LANGUAGES: Final = (  # of the guest's own page, each in its own language
    ("en", "English"),
    ("hi", "हिन्दी"),
    ("ar", "العربية"),
    ("bn", "বাংলা"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("ja", "日本語"),
    ("ru", "Русский"),
    ("ta", "தமிழ்"),
    ("te", "తెలుగు"),
    ("zh", "中文"),
)
_SPEC: Final = "booking field"


def _(text: str) -> str:
    """Mark a text for translation. The form translates it: the worker loads no translations."""
    return text


class Refill(StrEnum):
    """The occasions on which an earlier order fills in the form."""

    AGAIN = "again"  # the same trip is booked again
    RETURN = "return"  # the trip back is booked
    CHANGE = "change"  # a planned ride is changed


ALWAYS: Final = frozenset(Refill)


@dataclass(frozen=True)
class TextControl:
    """A text input. Its messages are English; the form translates them."""

    label: str
    longest: int = 0  # in characters; 0: the pattern bounds it
    too_long: str = ""
    required: str = ""  # the message without a text; "": the field may stay empty
    pattern: str = ""
    mismatch: str = ""  # the message for a text that does not match the pattern
    multiline: bool = False


@dataclass(frozen=True)
class ChoiceControl:
    """A list to choose from: pairs of value and label. The first one is chosen beforehand."""

    label: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BookingField:
    """How one attribute of `BookingRequest` appears elsewhere; "" where it does not."""

    form: str  # the name of its control in the booking form
    name: str = ""  # the attribute; filled in from the class below
    default: Any = None  # of the attribute; an empty control means this
    control: TextControl | ChoiceControl | None = None  # None: the form declares the control itself
    parsed: str = (
        ""  # the attribute of the form with the parsed value, where the control holds text
    )
    column: str = ""  # of the orders table
    body: str = ""  # of the request to the service
    guest: str = ""  # of store.guests.GuestDetails
    change: str = ""  # what the timeline and the audit log call a change of it
    refill: frozenset[Refill] = frozenset()


def _field(form: str, **facts: Any) -> Mapping[str, BookingField]:
    return {_SPEC: BookingField(form, **facts)}


@dataclass(frozen=True, kw_only=True)
class BookingRequest:
    """What a member of staff pressed "Book" for: the fields of the form, and what the server adds.

    `seats` is 1 or 2 for a shared ride, else None; `payment` is cash, svc_money or None.
    The attributes' order is the order in which a change of several of them is described.
    """

    property_id: int
    staff_id: int | None
    margin: timedelta = MARGIN  # how long before the cab's approach a planned ride is ordered

    form_token: str = field(metadata=_field("form_token"))  # one order per token
    pickup_at: datetime | None = field(  # of a planned ride; None: now
        default=None,
        metadata=_field("pickup_time", parsed="pickup_at", column="pickup_at", change="pickup_at"),
    )
    offer_id: int = field(metadata=_field("offer"))
    guest_name: str = field(
        metadata=_field(
            "guest_name",
            guest="name",
            control=TextControl(
                _("Guest name"),
                longest=MAX_NAME,
                too_long=_("Keep the name under 120 characters."),
                required=_("Who is the ride for? Type the guest's name."),
            ),
        )
    )
    guest_phone: str | None = field(
        default=None, metadata=_field("guest_phone", parsed="phone_e164", guest="phone")
    )
    guest_room: str | None = field(
        default=None,
        metadata=_field(
            "guest_room",
            guest="room",
            column="room",
            change="guest",
            control=TextControl(
                _("Room or ref."), longest=32, too_long=_("Keep it under 32 characters.")
            ),
        ),
    )
    guest_id: int | None = field(  # the guest who was chosen among the known ones
        default=None, metadata=_field("guest_id", guest="guest_id")
    )
    guest_language: str | None = field(
        default=None,
        metadata=_field(
            "language",
            guest="language",
            control=ChoiceControl(_("Language"), (("", _("Not said")), *LANGUAGES)),
        ),
    )
    guest_note: str | None = field(  # about the guest, for each of their rides
        default=None,
        metadata=_field(
            "guest_note",
            guest="note",
            control=TextControl(
                _("About the guest"),
                longest=MAX_NOTE,
                too_long=_("Keep the note under 500 characters."),
            ),
        ),
    )
    cost_centre_id: int | None = field(
        default=None,
        metadata=_field(
            "cost_centre", column="cost_centre_id", change="cost_centre", refill=ALWAYS
        ),
    )
    note: str | None = field(
        default=None,
        metadata=_field(
            "note",
            column="note",
            change="note",
            refill=ALWAYS - {Refill.RETURN},
            control=TextControl(
                _("Note for the desk"),
                longest=MAX_NOTE,
                too_long=_("Keep the note under 500 characters."),
                multiline=True,
            ),
        ),
    )
    seats: int | None = field(
        default=None, metadata=_field("seats", column="seats", body="seats", change="seats")
    )
    payment: str | None = field(
        default=None,
        metadata=_field(
            "payment",
            column="payment",
            body="payment_instrument_type",
            change="payment",
            refill=ALWAYS,
            control=ChoiceControl(
                _("Payment"),
                (
                    ("", _("Default (wallet)")),
                    (wire.SVC_MONEY, _("Wallet")),
                    (wire.CASH, _("Cash")),
                ),
            ),
        ),
    )
    coupon: str | None = field(
        default=None,
        metadata=_field(
            "coupon",
            body="coupon_code",
            change="coupon",
            refill=frozenset({Refill.CHANGE}),
            control=TextControl(
                _("Coupon"),
                pattern=r"^[A-Za-z0-9_.-]{1,40}$",
                mismatch=_("A coupon is letters and digits without spaces."),
            ),
        ),
    )
    account_id: int = field(
        metadata=_field("account", column="account_id", change="account", refill=ALWAYS)
    )
    cars: int = field(default=1, metadata=_field("cars"))  # of a group, each an order of its own
    override_guard: bool = field(  # "Book a second car on purpose"
        default=False, metadata=_field("override_guard")
    )
    supersedes: int | None = field(  # the order that this one books again
        default=None, metadata=_field("supersedes", column="supersedes")
    )


FIELDS: Final[tuple[BookingField, ...]] = tuple(
    replace(
        each.metadata[_SPEC],
        name=each.name,
        default=None if each.default is MISSING else each.default,
    )
    for each in fields(BookingRequest)
    if _SPEC in each.metadata
)
CHANGEABLE: Final = tuple(each for each in FIELDS if each.change)


def order_columns(request: BookingRequest) -> dict[str, Any]:
    """The columns of an order with the values of the request."""
    return {each.column: getattr(request, each.name) for each in FIELDS if each.column}


def body_values(request: BookingRequest) -> dict[str, Any]:
    """The values of a booking request that the service is sent, by the names of `NewBooking`."""
    values = {each.body: getattr(request, each.name) for each in FIELDS if each.body}
    return {name: None if value == "" else value for name, value in values.items()}


def guest_values(request: BookingRequest) -> dict[str, Any]:
    """What a booking request states of its guest, by the names of `store.guests.GuestDetails`."""
    return {each.guest: getattr(request, each.name) for each in FIELDS if each.guest}


def control_of(name: str) -> str:
    """The name of the control of a field, by any of its names in the table; "" for no field."""
    for each in FIELDS:
        if name in (each.form, each.name, each.body):
            return each.form
    return ""
