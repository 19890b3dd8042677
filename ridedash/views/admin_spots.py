"""A place in a form of the settings: chosen from the search, or typed as coordinates or as a name that is found."""

from typing import NamedTuple

from werkzeug.datastructures import MultiDict

from ridedash.geo import LatLng, is_valid
from ridedash.places import Geocoder, PlacesUnavailableError, coordinates_text, parse_coordinates, plain
from ridedash.wording import gettext as _

Form = MultiDict[str, str]
NAME_MAX = 200


class SpotError(ValueError):
    """What was typed is no place; the message says what to do."""


class Spot(NamedTuple):
    """A named point, or one that is not yet known."""

    name: str = ""
    lat: float | None = None
    lng: float | None = None

    @classmethod
    def of(cls, name: str | None, lat: float | None, lng: float | None) -> "Spot":
        """A place as it is kept."""
        if lat is None or lng is None:
            return cls()
        return cls(name or coordinates_text(LatLng(lat, lng)), lat, lng)

    @classmethod
    def typed(cls, form: Form, end: str) -> "Spot":
        """What a form says, before it is looked up."""
        return cls(plain(form.get(end, ""), NAME_MAX))


def read_spot(form: Form, end: str, geocoder: Geocoder) -> Spot:
    """The place that fields `<end>`, `<end>_lat`, `<end>_lng`, `<end>_for` tell; `<end>_name` calls it so instead.

    Raises SpotError.
    """
    name = plain(form.get(end, ""), NAME_MAX)
    called = plain(form.get(f"{end}_name", ""), NAME_MAX)
    if not name:
        raise SpotError(_("Type a place, or coordinates such as 12.95, 77.6."))
    point = _chosen(form, end, name) or parse_coordinates(name)
    if point is None:
        name, point = _found(name, geocoder)
    return Spot(called or name, point.lat, point.lng)


def _chosen(form: Form, end: str, name: str) -> LatLng | None:
    """The point of the list's place, unless something else was typed over it."""
    if plain(form.get(f"{end}_for", ""), NAME_MAX) != name:
        return None
    return parse_coordinates(f"{form.get(f'{end}_lat', '')[:20]}, {form.get(f'{end}_lng', '')[:20]}")


def _found(name: str, geocoder: Geocoder) -> tuple[str, LatLng]:
    try:
        found = geocoder.search(name, None)
    except PlacesUnavailableError:
        raise SpotError(_("Place search is not answering. Type coordinates such as 12.95, 77.6.")) from None
    exact = [place for place in found if place.name.casefold() == name.casefold()] or found
    if len(exact) != 1 or not is_valid(exact[0].position.lat, exact[0].position.lng):
        raise SpotError(_("Choose one place from the list, or type coordinates."))
    return exact[0].name, exact[0].position
