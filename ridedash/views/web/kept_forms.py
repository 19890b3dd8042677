"""Booking forms that were sent after their sign-in had ended: they come back to the same person.

The server stores none. What was typed is encrypted for the person whose page had the form, and goes
back and forth in a hidden field of the sign-in page; it opens for an hour, when that person signs
in.
"""

import json
from datetime import timedelta
from typing import Any, Final

from flask import request
from itsdangerous import BadSignature, URLSafeSerializer

from ridedash.extensions import services
from ridedash.store.encryption import DecryptionFailed
from ridedash.views.web.current_user import current_staff

KEPT_FOR: Final = timedelta(hours=1)
LONGEST: Final = 30_000  # characters of what was typed; a form has some 3,000
LONGEST_SEALED: Final = 2 * LONGEST
FORM: Final = "booking.create"
OWNER: Final = "page_of"  # the hidden field that says whose page the form was on
SALT: Final = "page of"
# a token that is valid no more, and buttons: what comes back is not pressed yet
LEFT_OUT: Final = frozenset(
    {"csrf_token", OWNER, "show", "quick", "departs_choice", "guest_starts"}
)
# what the encryption is bound to, beside the person
TABLE: Final = "kept_forms"
COLUMN: Final = "form"
Fields = list[tuple[str, str]]


def page_of() -> str:
    """The value of the field OWNER for forms on a page of the signed-in person."""
    staff = current_staff()
    return str(_signer().dumps([staff.id, staff.property_id]))


def sealed() -> str:
    """What the form of this request holds, for the sign-in page; "" if it is not to be kept."""
    if request.method != "POST" or request.endpoint != FORM:
        return ""
    try:
        staff_id, property_id = _signer().loads(request.form.get(OWNER, ""))
    except BadSignature:
        return ""
    fields = [
        (name, value) for name, value in request.form.items(multi=True) if name not in LEFT_OUT
    ]
    plain = json.dumps([services().clock().timestamp(), fields], ensure_ascii=False)
    if len(plain) > LONGEST:
        return ""
    return services().vault.encrypt(plain, TABLE, _row(staff_id, property_id), COLUMN)


def opened(text: str, staff_id: int, property_id: int) -> Fields:
    """The fields of a form that `sealed` kept for this person; [] for all others, and if it is old.

    The person may have signed in at their own property only.
    """
    if not text or len(text) > LONGEST_SEALED:
        return []
    s = services()
    try:
        at, fields = json.loads(s.vault.decrypt(text, TABLE, _row(staff_id, property_id), COLUMN))
    except DecryptionFailed:
        return []
    if s.clock().timestamp() - at > KEPT_FOR.total_seconds():
        return []
    return [(name, value) for name, value in fields]


def _row(staff_id: int, property_id: int) -> str:
    return f"{staff_id}-{property_id}"


def _signer() -> Any:
    return URLSafeSerializer(services().settings.secret_key, salt=SALT)
