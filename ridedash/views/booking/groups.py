"""The page of a group of cars: each car is an order; those that could not be booked are named."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request
from sqlalchemy import select
from werkzeug.wrappers import Response as BaseResponse

from ridedash import wire
from ridedash.extensions import services
from ridedash.rides.states import has_failed
from ridedash.store.orders import Order, OrderPage, OrderState, order_page, orders_by_ids
from ridedash.views.rides.view_model import ride_view
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _

bp = Blueprint("groups", __name__)
POLL_MS: Final = 3_000
ENDED_MS: Final = 30_000
WAITING: Final = frozenset({OrderState.READY, OrderState.SENDING, OrderState.MATCHING})


@dataclass(frozen=True)
class GroupCar:
    """One of a group: what became of it so far."""

    order_id: int
    number: int
    icon: str
    tone: str
    headline: str
    why: str
    plate: str
    name: str
    failed: bool
    live: bool


@bp.get("/groups/<int:order_id>")
@needs(SEE)
def show(order_id: int) -> str | BaseResponse:
    """All cars that were booked together with this one; a single ride has its own page."""
    pages = _group(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    cars = [_car(number, page) for number, page in enumerate(pages, 1)]
    said = {"cars": cars, "summary": summary(pages), "page": pages[0], "order_id": order_id}
    if not wants_json():
        return render_template("booking/groups.html", **said, wait_ms=POLL_MS)
    wait = POLL_MS if any(car.live for car in cars) else ENDED_MS
    answer: Response = jsonify(html=render_template("booking/_groups.html", **said), wait_ms=wait)
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer.make_conditional(request)


def summary(pages: list[OrderPage]) -> str:
    """How many of them are booked, and how many are not."""
    cancelled = sum(_cancelled(page) for page in pages)
    failed = sum(_failed(page) for page in pages) - cancelled
    unknown = sum(page.order.state == OrderState.UNKNOWN for page in pages)
    waiting = sum(page.order.state in WAITING for page in pages)
    planned = sum(page.order.state == OrderState.SCHEDULED for page in pages)
    booked = len(pages) - failed - unknown - waiting - planned - cancelled
    said = (
        (_("%(n)d booked", n=booked), booked),
        (_("%(n)d planned", n=planned), planned),
        (_("%(n)d waiting for the ride company", n=waiting), waiting),
        (_("%(n)d not known", n=unknown), unknown),
        (_("%(n)d cancelled", n=cancelled), cancelled),
        (_("%(n)d not booked", n=failed), failed),
    )
    return " · ".join(words for words, count in said if count)


def _group(order_id: int) -> list[OrderPage]:
    with services().db.read() as s:
        property_id = current_staff().property_id
        page = order_page(s, property_id, order_id)
        if page is None:
            abort(404)
        if page.order.group_key is None:
            return []
        query = select(Order.id).where(
            Order.property_id == property_id, Order.group_key == page.order.group_key
        )
        return orders_by_ids(s, property_id, s.scalars(query.order_by(Order.id)).all(), light=True)


def _cancelled(page: OrderPage) -> bool:
    return page.ride is not None and page.ride.status == wire.BOOKING_CANCELLED


def _failed(page: OrderPage) -> bool:
    state = OrderState(page.order.state)
    return state != OrderState.UNKNOWN and has_failed(
        state, page.ride.status if page.ride else None
    )


def _car(number: int, page: OrderPage) -> GroupCar:
    app = services()
    view = ride_view(page, app.clock(), app.settings, locale())
    loud = next(
        (notice.title for notice in view.notices if notice.tone in ("warn", "unknown", "bad")), ""
    )
    return GroupCar(
        order_id=page.order.id,
        number=number,
        icon=view.icon,
        tone=view.tone,
        headline=view.headline,
        why="" if loud.casefold() in view.headline.casefold() else loud,
        plate=view.cab.plate if view.cab and view.live else "",
        name=page.offer.display_name,
        failed=_failed(page),
        live=view.live,
    )
