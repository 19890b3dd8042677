"""What staff do to a ride: one route for each action, which redirects to the page of the ride."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from flask import redirect, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.rides.actions import acknowledge, correct_guest
from ridedash.rides.actions import request as actions
from ridedash.rides.actions.correct_guest import CorrectedMeanwhile, Correction, GuestNotStored
from ridedash.rides.actions.request import ActionResult, arm_cancel, disarm_cancel, feedback
from ridedash.rides.orders import after_restore, guest_start, resolve
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, CommitUnknown, Database, DatabaseBusy
from ridedash.views.rides import action_forms
from ridedash.views.rides.access import own_order
from ridedash.views.rides.action_forms import FormError
from ridedash.views.rides.guest_pencil import OVERTAKEN, said
from ridedash.views.rides.page_context import QUERY_CODES, QUERY_OUTCOMES
from ridedash.views.rides.pages import Answer, bp, render_order
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import forward_form
from ridedash.wording import gettext as _

# the forms that posted to /rides/<id>/resolve in earlier releases, by their field `what`
FORWARDED: Final = {
    "booked": "rides.resolve_booked",
    "seen": "rides.acknowledge_item",
    "stop": "rides.stop_following",
    "reopen": "rides.reopen",
}


@bp.post("/<int:order_id>/abort")
@needs(BOOK)
def stop_search(order_id: int) -> Answer:
    """Stop the search for a driver."""
    return _act(order_id, "abort", actions.abort)


@bp.post("/<int:order_id>/cancel")
@needs(BOOK)
def cancel(order_id: int) -> Answer:
    """Cancel the ride. For a ride without a booking number, `what` is "arm" or "disarm": "arm"
    stores a cancel that the worker sends once the number is known, "disarm" withdraws it.
    """
    own_order(order_id)
    s = services()
    actor = current_staff().actor
    what = request.form.get("what", "cancel")
    if what == "disarm":
        disarmed = disarm_cancel(s.db, s.clock, order_id, actor)
        return _back(order_id, "disarm", disarmed)
    reason = action_forms.cancel_reason(request.form)
    if what == "arm":
        armed = arm_cancel(s.db, s.clock, order_id, actor, reason)
        return _back(order_id, "arm", armed)
    return _act(order_id, "cancel", actions.cancel, reason)


@bp.post("/<int:order_id>/drop")
@needs(BOOK)
def change_drop(order_id: int) -> Answer:
    """Change the drop to a chosen point, typed coordinates, or the place with a typed name.

    The form is refused unless the search for the name finds one place, or one of exactly that name.
    """
    page = own_order(order_id)
    s = services()
    near = page.offer.pickup_lat, page.offer.pickup_lng
    try:
        drop, name = action_forms.new_drop(request.form, s.geocoder, near)
    except FormError as error:
        return render_order(page, error), 422
    return _act(order_id, "drop", actions.change_drop, drop, name)


@bp.post("/<int:order_id>/feedback")
@needs(BOOK)
def give_feedback(order_id: int) -> Answer:
    """Send feedback: a rating, any of the service's options for it, a comment."""
    page = own_order(order_id)
    try:
        rating, options, comments = action_forms.feedback(request.form)
    except FormError as error:
        return render_order(page, error), 422
    return _act(order_id, "feedback", feedback, rating, options, comments)


@bp.post("/<int:order_id>/guest")
@needs(BOOK)
def correct(order_id: int) -> Answer:
    """Correct the guest, and redirect to the ride, which says what followed.

    What was typed stays in the form where it is refused, also if a colleague was faster.
    """
    page = own_order(order_id)
    s = services()
    staff = current_staff()
    try:
        shown, wanted = action_forms.guest_facts(request.form, page.property.country)
        others = bool(request.form.get("others"))
        wish = Correction(staff.property_id, order_id, staff.id, shown, wanted, others)
        done = correct_guest.correct(s.db, s.clock, wish)
    except FormError as error:
        return render_order(page, error), 422
    except CorrectedMeanwhile:
        words = _("A colleague corrected this guest meanwhile. Press again to save what you typed.")
        return render_order(own_order(order_id), FormError("guest", words, OVERTAKEN)), 422
    except GuestNotStored:
        words = _("This guest was removed: nothing is stored that could be corrected.")
        return render_order(own_order(order_id), FormError("guest", words)), 422
    except (DatabaseBusy, CommitUnknown):
        words = _("That could not be saved just now. Press again.")
        return render_order(page, FormError("guest", words)), 422
    if not done.changed:
        return redirect(f"/rides/{order_id}", code=303)
    return redirect(f"/rides/{order_id}?{said(done)}", code=303)


@bp.post("/<int:order_id>/withdraw")
@needs(BOOK)
def withdraw(order_id: int) -> Answer:
    """Withdraw an order that was not sent yet."""
    own_order(order_id)
    s = services()
    done = resolve.withdraw(s.db, s.clock, order_id, current_staff().actor)
    s.wake()
    return _back(order_id, "withdraw", _done_or_too_late(done))


@bp.post("/<int:order_id>/restore")
@needs(BOOK)
def restore(order_id: int) -> Answer:
    """Undo the withdrawal of a ride that is planned, or that its guest starts.

    This is possible for some seconds after the withdrawal.
    """
    planned = own_order(order_id).order.pickup_at is not None
    return _step(order_id, "restore" if planned else "wait", resolve.undo_withdrawal)


@bp.post("/<int:order_id>/release")
@needs(BOOK)
def release(order_id: int) -> Answer:
    """Let a ride that is held since the database was restored be ordered as planned."""
    return _step(order_id, "release", after_restore.release)


@bp.post("/<int:order_id>/start")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key)
def start(order_id: int) -> Answer:
    """Order a WAITING ride for the guest who was to start it.

    Staff can start it only under the same conditions as the guest.
    """
    own_order(order_id)
    s = services()
    try:
        started = guest_start.start(s.runtime, order_id, by_staff(current_staff().id))
    except guest_start.NotStarted:
        return redirect(f"/rides/{order_id}", code=303)  # the page shows the reason
    s.wake()
    return _back(order_id, "start", _done_or_too_late(started))


@bp.post("/<int:order_id>/ordered")
@needs(BOOK)
def ordered(order_id: int) -> Answer:
    """Mark a held ride as ordered before the restore: its outcome is unknown, no order is sent."""
    return _step(order_id, "ordered", after_restore.ordered_already)


@bp.post("/<int:order_id>/resolve/booked")
@needs(BOOK)
def resolve_booked(order_id: int) -> Answer:
    """Link the typed booking number to an order of unknown outcome, if the service knows it."""
    page = own_order(order_id)
    s = services()
    try:
        number = action_forms.booking_number(request.form)
        staff_id = current_staff().id
        checked = resolve.resolve_booked(s.runtime, order_id, number, staff_id)
        action_forms.refuse_unlinked(checked)
    except FormError as error:
        return render_order(page, error), 422
    s.wake()
    return _back(order_id, "resolve", ActionResult("done"))


@bp.post("/<int:order_id>/resolve/not-booked")
@needs(BOOK)
def resolve_not_booked(order_id: int) -> Answer:
    """Close an order whose outcome is unknown as not booked, with a typed reason."""
    page = own_order(order_id)
    s = services()
    try:
        reason = action_forms.not_booked_reason(request.form)
    except FormError as error:
        return render_order(page, error), 422
    done = resolve.resolve_not_booked(s.db, s.clock, order_id, current_staff().id, reason)
    return _back(order_id, "resolve", _done_or_too_late(done))


@bp.post("/<int:order_id>/reopen")
@needs(BOOK)
def reopen(order_id: int) -> Answer:
    """Open an order again that was closed as not booked."""
    return _step(order_id, "reopen", resolve.reopen)


@bp.post("/<int:order_id>/stop-following")
@needs(BOOK)
def stop_following(order_id: int) -> Answer:
    """End the polls of a ride that has not ended."""
    return _step(order_id, "stop", acknowledge.stop_following)


@bp.post("/<int:order_id>/acknowledge")
@needs(BOOK)
def acknowledge_item(order_id: int) -> Answer:
    """Clear an attention item that a member of staff has seen."""
    own_order(order_id)
    s = services()
    item = request.form.get("item", "")
    acknowledge.acknowledge(s.db, s.clock, order_id, current_staff().id, item)
    return redirect(f"/rides/{order_id}", code=303)


@bp.post("/<int:order_id>/resolve")
@needs(BOOK)
def forward_resolve(order_id: int) -> Answer:
    """The former address of five forms: forwards each to its own route."""
    own_order(order_id)
    endpoint = FORWARDED.get(request.form.get("what", ""), "rides.resolve_not_booked")
    return forward_form(endpoint, order_id=order_id)


@bp.post("/<int:order_id>/again")
@needs(BOOK)
def again(order_id: int) -> BaseResponse:
    """Redirect to the booking form with this trip; audited. The new order refers to this one."""
    page = own_order(order_id)
    s = services()
    staff = current_staff()
    with s.db.write() as db:
        audit.record(
            db,
            by_staff(staff.id),
            "again",
            f"orders:{order_id}",
            "ok",
            s.clock(),
            property_id=staff.property_id,
        )
    return redirect("/rides/new?" + urlencode(action_forms.again_query(page)), code=303)


def _act(order_id: int, name: str, action: Callable[..., ActionResult], *args: Any) -> BaseResponse:
    """Take an action that calls the service; `args` are those after the actor."""
    own_order(order_id)
    s = services()
    result = action(s.runtime, order_id, current_staff().actor, *args)
    s.wake()
    return _back(order_id, name, result)


def _step(
    order_id: int, name: str, step: Callable[[Database, Clock, int, int], bool]
) -> BaseResponse:
    """Take a step that makes no call to the service; `step` returns whether it was possible."""
    own_order(order_id)
    s = services()
    done = step(s.db, s.clock, order_id, current_staff().id)
    s.wake()
    return _back(order_id, name, _done_or_too_late(done))


def _done_or_too_late(done: bool) -> ActionResult:
    return ActionResult("done" if done else "not_now")


def _back(order_id: int, name: str, result: ActionResult) -> BaseResponse:
    """Redirect to the ride's page; the query names a result, for which the page has the words.

    The page reads a refusal by the service from the stored action.
    """
    if result.outcome not in QUERY_OUTCOMES:
        return redirect(f"/rides/{order_id}", code=303)
    query = f"said={name}-{result.outcome}"
    if result.code in QUERY_CODES and result.outcome != "done":
        query += f"-{result.code}"
    return redirect(f"/rides/{order_id}?{query}", code=303)
