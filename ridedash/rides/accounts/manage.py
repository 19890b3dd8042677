"""Managing linked accounts: choosing the default account, and removing an account."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash.store import audit
from ridedash.store.accounts import account_of, accounts_of, make_default
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database
from ridedash.store.models.orders import UNSETTLED, Order, Ride
from ridedash.store.models.people import Account

DONE = "done"
IN_USE = "in_use"
NOT_NOW = "not_now"


class AccountManager:
    """Changes the accounts of one property for one member of staff.

    Raises LookupError for an account that is removed or of another property.
    """

    def __init__(self, db: Database, clock: Clock, property_id: int, staff_id: int) -> None:
        self.db = db
        self.clock = clock
        self.property_id = property_id
        self.staff_id = staff_id

    def make_default(self, account_id: int) -> str:
        """Make this the account with which rides are booked unless another one is chosen.

        Returns DONE, or NOT_NOW when the account is not linked.
        """
        with self.db.write() as s:
            row = self._own(s, account_id)
            if row.state != "ok":
                return NOT_NOW
            make_default(s, row)
            self._record(s, "account.default", row.id)
        return DONE

    def name_affiliate(self, account_id: int, affiliate_uid: str | None) -> str:
        """Store the `affiliate_uid` that bookings with this account send; None: they send none."""
        with self.db.write() as s:
            row = self._own(s, account_id)
            if row.affiliate_uid != affiliate_uid:
                row.affiliate_uid = affiliate_uid
                self._record(s, "account.affiliate", row.id)
        return DONE

    def remove(self, account_id: int) -> str:
        """Delete the tokens of an account. Its row stays for its past rides.

        If the property then has no default account, the first linked one becomes it. Returns DONE,
        or IN_USE while an order of the account is not settled or a ride of it is polled.
        """
        with self.db.write() as s:
            row = self._own(s, account_id)
            if _in_use(s, row.id):
                return IN_USE
            row.state = "removed"
            row.is_default = False
            row.access_token_enc = row.refresh_token_enc = row.expires_at = None
            s.flush()
            left = [each for each in accounts_of(s, self.property_id) if each.state == "ok"]
            if left and not any(each.is_default for each in left):
                left[0].is_default = True
            self._record(s, "account.removed", row.id)
        return DONE

    def _own(self, s: Session, account_id: int) -> Account:
        row = account_of(s, self.property_id, account_id)
        if row is None or row.state == "removed":
            raise LookupError("no such account")
        return row

    def _record(self, s: Session, what: str, account_id: int) -> None:
        who = by_staff(self.staff_id)
        subject = f"accounts:{account_id}"
        audit.record(s, who, what, subject, "ok", self.clock(), property_id=self.property_id)


def _in_use(s: Session, account_id: int) -> bool:
    waiting = select(func.count()).where(Order.account_id == account_id, Order.state.in_(UNSETTLED))
    followed = select(func.count()).where(
        Ride.account_id == account_id, Ride.next_poll_at.is_not(None)
    )
    return bool(s.scalar(waiting) or s.scalar(followed))
