"""Invitations: a link for a new member of staff or a new password, valid once and for a day."""

import secrets
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, or_, select, update
from sqlalchemy.orm import Session

from ridedash.store.encryption import secret_hash
from ridedash.store.models.desk import Invitation
from ridedash.store.models.people import Staff

# the invited person works within a day; a lost mail opens nothing later
LASTS: Final = timedelta(hours=24)


def invite(
    s: Session,
    property_id: int,
    role: str,
    name: str,
    made_by: int | None,
    now: datetime,
) -> tuple[Invitation, str]:
    """Invite a new member of staff. Returns the row and its secret, which only the link has."""
    secret = secrets.token_urlsafe(24)
    row = Invitation(
        token_hash=secret_hash(secret),
        property_id=property_id,
        role=role,
        name=name,
        made_by=made_by,
        made_at=now,
        expires_at=now + LASTS,
        used_at=None,
    )
    s.add(row)
    s.flush()
    return row, secret


def invite_to_new_password(
    s: Session, staff: Staff, made_by: int | None, now: datetime
) -> tuple[Invitation, str]:
    """A link by which a member of staff sets a new password; their older link ends."""
    end_password_links(s, staff.id, now)
    row, secret = invite(s, staff.property_id, staff.role, staff.name, made_by, now)
    row.staff_id = staff.id
    return row, secret


def end_password_links(s: Session, staff_id: int, now: datetime) -> None:
    """End the links with which a person could set a new password."""
    older = update(Invitation).where(
        Invitation.staff_id == staff_id, Invitation.used_at.is_(None), Invitation.expires_at > now
    )
    s.execute(older.values(expires_at=now))


def open_invitation(
    s: Session, secret: str, now: datetime, *, hold: bool = False
) -> Invitation | None:
    """The invitation of a link while it is valid; None if it is unknown, used or expired.

    None also if it sets a new password for a disabled member of staff. `hold` locks the row, so
    that no other session uses it meanwhile.
    """
    query = select(Invitation).where(Invitation.token_hash == secret_hash(secret))
    if hold:
        query = query.with_for_update()
    row = s.scalars(query).first()
    if row is None or row.used_at is not None or row.expires_at <= now:
        return None
    staff = s.get(Staff, row.staff_id) if row.staff_id is not None else None
    if staff is not None and staff.disabled_at is not None:
        return None
    return row


def invitation_of(s: Session, property_id: int, invitation_id: int) -> Invitation | None:
    """One invitation of a property; None when it is another property's."""
    query = select(Invitation).where(
        Invitation.property_id == property_id, Invitation.id == invitation_id
    )
    return s.scalars(query).first()


def open_invitations(s: Session, property_id: int, now: datetime) -> list[Invitation]:
    """The valid invitations of a property, the newest first."""
    query = select(Invitation).where(
        Invitation.property_id == property_id, Invitation.used_at.is_(None)
    )
    return list(s.scalars(query.where(Invitation.expires_at > now).order_by(Invitation.id.desc())))


def end_links_of(connection: Connection, staff_id: int) -> None:
    """End the links that a person made, and the links with which they could set a new password.

    Their expiry is set to the time at which they were made, which is past by any clock.
    """
    theirs = or_(Invitation.made_by == staff_id, Invitation.staff_id == staff_id)
    ended = update(Invitation).where(theirs, Invitation.used_at.is_(None))
    connection.execute(ended.values(expires_at=Invitation.made_at))
