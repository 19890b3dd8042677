"""Cancels all cars of a group, after showing the costs for each car and their sum."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.rides.actions.stop_all import STEPS, stop_all
from ridedash.store.orders import OrderPage
from ridedash.views.booking.groups import GroupCar, car_of, group_facts, group_of
from ridedash.views.booking.undo import bring_back
from ridedash.views.rides.action_forms import cancel_reason
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.page_context import REASONS
from ridedash.views.rides.view_model import allowed_actions
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import money
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("group_stop", __name__)
FREE: Final = Decimal(0)
Answer = str | tuple[str, int] | BaseResponse


@dataclass(frozen=True)
class CarStop:
    """The way in which one car of a group can be stopped now.

    `step` is one of STEPS, "" if the car can't be stopped. `fee` is the present cost by the policy
    of its offer, None if the offer states no fee. `words` describe step and fee.
    """

    car: GroupCar
    step: str
    fee: Decimal | None
    currency: str | None
    words: str


@bp.get("/groups/<int:order_id>/cancel")
@needs(BOOK)
def ask(order_id: int) -> Answer:
    """Show what would be cancelled, and the costs."""
    pages = group_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    return _page(order_id, pages, stops_of(pages))


@bp.post("/groups/<int:order_id>/cancel")
@needs(BOOK)
def cancel_all(order_id: int) -> Answer:
    """Cancel the cars that the page listed; if steps or fees have changed, list them again."""
    pages = group_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}", 303)
    stops = stops_of(pages)
    if request.form.get("plan", "") != plan_of(stops):
        return _page(order_id, pages, stops, changed=True), 409
    s = services()
    steps = {stop.car.order_id: stop.step for stop in stops if stop.step}
    stop_all(s.runtime, steps, current_staff().actor, cancel_reason(request.form))
    s.wake()
    return redirect(f"/groups/{order_id}", 303)


@bp.post("/groups/<int:order_id>/restore")
@needs(BOOK)
def restore(order_id: int) -> Answer:
    """Undo the cancelling of planned cars; this is possible for some seconds."""
    return bring_back(group_of(order_id), f"/groups/{order_id}")


def stops_of(pages: list[OrderPage]) -> list[CarStop]:
    """The way in which each car can be stopped now."""
    return [_stop(number, page) for number, page in enumerate(pages, 1)]


def plan_of(stops: list[CarStop]) -> str:
    """Steps and fees as text: a press sends it back, and so applies only to what was shown."""
    return ",".join(f"{stop.car.order_id}:{stop.step}:{stop.fee}" for stop in stops if stop.step)


def cost_words(stops: list[CarStop]) -> str:
    """Sentences with the current costs of cancelling all of these cars."""
    steps = [stop for stop in stops if stop.step]
    fees = [stop for stop in steps if stop.fee]
    without_fee = sum(stop.fee is None for stop in steps)
    sentences = []
    if fees:
        total = money(sum((stop.fee or FREE for stop in fees), FREE), fees[0].currency, locale())
        each = {stop.fee for stop in fees}
        one = money(fees[0].fee or FREE, fees[0].currency, locale())
        if len(fees) > 1 and len(each) == 1:
            total = _("%(n)d × %(each)s = %(sum)s", n=len(fees), each=one, sum=total)
        sentences.append(_("Cancelling may cost %(sum)s now.", sum=total))
    elif without_fee < len(steps):
        sentences.append(_("Cancelling is free now."))
    if without_fee:
        sentences.append(_("For %(n)d of them the ride company has told no fee.", n=without_fee))
    return " ".join(sentences)


def _stop(number: int, page: OrderPage) -> CarStop:
    car = car_of(number, page)
    app = services()
    facts = RideFacts(page, app.clock(), app.time(), locale())
    allowed = (each.name for each in allowed_actions(page) if each.allowed and each.name in STEPS)
    step = next(allowed, "")
    fee, words = _fee(facts, step)
    policy = facts.policy
    currency = (policy.currency if policy else None) or facts.currency
    return CarStop(car, step, fee, currency, words)


def _fee(facts: RideFacts, step: str) -> tuple[Decimal | None, str]:
    """The current fee of a step, and the same in words."""
    if not step:
        return FREE, _("Stays as it is")
    if step == "withdraw":
        return FREE, _("Nothing is booked yet: free")
    if step == "abort":
        return FREE, _("The search is stopped: free")
    policy = facts.policy
    if policy is None:
        return None, _("The ride company has told no fee")
    if not policy.charge:
        return FREE, _("Free to cancel")
    if facts.fee_from is not None and facts.now < facts.fee_from:
        until = facts.at(facts.fee_from, seconds=True)
        return FREE, _("Free until %(time)s, then %(fee)s", time=until, fee=facts.fee)
    if facts.held_free:
        return FREE, _("Free to cancel")
    if step == "arm":
        return policy.charge, _("Cancelled once it is matched; %(fee)s may apply", fee=facts.fee)
    return policy.charge, _("%(fee)s may be charged", fee=facts.fee)


def _page(
    order_id: int, pages: list[OrderPage], stops: list[CarStop], *, changed: bool = False
) -> str:
    count = sum(bool(stop.step) for stop in stops)
    return render_template(
        "booking/group_stop.html",
        **group_facts(order_id, pages),
        stops=stops,
        count=count,
        plan=plan_of(stops),
        cost=cost_words(stops),
        changed=changed,
        reasons=REASONS,
    )
