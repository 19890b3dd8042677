"""Why a planned ride could not be ordered, in words for staff."""

from typing import Final

from ridedash.wording.codes import refusal
from ridedash.wording.say import Audience, Text
from ridedash.wording.say import lazy as _

_REASONS: Final[dict[str, Text]] = {
    "NO_CONNECTION": _("The ride service could not be reached."),
    "NO_ANSWER": _("The ride service gave no clear answer."),
    "RATE_LIMITED": _("The ride service asked us to wait."),
    "RECONNECT": _("The account needs reconnecting: ask the manager, or choose another account."),
    "KEY_MISSING": _("ridedash can't read its link to the account: tell whoever runs ridedash that a key is missing."),
    "NOT_BUILT": _("The request could not be made."),
    "EXPIRED": _("It was ready, and was not sent in time."),
    "PLAN_CAR_GONE": _("This car type isn't offered there now: choose another."),
    "PLAN_NO_PRICE": _("The ride service gave no price for this car."),
    "PLAN_GUARD_BUSY": _("The guest already has a ride being booked from there."),
    "PLAN_NO_BOX": _("ridedash could not keep the answer on its disk, so it asked nothing."),
    "PLAN_NO_WORKER": _("ridedash's worker was not running at the time."),
    "PLAN_REFUSED": _("The ride service refused, without saying why."),
}


def reason_words(code: str | None) -> str:
    """A sentence for one of our reasons, or for a code of the service's."""
    if code in _REASONS:
        return str(_REASONS[code])
    said = refusal(code, Audience.STAFF)
    return f"{said.headline}. {said.why}"
