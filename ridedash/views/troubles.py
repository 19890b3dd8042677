"""Why there are no prices: the service's refusal or silence in words, and which end of the trip to change."""

import math
from typing import Final

from ridedash import wire
from ridedash.service.errors import Held, RateLimited, ServiceError
from ridedash.wording import Audience, refusal
from ridedash.wording import gettext as _

BLAMED: Final = {  # the end that has to change: asking again for the same trip can't help
    wire.INVALID_CITY: "pickup",
    wire.SAME_PICKUP_DROP: "drop",
    wire.INVALID_DROP_LOCATION: "drop",
}


class EstimateFailedError(Exception):
    """No products: what happened and what to do, in words; `status` is for HTTP, `end` the one to change or ""."""

    def __init__(self, headline: str, detail: str, status: int, quoted: str = "", end: str = "") -> None:
        super().__init__(headline)
        self.headline, self.detail, self.status, self.quoted, self.end = headline, detail, status, quoted, end


def blamed(code: str | None) -> str:
    """Which end a refusal is about: `pickup`, `drop` or ""."""
    wanted = wire.normal_code(code or "")
    return next((end for known, end in BLAMED.items() if wire.normal_code(known) == wanted), "")


def refused(code: str | None, message: str | None = None, status: int = 422) -> EstimateFailedError:
    """A refusal by the service, or one that we know beforehand, in our words."""
    words = refusal(code, Audience.STAFF, message=message)
    return EstimateFailedError(words.headline, f"{words.why} {words.next_step}", status, words.quote, blamed(code))


def down(error: ServiceError) -> EstimateFailedError:
    """The service is not to be had now."""
    if isinstance(error, RateLimited) or (isinstance(error, Held) and error.why == Held.LIMITED):
        wait = math.ceil((error.wait_s if isinstance(error, Held) else error.retry_after_s) or 10)
        text = _("Next try in %(n)d s. Nothing was ordered.", n=wait)
        return EstimateFailedError(_("Too many requests at once"), text, 503)
    return EstimateFailedError(
        _("The ride service is not answering"),
        _("No prices right now. Nothing was ordered; what you typed is kept. Try again in a moment."),
        503,
    )
