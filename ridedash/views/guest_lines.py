"""A guest as the finder's list shows them, with what the form fills in when they are chosen."""

from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from ridedash.forms import LANGUAGES
from ridedash.store.finding import phone_digits
from ridedash.store.folding import folded
from ridedash.store.guests import Usual
from ridedash.store.people_tables import Guest
from ridedash.views.desk_form import locale
from ridedash.views.formats import day_time
from ridedash.wording import gettext as _

WHOLE_PHONE: Final = 7  # digits: fewer may be anybody's
NAMES: Final = dict(LANGUAGES)


def guest_told(guest: Guest, usual: Usual, typed: str, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """As JSON. `exact` says that Enter may take this one: room, phone or name were typed in full."""
    return {
        "id": guest.id,
        "name": guest.name,
        "room": guest.room or "",
        "phone": guest.phone or "",
        "language": guest.language or "",
        "note": guest.note or "",
        "about": " · ".join(_about(guest, now, zone)),
        "category": usual.category,
        "places": [{"name": name, "lat": lat, "lng": lng} for name, lat, lng in usual.places],
        "exact": _exact(guest, typed),
    }


def _about(guest: Guest, now: datetime, zone: ZoneInfo) -> list[str]:
    seen = _("last ride %(at)s", at=day_time(guest.seen_at, now, zone, locale())) if guest.seen_at else ""
    return [words for words in (seen, NAMES.get(guest.language or "", ""), guest.note or "") if words]


def _exact(guest: Guest, typed: str) -> bool:
    text, digits = " ".join(typed.split()).casefold(), phone_digits(typed)
    phone = len(digits) >= WHOLE_PHONE and (guest.phone or "").endswith(digits)
    return bool(text) and (text == (guest.room or "").casefold() or phone or folded(text) == folded(guest.name) != "")
