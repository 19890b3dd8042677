"""The feedback labels by rating, equal for all categories.

See docs/service-interface.md Feedback options.
"""

from typing import Any, Final

from ridedash import wire
from ridedash.sandbox.pricing.categories import CATEGORY_IDS
from ridedash.sandbox.request_parsing import RequestRefusal, bad_request

COMPLAINTS: Final = (
    "Delayed Pick up",
    "Driver Unprofessional",
    "Driver Untrained",
    "Unsafe Driving",
    "Car Quality",
    "Incorrect Billing",
    "Dropped at wrong location",
    "Not Value for Money",
)
PRAISE: Final = (
    "Polite and professional driver",
    "On-time pickup",
    "Comfortable feature-rich car",
    "Driver familiar with the route",
    "Value for Money",
)
NEEDS_SUB_CATEGORY: Final = frozenset({"rental", "outstation"})


def options(category: str, sub_category: str) -> dict[str, Any]:
    """The body of the answer to feedback_options.

    Raises RequestRefusal for a missing or unknown category, and for rental or outstation without a
    sub_category.
    """
    if not category:
        raise bad_request("category is required")
    if category not in CATEGORY_IDS | NEEDS_SUB_CATEGORY:
        message = "There is no such category"
        raise RequestRefusal(
            200, {"status": wire.FAILURE, "code": wire.INVALID_CAR_CATEGORY, "message": message}
        )
    if category in NEEDS_SUB_CATEGORY and not sub_category:
        raise bad_request("sub_category is required for outstation and rental")
    labels = {str(rating): list(COMPLAINTS) for rating in range(1, 5)} | {"5": list(PRAISE)}
    return {"status": wire.SUCCESS, "driver_feedback_options": labels}
