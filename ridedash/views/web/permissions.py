"""Permissions: each view declares what it needs; a view that declares nothing answers 403.

See docs/security.md ASVS 8.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, abort, current_app, request
from flask_login import current_user
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import login_manager, services
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.models.kiosks import KioskKind
from ridedash.views.web import devices, errors

View = TypeVar("View", bound=Callable[..., Any])
# permissions of views that need no role
OPEN: Final = "open"  # everyone, signed in or not, except a browser that is only a paired device
SHARED: Final = "shared"  # everyone, also paired devices
KIOSK: Final = "kiosk"  # a paired kiosk, and no one else
DOOR: Final = "door"  # a paired door display, and no one else
# permissions that roles have
SEE: Final = "see"
BOOK: Final = "book"
EXPORT: Final = "export"
MANAGE: Final = "manage"
AUDIT: Final = "audit"
ADMIN: Final = "admin"
_CONCIERGE: Final = frozenset({SEE, BOOK})
_MANAGER: Final = _CONCIERGE | {EXPORT, MANAGE, AUDIT}  # at the manager's own property
ROLES: Final = {  # each role has all permissions of the previous one
    "concierge": _CONCIERGE,
    "manager": _MANAGER,
    "admin": _MANAGER | {ADMIN},  # at every property, one at a time
}
DEVICES: Final = {KIOSK: KioskKind.KIOSK, DOOR: KioskKind.DOOR}
KNOWN: Final = ROLES["admin"] | {OPEN, SHARED, *DEVICES}


def needs(permission: str) -> Callable[[View], View]:
    """Declare the permission of a view: one of SEE, BOOK, EXPORT, MANAGE, AUDIT, ADMIN, or OPEN.

    A user who is not signed in is redirected to the sign-in page; one without the permission gets
    403. Rows of another property are for the view to check: it answers 404 for them.

    Views of devices declare KIOSK or DOOR, for which only the device's cookie is checked, or
    SHARED, for which nothing is checked. For all other views only the sign-in is checked; in a
    browser that is a device and has no sign-in, they answer 404 (docs/security.md 9).
    """
    if permission not in KNOWN:
        raise ValueError(f"no permission is called {permission!r}")

    def declare(view: View) -> View:
        view.needs = permission  # type: ignore[attr-defined]
        return view

    return declare


def need_of(app: Flask, endpoint: str) -> str | None:
    """The permission that the view of an endpoint declares; None when it declares none."""
    return getattr(app.view_functions.get(endpoint), "needs", None)


def may(permission: str) -> bool:
    """Whether the user has a permission."""
    return _allows(current_user._get_current_object(), permission)


def _allows(user: Any, permission: str) -> bool:
    return bool(user.is_authenticated) and permission in ROLES.get(user.role, frozenset())


def outranks(role: str, other: str) -> bool:
    """Whether a user of `role` may grant or revoke `other`: only roles up to their own."""
    return ROLES.get(role, frozenset()) >= ROLES.get(other, KNOWN)


def may_invite(role: str, other: str) -> bool:
    """Whether a user of `role` may invite a person as `other`."""
    return MANAGE in ROLES.get(role, frozenset()) and outranks(role, other)


def may_reset_password(role: str, other: str) -> bool:
    """Whether a user of `role` may make the link with which an `other` sets a new password.

    Whoever has the link can sign in as that person, so only an admin may make one for an equal.
    """
    return may_invite(role, other) and (role != other or ADMIN in ROLES[role])


def init_app(app: Flask) -> None:
    """Check every request before its view; templates ask `may("manage")`."""
    app.before_request(_check)
    devices.init_app(app)
    app.add_template_global(may)


def _check() -> BaseResponse | None:
    endpoint = request.endpoint
    if endpoint is None:
        return None  # unknown address: Flask answers 404
    need = need_of(current_app, endpoint)
    if need in DEVICES:
        if devices.device(DEVICES[need]) is None:
            abort(404)
        return None
    if need == SHARED:
        return None
    if need == OPEN and not devices.has_cookie():
        return None
    user = current_user._get_current_object()  # looked up once, because this runs for every request
    # None of the following views is for devices. On a stage, staff sign in beside their kiosk.
    if not user.is_authenticated and devices.is_paired() and not devices.is_of_stage():
        return current_app.make_response(errors.page(404, errors.DEVICE, back=devices.address()))
    if need == OPEN:
        return None
    if not user.is_authenticated:
        return current_app.make_response(login_manager.unauthorized())
    if need is None or not _allows(user, need):
        _refuse(need or "nothing")
    return None


def _refuse(need: str) -> None:
    """Answer 403. A refused POST is audited; a refused GET is not, as it would change nothing."""
    s = services()
    if request.method == "POST":
        with s.db.write() as db:
            audit.record(
                db,
                by_staff(current_user.id),
                "refused",
                f"route:{request.endpoint}"[:80],
                "refused",
                s.clock(),
                property_id=current_user.property_id,
                needs=need,
            )
    abort(403)


def may_link() -> bool:
    """Whether the user may link an account of the service to the property."""
    return may(MANAGE)
