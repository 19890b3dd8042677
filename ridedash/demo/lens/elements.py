"""The origin of each element of a ride's pages: fields of the service's answers, or our own data.

An element is named in its page by `data-slot`, `data-cell` or `data-from`; its surface is the page.
Each element has exactly one row here, and each row has its element.
tests/demo/lens/test_elements.py changes each field of each answer and sees these elements change,
and no others. Pointers are JSON pointers (RFC 6901) into the body of the answer, where `*` stands
for the element of an array that is about this order (its category, its seats), or for each element
of a list.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ridedash.wording.say import Text
from ridedash.wording.say import lazy as _

SURFACES: Final = ("ride", "board", "link", "card", "receipt", "ticket")
PRODUCTS = "products"
CREATE = "create"
TRACK = "track_ride"
ABORT = "abort"
CANCEL = "cancel"
DROP = "drop_location"
OPTIONS = "feedback_options"


class Source(NamedTuple):
    """A field of the answer to an operation."""

    operation: str
    pointer: str


@dataclass(frozen=True)
class Element:
    """One named element of a page.

    `how`: how its sources are used, or, without sources, where our own data comes from.
    """

    surface: str
    name: str
    sources: tuple[Source, ...]
    how: Text

    @property
    def key(self) -> str:
        """The name of the element, unique among all surfaces."""
        return f"{self.surface}:{self.name}"


def _of(operation: str, *pointers: str) -> tuple[Source, ...]:
    return tuple(Source(operation, pointer) for pointer in pointers)


def _track(*names: str) -> tuple[Source, ...]:
    return _of(TRACK, *(f"/{name}" for name in names))


def _trip(*names: str) -> tuple[Source, ...]:
    return _of(TRACK, *(f"/trip_info/{name}" for name in names))


def _category(*names: str) -> tuple[Source, ...]:
    return _of(PRODUCTS, *(f"/categories/*/{name}" for name in names))


def _estimate(*names: str) -> tuple[Source, ...]:
    return _of(PRODUCTS, *(f"/ride_estimate/*/{name}" for name in names))


STATUS: Final = _track("booking_status")
PLATE: Final = _track("vehicle_number", "cab_details/cab_number")
OLD_PLATE: Final = _track("vehicle_number")
CAR: Final = _track(
    *("vehicle_color", "vehicle_type", "car_model"),
    *("cab_details/car_color", "cab_details/cab_type", "cab_details/car_model"),
)
NAME = _track("driver_name")
NUMBER = _track("driver_number")
ETA: Final = _track("duration/value", "duration/unit")
DISTANCE: Final = _track("distance/value", "distance/unit")
CODE: Final = _track("otp/start_trip/value")
CAB: Final = _track("driver_lat", "driver_lng", "bearing")
POINTS: Final = _track(
    *("pickup_location/lat", "pickup_location/lng", "drop_location/lat", "drop_location/lng")
)
STOPS: Final = _track("route/*/name", "route/*/state")
BOOKING: Final = _of(CREATE, "/booking_id") + _track("booking_id")
CURRENCY: Final = _category("currency")
FEE: Final = _category(
    *("cancellation_policy/cancellation_charge", "cancellation_policy/currency"),
    *("cancellation_policy/cancellation_charge_applies_after_time",),
    *("cancellation_policy/time_unit",),
)
FREE_FOR: Final = FEE[2:]
FARE: Final = _track(
    *("price_details/fare", "price_details/service_tax"),
    *("price_details/toll_charges", "price_details/discount_value"),
)
LINES: Final = _trip("amount", "convenience_charge", "discount")
PAYABLE: Final = _trip("payable_amount", "cash_paid")
COST: Final = PAYABLE + _trip("advance")
TOTAL: Final = FARE + COST + LINES + CURRENCY
OFFERED: Final = (
    _estimate("amount_min", "amount_max", "upfront/fare", "upfront/is_upfront_applicable")
    + _estimate("fares/*/cost", "fares/*/seats")
    + _category("fare_breakup/*/minimum_fare")
)
NOTED: Final = _estimate(
    *("amount_min", "amount_max", "upfront/is_upfront_applicable", "fares/*/seats"),
)
STOPPED: Final = _of(CANCEL, "/text") + _of(ABORT, "/message")
SAID_STOP: Final = _of(CANCEL, "/header")
SAID_DROP: Final = _of(DROP, "/header", "/text")
REFUSED: Final = _of(CREATE, "/code")
SAID_NO: Final = _of(CREATE, "/message")
RETRY: Final = _of(CREATE, "/retry/next_retry_time")
RETRY_ENDS: Final = _of(CREATE, "/retry/booking_timeout", "/retry/booking_timeout_unit")
SEARCH_ENDS: Final = RETRY_ENDS + _of(CREATE, "/booking_timeout", "/booking_timeout_unit")
WENT: Final = _trip("distance/value", "distance/unit", "ride_time/value", "ride_time/unit")
TOOK: Final = WENT + _trip("trip_time/value", "trip_time/unit")
NIGHT: Final = _trip("night_charges_applied", "night_charge_ratio")

AS_SENT: Final = _("As it was sent.")
WORDED: Final = _("In our words.")
ADDED: Final = _("Added up by us: the service sends no total.")
TYPED: Final = _("Ours: typed or chosen at the desk.")
MADE: Final = _("Ours: made by ridedash.")
CLOCK: Final = _("With our clock.")
SET_BY_US: Final = _("Ours: kept in this house.")
LABEL: Final = _("Ours: our words.")
ENGLISH: Final = _("Ours: the English of the words above, where nobody has read them yet.")
AGE: Final = _("Ours: our clock, since the last good answer to track_ride.")
WRITTEN: Final = _("As it was sent, in our writing.")
NOT_NOW: Final = _("Ours: what can be done in this state.")

Row = tuple[str, tuple[Source, ...], Text]

HEADLINE: Final = STATUS + ETA + TOTAL + REFUSED + RETRY
GUEST_HEADLINE: Final = STATUS + NAME + ETA + TOTAL
DETAIL: Final = STATUS + STOPPED + _trip("payable_amount") + CURRENCY + FEE + REFUSED + RETRY_ENDS
GUEST_DETAIL: Final = DETAIL + ETA
PRICED: Final = STATUS + TOTAL + OFFERED + NOTED
PAID: Final = STATUS
BILLED: Final = _trip("payable_amount") + CURRENCY
LINE_ROWS: Final[tuple[Row, ...]] = (
    ("line.fare", _track("price_details/fare") + CURRENCY, AS_SENT),
    ("line.tax", _track("price_details/service_tax") + CURRENCY, AS_SENT),
    ("line.tolls", _track("price_details/toll_charges") + CURRENCY, AS_SENT),
    (
        "line.discount",
        _track("price_details/discount_value", "price_details/discount_percentage")
        + _trip("discount")
        + CURRENCY,
        AS_SENT,
    ),
    ("line.total", TOTAL, ADDED),
    ("line.meter", _trip("amount") + CURRENCY, AS_SENT),
    ("line.convenience", _trip("convenience_charge") + CURRENCY, AS_SENT),
    ("line.advance", _trip("advance") + CURRENCY, AS_SENT),
    ("line.payable", PAYABLE + LINES + _trip("advance") + CURRENCY, WRITTEN),
    ("line.cash", _trip("cash_paid") + CURRENCY, AS_SENT),
)
NOTE_ROW: Final = ("notes", TOOK + NIGHT, WRITTEN)

_TABLE: Final[dict[str, tuple[Row, ...]]] = {
    "ride": (
        ("guest", (), TYPED),
        ("room", (), TYPED),
        ("product", _category("display_name"), AS_SENT),
        ("seats", (), TYPED),
        ("placed", (), MADE),
        ("age", (), AGE),
        ("lost", (), AGE),
        ("tone", STATUS, WORDED),
        ("icon", STATUS, WORDED),
        ("headline", HEADLINE, WORDED),
        ("detail", DETAIL + SAID_STOP + SAID_NO, WORDED),
        ("timer", STATUS + SEARCH_ENDS, CLOCK),
        ("cab.plate", PLATE, WRITTEN),
        ("cab.was", OLD_PLATE, _("The plate of an earlier answer.")),
        ("cab.car", CAR, WRITTEN),
        ("otp.label", (), LABEL),
        ("code", CODE, _("As it was sent; shown after a press, and recorded.")),
        ("notices", STATUS + OLD_PLATE + _of(CANCEL, "/reason", "/header", "/text"), WORDED),
        ("actions", STATUS, NOT_NOW),
        ("fee", FREE_FOR, CLOCK),
        ("policy", FEE, WORDED),
        ("steps", STATUS, CLOCK),
        ("guest.price", PRICED, WRITTEN),
        ("guest.pays", PAID, WORDED),
        ("driver.initials", NAME, WRITTEN),
        ("driver.name", NAME, AS_SENT),
        ("driver.rating", _track("driver_rating"), WRITTEN),
        ("driver.phone", NUMBER, AS_SENT),
        ("route", STOPS, AS_SENT),
        ("passengers", _track("passengers/*/name"), AS_SENT),
        ("pickup", (), TYPED),
        ("coupon", (), TYPED),
        ("affiliate", (), TYPED),
        ("points", POINTS, AS_SENT),
        ("drop.name", (), TYPED),
        ("fare", TOTAL + OFFERED, WRITTEN),
        ("fare_note", STATUS + NOTED + CURRENCY + STOPPED + FEE, WORDED),
        ("said_drop", SAID_DROP, AS_SENT),
        ("distance_label", STATUS, WORDED),
        ("distance", DISTANCE, WRITTEN),
        ("took", WENT, WRITTEN),
        ("pays", (), TYPED),
        ("map", CAB + ETA + STOPS + _track("route/*/lat", "route/*/lng"), WRITTEN),
        ("invoice.title", STATUS, WORDED),
        *LINE_ROWS,
        ("notes", TOOK + NIGHT + CURRENCY + _track("svc_money_balance"), WRITTEN),
        ("phone", (), TYPED),
        ("phone2", (), TYPED),
        ("flight", (), TYPED),
        ("note", (), TYPED),
        ("account", (), SET_BY_US),
        ("booking_id", BOOKING, AS_SENT),
        ("reference", (), MADE),
        ("share_url", _track("share_ride_url"), AS_SENT),
        ("said_create", SAID_NO, AS_SENT),
        (
            "known",
            BOOKING + REFUSED + STOPPED + _of(CANCEL, "/reason") + SAID_STOP + SAID_DROP,
            WORDED,
        ),
        ("support", (), MADE),
        ("options", _of(OPTIONS, "/driver_feedback_options/*/*"), AS_SENT),
        ("guest.headline", GUEST_HEADLINE, WORDED),
        ("guest.meet", STATUS, WORDED),
        ("guest.detail", GUEST_DETAIL, WORDED),
        ("guest.code_label", (), LABEL),
    ),
    "board": (
        ("icon", STATUS, WORDED),
        ("headline", HEADLINE + STOPPED + FEE, WORDED),
        ("timer", STATUS + SEARCH_ENDS, CLOCK),
        ("car", (), MADE),
        ("old", (), AGE),
        ("room", (), TYPED),
        ("guest", (), TYPED),
        ("to", (), TYPED),
        ("kiosk", (), MADE),
        ("mark", (), _("Ours: said by the doorman.")),
        ("why", STATUS + _of(CANCEL, "/reason"), WORDED),
        ("plate", PLATE, WRITTEN),
        ("placed", (), MADE),
        ("do", STATUS, NOT_NOW),
        ("do-for", (), TYPED),
    ),
    "link": (
        ("headline", GUEST_HEADLINE, WORDED),
        ("detail", GUEST_DETAIL, WORDED),
        ("english", (), ENGLISH),
        ("icon", STATUS, WORDED),
        ("age", (), AGE),
        ("held", (), _("Ours: the clock of the demo, while it is held.")),
        ("changed", STATUS, WORDED),
        ("changed_english", (), ENGLISH),
        ("was", OLD_PLATE, _("The plate of an earlier answer.")),
        ("plate", PLATE, WRITTEN),
        ("car", CAR, WRITTEN),
        ("driver", NAME, _("The first name alone.")),
        ("call", NUMBER, AS_SENT),
        ("code_label", (), LABEL),
        ("code", CODE, AS_SENT),
        ("map", CAB, WRITTEN),
        ("steps", STATUS, CLOCK),
        ("pickup", (), TYPED),
        ("drop.name", (), TYPED),
        ("price", PRICED, WRITTEN),
        ("pays", PAID, WORDED),
        ("pays_english", (), ENGLISH),
        ("ready.car", _category("display_name"), AS_SENT),
        ("ready.price", _estimate("amount_min", "amount_max") + CURRENCY, WRITTEN),
        ("ready.terms", CURRENCY, WORDED),
        ("invoice.title", STATUS, WORDED),
        *LINE_ROWS,
        NOTE_ROW,
    ),
    "card": (
        ("guest", (), TYPED),
        ("room", (), TYPED),
        ("plate", PLATE, WRITTEN),
        ("state", STATUS + REFUSED, WORDED),
        ("car", CAR, WRITTEN),
        ("driver", NAME, _("The first name alone.")),
        ("code_label", (), LABEL),
        ("code", CODE, _("As it was sent; printed after a press, and recorded.")),
        ("pickup_at", (), TYPED),
        ("pickup", (), TYPED),
        ("drop", (), TYPED),
        ("map", (), _("Ours: tiles of the map server, around the pickup.")),
        ("price", PRICED, WRITTEN),
        ("pays", PAID + BILLED, WORDED),
        ("link", (), MADE),
    ),
    "receipt": (
        ("title", STATUS, WORDED),
        ("dated", (), _("Ours: our clock, when the ride ended.")),
        ("guest", (), TYPED),
        ("cost_centre", (), TYPED),
        ("picked_up", _track("pickup_time"), WRITTEN),
        ("pickup", (), TYPED),
        ("coupon", (), TYPED),
        ("drop", (), TYPED),
        ("ride", _category("display_name") + WENT, WRITTEN),
        ("seats", (), TYPED),
        ("driver", NAME, _("The first name alone.")),
        ("car", CAR, WRITTEN),
        ("plate", PLATE, WRITTEN),
        *LINE_ROWS,
        ("state", STATUS + STOPPED + SAID_STOP + REFUSED + FEE, WORDED),
        ("sum_check", COST + LINES + CURRENCY, _("Checked by us.")),
        ("pays", (), TYPED),
        NOTE_ROW,
        ("reference", (), MADE),
        ("booking_id", BOOKING, AS_SENT),
    ),
    "ticket": (
        ("number", (), MADE),
        ("pin", (), MADE),
        ("link", (), MADE),
        ("headline", GUEST_HEADLINE, WORDED),
        ("detail", GUEST_DETAIL, WORDED),
        ("meet", (), SET_BY_US),
        ("drop", (), TYPED),
        ("plate", PLATE, WRITTEN),
        ("old_plate", OLD_PLATE, _("The plate of an earlier answer.")),
        ("car", CAR, WRITTEN),
        ("minutes", ETA, WRITTEN),
        ("code", CODE, _("As it was sent; shown for ten seconds.")),
        ("price", PRICED, WRITTEN),
        ("pays", PAID, WORDED),
    ),
}


def _elements() -> Iterator[Element]:
    for surface, rows in _TABLE.items():
        for name, sources, how in rows:
            yield Element(surface, name, tuple(dict.fromkeys(sources)), how)


ELEMENTS: Final = tuple(_elements())
