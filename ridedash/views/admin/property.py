"""Settings of a property: name, time zone, currency, phone, usual pickup; logo, colour (face.py);
the look of its kiosks (kiosk_look.py); what fits into cars (fits.py).

Also what all pages of `/admin` share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from babel.core import Locale
from babel.numbers import get_territory_currencies, list_currencies
from flask import Blueprint, redirect, render_template, request
from flask_babel import get_locale
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import offered, services
from ridedash.face.colour import palette
from ridedash.face.kiosk_look import FOCUSES, PATTERNS, PLAIN, TYPEFACES
from ridedash.face.svg_cleaning import NAMED, OTHER
from ridedash.forms.phones import COUNTRIES, PhoneError, read_phone
from ridedash.geo import LatLng
from ridedash.inputs import whole_number
from ridedash.places import (
    MOST_TYPED,
    Geocoder,
    PlacesUnavailableError,
    coordinates_text,
    find_typed,
    sent_point,
)
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.capacities import CarKind, car_kinds
from ridedash.store.models.people import Property
from ridedash.store.properties import planned_pickups
from ridedash.text import one_line
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.face import face_of, picture_of
from ridedash.views.web.formatting import listed, weekday_time, zone
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.place_names import only_place, unread_words
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.languages import ENGLISH, LANGUAGES, Language

bp = Blueprint("admin", __name__, url_prefix="/admin")
Answer = str | tuple[str, int] | BaseResponse
Facts = dict[str, Any]
Form = MultiDict[str, str]
NAME_MAX: Final = 120
# before a flight leaves, and after it lands
MINUTES: Final = "flight_margin_min", "luggage_min"
MOST_MARGIN_MIN: Final = 360
PLACE_NAME_MAX: Final = 200


class UnknownPlace(ValueError):
    """The typed text does not identify one place; the message says what to do."""


class TypedPlace(NamedTuple):
    """A named point, or a typed text whose point is not looked up yet."""

    name: str = ""
    lat: float | None = None
    lng: float | None = None

    @classmethod
    def stored(cls, name: str | None, lat: float | None, lng: float | None) -> "TypedPlace":
        """A place as it is stored."""
        if lat is None or lng is None:
            return cls()
        return cls(name or coordinates_text(LatLng(lat, lng)), lat, lng)

    @classmethod
    def typed(cls, form: Form, end: str) -> "TypedPlace":
        """The text of a form, before its place is looked up."""
        return cls(one_line(form.get(end, ""), PLACE_NAME_MAX))


@dataclass(frozen=True)
class FitRow:
    """A category in the table: its name, and both numbers as they are stored or were typed."""

    category: str
    name: str
    persons: str
    bags: str


def rows_of(kinds: Sequence[CarKind]) -> list[FitRow]:
    """The rows of the table, with what is stored."""
    return [
        FitRow(kind.category, kind.name, _text(kind.capacity.persons), _text(kind.capacity.bags))
        for kind in kinds
    ]


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


@bp.get("")
@needs(MANAGE)
def home() -> BaseResponse:
    """Redirect to the first page of the settings."""
    return redirect("/admin/property", code=303)


@bp.get("/property")
@needs(MANAGE)
def show() -> str:
    """Show the forms with the property's values."""
    return property_page({})


@bp.post("/property")
@needs(MANAGE)
def save() -> Answer:
    """Store the typed values, or show which of them are not valid."""
    typed = {name: one_line(request.form.get(name, ""), NAME_MAX) for name in ("name", "phone")}
    typed |= {name: request.form.get(name, "")[:64] for name in ("timezone", "currency", "country")}
    typed |= {name: request.form.get(name, "")[:8] for name in MINUTES}
    typed["language"] = request.form.get("language", "")[:8]
    wrong, valid = check(typed)
    if "language" in request.form:
        _check_language(typed["language"], wrong, valid)
    for name in MINUTES:
        if name in request.form:
            _check_minutes(name, typed[name], wrong, valid)
    if "timezone" not in wrong and request.form.get("zone_asked") != typed["timezone"]:
        warning = _zone_words(_own_property(), typed["timezone"])
        if warning:
            wrong["timezone"] = warning
    place = TypedPlace.typed(request.form, "pickup")
    try:
        if place.name:
            place = read_place(request.form, "pickup", services().geocoder)
    except UnknownPlace as error:
        wrong["pickup"] = str(error)
    if wrong:
        return _page(_own_property(), typed, place, wrong), 422
    valid |= {"pickup_name": place.name or None, "pickup_lat": place.lat, "pickup_lng": place.lng}
    with services().db.write() as s:
        prop = s.get_one(Property, current_staff().property_id)
        changed = sorted(name for name, value in valid.items() if getattr(prop, name) != value)
        for name in changed:
            setattr(prop, name, valid[name])
        if changed:
            record(s, "property.changed", f"properties:{prop.id}", changed=changed)
    return redirect("/admin/property?said=saved", code=303)


def _check_minutes(name: str, typed: str, wrong: dict[str, str], valid: Facts) -> None:
    valid[name] = whole_number(typed, 0, MOST_MARGIN_MIN)
    if valid[name] is None:
        wrong[name] = _("Type minutes from 0 to 360.")


def _check_language(code: str, wrong: dict[str, str], valid: Facts) -> None:
    """Check the language; English is stored as None, as in properties older than this setting."""
    valid["language"] = None if code == ENGLISH else code
    if code not in {row.code for row in property_languages()}:
        wrong["language"] = _("Choose a language from the list.")


def _zone_words(prop: Property, wanted: str) -> str:
    """A warning before another time zone is saved; "" if no planned ride's local time changes.

    Planned rides keep their instant, so a time typed as 18:00 would be shown differently on pages,
    cards and links. They are not moved: either the old local time or the instant may be what was
    meant.
    """
    old, new = zone(prop.timezone), ZoneInfo(wanted)
    with services().db.read() as s:
        pickups = planned_pickups(s, prop.id)
    moved = [
        at
        for at in pickups
        if at.astimezone(old).replace(tzinfo=None) != at.astimezone(new).replace(tzinfo=None)
    ]
    if not moved:
        return ""
    return ngettext(
        "%(num)d planned ride keeps its moment: %(was)s will read %(then)s. Is that right? Then "
        "save again.",
        "%(num)d planned rides keep their moments: %(was)s will read %(then)s. Is that right? Then "
        "save again.",
        len(moved),
        was=weekday_time(moved[0], old, locale()),
        then=weekday_time(moved[0], new, locale()),
    )


def property_languages() -> list[Language]:
    """The languages that can be a property's default: those offered to its staff or its guests."""
    codes = {ENGLISH, *offered().staff, *offered().guests}
    return [row for code, row in LANGUAGES.items() if code in codes]


def _language_hint() -> str:
    """A hint on who reads the language of a property, and which languages staff are not offered."""
    hint = _("Of staff and guests for whom no other one is known.")
    alone = [row for row in property_languages() if row.code not in {ENGLISH, *offered().staff}]
    if not alone:
        return hint
    names = listed((row.own_name for row in alone), locale())
    instead = _("Staff read English in place of: %(languages)s.", languages=names)
    return f"{hint} {instead}"


def property_page(wrong: dict[str, str], **shown: Any) -> str:
    """The forms with the stored values, and the messages of invalid fields.

    `shown` replaces values of the template, such as what was typed in another form of the page.
    """
    prop = _own_property()
    typed = {
        name: getattr(prop, name) or ""
        for name in ("name", "timezone", "currency", "country", "phone")
    } | {name: str(getattr(prop, name)) for name in MINUTES}
    typed["language"] = prop.language or ENGLISH
    place = TypedPlace.stored(prop.pickup_name, prop.pickup_lat, prop.pickup_lng)
    return _page(prop, typed, place, wrong, **shown)


def read_place(form: Form, end: str, geocoder: Geocoder) -> TypedPlace:
    """The place of the fields `<end>`, `<end>_lat`, `<end>_lng` and `<end>_for`.

    `<end>_name` replaces the name of the place. Raises UnknownPlace.
    """
    typed = one_line(form.get(end, ""), MOST_TYPED)
    name = typed[:PLACE_NAME_MAX].rstrip()
    called = one_line(form.get(f"{end}_name", ""), PLACE_NAME_MAX)
    if not name:
        raise UnknownPlace(_("Type a place, or coordinates: latitude, longitude."))
    point = _chosen(form, end, name)
    if point is None:
        name, point = _found(typed, geocoder)
    return TypedPlace(called or name, point.lat, point.lng)


def check(typed: dict[str, str]) -> tuple[dict[str, str], Facts]:
    """The errors of a property's values, by field, and the values to store."""
    wrong: dict[str, str] = {}
    valid: Facts = {name: typed[name] or None for name in ("timezone", "currency", "country")} | {
        "name": typed["name"]
    }
    if not typed["name"]:
        wrong["name"] = _("Type the property's name.")
    if typed["timezone"] not in time_zones():
        wrong["timezone"] = _("Choose a time zone from the list.")
    if typed["currency"] and typed["currency"] not in list_currencies():
        wrong["currency"] = _("Choose a currency from the list.")
    if typed["country"] and typed["country"] not in COUNTRIES:
        wrong["country"] = _("Choose a country from the list.")
    try:
        valid["phone"] = None
        if "country" not in wrong:
            valid["phone"] = read_phone(typed.get("phone", ""), typed["country"] or None)
    except PhoneError as error:
        wrong["phone"] = error.in_full
    return wrong, valid


@cache
def time_zones() -> frozenset[str]:
    """The names of all time zones, cached: finding them in the files takes ten milliseconds."""
    return frozenset(available_timezones())


@cache
def places_zones() -> frozenset[str]:
    """UTC and the time zones in tzdata's list of places; most other names are aliases of these."""
    lines = files("tzdata").joinpath("zoneinfo/zone.tab").read_text().splitlines()
    return frozenset({"UTC", *(line.split("\t")[2] for line in lines if line[:1] not in ("#", ""))})


@cache
def currencies_in_use() -> frozenset[str]:
    """The codes of all currencies that are legal tender today."""
    return frozenset(
        code for land in Locale("en").territories for code in get_territory_currencies(str(land))
    )


def choices(typed: dict[str, str]) -> Facts:
    """The lists that a property chooses from: names by code, in the page's language.

    The choice in `typed` is included if it is a time zone or currency, even a former one.
    """
    locale = get_locale() or Locale("en")
    countries = {code: locale.territories.get(code, code) for code in COUNTRIES}
    codes = currencies_in_use() | ({typed.get("currency", "")} & list_currencies())
    money = {code: f"{code} · {locale.currencies.get(code, code)}" for code in sorted(codes)}
    zones = places_zones() | ({typed.get("timezone", "")} & time_zones())
    return {
        "countries": sorted(countries.items(), key=lambda each: each[1]),
        "currencies": list(money.items()),
        "zones": [(name, name.replace("_", " ")) for name in ("UTC", *sorted(zones - {"UTC"}))],
    }


def record(s: Session, what: str, subject: str, result: str = "ok", **facts: Any) -> None:
    """Write an audit entry for the signed-in member of staff, at the property shown."""
    staff = current_staff()
    audit.record(
        s,
        by_staff(staff.id),
        what,
        subject,
        result,
        services().clock(),
        property_id=staff.property_id,
        **facts,
    )


def message_for(known: dict[str, str], wrong: object = None) -> str:
    """The message for the result that the query names; "" for none, and if something is wrong."""
    if wrong:
        return ""
    return known.get(request.args.get("said", ""), "")


def _own_property() -> Property:
    with services().db.read() as s:
        return s.get_one(Property, current_staff().property_id)


def _page(
    prop: Property, typed: dict[str, str], place: TypedPlace, wrong: dict[str, str], **shown: Any
) -> str:
    known = {"saved": _("Saved."), "face": _face_message()}
    with services().db.read() as s:
        kinds = car_kinds(s, prop.id)
    return render_template(
        "admin/property.html",
        typed=typed,
        typed_place=place,
        wrong=wrong,
        message=message_for(known, wrong),
        face=face_of(prop),
        shades=_shades(prop.colour),
        door=f"{services().settings.public_url}/sign-in?at={prop.door}" if prop.door else "",
        tab="property",
        zone_asked=typed["timezone"] if "timezone" in wrong else "",
        languages=property_languages(),
        language_hint=_language_hint(),
        **choices(typed),
        picture=picture_of(prop),
        typefaces=_typefaces(),
        **{"fits": rows_of(kinds), "look": _look(prop)} | shown,
    )


def _look(prop: Property) -> dict[str, str]:
    """The choices of the look on kiosks, as they are stored (kiosk_look.py)."""
    return {
        "focus": prop.picture_focus or FOCUSES[0],
        "pattern": prop.pattern or PATTERNS[0],
        "typeface": prop.typeface or PLAIN,
    }


def _typefaces() -> list[tuple[str, str]]:
    """The typefaces of kiosks: name in the form, and words with the package that has it."""
    named = [(code, f"{face.name} ({face.package})") for code, face in TYPEFACES.items()]
    return [(PLAIN, _("Plain")), *named]


def _shades(colour: str | None) -> Facts | None:
    """The shades of a colour for links and buttons, and whether one of them differs from it."""
    if not colour:
        return None
    found = palette(colour)
    light, dark = found.light.accent, found.dark.accent
    return {"light": light, "dark": dark, "adjusted": {light, dark} != {colour}}


def _face_message() -> str:
    """The message after logo and colour were stored, also about removed parts of the logo."""
    kinds = set(request.args.get("left", "").split(",")) & {*NAMED, OTHER}
    if not kinds:
        return _("Saved.")
    return _(
        "Saved, without what a logo may not hold (%(kinds)s). Look at it below.",
        kinds=listed(sorted(kinds), locale()),
    )


def _chosen(form: Form, end: str, name: str) -> LatLng | None:
    """The point that was chosen from the list; None if the name was changed since."""
    if one_line(form.get(f"{end}_for", ""), PLACE_NAME_MAX) != name:
        return None
    return sent_point(f"{form.get(f'{end}_lat', '')[:20]},{form.get(f'{end}_lng', '')[:20]}")


def _found(name: str, geocoder: Geocoder) -> tuple[str, LatLng]:
    try:
        typed = find_typed(geocoder, name, None)
    except PlacesUnavailableError:
        raise UnknownPlace(
            _("Place search is not answering. Type coordinates: latitude, longitude.")
        ) from None
    if typed.unread:
        raise UnknownPlace(unread_words(typed.unread))
    best = only_place(typed.places, name)
    if best is None:
        raise UnknownPlace(_("Choose one place from the list, or type coordinates."))
    return (best.name or coordinates_text(best.position))[:PLACE_NAME_MAX], best.position
