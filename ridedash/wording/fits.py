"""The words for how much fits into a car, and for a car that is too small for a party.

While people are counted in the booking form, its script builds the same sentences from the same
texts (static/js/booking/party.js, templates/booking/_party.html).
"""

from dataclasses import replace
from typing import Final

from ridedash.fits import Capacity, Party, cars_for, too_few
from ridedash.wording.say import gettext as _
from ridedash.wording.say import ngettext

BETWEEN: Final = " · "


def up_to(persons: int) -> str:
    """How many people fit into a car."""
    return ngettext("Up to %(num)d person", "Up to %(num)d people", persons)


def capacity_words(capacity: Capacity) -> str:
    """What fits into a car; "" if nothing is known."""
    parts = []
    if capacity.persons is not None:
        parts.append(up_to(capacity.persons))
    if capacity.bags == 0:
        parts.append(_("no bags"))
    elif capacity.bags is not None:
        parts.append(ngettext("%(num)d bag", "%(num)d bags", capacity.bags))
    return BETWEEN.join(parts)


def too_small(
    capacity: Capacity,
    party: Party,
    cars: int = 1,
    seats: int | None = None,
    *,
    counted: bool = True,
) -> str:
    """Why a party does not fit into this many cars, and how many it needs; "" if it fits.

    `seats`: how many are chosen of a shared ride, whose capacity is all seats that are offered.
    Not `counted`: without how many it needs.
    """
    shown = capacity
    if seats is not None and "persons" not in too_few(capacity, party, cars):
        shown = replace(capacity, persons=seats)  # more seats would do
    missing = too_few(shown, party, cars)
    if not missing:
        return ""
    parts = []
    if "persons" in missing:
        fit = shown.persons or 0
        words = ngettext(
            "Fits %(num)d person, not {people}", "Fits %(num)d people, not {people}", fit
        )
        parts.append(words.replace("{people}", str(party.persons)))
    if "bags" in missing:
        fit = capacity.bags or 0
        words = ngettext("Fits %(num)d bag, not {bags}", "Fits %(num)d bags, not {bags}", fit)
        parts.append(words.replace("{bags}", str(party.bags)) if fit else _("No bags fit"))
    needed = cars_for(capacity, party)
    if counted and needed is not None and needed > cars:
        parts.append(ngettext("%(num)d car needed", "%(num)d cars needed", needed))
    return BETWEEN.join(parts)
