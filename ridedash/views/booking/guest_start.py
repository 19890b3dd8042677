"""The page on which staff let a guest start a ride: until when, and for which price at most."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final
from zoneinfo import ZoneInfo

from flask import redirect, render_template, request
from pydantic import ValidationError
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.inputs import time_of_day, whole_number
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guest_start import (
    LONGEST,
    MOST_MINOR,
    SHORTEST,
    Limits,
    price_of,
    wait_for_guest,
)
from ridedash.rides.orders.place import OfferUnknown
from ridedash.rides.times.schedule_times import NoSuchTime, local_time
from ridedash.service.types.products import Product
from ridedash.store.orders import Offer
from ridedash.views.booking.view_model import BookingPage
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.views.web.formatting import money
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

USUAL: Final = timedelta(hours=3)
ROOM: Final = Decimal("1.25")  # the proposed ceiling, as a multiple of the present price
ROUND: Final = 10  # the proposed ceiling is rounded up to a multiple of this
OWN_FIELDS: Final = ("csrf_token", "until", "ceiling")


@dataclass
class TypedLimits:
    """The two typed fields, with their errors by field."""

    until: str
    ceiling: str
    wrong: dict[str, str] = field(default_factory=dict)


def let_guest_start(
    page: BookingPage, wanted: BookingRequest, offer: Offer | None
) -> str | Response | tuple[str, int]:
    """Ask for the limits of a ride that the guest starts; store it, and redirect to its page.

    Raises what `wait_for_guest` raises.
    """
    if offer is None:
        raise OfferUnknown(f"offer {wanted.offer_id}")
    app = services()
    now = app.clock()
    tz = page.form.tz
    price = _price(offer, wanted.seats)
    planned = wanted.pickup_at is not None or wanted.back_at is not None
    if price is None or planned or wanted.cars > 1:
        return _page(page, offer, None), 422
    if "until" not in request.form:
        return _page(page, offer, _proposed(now, tz, price))
    limits = TypedLimits(request.form.get("until", "")[:20], request.form.get("ceiling", "")[:20])
    until = _until(limits, now, tz)
    ceiling = whole_number(limits.ceiling, 1, MOST_MINOR // 100)
    if ceiling is None:
        limits.wrong["ceiling"] = _("Type a whole amount, such as 300.")
    elif ceiling < price:
        least = money(price, offer.currency, locale())
        costs = _("The car costs up to %(least)s now: allow that.", least=least)
        goes = _("The estimate goes up to %(least)s now: allow that.", least=least)
        limits.wrong["ceiling"] = costs if offer.seat_prices else goes
    if until is None or ceiling is None or limits.wrong:
        return _page(page, offer, limits), 422
    placed = wait_for_guest(app.db, app.clock, wanted, Limits(until, Decimal(ceiling)))
    return redirect(f"/rides/{placed.order_id}", code=303)


def _price(offer: Offer, seats: int | None) -> Decimal | None:
    """The highest price of the offer; None if it can't have a ceiling."""
    try:
        return price_of(Product.model_validate(offer.product), seats)
    except ValidationError:
        return None


def _proposed(now: datetime, tz: ZoneInfo, price: Decimal) -> TypedLimits:
    steps = (price * ROOM / ROUND).to_integral_value(ROUND_CEILING)
    return TypedLimits(f"{(now + USUAL).astimezone(tz):%H:%M}", str(int(steps) * ROUND))


def _until(limits: TypedLimits, now: datetime, tz: ZoneInfo) -> datetime | None:
    """The next instant at which local clocks show the typed time, in UTC.

    None, with an error in `limits`, if the text is no time, or that time is skipped or too soon.
    """
    clock = time_of_day(limits.until)
    if clock is None:
        limits.wrong["until"] = _("Until what time? Choose one, such as 23:00.")
        return None
    try:
        at = _next(clock, now, tz)
    except NoSuchTime:
        limits.wrong["until"] = _("That time does not exist tonight: clocks go forward.")
        return None
    if not SHORTEST <= at - now <= LONGEST:
        limits.wrong["until"] = _("Choose a time at least 10 minutes from now.")
        return None
    return at.astimezone(UTC)


def _next(clock: time, now: datetime, tz: ZoneInfo) -> datetime:
    """The next instant at which clocks show this time.

    Raises NoSuchTime if a future clock change skips it.
    """
    day = now.astimezone(tz).date()
    try:
        shown = local_time(day, clock, tz)
    except NoSuchTime as gap:
        if datetime.combine(day, gap.after, tz) > now:
            raise
    else:
        second = datetime.combine(day, clock, tz).replace(fold=1) if shown.twice else shown.at
        for at in (shown.at, second):
            if at > now:
                return at
    return local_time(day + timedelta(days=1), clock, tz).at


def _page(page: BookingPage, offer: Offer, limits: TypedLimits | None) -> str:
    """The page; without limits it says that this is not possible for the ride."""
    fields = [
        (name, value)
        for name, values in request.form.lists()
        for value in values
        if name not in OWN_FIELDS
    ]
    return render_template(
        "booking/guest_start.html",
        limits=limits,
        fields=fields,
        guest=page.form.guest_name.data,
        offer=offer,
        price=offer_price_text(offer, locale()),
        metered=not offer.seat_prices,
        currency=offer.currency or page.desk.home.currency or "",
        zone=page.form.tz.key,
    )
