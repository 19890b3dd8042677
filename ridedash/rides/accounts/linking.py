"""Linking accounts to the service by OAuth: started by staff here, ended where the service sends
the browser back.
"""

import hashlib
import secrets
from datetime import timedelta
from typing import Final, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ridedash.rides.runtime import Clock
from ridedash.service.errors import Refused, ServiceError
from ridedash.service.oauth import OAuthClient, Tokens, pkce_pair
from ridedash.store import audit
from ridedash.store.accounts import account_of, default_account, keep_tokens
from ridedash.store.database.database import Database
from ridedash.store.encryption import TokenVault
from ridedash.store.models.people import Account, LinkStart

LASTS: Final = timedelta(minutes=10)
EXPIRED, REFUSED, NO_ANSWER = "expired", "refused", "no_answer"
NEW: Final = "new"  # the state of an account that was never connected


class LinkFailed(Exception):
    """Nothing was linked.

    `reason` is EXPIRED (or used, or another browser's), REFUSED or NO_ANSWER.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Back(NamedTuple):
    """What came to the callback, and the secret of the sign-in that came with it."""

    state: str
    code: str
    sign_in: str


class Member(NamedTuple):
    """Who links: which property's account, which member of staff, and the secret of their
    sign-in.
    """

    property_id: int
    staff_id: int
    sign_in: str


class Linker:
    """Code with PKCE S256; a `state` is bound to one sign-in, holds for ten minutes and works
    once.
    """

    def __init__(
        self, db: Database, vault: TokenVault, oauth: OAuthClient, clock: Clock, callback: str
    ) -> None:
        self.db, self.vault, self.oauth, self.clock, self.callback = (
            db,
            vault,
            oauth,
            clock,
            callback,
        )

    def start(self, account_id: int, member: Member, order_id: int | None = None) -> str | None:
        """The service's address to go to; None when the account is not one of their property's."""
        with self.db.write() as s:
            row = account_of(s, member.property_id, account_id)
            if row is None or row.state == "removed":
                return None
            return self._begin(s, row.id, member, order_id)

    def start_new(self, label: str, member: Member) -> str:
        """The same for an account that is connected for the first time; what was begun and never
        ended is forgotten.
        """
        with self.db.write() as s:
            row = Account(
                property_id=member.property_id,
                staff_id=member.staff_id,
                label=label,
                is_default=False,
            )
            row.state, row.created_at = NEW, self.clock()
            s.add(row)
            s.flush()
            return self._begin(s, row.id, member, None)

    def _begin(self, s: Session, account_id: int, member: Member, order_id: int | None) -> str:
        state, (verifier, challenge), now = secrets.token_urlsafe(24), pkce_pair(), self.clock()
        s.execute(delete(LinkStart).where(LinkStart.expires_at <= now))
        under_way = select(LinkStart.account_id).where(LinkStart.account_id == Account.id).exists()
        over = (
            Account.state == NEW,
            Account.id != account_id,
            Account.created_at <= now - LASTS,
            ~under_way,
        )
        s.execute(delete(Account).where(*over))
        row = LinkStart(
            state_hash=_hashed(state), sign_in_hash=_hashed(member.sign_in), expires_at=now + LASTS
        )
        row.property_id, row.staff_id = member.property_id, member.staff_id
        row.account_id, row.order_id = account_id, order_id
        row.verifier_enc = self.vault.encrypt(verifier, "link_starts", row.state_hash, "verifier")
        s.add(row)
        return self.oauth.authorize_url(state, challenge, self.callback)

    def finish(self, back: Back) -> int | None:
        """Keep the tokens that the code gives; the order whose page led here. Raises LinkFailed."""
        start = self._taken(back)
        if not back.code:
            raise LinkFailed(REFUSED)
        verifier = self.vault.decrypt(
            start.verifier_enc, "link_starts", start.state_hash, "verifier"
        )
        try:
            tokens = self.oauth.exchange(back.code, verifier, self.callback)
        except Refused as error:
            raise LinkFailed(REFUSED) from error
        except ServiceError as error:
            raise LinkFailed(NO_ANSWER) from error
        with self.db.write() as s:
            self._keep(s, start, tokens)
        return start.order_id

    def _taken(self, back: Back) -> LinkStart:
        """The start of this state, used up by the reading."""
        with self.db.write() as s:
            start = s.get(LinkStart, _hashed(back.state), with_for_update=True)
            if start is None or start.sign_in_hash != _hashed(back.sign_in):
                raise LinkFailed(EXPIRED)
            s.delete(start)
        if start.expires_at <= self.clock():
            raise LinkFailed(EXPIRED)
        return start

    def _keep(self, s: Session, start: LinkStart, tokens: Tokens) -> None:
        now, row = self.clock(), s.get_one(Account, start.account_id, with_for_update=True)
        if row.state == "removed":  # while the browser was away
            raise LinkFailed(EXPIRED)
        row.is_default = row.is_default or default_account(s, row.property_id) is None
        keep_tokens(
            row, self.vault, tokens.access_token, tokens.refresh_token, tokens.expires_in_s, now
        )
        who, what, place = f"staff:{start.staff_id}", f"accounts:{row.id}", start.property_id
        audit.record(s, who, "account.linked", what, "ok", now, property_id=place)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
