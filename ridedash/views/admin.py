"""Settings of a property: name, zone, money, phone, its usual pickup. What all pages of `/admin` share."""

from typing import Any, Final
from zoneinfo import available_timezones

from babel.core import Locale
from babel.numbers import list_currencies
from flask import Blueprint, redirect, render_template, request
from flask_babel import get_locale
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.ext import services
from ridedash.forms import COUNTRIES, PhoneError, read_phone
from ridedash.places import plain
from ridedash.store import audit
from ridedash.store.people import Property
from ridedash.views.admin_spots import Spot, SpotError, read_spot
from ridedash.views.auth import current_staff
from ridedash.views.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp = Blueprint("admin", __name__, url_prefix="/admin")

Answer = str | tuple[str, int] | BaseResponse
Facts = dict[str, Any]
NAME_MAX: Final = 120


@bp.get("")
@needs(MANAGE)
def home() -> BaseResponse:
    """The first of the pages."""
    return redirect("/admin/property", code=303)


@bp.get("/property")
@needs(MANAGE)
def show() -> str:
    """The form, as the property is."""
    with services().db.read() as s:
        house = s.get_one(Property, current_staff().property_id)
    typed = {name: getattr(house, name) or "" for name in ("name", "timezone", "currency", "country", "phone")}
    return _page(typed, Spot.of(house.pickup_name, house.pickup_lat, house.pickup_lng), {})


@bp.post("/property")
@needs(MANAGE)
def save() -> Answer:
    """Keep what was typed, or say what can't be used."""
    typed = {name: plain(request.form.get(name, ""), NAME_MAX) for name in ("name", "phone")}
    typed |= {name: request.form.get(name, "")[:64] for name in ("timezone", "currency", "country")}
    wrong, kept = check(typed)
    spot = Spot.typed(request.form, "pickup")
    try:
        spot = read_spot(request.form, "pickup", services().geocoder) if spot.name else spot
    except SpotError as error:
        wrong["pickup"] = str(error)
    if wrong:
        return _page(typed, spot, wrong), 422
    kept |= {"pickup_name": spot.name or None, "pickup_lat": spot.lat, "pickup_lng": spot.lng}
    with services().db.write() as s:
        house = s.get_one(Property, current_staff().property_id)
        changed = sorted(name for name, value in kept.items() if getattr(house, name) != value)
        for name in changed:
            setattr(house, name, kept[name])
        if changed:
            record(s, "property.changed", f"properties:{house.id}", changed=changed)
    return redirect("/admin/property?said=saved", code=303)


def check(typed: dict[str, str]) -> tuple[dict[str, str], Facts]:
    """What is wrong with a property's facts (field to reason), and what would be kept."""
    wrong: dict[str, str] = {}
    kept: Facts = {name: typed[name] or None for name in ("timezone", "currency", "country")} | {"name": typed["name"]}
    if not typed["name"]:
        wrong["name"] = _("Type the property's name.")
    if typed["timezone"] not in available_timezones():
        wrong["timezone"] = _("Choose a time zone from the list.")
    if typed["currency"] and typed["currency"] not in list_currencies():
        wrong["currency"] = _("Choose a currency from the list.")
    if typed["country"] and typed["country"] not in COUNTRIES:
        wrong["country"] = _("Choose a country from the list.")
    try:
        kept["phone"] = read_phone(typed.get("phone", ""), typed["country"] or None) if "country" not in wrong else None
    except PhoneError as error:
        wrong["phone"] = str(error)
    return wrong, kept


def choices() -> Facts:
    """The lists that a property chooses from: names by code, in the page's language."""
    locale = get_locale() or Locale("en")
    countries = {code: locale.territories.get(code, code) for code in COUNTRIES}
    money = {code: f"{code} · {locale.currencies.get(code, code)}" for code in sorted(list_currencies())}
    zones = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix")))
    return {
        "countries": sorted(countries.items(), key=lambda each: each[1]),
        "currencies": list(money.items()),
        "zones": [(name, name.replace("_", " ")) for name in ("UTC", *zones)],
    }


def record(s: Session, what: str, subject: str, result: str = "ok", **facts: Any) -> None:
    """A line of the record, by whoever is signed in, for the property they look at."""
    staff = current_staff()
    audit.record(
        s, f"staff:{staff.id}", what, subject, result, services().clock(), property_id=staff.property_id, **facts
    )


def said(known: dict[str, str]) -> str:
    """What the page says at its top after something was done; "" for nothing."""
    return known.get(request.args.get("said", ""), "")


def _page(typed: dict[str, str], spot: Spot, wrong: dict[str, str]) -> str:
    told = said({"saved": _("Saved.")}) if not wrong else ""
    return render_template(
        "admin/property.html", typed=typed, spot_at=spot, wrong=wrong, said=told, tab="property", **choices()
    )
