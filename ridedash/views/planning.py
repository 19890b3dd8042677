"""Planned rides in the booking form: the pickup time in words, a plan filled in again, and its changes."""

from flask import redirect
from werkzeug.wrappers import Response

from ridedash.ext import services
from ridedash.rides.drafting import Wish
from ridedash.rides.scheduling import Change, Overtaken, TooLate, change
from ridedash.service.bookings import NewBooking
from ridedash.service.products import Product
from ridedash.store.orders import OrderPage, OrderState, Priced, order_page
from ridedash.views.estimating import priced
from ridedash.views.formats import zone
from ridedash.views.picker import Picker
from ridedash.views.product_cards import card


def describe(product: Product, has_drop: bool) -> Priced:
    """What the worker stores of a product: as a card would show it."""
    return priced(product, card(product, has_drop=has_drop, locale="en"))


def refill(picker: Picker, page: OrderPage) -> None:
    """Put all that a planned ride is made of into the form that changes it."""
    form, order = picker.form, page.order
    picker.refill(page)
    picker.again, form.supersedes.data = None, None
    take(picker, page)
    form.change.data, form.version.data = order.id, order.version
    form.coupon.data = NewBooking.model_validate_json(order.body).coupon_code
    if order.pickup_at is not None:
        at = order.pickup_at.astimezone(zone(page.property.timezone))
        form.when.data, form.pickup_date.data, form.pickup_time.data = "later", f"{at:%Y-%m-%d}", f"{at:%H:%M}"


def take(picker: Picker, page: OrderPage | None) -> None:
    """The form is about this plan: its pickup time may stay, however near it is by now."""
    picker.changing = page
    picker.form.kept_pickup = page.order.pickup_at if page else None


def is_plan(page: OrderPage | None) -> bool:
    """Whether an order can be changed."""
    return page is not None and page.order.state == OrderState.SCHEDULED


def carry_out(picker: Picker, wish: Wish) -> Response:
    """Change the plan that the form is about, then its page. Raises what `change` raises, but for TooLate."""
    form, app = picker.form, services()
    order_id = int(form.change.data)
    try:
        change(app.db, app.clock, Change(order_id, form.version.data or 0, wish))
    except TooLate:
        return redirect(f"/rides/{order_id}?said=change-not_now", 303)
    except Overtaken:
        with app.db.read() as s:
            page = order_page(s, wish.property_id, order_id)
        form.version.data, form.version.raw_data = page.order.version if page else 0, None
        raise
    app.wake()
    return redirect(f"/rides/{order_id}?said=change-done", 303)
