"""Cards for the guests of a group, six on a sheet: each with its car, plate and link.

Every guest of a car that several share has one, all with the link of their ride.
"""

from dataclasses import dataclass, replace

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.rides.state.states import WITHOUT_RIDE
from ridedash.store.companions import companions_of
from ridedash.store.orders import OrderPage
from ridedash.views.booking.groups import car_of, group_facts, group_of
from ridedash.views.rides.guest_language import GuestReads, guest_reads
from ridedash.views.rides.handouts import CardWords, card_words, guest_links
from ridedash.views.rides.print_assets import QrCode, qr_code
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.formatting import driver_words
from ridedash.views.web.own_words import speak_as
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording.say import in_language

bp = Blueprint("group_cards", __name__)
Answer = str | BaseResponse


@dataclass(frozen=True)
class GroupCard:
    """The card of one car, in its guest's language.

    `ours` repeats `theirs` in the language of the staff if that differs. `short` is the link
    without its scheme. Without a link `short` is "" and `qr` is None. `pays`: it says who pays.
    """

    number: int
    guest: str
    room: str
    plate: str
    spelled: str
    car: str
    driver: str
    short: str
    qr: QrCode | None
    reads: GuestReads
    theirs: CardWords
    ours: CardWords | None
    pays: bool = True


@bp.get("/groups/<int:order_id>/cards")
@needs(SEE)
def show(order_id: int) -> Answer:
    """Show the cards without QR codes: only a press makes links."""
    return _sheet(order_id, {})


@bp.post("/groups/<int:order_id>/cards")
@needs(BOOK)
def make(order_id: int) -> Answer:
    """Make the cards, each with a new link for its guest if the ride may have one."""
    return _sheet(order_id, guest_links(group_of(order_id)))


def _sheet(order_id: int, links: dict[int, str]) -> Answer:
    pages = group_of(order_id)
    if not pages:
        return redirect(f"/rides/{order_id}/card", 303)
    speak_as(pages[0].property)
    with services().db.read() as s:
        along = companions_of(s, [page.order.id for page in pages])
    cards = []
    for number, page in enumerate(pages, 1):
        first = _card(number, page, links.get(page.order.id, ""))
        cards.append(first)
        # the first guest's card alone says who pays
        cards += [
            replace(first, guest=each.name, room=each.room or "", pays=False)
            for each in along.get(page.order.id, [])
        ]
    return render_template(
        "booking/group_cards.html",
        **group_facts(order_id, pages),
        cards=cards,
        cars=len(pages),
        linked=bool(links),
        rides=any(page.order.state not in WITHOUT_RIDE for page in pages),
    )


def _card(number: int, page: OrderPage, url: str) -> GroupCard:
    app = services()
    reads = guest_reads(page)
    ours = card_words(page) if reads.other else None
    with in_language(reads.language.code):
        car = car_of(number, page)
        theirs = card_words(page)
        view: RideView = ride_view(page, app.clock(), app.time(), locale())
        driver = driver_words(view.driver.name) if view.driver and view.live else ""
    return GroupCard(
        number=number,
        guest=car.guest,
        room=car.room,
        plate=car.plate,
        spelled=car.spelled,
        car=view.cab.car if view.cab and view.live else car.name,
        driver=driver,
        short=url.split("://")[-1],
        qr=qr_code(url) if url else None,
        reads=reads,
        theirs=theirs,
        ours=ours,
    )
