"""The start code told to staff: only while there is one, counted, and each time recorded."""

from typing import Final

from ridedash.ext import limiter, services
from ridedash.rides.rows import otp_of
from ridedash.store import audit
from ridedash.store.orders import OrderPage
from ridedash.views.auth import current_staff
from ridedash.views.presenters import RideView

showings: Final = limiter.shared_limit(  # of the ride's page and of printed cards together
    "10/hour", scope="start_code", key_func=lambda: f"staff:{current_staff().get_id()}"
)


def reveal(page: OrderPage, view: RideView) -> str:
    """The code in clear, recorded; "" when there is none now."""
    s, staff, ride = services(), current_staff(), page.ride
    code = otp_of(ride, s.vault) if view.otp is not None and ride is not None else None
    if code is None:
        return ""
    with s.db.write() as db:
        audit.record(
            db, f"staff:{staff.id}", "code_shown", f"orders:{page.order.id}", "ok", s.clock(),
            property_id=staff.property_id,
        )  # fmt: skip
    return code
