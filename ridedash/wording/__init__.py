"""The words for each state, each code and each outcome, for staff and for guests.

See docs/wording.md 3.

Pages ask here and nowhere else, so that one thing is called the same everywhere. All texts go
through gettext.
"""

from ridedash.wording.actions import ActionWords, action_words, note_words, outcome_words
from ridedash.wording.codes import Refusal, refusal
from ridedash.wording.say import Audience, Words, gettext, lazy, say
from ridedash.wording.states import order_words, status_step, status_words

__all__ = [
    "ActionWords",
    "Audience",
    "Refusal",
    "Words",
    "action_words",
    "gettext",
    "lazy",
    "note_words",
    "order_words",
    "outcome_words",
    "refusal",
    "say",
    "status_step",
    "status_words",
]
