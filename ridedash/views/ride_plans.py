"""What a page says of a planned ride beside its headline: a time that comes twice, an order that came late."""

from ridedash import wire
from ridedash.rides.promoting import ORDERED_LATE
from ridedash.views.ride_facts import RideFacts
from ridedash.wording import gettext as _

Said = tuple[str, str, str, str, str]  # name, tone, icon, title, detail: the fields of a Notice
ON_THE_WAY = frozenset({wire.IN_PROGRESS, *wire.TERMINAL})


def planned(facts: RideFacts) -> tuple[Said, ...]:
    """All that applies now."""
    return tuple(filter(None, [_twice(facts), _late(facts)]))


def _twice(facts: RideFacts) -> Said | None:
    """The pickup time is one that clocks show twice that night; the first is meant."""
    order = facts.page.order
    if order.state != "SCHEDULED" or order.pickup_at is None:
        return None
    here = order.pickup_at.astimezone(facts.tz)
    if here.utcoffset() == here.replace(fold=1 - here.fold).utcoffset():
        return None
    title = _("%(time)s comes twice that night", time=f"{here:%H:%M}")
    return "twice", "info", "info", title, _("Clocks go back then. The car is ordered for the first of the two.")


def _late(facts: RideFacts) -> Said | None:
    """It could not be ordered when it came due."""
    late = next((m.detail for m in reversed(facts.page.moments) if m.name == ORDERED_LATE), None)
    if late is None or facts.status in ON_THE_WAY or facts.page.order.state in ("NOT_SENT", "REJECTED", "FAILED"):
        return None
    title = _("Ordered %(n)s min late", n=late)
    return "ordered_late", "info", "waiting", title, _("The car may come late: tell the guest.")
