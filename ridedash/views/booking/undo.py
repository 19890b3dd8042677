"""Undoes a press that cancelled several rides of a series or a group.

This is possible for some seconds, and only for rides that were not sent to the service
(`undo_until`). The form lists the rides to restore, so that a press only affects what was shown.
Rides that were cancelled by several presses within these seconds are all restored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import redirect, request
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.inputs import row_id
from ridedash.rides.orders.resolve import undo_until, undo_withdrawals
from ridedash.store.orders import OrderPage
from ridedash.views.web.current_user import current_staff


@dataclass(frozen=True)
class Undo:
    """The rides that a press would restore.

    `left_ms`: the milliseconds until the first of them can't be restored any more.
    """

    order_ids: tuple[int, ...]
    left_ms: int


def undo_of(pages: Sequence[OrderPage]) -> Undo | None:
    """What can be undone now for these rides; None for nothing."""
    now = services().clock()
    ends = {page.order.id: undo_until(page.order) for page in pages}
    left = {each: end - now for each, end in ends.items() if end is not None and end > now}
    if not left:
        return None
    return Undo(tuple(left), int(min(left.values()).total_seconds() * 1000))


def bring_back(pages: Sequence[OrderPage], address: str) -> Response:
    """Restore those rides of `pages` that the form lists, then show the page at `address`.

    The page says so if it was too late for all of them. A listed ride that is not one of `pages`,
    and so may be another property's, stays as it is.
    """
    listed = {row_id(each) for each in request.form.getlist("ride")}
    ids = [page.order.id for page in pages if page.order.id in listed]
    s = services()
    back = undo_withdrawals(s.db, s.clock, ids, current_staff().id)
    s.wake()
    return redirect(address if back else f"{address}?said=late", 303)
