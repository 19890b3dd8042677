"""Handouts of one ride: the guest's card, links for the guest and for followers, the receipt."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, abort, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import Services, limiter, services
from ridedash.rides.share_links import (
    MOST_FOLLOWERS,
    LinkKind,
    RideOver,
    TooManyFollowers,
    end_links,
    find_link,
    live_links,
    make_link,
)
from ridedash.rides.states import WITHOUT_RIDE
from ridedash.rides.tracking.record import otp_of
from ridedash.store import audit
from ridedash.store.models.desk import CostCentre
from ridedash.store.orders import OrderPage
from ridedash.views.rides.access import own_order
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.print_assets import qr_code, still_map
from ridedash.views.rides.receipt import receipt
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_time, driver_words, zone
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import forward_form, locale, wants_json
from ridedash.wording import gettext as _

bp = Blueprint("outgoing", __name__, url_prefix="/rides/<int:order_id>")
Answer = str | tuple[str, int] | BaseResponse
CARD_MAP: Final = {"zoom": 17, "width": 420, "height": 250}
# The uses of /rides/<id>/links in earlier releases, by the form's field `what`.
FORWARDED: Final = {
    "rider": "outgoing.make_rider_link",
    "follower": "outgoing.make_follower_link",
    "end": "outgoing.end_all_links",
}
showings: Final = limiter.shared_limit(  # of the ride's page and of printed cards together
    "10/hour", scope="start_code", key_func=lambda: f"staff:{current_staff().get_id()}"
)


@dataclass(frozen=True)
class LinkState:
    """The links of a ride in words, and which may be made."""

    words: str
    any: bool
    rider: bool  # whether the guest has one, which a new one ends
    may_rider: bool
    may_follow: bool


@bp.get("/card")
@needs(SEE)
def card(order_id: int) -> str:
    """The guest's card without its QR code: a link is made by a press, never by looking."""
    return _card(own_order(order_id))


@bp.post("/card")
@needs(BOOK)
def make_card(order_id: int) -> Answer:
    """The card with a link for the guest, new unless the page has one.

    The start code is printed too where the form requests it.
    """
    page, s = own_order(order_id), services()
    token = request.form.get("token", "")
    try:
        if not _opens(s, token, page):
            token = make_link(
                s.db,
                s.clock(),
                page.order.property_id,
                order_id,
                LinkKind.RIDER,
                current_staff().id,
            )
    except RideOver:
        return _card(page)
    code = ""
    if request.form.get("code"):
        _count_showing()
        code = reveal(page, _view(page))
    return _card(page, token, code)


@bp.post("/links/rider")
@needs(BOOK)
def make_rider_link(order_id: int) -> Answer:
    """Make a link for the guest, to be copied. It ends the guest's link before it."""
    return _make_link(order_id, LinkKind.RIDER)


@bp.post("/links/follower")
@needs(BOOK)
def make_follower_link(order_id: int) -> Answer:
    """Make a link for a follower of the ride, to be copied."""
    return _make_link(order_id, LinkKind.FOLLOWER)


@bp.post("/links/end")
@needs(BOOK)
def end_all_links(order_id: int) -> Answer:
    """End every link of the ride."""
    page, s, staff = own_order(order_id), services(), current_staff()
    end_links(s.db, s.clock(), staff.property_id, order_id, staff.id)
    if wants_json():
        return jsonify(state=_link_facts(page))
    return redirect(f"/rides/{order_id}#out", code=303)


@bp.post("/links")
@needs(BOOK)
def forward_links(order_id: int) -> Answer:
    """The one address of three buttons in earlier releases: each is sent on to its own route."""
    own_order(order_id)
    endpoint = FORWARDED.get(request.form.get("what", "")) or abort(400)
    return forward_form(endpoint, order_id=order_id)


@bp.get("/receipt")
@needs(SEE)
def show_receipt(order_id: int) -> str:
    """The receipt, for print. What the service sent, in its own lines."""
    page, s = own_order(order_id), services()
    view, facts = _view(page), RideFacts(page, s.clock(), s.settings.pace, locale())
    with s.db.read() as db:
        row = db.get(CostCentre, page.order.cost_centre_id) if page.order.cost_centre_id else None
        centre = row.name if row is not None and row.property_id == page.order.property_id else ""
    return render_template(
        "rides/handouts/receipt.html", page=page, receipt=receipt(page, facts, view, centre)
    )


def link_state(page: OrderPage, s: Services) -> LinkState:
    """How the links of a ride stand, for its page."""
    with s.db.read() as db:
        links = live_links(db, page.order.property_id, page.order.id, s.clock())
    since = next((link.made_at for link in reversed(links) if link.kind is LinkKind.RIDER), None)
    followers = sum(link.kind is LinkKind.FOLLOWER for link in links)
    said = []
    if since is not None:
        at = day_time(since, s.clock(), zone(page.property.timezone), locale())
        said.append(_("The guest has a link since %(at)s", at=at))
    if followers:
        said.append(_("%(n)d of %(most)d followers", n=followers, most=MOST_FOLLOWERS))
    can = page.order.state not in WITHOUT_RIDE
    return LinkState(
        " · ".join(said), bool(links), since is not None, can, can and followers < MOST_FOLLOWERS
    )


def reveal(page: OrderPage, view: RideView) -> str:
    """The code in clear, recorded; "" when there is none now."""
    s, staff, ride = services(), current_staff(), page.ride
    code = otp_of(ride, s.vault) if view.otp is not None and ride is not None else None
    if code is None:
        return ""
    with s.db.write() as db:
        audit.record(
            db,
            f"staff:{staff.id}",
            "code_shown",
            f"orders:{page.order.id}",
            "ok",
            s.clock(),
            property_id=staff.property_id,
        )
    return code


@showings
def _count_showing() -> None:
    """A printed code counts like a shown one."""


def _card(page: OrderPage, token: str = "", code: str = "") -> str:
    s = services()
    view, facts = _view(page), RideFacts(page, s.clock(), s.settings.pace, locale())
    url = _address(token) if token else ""
    place, name = facts.pickup
    return render_template(
        "rides/handouts/card.html",
        page=page,
        view=view,
        token=token,
        url=url,
        short=url.split("://")[-1],
        qr=qr_code(url) if url else None,
        code=code,
        driver=driver_words(view.driver.name) if view.driver else "",
        pickup=name,
        map=still_map(s.settings.tiles_url, place, **CARD_MAP),
        credit=s.settings.tiles_attribution,
        state=link_state(page, s),
    )


def _opens(s: Services, token: str, page: OrderPage) -> bool:
    """Whether a token that the page sent back is this guest's own and still holds."""
    with s.db.read() as db:
        shared, _known = find_link(db, token, s.clock())
    return shared is not None and shared.kind is LinkKind.RIDER and shared.order_id == page.order.id


def _make_link(order_id: int, kind: LinkKind) -> Answer:
    page, s, staff = own_order(order_id), services(), current_staff()
    try:
        token = make_link(s.db, s.clock(), staff.property_id, order_id, kind, staff.id)
    except (TooManyFollowers, RideOver) as error:
        return _refused(page, error)
    url = _address(token)
    if wants_json():
        return jsonify(url=url, state=_link_facts(page))
    return render_template("rides/handouts/link.html", page=page, url=url, kind=kind, refused="")


def _refused(page: OrderPage, error: Exception) -> Answer:
    full = _("%(n)d people follow this ride already. End the links first.", n=MOST_FOLLOWERS)
    words = (
        full
        if isinstance(error, TooManyFollowers)
        else _("The ride is over: its links have ended.")
    )
    if wants_json():
        answer = jsonify(message=words)
        answer.status_code = 409
        return answer
    return render_template(
        "rides/handouts/link.html", page=page, url="", kind="", refused=words
    ), 409


def _link_facts(page: OrderPage) -> dict[str, object]:
    return vars(link_state(page, services()))


def _address(token: str) -> str:
    return f"{services().settings.public_url}/t/{token}"


def _view(page: OrderPage) -> RideView:
    s = services()
    return ride_view(page, s.clock(), s.settings, locale())
