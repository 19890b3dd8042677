"""The tracking page of an order, what it polls, and what staff can do to the ride."""

import json
import time
import zlib
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Request, Response, abort, g, jsonify, redirect, render_template, request
from werkzeug.exceptions import NotFound
from werkzeug.http import http_date
from werkzeug.wrappers import Response as BaseResponse

from ridedash.__about__ import __version__
from ridedash.ext import language, limiter, services
from ridedash.rides import actions, attending, ordering, resolving
from ridedash.rides.actions import ActionResult
from ridedash.store import audit
from ridedash.store.orders import OrderPage, order_page
from ridedash.store.watching import mark_of
from ridedash.views import ride_forms
from ridedash.views.accounts import may_link
from ridedash.views.auth import current_sign_in, current_staff
from ridedash.views.formats import stamp
from ridedash.views.headers import let_forms_lead_to
from ridedash.views.permissions import BOOK, SEE, needs
from ridedash.views.poll_layer import SAID
from ridedash.views.poll_memory import KNOWN, Key, Ready
from ridedash.views.poll_turns import serves_s
from ridedash.views.presenters import RideView, ride_view
from ridedash.views.ride_forms import FormError
from ridedash.views.ride_page import SAYABLE, SAYABLE_CODES, page_context
from ridedash.views.start_codes import reveal, showings

bp = Blueprint("rides", __name__, url_prefix="/rides")

CODE_SHOWN_S: Final = 20
_CONDITIONS: Final = frozenset({"HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH", "HTTP_IF_MODIFIED_SINCE"})
Answer = str | tuple[str, int] | BaseResponse


@bp.get("/<int:order_id>")
@needs(SEE)
def show(order_id: int) -> Answer:
    """The page of an order, from the press of the button to the end of its ride."""
    return _page(_own(order_id))


@bp.get("/<int:order_id>/snapshot.json")
@needs(SEE)
def snapshot(order_id: int) -> BaseResponse:
    """What can change on the page (design.md, The snapshot). 304 when nothing did; its age is in the headers."""
    now = services().clock()
    return _sent(request, *ready_snapshot(order_id, now), now)


def remembered() -> BaseResponse | None:
    """A snapshot of a moment ago for somebody seen a moment ago: none of the hooks after this one could change it.

    Their sign-in stands in the environ (PollSessions), and was made for their property and role by the view itself.
    """
    asked: Request = request._get_current_object()  # type: ignore[attr-defined] # looked up once: this runs all day
    known = asked.environ.get(KNOWN)
    if known is None or asked.endpoint != "rides.snapshot" or not asked.view_args:
        return None
    s = services()
    key = Key(asked.view_args["order_id"], known.property_id, known.role, language())
    ready = s.polls.ready(key) if s.polls else None
    return _sent(asked, key, ready, s.clock()) if ready else None


def _sent(asked: Request, key: Key, ready: Ready, now: datetime) -> BaseResponse:
    asked.environ[SAID] = key, ready
    own = ("X-Server-Now", stamp(now)), ("Date", _date(int(time.time())))
    answer = Response(ready.body, headers=[*ready.facts, *own])
    return answer if _CONDITIONS.isdisjoint(asked.environ) else answer.make_conditional(asked)


def ready_snapshot(order_id: int, now: datetime) -> tuple[Key, Ready]:
    """What can change about an order that whoever asks may see, ready to be sent. 404 for a foreign one."""
    memory, staff = services().polls, current_staff()
    key = Key(order_id, staff.property_id, staff.role, language())
    if memory is None:
        _count_poll()
        return key, _rendered(key, now)
    began = memory.moment()  # made once for all who ask, so that nobody needs to be held back
    try:
        with memory.making(key) as made:
            return key, made or memory.keep(key, _rendered(key, now), began)
    except NotFound:  # which is not remembered
        _count_miss()
        raise


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return http_date(second)


@limiter.limit("240/minute", key_func=lambda: f"{current_sign_in().sign_in}:{_asked_for()}")
def _count_poll() -> None:
    """One browser may ask for one ride four times a second, so that twenty open pages don't hold each other back."""


@limiter.limit("240/minute", key_func=lambda: current_sign_in().sign_in)
def _count_miss() -> None:
    """One browser may ask for so many rides that are not there."""


def _asked_for() -> str:
    return str((request.view_args or {}).get("order_id") or request.args.get("ride", ""))


def _rendered(key: Key, now: datetime) -> Ready:
    """A snapshot made from the database."""
    page = _own(key.order_id)
    view = ride_view(page, now, services().settings, key.locale)
    body = json.dumps(view.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    # the digest: what time alone or an account changes has no version
    etag = f"{__version__}-{view.version}-{zlib.crc32(body):x}-{key.locale}-{key.role}"
    serves = serves_s(page, now, services().settings.pace)
    return Ready(mark_of(page.order, page.account, page.ride), body, etag, stamp(view.seen_at), serves)


@bp.post("/<int:order_id>/abort")
@needs(BOOK)
def stop_search(order_id: int) -> Answer:
    """Stop the search for a driver."""
    return _act(order_id, "abort", actions.abort)


@bp.post("/<int:order_id>/cancel")
@needs(BOOK)
def cancel(order_id: int) -> Answer:
    """Cancel the ride; arm or disarm a cancel while there is no booking number."""
    s, what = services(), request.form.get("what", "cancel")
    if what == "disarm":
        _own(order_id)
        result = actions.disarm_cancel(s.db, s.clock, order_id, current_staff().id)
        return _back(order_id, "disarm", result)
    reason = ride_forms.cancel_reason(request.form)
    if what == "arm":
        _own(order_id)
        return _back(order_id, "arm", actions.arm_cancel(s.db, s.clock, order_id, current_staff().id, reason))
    return _act(order_id, "cancel", actions.cancel, reason)


@bp.post("/<int:order_id>/drop")
@needs(BOOK)
def change_drop(order_id: int) -> Answer:
    """Ask for another drop: a point chosen on the map or from the list, or the one place of a typed name."""
    page = _own(order_id)
    s = services()
    near = page.offer.pickup_lat, page.offer.pickup_lng
    try:
        drop, name = ride_forms.new_drop(request.form, s.geocoder, near)
    except FormError as error:
        return _page(page, error), 422
    return _act(order_id, "drop", actions.change_drop, drop, name)


@bp.post("/<int:order_id>/feedback")
@needs(BOOK)
def give_feedback(order_id: int) -> Answer:
    """Send feedback: a rating, any of the service's options for it, a comment."""
    page = _own(order_id)
    try:
        rating, options, comments = ride_forms.feedback(request.form)
    except FormError as error:
        return _page(page, error), 422
    return _act(order_id, "feedback", actions.feedback, rating, options, comments)


@bp.post("/<int:order_id>/withdraw")
@needs(BOOK)
def withdraw(order_id: int) -> Answer:
    """Take back an order that was not sent yet."""
    _own(order_id)
    s = services()
    done = ordering.withdraw(s.db, s.clock, order_id, current_staff().id)
    return _back(order_id, "withdraw", ActionResult("done" if done else "not_now"))


@bp.post("/<int:order_id>/resolve")
@needs(BOOK)
def resolve(order_id: int) -> Answer:
    """Say what became of an order whose outcome is unknown, or open it again."""
    page, s, staff_id = _own(order_id), services(), current_staff().id
    what = request.form.get("what")
    if what == "seen":
        attending.acknowledge(s.db, s.clock, order_id, staff_id, request.form.get("item", ""))
        return redirect(f"/rides/{order_id}", code=303)
    if what == "stop":
        done = attending.stop_following(s.db, s.clock, order_id, staff_id)
        return _back(order_id, "stop", ActionResult("done" if done else "not_now"))
    if what == "reopen":
        done = ordering.reopen(s.db, s.clock, order_id, staff_id)
        return _back(order_id, "reopen", ActionResult("done" if done else "not_now"))
    try:
        if what == "booked":
            number = ride_forms.booking_number(request.form)
            checked = resolving.resolve_booked(s.db, s.client, s.tokens, s.clock, order_id, number, staff_id)
            ride_forms.refuse_unlinked(checked)
            s.wake()
            return _back(order_id, "resolve", ActionResult("done"))
        reason = ride_forms.not_booked_reason(request.form)
    except FormError as error:
        return _page(page, error), 422
    done = ordering.resolve_not_booked(s.db, s.clock, order_id, staff_id, reason)
    return _back(order_id, "resolve", ActionResult("done" if done else "not_now"))


@bp.post("/<int:order_id>/again")
@needs(BOOK)
def again(order_id: int) -> BaseResponse:
    """The booking form with this trip in it; the press is recorded, the new order will name this one."""
    page, s, staff = _own(order_id), services(), current_staff()
    with s.db.write() as db:
        audit.record(
            db, f"staff:{staff.id}", "again", f"orders:{order_id}", "ok", s.clock(), property_id=staff.property_id
        )
    return redirect("/rides/new?" + urlencode(ride_forms.again_query(page)), code=303)


@bp.post("/<int:order_id>/code")
@showings
@needs(BOOK)
def show_code(order_id: int) -> Answer:
    """The start code, for twenty seconds, and only while the service sends it. Recorded."""
    page, s = _own(order_id), services()
    code = reveal(page, ride_view(page, s.clock(), s.settings, language()))
    if not code:
        return (jsonify(error="no_code"), 409) if _wants_json() else redirect(f"/rides/{order_id}", code=303)  # type: ignore[return-value]
    if _wants_json():
        return jsonify(code=code, seconds=CODE_SHOWN_S)
    return _page(page, code=code)


def _act(order_id: int, name: str, deed: Callable[..., ActionResult], *args: Any) -> BaseResponse:
    _own(order_id)
    s = services()
    result = deed(s.db, s.client, s.tokens, s.clock, order_id, current_staff().id, *args)
    s.wake()
    return _back(order_id, name, result)


def _back(order_id: int, name: str, result: ActionResult) -> BaseResponse:
    """To the page, which says what came of it; refusals stand in the record and are shown from there."""
    code = f"-{result.code}" if result.code in SAYABLE_CODES and result.outcome != "done" else ""
    said = f"?said={name}-{result.outcome}{code}" if result.outcome in SAYABLE else ""
    return redirect(f"/rides/{order_id}{said}", code=303)


def _own(order_id: int) -> OrderPage:
    """The order, if it belongs to the property of whoever asks; a foreign one does not exist for them."""
    with services().db.read() as db:
        page = order_page(db, current_staff().property_id, order_id)
    if page is None:
        abort(404)
    return page


def _page(page: OrderPage, error: FormError | None = None, code: str = "") -> str:
    s = services()
    view: RideView = ride_view(page, s.clock(), s.settings, language())
    g.ride_view = view
    if may_link():
        let_forms_lead_to(s.settings.oauth_authorize_url)
    template = "rides/panel.html" if request.headers.get("X-Part") == "beside" else "rides/page.html"
    return render_template(template, **page_context(page, view, s, language(), error, code))


def _wants_json() -> bool:
    return request.accept_mimetypes.best == "application/json"
