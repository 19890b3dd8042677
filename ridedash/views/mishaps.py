"""Why no order was made, put into the picker in words, and the HTTP status for it."""

from datetime import datetime

from ridedash.forms import BookingForm
from ridedash.rides.ordering import GuardBusy, OfferStale, WishRefused
from ridedash.rides.scheduling import Overtaken
from ridedash.store.db import CommitUnknown, DatabaseBusy
from ridedash.views import formats
from ridedash.views.picker import Picker
from ridedash.views.troubles import EstimateFailedError
from ridedash.wording import Audience, refusal
from ridedash.wording import gettext as _


def explain(picker: Picker, error: Exception, now: datetime) -> int:
    """Put what went wrong into the picker; the HTTP status for it."""
    if isinstance(error, GuardBusy):
        seconds = (now - error.placed_at).total_seconds()
        by, ago = error.staff_name or _("somebody"), formats.age(seconds)
        picker.busy = {"order_id": error.order_id, "by": by, "ago": ago, "guest": picker.form.guest_name.data}
        return 409
    if isinstance(error, DatabaseBusy):
        words = refusal("NO_DB", Audience.STAFF)
        picker.trouble = EstimateFailedError(words.headline, f"{words.why} {words.next_step}", 503)
        return 503
    if isinstance(error, CommitUnknown):
        step = _("Press again: if it was saved, you will see that ride, and nothing is ordered twice.")
        picker.trouble = EstimateFailedError(_("The database went away while it was saving."), step, 503)
        return 503
    if isinstance(error, WishRefused):
        _blame(picker.form, error)
        return 422
    picker.message = _meanwhile(error)
    return 409


def _meanwhile(error: Exception) -> str:
    """What changed between the form and the press."""
    if isinstance(error, OfferStale):
        return _("The price was more than two minutes old, so it was asked again. Nothing was ordered yet.")
    if isinstance(error, Overtaken):
        return _("Somebody changed this ride meanwhile. Look at it, or press again to save it as it stands here.")
    return _("That price is not known any more. Choose a car again; nothing was ordered.")


def _blame(form: BookingForm, error: WishRefused) -> None:
    words = {
        "seats": _("Choose 1 or 2 seats."),
        "account": _("This account can't be used for this price. Choose another."),
        "coupon_code": _("The service does not take such a coupon."),
        "pickup_at": _("Choose a time from 15 minutes to 30 days from now."),
    }
    names = {"coupon_code": "coupon", "pickup_at": "pickup_time"}
    field = form._fields.get(names.get(error.field, error.field), form.offer)
    field.errors = [*field.errors, words.get(error.field, _("This can't be booked as it is. Choose a car again."))]
