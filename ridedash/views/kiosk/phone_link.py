"""The link that a kiosk shows to a guest who prefers their own phone, and its QR code."""

from werkzeug.wrappers import Response

from ridedash.extensions import language, limiter, services
from ridedash.store import own_phones
from ridedash.store.own_phones import OPEN_FOR
from ridedash.views.kiosk.device import languages_of
from ridedash.views.kiosk.visit_requests import (
    VisitRequest,
    answer,
    by_kiosk_key,
    the_visit,
    within,
)
from ridedash.views.rides.print_assets import qr_code
from ridedash.wording import gettext as _
from ridedash.wording.kiosk import Said, kiosk_words
from ridedash.wording.languages import LANGUAGES

LOOK = "look"  # asks whether a phone has opened the link; without it, a new link is requested


def phone_link(at: VisitRequest, wanted: str) -> Response:
    """A new link and its QR code (`phone`); or whether a phone has opened the link (`opened`)."""
    s = services()
    visit = the_visit(at)
    if visit is None:
        return answer("none", kiosk_words("slowly"))
    if not within(at, _count_looks if wanted == LOOK else _count_links):
        return answer("limited", kiosk_words("slowly"))
    if wanted == LOOK:
        with s.db.read() as db:
            opened = own_phones.is_opened(db, at.id, visit.id)
        return answer("phone", Said(_("Go on with your phone.")), opened=opened)
    with s.db.write() as db:
        token = own_phones.make_link(db, at.id, at.property_id, visit.id, s.clock())
    link = f"{s.settings.public_url}/k/{token}{_chosen(at)}"
    made = qr_code(link)
    minutes = int(OPEN_FOR.total_seconds()) // 60
    words = Said(
        _("Use your own phone"),
        _("Scan this with your phone, and go on there."),
        _("It works once, in the next %(n)d min.", n=minutes),
    )
    qr = {"size": made.size, "path": made.path}
    short = link.split("://")[-1]
    return answer(
        "phone", words, phone={"link": link, "short": short, "qr": qr, "minutes": minutes}
    )


def _chosen(at: VisitRequest) -> str:
    """The language that the guest has chosen at the kiosk, as the query of a link.

    "" for the kiosk's own, which no one has chosen: the phone's browser then says what its owner
    reads.
    """
    if language() == languages_of(at.kiosk, at.home)[0]:
        return ""
    return f"?lang={LANGUAGES[language()].tag}"


@limiter.shared_limit("20/minute", scope="kiosk links", key_func=by_kiosk_key)
def _count_links() -> None:
    """Raise TooManyRequests when a kiosk requests too many links: each is a row."""


@limiter.shared_limit("120/minute", scope="kiosk looks for phones", key_func=by_kiosk_key)
def _count_looks() -> None:
    """Raise TooManyRequests when a kiosk asks too often whether its link was opened."""
