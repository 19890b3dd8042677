"""The guest's phone of the stage: it shows the newest ride, by a link of its own.

A ride whose booking is still being sent is left out. Otherwise a ride that is refused a moment
later would appear on the phone or not, depending on the moment of the poll.
"""

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.rides.share_links import RideOver, give_link, token_of
from ridedash.rides.state.states import BEING_SENT
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Order
from ridedash.views.web.current_user import current_staff


class Newest(NamedTuple):
    """The id and the partner reference of an order."""

    order_id: int
    mtx: str


def newest(s: Session, property_id: int) -> Newest | None:
    """The newest order of a property that is not being sent; None without any."""
    settled = Order.property_id == property_id, Order.state.not_in(BEING_SENT)
    query = select(Order.id, Order.mtx).where(*settled).order_by(Order.id.desc()).limit(1)
    row = s.execute(query).first()
    if row is None:
        return None
    return Newest(*row)


def link_of(found: Newest) -> str:
    """The address of the guest's page of a ride. Its link is made once; "" for a ride without one.

    A ride that is over before its link is made gets none.
    """
    here = services()
    token = token_of(here.settings.secret_key, f"stage|{found.mtx}")
    try:
        give_link(here.db, here.clock(), found.order_id, by_staff(current_staff().id), token)
    except (RideOver, LookupError):
        return ""
    return f"/t/{token}"


def give_newest(property_id: int) -> None:
    """Make the link of the newest ride, if it has none yet.

    Called before a story moves the clock, because the ride's page shows the service time at which
    the link was made, and before it acts on a ride, because a ride that is over gets no link.
    """
    with services().db.read() as s:
        found = newest(s, property_id)
    if found is not None:
        link_of(found)
