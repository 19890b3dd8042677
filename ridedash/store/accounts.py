"""Linked accounts of a property and their encrypted tokens."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from ridedash.store.encryption import TokenVault
from ridedash.store.models.people import Account

AFFILIATE_MAX: Final = 100  # characters of an affiliate_uid


def add_account(
    s: Session,
    vault: TokenVault,
    property_id: int,
    label: str,
    access_token: str,
    now: datetime,
) -> Account:
    """Link an account of the service; its token is stored encrypted.

    The first account of a property is its default one.
    """
    row = Account(
        property_id=property_id,
        label=label,
        is_default=default_account(s, property_id) is None,
        state="ok",
        created_at=now,
    )
    s.add(row)
    s.flush()
    keep_tokens(row, vault, access_token, None, None, now)
    return row


def make_default(s: Session, row: Account) -> None:
    """Make this account the default one of its property."""
    others = update(Account).where(Account.property_id == row.property_id)
    s.execute(others.values(is_default=False))
    row.is_default = True


def keep_tokens(
    row: Account,
    vault: TokenVault,
    access_token: str,
    refresh_token: str | None,
    expires_in_s: float | None,
    now: datetime,
) -> None:
    """Store new tokens in an account's row, which is then usable again."""
    row.access_token_enc = vault.encrypt(access_token, "accounts", row.id, "access_token")
    row.refresh_token_enc = None
    if refresh_token:
        row.refresh_token_enc = vault.encrypt(refresh_token, "accounts", row.id, "refresh_token")
    row.expires_at = None
    if expires_in_s is not None:
        row.expires_at = now + timedelta(seconds=expires_in_s)
    row.state = "ok"
    row.refresh_owner = row.refresh_until = None


def affiliate_uid_of(s: Session, account_id: int) -> str | None:
    """The affiliate_uid of an account that is billed to an affiliate; None for any other.

    Each booking with the account must contain it.
    See docs/service-interface.md 1.
    """
    query = select(Account.affiliate_uid).where(Account.id == account_id)
    return s.scalars(query).first() or None


def tokens_can_be_read(row: Account, vault: TokenVault) -> bool:
    """Whether the keys of `vault` decrypt the tokens of an account.

    Whether the service accepts the tokens is another question.
    """
    stored = {"access_token": row.access_token_enc, "refresh_token": row.refresh_token_enc}
    return all(
        encrypted is None or vault.opens(encrypted, "accounts", row.id, column)
        for column, encrypted in stored.items()
    )


def accounts_of(s: Session, property_id: int) -> list[Account]:
    """The linked accounts of a property, the default one first.

    Accounts that were removed or never connected are left out.
    """
    query = select(Account).where(
        Account.property_id == property_id, Account.state.not_in(("new", "removed"))
    )
    return list(s.scalars(query.order_by(Account.is_default.desc(), Account.id)))


def account_of(s: Session, property_id: int, account_id: int) -> Account | None:
    """One account of a property, in any state; None when it belongs to another property."""
    return s.scalars(
        select(Account).where(Account.property_id == property_id, Account.id == account_id)
    ).first()


def default_account(s: Session, property_id: int) -> Account | None:
    """The account with which rides are booked unless another one is chosen."""
    return s.scalars(
        select(Account).where(Account.property_id == property_id, Account.is_default)
    ).first()
