"""Words of things about a ride that a person should look at."""

from typing import Final

from ridedash.wording.planned import reason_words
from ridedash.wording.say import Text, say
from ridedash.wording.say import lazy as _

PLANNED: Final = frozenset({"not_ordered_yet", "plan_failed"})  # their detail is a code
_ITEMS: Final[dict[str, tuple[Text, Text]]] = {
    "no_driver": (_("No driver in time"), _("The service should have ended the search by now. We keep asking.")),
    "not_known": (_("The service no longer knows this ride"), _("We ask less often. Call the driver or support.")),
    "poison": (_("This ride's news can't be recorded"), _("We try again later. Call the driver for the latest.")),
    "too_old": (_("This ride is older than a day"), _("We ask less often. Find out how it ended.")),
    "unknown_status": (_("The service used a word that we don't know"), _("What you see is the last we understood.")),
    "car_swapped": (_("The car was swapped"), _("Tell the guest the new number plate.")),
    "driver_lost": (_("The driver cancelled"), _("Forget the old number plate.")),
    "after_end": (_("News after the end"), _("The service reported “{detail}” after the ride ended.")),
    "other_booking": (_("The service answered about another booking"), _("That answer was not used.")),
    "contradiction": (_("The service's answers contradict each other"), _("Check with the service's support.")),
    "unknown": (_("We don't know if this ride was booked"), _("Do not book again yet.")),
    "not_ordered_yet": (
        _("This planned ride could not be ordered yet"),
        _("{detail} It is tried again until ten minutes after the pickup time. Change it, or find another way."),
    ),
    "plan_failed": (_("A planned ride was not ordered"), _("{detail} The guest has no car: book again, or call one.")),
    "late_double": (_("Two rides may exist for this guest"), _("A late answer came after “book again”.")),
}


def attention_words(name: str, detail: str | None) -> tuple[str, str]:
    """A title and a line below for an item; one that has no words yet says that somebody should look."""
    title, line = _ITEMS.get(name, (_("Somebody should look at this ride"), _("[{detail}]")))
    return str(title), say(line, {"detail": reason_words(detail) if name in PLANNED else detail})
