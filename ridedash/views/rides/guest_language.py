"""The language for the guest of a ride: on their page, and on what staff show and hand out.

See docs/languages.md 5. The desk's own pages stay in the user's language.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime

from ridedash.extensions import language, reader_language, services
from ridedash.rides.orders.fields import SPOKEN_LANGUAGES
from ridedash.store.orders import OrderPage
from ridedash.views.rides.components import GuestWords, start_code
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.view_model import RideView, ride_view, words_to_show
from ridedash.views.web.own_words import languages_for
from ridedash.wording.languages import ENGLISH, LANGUAGES, Language
from ridedash.wording.readers import Surface, negotiate
from ridedash.wording.say import in_language


@dataclass(frozen=True)
class OwnWords(GuestWords):
    """The words for a guest whose language differs from the desk's."""

    code_label: str = ""


@dataclass(frozen=True)
class GuestReads:
    """The language in which a guest reads, as the desk sees it."""

    language: Language
    speaks: str  # the guest's language in its own name, if the guest's page is not available in it
    other: bool  # whether `language` differs from the desk's present one


def guest_reads(page: OrderPage) -> GuestReads:
    """The language of a ride's guest."""
    code = guest_language(page)
    noted = page.guest.language or ""
    speaks = ""
    if noted and not negotiate([noted], languages_for(page.property)):
        speaks = dict(SPOKEN_LANGUAGES).get(noted, noted)
    return GuestReads(LANGUAGES[code], speaks, code != language())


def guest_language(page: OrderPage) -> str:
    """The code of a guest's language: the desk's note if offered, else the property's or "en"."""
    noted = page.guest.language
    prop = page.property
    if not noted and not prop.language:
        return ENGLISH
    return reader_language(
        Surface.PRINT, own=noted, house=prop.language, guests=languages_for(prop)
    )


def desk_view(page: OrderPage, now: datetime, locale: str) -> RideView:
    """The view model of a ride for staff; what they show to the guest is in the guest's language.

    A demo's rides of past days are briefly under way while it makes them: they get no timer.
    """
    s = services()
    code = guest_language(page)
    view = ride_view(page, now, s.time(), locale)
    if s.past_until is not None and page.order.created_at < s.past_until:
        view = replace(view, timer=None)
    if code == locale:
        return view
    with in_language(code):
        facts = RideFacts(page, now, s.time(), code)
        label = start_code(facts)
        words = asdict(words_to_show(facts)) | {"code_label": label.label if label else ""}
    return replace(view, guest=OwnWords(**words))
