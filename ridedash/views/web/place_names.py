"""Names of places on pages: pins and other points without a name, and texts that name no place."""

from collections.abc import Sequence
from dataclasses import replace

from ridedash.geo import LatLng
from ridedash.places import (
    Geocoder,
    Place,
    TypedPlaces,
    Unread,
    address,
    coordinates_text,
    parse_coordinates,
)
from ridedash.wording import gettext as _


def pin_words(point: LatLng) -> str:
    """The name of a pin with its coordinates, written as by the page's script."""
    return f"{_('Pin on the map')} ({coordinates_text(point)})"


def coordinates_words(near: LatLng | None) -> str:
    """How to type coordinates, with an example where the property is: -38.500, -128.000."""
    if near is None:
        return _("coordinates: latitude, longitude")
    return _("coordinates such as %(example)s", example=f"{near.lat:.3f}, {near.lng:.3f}")


def is_pin(name: str | None) -> bool:
    """Whether a name is not that of a place: empty, only coordinates, or made for a pin."""
    words = (name or "").strip()
    return (
        not words
        or bool(parse_coordinates(words))
        or words.startswith((_("Pin on the map"), _near("")))
    )


def pin_name(geocoder: Geocoder, name: str, point: LatLng) -> str:
    """A better name for an end that is a nameless pin or has only coordinates for a name."""
    is_typed = bool(name) and parse_coordinates(name) is not None
    if name and not is_typed and not name.startswith(_("Pin on the map")):
        return name
    found = geocoder.nearby(point)
    words = address((found.street, found.area)) if found else ""
    if words:
        return _near(words)[:200]
    if is_typed:
        return name
    return pin_words(point)


def named_points(geocoder: Geocoder, typed: TypedPlaces) -> tuple[Place, ...]:
    """The places of a typed text; a point without a name of its own is named by what is near."""
    return tuple(
        place if place.name else replace(place, name=pin_name(geocoder, "", place.position))
        for place in typed.places
    )


def only_place(found: Sequence[Place], name: str) -> Place | None:
    """The place that a name means beyond doubt: the only one of this name, or the only one."""
    exact = [place for place in found if place.name.casefold() == name.casefold()] or found
    if len(exact) != 1:
        return None
    return exact[0]


def _near(place: str) -> str:
    return _("Near %(place)s", place=place)


def unread_words(reason: Unread | str) -> str:
    """Why no place is read from a text, and what to do instead."""
    return {
        Unread.SHORT_LINK: _(
            "A shortened link names no place by itself. Open it, and copy the name of the place or "
            "its coordinates."
        ),
        Unread.OTHER_LINK: _(
            "There is no place in this link. Type the name, or paste coordinates."
        ),
        Unread.ROUTE: _("This link is a way from one place to another. Paste the place alone."),
        Unread.SEVERAL: _("There is more than one place in this text. Paste one of them."),
        Unread.EITHER_SIDE: _("O may be east or west. Write E for east or W for west."),
        Unread.CODE: _(
            "The town of this plus code is not found. Paste the whole code, with its town."
        ),
    }[Unread(reason)]
