"""RideClient: the eight operations of the ride booking service, one method each (Endpoints)."""

from collections.abc import Sequence

from ridedash.geo import LatLng
from ridedash.service.bookings import CreateAnswer, Done, FeedbackOptions, NewBooking
from ridedash.service.http import Http
from ridedash.service.products import ProductList
from ridedash.service.tracks import Snapshot


class RideClient:
    """The service, seen by us. `token` is a user's bearer token. Safe to share between threads.

    All but create_booking raise the tree of `errors`; local nonsense raises ValueError before anything is sent.
    """

    def __init__(self, http: Http, base_url: str, app_token: str) -> None:
        raise NotImplementedError

    def products(
        self, pickup: LatLng, drop: LatLng | None = None, category: str | None = None, token: str | None = None
    ) -> ProductList:
        """What can be booked at a pickup; with a drop, estimates too (Endpoints, 6)."""
        raise NotImplementedError

    def create_booking(self, order: NewBooking, token: str) -> CreateAnswer:
        """Create a booking, once, on a fresh connection (Endpoints, 1). Raises errors.NoAnswer only."""
        raise NotImplementedError

    def abort_booking(self, booking_id: str, token: str) -> Done:
        """Stop the search for a cab (Endpoints, 2). Refused with BOOKING_ALLOTED when one is allotted."""
        raise NotImplementedError

    def update_drop_location(self, booking_id: str, drop: LatLng, token: str) -> Done:
        """Change where the ride goes (Endpoints, 3). Refused with `header` and `text`, without a code."""
        raise NotImplementedError

    def cancel_booking(self, booking_id: str, reason: str, token: str) -> Done:
        """Cancel an allotted ride (Endpoints, 4). Refused with reason CANCELLATION_NOT_ALLOWED."""
        raise NotImplementedError

    def track_ride(self, token: str, *, booking_id: str | None = None, txn_id: str | None = None) -> Snapshot:
        """How a ride stands (Endpoints, 5); exactly one of the two ids."""
        raise NotImplementedError

    def submit_feedback(
        self, booking_id: str, rating: int, token: str, feedback: Sequence[str] = (), comments: str | None = None
    ) -> Done:
        """Rate a ride 1 to 5, with labels from feedback_options (Endpoints, 7)."""
        raise NotImplementedError

    def feedback_options(self, category: str, token: str, sub_category: str | None = None) -> FeedbackOptions:
        """The labels by rating (Endpoints, 8), kept for 24 h; the document's when the service gives none."""
        raise NotImplementedError
