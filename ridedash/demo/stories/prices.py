"""A story asks what a trip costs, as the desk does before it books. Nothing is ordered."""

from typing import Any

from ridedash.demo.stories.here import NotPlayed, here
from ridedash.demo.stories.model import Ask
from ridedash.demo.stories.runs import Run
from ridedash.extensions import services
from ridedash.store.orders import OfferOwner
from ridedash.views.booking.estimates import EstimateFailedError, Estimator
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _


def ask(run: Run, deed: Ask) -> dict[str, Any]:
    """The price of the car, or why none is offered; both as the desk reads them.

    Raises NotPlayed when the service gives no answer.
    """
    at = here()
    owner = OfferOwner(at.property_id, current_staff().actor, at.account_id)
    try:
        found = Estimator(services(), owner, locale()).estimates(at.trip(deed.to), at.account_id)
    except EstimateFailedError as error:
        if error.status >= 500:
            raise NotPlayed(error.headline) from error
        return _kept(run, deed, f"{error.headline}. {error.detail}", refused=error.headline)
    card = next((each for each in found.cards if each.category == deed.car), None)
    if card is None or card.amount is None:
        raise NotPlayed(f"no {deed.car} has a price")
    told = _("%(car)s: %(price)s", car=card.name, price=card.price_text)
    if card.surge:
        told = f"{told}. {card.surge_means}"
    return _kept(run, deed, told, price=card.price_text, amount=str(card.amount), busy=card.surge)


def _kept(run: Run, deed: Ask, told: str, **facts: str) -> dict[str, Any]:
    return {"told": told, "asked": run.kept.get("asked", {}) | {deed.name: facts}}
