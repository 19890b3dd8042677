"""The paired device behind a request: a kiosk or a door display, identified only by its cookie.

A browser may hold the cookies of both kinds, and the session of a member of staff beside them; the
three are independent (docs/security.md 9), except on a demo's stage. Each request asks the
database, so a device that is revoked is unknown to the next request.
"""

from typing import Final

from flask import Flask, Response, g, request, session
from sqlalchemy.exc import SQLAlchemyError

from ridedash.extensions import services
from ridedash.store import kiosks
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.models.kiosks import Kiosk, KioskKind

LASTS_S: Final = 400 * 24 * 3600  # no browser keeps a cookie for longer
LONGEST_TOKEN: Final = 100
# key of a session of staff: whether their sign-out also un-pairs the kiosk of this browser
ENDS_AT_SIGN_OUT: Final = "device_ends"
SEEN_EVERY_S: Final = 30  # a door display sends no heartbeats: its polls show that it is alive


def init_app(app: Flask) -> None:
    """Replace the tokens of devices once a day, in the answer to any of their requests."""
    app.after_request(_renew)


def cookie_name(kind: KioskKind) -> str:
    """The name of the cookie of one kind of device."""
    if services().settings.demo:
        return f"ridedash_{kind.value}"
    return f"__Host-{kind.value}"


def token_of(kind: KioskKind) -> str:
    """The token in this request; "" without one."""
    token = request.cookies.get(cookie_name(kind), "")
    if len(token) > LONGEST_TOKEN:
        return ""
    return token


def device(kind: KioskKind) -> Kiosk | None:
    """The paired device of this kind that sent the request, as it is stored now; else None.

    The row is detached: read it, never change it.
    """
    known: dict[KioskKind, Kiosk | None] = g.setdefault("devices", {})
    if kind not in known:
        token = token_of(kind)
        s = services()
        known[kind] = None
        if token:
            with s.db.read() as db:
                known[kind] = kiosks.device_with(db, kind, token, s.clock())
    return known[kind]


def has_cookie() -> bool:
    """Whether the request has the cookie of a device, valid or not."""
    return any(token_of(kind) for kind in KioskKind)


def is_paired() -> bool:
    """Whether a device of any kind sent the request; makes no query without a device's cookie."""
    return any(device(kind) is not None for kind in KioskKind)


def is_of_stage() -> bool:
    """Whether the kiosk of this browser is in the frame of a demo's stage, beside its staff."""
    return bool(session.get(ENDS_AT_SIGN_OUT, False))


def address() -> str:
    """The page of the device that sent the request."""
    return "/kiosk" if device(KioskKind.KIOSK) else "/door"


def give(answer: Response, kind: KioskKind, token: str) -> None:
    """Let the browser keep a device's token."""
    g.pop("devices", None)
    answer.set_cookie(
        cookie_name(kind),
        token,
        max_age=LASTS_S,
        secure=not services().settings.demo,
        httponly=True,
        samesite="Strict",
    )


def take(answer: Response, kind: KioskKind) -> None:
    """Let the browser forget a device's token."""
    g.pop("devices", None)
    secure = not services().settings.demo
    answer.delete_cookie(cookie_name(kind), secure=secure, httponly=True, samesite="Strict")


def _renew(answer: Response) -> Response:
    """Give the device of this request a new token if its present one is a day old.

    For a door display, also record that it was seen.
    """
    try:
        for kind, row in list(g.get("devices", {}).items()):
            if row is not None:
                _look_after(answer, kind, row)
    except (DatabaseBusy, SQLAlchemyError):
        pass  # the present token stays valid, and a later request renews it
    return answer


def _look_after(answer: Response, kind: KioskKind, row: Kiosk) -> None:
    s = services()
    token = token_of(kind)
    now = s.clock()
    seen = row.seen_at
    # seen in the future: the clock has stepped back since
    unseen = seen is None or abs((now - seen).total_seconds()) > SEEN_EVERY_S
    silent = kind is KioskKind.DOOR and unseen
    if not silent and not kiosks.is_due(row, token, now):
        return
    with s.db.write() as db:
        fresh = kiosks.renewed(db, row.id, token, now)
        if silent:
            kiosks.note_heartbeat(db, row.id, now, row.release or "", row.health)
    if fresh:
        give(answer, kind, fresh)
