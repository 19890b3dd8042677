"""How far a ride still has to go, and how far and how long it went."""

from ridedash import wire
from ridedash.views.formats import minutes
from ridedash.views.invoices import kilometres
from ridedash.views.ride_facts import RideFacts
from ridedash.wording import gettext as _


def distance_left(facts: RideFacts) -> str:
    """How far the cab still has to go: to the pickup, then to the drop."""
    return kilometres(facts.snapshot.distance) if facts.status in (wire.CALL_DRIVER, wire.IN_PROGRESS) else ""


def distance_label(facts: RideFacts) -> str:
    """What that distance is: the driver's way to the guest, or the guest's way to the drop."""
    if not distance_left(facts):
        return ""
    return _("Driver's distance") if facts.status == wire.CALL_DRIVER else _("Still to go")


def way_taken(facts: RideFacts) -> str:
    """How far and how long a completed ride went, as far as known: the service's words, else our two instants."""
    if facts.status != wire.COMPLETED:
        return ""
    trip, began, ended = facts.snapshot.trip, facts.since(wire.IN_PROGRESS), facts.since(wire.COMPLETED)
    took = trip.ride_time or trip.trip_time if trip else None
    seconds = took.seconds if took else (ended - began).total_seconds() * facts.pace if began and ended else None
    about = seconds is not None and took is None
    time = _("about %(time)s", time=minutes(seconds)) if about else minutes(seconds)
    return " · ".join(filter(None, [kilometres(trip.distance) if trip else "", time]))
