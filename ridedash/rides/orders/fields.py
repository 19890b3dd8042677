"""The fields of a booking: one table for the form, the order's row and the request to the service.

Each attribute of `BookingRequest` states its control in the form, its column, its name in the
frozen request, and when its value is copied from an earlier order. A new field needs an attribute
here, its line in a template, and its column with a migration.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from ridedash import wire
from ridedash.rides.times.schedule_times import MARGIN
from ridedash.store.actors import Actor

UTC_ZONE: Final = ZoneInfo("UTC")
MAX_NAME: Final = 120  # characters; longer names than any that people write
MAX_NOTE: Final = 500  # characters; a few sentences for colleagues, not a file
MOST_CARS: Final = 6  # cars in one group
SPOKEN_LANGUAGES: Final = (  # languages that a guest may speak: code, and name in that language
    ("en", "English"),
    ("ar", "العربية"),
    ("bn", "বাংলা"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("gu", "ગુજરાતી"),
    ("he", "עברית"),
    ("hi", "हिन्दी"),
    ("it", "Italiano"),
    ("ja", "日本語"),
    ("kn", "ಕನ್ನಡ"),
    ("ko", "한국어"),
    ("ml", "മലയാളം"),
    ("mr", "मराठी"),
    ("pa", "ਪੰਜਾਬੀ"),
    ("pt", "Português"),
    ("ru", "Русский"),
    ("ta", "தமிழ்"),
    ("te", "తెలుగు"),
    ("ur", "اردو"),
    ("zh_Hans", "简体中文"),
    ("zh_Hant", "繁體中文"),
)
_SPEC: Final = "booking field"


def _(text: str) -> str:
    """Mark a text for extraction. The form translates it; here it stays English."""
    return text


class Refill(StrEnum):
    """The occasions on which an earlier order fills in the form."""

    AGAIN = "again"  # booking the same trip again
    RETURN = "return"  # booking the way back
    CHANGE = "change"  # changing a planned ride


ALWAYS: Final = frozenset(Refill)


@dataclass(frozen=True)
class TextControl:
    """A text input. Its messages are English; the form translates them."""

    label: str
    longest: int = 0  # in characters; 0: the pattern limits the length
    too_long: str = ""
    required: str = ""  # the message for an empty field; "": it may stay empty
    pattern: str = ""
    mismatch: str = ""  # the message for a text that does not match the pattern
    multiline: bool = False
    of_door: bool = False  # a code as on doors, such as a room: see `text.plain_code`


@dataclass(frozen=True)
class ChoiceControl:
    """A choice from pairs of value and label; the first pair is the default."""

    label: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BookingField:
    """The names of one attribute of `BookingRequest` in other places; "" where it has none."""

    form: str  # the name of its control in the booking form
    name: str = ""  # the attribute; set when FIELDS is built
    default: Any = None  # the value of an empty control
    control: TextControl | ChoiceControl | None = None  # None: the form declares the control itself
    parsed: str = ""  # the form's attribute with the parsed value, when the control holds text
    column: str = ""  # in the orders table
    body: str = ""  # in NewBooking, the request to the service
    guest: str = ""  # in store.guests.GuestDetails
    change: str = ""  # in the timeline and the audit log, when a planned ride is changed
    refill: frozenset[Refill] = frozenset()  # when an earlier order fills it in


def _field(form: str, **facts: Any) -> Mapping[str, BookingField]:
    return {_SPEC: BookingField(form, **facts)}


@dataclass(frozen=True, kw_only=True)
class BookingRequest:
    """The content of a booking form, with the property, the person who books, margin and zone.

    `seats` is 1 or 2 for a shared ride, else None; `payment` is cash, svc_money or None. Changes of
    a planned ride are described in the order of these attributes.
    """

    property_id: int
    actor: Actor  # a member of staff, or a kiosk
    margin: timedelta = MARGIN  # a planned ride is ordered this long, plus the eta, before pickup
    tz: ZoneInfo = UTC_ZONE  # the property's zone: a series keeps its local times

    # each token makes its orders once, however often the form is sent
    form_token: str = field(metadata=_field("form_token"))
    pickup_at: datetime | None = field(  # the pickup time of a planned ride; None: now
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
    phone_as_typed: bool = field(  # whether staff confirmed a number that no country has
        default=False,
        metadata=_field("guest_phone_as", parsed="phone_as_typed", guest="phone_as_typed"),
    )
    guest_phone2: str | None = field(
        default=None, metadata=_field("guest_phone2", parsed="phone2_e164", guest="phone2")
    )
    guest_room: str | None = field(
        default=None,
        metadata=_field(
            "guest_room",
            guest="room",
            column="room",
            change="guest",
            control=TextControl(
                _("Room or ref."),
                longest=32,
                too_long=_("Keep it under 32 characters."),
                of_door=True,
            ),
        ),
    )
    guest_id: int | None = field(  # the id of the stored guest who was chosen in the form
        default=None, metadata=_field("guest_id", guest="guest_id")
    )
    guest_language: str | None = field(
        default=None,
        metadata=_field(
            "language",
            guest="language",
            control=ChoiceControl(_("Language"), (("", _("Not said")), *SPOKEN_LANGUAGES)),
        ),
    )
    guest_note: str | None = field(  # about the guest, shown with each of their rides
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
    flight: str | None = field(  # a flight number, such as LH 760
        default=None,
        metadata=_field(
            "flight",
            parsed="flight_number",
            column="flight",
            change="flight",
            refill=frozenset({Refill.AGAIN, Refill.CHANGE}),
        ),
    )
    departs_at: datetime | None = field(  # when the flight departs
        default=None,
        metadata=_field("departs", parsed="departs_at", column="departs_at", change="flight"),
    )
    flight_lands: bool = field(  # the flight brings the guest: departs_at is when it lands
        default=False,
        metadata=_field(
            "flight_way", parsed="flight_lands", column="flight_lands", change="flight"
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
    cars: int = field(default=1, metadata=_field("cars"))  # each car of a group is one order
    back_at: datetime | None = field(  # the pickup time of the way back; None: no way back
        default=None, metadata=_field("back_words", parsed="back_at")
    )
    back_offer_id: int | None = field(  # the offer whose price was shown for the way back
        default=None, metadata=_field("back_offer")
    )
    series: tuple[datetime, ...] = field(  # the pickup times of a series; the first is `pickup_at`
        default=(), metadata=_field("last_day", parsed="series_at")
    )
    override_guard: bool = field(  # whether "Book a second car on purpose" was chosen
        default=False, metadata=_field("override_guard")
    )
    # ids of the guest's open rides that the notice listed, beside which the second car is booked
    second_to: tuple[int, ...] = ()
    supersedes: int | None = field(  # the id of the order that this one replaces
        default=None, metadata=_field("supersedes", column="supersedes")
    )

    # of a line of a list: the group of its orders, and the partner reference that it has already
    group: str | None = None
    reference: str | None = None

    @property
    def staff_id(self) -> int | None:
        """The member of staff who books; None at a kiosk."""
        return self.actor.staff_id


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
    """The columns of an order that the request sets, with their values."""
    return {each.column: getattr(request, each.name) for each in FIELDS if each.column}


def body_values(request: BookingRequest) -> dict[str, Any]:
    """The values of a booking request for the service, by attribute of `NewBooking`."""
    values = {each.body: getattr(request, each.name) for each in FIELDS if each.body}
    return {name: None if value == "" else value for name, value in values.items()}


def guest_values(request: BookingRequest) -> dict[str, Any]:
    """The guest's values in a booking request, by attribute of `store.guests.GuestDetails`."""
    return {each.guest: getattr(request, each.name) for each in FIELDS if each.guest}


def control_of(name: str) -> str:
    """The control of the field with this name in form, request or body; "" without such a field."""
    for each in FIELDS:
        if name in (each.form, each.name, each.body):
            return each.form
    return ""
