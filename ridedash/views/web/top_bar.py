"""The bar on top of every staff page: what is unknown, whether updates stopped, what asks for a
manager.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.rides.health import heartbeat_age, is_alive, service_silent_since
from ridedash.store.board import AccountInNeed, accounts_in_need, unknown_orders
from ridedash.store.properties import Property, Staff
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import age, day_time, stamp, zone
from ridedash.views.web.permissions import MANAGE, may
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class Alert:
    """Something of the whole property that needs somebody, and where that is done; "" when it is
    not theirs to do.
    """

    name: str
    title: str
    detail: str
    label: str
    href: str


@dataclass(frozen=True)
class StaffBar:
    """What every staff page shows on top."""

    property_name: str
    staff_name: str
    unknown: int
    unknown_text: str
    unknown_since: str
    stopped: str  # that no worker lives, and since when, in words; "" while one does
    silent: str  # that the ride service does not answer, and since when, in words; "" while it does
    alerts: tuple[Alert, ...] = field(default=())
    shortcuts: bool = True  # whether single keys count, as whoever is signed in chose
    sound: bool = False

    @property
    def told(self) -> bool:
        """Whether it says of all rides at once that they are not being updated."""
        return bool(self.stopped or self.silent)

    def as_json(self) -> dict[str, Any]:
        """What can change while a page is open."""
        said: dict[str, Any] = {
            "unknown": self.unknown,
            "since": self.unknown_since,
            "text": self.unknown_text,
        }
        said |= {"stopped": self.stopped, "silent": self.silent}
        return said | ({"alerts": [vars(each) for each in self.alerts]} if self.alerts else {})


def staff_bar(db: Session, now: datetime) -> StaffBar:
    """The bar for whoever is signed in, as far as it changes while a page is open."""
    staff = current_staff()
    house = db.get(Property, staff.property_id)
    count, since = unknown_orders(db, staff.property_id)
    stopped = _stopped(db, house, now)
    text = _("%(n)d unknown", n=count)
    if since is not None:
        text = f"{text} · {age((now - since).total_seconds())}"
    return StaffBar(
        house.name if house else "",
        staff.name,
        count,
        text,
        stamp(since),
        stopped,
        "" if stopped or house is None else _silent(db, house, now),
        tuple(map(_in_need, accounts_in_need(db, staff.property_id, services().vault.names))),
    )


def page_bar(db: Session, now: datetime) -> StaffBar:
    """The same with what a page is told once: which keys and sounds its reader chose."""
    prefers = db.get_one(Staff, current_staff().id)
    return replace(staff_bar(db, now), shortcuts=prefers.shortcuts, sound=prefers.sound)


def _stopped(db: Session, house: Property | None, now: datetime) -> str:
    """That no worker refreshes what is shown: a clock's time, so that it is read out once and not
    at each poll.
    """
    age_s = heartbeat_age(db, now)
    if is_alive(age_s):
        return ""
    if age_s is None or house is None:
        return _(
            "Live updates have not started: no worker runs. Rides go on; what is shown here is not "
            "refreshed."
        )
    at = day_time(now - timedelta(seconds=age_s), now, zone(house.timezone), locale())
    return _(
        "Live updates stopped at %(at)s. Rides go on; what is shown here is not being refreshed.",
        at=at,
    )


def _silent(db: Session, house: Property, now: datetime) -> str:
    """That the ride service gives no answers; without a living worker nobody knows."""
    since = service_silent_since(db, now)
    if since is None:
        return ""
    at = day_time(since, now, zone(house.timezone), locale())
    return _(
        "The ride service has not answered since %(at)s. Rides go on; what you see may be old.",
        at=at,
    )


def _in_need(account: AccountInNeed) -> Alert:
    mine = may(MANAGE)
    if account.sealed:
        title = _("ridedash can't read its link to %(account)s", account=account.label)
        detail = _(
            "A key is missing: tell whoever runs ridedash. What is pressed for its rides is not "
            "sent until then."
        )
        return Alert(f"key-{account.id}", title, detail, "", "")
    return Alert(
        f"reconnect-{account.id}",
        _("%(account)s needs reconnecting", account=account.label),
        _("Its rides show their last facts until then.")
        if mine
        else _("Ask a manager: rides show their last facts."),
        _("Reconnect") if mine else "",
        "/admin/accounts" if mine else "",
    )
