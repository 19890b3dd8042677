"""Words for a point that somebody picked on the map: the nearest street when a geocoder knows it."""

from ridedash.geo import LatLng
from ridedash.places import Geocoder, coordinates_text, parse_coordinates
from ridedash.wording import gettext as _


def pin_words(point: LatLng) -> str:
    """A pin by its coordinates alone: what the page's script writes too, before the server knows better."""
    return f"{_('Pin on the map')} ({coordinates_text(point)})"


def is_pin(name: str | None) -> bool:
    """Whether a name says only where a point lies: coordinates, or the words of a pin. No place is called so."""
    words = (name or "").strip()
    return not words or bool(parse_coordinates(words)) or words.startswith((_("Pin on the map"), _near("")))


def pin_name(geocoder: Geocoder, name: str, point: LatLng) -> str:
    """Better words for an end that is a nameless pin; any other name as it is."""
    if name and not name.startswith(_("Pin on the map")):
        return name
    found = geocoder.nearby(point)
    words = ", ".join(filter(None, (found.street, found.area))) if found else ""
    return _near(words)[:200] if words else pin_words(point)


def _near(place: str) -> str:
    return _("Near %(place)s", place=place)
