"""/demo/stage: the desk, the guest's phone and a kiosk side by side, and the director's bar.

The frames show our ordinary pages: nothing is drawn for the stage. The stage is served, and may
frame pages, only in a demo on our own sandbox (docs/security.md ASVS 3.4).
"""

from typing import Any, Final
from urllib.parse import urlsplit

from babel.numbers import format_decimal
from flask import Blueprint, Response, jsonify, render_template, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.__about__ import __version__
from ridedash.config import Settings, is_loopback
from ridedash.demo import phone
from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.day import progress
from ridedash.demo.lens.operations import OPERATIONS
from ridedash.demo.partner import present_partner
from ridedash.demo.presenter_pages import prompter
from ridedash.demo.sheet import has_lens
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.interpreter import runs
from ridedash.demo.story_pages import chosen
from ridedash.demo.words import clock_now
from ridedash.extensions import services
from ridedash.face.colour import palette, style_sheet
from ridedash.rides.kiosk.tickets import ride_number
from ridedash.store.kiosks import devices_of
from ridedash.store.models.kiosks import KioskKind, Ticket
from ridedash.store.models.people import Property
from ridedash.views.rides.print_assets import qr_code
from ridedash.views.web import devices
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.views.web.security_headers import let_frames_in
from ridedash.wording import gettext as _
from ridedash.wording.languages import LANGUAGES

bp: Final = only_in_a_demo(Blueprint("demo_stage", __name__, url_prefix="/demo/stage"))
ADDRESS: Final = "/demo/stage"
MOST_TICKETS: Final = 50
# docs/reliability.md section 3, the two rows 2: worker processes killed, and orders meanwhile
KILLS: Final = 1_500
ORDERS: Final = 3_372


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """The stage. No story starts by itself, whatever the query says."""
    let_frames_in()
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        kiosk = next(iter(devices_of(s, prop.id, KioskKind.KIOSK)), None)
    return render_template(
        "demo/stage.html",
        clock=clock_now(prop),
        kiosk=kiosk,
        paired=devices.device(KioskKind.KIOSK) is not None,
        network=_network(services().settings),
        has_lens=has_lens(),
        version=__version__,
        stories=STORIES.values(),
        chosen=chosen(),
        run=runs().present(current_staff().property_id),
        sign_in=current_sign_in().sign_in,
        partner=present_partner(),
        numbers=_numbers(),
    )


def _numbers() -> list[tuple[str, str]]:
    """The three numbers of the title card, each with its words."""
    killed = _(
        "bookings made twice, of %(sent)s, while the program was killed %(kills)s times",
        sent=format_decimal(ORDERS, locale=locale()),
        kills=format_decimal(KILLS, locale=locale()),
    )
    return [
        (str(len(OPERATIONS)), _("operations of your interface, and nothing else")),
        (str(len(LANGUAGES)), _("languages, for the guest and for the desk")),
        ("0", killed),
    ]


@bp.get("/partner.css")
@needs(MANAGE)
def partner_sheet() -> Response:
    """The style sheet with the partner's colour; empty without one."""
    colour = present_partner().colour
    sheet = style_sheet(palette(colour)) if colour else ""
    return Response(sheet, mimetype="text/css")


@bp.get("/newest.json")
@needs(MANAGE)
def newest() -> Response:
    """The data that the stage polls: `order` and `link` of the newest ride, and the `clock`.

    `tickets` has the orders of the kiosk's rides by their numbers: {"K1": 12}. `qr` is the QR code
    of the link, if phones in the same network can open the demo. Each ride's link is made once, at
    the first such request. `sign_in` is the present sign-in of this browser. If it is not the one
    with which the stage was rendered, the forms of the stage would be refused. `wish` and
    `presented` are of the presenter's window, which learns by `?plays=1` that a story plays.
    `preparing` says how far the day of a new demo is, for which a story would have to wait.
    """
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        found = phone.newest(s, prop.id)
        tickets = _tickets(s, prop.id)
    link = "" if found is None else phone.link_of(found)
    facts: dict[str, Any] = {
        "order": found.order_id if found else None,
        "link": link or None,
        "clock": clock_now(prop, named=False),
        "tickets": tickets,
        "sign_in": current_sign_in().sign_in,
        "preparing": progress.words(),
    }
    facts |= prompter().for_stage(services().clock(), plays=request.args.get("plays") == "1")
    base = _network(services().settings)
    if base and link:
        code = qr_code(base + link)
        facts["qr"] = {"size": code.size, "path": code.path}
    return jsonify(facts)


def _tickets(s: Session, property_id: int) -> dict[str, int]:
    """The orders of the latest tickets by their numbers, as the kiosk writes them."""
    query = select(Ticket.number, Ticket.order_id).where(Ticket.property_id == property_id)
    rows = s.execute(query.order_by(Ticket.id.desc()).limit(MOST_TICKETS)).all()
    return {ride_number(number): order_id for number, order_id in reversed(rows)}


def _network(settings: Settings) -> str:
    """The address at which other devices in the room reach this demo; "" when there is none."""
    name = urlsplit(settings.public_url).hostname or ""
    if is_loopback(name):
        return ""
    return settings.public_url
