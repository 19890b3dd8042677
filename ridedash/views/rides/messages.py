"""Prepared messages to the guest with their link, which staff send with the desk's own programs.

Nothing is sent from here: a link opens the person's SMS, WhatsApp or mail program with the words in
it. The audit log says "prepared" (docs/security.md 6). The words contain no start code.
"""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from flask import Blueprint, Response, abort, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash import wire
from ridedash.extensions import limiter, services
from ridedash.forms.phones import without_extension
from ridedash.rides.state.states import WITHOUT_RIDE, may_cancel
from ridedash.rides.tracking.told import note_told
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order, OrderPage
from ridedash.text import lines, one_line
from ridedash.views.rides import components as parts
from ridedash.views.rides.access import own_order
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.guest_language import guest_language
from ridedash.views.rides.prices import guest_pays_words, guest_price
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _
from ridedash.wording import say
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.say import in_language

bp = Blueprint("messages", __name__, url_prefix="/rides/<int:order_id>/messages")
LONGEST: Final = 1_000  # characters of a message
LONGEST_FACT: Final = 160
WAYS: Final = ("sms", "whatsapp", "mail", "copy")
NUMBER: Final = range(8, 16)  # digits of a number with its country code


@dataclass(frozen=True)
class Message:
    """Words for the guest, and the beginning of an address for each program that can send them.

    The percent-encoded words follow the beginning, which is "" for a program that can't be used:
    without a number, or for WhatsApp without a country code.
    """

    text: str
    phone: str
    sms: str
    whatsapp: str
    mail: str
    meaning: str = ""  # the text for staff, if they read another language than the guest
    tag: str = ""  # the language of the words, in that case

    @property
    def ways(self) -> tuple[tuple[str, str], ...]:
        """Each usable program, with its whole address."""
        begins = (("sms", self.sms), ("whatsapp", self.whatsapp), ("mail", self.mail))
        return tuple((name, begin + _encoded(name, self.text)) for name, begin in begins if begin)

    def href(self, way: str) -> str:
        """The whole address for one program; "" if it can't be used."""
        return dict(self.ways).get(way, "")


@bp.post("")
@needs(BOOK)
@limiter.limit("120/hour", key_func=by_staff_key)
def prepare(order_id: int) -> str | BaseResponse:
    """Record that a message was prepared; without a script, show its link with the words."""
    page = own_order(order_id)
    way = request.form.get("how", "")
    if way not in WAYS:
        abort(422)
    s = services()
    staff = current_staff()
    with s.db.write() as db:
        audit.record(
            db,
            by_staff(staff.id),
            "message.prepared",
            f"orders:{order_id}",
            "ok",
            s.clock(),
            property_id=staff.property_id,
            how=way,
        )
        note_told(db, db.get_one(Order, order_id), s.clock())
    if wants_json():
        return Response(status=204)
    message = message_of(page, lines(request.form.get("text", ""), LONGEST))
    return render_template("rides/handouts/message.html", page=page, message=message, way=way)


def ready_message(page: OrderPage, url: str) -> Message:
    """The message that goes with a guest's link: state, car, where to meet, the link.

    It is in the guest's language, with its meaning for staff beside it.
    """
    s = services()
    code = guest_language(page)
    with in_language(code):
        facts = RideFacts(page, s.clock(), s.time(), code)
        made = message_of(page, ready_words(facts, url))
    if code == locale():
        return made
    facts = RideFacts(page, s.clock(), s.time(), locale())
    return replace(made, meaning=ready_words(facts, url), tag=LANGUAGES[code].tag)


def message_of(page: OrderPage, text: str) -> Message:
    """The programs that can take a text for the guest of an order."""
    number = page.guest.phone or ""
    subject = _("Your ride · %(house)s", house=page.property.name)
    plain = without_extension(number)
    digits = "".join(char for char in plain if char in "0123456789")
    plus = "+" if number.startswith("+") else ""
    abroad = plus and len(digits) in NUMBER and not digits.startswith("0")
    return Message(
        text=text,
        phone=number,
        # "?&body=": iOS reads what follows "&", Android and RFC 5724 what follows "?"
        sms=f"sms:{plus}{digits}?&body=" if digits else "",
        whatsapp=f"https://wa.me/{digits}?text=" if abroad else "",
        mail=f"mailto:?subject={quote(one_line(subject, LONGEST_FACT), safe='')}&body=",
    )


def ready_words(facts: RideFacts, url: str) -> str:
    """The words of a message, one line for each fact; they never contain the start code."""
    cab = parts.cab(facts) or parts.NO_CAB
    words = parts.guest_words(facts)
    later = facts.page.order.state in ("SCHEDULED", "WAITING")
    car = " · ".join(filter(None, [cab.plate, cab.car]))
    sentences = (
        ("{text}", facts.page.property.name),
        ("{text}", words.headline),
        ("{text}", words.detail if later else ""),
        ("{text}", car),
        (_("Meet the car at {text}"), facts.pickup[1] if _meets(facts) else ""),
    )
    shortened = [(sentence, one_line(fact, LONGEST_FACT)) for sentence, fact in sentences]
    found = [say(sentence, {"text": fact}) for sentence, fact in shortened if fact]
    found.append(" · ".join(filter(None, (guest_price(facts), guest_pays_words(facts)))))
    found.append(say(_("Your ride: {text}"), {"text": url}))
    return "\n".join(found)


def _meets(facts: RideFacts) -> bool:
    """Whether the guest still has to find the car."""
    if facts.status is None:
        return facts.page.order.state not in WITHOUT_RIDE
    return facts.status in wire.SEARCHING or may_cancel(facts.status, facts.kind)


def _encoded(way: str, text: str) -> str:
    """A text in a URL: percent-encoded throughout; a mail's lines end in CR LF (RFC 6068)."""
    if way == "mail":
        text = text.replace("\n", "\r\n")
    return quote(text, safe="")
