"""Linking accounts to the service by OAuth 2.0: the authorization code flow with PKCE.

See docs/service-interface.md Authentication, 2, and docs/security.md ASVS 10.
"""

import secrets
from datetime import timedelta
from typing import Final, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ridedash.service.errors import Refused, ServiceError
from ridedash.service.oauth import OAuthClient, Tokens, pkce_pair
from ridedash.store import audit
from ridedash.store.accounts import account_of, default_account, keep_tokens
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database
from ridedash.store.encryption import TokenVault, secret_hash
from ridedash.store.models.people import Account, LinkStart

# time to sign in at the service; an older `state` proves nothing
LASTS: Final = timedelta(minutes=10)
EXPIRED = "expired"
REFUSED = "refused"
NO_ANSWER = "no_answer"
NEW: Final = "new"  # the state of an account that was never connected


class LinkFailed(Exception):
    """Nothing was linked.

    `reason` is REFUSED, NO_ANSWER or EXPIRED. EXPIRED also means that the `state` was used already
    or belongs to another sign-in, or that the account was removed meanwhile.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallbackRequest(NamedTuple):
    """The parameters of a request to the callback, and the secret of its sign-in."""

    state: str
    code: str
    sign_in: str


class LinkOwner(NamedTuple):
    """The property and the member of staff who links, and the secret of their sign-in."""

    property_id: int
    staff_id: int
    sign_in: str


class Linker:
    """Links accounts.

    A `state` is bound to one sign-in, is valid for ten minutes and works once; the code challenge
    is PKCE S256.
    """

    def __init__(
        self, db: Database, vault: TokenVault, oauth: OAuthClient, clock: Clock, callback: str
    ) -> None:
        self.db = db
        self.vault = vault
        self.oauth = oauth
        self.clock = clock
        self.callback = callback

    def start(self, account_id: int, owner: LinkOwner, order_id: int | None = None) -> str | None:
        """The address at the service to go to; None when the property has no such account.

        With `order_id`, the user returns to that order's page.
        """
        with self.db.write() as s:
            row = account_of(s, owner.property_id, account_id)
            if row is None or row.state == "removed":
                return None
            return self._begin(s, row.id, owner, order_id)

    def start_new(self, label: str, owner: LinkOwner) -> str:
        """Like `start`, for a new account with this label."""
        with self.db.write() as s:
            row = Account(
                property_id=owner.property_id,
                staff_id=owner.staff_id,
                label=label,
                is_default=False,
            )
            row.state = NEW
            row.created_at = self.clock()
            s.add(row)
            s.flush()
            return self._begin(s, row.id, owner, None)

    def _begin(self, s: Session, account_id: int, owner: LinkOwner, order_id: int | None) -> str:
        """Store the start of a link, and return the address at the service to go to.

        Deletes expired starts, and accounts that were never connected, are older than LASTS and
        have no start.
        """
        state, (verifier, challenge), now = secrets.token_urlsafe(24), pkce_pair(), self.clock()
        s.execute(delete(LinkStart).where(LinkStart.expires_at <= now))
        pending = select(LinkStart.account_id).where(LinkStart.account_id == Account.id).exists()
        abandoned = (
            Account.state == NEW,
            Account.id != account_id,
            Account.created_at <= now - LASTS,
            ~pending,
        )
        s.execute(delete(Account).where(*abandoned))
        row = LinkStart(
            state_hash=secret_hash(state),
            sign_in_hash=secret_hash(owner.sign_in),
            expires_at=now + LASTS,
        )
        row.property_id = owner.property_id
        row.staff_id = owner.staff_id
        row.account_id = account_id
        row.order_id = order_id
        row.verifier_enc = self.vault.encrypt(verifier, "link_starts", row.state_hash, "verifier")
        s.add(row)
        return self.oauth.authorize_url(state, challenge, self.callback)

    def finish(self, request: CallbackRequest) -> int | None:
        """Exchange the code for tokens and store them.

        Returns the order whose page started the link, or None. Raises LinkFailed.
        """
        start = self._use_state(request)
        if not request.code:
            raise LinkFailed(REFUSED)
        verifier = self.vault.decrypt(
            start.verifier_enc, "link_starts", start.state_hash, "verifier"
        )
        try:
            tokens = self.oauth.exchange(request.code, verifier, self.callback)
        except Refused as error:
            raise LinkFailed(REFUSED) from error
        except ServiceError as error:
            raise LinkFailed(NO_ANSWER) from error
        with self.db.write() as s:
            self._store(s, start, tokens)
        return start.order_id

    def _use_state(self, request: CallbackRequest) -> LinkStart:
        """Find and delete the start of this `state`. Raises LinkFailed."""
        with self.db.write() as s:
            start = s.get(LinkStart, secret_hash(request.state), with_for_update=True)
            if start is None or start.sign_in_hash != secret_hash(request.sign_in):
                raise LinkFailed(EXPIRED)
            s.delete(start)
        if start.expires_at <= self.clock():
            raise LinkFailed(EXPIRED)
        return start

    def _store(self, s: Session, start: LinkStart, tokens: Tokens) -> None:
        now = self.clock()
        row = s.get_one(Account, start.account_id, with_for_update=True)
        if row.state == "removed":  # removed while the browser was at the service
            raise LinkFailed(EXPIRED)
        row.is_default = row.is_default or default_account(s, row.property_id) is None
        keep_tokens(
            row, self.vault, tokens.access_token, tokens.refresh_token, tokens.expires_in_s, now
        )
        who = by_staff(start.staff_id)
        subject = f"accounts:{row.id}"
        property_id = start.property_id
        audit.record(s, who, "account.linked", subject, "ok", now, property_id=property_id)
