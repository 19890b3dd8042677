"""Rides for test_elements.py: together they show every field that an element of a page names."""

from datetime import timedelta
from typing import Any, Final

from tests.demo.lens.answers import (
    AUTO,
    AUTO_BILLED,
    AUTO_COMES,
    AUTO_OVER,
    AUTO_PRICED,
    BILL,
    BOOKED,
    METERED,
    OPTIONS,
    OTP,
    SHARE_PRICED,
    SHARED,
    UPFRONT,
    Bodies,
    Scene,
    driven,
    over,
)
from tests.views.ride_pages import NOON

ASK: Final = "ALLOTMENT_PENDING"
SEARCHING: Final = {"status": "SUCCESS", "booking_id": "CRN000001", "booking_status": ASK}
MATCHING: Final = {
    "status": "SUCCESS",
    "booking_id": None,
    "txn_id": "TX000001",
    "message": "All cars are taken.",
    "retry": {
        "booking_timeout": 240,
        "booking_timeout_unit": "SECONDS",
        "next_retry_time": "2026-05-04T14:01:00+05:30",
    },
}
MATCHED: Final = {
    "status": "SUCCESS",
    "booking_status": "CALL_DRIVER",
    "booking_id": "CRN000001",
    "message": "A driver was found.",
}
DROP_TAKEN: Final = {
    "status": "SUCCESS",
    "request_type": "Update User Booking Drop Location",
    "header": "SUCCESS",
    "text": "The fare may change.",
}
NEW_DROP: Final = {"payload": {"lat": -38.47, "lng": -127.9, "name": "Old Harbour"}}
CANCELLED: Final = {
    "status": "SUCCESS",
    "request_type": "BOOKING_CANCEL",
    "header": "SUCCESS",
    "text": "Your booking CRN000001 is cancelled.",
}
ABORTED: Final = {"status": "SUCCESS", "message": "The search is stopped.", "code": "SUCCESS"}


def action_facts(name: str, state: str = "done", **extra: Any) -> dict[str, Any]:
    """An action of staff, as facts of an order."""
    return {"actions": [(name, state, {"settled_at": NOON - timedelta(seconds=30)} | extra)]}


def bodies(products: Any, create: Any, *tracks: Any, **others: Any) -> Bodies:
    common = {"products": products, "create": create, "track_ride": list(tracks)}
    return common | {"options": OPTIONS} | others


UNPRICED: Final = METERED | {"ride_estimate": []}
BANNED: Final = {"status": "FAILURE", "code": "BANNED USER", "message": "The account is banned."}
SUMMED: Final = AUTO_OVER | {
    "trip_info": {k: v for k, v in BILL.items() if not k.startswith("night")}
}
SWAPPED: Final = driven("CALL_DRIVER", vehicle_number="KA05CD5671")
STOPPED: Final = SEARCHING | {"booking_status": "BOOKING_CANCELLED"}
LIT: Final = {"ride": {"swapped_at": NOON - timedelta(seconds=2)}}

SCENES: Final[dict[str, Scene]] = {
    "searching": Scene("point_to_point", ASK, bodies(METERED, BOOKED, SEARCHING)),
    "comes": Scene(
        "point_to_point",
        "CALL_DRIVER",
        bodies(METERED, BOOKED, driven("CALL_DRIVER"), drop_location=DROP_TAKEN),
        action_facts("drop", **NEW_DROP),
    ),
    "upfront": Scene(
        "point_to_point", "CALL_DRIVER", bodies(UPFRONT, BOOKED, driven("CALL_DRIVER"))
    ),
    "swapped": Scene(
        "point_to_point",
        "CALL_DRIVER",
        bodies(METERED, BOOKED, driven("CALL_DRIVER"), SWAPPED),
        LIT,
    ),
    "here": Scene(
        "point_to_point", "CLIENT_LOCATED", bodies(METERED, BOOKED, driven("CLIENT_LOCATED", **OTP))
    ),
    "riding": Scene(
        "point_to_point", "IN_PROGRESS", bodies(METERED, BOOKED, driven("IN_PROGRESS"))
    ),
    "over": Scene(
        "point_to_point",
        "COMPLETED",
        bodies(METERED, BOOKED, driven("IN_PROGRESS"), over()),
    ),
    "nested": Scene(
        "point_to_point",
        "CALL_DRIVER",
        bodies(
            METERED,
            BOOKED,
            {k: v for k, v in driven("CALL_DRIVER").items() if not k.startswith("vehicle_")}
            | {
                "cab_details": {
                    "cab_type": "mini",
                    "cab_number": "KA01AB1234",
                    "car_model": "Tata Tiago",
                    "car_color": "white",
                }
            },
        ),
    ),
    "matching": Scene(
        "share",
        ASK,
        bodies(SHARE_PRICED, MATCHING),
        state="MATCHING",
    ),
    "matched": Scene(
        "share",
        "CALL_DRIVER",
        bodies(SHARE_PRICED, MATCHING, MATCHED, driven("CALL_DRIVER", **SHARED)),
    ),
    "shared": Scene(
        "share",
        "INVOICE",
        bodies(SHARE_PRICED, BOOKED, driven("INVOICE", **SHARED, **OTP)),
    ),
    "auto_comes": Scene("auto", "CALL_DRIVER", bodies(AUTO_PRICED, BOOKED, AUTO_COMES)),
    "auto_billed": Scene("auto", "INVOICE", bodies(AUTO_PRICED, BOOKED, AUTO_COMES, AUTO_BILLED)),
    "auto_over": Scene("auto", "COMPLETED", bodies(AUTO_PRICED, BOOKED, AUTO_COMES, AUTO_OVER)),
    "auto_unbilled": Scene(
        "auto",
        "COMPLETED",
        bodies(
            AUTO_PRICED,
            BOOKED,
            AUTO | {"booking_status": "COMPLETED", "trip_info": {"billing_enabled": False}},
        ),
    ),
    "cancelled": Scene(
        "point_to_point",
        "BOOKING_CANCELLED",
        bodies(METERED, BOOKED, driven("CALL_DRIVER"), STOPPED, cancel=CANCELLED),
        action_facts("cancel"),
    ),
    "charged": Scene(
        "point_to_point",
        "BOOKING_CANCELLED",
        bodies(METERED, BOOKED, driven("CALL_DRIVER"), STOPPED, cancel=CANCELLED),
        action_facts("cancel") | {"ride": {"allotted_at": NOON - timedelta(minutes=6)}},
    ),
    "aborted": Scene(
        "point_to_point",
        "BOOKING_CANCELLED",
        bodies(METERED, BOOKED, STOPPED, abort=ABORTED),
        action_facts("abort"),
    ),
    "unpriced": Scene("point_to_point", ASK, bodies(UNPRICED, BOOKED, SEARCHING)),
    "waiting": Scene("point_to_point", None, bodies(METERED, {}), state="WAITING"),
    "planned": Scene("point_to_point", None, bodies(METERED, {}), state="SCHEDULED"),
    "rejected": Scene("point_to_point", None, bodies(METERED, BANNED), state="REJECTED"),
    "hindi": Scene(
        "point_to_point",
        "CLIENT_LOCATED",
        bodies(METERED, BOOKED, driven("CLIENT_LOCATED", car_model="Tata Tiago", **OTP)),
        language="hi",
    ),
    "auto_summed": Scene("auto", "COMPLETED", bodies(AUTO_PRICED, BOOKED, AUTO_COMES, SUMMED)),
    "refused": Scene(
        "point_to_point",
        "CALL_DRIVER",
        bodies(
            METERED,
            BOOKED,
            driven("CALL_DRIVER"),
            cancel={
                "status": "FAILURE",
                "request_type": "BOOKING_CANCEL",
                "reason": "CANCELLATION_NOT_ALLOWED",
                "header": "Oops!",
                "text": "Your driver is almost there.",
            },
        ),
        action_facts("cancel", "refused"),
    ),
}

# what is changed in each scene: beginnings of "operation /pointer"
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "searching": (
        "create ",
        "products ",
    ),
    "comes": (
        "track_ride ",
        "create /booking_id",
        "drop_location ",
        "products ",
    ),
    "upfront": ("products /ride_estimate",),
    "swapped": ("track_ride /vehicle_number",),
    "here": (
        "track_ride /otp",
        "track_ride /vehicle_number",
    ),
    "riding": (
        "track_ride /duration",
        "track_ride /price_details",
    ),
    "over": (
        "track_ride /price_details",
        "options ",
        "products /categories/*/currency",
    ),
    "nested": ("track_ride /cab_details",),
    "matching": (
        "create ",
        "products /ride_estimate",
    ),
    "matched": (
        "track_ride /passengers",
        "track_ride /route",
    ),
    "shared": (
        "track_ride /price_details",
        "track_ride /passengers",
    ),
    "auto_comes": ("track_ride ",),
    "auto_billed": (
        "track_ride /trip_info",
        "track_ride /svc",
        "products /categories/*/currency",
    ),
    "auto_over": (
        "track_ride /trip_info",
        "track_ride /svc",
        "track_ride /pickup_time",
        "products /categories/*/currency",
    ),
    "auto_unbilled": ("track_ride ",),
    "cancelled": ("cancel ",),
    "charged": ("products /categories/*/cancellation",),
    "aborted": ("abort ",),
    "unpriced": ("products ",),
    "waiting": ("products ",),
    "planned": ("products /ride_estimate",),
    "rejected": ("create ",),
    "hindi": (
        "track_ride /otp",
        "track_ride /car_model",
    ),
    "auto_summed": ("track_ride /trip_info",),
    "refused": ("cancel ",),
}
