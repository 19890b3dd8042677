"""The booking form as pages show it: a picker to fill, what its templates need, the compact one of the desk."""

from datetime import timedelta
from typing import Any, Final

from flask import request
from flask_babel import get_locale

from ridedash.ext import services
from ridedash.forms import BookingForm, TripForm, new_form_token
from ridedash.rides.pickup_times import LATEST
from ridedash.store.houses import cost_centres_of, favourites_of
from ridedash.store.people import Property, accounts_of
from ridedash.views import formats
from ridedash.views.auth import current_staff
from ridedash.views.picker import Picker, read_ends

FRESH_MS: Final = 100_000  # the page renews its prices before an offer's two minutes are over; faster with the clock
FRESH_LEAST_MS: Final = 3_000


def desk_form() -> dict[str, Any]:
    """The context of `booking/_desk.html`: a clean form that starts from the property's own pickup."""
    picker = new_picker(clean=True)
    picker.pickup, picker.drop = read_ends(TripForm(), services().geocoder, picker.home, search=False)
    return context(picker)


def new_picker(*, clean: bool = False) -> Picker:
    """A picker with a form that is empty, or, unless it shall be clean, holds what was posted."""
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        accounts, centres = accounts_of(s, home.id), cost_centres_of(s, home.id)
        favourites = favourites_of(s, home.id)
    posted = {"formdata": None} if clean else {}
    form = BookingForm(now=services().clock(), tz=formats.zone(home.timezone), country=home.country, **posted)
    form.offer_accounts([(each.id, each.label) for each in accounts])
    form.offer_centres([(each.id, each.name) for each in centres if each.closed_at is None])
    if clean or not form.is_submitted():
        form.form_token.data = new_form_token()
    drops = tuple(place for (kind, _slot), place in sorted(favourites.items()) if kind == "drop")
    return Picker(form=form, home=home, accounts=accounts, favourites=drops)


def context(picker: Picker) -> dict[str, Any]:
    """What the form's templates need beside the page's own."""
    app, tz = services(), formats.zone(picker.home.timezone)
    fetched = picker.estimates.fetched_at if picker.estimates else None
    return {
        "picker": picker,
        "form": picker.form,
        "calendar": calendar(picker),
        "fetched": formats.clock_time(fetched, tz, locale(), seconds=True),
        "fresh_ms": int(max(FRESH_LEAST_MS, FRESH_MS / app.settings.pace)),
    }


def calendar(picker: Picker) -> dict[str, Any]:
    """What the form's date and time fields need: the first and last day, the plan's own time, the property's clock."""
    now, tz = services().clock(), formats.zone(picker.home.timezone)
    first, last = now.astimezone(tz).date(), (now + LATEST).astimezone(tz).date()
    if not picker.form.pickup_date.data:
        picker.form.pickup_date.data = (now + timedelta(hours=1)).astimezone(tz).date().isoformat()
    plan = picker.form.kept_pickup
    kept = f"{plan.astimezone(tz):%Y-%m-%dT%H:%M}" if plan else ""
    return {
        "first": first.isoformat(), "last": last.isoformat(), "zone": tz.key, "now": formats.stamp(now), "kept": kept,
    }  # fmt: skip


def locale() -> str:
    """Of whoever reads the page."""
    return str(get_locale() or "en")


def wants_json() -> bool:
    """Whether the desk's script asks: it takes the form alone, not a page around it."""
    offered = ["text/html", "application/json"]
    return request.accept_mimetypes.best_match(offered) == "application/json"
