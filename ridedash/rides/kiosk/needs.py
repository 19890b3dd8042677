"""What a kiosk needs before it can book: a pickup point, and a ride account that is connected.

Without them no guest can get a car, so the kiosk does not invite anybody, and its health says so.
"""

from enum import StrEnum

from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.rides.kiosk.rules import account_at
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.models.people import Property
from ridedash.store.offers import Trip


class KioskNeed(StrEnum):
    """What a kiosk lacks."""

    PICKUP = "pickup"  # neither it nor its property has a pickup point
    ACCOUNT = "account"  # no linked account, or the one that was chosen for it is linked no more
    RECONNECT = "reconnect"  # the service does not accept the account's tokens any more


def start_of(kiosk: Kiosk, home: Property) -> Trip | None:
    """The start of a kiosk's rides: its own pickup point, else the property's, if there is one."""
    if kiosk.lat is not None and kiosk.lng is not None:
        name = kiosk.place or home.pickup_name or home.name
        return Trip(LatLng(kiosk.lat, kiosk.lng), name)
    if home.pickup_lat is not None and home.pickup_lng is not None:
        return Trip(LatLng(home.pickup_lat, home.pickup_lng), home.pickup_name or home.name)
    return None


def needs_of(s: Session, kiosk: Kiosk, home: Property) -> tuple[KioskNeed, ...]:
    """What a kiosk lacks to book; a display at the door books nothing, and lacks nothing."""
    if kiosk.kind != KioskKind.KIOSK:
        return ()
    found = []
    if start_of(kiosk, home) is None:
        found.append(KioskNeed.PICKUP)
    account = account_at(s, kiosk)
    if account is None:
        found.append(KioskNeed.ACCOUNT)
    elif account.state == "reconnect":
        found.append(KioskNeed.RECONNECT)
    return tuple(found)
