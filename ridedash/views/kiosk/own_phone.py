"""A guest continues on their own phone: the kiosk's questions as pages that need no script.

A kiosk shows a link `/k/<token>`. Its page has one button: the first browser on which it is pressed
gets a cookie for that path, and no other browser can use the link then. Reading the page opens
nothing, because programs that check links read it too. The guest's answers are stored only in the
cookie, encrypted. Rules and limits are those of the kiosk, by the same functions. After the booking
the guest is redirected to the ride's own link.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, g, redirect, request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import csrf, limiter, reader_language, services
from ridedash.forms.phones import PhoneError, read_phone
from ridedash.inputs import row_id
from ridedash.rides.kiosk.rules import LONGEST_NAME, rule_now, who_is
from ridedash.rides.kiosk.watch import note_shown_on_phone
from ridedash.service.types.products import Product
from ridedash.store import own_phones
from ridedash.store.encryption import DecryptionFailed, secret_hash
from ridedash.store.models.kiosks import Kiosk, OwnPhone, WhoPays
from ridedash.store.models.orders import Offer
from ridedash.store.models.people import Property
from ridedash.store.own_phones import BOOK_FOR, STORED_FOR
from ridedash.text import one_line
from ridedash.views.booking.product_cards import card
from ridedash.views.kiosk import orders, visit
from ridedash.views.kiosk.cars import CarChoice, cars_json
from ridedash.views.kiosk.visit_requests import LONGEST_DROP, VisitRequest, is_shown, the_visit
from ridedash.views.kiosk.words import phone_why
from ridedash.views.web.link_pages import keep_private, link_page
from ridedash.views.web.own_words import languages_for, speak_as
from ridedash.views.web.permissions import OPEN, needs
from ridedash.views.web.responses import locale
from ridedash.wording.kiosk import kiosk_words
from ridedash.wording.readers import TAGS, Surface
from ridedash.wording.say import speak

bp = Blueprint("own_phone", __name__, url_prefix="/k")
COOKIE: Final = "phone"
# table and column to which the encrypted cookie is bound
TABLE: Final = "kiosk_phones"
COLUMN: Final = "state"
# the pages, in their order
WHERE: Final = "where"
CAR: Final = "car"
WHO: Final = "who"
CHECK: Final = "check"
SENT: Final = "sent"
STEPS: Final = (WHERE, CAR, WHO, CHECK)
LONGEST_DEGREES: Final = 24  # characters of a coordinate
SESSION: Final = re.compile(r"[A-Za-z0-9_-]{32}")
WAITING: Final = ("sending", "asking")  # in these states the page reloads itself


@dataclass
class Phone:
    """The browser of a link, and the guest's answers so far.

    `session` is a secret that only its cookie has; `used`: whether a ride was booked by the link.
    `answers` have the names of the kiosk's own form: drop_lat, drop_lng, drop_name, point, offer,
    seats, name, phone, code; and `lang`, `q` (a place that is looked up) and `pressed`.
    """

    token: str
    session: str
    at: VisitRequest
    used: bool
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"/k/{self.token}"

    def step(self, wanted: str) -> str:
        """The page to show: `wanted`, or the first question without an answer; after Book, SENT."""
        if self.answers.get("pressed"):
            return SENT
        if wanted == WHERE or "drop_name" not in self.answers:
            return WHERE
        if wanted == CAR or "offer" not in self.answers:
            return CAR
        if wanted == WHO or "name" not in self.answers:
            return WHO
        return CHECK

    def form(self) -> dict[str, str]:
        """The fields that a kiosk's page would post.

        Visit and form token are derived from `session`.
        """
        visit_id = "phone-" + hashlib.sha256(f"visit|{self.session}".encode()).hexdigest()[:24]
        form_token = hashlib.sha256(f"form|{self.session}".encode()).hexdigest()[:48]
        return self.answers | {"visit": visit_id, "form_token": form_token}


@bp.get("/<token>")
@needs(OPEN)
def begin(token: str) -> BaseResponse:
    """The first question; for a browser that has not opened the link, the button that opens it."""
    found = _phone(token)
    if found is None:
        return _unopened(token)
    if found.answers.get("pressed"):
        return _answer(found, _on(found, SENT))
    return _answer(found, _shown(found, WHERE))


@bp.post("/<token>")
@needs(OPEN)
def take(token: str) -> BaseResponse:
    """Open the link: the first browser on which the button is pressed is the only one to use it."""
    _count_answer()
    found = _phone(token)
    if found is None:
        session = request.form.get("session", "")
        if not SESSION.fullmatch(session):
            abort(404)
        with services().db.write() as db:
            opened = own_phones.open_link(db, token, session, services().clock())
        if not opened:
            _missed()
        found = _phone(token, session) or _missed()
    return _answer(found, _on(found, WHERE))


csrf.exempt(take)


@bp.get("/<token>/<step>")
@needs(OPEN)
def show(token: str, step: str) -> BaseResponse:
    """Show a question, or redirect as `Phone.step` says; SENT orders, or reads the result."""
    found = _phone(token) or abort(404)
    if step == SENT and found.answers.get("pressed"):
        return _press(found)
    if step not in STEPS:
        abort(404)
    right = found.step(step)
    if right != step:
        return _answer(found, _on(found, right))
    return _answer(found, _shown(found, step))


@bp.post("/<token>/<step>")
@needs(OPEN)
def say(token: str, step: str) -> BaseResponse:
    """Store the guest's answer to a question, and redirect to the next one.

    There is no Flask session, and so no CSRF token: another site does not know the link, and
    browsers send its cookie only with forms of our own pages (SameSite=Strict).
    """
    found = _phone(token) or abort(404)
    _count_answer()
    store = {WHERE: _say_where, CAR: _say_car, WHO: _say_who, CHECK: _say_check}.get(step)
    if store is None or found.answers.get("pressed"):
        return _answer(found, _on(found, found.step(CHECK)))
    return store(found)


csrf.exempt(say)


bp.after_request(keep_private)


@bp.errorhandler(HTTPException)
def on_http(error: HTTPException) -> BaseResponse:
    """The error page, which is the same for every link that can't be used."""
    status = error.code or 500
    speak(reader_language(Surface.GUEST))
    why = "gone" if status == 404 else "busy"
    given = Response(link_page("kiosk/phone_gone.html", why=why), status, mimetype="text/html")
    retry = error.get_response().headers.get("Retry-After")
    if retry:
        given.headers["Retry-After"] = retry
    return given


def _unopened(token: str) -> BaseResponse:
    """The page whose button opens the link; 404 if the link can't be opened. Changes nothing."""
    with services().db.read() as db:
        row = own_phones.can_be_opened(db, token, services().clock())
        if row is None or _paired(db, row) is None:
            _missed()
        home = db.get_one(Property, row.property_id)
    chosen = request.args.get("lang", "")
    _speak_at(home, TAGS.get(chosen))
    text = link_page(
        "kiosk/phone_begin.html",
        home=home,
        address=f"/k/{token}",
        session=own_phones.new_session(),
        chosen=chosen if chosen in TAGS else "",
    )
    return Response(text, mimetype="text/html")


def _paired(db: Session, row: OwnPhone) -> Kiosk | None:
    """The kiosk of a link; None once it is paired no more."""
    kiosk = db.get(Kiosk, row.kiosk_id)
    if kiosk is None or kiosk.revoked_at is not None:
        return None
    return kiosk


def _phone(token: str, session: str = "") -> Phone | None:
    """The phone of this request, and its kiosk; None for another browser or an expired link."""
    state = {"session": session} if session else _state(token)
    with services().db.read() as db:
        row = own_phones.phone_of(db, token, state.get("session", ""), services().clock())
        if row is None or (kiosk := _paired(db, row)) is None:
            return None
        home = db.get_one(Property, row.property_id)
    found = Phone(
        token,
        state.pop("session"),
        VisitRequest(kiosk, home, phone=True),
        row.used_at is not None,
        state,
    )
    found.at = VisitRequest(kiosk, home, found.form(), phone=True)
    chosen = request.values.get("lang", "")
    if chosen in TAGS:
        found.answers["lang"] = chosen
    _speak_at(home, TAGS.get(found.answers.get("lang", "")))
    return found


def _speak_at(home: Property, own: str | None) -> None:
    """Use the language that the guest has chosen, or one that they read, and the house's words."""
    g.guests = languages_for(home)
    speak(reader_language(Surface.GUEST, own=own, house=home.language, guests=g.guests))
    speak_as(home)


def _state(token: str) -> dict[str, str]:
    """The contents of the cookie; nothing if it is not ours, or of another link."""
    try:
        text = services().vault.decrypt(
            request.cookies.get(COOKIE, ""), TABLE, secret_hash(token), COLUMN
        )
        return {str(name): str(value) for name, value in json.loads(text).items()}
    except (DecryptionFailed, ValueError):
        return {}


def _answer(phone: Phone, given: BaseResponse) -> BaseResponse:
    """The answer with the cookie that stores what the guest has answered.

    Browsers drop cookies above 4 kB, so letters of any script are not escaped, and all texts are
    bounded.
    """
    s = services()
    state = phone.answers | {"session": phone.session}
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    encrypted = s.vault.encrypt(text, TABLE, secret_hash(phone.token), COLUMN)
    given.set_cookie(
        COOKIE,
        encrypted,
        max_age=STORED_FOR if phone.used else BOOK_FOR,
        path=phone.address,
        secure=not s.settings.demo,
        httponly=True,
        samesite="Strict",
    )
    return given


def _on(phone: Phone, step: str) -> BaseResponse:
    """A redirect to a question."""
    if step == WHERE:
        return redirect(phone.address, code=303)
    return redirect(f"{phone.address}/{step}", code=303)


def _shown(phone: Phone, step: str, status: int = 200, **facts: Any) -> BaseResponse:
    """The page with a question."""
    facts = {WHERE: _where, CAR: _cars, WHO: _who, CHECK: _check}[step](phone) | facts
    return _page(phone, f"kiosk/phone_{step}.html", status, step=step, **facts)


def _page(phone: Phone, template: str, status: int = 200, **facts: Any) -> BaseResponse:
    text = link_page(
        template, home=phone.at.home, address=phone.address, said=phone.answers, **facts
    )
    return Response(text, status, mimetype="text/html")


def _where(phone: Phone) -> dict[str, Any]:
    """The property's favourites, and the places that were found for the typed text."""
    typed = phone.answers.get("q", "")
    found: list[dict[str, Any]] = []
    favourites: list[dict[str, Any]] = []
    words = None
    if typed:
        reply = visit.places_for(phone.at, typed).get_json()
        found = reply["results"]
        words = reply.get("words")
    else:
        favourites = visit.favourites(phone.at.kiosk)
    closed = visit.closed_now(phone.at, services().clock())
    if closed:  # reported before the first question, not after the last
        words = kiosk_words(closed).as_json()
    return {"favourites": favourites, "found": found, "typed": typed, "words": words}


def _say_where(phone: Phone) -> BaseResponse:
    """Store a chosen place, or search for a typed text."""
    if "q" in request.form:
        phone.answers["q"] = one_line(request.form["q"], visit.LONGEST_QUERY)
        return _answer(phone, _on(phone, WHERE))
    drop = {
        name: one_line(request.form.get(name, ""), LONGEST_DEGREES)
        for name in ("drop_lat", "drop_lng")
    }
    drop["drop_name"] = one_line(request.form.get("drop_name", ""), LONGEST_DROP)
    if not all(drop.values()):
        return _answer(phone, _on(phone, WHERE))
    for old in ("q", "offer", "seats", "point"):
        phone.answers.pop(old, None)
    phone.answers |= drop
    return _answer(phone, _on(phone, CAR))


def _cars(phone: Phone) -> dict[str, Any]:
    """The cars as the kiosk would show them."""
    reply = visit.cars_for(phone.at).get_json()
    return {
        "cars": reply["cars"],
        "meet": reply.get("meet"),
        "words": reply.get("words"),
    }


def _say_car(phone: Phone) -> BaseResponse:
    """Store a chosen car, or another meeting point."""
    if "point" in request.form:
        phone.answers["point"] = one_line(request.form["point"], LONGEST_DROP)
        return _answer(phone, _on(phone, CAR))
    offer, _colon, seats = request.form.get("offer", "")[:30].partition(":")
    if row_id(offer) is None:
        return _answer(phone, _on(phone, CAR))
    phone.answers |= {"offer": offer, "seats": seats if seats in ("1", "2") else ""}
    return _answer(phone, _on(phone, WHO))


def _who(phone: Phone) -> dict[str, Any]:
    return {"longest": LONGEST_NAME, "typed": phone.answers, "phone_why": phone_why()}


def _say_who(phone: Phone) -> BaseResponse:
    """Store who the ride is for."""
    name = one_line(request.form.get("name", ""), LONGEST_NAME + 1)
    typed = one_line(request.form.get("phone", ""), 60)
    answers = {"name": name, "phone": typed}
    if who_is(name) is None:
        return _wrong(phone, answers, "name")
    try:
        read_phone(typed, phone.at.home.country)
    except PhoneError:
        return _wrong(phone, answers, "phone")
    phone.answers |= answers
    return _answer(phone, _on(phone, CHECK))


def _wrong(phone: Phone, typed: dict[str, str], what: str) -> BaseResponse:
    """Show the same question again, with what was typed and its error."""
    facts = {"typed": typed, "wrong": what, "words": kiosk_words(what)}
    return _answer(phone, _shown(phone, WHO, 422, **facts))


def _check(phone: Phone) -> dict[str, Any]:
    """The chosen car with its price, and whether the desk's code is needed."""
    chosen = _chosen(phone)
    rule = rule_now(phone.at.kiosk, services().clock())
    return {"car": chosen, "needs_code": rule is WhoPays.CODE}


def _chosen(phone: Phone) -> dict[str, Any] | None:
    """The chosen car in the kiosk's words; None if this phone can't book it."""
    with services().db.read() as db:
        offer = db.get(Offer, row_id(phone.answers.get("offer", "")) or 0)
    if offer is None or not is_shown(phone.at, offer):
        return None
    try:
        product = Product.model_validate(offer.product)
    except ValidationError:
        return None
    shown = card(product, has_drop=True, locale=locale()).with_offer(offer.id)
    car = cars_json([CarChoice(shown, product)], house_pays=False)[0]
    seats = row_id(phone.answers.get("seats", ""))
    if seats:
        car["price"] = shown.price_for(seats)
    return car | {"from": offer.pickup_name}


def _say_check(phone: Phone) -> BaseResponse:
    """Store that Book was pressed: the next page orders. If the guest has accepted a newer price,
    the form names its offer.
    """
    offer = request.form.get("offer", "")[:20]
    if row_id(offer):
        phone.answers["offer"] = offer
    phone.answers["code"] = one_line(request.form.get("code", ""), 20)
    phone.answers["pressed"] = "1"
    return _answer(phone, _on(phone, SENT))


def _press(phone: Phone) -> BaseResponse:
    """The result of the press; the press is repeated until the result is known."""
    phone.at = replace(phone.at, values=phone.form())
    reply = orders.booked(phone.at).get_json()
    ride = reply.get("ride") or {}
    guest_visit = the_visit(phone.at)
    if ride and reply["state"] not in WAITING and guest_visit is not None:
        note_shown_on_phone(services().db, guest_visit, services().clock())
    if ride.get("link"):
        with services().db.write() as db:
            own_phones.use_up(db, phone.token, services().clock())
        phone.used = True
        return _answer(phone, redirect(urlsplit(ride["link"]).path, code=303))
    if reply["state"] not in WAITING:
        del phone.answers["pressed"]
        phone.answers.pop("code", None)
    facts = {"told": reply, "words": reply.get("words"), "waits": reply["state"] in WAITING}
    if reply.get("field"):
        return _answer(phone, _shown(phone, WHO, 422, wrong=reply["field"], words=reply["words"]))
    if reply["state"] in ("needs_code", "wrong_code"):
        return _answer(phone, _shown(phone, CHECK, 422, words=reply["words"]))
    return _answer(phone, _page(phone, "kiosk/phone_sent.html", step=SENT, ride=ride, **facts))


@limiter.shared_limit("60/minute", scope="own phone answers", key_func=lambda: _link_key())
def _count_answer() -> None:
    """Limit the answers that are sent for one link."""


@limiter.shared_limit("60/minute", scope="own phones missed")
def _missed() -> NoReturn:
    """404 for a link that can't be opened; 429 when an address asks for many such.

    Those that can are not counted by address: all guests of a lobby share one.
    """
    abort(404)


def _link_key() -> str:
    return secret_hash(str((request.view_args or {}).get("token", "")))[:32]
