"""Does what a guest in a story does at the kiosk, by the functions of the kiosk's pages."""

import hashlib
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.demo.stories.here import NotPlayed, here, offer_to_book
from ridedash.demo.stories.model import KioskBook, KioskLook
from ridedash.demo.stories.runs import StoryRun
from ridedash.extensions import services
from ridedash.rides.kiosk import place, tickets
from ridedash.rides.kiosk.approvals import GuestRequest
from ridedash.rides.kiosk.place import KioskPress
from ridedash.rides.kiosk.tickets import Looked
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.share_links import RideOver, give_link, token_of
from ridedash.rides.tracking.record import otp_of
from ridedash.store import audit, kiosk_visits
from ridedash.store.actors import by_kiosk
from ridedash.store.kiosks import devices_of
from ridedash.store.models.kiosks import Kiosk, KioskKind, Ticket
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner
from ridedash.views.web.formatting import zone

VISIT_LENGTH: Final = 16


def book_alone(run: StoryRun, action: KioskBook) -> dict[str, Any]:
    """Book as a guest does at the kiosk, once for each run. Raises NotPlayed and NotYet.

    If the kiosk of the stage has booked already, that order is used.
    """
    s = services()
    at = here()
    kiosk_id = _kiosk(at.property_id)
    booked = _find_order(run, action, kiosk_id)
    if booked is not None:
        return _booked_values(run, action, booked)
    owner = OfferOwner(at.property_id, by_kiosk(kiosk_id))
    offer = offer_to_book(owner, at.trip(action.to), action.car, action.language)
    request = GuestRequest(action.guest, None, None, None)
    visit, page = _visit(run, action.ride)
    press = KioskPress(kiosk_id, at.property_id, visit, page, offer, request, action.language)
    with s.db.read() as session:
        tz = zone(session.get_one(Property, at.property_id).timezone)
    try:
        order_id = place.book(s.runtime, s.settings.secret_key, press, tz).order_id
    except PlaceError as error:
        raise NotPlayed(f"the kiosk does not book: {error}") from error
    # no page of a kiosk reports here that it has shown the ticket; without that record the desk
    # would be alerted
    with s.db.write() as session:
        _note_ticket(session, run, action.ride, kiosk_id, order_id)
    s.wake()
    return _booked_values(run, action, order_id)


def _booked_values(run: StoryRun, action: KioskBook, order_id: int) -> dict[str, Any]:
    orders = run.values.get("orders", {}) | {action.ride: order_id}
    return {"orders": orders, "language": action.language}


def _find_order(run: StoryRun, action: KioskBook, kiosk_id: int) -> int | None:
    """The id of the order that this guest has made; None before there is one."""
    secret = place.page_secret(kiosk_id, *_visit(run, action.ride))
    with services().db.read() as session:
        order = place.order_of_press(session, kiosk_id, secret)
    return None if order is None else order.id


def fields_to_book(run: StoryRun, action: KioskBook) -> dict[str, str] | None:
    """What the kiosk of the stage is to type as this guest; None once it has booked.

    The references are the run's, so there is one order, whether the kiosk or the interpreter makes
    it.
    """
    visit, page = _visit(run, action.ride)
    if _find_order(run, action, _kiosk(run.property_id)) is not None:
        return None
    fields = {
        "drop": action.to,
        "car": action.car,
        "name": action.guest,
        "language": action.language,
    }
    return fields | {"visit": visit, "form_token": page}


def fields_to_look(run: StoryRun, action: KioskLook) -> dict[str, Any]:
    """What the kiosk of the stage is to type to look up a ride. Raises NotPlayed.

    `language` is the guest's; "" for a wrong PIN, which someone else types.
    """
    with services().db.read() as session:
        number = _ticket(session, _order(run, action)).number
    pin = _pin(run, action, _kiosk(run.property_id))
    language = run.values.get("language", "") if action.right else ""
    fields = {"number": str(number), "pin": pin, "language": language}
    return fields | {"right": action.right, "code": action.code}


def look_alone(run: StoryRun, action: KioskLook) -> dict[str, Any]:
    """Type the ride's number and a PIN at the kiosk; the right one opens it. Raises NotPlayed.

    A wrong PIN and a look at the start code are not repeated if the stage's kiosk has done them.
    """
    s = services()
    kiosk_id = _kiosk(run.property_id)
    order_id = _order(run, action)
    with s.db.write() as session:
        found = action.right
        if not _is_done(session, run, kiosk_id, action):
            found = _typed(session, kiosk_id, order_id, _pin(run, action, kiosk_id))
            if found and action.code:
                _show_code(session, kiosk_id, order_id)
        if found:
            _note_ticket(session, run, action.ride, kiosk_id, order_id)
    if found is not action.right:
        raise NotPlayed("the kiosk took a wrong PIN, or refused the right one")
    noted = {"noted": [*run.values.get("noted", ()), _note_of(action)]}
    return noted | _link(kiosk_id, order_id, _secret(run, action, kiosk_id))


def _note_ticket(s: Session, run: StoryRun, ride: str, kiosk_id: int, order_id: int) -> None:
    """Record that the guest has seen the ticket's number and PIN."""
    seen = kiosk_visits.Visit(_visit(run, ride)[0], kiosk_id, run.property_id)
    kiosk_visits.note_ticket(s, seen, order_id, services().clock())


def _order(run: StoryRun, action: KioskLook) -> int:
    found = run.order(action.ride)
    if found is None:
        raise NotPlayed(f"{action.ride} was not booked")
    return found


def _secret(run: StoryRun, action: KioskLook, kiosk_id: int) -> str:
    return place.page_secret(kiosk_id, *_visit(run, action.ride))


def _note_of(action: KioskLook) -> str:
    if action.code:
        return "code"
    if action.right:
        return "opened"
    return "wrong_pin"


def _pin(run: StoryRun, action: KioskLook, kiosk_id: int) -> str:
    """The PIN of the ride, or a wrong one."""
    secret = _secret(run, action, kiosk_id)
    right = tickets.pin_of(services().settings.secret_key, secret)
    if action.right:
        return right
    return f"{(int(right) + 1) % 10**tickets.PIN_DIGITS:04d}"


def _is_done(session: Session, run: StoryRun, kiosk_id: int, action: KioskLook) -> bool:
    """Whether the kiosk has already refused a PIN of this ride, or shown its start code.

    Which of the two is asked depends on the action. Always False for a look that is to do neither.
    """
    order_id = _order(run, action)
    if not action.right:
        return _ticket(session, order_id).tries > 0
    if not action.code:
        return False
    shown = select(audit.AuditRow.id).where(
        audit.AuditRow.what == "code_shown",
        audit.AuditRow.who == str(by_kiosk(kiosk_id)),
        audit.AuditRow.subject == f"orders:{order_id}",
        audit.AuditRow.at >= run.began_at,
    )
    return session.scalars(shown.limit(1)).first() is not None


def _ticket(session: Session, order_id: int) -> Ticket:
    found = tickets.ticket_of(session, order_id)
    if found is None:
        raise NotPlayed("the ride has no ticket")
    return found


def _typed(session: Session, kiosk_id: int, order_id: int, pin: str) -> bool:
    """Whether number and PIN open the ride; a wrong PIN counts as on the kiosk itself."""
    s = services()
    ticket = _ticket(session, order_id)
    typed = tickets.ride_number(ticket.number), pin
    at = ticket.property_id, kiosk_id
    look = tickets.look_up_at(session, s.settings.secret_key, at, typed, s.clock())
    if look.what is Looked.LIMITED:
        raise NotPlayed("the kiosk has had too many wrong PINs: wait for ten minutes")
    return look.order_id == order_id


def _show_code(session: Session, kiosk_id: int, order_id: int) -> None:
    """Record that the kiosk has shown the start code. Raises NotPlayed if there is none yet."""
    s = services()
    ride = session.scalars(select(Ride).where(Ride.order_id == order_id)).first()
    if ride is None or not otp_of(ride, s.vault):
        raise NotPlayed("the ride has no start code yet")
    audit.record_code_shown(session, by_kiosk(kiosk_id), ride, "kiosk", s.clock())


def _link(kiosk_id: int, order_id: int, secret: str) -> dict[str, str]:
    """The link that the kiosk shows as a QR code, the same each time; {} once the ride is over."""
    s = services()
    token = token_of(s.settings.secret_key, secret)
    try:
        give_link(s.db, s.clock(), order_id, by_kiosk(kiosk_id), token)
    except RideOver:
        return {}
    return {"link": f"/t/{token}"}


def _kiosk(property_id: int) -> int:
    """The id of the first kiosk that works and has no place of its own. Raises NotPlayed."""
    with services().db.read() as session:
        found = devices_of(session, property_id, KioskKind.KIOSK)
    usable = [each for each in found if _works(each)]
    if not usable:
        raise NotPlayed("the property has no kiosk that works")
    return usable[0].id


def _works(kiosk: Kiosk) -> bool:
    # a kiosk without a place of its own stands at the property's door
    return not kiosk.out_of_order and kiosk.lat is None


def _visit(run: StoryRun, ride: str) -> tuple[str, str]:
    """The id of the visit of a run's guest, and the secret of its page.

    Both are derived from the run's form token for the ride: a repeated step has the same ones.
    """
    digest = hashlib.sha256(run.token(ride).encode()).hexdigest()
    return digest[:VISIT_LENGTH], digest[VISIT_LENGTH:]
