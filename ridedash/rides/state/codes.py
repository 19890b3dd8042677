"""Our own codes, stored like those of the service as the code of an order, ride or action."""

from typing import Final

NO_CONNECTION: Final = "NO_CONNECTION"  # the request never left
RECONNECT: Final = "RECONNECT"  # a member of staff must link the account again
# the keys of this process can't decrypt the account's token
KEY_MISSING: Final = "KEY_MISSING"
RATE_LIMITED: Final = "RATE_LIMITED"  # by the service (429) or by our own rate limit
EXPIRED: Final = "EXPIRED"  # not sent within 30 s after it became READY
WITHDRAWN: Final = "WITHDRAWN"  # by staff, or by its guest at a kiosk, before it was sent
# a planned ride that could not be ordered before its window closed
PLAN_MISSED: Final = "PLAN_MISSED"
# the guest did not start the ride in the time that staff gave them
START_MISSED: Final = "START_MISSED"
NOT_BUILT: Final = "NOT_BUILT"  # building the request to the service failed
NO_ANSWER: Final = "NO_ANSWER"  # the request may have left, and no answer came
NO_JOURNAL: Final = "NO_JOURNAL"  # the send could not be journalled, so nothing was sent
# the database was restored from a backup: it does not know whether the order was sent
RESTORED: Final = "RESTORED"
UNCLEAR: Final = "UNCLEAR"  # the answer proves neither a booking nor a refusal
CONTRADICTION: Final = "CONTRADICTION"  # the answer contradicts itself, or belongs to another order
