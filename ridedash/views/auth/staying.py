"""How long the sign-in of a page lasts on (docs/security.md ASVS 7.2), and what pages know of it.

A person's use lets it last on: pages that they open, forms that they send, and the presses and
keys that static/js/auth/signed_in.js reports. What pages ask by themselves does not. None of it
goes through the poll cache, whose answers are the same for everybody of a role.
"""

import logging
from datetime import timedelta
from typing import Final, NamedTuple

from flask import Blueprint, Flask, Response, current_app, jsonify, request
from flask_login import current_user
from flask_wtf.csrf import generate_csrf
from sqlalchemy.exc import SQLAlchemyError

from ridedash.extensions import services
from ridedash.observability.exceptions import reason
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.encryption import secret_hash
from ridedash.store.models.people import Property
from ridedash.store.sign_ins import SignInFacts, end_after_use, note_use
from ridedash.views.web.current_user import KNOWN_SIGN_IN, current_sign_in
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.permissions import OPEN, ROLES, SEE, need_of, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _

bp = Blueprint("staying", __name__)
log = logging.getLogger(__name__)
WARNED_BEFORE: Final = timedelta(minutes=10)
# pages that are opened write to the database only if the end moves by this much
STEP: Final = timedelta(minutes=5)
MARK_CHARACTERS: Final = 16


class Presence(NamedTuple):
    """What a page knows of its sign-in; without one, all is empty.

    `who` is the same for all sign-ins of a person in one role at one property: only then may a page
    be gone on with. `sign_in` tells apart the sign-ins. `left_s` are the seconds until the end,
    which further use moves if `ends` is "unused", and does not if it is "whole". `warning` is a
    sentence in the last ten minutes, else "".
    """

    who: str = ""
    sign_in: str = ""
    left_s: int = 0
    ends: str = ""
    warning: str = ""


def init_app(app: Flask) -> None:
    """Give templates `presence()`: what the page knows of its sign-in."""
    app.add_template_global(presence)


@bp.get("/sign-in.json")
@needs(OPEN)
def show() -> Response:
    """The `Presence` of this browser, and a CSRF token that is good for its present session."""
    return answer(presence())


@bp.post("/me/stay")
@needs(SEE)
def stay() -> Response:
    """A person has pressed or typed something on a page: the sign-in lasts on."""
    _note()
    return answer(presence())


def answer(found: Presence) -> Response:
    """A `Presence` as JSON, with a CSRF token."""
    return jsonify(**found._asdict(), csrf=generate_csrf())


def presence() -> Presence:
    """What the page of this request knows of its sign-in."""
    if not current_user.is_authenticated:
        return Presence()
    return presence_of(current_sign_in())


def presence_of(known: SignInFacts) -> Presence:
    """What a page knows of this sign-in."""
    left = known.expires_at - services().clock()
    return Presence(
        f"{known.staff_id}-{known.property_id}-{known.role}",
        # not the hash itself, by which the database finds the sign-in
        secret_hash(f"page of {known.sign_in}")[:MARK_CHARACTERS],
        max(0, int(left.total_seconds())),
        "whole" if known.is_last_end else "unused",
        _warning(known) if left <= WARNED_BEFORE else "",
    )


def _warning(known: SignInFacts) -> str:
    with services().db.read() as db:
        tz = zone(db.get_one(Property, known.property_id).timezone)
    at = clock_time(known.expires_at, tz, locale())
    if known.is_last_end:
        return _(
            "You will be signed out at %(at)s: after a week everybody types their password again.",
            at=at,
        )
    return _("You will be signed out at %(at)s: nobody has used this desk for a while.", at=at)


@bp.before_app_request
def note_pages() -> None:
    """Let the sign-in last on when a person opens a page or sends a form, but not at every page."""
    need = need_of(current_app, request.endpoint or "")
    if need not in ROLES["admin"] or not _is_of_a_person() or not current_user.is_authenticated:
        return
    known = current_sign_in()
    if end_after_use(known, services().clock()) - known.expires_at < STEP:
        return
    try:
        _note()
    except (DatabaseBusy, CommitUnknown, SQLAlchemyError) as error:
        # the page itself says so if it can't be shown, or what it sends can't be saved
        log.warning("the use of a sign-in was not noted: %s", reason(error))


def _is_of_a_person() -> bool:
    """Whether a person caused this request by a press or a key, and not a page by itself.

    Browsers say so (Sec-Fetch-User). Of one that does not, all pages and forms count; its requests
    of scripts ask for JSON or for a part of a page.
    """
    sent = request.headers
    if "Sec-Fetch-Mode" in sent:
        return sent["Sec-Fetch-Mode"] == "navigate" and sent.get("Sec-Fetch-User") == "?1"
    return not wants_json() and "X-Part" not in sent


def _note() -> None:
    s = services()
    with s.db.write() as db:
        noted = note_use(db, current_sign_in(), s.clock())
    request.environ[KNOWN_SIGN_IN] = noted
