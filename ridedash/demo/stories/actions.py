"""Does the actions of a story, by the same functions as the buttons of the pages."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ridedash.demo.beginning import control, follow
from ridedash.demo.phone import give_newest
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.stories.figures import overview_of
from ridedash.demo.stories.here import (
    NotPlayed,
    StoryProperty,
    here,
    offer_to_book,
    offered,
    place_named,
)
from ridedash.demo.stories.kiosk_actions import book_alone, look_alone
from ridedash.demo.stories.model import (
    Act,
    Action,
    AddFault,
    Ask,
    Book,
    KioskBook,
    KioskLook,
    Overview,
    PressAction,
    Scenario,
    SetClock,
)
from ridedash.demo.stories.runs import StoryRun
from ridedash.demo.words import FAULTS
from ridedash.extensions import Services, services
from ridedash.rides.actions import request as ride_actions
from ridedash.rides.actions.call import ActionResult
from ridedash.rides.orders import resolve
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import TokenReused, place
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.share_links import LinkKind, RideOver, TooManyLinks, make_link
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner
from ridedash.views.booking.estimates import EstimateFailedError
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _


def do(run: StoryRun, action: Action) -> dict[str, Any]:
    """Do an action. Returns the values that the run has to store. Raises NotPlayed and NotYet."""
    try:
        match action:
            case Book():
                return _book(run, action)
            case Act():
                return _act(run, action)
            case Ask():
                return _ask(run, action)
            case Overview():
                return {"told": overview_of(run).words}
            case KioskBook():
                return book_alone(run, action)
            case KioskLook():
                return look_alone(run, action)
            case Scenario(name):
                control().arm(name)
            case SetClock():
                _set(action)
            case AddFault():
                return _break(action)
    except NotDone as error:
        raise NotPlayed("the sandbox does not answer") from error
    except (RideOver, TooManyLinks) as error:
        raise NotPlayed("the ride gets no link any more") from error
    return {}


def _book(run: StoryRun, action: Book) -> dict[str, Any]:
    """Order the ride. The form token is the run's, so a repetition makes no second order."""
    s = services()
    at = here(action.account)
    wanted = BookingRequest(
        property_id=at.property_id,
        actor=current_staff().actor,
        form_token=run.token(action.ride),
        offer_id=offer_to_book(_owner(at), at.trip(action.to), action.car, locale()),
        guest_name=action.guest,
        guest_room=action.room,
        guest_language=action.language,
        seats=action.seats,
        payment=action.payment,
        account_id=at.account_id,
    )
    try:
        order_id = place(s.db, s.clock, wanted).order_id
    except TokenReused as error:
        order_id = error.order_id
    except PlaceError as error:
        raise NotPlayed(str(error)) from error
    s.wake()
    return {"orders": run.values.get("orders", {}) | {action.ride: order_id}}


def _owner(at: StoryProperty) -> OfferOwner:
    return OfferOwner(at.property_id, current_staff().actor, at.account_id)


def _act(run: StoryRun, action: Act) -> dict[str, Any]:
    order_id = run.order(action.ride)
    if order_id is None:
        raise NotPlayed(f"{action.ride} was not booked")
    s = services()
    who = current_staff().actor
    give_newest(current_staff().property_id)
    result: ActionResult | None = None
    match action.press:
        case PressAction.ABORT:
            result = ride_actions.abort(s.runtime, order_id, who)
        case PressAction.CANCEL:
            result = ride_actions.cancel(s.runtime, order_id, who, "No longer needed")
        case PressAction.ARM_CANCEL:
            result = ride_actions.arm_cancel(s.db, s.clock, order_id, who, "No longer needed")
        case PressAction.RELEASE_CANCEL:
            result = ride_actions.disarm_cancel(s.db, s.clock, order_id, who)
        case PressAction.CHANGE_DROP:
            drop = place_named(action.text, here().pickup)
            result = ride_actions.change_drop(s.runtime, order_id, who, drop, action.text)
        case PressAction.FEEDBACK:
            result = ride_actions.feedback(s.runtime, order_id, who, int(action.text))
        case PressAction.LINK:
            now = s.clock()
            mine = current_staff().property_id
            link = make_link(s.db, now, mine, order_id, LinkKind.RIDER, who)
            return {"link": f"/t/{link}"}
        case PressAction.SETTLE:
            number = _settle(s, order_id)
            s.wake()
            return {"told": _("Booking number in the ledger: %(number)s", number=number)}
    s.wake()
    if result is None:
        return {}
    pressed = {f"{action.ride} {action.press}": result.outcome}
    return {"pressed": run.values.get("pressed", {}) | pressed}


def _settle(s: Services, order_id: int) -> str:
    """Link an order of unknown outcome to its booking, whose number the sandbox's ledger has."""
    with s.db.read() as session:
        mtx = session.get_one(Order, order_id).mtx
    number = next((each.booking_id for each in control().ledger() if each.mtx == mtx), None)
    if number is None:
        raise NotPlayed("the ledger has no such booking")
    resolve.resolve_booked(s.runtime, order_id, number, current_staff().id)
    return number


def _break(action: AddFault) -> dict[str, Any]:
    body = dict(FAULTS[action.name].body)
    if action.lasts_s is not None:
        body["seconds"] = action.lasts_s
    control().add_fault(body)
    return {}


def _ask(run: StoryRun, action: Ask) -> dict[str, Any]:
    """The price of the car, or why it is not offered, in the words of the desk.

    Raises NotYet while the service gives no answer.
    """
    at = here()
    try:
        card = offered(_owner(at), at.trip(action.to), action.car, locale())
    except EstimateFailedError as error:
        return _price_values(
            run, action, f"{error.headline}. {error.detail}", refused=error.headline
        )
    if card.amount is None:
        raise NotPlayed(f"no {action.car} has a price")
    text = _("%(car)s: %(price)s", car=card.name, price=card.price_text)
    if card.surge:
        text = f"{text}. {card.surge_means}"
    line = f"{clock_time(control().clock().at, _zone(), locale())} · {text}"
    before = [each["line"] for each in run.values.get("asked", {}).values() if "line" in each]
    return _price_values(
        run,
        action,
        "; ".join([*before, line]),
        line=line,
        price=card.price,
        amount=str(card.amount),
        busy=card.surge,
    )


def _price_values(run: StoryRun, action: Ask, text: str, **facts: str) -> dict[str, Any]:
    return {"told": text, "asked": run.values.get("asked", {}) | {action.name: facts}}


def _set(action: SetClock) -> None:
    """Set the sandbox's clock to a local time of its present day, and hold it there."""
    now = control().clock().at.astimezone(_zone())
    wanted = datetime.combine(now.date(), action.at, now.tzinfo)
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
