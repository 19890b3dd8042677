"""The booking form on pages: its view model, its templates' context, planned rides, errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import redirect
from werkzeug.wrappers import Response
from wtforms.fields.choices import SelectChoice

from ridedash.extensions import services
from ridedash.fits import MOST_BAGS, MOST_PEOPLE
from ridedash.forms import BookingForm, TripForm, new_form_token
from ridedash.rides.orders.change import Change, Overtaken, TooLate, change
from ridedash.rides.orders.fields import LANGUAGES, BookingRequest, Refill, control_of
from ridedash.rides.orders.guard import GuardBusy, OpenRide
from ridedash.rides.orders.onward import NoCarLater, change_onward
from ridedash.rides.orders.place import OfferStale, RequestRefused
from ridedash.rides.orders.schedule_times import SERIES_LATEST, SeriesRide, dates_key
from ridedash.store import guests
from ridedash.store.accounts import accounts_of
from ridedash.store.capacities import capacities_of
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner
from ridedash.store.orders import Offer, OrderPage, OrderState, order_page
from ridedash.store.properties import cost_centres_of, favourites_of
from ridedash.views.booking.estimates import EstimateFailedError, Estimator
from ridedash.views.booking.flights import flight_of, way_of
from ridedash.views.booking.pickup_times import pickup_message, quick_times
from ridedash.views.booking.suggestions import Suggestion, suggested
from ridedash.views.booking.view_model import BookingPage, read_ends
from ridedash.views.web import formatting
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_text, weekday_time, zone
from ridedash.views.web.own_words import languages_for
from ridedash.views.web.responses import locale
from ridedash.wording import Audience, refusal
from ridedash.wording import gettext as _
from ridedash.wording.languages import ENGLISH
from ridedash.wording.time_words import examples, time_words
from ridedash.wording.typed_times import pass_of, pass_words

# The page fetches prices again before an offer's two minutes are over; sooner if a demo's clock
# runs faster than real time.
FRESH_MS: Final = 100_000
FRESH_LEAST_MS: Final = 3_000


@dataclass(frozen=True)
class ShownDate:
    """One date of a series that is about to be made; `moved` says how a clock change affects it."""

    words: str
    moved: str


def dates_of(rides: Sequence[SeriesRide], tz: ZoneInfo) -> list[ShownDate]:
    """The dates of a series, as they are shown before the press."""
    return [
        ShownDate(weekday_time(ride.at, tz, locale()), _clock_change(ride, tz)) for ride in rides
    ]


def _clock_change(ride: SeriesRide, tz: ZoneInfo) -> str:
    """How a clock change affects the time of a ride; "" if it does not."""
    if ride.moved:
        return _("clocks go forward: the time as typed does not exist on that day")
    return pass_words(ride.at, tz)


def compact_form() -> dict[str, Any]:
    """The context of `booking/_compact.html`: an empty form with the property's own pickup."""
    booking_page = new_page(clean=True)
    booking_page.pickup, booking_page.drop = read_ends(
        TripForm(), services().geocoder, booking_page.home, search=False
    )
    return context(booking_page)


def new_page(*, clean: bool = False) -> BookingPage:
    """A booking page with the posted form, if any; `clean` requests an empty form."""
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        accounts, centres = accounts_of(s, home.id), cost_centres_of(s, home.id)
        favourites = favourites_of(s, home.id)
        capacities = capacities_of(s, home.id)
    posted = {"formdata": None} if clean else {}
    form = BookingForm(
        now=services().clock(),
        tz=formatting.zone(home.timezone),
        country=home.country,
        words=time_words(locale()),
        **posted,
    )
    if form.guest_id.data:
        with services().db.read() as s:
            form.known_phones = guests.phones_of(s, home.id, form.guest_id.data)
    form.offer_accounts([(each.id, each.label) for each in accounts])
    form.language.choices = _languages({ENGLISH, *languages_for(home)})
    form.offer_centres([(each.id, each.name) for each in centres if each.closed_at is None])
    if clean or not form.is_submitted():
        form.form_token.data = new_form_token()
    drops = tuple(place for (kind, _slot), place in sorted(favourites.items()) if kind == "drop")
    return BookingPage(
        form=form, home=home, accounts=accounts, favourites=drops, capacities=capacities
    )


def _languages(codes: set[str]) -> list[SelectChoice]:
    """The languages that a guest may speak: first those in which their page can be shown."""
    page, staff = _("Guest's page"), _("Told to staff; the guest's page is in English")
    found = [
        SelectChoice(
            code,
            name,
            render_kw={"lang": code.replace("_", "-")},
            optgroup=page if code in codes else staff,
        )
        for code, name in LANGUAGES
    ]
    found.sort(key=lambda each: each.value not in codes)
    return [SelectChoice("", _("Not said")), *found]


def trip_page(trip: TripForm, *, search: bool) -> BookingPage:
    """A new booking page with the trip of a query or a form; `search` looks typed places up."""
    booking_page = new_page()
    trip.validate()  # errors are ignored: a text that is too long is cut when it is read
    booking_page.pickup, booking_page.drop = read_ends(
        trip, services().geocoder, booking_page.home, search=search
    )
    booking_page.category = (trip.category.data or "")[:64]
    return booking_page


def own_offer(offer_id: int | None) -> Offer | None:
    """The offer with this id if it is the property's own; else None."""
    if offer_id is None:
        return None
    with services().db.read() as s:
        offer = s.get(Offer, offer_id)
    return offer if offer and offer.property_id == current_staff().property_id else None


def estimator() -> Estimator:
    """An estimator for the signed-in member of staff."""
    staff = current_staff()
    return Estimator(services(), OfferOwner(staff.property_id, staff.actor), locale())


def context(booking_page: BookingPage) -> dict[str, Any]:
    """The values that the form's templates need, in addition to those of the page around it."""
    cars = cars_context(booking_page)
    # suggested drops are needed in any case: the user may remove the drop from its field
    drops = cars["drops"] or drops_of(booking_page)
    return {**cars, "drops": drops, "calendar": calendar(booking_page)}


def drops_of(booking_page: BookingPage) -> list[Suggestion]:
    """The suggested drops for the guest in the form."""
    with services().db.read() as s:
        return suggested(
            s, booking_page.home, "drop", booking_page.form.guest_id.data, booking_page.pickup.point
        )


def cars_context(booking_page: BookingPage) -> dict[str, Any]:
    """The values that `booking/_cars.html` needs; for a trip without a drop, also suggested drops.

    `fresh_ms` says after how many milliseconds the page fetches the prices again.
    """
    app, tz = services(), formatting.zone(booking_page.home.timezone)
    fetched = booking_page.estimates.fetched_at if booking_page.estimates else None
    return {
        "booking_page": booking_page,
        "form": booking_page.form,
        "drops": () if booking_page.drop.point else drops_of(booking_page),
        "fetched": formatting.clock_time(fetched, tz, locale(), seconds=True),
        "most_people": MOST_PEOPLE,
        "most_bags": MOST_BAGS,
        "fresh_ms": int(max(FRESH_LEAST_MS, FRESH_MS / app.time().polling_speed)),
    }


def calendar(booking_page: BookingPage) -> dict[str, Any]:
    """The values of the date and time controls, such as the allowed days and the present time."""
    form, now = booking_page.form, services().clock()
    tz = formatting.zone(booking_page.home.timezone)
    first, last = now.astimezone(tz).date(), (now + form.latest).astimezone(tz).date()
    if not form.pickup_date.data:
        form.pickup_date.data = (now + timedelta(hours=1)).astimezone(tz).date().isoformat()
    if not form.back_date.data:
        form.back_date.data = form.pickup_date.data
    plan = form.planned_at
    message, wrong, choices = pickup_message(form, now, tz)
    return {
        "flight": flight_of(booking_page, now, tz),
        "flight_way": way_of(booking_page),
        "said": message,
        "wrong": wrong,
        "choices": choices,
        "chips": list(quick_times(now, tz, form.words)),
        "examples": examples(form.words),
        "first": first.isoformat(),
        "last": last.isoformat(),
        "dates": dates_of(form.series_rides, tz),
        "dates_key": dates_key(form.series_rides) if form.series_rides else "",
        # the last day of which every hour is within the limit
        "series_last": f"{(now + SERIES_LATEST).astimezone(tz) - timedelta(days=1):%Y-%m-%d}",
        "zone": tz.key,
        "now": formatting.stamp(now),
        "kept": f"{plan.astimezone(tz):%Y-%m-%dT%H:%M}" if plan else "",
    }


def fill_from_plan(booking_page: BookingPage, page: OrderPage) -> None:
    """Fill in the form with all values of a planned ride, which the form is to change."""
    form, order = booking_page.form, page.order
    booking_page.refill(page, Refill.CHANGE)
    booking_page.again, form.supersedes.data = None, None
    set_planned_ride(booking_page, page)
    form.change.data, form.version.data = order.id, order.version
    if order.pickup_at is not None:
        at = order.pickup_at.astimezone(zone(page.property.timezone))
        form.when.data = "later"
        form.pickup_date.data = f"{at:%Y-%m-%d}"
        form.pickup_time.data = f"{at:%H:%M}"
        form.pickup_which.data = pass_of(order.pickup_at, form.tz)


def set_planned_ride(booking_page: BookingPage, page: OrderPage | None) -> None:
    """Make the form change this planned ride, whose present pickup time remains allowed.

    With None, the form makes a new order.
    """
    booking_page.changing = page
    booking_page.form.planned_at = page.order.pickup_at if page else None
    booking_page.form.stored_departure = page.order.departs_at if page else None
    if page is not None and page.order.series_key:
        booking_page.form.latest = SERIES_LATEST


def is_planned_ride(page: OrderPage | None) -> bool:
    """Whether the order is a planned ride, which can be changed."""
    return page is not None and page.order.state == OrderState.SCHEDULED


def change_plan(booking_page: BookingPage, request: BookingRequest) -> Response:
    """Change the planned ride of the form, then redirect to its page, which also says "too late".

    Raises what `change` and `change_onward` raise, except TooLate.
    """
    form, app = booking_page.form, services()
    order_id = form.change.data or 0
    try:
        wanted = Change(order_id, form.version.data or 0, request)
        if form.onward.data and booking_page.changing and booking_page.changing.order.series_key:
            change_onward(app.runtime, wanted)
        else:
            change(app.db, app.clock, wanted)
    except TooLate:
        return redirect(f"/rides/{order_id}?said=change-not_now", 303)
    except Overtaken:
        with app.db.read() as s:
            page = order_page(s, request.property_id, order_id)
        form.version.data, form.version.raw_data = page.order.version if page else 0, None
        raise
    app.wake()
    return redirect(f"/rides/{order_id}?said=change-done", 303)


def show_refusal(booking_page: BookingPage, error: Exception, now: datetime) -> int:
    """Set what the page shows about an error of the press. Returns the HTTP status."""
    if isinstance(error, GuardBusy):
        rides = [_busy_ride(each, now) for each in error.rides]
        booking_page.busy = {"guest": error.guest, "rides": rides, "seen": error.seen}
        return 409
    if isinstance(error, DatabaseBusy):
        words = refusal("NO_DB", Audience.STAFF)
        booking_page.error = EstimateFailedError(
            words.headline, f"{words.why} {words.next_step}", 503
        )
        return 503
    if isinstance(error, CommitUnknown):
        step = _(
            "Press again: if it was saved, you will see that ride, and nothing is ordered twice."
        )
        booking_page.error = EstimateFailedError(
            _("The database went away while it was saving."), step, 503
        )
        return 503
    if isinstance(error, RequestRefused):
        _show_field_error(booking_page.form, error)
        return 422
    booking_page.message = _changed_meanwhile(error)
    booking_page.aged = isinstance(error, OfferStale)
    return 409


def _busy_ride(ride: OpenRide, now: datetime) -> dict[str, Any]:
    """The words about an open ride of the guest, in the notice about a second car."""
    ago = formatting.age((now - ride.placed_at).total_seconds())
    return {"order_id": ride.order_id, "by": ride.staff_name or _("somebody"), "ago": ago}


def _changed_meanwhile(error: Exception) -> str:
    """What has changed since the form was shown."""
    if isinstance(error, OfferStale):
        return _(
            "The price was more than two minutes old, so it was asked again. Nothing was ordered "
            "yet."
        )
    if isinstance(error, Overtaken):
        return _(
            "Somebody changed this ride meanwhile. Look at it, or press again to save it as it "
            "stands here."
        )
    return _("That price is not known any more. Choose a car again; nothing was ordered.")


def _show_field_error(form: BookingForm, error: RequestRefused) -> None:
    words = {
        "seats": _("Choose 1 or 2 seats."),
        "account": _("This account can't be used for this price. Choose another."),
        "drop": _("This car has a fixed price and needs a drop. Choose one, or another car."),
        "coupon_code": _("The ride company does not take such a coupon."),
        "pickup_at": _("Choose a time from 15 minutes to 30 days from now."),
        "supersedes": _(
            "A colleague has undone the cancelling: that ride is planned again. Nothing more was "
            "ordered."
        ),
        "pickup_day": _("From here on the rides keep their days: change the time only."),
        "back_at": _("The way back begins after the way there, and needs a drop to start from."),
        "later_price": _(
            "The ride company gives no price for the later rides now. Nothing was changed: press "
            "again in a moment."
        ),
        "series": _("A series is of one car, one way, in the next 90 days."),
    }
    # fields without a visible control, and the place where their refusal is shown
    elsewhere = {"supersedes": "offer", "pickup_day": "pickup_date"}
    if isinstance(error, NoCarLater):
        at = day_text(error.pickup_at.astimezone(form.tz), "MMMEd", locale())
        words["later_car"] = _(
            "The ride of %(at)s is in a car of its own, %(car)s, which is not offered for this "
            "trip. Change that ride alone first; nothing was changed.",
            at=at,
            car=error.car,
        )
    name = elsewhere.get(error.field) or control_of(error.field)
    control = form._fields.get(name, form.offer)
    message = words.get(error.field, _("This can't be booked as it is. Choose a car again."))
    control.errors = [*control.errors, message]
