"""The right to ask for an account's new tokens: one process at a time, and a dead one gives it up after seconds."""

import secrets
from datetime import timedelta
from typing import Final

from sqlalchemy import or_, update

from ridedash.rides.moves import Clock
from ridedash.store.db import Database
from ridedash.store.people import Account

LASTS: Final = timedelta(seconds=10)  # longer than a refresh may take


class RefreshLease:
    """The leases that one process takes on `accounts.refresh_owner`. Safe to share between threads."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db, self.clock, self.owner = db, clock, secrets.token_hex(8)

    def take(self, account_id: int, sealed: str | None) -> bool:
        """True when it is ours now, and the account still has the access token that was read (`sealed`)."""
        now = self.clock()
        free = or_(  # one that ends too far ahead was taken by a clock that has stepped back since
            Account.refresh_until.is_(None), Account.refresh_until <= now, Account.refresh_until > now + LASTS
        )
        ours = (
            update(Account)
            .where(Account.id == account_id, Account.state == "ok", Account.access_token_enc == sealed, free)
            .values(refresh_owner=self.owner, refresh_until=now + LASTS)
        )
        with self.db.write() as s:
            return s.connection().execute(ours).rowcount == 1

    def drop(self, account_id: int) -> None:
        """Give it up, so that another may try."""
        ours = update(Account).where(Account.id == account_id, Account.refresh_owner == self.owner)
        with self.db.write() as s:
            s.connection().execute(ours.values(refresh_owner=None, refresh_until=None))
