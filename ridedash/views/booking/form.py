"""The booking form on pages, empty, sent or filled in; its templates' context; what was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from wtforms.fields.choices import SelectChoice

from ridedash.extensions import services
from ridedash.fits import MOST_BAGS, MOST_PEOPLE
from ridedash.forms.booking import DEPARTS, LANDS, BookingForm, TripForm, new_form_token
from ridedash.rides.orders.change import Overtaken
from ridedash.rides.orders.fields import FIELDS, SPOKEN_LANGUAGES, Refill, control_of
from ridedash.rides.orders.guard import GuardBusy, OpenRide
from ridedash.rides.orders.onward import NoCarLater
from ridedash.rides.orders.place import OfferStale, RequestRefused
from ridedash.rides.orders.request import ordered_value
from ridedash.rides.state.states import has_failed
from ridedash.rides.times.schedule_times import SERIES_LATEST, SeriesRide, dates_key
from ridedash.store import guests
from ridedash.store.accounts import accounts_of
from ridedash.store.capacities import capacities_of
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.models.people import Guest, Property
from ridedash.store.offers import OfferOwner
from ridedash.store.orders import Offer, Order, OrderPage, OrderState, order_page
from ridedash.store.properties import cost_centres_of, favourites_of
from ridedash.views.booking.estimates import EstimateFailedError, Estimator, refused
from ridedash.views.booking.flights import flight_of, way_of
from ridedash.views.booking.pickup_times import back_message, pickup_message, quick_times
from ridedash.views.booking.suggestions import Suggestion, suggested
from ridedash.views.booking.trip_ends import TripEnds, ends_of, read_ends
from ridedash.views.booking.view_model import NO_NOTICE, BookingPage, DeskFacts, FormNotice
from ridedash.views.web import formatting
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_text, weekday_time
from ridedash.views.web.own_words import languages_for
from ridedash.views.web.responses import locale
from ridedash.wording import Audience, refusal
from ridedash.wording import gettext as _
from ridedash.wording.languages import ENGLISH
from ridedash.wording.time_words import examples, time_words
from ridedash.wording.typed_times import departure_text, pass_of, pass_words

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
    form, desk = _new_form(clean=True)
    ends = read_ends(TripForm(), services().geocoder, desk.home, search=False)
    return context(BookingPage(form, desk, ends))


def trip_page(trip: TripForm, *, search: bool) -> BookingPage:
    """A page with the trip of a query or a form, and the form if it was sent, without cars.

    `search` looks typed places up.
    """
    form, desk = _new_form()
    trip.validate()  # errors are ignored: a text that is too long is cut when it is read
    ends = read_ends(trip, services().geocoder, desk.home, search=search)
    plan = known_order(form.change.data)
    if plan is not None:
        _keep_plan(form, plan.order)
    category = (trip.category.data or "")[:64]
    return BookingPage(form, desk, ends, category, changing=plan)


def with_guest(page: BookingPage, guest_id: int | None) -> BookingPage:
    """The page with this guest of the property in its form; as it is if there is no such guest."""
    if guest_id is None:
        return page
    with services().db.read() as s:
        guest = guests.guest_of(s, current_staff().property_id, guest_id)
    if guest is not None:
        _fill_guest(page.form, guest, guest.room)
    return page


def refilled(page: OrderPage, occasion: Refill) -> BookingPage:
    """A page whose form an earlier order fills in, as FIELDS states, without cars."""
    form, desk = _new_form()
    order = page.order
    offer = page.offer
    ends = ends_of(page.offer)
    filled_from = ""
    if page.guest.erased_at is None:
        filled_from = page.guest.name
        _fill_guest(form, page.guest, order.room)
    for each in FIELDS:
        if occasion in each.refill:
            form[each.form].data = ordered_value(order, each) or ""
    if occasion is Refill.RETURN:
        ends = ends.swapped
    else:
        _fill_flight(form, order)
    if occasion is Refill.AGAIN:
        ends = _fill_again(form, page, ends)
    planned = None
    if occasion is Refill.CHANGE:
        planned = page
        _fill_plan(form, order)
    notice = FormNotice(filled_from=filled_from)
    return BookingPage(
        form, desk, ends, offer.category, order.seats or 1, notice=notice, changing=planned
    )


def _new_form(*, clean: bool = False) -> tuple[BookingForm, DeskFacts]:
    """The posted form, if any, and what the property has for it; `clean` requests an empty form."""
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        accounts = accounts_of(s, home.id)
        centres = cost_centres_of(s, home.id)
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
    return form, DeskFacts(home, accounts, drops, capacities)


def _fill_guest(form: BookingForm, guest: Guest, room: str | None) -> None:
    form.known_phones = frozenset({guest.phone or "", guest.phone2 or ""} - {""})
    of_this_ride = {"guest_id": guest.id, "room": room, "phone_as_typed": ""}
    for each in FIELDS:
        if each.guest in of_this_ride:
            form[each.form].data = of_this_ride[each.guest] or ""
        elif each.guest:
            form[each.form].data = getattr(guest, each.guest) or ""


def _fill_flight(form: BookingForm, order: Order) -> None:
    """Fill in a flight's time; with it or a flight number, the ride is for a flight."""
    form.flight_way.data = LANDS if order.flight_lands else DEPARTS
    form.departs.data = ""
    if order.departs_at:
        form.departs.data = departure_text(order.departs_at, form.tz)
    form.for_flight.data = bool(form.flight.data or form.departs.data)


def _fill_again(form: BookingForm, page: OrderPage, ends: TripEnds) -> TripEnds:
    """Let the form replace an order that failed; the ends, with why they were refused."""
    order = page.order
    if has_failed(OrderState(order.state), page.ride.status if page.ride else None):
        form.supersedes.data = order.id
    if order.state != OrderState.REJECTED:
        return ends
    words = refused(order.code, order.message)
    return ends.with_error(words.end, words.sentences)


def _fill_plan(form: BookingForm, order: Order) -> None:
    """Let the form change a planned ride, which keeps its pickup time until another is typed."""
    _keep_plan(form, order)
    form.change.data = order.id
    form.version.data = order.version
    if order.pickup_at is not None:
        at = order.pickup_at.astimezone(form.tz)
        form.when.data = "later"
        form.pickup_date.data = f"{at:%Y-%m-%d}"
        form.pickup_time.data = f"{at:%H:%M}"
        form.pickup_which.data = pass_of(order.pickup_at, form.tz)


def _keep_plan(form: BookingForm, order: Order) -> None:
    """Allow the present times of a planned ride, also where they would be refused as new ones."""
    form.planned_at = order.pickup_at
    form.stored_departure = order.departs_at
    if order.series_key:
        form.latest = SERIES_LATEST


def _languages(codes: set[str]) -> list[SelectChoice]:
    """The languages that a guest may speak: first those in which their page can be shown."""
    read_by = {True: _("Guest's page"), False: _("Told to staff; the guest's page is in English")}
    found = [
        SelectChoice(
            code,
            name,
            render_kw={"lang": code.replace("_", "-")},
            optgroup=read_by[code in codes],
        )
        for code, name in SPOKEN_LANGUAGES
    ]
    found.sort(key=lambda each: each.value not in codes)
    return [SelectChoice("", _("Not said")), *found]


def known_order(order_id: int | None) -> OrderPage | None:
    """The order with this id if it is the property's own; else None."""
    if not order_id:
        return None
    with services().db.read() as s:
        return order_page(s, current_staff().property_id, order_id)


def own_offer(offer_id: int | None) -> Offer | None:
    """The offer with this id if it is the property's own; else None."""
    if offer_id is None:
        return None
    with services().db.read() as s:
        offer = s.get(Offer, offer_id)
    if offer is None or offer.property_id != current_staff().property_id:
        return None
    return offer


def estimator() -> Estimator:
    """An estimator for the signed-in member of staff."""
    staff = current_staff()
    return Estimator(services(), OfferOwner(staff.property_id, staff.actor), locale())


def context(page: BookingPage) -> dict[str, Any]:
    """The values that the form's templates need, in addition to those of the page around it."""
    cars = cars_context(page)
    # suggested drops are needed in any case: the user may remove the drop from its field
    drops = cars["drops"] or drops_of(page)
    return {**cars, "drops": drops, "calendar": calendar(page)}


def drops_of(page: BookingPage) -> list[Suggestion]:
    """The suggested drops for the guest in the form."""
    guest_id = page.form.guest_id.data
    pickup = page.ends.pickup.point
    with services().db.read() as s:
        return suggested(s, page.desk.home, "drop", guest_id, pickup)


def cars_context(page: BookingPage) -> dict[str, Any]:
    """The values that `booking/_cars.html` needs; for a trip without a drop, also suggested drops.

    `fresh_ms` says after how many milliseconds the page fetches the prices again.
    """
    fetched = page.cars.fetched_at
    return {
        "booking_page": page,
        "form": page.form,
        "drops": () if page.ends.drop.point else drops_of(page),
        "fetched": formatting.clock_time(fetched, page.form.tz, locale(), seconds=True),
        "most_people": MOST_PEOPLE,
        "most_bags": MOST_BAGS,
        "fresh_ms": int(max(FRESH_LEAST_MS, FRESH_MS / services().time().polling_speed)),
    }


def calendar(page: BookingPage) -> dict[str, Any]:
    """The values of the date and time controls, such as the allowed days and the present time."""
    form = page.form
    now = services().clock()
    tz = page.form.tz
    pickup = page.ends.pickup
    home = page.desk.home
    first, last = now.astimezone(tz).date(), (now + form.latest).astimezone(tz).date()
    if not form.pickup_date.data:
        form.pickup_date.data = (now + timedelta(hours=1)).astimezone(tz).date().isoformat()
    plan = form.planned_at
    message, wrong, choices = pickup_message(form, now, tz)
    return {
        "flight": flight_of(form, pickup, home, page.cars.travel_min, now),
        "flight_way": way_of(form, pickup, home),
        "said": message,
        "wrong": wrong,
        "choices": choices,
        "chips": list(quick_times(now, tz, form.words)),
        "examples": examples(form.words),
        "first": first.isoformat(),
        "last": last.isoformat(),
        "back": dict(zip(("said", "wrong", "choices"), back_message(form, now, tz), strict=True)),
        "dates": dates_of(form.series_rides, tz),
        "dates_key": dates_key(form.series_rides) if form.series_rides else "",
        "zone": tz.key,
        "now": formatting.stamp(now),
        "kept": f"{plan.astimezone(tz):%Y-%m-%dT%H:%M}" if plan else "",
    }


@dataclass(frozen=True)
class Retry:
    """What the page says when a form that was sent is shown again, and its HTTP status.

    `error` stands in place of the cars.
    """

    status: int
    notice: FormNotice = NO_NOTICE
    error: EstimateFailedError | None = None


def explained(error: Exception, form: BookingForm, now: datetime) -> Retry:
    """An error of the press in words. What is wrong with a field is set as an error of the form."""
    if isinstance(error, GuardBusy):
        rides = [_busy_ride(each, now) for each in error.rides]
        busy = {"guest": error.guest, "rides": rides, "seen": error.seen}
        return Retry(409, FormNotice(busy=busy))
    if isinstance(error, DatabaseBusy):
        words = refusal("NO_DB", Audience.STAFF)
        detail = f"{words.why} {words.next_step}"
        return Retry(503, error=EstimateFailedError(words.headline, detail, 503))
    if isinstance(error, CommitUnknown):
        headline = _("The database went away while it was saving.")
        step = _(
            "Press again: if it was saved, you will see that ride, and nothing is booked twice."
        )
        return Retry(503, error=EstimateFailedError(headline, step, 503))
    if isinstance(error, RequestRefused):
        _show_field_error(form, error)
        return Retry(422)
    message = _changed_meanwhile(error)
    return Retry(409, FormNotice(message, aged=isinstance(error, OfferStale)))


def _busy_ride(ride: OpenRide, now: datetime) -> dict[str, Any]:
    """The words about an open ride of the guest, in the notice about a second car."""
    ago = formatting.age((now - ride.placed_at).total_seconds())
    return {"order_id": ride.order_id, "by": ride.staff_name or _("somebody"), "ago": ago}


def _changed_meanwhile(error: Exception) -> str:
    """What has changed since the form was shown."""
    if isinstance(error, OfferStale):
        return _(
            "The price was more than two minutes old, so it was asked again. Nothing was booked "
            "yet."
        )
    if isinstance(error, Overtaken):
        return _(
            "Somebody changed this ride meanwhile. Look at it, or press again to save it as it "
            "stands here."
        )
    return _("That price is not known any more. Choose a car again; nothing was booked.")


def _show_field_error(form: BookingForm, error: RequestRefused) -> None:
    words = {
        "seats": _("Choose 1 or 2 seats."),
        "account": _("This account can't be used for this price. Choose another."),
        "drop": _("This car has a fixed price and needs a drop. Choose one, or another car."),
        "coupon_code": _("The ride company does not take such a coupon."),
        "pickup_at": _("Choose a time from 15 minutes to 30 days from now."),
        "supersedes": _(
            "A colleague has undone the cancelling: that ride is planned again. Nothing more was "
            "booked."
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
