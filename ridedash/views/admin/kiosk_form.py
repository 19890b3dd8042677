"""The forms of a kiosk or door display: typed values, their errors, and the values to store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask_babel import get_locale
from werkzeug.datastructures import MultiDict

from ridedash.forms.phones import PhoneError, read_phone
from ridedash.inputs import row_id, time_of_day, whole_number
from ridedash.places import Geocoder
from ridedash.rides.kiosk.opening import DAYS
from ridedash.store.models.kiosks import Kiosk, KioskKind, WhoPays
from ridedash.text import one_line
from ridedash.views.admin.property import TypedPlace, UnknownPlace, read_place
from ridedash.wording import gettext as _
from ridedash.wording.languages import ENGLISH, LANGUAGES

DEVICE_NAME_MAX: Final = 60
PLACE_MAX: Final = 120
MOST_LANGUAGES: Final = 8  # languages that fit on the first screen
IDLE_S: Final = (20, 600)
WAITING: Final = (1, 30)  # rides of a kiosk that may wait for their guests; 30 are ordered an hour
SHOWS: Final = ("number", "room", "initials")
Form = MultiDict[str, str]
Hours = dict[str, list[list[str]]]


@dataclass
class KioskForm:
    """A form about a device: typed texts, the place, errors, and values to store, by field.

    It has the settings of the device itself, or the walk from it to a pickup point.
    """

    typed: dict[str, Any]
    place: TypedPlace = field(default_factory=TypedPlace)
    wrong: dict[str, str] = field(default_factory=dict)
    valid: dict[str, Any] = field(default_factory=dict)


def blank_form(kind: str) -> KioskForm:
    """The form for a new device, with the usual values."""
    return KioskForm(
        {
            "kind": kind if kind in set(KioskKind) else KioskKind.KIOSK.value,
            "rule": WhoPays.DRIVER.value,
            "languages": list(LANGUAGES)[:MOST_LANGUAGES],
            "default_language": ENGLISH,
            "shows": "number",
            "hours": {},
        }
    )


def stored_form(row: Kiosk) -> KioskForm:
    """The form with the values of a row."""
    texts = ("kind", "name", "place", "rule", "default_language", "desk_phone", "shows")
    typed: dict[str, Any] = {name: getattr(row, name) or "" for name in texts}
    typed |= {name: getattr(row, name) for name in ("printer", "attended", "marks")}
    typed["account_id"] = str(row.account_id or "")
    typed["idle_s"] = str(row.idle_s or "")
    typed["most_waiting"] = str(row.most_waiting or "")
    typed["languages"] = list(row.languages) or list(LANGUAGES)
    typed["hours"] = {day: spans[0] for day, spans in row.hours.items() if spans}
    typed["timed"] = bool(row.hours)
    return KioskForm(typed, TypedPlace.stored(None, row.lat, row.lng))


def read_form(form: Form, country: str | None, accounts: Mapping[int, str]) -> KioskForm:
    """The posted form without its place, which `read_position` adds because it needs a search.

    `accounts`: names of the accounts to choose from, by id.
    """
    typed: dict[str, Any] = {
        "name": one_line(form.get("name", ""), DEVICE_NAME_MAX),
        "place": one_line(form.get("place", ""), PLACE_MAX),
        "desk_phone": one_line(form.get("desk_phone", ""), 40),
        "languages": [code for code in LANGUAGES if code in form.getlist("languages")],
        "hours": _typed_hours(form),
    }
    names = ("kind", "rule", "default_language", "shows", "idle_s", "most_waiting", "account_id")
    typed |= {name: form.get(name, "")[:20] for name in names}
    typed |= {name: name in form for name in ("printer", "attended", "marks", "timed")}
    read = KioskForm(typed)
    _read_words(read)
    _read_choices(read, accounts)
    _read_numbers(read, country)
    _read_hours(read)
    return read


def read_position(read: KioskForm, form: Form, name: str, geocoder: Geocoder) -> None:
    """Read the place of the field `name`. An empty field stores None."""
    read.place = TypedPlace.typed(form, name)
    try:
        if read.place.name:
            read.place = read_place(form, name, geocoder)
    except UnknownPlace as error:
        read.wrong[name] = str(error)
    read.valid |= {"lat": read.place.lat, "lng": read.place.lng}


def day_names() -> dict[str, str]:
    """The days of the week by their keys, in the page's language."""
    names = get_locale().days["format"]["wide"] if get_locale() else {}
    return {day: str(names.get(n, day)).capitalize() for n, day in enumerate(DAYS)}


def _read_words(read: KioskForm) -> None:
    typed = read.typed
    read.valid |= {"name": typed["name"], "place": typed["place"] or None}
    read.valid |= {name: typed[name] for name in ("printer", "attended", "marks")}
    if not typed["name"]:
        read.wrong["name"] = _("Type a name, such as Lobby.")


def _read_choices(read: KioskForm, accounts: Mapping[int, str]) -> None:
    typed = read.typed
    valid = read.valid
    wrong = read.wrong
    for name, known in (("rule", WhoPays), ("shows", SHOWS)):
        valid[name] = typed[name]
        if typed[name] not in {str(each) for each in known}:
            wrong[name] = _("Choose one from the list.")
    number = row_id(typed["account_id"])
    valid["account_id"] = number
    if typed["account_id"] and number not in accounts:
        wrong["account_id"] = _("Choose one from the list.")
    languages = typed["languages"]
    valid["languages"] = languages
    valid["default_language"] = typed["default_language"]
    if not 1 <= len(languages) <= MOST_LANGUAGES:
        wrong["languages"] = _("Choose one to eight languages.")
    elif typed["default_language"] not in languages:
        wrong["default_language"] = _("Choose one of the languages above.")


def _read_numbers(read: KioskForm, country: str | None) -> None:
    typed = read.typed
    valid = read.valid
    wrong = read.wrong
    valid["idle_s"] = whole_number(typed["idle_s"], *IDLE_S)
    if typed["idle_s"] and valid["idle_s"] is None:
        wrong["idle_s"] = _("Type seconds from 20 to 600, or nothing.")
    valid["most_waiting"] = whole_number(typed["most_waiting"], *WAITING)
    if typed["most_waiting"] and valid["most_waiting"] is None:
        wrong["most_waiting"] = _("Type a number from 1 to 30, or nothing.")
    valid["desk_phone"] = None
    try:
        valid["desk_phone"] = read_phone(typed["desk_phone"], country) or None
    except PhoneError as error:
        wrong["desk_phone"] = error.in_full


def _typed_hours(form: Form) -> dict[str, list[str]]:
    spans = {day: [form.get(f"{day}_{end}", "")[:5] for end in ("from", "to")] for day in DAYS}
    return {day: span for day, span in spans.items() if any(span)}


def _read_hours(read: KioskForm) -> None:
    """Read the opening hours by day; a day without hours is closed.

    If not `timed`, the device is always open.
    """
    if not read.typed["timed"]:
        read.valid["hours"] = {}
        return
    hours: Hours = {}
    for day, (opens, closes) in read.typed["hours"].items():
        first, last = time_of_day(opens), time_of_day(closes)
        if first is None or last is None or first == last:
            read.wrong["hours"] = _("Type when it opens and when it closes: 06:00, 23:00.")
            return
        hours[day] = [[opens, closes]]
    if not hours:
        read.wrong["hours"] = _("Type the times of one day at least.")
    read.valid["hours"] = hours
