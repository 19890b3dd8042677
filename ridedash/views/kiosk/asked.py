"""What each request of a visit says: which visit of which kiosk, in which language; and its answer.

A kiosk's page reads the `state` of an answer, so answers to what a guest did are 200 whatever they
say; nothing is stored of them on the way.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import g, jsonify, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.rides.orders import kiosk_rules
from ridedash.store.actors import by_kiosk
from ridedash.store.kiosk_visits import Visit
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner
from ridedash.views.booking.estimates import Estimator
from ridedash.views.kiosk.device import the_kiosk
from ridedash.views.web.own_words import languages_for, speak_as
from ridedash.views.web.responses import locale
from ridedash.wording.kiosk import Said
from ridedash.wording.languages import ENGLISH
from ridedash.wording.readers import negotiate
from ridedash.wording.say import critical_said, speak

VISIT: Final = re.compile(r"[A-Za-z0-9_-]{16,32}")
FORM_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")


@dataclass(frozen=True)
class Here:
    """The kiosk of a request, its property, and what the guest's page says.

    The rows are detached, and read for this request. A guest who goes on with their own phone
    stands here too: `said` then comes from there, and `phone` is True.
    """

    kiosk: Kiosk
    home: Property
    said: Mapping[str, str] = field(default_factory=dict)
    phone: bool = False

    @property
    def id(self) -> int:
        """The kiosk's id."""
        return self.kiosk.id

    @property
    def property_id(self) -> int:
        """Whose kiosk it is."""
        return self.home.id


def here() -> Here:
    """The kiosk that asks. The rest of the request speaks the language that its guest has chosen,
    in the property's own words.

    404 for anything but a paired kiosk.
    """
    known = the_kiosk()
    with services().db.read() as s:
        kiosk = s.get_one(Kiosk, known.id)
        home = s.get_one(Property, kiosk.property_id)
    g.guests = languages_for(home)
    speak(_language(kiosk, home))
    speak_as(home)
    return Here(kiosk, home, request.values)


def the_visit(at: Here) -> Visit | None:
    """The visit that a request belongs to; None without a proper id."""
    given = at.said.get("visit", "")
    return Visit(given, at.id, at.property_id) if VISIT.fullmatch(given) else None


def form_token(at: Here) -> str:
    """The secret by which a press of Book is known again; "" without a proper one."""
    given = at.said.get("form_token", "")
    return given if FORM_TOKEN.fullmatch(given) else ""


def estimator(at: Here, *, house_pays: bool) -> tuple[Estimator, int | None]:
    """Who asks for prices at a kiosk, and the account that they are for; None: the guest pays."""
    app, account = services(), None
    if house_pays:
        with app.db.read() as s:
            account = kiosk_rules.account_at(s, at.kiosk)
    owner = OfferOwner(at.property_id, by_kiosk(at.id))
    return Estimator(app, owner, locale()), account.id if account else None


def by_kiosk_key() -> str:
    """The key of a rate limit for each kiosk: guests share it, and an address may be shared.

    Phones that go on for it have one of their own: none of them keeps the lobby waiting.
    """
    return str(g.kiosk_counted)


def within(at: Here, count: Callable[[], object]) -> bool:
    """Whether a counting function of a rate limit, by `by_kiosk_key`, lets this request through."""
    g.kiosk_counted = f"{'phones' if at.phone else 'kiosk'}-{at.id}"
    try:
        count()
    except TooManyRequests:
        return False
    return True


def answer(state: str, words: Said | None = None, **facts: Any) -> Response:
    """An answer to the page, which nobody keeps.

    `english` has its critical sentences with their English, where nobody has read them.
    """
    body: dict[str, Any] = {"state": state, **facts}
    if words is not None:
        body["words"] = words.as_json()
    english = critical_said()
    if english:
        body["english"] = english
    said = jsonify(body)
    said.headers["Cache-Control"] = "no-store"
    return said


def _language(kiosk: Kiosk, home: Property) -> str:
    """The first of these that is offered: the guest's choice, the kiosk's own language, the
    property's, English.
    """
    offered = languages_for(home)
    for tag in (request.values.get("lang", "")[:20], kiosk.default_language, home.language):
        found = negotiate([tag], offered) if tag else ""
        if found:
            return found
    return ENGLISH
