"""The cookie of a browser in which staff have signed in before (docs/security.md ASVS 6.3.1).

It signs no one in. It only gives wrong passwords of its people counts of their own, so that the
guesses of strangers don't keep them out. One browser may be that of a whole desk.
"""

import secrets
from datetime import timedelta
from typing import Any, Final

from flask import request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.store.models.people import Staff

LASTS: Final = timedelta(days=180)  # since the last sign-in of a person in this browser
MOST_PEOPLE: Final = 20  # those who signed in last; the cookie has 1.5 kB then
LONGEST: Final = 3_000  # characters of the cookie
SALT: Final = "known browser"
BROWSER_BYTES: Final = 12
People = dict[int, tuple[str, int]]  # by id: `Staff.browsers`, and the second of the last sign-in


def key_for(staff: Staff | None) -> str:
    """The key by which this browser's tries for a person are counted; "" if it is not known."""
    browser, people = _read()
    if staff is None or staff.id not in people:
        return ""
    value, at = people[staff.id]
    is_old = services().clock().timestamp() - at > LASTS.total_seconds()
    if is_old or value != staff.browsers:
        return ""
    return f"browser:{staff.id}:{browser}"


def remember(answer: BaseResponse, staff_id: int, value: str) -> None:
    """Let the browser be known as this person's; `value` is their `Staff.browsers`.

    Call it only for a person who has just shown that they know their password.
    """
    browser, people = _read()
    people.pop(staff_id, None)
    latest = {staff_id: (value, int(services().clock().timestamp())), **people}
    kept = [[each, *facts] for each, facts in list(latest.items())[:MOST_PEOPLE]]
    answer.set_cookie(
        _name(),
        _signer().dumps([browser or secrets.token_urlsafe(BROWSER_BYTES), kept]),
        max_age=LASTS,
        secure=not services().settings.demo,
        httponly=True,
        samesite="Strict",
    )


def _read() -> tuple[str, People]:
    """The random name of this browser, and whom it is known for; nothing if it is unknown."""
    cookie = request.cookies.get(_name(), "")
    if len(cookie) > LONGEST:
        return "", {}
    try:
        browser, people = _signer().loads(cookie)
    except BadSignature:
        return "", {}
    return browser, {staff_id: (value, at) for staff_id, value, at in people}


def _name() -> str:
    return "ridedash_known" if services().settings.demo else "__Host-known"


def _signer() -> Any:
    return URLSafeSerializer(services().settings.secret_key, salt=SALT)
