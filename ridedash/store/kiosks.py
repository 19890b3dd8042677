"""Paired devices: kiosks and door displays, their pairing codes, tokens, PINs and heartbeats.

A device does not sign in. It is paired once with an 8-character code, and then known by a token of
256 bits in a cookie; the database has hashes of both (docs/security.md 9).
"""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, or_, select, update
from sqlalchemy.orm import Session

from ridedash.store import passwords
from ridedash.store.encryption import secret_hash
from ridedash.store.models.kiosks import Kiosk, KioskCode, KioskKind, KioskVisit
from ridedash.text import compact_key

# characters of pairing codes: no two of them look alike
LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH: Final = 8  # 6 * 10**11 codes
CODE_LASTS: Final = timedelta(minutes=10)  # time to walk to the device and type the code
TOKEN_BYTES: Final = 32  # 256 random bits: no one guesses a device
REPLACED_AFTER: Final = timedelta(hours=24)  # a token that was copied is worth nothing the next day
# how long an old token stays valid after the device has used the new one
OLD_LASTS: Final = timedelta(minutes=10)
PIN_LENGTH: Final = 6  # can be typed standing; five tries of a million find none
PIN_TRIES: Final = 5  # people mistype a few times, guessers need many
PIN_WAIT: Final = timedelta(minutes=15)  # at most 480 guesses a day, of a million


class WrongPin(Exception):
    """The PIN does not open the panel: it is wrong, none is set, or too many were tried.

    `wait_s` is how long to wait before the next try, in seconds; 0.0: it may be made at once.
    """

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"wrong PIN, wait {wait_s:.0f} s")
        self.wait_s = wait_s


def new_device(s: Session, property_id: int, kind: KioskKind, name: str, now: datetime) -> Kiosk:
    """A device that is not paired yet. Flushes."""
    row = Kiosk(property_id=property_id, kind=kind.value, name=name, made_at=now)
    s.add(row)
    s.flush()
    return row


def devices_of(
    s: Session, property_id: int, kind: KioskKind | None = None, *, ended: bool = False
) -> list[Kiosk]:
    """The devices of a property, the oldest first; those that are revoked only with `ended`."""
    query = select(Kiosk).where(Kiosk.property_id == property_id)
    if not ended:
        query = query.where(Kiosk.revoked_at.is_(None))
    if kind is not None:
        query = query.where(Kiosk.kind == kind.value)
    return list(s.scalars(query.order_by(Kiosk.id)))


def device_of(s: Session, property_id: int, kiosk_id: int, *, hold: bool = False) -> Kiosk | None:
    """One device of a property, revoked or not; None when it is another property's.

    `hold` locks the row.
    """
    query = select(Kiosk).where(Kiosk.property_id == property_id, Kiosk.id == kiosk_id)
    if hold:
        query = query.with_for_update()
    return s.scalars(query).first()


def make_pairing_code(kiosk: Kiosk, staff_id: int | None, now: datetime) -> str:
    """A code that pairs a device once within ten minutes, as "K7QW2MXD"; it replaces earlier codes.

    The current pairing lasts until the code is used.
    """
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    kiosk.pairing_hash = secret_hash(code)
    kiosk.pairing_until = now + CODE_LASTS
    kiosk.paired_by = staff_id
    return code


def pair(s: Session, typed: str, now: datetime) -> tuple[Kiosk, str] | None:
    """The device of a pairing code and the token that its browser keeps; None for a wrong code.

    Needs a write session. The device may be of either kind. This uses up the code and ends the
    pairing of an earlier browser. Call `code_allowed` of store/sign_in_tries.py first, which
    limits the tries.
    """
    code = compact_key(typed)
    query = select(Kiosk).where(
        Kiosk.pairing_hash == secret_hash(code),
        Kiosk.pairing_until > now,
        Kiosk.revoked_at.is_(None),
    )
    kiosk = s.scalars(query.with_for_update()).first()
    if kiosk is None:
        return None
    return kiosk, begin(kiosk, now)


def end_codes_of(connection: Connection, staff_id: int) -> None:
    """End unused codes that a person made: pairing codes and desk codes.

    Paired devices stay paired. The expiry of a desk code is set to the time at which it was made.
    """
    pairing = update(Kiosk).where(Kiosk.paired_by == staff_id, Kiosk.pairing_hash.is_not(None))
    connection.execute(pairing.values(pairing_hash=None, pairing_until=None))
    desk = update(KioskCode).where(KioskCode.made_by == staff_id, KioskCode.used_at.is_(None))
    connection.execute(desk.values(expires_at=KioskCode.made_at))


def begin(kiosk: Kiosk, now: datetime) -> str:
    """Pair a device. Returns its new token; earlier tokens and an open code end."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    kiosk.token_hash = secret_hash(token)
    kiosk.old_token_hash = None
    kiosk.replaced_at = kiosk.confirmed_at = kiosk.paired_at = now
    kiosk.pairing_hash = kiosk.pairing_until = None
    kiosk.pin_tries = 0
    kiosk.pin_blocked_until = None
    return token


def unpair(kiosk: Kiosk) -> None:
    """End the pairing; a new code pairs the device again."""
    kiosk.token_hash = kiosk.old_token_hash = kiosk.paired_at = None
    kiosk.pairing_hash = kiosk.pairing_until = None


def revoke(kiosk: Kiosk, now: datetime) -> None:
    """End a device for good.

    Every process asks the database, so this takes effect at once in all.
    """
    unpair(kiosk)
    kiosk.revoked_at = now


def device_with(s: Session, kind: KioskKind, token: str, now: datetime) -> Kiosk | None:
    """The paired device of a token; None for a token that is unknown, ended or of another kind."""
    hashed = secret_hash(token)
    query = select(Kiosk).where(
        or_(Kiosk.token_hash == hashed, Kiosk.old_token_hash == hashed),
        Kiosk.kind == kind.value,
        Kiosk.revoked_at.is_(None),
    )
    row = s.scalars(query).first()
    if row is None or row.token_hash == hashed:
        return row
    used = row.confirmed_at
    if used is not None and now >= used + OLD_LASTS:
        return None
    return row


def is_due(kiosk: Kiosk, token: str, now: datetime) -> bool:
    """Whether `renewed` has something to do: note the first use of a token, or give a new one."""
    if kiosk.replaced_at is None:
        return False
    if secret_hash(token) == kiosk.token_hash:
        return kiosk.confirmed_at is None or now >= kiosk.replaced_at + REPLACED_AFTER
    # if the device has not used the new token, the answer that brought it was probably lost
    return kiosk.confirmed_at is None and now >= kiosk.replaced_at + OLD_LASTS


def renewed(s: Session, kiosk_id: int, token: str, now: datetime) -> str | None:
    """The new token of a device, once in 24 hours; None: the present token stays.

    Needs a write session. The old token stays valid until ten minutes after the device has used the
    new one, so that a lost answer does not end the pairing.
    """
    row = s.get(Kiosk, kiosk_id, with_for_update=True)
    hashed = secret_hash(token)
    if row is None or hashed not in (row.token_hash, row.old_token_hash):
        return None
    if not is_due(row, token, now):
        return None
    if hashed == row.token_hash and row.confirmed_at is None:
        row.confirmed_at = now
        return None
    fresh = secrets.token_urlsafe(TOKEN_BYTES)
    row.token_hash = secret_hash(fresh)
    row.old_token_hash = hashed
    row.replaced_at = now
    row.confirmed_at = None
    return fresh


def note_heartbeat(
    s: Session, kiosk_id: int, now: datetime, release: str, health: dict[str, Any]
) -> None:
    """Record a heartbeat: the release of the page, and its health. Needs a write session."""
    row = s.get(Kiosk, kiosk_id, with_for_update=True)
    if row is not None:
        row.seen_at = now
        row.release = release
        row.health = health


def take_over(s: Session, kiosk_id: int) -> None:
    """Record that a kiosk has begun the visit of the guest to whom the desk handed it."""
    row = s.get(Kiosk, kiosk_id, with_for_update=True)
    if row is not None:
        row.handed_at = row.handed_language = None


def help_state(s: Session, kiosk_id: int, visit_id: str) -> str:
    """Whether an open visit called for help: "", "asked", or "coming" once the desk answered."""
    query = select(KioskVisit.help_at, KioskVisit.help_answered_at).where(
        KioskVisit.id == visit_id, KioskVisit.kiosk_id == kiosk_id, KioskVisit.ended_at.is_(None)
    )
    row = s.execute(query).first()
    if row is None or row.help_at is None:
        return ""
    if row.help_answered_at:
        return "coming"
    return "asked"


def kind_of(kiosk: Kiosk) -> KioskKind:
    """The kind of a device."""
    return KioskKind(kiosk.kind)


def set_pin(kiosk: Kiosk, pin: str) -> None:
    """Set the PIN of a device's panel. Raises ValueError unless it is six ASCII digits."""
    if not (len(pin) == PIN_LENGTH and pin.isascii() and pin.isdigit()):
        raise ValueError("a PIN is six digits")
    kiosk.pin_hash = passwords.hashed(pin)
    kiosk.pin_tries = 0
    kiosk.pin_blocked_until = None


def count_pin(kiosk: Kiosk, now: datetime) -> None:
    """Count a try as wrong before it is verified, so that parallel tries are all counted.

    Raises WrongPin when no PIN may be tried now. The row must be locked; commit, then `verify_pin`.
    """
    blocked = kiosk.pin_blocked_until
    if kiosk.pin_hash is None or (blocked is not None and now < blocked):
        raise WrongPin((blocked - now).total_seconds() if blocked else 0.0)
    kiosk.pin_tries += 1
    if kiosk.pin_tries >= PIN_TRIES:
        kiosk.pin_tries = 0
        kiosk.pin_blocked_until = now + PIN_WAIT


def verify_pin(kiosk: Kiosk, pin: str, now: datetime) -> None:
    """Check a PIN after `count_pin` has counted the try; slow by design. Raises WrongPin.

    Its digits may be those of any script.
    """
    if kiosk.pin_hash is None or not passwords.matches(kiosk.pin_hash, compact_key(pin)):
        blocked = kiosk.pin_blocked_until
        wait_s = (blocked - now).total_seconds() if blocked else 0.0
        raise WrongPin(max(0.0, wait_s))


def forget_tries(kiosk: Kiosk) -> None:
    """Reset the count of wrong PINs, after a right one."""
    kiosk.pin_tries = 0
    kiosk.pin_blocked_until = None
