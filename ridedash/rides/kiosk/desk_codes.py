"""Desk codes: six digits from the staff, with which a guest may book once at a kiosk.

A code is bound to its property, lasts ten minutes, and may state that the house pays, or who the
guest is. The commit that makes the order uses it up (docs/booking-protocol.md 1.9).
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store import audit, tries
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Database
from ridedash.store.guests import guest_of
from ridedash.store.models.kiosks import KioskCode
from ridedash.text import compact_key

DIGITS: Final = 6  # a guest can carry them to the kiosk; five guesses of a million find none
DESK_CODE_LASTS: Final = timedelta(
    minutes=10
)  # the walk from the desk to the kiosk, and the form there
WRONG_CODES: Final = 5  # wrong codes at one kiosk in ten minutes, at most
ATTEMPTS: Final = 20  # attempts to find digits that no open code of the property has
_CODE: Final = re.compile(rf"[0-9]{{{DIGITS}}}")


@dataclass(frozen=True)
class NewCode:
    """What a new desk code allows. `guest_id`: the ride is for this guest of the property."""

    property_id: int
    staff_id: int
    house_pays: bool = False
    guest_id: int | None = None


@dataclass(frozen=True)
class OpenCode:
    """A code that may still be used."""

    id: int
    house_pays: bool
    guest_id: int | None


def make_code(db: Database, now: datetime, key: str, wanted: NewCode) -> str:
    """A new desk code, "048213", valid once within ten minutes. Audited.

    Raises LookupError for a guest of another property, or one who is erased.
    """
    with db.write() as s:
        if wanted.guest_id is not None and not guest_of(s, wanted.property_id, wanted.guest_id):
            raise LookupError("no such guest")
        code = _unused(s, key, wanted.property_id, now)
        row = KioskCode(
            code_hash=_hashed(key, wanted.property_id, code),
            property_id=wanted.property_id,
            guest_id=wanted.guest_id,
            house_pays=wanted.house_pays,
            made_by=wanted.staff_id,
            made_at=now,
            expires_at=now + DESK_CODE_LASTS,
        )
        s.add(row)
        s.flush()
        who = by_staff(wanted.staff_id)
        subject = f"kiosk_codes:{row.id}"
        facts = {"house_pays": wanted.house_pays, "guest": wanted.guest_id}
        facts["property_id"] = wanted.property_id
        audit.record(s, who, "kiosk.code_made", subject, "ok", now, **facts)
        return code


def open_code(s: Session, key: str, property_id: int, typed: str, now: datetime) -> OpenCode | None:
    """The typed code if it is still valid; otherwise None. Does not use it up.

    Its digits may be those of any script, in any spacing.
    """
    code = compact_key(typed)
    if not _CODE.fullmatch(code):
        return None
    row = s.scalars(
        select(KioskCode).where(
            KioskCode.property_id == property_id,
            KioskCode.code_hash == _hashed(key, property_id, code),
            KioskCode.used_at.is_(None),
            KioskCode.expires_at > now,
        )
    ).first()
    if row is None:
        return None
    return OpenCode(row.id, row.house_pays, row.guest_id)


def use_up(s: Session, code: OpenCode, kiosk_id: int, now: datetime) -> bool:
    """Use up a code, in the transaction of its order.

    False when it was used already, has expired, or does not allow the same as `code`.
    """
    row = s.get(KioskCode, code.id, with_for_update=True, populate_existing=True)
    if row is None or row.used_at is not None or row.expires_at <= now:
        return False
    row.used_at = now
    row.used_by_kiosk = kiosk_id
    return (row.house_pays, row.guest_id) == (code.house_pays, code.guest_id)


def may_try(s: Session, kiosk_id: int, now: datetime, *, phone: bool = False) -> bool:
    """Whether a kiosk may try a code now. The try counts as wrong until `was_right` is called.

    Tries on guests' own phones (`phone`) are counted separately, so that no one far away can block
    the kiosk. Needs a write session.
    """
    return tries.tries_left(s, tries.codes_of(kiosk_id, phone=phone), WRONG_CODES, now) > 0


def tries_stopped(s: Session, kiosk_id: int, now: datetime) -> bool:
    """Whether wrong codes typed at a kiosk have used up the tries that it allows."""
    key = tries.codes_of(kiosk_id, phone=False)
    return tries.stopped_until(s, key, WRONG_CODES, now) is not None


def was_right(s: Session, kiosk_id: int, *, phone: bool = False) -> None:
    """Cancel the count of a try that was right. Needs a write session."""
    tries.was_right(s, tries.codes_of(kiosk_id, phone=phone))


def _unused(s: Session, key: str, property_id: int, now: datetime) -> str:
    """Six digits that no open code of the property has."""
    for _ in range(ATTEMPTS):
        code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"
        if open_code(s, key, property_id, code, now) is None:
            return code
    raise RuntimeError("no free desk code")


def _hashed(key: str, property_id: int, code: str) -> str:
    """The keyed hash of a code, which is stored: without the key, trying all codes is useless."""
    message = f"kiosk code|{property_id}|{code}".encode()
    return hmac.new(key.encode(), message, hashlib.sha256).hexdigest()
