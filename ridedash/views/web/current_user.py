"""Who is signed in: the member of staff behind a request, and the way to the sign-in page for
others.
"""

import re
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import unquote, urlencode, urlsplit

from flask import Response, current_app, g, jsonify, redirect, request, session
from flask_login import UserMixin, current_user
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect
from werkzeug.wrappers import Request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import login_manager, services
from ridedash.store.sign_ins import SignInFacts, sign_in_facts
from ridedash.views.web.responses import wants_json
from ridedash.wording import gettext as _

KNOWN: Final = "ridedash.known"  # where the sign-in of a request stands in its environ
NEXT: Final = re.compile(r"/(?![/\\])[A-Za-z0-9_\-./~%?=&+]*")
FORM_PAGE: Final = re.compile(r"/rides/([0-9]+|new)")  # the page that has the forms posted below it


@dataclass(frozen=True)
class SignedIn(UserMixin):  # type: ignore[misc] # flask_login ships no types
    """The member of staff behind a request; a copy of the row's facts, so that no session stays
    open.
    """

    id: int
    property_id: int
    name: str
    role: str


def current_staff() -> SignedIn:
    """Who is signed in; only behind a view that needs more than OPEN."""
    return cast(SignedIn, current_user)


@login_manager.request_loader  # type: ignore[untyped-decorator]
def load_staff(request: Request) -> SignedIn | None:
    """The signed cookie carries a sign-in's secret; the row decides whether it still holds."""
    known = request.environ.get(KNOWN)
    if known is None:
        sid = session.get("sid")
        if not isinstance(sid, str) or g.get("error_page"):  # the database may be what failed
            return None
        s = services()
        with s.db.read() as db:
            known = sign_in_facts(db, sid, s.clock())
        request.environ[KNOWN] = known
    return SignedIn(known.staff_id, known.property_id, known.name, known.role) if known else None


def current_sign_in() -> SignInFacts:
    """The sign-in behind a request; only behind a view that needs more than OPEN."""
    return cast(SignInFacts, request.environ[KNOWN])


@login_manager.unauthorized_handler  # type: ignore[untyped-decorator]
def ask_to_sign_in() -> tuple[Response, int] | BaseResponse:
    """401 as JSON for scripts; for people the sign-in page, which brings them back."""
    if wants_json():
        return jsonify(error="signed_out", message=_("You are signed out.")), 401
    return redirect(sign_in_address(), code=303)


def sign_in_address() -> str:
    """The sign-in page, which leads back to the page that was asked for, or from which a form
    came.
    """
    came_from = request.full_path.rstrip("?") if request.method == "GET" else form_page() or "/"
    query = (
        urlencode({"next": came_from}) if came_from != "/" and safe_next(came_from) != "/" else ""
    )
    return "/sign-in" + (f"?{query}" if query else "")


def form_page() -> str:
    """The page that has the form whose address is asked for; "" when that is no form's."""
    page = FORM_PAGE.match(request.path)
    return page.group() if page else ""


def safe_next(target: str | None) -> str:
    """`target` when it is a page of this site that can be opened, else "/".

    See docs/security.md ASVS 3.7.2.
    """
    if not target or len(target) > 500 or not NEXT.fullmatch(target):
        return "/"
    path = unquote(urlsplit(target).path)
    try:
        current_app.url_map.bind("localhost").match(path, method="GET")
    except (HTTPException, RequestRedirect):
        return "/"
    return target
