"""Handouts of one ride: the guest's card, links for the guest and for followers, the receipt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, abort, jsonify, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import Services, limiter, services
from ridedash.forms.phones import grouped
from ridedash.rides.share_links import (
    MOST_LINKS,
    LinkKind,
    RideOver,
    TooManyLinks,
    end_links,
    find_link,
    live_links,
    make_link,
    replace_rider_links,
)
from ridedash.rides.state.states import WITHOUT_RIDE
from ridedash.rides.tracking.record import otp_of
from ridedash.rides.tracking.told import note_told
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.models.desk import CostCentre
from ridedash.store.orders import Order, OrderPage
from ridedash.views.rides.access import own_order
from ridedash.views.rides.components import NO_CAB, NO_DRIVER
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.guest_language import guest_reads
from ridedash.views.rides.messages import ready_message
from ridedash.views.rides.prices import guest_pays_words, guest_price
from ridedash.views.rides.print_assets import qr_code, still_map
from ridedash.views.rides.receipt import receipt
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import (
    clock_time,
    day_text,
    day_time,
    driver_words,
    joined,
    zone,
)
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import forward_form, locale, wants_json
from ridedash.views.web.top_bar import demo_words
from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.say import in_language

bp = Blueprint("outgoing", __name__, url_prefix="/rides/<int:order_id>")
Answer = str | tuple[str, int] | BaseResponse
CARD_MAP: Final = {"zoom": 17, "width": 420, "height": 250}
# the forms that posted to /rides/<id>/links in earlier releases, by their field `what`
FORWARDED: Final = {
    "rider": "outgoing.make_rider_link",
    "follower": "outgoing.make_follower_link",
    "end": "outgoing.end_all_links",
}
# one limit for every way to see a start code: on the ride's page, on a card, by a new link
showings: Final = limiter.shared_limit("10/hour", scope="start_code", key_func=by_staff_key)


@dataclass(frozen=True)
class LinkState:
    """The links of a ride, and which further ones may be made; `words` summarise that for staff."""

    words: str
    any: bool
    rider: bool  # whether the guest has a link
    ride: bool  # whether there is a ride to follow
    may_rider: bool
    may_follow: bool


@bp.get("/card")
@needs(SEE)
def card(order_id: int) -> str:
    """Show the guest's card without its QR code: a GET makes no link."""
    return _card(own_order(order_id))


@bp.post("/card")
@needs(BOOK)
def make_card(order_id: int) -> Answer:
    """Show the card with a link for the guest, which is new unless the page already has one.

    The start code is printed too if the form requests it.
    """
    page = own_order(order_id)
    with services().db.write() as db:  # the card has the plate
        note_told(db, db.get_one(Order, order_id), services().clock())
    token = request.form.get("token", "")
    printed = bool(request.form.get("code"))
    new = not _opens(services(), token, page)
    if printed or new:
        _count_code(page)
    try:
        if new:
            token = _new_link(page, LinkKind.RIDER)
    except RideOver:
        return _card(page)
    except TooManyLinks:
        token = ""
    if printed:
        return _card(page, token, reveal(page, _view(page), "card"))
    if new and token:
        reveal(page, _view(page), "link")
    return _card(page, token)


@bp.post("/links/rider")
@needs(BOOK)
def make_rider_link(order_id: int) -> Answer:
    """Make a link for the guest, to be copied; with `replace` the guest's earlier links end.

    While the ride has a start code, a new link also gives access to the code, so it is limited and
    recorded like showing the code.
    """
    _count_code(own_order(order_id))
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
    page = own_order(order_id)
    s = services()
    staff = current_staff()
    end_links(s.db, s.clock(), staff.property_id, order_id, staff.actor)
    if wants_json():
        return jsonify(state=_link_facts(page))
    return redirect(f"/rides/{order_id}#out", code=303)


@bp.post("/links")
@needs(BOOK)
def forward_links(order_id: int) -> Answer:
    """The former address of three buttons: forwards each to its own route."""
    own_order(order_id)
    endpoint = FORWARDED.get(request.form.get("what", "")) or abort(400)
    return forward_form(endpoint, order_id=order_id)


@bp.get("/receipt")
@needs(SEE)
def show_receipt(order_id: int) -> str:
    """The receipt, for print, with the lines of the bill as the service sent them."""
    page = own_order(order_id)
    s = services()
    with s.db.read() as db:
        centre = _cost_centre(db, page)
    reads = guest_reads(page)
    with in_language(reads.language.code):
        facts = RideFacts(page, s.clock(), s.time(), locale())
        shown = receipt(page, facts, _view(page), centre)
        band = demo_words(s.settings)
    return render_template(
        "rides/handouts/receipt.html", page=page, receipt=shown, reads=reads, band=band
    )


def _cost_centre(db: Session, page: OrderPage) -> str:
    """The name of the order's cost centre; "" unless it has one of its property."""
    if page.order.cost_centre_id is None:
        return ""
    row = db.get(CostCentre, page.order.cost_centre_id)
    if row is None or row.property_id != page.order.property_id:
        return ""
    return row.name


def link_state(page: OrderPage, s: Services) -> LinkState:
    """The state of a ride's links, for its page."""
    with s.db.read() as db:
        links = live_links(db, page.order.property_id, page.order.id, s.clock())
    riders = [link for link in links if link.kind is LinkKind.RIDER]
    followers = len(links) - len(riders)
    sentences = []
    if riders:
        time = s.time()
        made = time.shown(riders[-1].made_at)
        at = day_time(made, time.shown(s.clock()), zone(page.property.timezone), locale())
        sentences.append(
            ngettext(
                "The guest has a link since %(at)s",
                "The guest has %(num)d links, the last since %(at)s",
                len(riders),
                at=at,
            )
        )
    if followers:
        sentences.append(_("%(n)d of %(most)d followers", n=followers, most=MOST_LINKS))
    ride = page.order.state not in WITHOUT_RIDE
    return LinkState(
        words=" · ".join(sentences),
        any=bool(links),
        rider=bool(riders),
        ride=ride,
        may_rider=ride and len(riders) < MOST_LINKS,
        may_follow=ride and followers < MOST_LINKS,
    )


def reveal(page: OrderPage, view: RideView, by: str = "page") -> str:
    """The start code, decrypted; "" when there is none now. The audit log gets an entry.

    `by` is where it is shown: "page", "card" or "link" (the user who makes a guest's link can open
    it).
    """
    s = services()
    ride = page.ride
    if ride is None or view.otp is None:
        return ""
    code = otp_of(ride, s.vault)
    if code is None:
        return ""
    with s.db.write() as db:
        audit.record_code_shown(db, by_staff(current_staff().id), ride, by, s.clock())
        if by == "page":
            note_told(db, db.get_one(Order, page.order.id), s.clock())
    return code


def guest_links(pages: Sequence[OrderPage]) -> dict[int, str]:
    """Make a link for the guest of each of these rides that may have one: addresses by order id.

    The links are limited and recorded like any link that shows a start code. 429 above the limit,
    before any link is made.
    """
    for page in pages:
        _count_code(page)
    found = {}
    for page in pages:
        try:
            found[page.order.id] = _address(_new_link(page, LinkKind.RIDER))
        except (TooManyLinks, RideOver):
            continue
        reveal(page, _view(page), "link")
    return found


def _count_code(page: OrderPage) -> None:
    """Count a showing towards the limit if the ride has a start code now. 429 above the limit."""
    if _view(page).otp is not None:
        _count_showing()


@showings
def _count_showing() -> None:
    """An empty function: calling it counts towards the limit of `showings`."""


@dataclass(frozen=True)
class CardWords:
    """The sentences of a card, in one language."""

    demo: str  # says that no ride is real; "" for real rides
    when: str  # the day and the time of a planned ride to come; "" for others
    to: str
    drop: str  # where the ride goes; "" if only the guest knows
    state: str  # in place of a plate that is not known yet
    pays: str  # who pays, and how
    pays_brief: str
    price: str  # how much, as far as it is known
    price_brief: str
    meet: str
    code: str
    follow: str
    only: str
    desk: str


def card_words(page: OrderPage) -> CardWords:
    """The words of the card in the current language: see `in_language`."""
    s = services()
    view = _view(page)
    phone = page.property.phone
    facts = RideFacts(page, s.clock(), s.time(), locale())
    return CardWords(
        demo=demo_words(s.settings),
        when=_when(page, facts) if view.live else "",
        to=_("To"),
        drop=facts.drop_name,
        state=_("Your car is named soon.") if view.live else view.headline,
        pays=guest_pays_words(facts),
        pays_brief=guest_pays_words(facts, brief=True),
        price=guest_price(facts),
        price_brief=guest_price(facts, brief=True),
        meet=_("Meet at"),
        code=view.otp.label if view.otp else _("Start code"),
        follow=_("Follow your ride on your phone"),
        only=_("For you only."),
        desk=_("Desk: %(phone)s", phone=grouped(phone)) if phone else "",
    )


def _when(page: OrderPage, facts: RideFacts) -> str:
    """The pickup of a planned ride with its day: paper is read on another day than printed."""
    if page.order.pickup_at is None:
        return ""
    at = page.order.pickup_at.astimezone(facts.tz)
    return joined(day_text(at, "MMMEd", locale()), clock_time(at, facts.tz, locale()), locale())


def _card(page: OrderPage, token: str = "", code: str = "") -> str:
    s = services()
    reads = guest_reads(page)
    view = _view(page)
    # a card in another language than the staff's repeats its words in the staff's language
    ours = card_words(page) if reads.other else None
    with in_language(reads.language.code):
        theirs = card_words(page)
        cab = _view(page).cab or NO_CAB
        driver = driver_words((view.driver or NO_DRIVER).name)
    url = _address(token) if token else ""
    place, name = RideFacts(page, s.clock(), s.time(), locale()).pickup
    return render_template(
        "rides/handouts/card.html",
        page=page,
        view=view,
        token=token,
        url=url,
        short=url.split("://")[-1],
        qr=qr_code(url) if url else None,
        code=code,
        driver=driver,
        car=cab.car,
        reads=reads,
        theirs=theirs,
        ours=ours,
        pickup=name,
        map=still_map(s.settings.tiles_url, place, **CARD_MAP),
        credit=s.settings.tiles_attribution,
        state=link_state(page, s),
    )


def _opens(s: Services, token: str, page: OrderPage) -> bool:
    """Whether a token that the page sent back is a valid link of this guest."""
    with s.db.read() as db:
        shared, _known = find_link(db, token, s.clock())
    return shared is not None and shared.kind is LinkKind.RIDER and shared.order_id == page.order.id


def _make_link(order_id: int, kind: LinkKind) -> Answer:
    page = own_order(order_id)
    try:
        token = _new_link(page, kind)
    except (TooManyLinks, RideOver) as error:
        return _refused(page, kind, error)
    if kind is LinkKind.RIDER:
        reveal(page, _view(page), "link")
    url = _address(token)
    message = ready_message(page, url) if kind is LinkKind.RIDER else None
    if wants_json():
        return jsonify(url=url, state=_link_facts(page), message=message)
    return render_template(
        "rides/handouts/link.html", page=page, url=url, kind=kind, refused="", message=message
    )


def _new_link(page: OrderPage, kind: LinkKind) -> str:
    """The token of a new link; the guest's earlier links end if the form requests it."""
    s = services()
    order_id = page.order.id
    staff = current_staff()
    if kind is LinkKind.RIDER and request.form.get("replace"):
        return replace_rider_links(s.db, s.clock(), staff.property_id, order_id, staff.actor)
    return make_link(s.db, s.clock(), staff.property_id, order_id, kind, staff.actor)


def _refused(page: OrderPage, kind: LinkKind, error: Exception) -> Answer:
    words = _("The ride is over: its links have ended.")
    if isinstance(error, TooManyLinks) and kind is LinkKind.FOLLOWER:
        words = _("%(n)d people follow this ride already. End the links first.", n=MOST_LINKS)
    elif isinstance(error, TooManyLinks):
        words = _("The guest has %(n)d links already. End the links first.", n=MOST_LINKS)
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
    return ride_view(page, s.clock(), s.time(), locale())
