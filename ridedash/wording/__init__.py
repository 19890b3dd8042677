"""The words for states, codes and outcomes, for staff and for guests (docs/wording.md 3).

Every page takes them from here, so that one thing has one name. All texts go through gettext.
The comment `T: critical` tells translators that a text is about money, safety or a second booking.
"""

from ridedash.wording.actions import (
    ActionWords,
    action_words,
    note_words,
    outcome_words,
    service_quote,
)
from ridedash.wording.codes import Refusal, refusal
from ridedash.wording.payment import (
    PAYMENT_NOT_KNOWN,
    guest_pays,
    payment_name,
    payment_words,
    price_told,
)
from ridedash.wording.payment import When as PayWhen
from ridedash.wording.say import (
    Audience,
    Words,
    gettext,
    in_language,
    lazy,
    lazy_pgettext,
    ngettext,
    pgettext,
    say,
)
from ridedash.wording.states import order_words, status_step, status_words

__all__ = [
    "PAYMENT_NOT_KNOWN",
    "ActionWords",
    "Audience",
    "PayWhen",
    "Refusal",
    "Words",
    "action_words",
    "gettext",
    "guest_pays",
    "in_language",
    "lazy",
    "lazy_pgettext",
    "ngettext",
    "note_words",
    "order_words",
    "outcome_words",
    "payment_name",
    "payment_words",
    "pgettext",
    "price_told",
    "refusal",
    "say",
    "service_quote",
    "status_step",
    "status_words",
]
