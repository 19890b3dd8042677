"""Who may do what: each view says what it needs, and a view that says nothing is open to nobody.

See docs/security.md ASVS 8.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, abort, current_app, request
from flask_login import current_user
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import login_manager, services
from ridedash.store import audit

View = TypeVar("View", bound=Callable[..., Any])
OPEN: Final = "open"  # to whoever asks, signed in or not
SEE, BOOK, EXPORT, MANAGE, AUDIT, ADMIN = "see", "book", "export", "manage", "audit", "admin"
_CONCIERGE: Final = frozenset({SEE, BOOK})
_MANAGER: Final = _CONCIERGE | {EXPORT, MANAGE, AUDIT}  # of the own property
ROLES: Final = {  # each role may do what the one before may
    "concierge": _CONCIERGE,
    "manager": _MANAGER,
    "admin": _MANAGER | {ADMIN},  # of every property, one at a time
}
KNOWN: Final = ROLES["admin"] | {OPEN}


def needs(permission: str) -> Callable[[View], View]:
    """Declare what a view needs: one of SEE, BOOK, EXPORT, MANAGE, AUDIT, ADMIN, or OPEN.

    Stands next to its route.

    Whoever is not signed in is asked to; whoever may not gets 403. Rows of another property are the
    view's own business: they do not exist for it, so 404.
    """
    if permission not in KNOWN:
        raise ValueError(f"no permission is called {permission!r}")

    def declare(view: View) -> View:
        view.needs = permission  # type: ignore[attr-defined]
        return view

    return declare


def need_of(app: Flask, endpoint: str) -> str | None:
    """What the view of an endpoint has declared; None when it said nothing."""
    return getattr(app.view_functions.get(endpoint), "needs", None)


def may(permission: str) -> bool:
    """Whether whoever asks may do that."""
    return _allows(current_user._get_current_object(), permission)


def _allows(who: Any, permission: str) -> bool:
    return bool(who.is_authenticated) and permission in ROLES.get(who.role, frozenset())


def outranks(role: str, other: str) -> bool:
    """Whether somebody of `role` may give or take `other`: nobody hands out more than they hold."""
    return ROLES.get(role, frozenset()) >= ROLES.get(other, KNOWN)


def init_app(app: Flask) -> None:
    """Check every request before its view; templates ask `may("manage")`."""
    app.view_functions["static"] = needs(OPEN)(_named(app.view_functions["static"]))
    app.before_request(_check)
    app.add_template_global(may)


def _named(view: Callable[..., Any]) -> Callable[..., Any]:
    """Flask's own view of static files can carry no mark."""

    def static(**names: Any) -> Any:
        return view(**names)

    return static


def _check() -> BaseResponse | None:
    endpoint = request.endpoint
    if endpoint is None:
        return None  # no such address: Flask says so
    need = need_of(current_app, endpoint)
    if need == OPEN:
        return None
    who = current_user._get_current_object()  # looked up once: this runs for every request
    if not who.is_authenticated:
        return current_app.make_response(login_manager.unauthorized())
    if need is None or not _allows(who, need):
        _refuse(need or "nothing")
    return None


def _refuse(need: str) -> None:
    """403; a deed that was refused is recorded, a page that was looked for is not: reading changes
    nothing.
    """
    s = services()
    if request.method == "POST":
        with s.db.write() as db:
            audit.record(
                db,
                f"staff:{current_user.id}",
                "refused",
                f"route:{request.endpoint}"[:80],
                "refused",
                s.clock(),
                property_id=current_user.property_id,
                needs=need,
            )
    abort(403)


def may_link() -> bool:
    """Whether whoever asks may connect the house's accounts: that lets rides be booked on its
    money.
    """
    return may(MANAGE)
