"""People: properties, staff, linked accounts; their sign-ins are in signins.py and can be had from here too."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from ridedash.store.crypto import Sealed, TokenVault
from ridedash.store.order_tables import Order
from ridedash.store.orders import MAX_ID
from ridedash.store.people_tables import Account, Guest, Property, SignIn, Staff, Throttle
from ridedash.store.signins import (
    close_all_sign_ins,
    close_sign_in,
    open_sign_in,
    sign_in_allowed,
    sign_in_key,
    sign_in_succeeded,
    staff_for_sign_in,
)

__all__ = [
    "ACTS_FOR",
    "Account",
    "Guest",
    "Property",
    "SignIn",
    "Staff",
    "Throttle",
    "account_of",
    "accounts_of",
    "add_account",
    "add_property",
    "add_staff",
    "close_all_sign_ins",
    "close_sign_in",
    "default_account",
    "find_property",
    "find_staff",
    "keep_tokens",
    "open_sign_in",
    "properties",
    "sign_in_allowed",
    "sign_in_key",
    "sign_in_succeeded",
    "staff_for_sign_in",
]


# whose orders a member of staff may act on: their property's; an admin those of every one, the page says which
ACTS_FOR: Final = or_(Staff.property_id == Order.property_id, Staff.role == "admin")


def add_property(
    s: Session,
    name: str,
    timezone: str,
    now: datetime,
    *,
    country: str | None = None,
    currency: str | None = None,
    pickup_name: str | None = None,
    pickup_lat: float | None = None,
    pickup_lng: float | None = None,
    phone: str | None = None,
) -> Property:
    """A new property; the row has its id when this returns."""
    row = Property(
        name=name,
        timezone=timezone,
        country=country,
        currency=currency,
        pickup_name=pickup_name,
        pickup_lat=pickup_lat,
        pickup_lng=pickup_lng,
        phone=phone,
        created_at=now,
    )
    s.add(row)
    s.flush()
    return row


def find_property(s: Session, name: str) -> Property | None:
    """A property by its name."""
    return s.scalars(select(Property).where(Property.name == name)).first()


def properties(s: Session) -> list[Property]:
    """All properties, the oldest first."""
    return list(s.scalars(select(Property).order_by(Property.id)))


def add_staff(
    s: Session,
    property_id: int,
    name: str,
    password_hash: str,
    role: str,
    now: datetime,
    *,
    sign_in_name: str | None = None,
) -> Staff:
    """A new member of staff; they sign in with `sign_in_name`, or their name, in any case of letters."""
    row = Staff(
        property_id=property_id,
        name=name,
        sign_in_name=sign_in_key(sign_in_name or name),
        password_hash=password_hash,
        role=role,
        created_at=now,
    )
    s.add(row)
    s.flush()
    return row


def find_staff(s: Session, sign_in_name: str) -> Staff | None:
    """The member of staff who signs in with this name and is not disabled."""
    query = select(Staff).where(Staff.sign_in_name == sign_in_key(sign_in_name), Staff.disabled_at.is_(None))
    return s.scalars(query).first()


def add_account(
    s: Session,
    vault: TokenVault,
    property_id: int,
    label: str,
    access_token: str,
    now: datetime,
    *,
    refresh_token: str | None = None,
    expires_in_s: float | None = None,
    is_default: bool = False,
    staff_id: int | None = None,
) -> Account:
    """Link an account of the service; its tokens are stored encrypted. The first one of a property is the default."""
    if is_default:
        s.execute(update(Account).where(Account.property_id == property_id).values(is_default=False))
    first = default_account(s, property_id) is None
    row = Account(
        property_id=property_id,
        staff_id=staff_id,
        label=label,
        is_default=is_default or first,
        state="ok",
        created_at=now,
    )
    s.add(row)
    s.flush()
    keep_tokens(row, vault, access_token, refresh_token, expires_in_s, now)
    return row


def keep_tokens(
    row: Account,
    vault: TokenVault,
    access_token: str,
    refresh_token: str | None,
    expires_in_s: float | None,
    now: datetime,
) -> None:
    """Put new tokens into an account's row, which is then usable again."""
    row.access_token_enc = vault.encrypt(access_token, "accounts", row.id, "access_token")
    row.refresh_token_enc = vault.encrypt(refresh_token, "accounts", row.id, "refresh_token") if refresh_token else None
    row.expires_at = now + timedelta(seconds=expires_in_s) if expires_in_s is not None else None
    row.state = "ok"
    row.refresh_owner = row.refresh_until = None


def tokens_can_be_read(row: Account, vault: TokenVault) -> bool:
    """Whether these keys open what an account's row keeps; that says nothing of what the service thinks of it."""
    kept = {"access_token": row.access_token_enc, "refresh_token": row.refresh_token_enc}
    try:
        for column, sealed in kept.items():
            if sealed is not None:
                vault.decrypt(sealed, "accounts", row.id, column)
    except Sealed:
        return False
    return True


def accounts_of(s: Session, property_id: int) -> list[Account]:
    """The linked accounts of a property, the default one first; not those that were removed or never connected."""
    query = select(Account).where(Account.property_id == property_id, Account.state.not_in(("new", "removed")))
    return list(s.scalars(query.order_by(Account.is_default.desc(), Account.id)))


def account_of(s: Session, property_id: int, account_id: int) -> Account | None:
    """One linked account of a property; None when it is another's."""
    if not 0 < account_id <= MAX_ID:
        return None
    return s.scalars(select(Account).where(Account.property_id == property_id, Account.id == account_id)).first()


def default_account(s: Session, property_id: int) -> Account | None:
    """The account that rides are booked with unless another is chosen."""
    return s.scalars(select(Account).where(Account.property_id == property_id, Account.is_default)).first()
