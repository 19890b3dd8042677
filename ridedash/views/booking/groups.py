"""The page of a group of cars.

Each car is an order; the page says which cars could not be booked.
"""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request
from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute
from werkzeug.wrappers import Response as BaseResponse

from ridedash import wire
from ridedash.extensions import services
from ridedash.rides.state.codes import WITHDRAWN
from ridedash.rides.state.states import has_failed
from ridedash.service.types.products import Product
from ridedash.store.orders import Order, OrderPage, OrderState, order_page, orders_by_ids
from ridedash.views.booking.undo import undo_of
from ridedash.views.rides.components import NO_CAB
from ridedash.views.rides.offer_price import ProductPrice, fixed_price, money_range, product_price
from ridedash.views.rides.view_model import ride_view
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _
from ridedash.wording import ngettext

bp = Blueprint("groups", __name__)
POLL_MS: Final = 3_000
ENDED_MS: Final = 30_000
# the stage of an order by its state, and of a ride by its status; `stage` uses them
ORDER_STAGES: Final = {
    OrderState.UNKNOWN: "unknown",
    OrderState.READY: "waiting",
    OrderState.SENDING: "waiting",
    OrderState.MATCHING: "waiting",
    OrderState.SCHEDULED: "planned",
}
RIDE_STAGES: Final = {
    wire.CLIENT_LOCATED: "here",
    wire.CALL_DRIVER: "coming",
    wire.IN_PROGRESS: "riding",
    wire.COMPLETED: "over",
    wire.BOOKING_CANCELLED: "cancelled",
}


@dataclass(frozen=True)
class GroupCar:
    """One car of a group, with its present state."""

    order_id: int
    number: int
    icon: str
    tone: str
    headline: str
    why: str
    guest: str
    room: str
    plate: str
    spelled: str
    name: str
    fare: str
    failed: bool
    live: bool


@bp.get("/groups/<int:order_id>")
@needs(SEE)
def show(order_id: int) -> str | BaseResponse:
    """All cars of the group of this order; a ride without a group redirects to its own page."""
    pages = group_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    cars = [car_of(number, page) for number, page in enumerate(pages, 1)]
    facts = group_facts(order_id, pages) | {"cars": cars, "summary": summary(pages)}
    any_live = any(car.live for car in cars)
    facts["stoppable"] = any_live
    if not wants_json():
        undo = undo_of(pages)
        return render_template("booking/groups.html", **facts, undo=undo, wait_ms=POLL_MS)
    wait = POLL_MS if any_live else ENDED_MS
    answer: Response = jsonify(html=render_template("booking/_groups.html", **facts), wait_ms=wait)
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer.make_conditional(request)


def group_of(order_id: int) -> list[OrderPage]:
    """All orders in an order's group, sorted; empty for a single ride."""
    return pages_together(order_id, Order.group_key)


def pages_together(
    order_id: int, key: InstrumentedAttribute[str | None], *, light: bool = False
) -> list[OrderPage]:
    """All orders that share this key with an order, sorted by pickup time and id.

    Empty without a key. `light` is explained at orders_by_ids.
    """
    with services().db.read() as s:
        property_id = current_staff().property_id
        page = order_page(s, property_id, order_id)
        if page is None:
            abort(404)
        shared = getattr(page.order, key.key)
        if shared is None:
            return []
        query = select(Order.id).where(Order.property_id == property_id, key == shared)
        query = query.order_by(Order.pickup_at, Order.id)
        return orders_by_ids(s, property_id, s.scalars(query).all(), light=light)


def group_facts(order_id: int, pages: list[OrderPage]) -> dict[str, Any]:
    """The facts at the top of every page of a group."""
    guests = list(dict.fromkeys(page.guest.name for page in pages))
    return {
        "order_id": order_id,
        "page": pages[0],
        "several": len(guests) > 1,
        "title": _title(len(pages), guests),
        "together": together(pages, locale()),
    }


def _title(cars: int, guests: list[str]) -> str:
    first, *others = guests
    if not others:
        return ngettext(
            "%(num)d car for %(guest)s", "%(num)d cars for %(guest)s", cars, guest=first
        )
    return ngettext(
        "%(num)d car for %(guest)s and %(more)d more",
        "%(num)d cars for %(guest)s and %(more)d more",
        cars,
        guest=first,
        more=len(others),
    )


def summary(pages: list[OrderPage]) -> str:
    """How many cars are in each stage: "2 of 3 here · 1 on the way"."""
    count = Counter(stage(page) for page in pages)
    stages = {
        "here": _("%(n)d of %(cars)d here", n=count["here"], cars=len(pages)),
        "coming": _("%(n)d on the way", n=count["coming"]),
        "searching": _("%(n)d looking for a driver", n=count["searching"]),
        "riding": _("%(n)d riding", n=count["riding"]),
        "over": _("%(n)d arrived", n=count["over"]),
        "planned": _("%(n)d planned", n=count["planned"]),
        "waiting": _("%(n)d waiting for the ride company", n=count["waiting"]),
        "unknown": _("%(n)d not known", n=count["unknown"]),
        "cancelled": _("%(n)d cancelled", n=count["cancelled"]),
        "failed": _("%(n)d not booked", n=count["failed"]),
    }
    return " · ".join(words for name, words in stages.items() if count[name])


def stage(page: OrderPage) -> str:
    """How far an order of a group is: one of the names that `summary` counts."""
    state = OrderState(page.order.state)
    ride = page.ride
    status = ride.status if ride else None
    if status == wire.BOOKING_CANCELLED or page.order.code == WITHDRAWN:
        return "cancelled"
    if state in ORDER_STAGES:
        return ORDER_STAGES[state]
    if has_failed(state, status):
        return "failed"
    if status == wire.INVOICE:  # an auto has INVOICE after the ride, any other car before it
        return "over" if page.order.kind == wire.Kind.AUTO else "here"
    return RIDE_STAGES.get(status or "", "searching")


def together(pages: list[OrderPage], locale: str) -> str:
    """The price of all cars at booking, "3 × ₹84 = ₹252"; "" if a car has no price."""
    prices = [_price(page, locale) for page in pages]
    bounds = [price.bounds for price in prices if price is not None and price.bounds is not None]
    if len(bounds) != len(pages):
        return ""
    currency = pages[0].offer.currency
    first = prices[0]
    if len(set(bounds)) == 1 and first is not None:
        return first.times(len(pages), currency, locale)
    low, high = (sum(ends, Decimal(0)) for ends in zip(*bounds, strict=True))
    shown = money_range(low, high, currency, locale)
    hedged = next((price.hedge for price in prices if price is not None and price.hedge), "")
    if not hedged:
        return shown
    return hedged.replace("%(price)s", shown)


def _price(page: OrderPage, locale: str) -> ProductPrice | None:
    offer = page.offer
    seats = (offer.seat_prices or {}).get(str(page.order.seats))
    if seats is not None:
        return fixed_price(Decimal(seats), offer.currency, locale)
    try:
        product = Product.model_validate(offer.product)
    except ValidationError:
        return None
    return product_price(product, offer.drop_lat is not None, locale)


def car_of(number: int, page: OrderPage) -> GroupCar:
    """A car as the group's pages show it."""
    app = services()
    view = ride_view(page, app.clock(), app.time(), locale())
    loud = next(
        (notice.title for notice in view.notices if notice.tone in ("warn", "unknown", "bad")), ""
    )
    cab = NO_CAB
    if view.cab and view.live:
        cab = view.cab
    return GroupCar(
        order_id=page.order.id,
        number=number,
        icon=view.icon,
        tone=view.tone,
        headline=view.headline,
        why="" if loud.casefold() in view.headline.casefold() else loud,
        guest=page.guest.name,
        room=page.order.room or "",
        plate=cab.plate,
        spelled=cab.spelled,
        name=page.offer.display_name,
        fare=view.fare,
        failed=stage(page) in ("failed", "cancelled"),
        live=view.live,
    )
