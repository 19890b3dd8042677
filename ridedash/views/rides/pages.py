"""The tracking page of an order, and its polls."""

import json
import zlib
from datetime import datetime
from typing import Final

from flask import Blueprint, current_app, g, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import language, limiter, services
from ridedash.rides.tracking.merge import DRIVER_LOST
from ridedash.store.orders import OrderPage, path_of
from ridedash.views.poll_cache.cache import offer
from ridedash.views.rides.access import own_order
from ridedash.views.rides.action_forms import FormError
from ridedash.views.rides.guest_language import desk_view
from ridedash.views.rides.handouts import reveal, showings
from ridedash.views.rides.page_context import page_context
from ridedash.views.rides.snapshot import snapshot_of
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.current_user import by_staff_key, current_sign_in
from ridedash.views.web.permissions import BOOK, SEE, may_link, needs
from ridedash.views.web.responses import PollBody, poll_response, wants_json
from ridedash.views.web.security_headers import let_forms_lead_to

bp = Blueprint("rides", __name__, url_prefix="/rides")
CODE_SHOWN_S: Final = 20
Answer = str | tuple[str, int] | BaseResponse


@bp.get("/<int:order_id>")
@needs(SEE)
def show(order_id: int) -> Answer:
    """Show the page of an order, from the press of Book to the end of its ride."""
    return render_order(own_order(order_id))


@bp.get("/<int:order_id>/snapshot.json")
@needs(SEE)
def snapshot(order_id: int) -> BaseResponse:
    """The parts of the page that can change; 304 if none did. Headers tell how old they are."""
    now = services().clock()
    sign_in = current_sign_in()
    key, entry = snapshot_of(order_id, now)
    offer(key, entry, sign_in.sign_in, sign_in.expires_at)
    return poll_response(entry.value, now)


@bp.get("/<int:order_id>/path.json")
@needs(SEE)
@limiter.limit("240/minute", key_func=by_staff_key)
def path(order_id: int) -> BaseResponse:
    """The path that the guest's cab has driven, as [[lat, lng], …]; empty after its deletion.

    A page requests it when it opens and after a gap, and adds the positions of its polls.
    """
    page = own_order(order_id)
    s = services()
    with s.db.read() as db:
        found = path_of(db, order_id, _came_at(page))
    body = json.dumps({"path": [[round(lat, 5), round(lng, 5)] for lat, lng in found]}).encode()
    return poll_response(PollBody(body, f"path-{zlib.crc32(body):x}", ""), s.clock())


def _came_at(page: OrderPage) -> datetime | None:
    """When the previous cab was lost or replaced; None if this cab is the first."""
    gone = [each.at for each in page.events if each.name == DRIVER_LOST]
    if page.ride and page.ride.swapped_at:
        gone.append(page.ride.swapped_at)
    return max(gone, default=None)


@bp.post("/<int:order_id>/code")
@showings
@needs(BOOK)
def show_code(order_id: int) -> Answer:
    """Show the start code for twenty seconds, only while the service sends it. This is recorded."""
    page = own_order(order_id)
    s = services()
    code = reveal(page, ride_view(page, s.clock(), s.time(), language()))
    if not code:
        if wants_json():
            return current_app.make_response((jsonify(error="no_code"), 409))
        return redirect(f"/rides/{order_id}", code=303)
    if wants_json():
        return jsonify(code=code, seconds=CODE_SHOWN_S)
    return render_order(page, code=code)


def render_order(page: OrderPage, error: FormError | None = None, code: str = "") -> str:
    """The page of an order; for a request with `X-Part: beside` the part that the board shows.

    `error` opens its form again; `code` is the start code, shown once.
    """
    s = services()
    view: RideView = desk_view(page, s.clock(), language())
    g.ride_view = view
    if may_link():
        let_forms_lead_to(s.settings.oauth_authorize_url)
    context = page_context(page, view, s, language(), error, code)
    if request.headers.get("X-Part") == "beside":
        return render_template("rides/panel.html", **context)
    return render_template("rides/page.html", **context)
