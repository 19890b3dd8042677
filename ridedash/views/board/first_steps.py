"""The steps that make a new property ready: a checklist on its board until there is a ride."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from ridedash.store.accounts import accounts_of
from ridedash.store.kiosks import devices_of
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Property
from ridedash.store.properties import staff_of
from ridedash.views.web.permissions import MANAGE, may
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class FirstStep:
    """Something to set up once, on the page at `url`; `why` is what it is good for."""

    title: str
    why: str
    url: str
    is_done: bool


def first_steps(s: Session, prop: Property) -> list[FirstStep]:
    """What a manager still has to set up and what is done; empty when nothing is left."""
    if not may(MANAGE):
        return []
    colleagues = [each for each in staff_of(s, prop.id) if each.disabled_at is None]
    kiosks = devices_of(s, prop.id, KioskKind.KIOSK)
    steps = [
        FirstStep(
            _("Set the pickup"),
            _("where cars meet guests"),
            "/admin/property",
            prop.pickup_lat is not None,
        ),
        FirstStep(
            _("Link an account"),
            _("that pays for the rides"),
            "/admin/accounts",
            bool(accounts_of(s, prop.id)),
        ),
        FirstStep(
            _("Invite your colleagues"),
            _("each with a sign-in of their own"),
            "/admin/staff",
            len(colleagues) > 1,
        ),
        FirstStep(
            _("Pair a kiosk"),
            _("if guests book in the lobby"),
            "/admin/kiosks",
            any(each.paired_at for each in kiosks),
        ),
    ]
    if all(each.is_done for each in steps):
        return []
    return steps
