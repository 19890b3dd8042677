"""Words of things about a ride that a person should look at."""

from typing import Final

from flask_babel import lazy_gettext as _

from ridedash.wording.say import Text, say

_ITEMS: Final[dict[str, tuple[Text, Text]]] = {
    "overdue": (_("No driver in time"), _("The service should have ended the search by now. We keep asking.")),
    "unknown_id": (_("The service no longer knows this ride"), _("We ask less often. Call the driver or support.")),
    "poison": (_("This ride's news can't be recorded"), _("We try again later. Call the driver for the latest.")),
    "too_old": (_("This ride is older than a day"), _("We ask less often; close it when you know how it ended.")),
    "unknown_status": (_("The service used a word that we don't know"), _("What you see is the last we understood.")),
    "swapped": (_("The car was swapped"), _("Tell the guest the new number plate.")),
    "late_state": (_("News after the end"), _("The service reported something after the ride ended[: {detail}].")),
    "other_booking": (_("The service answered with another booking number"), _("That answer was not used.")),
}  # fmt: skip


def attention_words(name: str, detail: str | None) -> tuple[str, str]:
    """A title and a line below for an item; one that has no words yet says that somebody should look."""
    title, line = _ITEMS.get(name, (_("Somebody should look at this ride"), _("[{detail}]")))
    return str(title), say(line, {"detail": detail})
