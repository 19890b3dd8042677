"""Does the deeds of a story, by the same functions as the buttons of the pages."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ridedash.demo.beginning import control, follow
from ridedash.demo.phone import give_newest
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.stories.here import Here, NotPlayed, here, offer_to_book, offered, place_named
from ridedash.demo.stories.kiosk_deeds import book_alone, look_alone
from ridedash.demo.stories.model import (
    Act,
    Ask,
    Book,
    Clock,
    Deed,
    Fault,
    KioskBook,
    KioskLook,
    Press,
    Scenario,
)
from ridedash.demo.stories.runs import Run
from ridedash.demo.words import FAULTS
from ridedash.extensions import Services, services
from ridedash.rides.actions import request as actions
from ridedash.rides.actions.call import ActionResult
from ridedash.rides.orders import resolve
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import PlaceError, TokenReused, place
from ridedash.rides.share_links import LinkKind, RideOver, TooManyLinks, make_link
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner
from ridedash.views.booking.estimates import EstimateFailedError
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _


def do(run: Run, deed: Deed) -> dict[str, Any]:
    """Do a deed. Returns the values that the run has to keep. Raises NotPlayed and NotYet."""
    try:
        match deed:
            case Book():
                return _book(run, deed)
            case Act():
                return _act(run, deed)
            case Ask():
                return _ask(run, deed)
            case KioskBook():
                return book_alone(run, deed)
            case KioskLook():
                return look_alone(run, deed)
            case Scenario(name):
                control().arm(name)
            case Clock():
                _set(deed)
            case Fault():
                return _break(deed)
    except NotDone as error:
        raise NotPlayed("the sandbox does not answer") from error
    except (RideOver, TooManyLinks) as error:
        raise NotPlayed("the ride gets no link any more") from error
    return {}


def _book(run: Run, deed: Book) -> dict[str, Any]:
    """Order the ride. The form token is the run's, so repeating this makes no second order."""
    s, at = services(), here(deed.account)
    wanted = BookingRequest(
        property_id=at.property_id,
        actor=current_staff().actor,
        form_token=run.token(deed.ride),
        offer_id=offer_to_book(_owner(at), at.trip(deed.to), deed.car, locale()),
        guest_name=deed.guest,
        guest_room=deed.room,
        guest_language=deed.language,
        seats=deed.seats,
        payment=deed.payment,
        account_id=at.account_id,
    )
    try:
        order_id = place(s.db, s.clock, wanted).order_id
    except TokenReused as error:
        order_id = error.order_id
    except PlaceError as error:
        raise NotPlayed(str(error)) from error
    s.wake()
    return {"orders": run.kept.get("orders", {}) | {deed.ride: order_id}}


def _owner(at: Here) -> OfferOwner:
    return OfferOwner(at.property_id, current_staff().actor, at.account_id)


def _act(run: Run, deed: Act) -> dict[str, Any]:
    order_id = run.order(deed.ride)
    if order_id is None:
        raise NotPlayed(f"{deed.ride} was not booked")
    s, who = services(), current_staff().actor
    give_newest(current_staff().property_id)
    result: ActionResult | None = None
    match deed.press:
        case Press.ABORT:
            result = actions.abort(s.runtime, order_id, who)
        case Press.CANCEL:
            result = actions.cancel(s.runtime, order_id, who, "No longer needed")
        case Press.ARM_CANCEL:
            result = actions.arm_cancel(s.db, s.clock, order_id, who, "No longer needed")
        case Press.RELEASE_CANCEL:
            result = actions.disarm_cancel(s.db, s.clock, order_id, who)
        case Press.CHANGE_DROP:
            drop = place_named(deed.text, here().pickup)
            result = actions.change_drop(s.runtime, order_id, who, drop, deed.text)
        case Press.FEEDBACK:
            result = actions.feedback(s.runtime, order_id, who, int(deed.text))
        case Press.LINK:
            now, mine = s.clock(), current_staff().property_id
            link = make_link(s.db, now, mine, order_id, LinkKind.RIDER, who)
            return {"link": f"/t/{link}"}
        case Press.SETTLE:
            number = _settle(s, order_id)
            s.wake()
            return {"told": _("Booking number in the ledger: %(number)s", number=number)}
    s.wake()
    if result is None:
        return {}
    pressed = {f"{deed.ride} {deed.press}": result.outcome}
    return {"pressed": run.kept.get("pressed", {}) | pressed}


def _settle(s: Services, order_id: int) -> str:
    """Link an order of unknown outcome to its booking, whose number the sandbox's ledger has."""
    with s.db.read() as session:
        mtx = session.get_one(Order, order_id).mtx
    number = next((each.booking_id for each in control().ledger() if each.mtx == mtx), None)
    if number is None:
        raise NotPlayed("the ledger has no such booking")
    resolve.resolve_booked(s.runtime, order_id, number, current_staff().id)
    return number


def _break(deed: Fault) -> dict[str, Any]:
    body = dict(FAULTS[deed.name].body)
    if deed.lasts_s is not None:
        body["seconds"] = deed.lasts_s
    control().add_fault(body)
    return {}


def _ask(run: Run, deed: Ask) -> dict[str, Any]:
    """The price of the car, or why it is not offered, in the words of the desk.

    Raises NotYet while the service gives no answer.
    """
    at = here()
    try:
        card = offered(_owner(at), at.trip(deed.to), deed.car, locale())
    except EstimateFailedError as error:
        return _answered(run, deed, f"{error.headline}. {error.detail}", refused=error.headline)
    if card.amount is None:
        raise NotPlayed(f"no {deed.car} has a price")
    told = _("%(car)s: %(price)s", car=card.name, price=card.price_text)
    if card.surge:
        told = f"{told}. {card.surge_means}"
    line = f"{clock_time(control().clock().at, _zone(), locale())} · {told}"
    before = [each["line"] for each in run.kept.get("asked", {}).values() if "line" in each]
    return _answered(
        run,
        deed,
        "; ".join([*before, line]),
        line=line,
        price=card.price,
        amount=str(card.amount),
        busy=card.surge,
    )


def _answered(run: Run, deed: Ask, told: str, **facts: str) -> dict[str, Any]:
    return {"told": told, "asked": run.kept.get("asked", {}) | {deed.name: facts}}


def _set(deed: Clock) -> None:
    """Set the clock to a local time of the day on which the story plays."""
    now = control().clock().at.astimezone(_zone())
    wanted = datetime.combine(now.date(), deed.at, now.tzinfo)
    give_newest(current_staff().property_id)
    try:
        control().set(wanted, 0)
    except NotDone as error:
        if wanted < now:
            raise NotPlayed("the clock was led past that time by hand") from error
        raise
    follow()


def _zone() -> ZoneInfo:
    with services().db.read() as s:
        return zone(s.get_one(Property, current_staff().property_id).timezone)
