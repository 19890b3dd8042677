"""Limits wrong tries at a kiosk: of the digits of a desk code, or of the PIN of a ride.

A short secret can be guessed by trying. So each kiosk has a limit of wrong tries in ten minutes
for each kind of secret: all desk codes together, all PINs together (docs/security.md 9).

The counts are in the same table as those of sign-ins, so all processes and machines share them; a
key names a kiosk and the kind of secret, never a guest.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, or_
from sqlalchemy.orm import Session

from ridedash.store.database.database import insert_if_new
from ridedash.store.models.people import Throttle

WINDOW: Final = timedelta(minutes=10)  # wrong tries are counted for so long, then from none
PINS: Final = "kiosk-pins"
# kinds of keys for desk codes, by whether the code is typed on a phone
CODES: Final = {False: "kiosk-codes", True: "phone-codes"}


def codes_of(kiosk_id: int, *, phone: bool) -> str:
    """The key for desk codes typed at a kiosk, or on a phone that continues for it."""
    return f"{CODES[phone]}:{kiosk_id}"


def pins_of(kiosk_id: int) -> str:
    """The key for PINs typed at a kiosk, for all rides."""
    return f"{PINS}:{kiosk_id}"


def tries_left(s: Session, key: str, most: int, now: datetime) -> int:
    """How many of `most` tries in ten minutes are left, this one included; 0: it is not allowed.

    The try counts as wrong until `was_right` is called: counting first stops guesses made in
    parallel. Needs a write session, and locks the row of `key`.
    """
    insert_if_new(s, Throttle, key=key, fails=0, since=now, blocked_until=None)
    row = s.get_one(Throttle, key, with_for_update=True, populate_existing=True)
    if now - row.since >= WINDOW or row.since > now:
        row.fails = 0
        row.since = now
    row.blocked_until = None
    left = max(0, most - row.fails)
    if left:
        row.fails += 1
    return left


def stopped_until(s: Session, key: str, most: int, now: datetime) -> datetime | None:
    """Until when no try of `most` in ten minutes is left; None while one is. Changes nothing."""
    row = s.get(Throttle, key)
    if row is None or row.fails < most or not row.since <= now < row.since + WINDOW:
        return None
    return row.since + WINDOW


def was_right(s: Session, key: str) -> None:
    """Take back the count of a try that was right. Needs a write session."""
    row = s.get(Throttle, key, with_for_update=True, populate_existing=True)
    if row is not None:
        row.fails = max(0, row.fails - 1)


def forget_all(s: Session) -> None:
    """Forget the tries at every kiosk, for a demo that starts anew. Needs a write session."""
    of_kiosks = (Throttle.key.startswith(f"{what}:") for what in (PINS, *CODES.values()))
    s.execute(delete(Throttle).where(or_(*of_kiosks)))
