"""A series of planned rides: its dates before the press, its page, cancelling from one ride on."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.forms.several import SeriesRequest, read_series
from ridedash.inputs import calendar_day, row_id, time_of_day, whole_number
from ridedash.rides.orders.onward import withdraw_onward
from ridedash.rides.times.schedule_times import dates_key
from ridedash.rides.times.typed_time import read_day
from ridedash.store.models.people import Property
from ridedash.store.orders import Order, OrderPage, OrderState
from ridedash.views.booking.form import dates_of
from ridedash.views.booking.groups import GroupCar, car_of, pages_together
from ridedash.views.booking.undo import bring_back, undo_of
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import weekday_time, zone
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import ngettext
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import SECOND

bp = Blueprint("series", __name__)
Answer = str | tuple[str, int] | BaseResponse


@dataclass(frozen=True)
class SeriesLine:
    """One ride of a series, with its time and state.

    `onward`: it is the ride of the page or a later one, and still planned.
    """

    car: GroupCar
    at: str
    planned: bool
    onward: bool


@bp.get("/series.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def preview() -> BaseResponse:
    """The dates of a series that is not made yet: `html` shows them, `key` records that they were
    shown, `n` is their number; or only `words` on what to choose first.

    The parameter `days` has weekdays: "0,2" is Monday and Wednesday.
    """
    args = request.args
    with services().db.read() as s:
        tz = zone(s.get_one(Property, current_staff().property_id).timezone)
    now = services().clock()
    today = now.astimezone(tz).date()
    typed = map(whole_number, args.get("days", "").split(","))
    days = frozenset(day for day in typed if day is not None)
    clock = time_of_day(args.get("pickup_time", ""))
    series = SeriesRequest(
        calendar_day(args.get("pickup_date", "")),
        read_day(args.get("last_day", "")[:200], today, time_words(locale())),
        days,
        clock.replace(fold=int(args.get("pickup_which") == SECOND)) if clock else None,
    )
    try:
        rides = read_series(series, tz, now)
    except ValueError as error:
        return jsonify(words=str(error))
    html = render_template("booking/_dates.html", dates=dates_of(rides, tz))
    return jsonify(html=html, key=dates_key(rides), n=len(rides))


@bp.get("/series/<int:order_id>")
@needs(SEE)
def show(order_id: int) -> Answer:
    """All rides of the series that this one belongs to."""
    pages = _series_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    return render_template("booking/series.html", **_facts(order_id, pages))


@bp.get("/series/<int:order_id>/cancel")
@needs(BOOK)
def ask(order_id: int) -> Answer:
    """Show which rides would be cancelled together with this one."""
    pages = _series_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    return render_template("booking/series_stop.html", **_facts(order_id, pages))


@bp.post("/series/<int:order_id>/cancel")
@needs(BOOK)
def cancel(order_id: int) -> Answer:
    """Cancel the rides that the page listed and that are still planned."""
    if not _series_of(order_id):
        return redirect(f"/rides/{order_id}", 303)
    app = services()
    shown = {row_id(each) for each in request.form.getlist("ride")} - {None}
    listed = {each for each in shown if each is not None}
    withdraw_onward(app.db, app.clock, order_id, current_staff().id, listed)
    app.wake()
    return redirect(f"/series/{order_id}", 303)


@bp.post("/series/<int:order_id>/restore")
@needs(BOOK)
def restore(order_id: int) -> Answer:
    """Undo the cancelling; this is possible for some seconds."""
    return bring_back(_series_of(order_id), f"/series/{order_id}")


def _series_of(order_id: int) -> list[OrderPage]:
    """All orders of an order's series, by pickup time; empty for a ride without a series."""
    return pages_together(order_id, Order.series_key, light=True)


def _facts(order_id: int, pages: list[OrderPage]) -> dict[str, Any]:
    first = next(page for page in pages if page.order.id == order_id)
    lines = [_line(number, page, first) for number, page in enumerate(pages, 1)]
    return {
        "order_id": order_id,
        "page": first,
        "lines": lines,
        "undo": undo_of(pages),
        "onward": [line for line in lines if line.onward],
        "planned": sum(line.planned for line in lines),
        "title": ngettext(
            "%(num)d ride for %(guest)s",
            "%(num)d rides for %(guest)s",
            len(pages),
            guest=first.guest.name,
        ),
    }


def _line(number: int, page: OrderPage, first: OrderPage) -> SeriesLine:
    order = page.order
    tz = zone(page.property.timezone)
    at = (order.pickup_at or order.due_at).astimezone(tz)
    planned = order.state == OrderState.SCHEDULED
    later = (first.order.pickup_at or first.order.due_at) <= (order.pickup_at or order.due_at)
    return SeriesLine(
        car=car_of(number, page),
        at=weekday_time(at, tz, locale()),
        planned=planned,
        onward=planned and later,
    )
