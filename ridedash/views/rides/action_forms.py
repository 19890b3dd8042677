"""Reads the small forms of a ride page strictly. Pure, apart from the place search passed in."""

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.datastructures import MultiDict

from ridedash.forms.phones import PhoneError, grouped, read_phone
from ridedash.geo import LatLng, is_valid
from ridedash.places import (
    MOST_TYPED,
    Geocoder,
    PlacesUnavailableError,
    coordinates_text,
    find_typed,
)
from ridedash.rides.actions.correct_guest import GuestFacts
from ridedash.rides.orders.resolve import Checked
from ridedash.store.orders import OrderPage
from ridedash.text import MAX_NAME, lines, one_line, plain_code
from ridedash.views.web.place_names import named_points, only_place, unread_words
from ridedash.wording import gettext as _
from ridedash.wording import service_quote

NAME_MAX: Final = 200
TEXT_MAX: Final = 500
NUMBER_MAX: Final = 100
REASON_MIN: Final = 3
OPTIONS_MAX: Final = 20
ROOM_MAX: Final = 32
PHONE_MAX: Final = 60  # characters as typed
LABEL_MAX: Final = 300  # characters, like the limit for the service's own labels

Form = MultiDict[str, str]


class FormError(Exception):
    """A form that can't be used; `panel` is the panel to open again, `message` says why.

    `field` is the control that is wrong, where the panel has several; "" for none of them.
    """

    def __init__(self, panel: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.panel = panel
        self.message = message
        self.field = field


def cancel_reason(form: Form) -> str:
    """The reason to send to the service: the form's text, or a usual one if it has none."""
    return one_line(form.get("reason", ""), TEXT_MAX) or "Guest changed plans"


def new_drop(
    form: Form, geocoder: Geocoder, near: tuple[float, float]
) -> tuple[LatLng, str | None]:
    """The new drop and its name. Raises FormError."""
    text = one_line(form.get("name", ""), MOST_TYPED)
    name = text[:NAME_MAX].rstrip()
    chosen = _point(form.get("lat", ""), form.get("lng", ""))
    if chosen:
        return chosen, name or coordinates_text(chosen)
    if not name:
        raise FormError("drop", _("Type a place, or click it on the map."))
    try:
        typed = find_typed(geocoder, text, LatLng(*near))
    except PlacesUnavailableError:
        raise FormError(
            "drop", _("Places can't be searched right now. Click the map instead.")
        ) from None
    if typed.unread:
        raise FormError("drop", unread_words(typed.unread))
    best = only_place(named_points(geocoder, typed), name)
    if best is None:
        raise FormError("drop", _("Choose one place from the list, or click it on the map."))
    return best.position, best.name


def feedback(form: Form) -> tuple[int, list[str], str | None]:
    """Rating 1 to 5, the chosen labels, a comment. Raises FormError."""
    rating = form.get("rating", "")
    if rating not in ("1", "2", "3", "4", "5"):
        raise FormError("feedback", _("Choose one to five stars."))
    labels = form.getlist(f"option-{rating}")[:OPTIONS_MAX]
    options = [one_line(label, LABEL_MAX + 1) for label in labels]
    if any(len(label) > LABEL_MAX for label in options):  # not one of the service's labels
        raise FormError("feedback", _("Use %(n)d characters at most.", n=LABEL_MAX))
    return int(rating), options, lines(form.get("comments", ""), TEXT_MAX) or None


def booking_number(form: Form) -> str:
    """The booking number that staff typed. Raises FormError."""
    number = form.get("booking_id", "").strip()
    if not number or len(number) > NUMBER_MAX or not number.isprintable():
        raise FormError("resolve", _("Type the booking number."))
    return number


def not_booked_reason(form: Form) -> str:
    """The typed reason why staff are sure that nothing was booked. Raises FormError."""
    reason = one_line(form.get("reason", ""), TEXT_MAX)
    if len(reason) < REASON_MIN:
        raise FormError("resolve", _("Say how you know, in a few words."))
    return reason


def refuse_unlinked(checked: Checked) -> None:
    """Raise FormError unless the typed number was proved and linked."""
    if checked.outcome in ("booked", "booked_place_unconfirmed"):
        return
    words: Mapping[str, str] = {
        "not_found": _("The ride company does not know that number. Nothing was changed."),
        "far": _("That ride starts somewhere else. Nothing was changed."),
        "linked": _("That number belongs to another ride of ours. Nothing was changed."),
        "no_answer": _("The ride company did not answer. Nothing was changed; try again."),
        "wrong_state": _("This ride has moved on meanwhile."),
    }
    ours = words.get(checked.outcome, _("That number can't be used."))
    raise FormError("resolve", " ".join(filter(None, [ours, service_quote(checked.text)])))


def guest_facts(form: Form, country: str | None) -> tuple[GuestFacts, GuestFacts]:
    """The guest as the form showed them, and as they were typed. Raises FormError.

    A number that was not touched is not read again: it may be one of an older kind.
    """
    shown = GuestFacts(
        one_line(form.get("shown_name", "")),
        form.get("shown_phone", "").strip()[:PHONE_MAX] or None,
        one_line(form.get("shown_room", "")) or None,
    )
    name = one_line(form.get("guest_name", ""), MAX_NAME + 1)
    room = plain_code(one_line(form.get("guest_room", ""))) or None
    typed = form.get("guest_phone", "").strip()
    if not name:
        raise FormError("guest", _("Who is the ride for? Type the guest's name."), "guest_name")
    if len(name) > MAX_NAME:
        raise FormError("guest", _("Keep the name under 120 characters."), "guest_name")
    if room and len(room) > ROOM_MAX:
        raise FormError("guest", _("Keep it under 32 characters."), "guest_room")
    if typed in (shown.phone or "", grouped(shown.phone)):
        return shown, GuestFacts(name, shown.phone, room)
    try:
        if len(typed) > PHONE_MAX:
            raise PhoneError(_("Type the phone number with its country code."))
        return shown, GuestFacts(name, read_phone(typed, country), room)
    except PhoneError as error:
        raise FormError("guest", error.in_full, "guest_phone") from None


def again_query(page: OrderPage) -> dict[str, Any]:
    """The query of `/rides/new` that presets the form from an order."""
    offer = page.offer
    query: dict[str, Any] = {
        "again": page.order.id,
        "pickup_lat": offer.pickup_lat,
        "pickup_lng": offer.pickup_lng,
    }
    if offer.drop_lat is not None and offer.drop_lng is not None:
        query |= {"drop_lat": offer.drop_lat, "drop_lng": offer.drop_lng}
    return query | {"category": page.order.category}


def _point(lat: str, lng: str) -> LatLng | None:
    try:
        point = LatLng(float(lat), float(lng))
    except ValueError:
        return None
    return point if is_valid(*point) else None
