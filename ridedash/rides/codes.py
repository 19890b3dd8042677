"""Codes of our own that stand beside those of the service in an order, a ride or an action."""

from typing import Final

# our own codes, beside the service's
NO_CONNECTION: Final = "NO_CONNECTION"
RECONNECT: Final = "RECONNECT"
# the account's token can't be read with the keys of this process
KEY_MISSING: Final = "KEY_MISSING"
RATE_LIMITED: Final = "RATE_LIMITED"
EXPIRED: Final = "EXPIRED"  # not sent within 30 s of the press
WITHDRAWN: Final = "WITHDRAWN"
# a planned ride that could not be ordered before its window closed
PLAN_MISSED: Final = "PLAN_MISSED"
NOT_BUILT: Final = "NOT_BUILT"  # the request could not be made from what was asked
NO_ANSWER: Final = "NO_ANSWER"
UNCLEAR: Final = "UNCLEAR"
CONTRADICTION: Final = "CONTRADICTION"  # the answer says two things at once
