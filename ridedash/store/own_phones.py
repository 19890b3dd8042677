"""Links from a kiosk with which a guest continues on their own phone (docs/security.md 9).

A link is opened by one browser, within ten minutes, and books once. Looking at its page opens
nothing: programs that check links look at each of them. The database stores only hashes.
"""

import secrets
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ridedash.store.encryption import secret_hash
from ridedash.store.models.kiosks import OwnPhone

OPEN_FOR: Final = timedelta(minutes=10)  # how long a link can be opened
BOOK_FOR: Final = timedelta(minutes=20)  # how long one can book after opening it
# how long rows are stored, for the browser that booked and comes back
STORED_FOR: Final = timedelta(days=1)


def make_link(s: Session, kiosk_id: int, property_id: int, visit_id: str, now: datetime) -> str:
    """The token of a new link. An earlier link of this visit that no one has opened ends."""
    s.execute(
        delete(OwnPhone).where(
            OwnPhone.kiosk_id == kiosk_id,
            OwnPhone.visit_id == visit_id,
            OwnPhone.opened_at.is_(None),
        )
    )
    token = secrets.token_urlsafe(16)
    s.add(
        OwnPhone(
            token_hash=secret_hash(token),
            kiosk_id=kiosk_id,
            property_id=property_id,
            visit_id=visit_id,
            made_at=now,
            expires_at=now + OPEN_FOR,
        )
    )
    return token


def is_opened(s: Session, kiosk_id: int, visit_id: str) -> bool:
    """Whether a phone has opened the link of this visit."""
    query = select(OwnPhone.token_hash).where(
        OwnPhone.kiosk_id == kiosk_id,
        OwnPhone.visit_id == visit_id,
        OwnPhone.opened_at.is_not(None),
    )
    return s.scalars(query).first() is not None


def phone_of(s: Session, token: str, session: str, now: datetime) -> OwnPhone | None:
    """The link of a token, for the browser with this session; None for others, and once it ended.

    The browser that booked may come back for a day.
    """
    row = s.get(OwnPhone, secret_hash(token))
    if row is None or row.session_hash is None or row.session_hash != secret_hash(session):
        return None
    until = row.used_at + STORED_FOR if row.used_at else row.expires_at
    if now >= until:
        return None
    return row


def new_session() -> str:
    """A secret for a browser that may open a link; its page posts it with the press."""
    return secrets.token_urlsafe(24)


def can_be_opened(s: Session, token: str, now: datetime) -> OwnPhone | None:
    """The link of a token while no browser has opened it; None if it is unknown or expired."""
    row = s.get(OwnPhone, secret_hash(token))
    if row is None or row.opened_at is not None or now >= row.expires_at:
        return None
    return row


def open_link(s: Session, token: str, session: str, now: datetime) -> bool:
    """Bind a link to the browser whose page posts this session; whether the link is now its own.

    True again for a second press of the same page. False for a link that is unknown, expired or
    opened by another browser. Needs a write session.
    """
    row = s.get(OwnPhone, secret_hash(token), with_for_update=True)
    if row is None or now >= row.expires_at:
        return False
    if row.opened_at is None:
        row.opened_at = now
        row.session_hash = secret_hash(session)
        row.expires_at = now + BOOK_FOR
    return row.session_hash == secret_hash(session)


def use_up(s: Session, token: str, now: datetime) -> None:
    """Record that the link has booked its one ride. Needs a write session."""
    row = s.get(OwnPhone, secret_hash(token), with_for_update=True)
    if row is not None and row.used_at is None:
        row.used_at = now
