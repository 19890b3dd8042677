"""The signed-in member of staff behind a request, and the address of the sign-in page."""

import re
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import unquote, urlencode, urlsplit

from flask import current_app, g, request, session
from flask_login import UserMixin, current_user
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect
from werkzeug.wrappers import Request

from ridedash.extensions import login_manager, services
from ridedash.store.actors import Actor, ActorKind
from ridedash.store.sign_ins import SignInFacts, sign_in_facts

KNOWN_SIGN_IN: Final = "ridedash.known"  # the key of the request's sign-in in its WSGI environ
NEXT: Final = re.compile(r"/(?![/\\])[A-Za-z0-9_\-./~%?=&+]*")
# a page whose forms post to addresses below its own
FORM_PAGE: Final = re.compile(r"/rides/([0-9]+|new)")


@dataclass(frozen=True)
class SignedIn(UserMixin):  # type: ignore[misc] # flask_login ships no types
    """The member of staff behind a request: a copy, so that no database session stays open."""

    id: int
    property_id: int
    name: str
    role: str
    language: str | None
    house_language: str | None

    @property
    def actor(self) -> Actor:
        """The member of staff as the actor of an action."""
        return Actor(ActorKind.STAFF, self.id)


def current_staff() -> SignedIn:
    """The signed-in member of staff. Call it only in a view whose permission a role has."""
    return cast(SignedIn, current_user)


@login_manager.request_loader  # type: ignore[untyped-decorator]
def load_staff(request: Request) -> SignedIn | None:
    """Flask-Login's loader: the cookie has a sign-in's secret; the database says if it is valid."""
    known = request.environ.get(KNOWN_SIGN_IN)
    if known is None:
        sid = session.get("sid")
        if not isinstance(sid, str) or g.get("error_page"):
            # an error page is being shown: the database may be what failed
            return None
        s = services()
        with s.db.read() as db:
            known = sign_in_facts(db, sid, s.clock())
        request.environ[KNOWN_SIGN_IN] = known
    if known is None:
        return None
    return SignedIn(
        known.staff_id,
        known.property_id,
        known.name,
        known.role,
        known.language,
        known.house_language,
    )


def current_sign_in() -> SignInFacts:
    """The sign-in behind a request. Call it only in a view whose permission a role has."""
    return cast(SignInFacts, request.environ[KNOWN_SIGN_IN])


def sign_in_address() -> str:
    """The address of the sign-in page, which leads back to `page_address()` if it can be opened."""
    came_from = page_address()
    if safe_next(came_from) == "/":
        return "/sign-in"
    return "/sign-in?" + urlencode({"next": came_from})


def page_address() -> str:
    """The address at which the browser can open this page again, without sending a form.

    After a POST this is the same address if it can be opened, else the page with the form, else
    "/".
    """
    if request.method == "GET":
        return request.full_path.rstrip("?")
    again = safe_next(request.path)
    if again != "/":
        return again
    return form_page() or "/"


def form_page() -> str:
    """The page whose form posts to the requested address; "" when there is none."""
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


def by_staff_key() -> str:
    """The key of a rate limit for each member of staff: a property shares one IP address."""
    return f"staff-{current_staff().id}"
