"""What a guest reads when their press ordered nothing: why, and what to do."""

from typing import Final

from ridedash.wording.say import Text, say
from ridedash.wording.say import lazy as _

_GONE: Final = _(
    "This car can't be had here just now. Nothing was ordered. Please ask at the desk."
)
_LATER: Final = _(
    "The ride company can't be asked just now. Nothing was ordered. Try again in a minute, or ask "
    "at the desk."
)
_DESK: Final = _("Nothing was ordered. Please ask at the desk.")

_REASONS: Final[dict[str, Text]] = {
    "START_ABOVE": (
        _("It costs {price} now, more than {ceiling}. Nothing was ordered. Please ask the desk."),
        _("It costs more than {ceiling} now. Nothing was ordered. Please ask at the desk."),
    ),
    "PLAN_CAR_GONE": _GONE,
    "PLAN_NO_PRICE": _("The price can't be told now. Nothing was ordered. Please ask at the desk."),
    "PLAN_GUARD_BUSY": _(
        "You already have a ride from here. Nothing more was ordered. Please ask at the desk."
    ),
    "NO_CONNECTION": _LATER,
    "NO_ANSWER": _LATER,
    "RATE_LIMITED": _LATER,
}


def not_started_words(code: str | None, price: str, ceiling: str) -> str:
    """Why the last press ordered nothing, for the guest; "" when none did.

    Accounts are not named.
    """
    if not code:
        return ""
    return say(_REASONS.get(code, _DESK), {"price": price, "ceiling": ceiling})
