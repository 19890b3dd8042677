"""The words of actions on an order or a ride: the button, why it is disabled, result and actor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ridedash import wire
from ridedash.store.actors import ActorKind, actor_of
from ridedash.wording.codes import refusal
from ridedash.wording.say import Audience, Text, Words, gettext, say
from ridedash.wording.say import lazy as _


@dataclass(frozen=True)
class ActionWords:
    """A button's label and icon, and a line about its effect."""

    label: str
    icon: str
    about: str


_ACTIONS: Final[dict[str, tuple[Text, str, Text]]] = {
    "release": (
        _("Book as planned"),
        "next",
        _("If it was not booked before the restore: it is booked once, when it is due."),
    ),
    "ordered": (
        _("It was booked already"),
        "unknown",
        _("Then nothing is sent: enter its booking number, or say how you know it was not booked."),
    ),
    "start": (
        _("Book it now"),
        "next",
        _("In the guest's place: the price is asked anew, and must be within the ceiling."),
    ),
    "change": (_("Change"), "list", _("Time, car, places, guest and note, until it is booked.")),
    "withdraw": (
        _("Cancel ride"),
        "cancelled",
        _("It is not booked yet, so cancelling costs nothing."),
    ),
    "abort": (
        _("Cancel ride"),
        "cancelled",
        _("Stops looking for a driver. Only possible before one accepts."),
    ),
    "cancel": (
        _("Cancel ride"),
        "cancelled",
        _("Tells the ride company to cancel; the driver turns back."),
    ),
    "arm": (
        _("Cancel as soon as matched"),
        "cancelled",
        _(
            "There is no booking number yet. We cancel the moment one comes; the fee rules then "
            "apply."
        ),
    ),
    "drop": (_("Change drop"), "drop", _("The price may change with the way.")),
    "feedback": (
        _("Give feedback"),
        "star",
        _("Sent to the ride company once, on the guest's behalf."),
    ),
    "again": (
        _("Book again"),
        "again",
        _("Opens the form with this trip; the price is checked anew."),
    ),
    "resolve": (
        _("Say what happened"),
        "unknown",
        _("Only a person can close this: the program never does."),
    ),
    "reopen": (_("Reopen"), "unknown", _("Puts the ride back among those that need an answer.")),
}

_NOTES: Final[dict[str, Text]] = {
    "no_booking_id": _("No booking number yet, so it can't be stopped now."),
    "armed": _("Will be cancelled as soon as it is matched."),
    "too_late": _("A driver has accepted."),
    "on_trip": _("Not possible any more."),
    "ended": _("The ride has ended."),
    "given": _("Feedback was sent."),
}

_DONE: Final[dict[str, Text]] = {
    "withdraw": _("Cancelled. Nothing was booked."),
    "restore": _("Planned again, as it was."),
    "wait": _("It waits for the guest again, as it did."),
    "release": _("It is booked as planned."),
    "start": _("It is being booked."),
    "ordered": _("It is not booked again. Enter its booking number when you have it."),
    "change": _("Changed. It is booked as it stands here."),
    "abort": _("Search stopped. No ride was booked."),
    "cancel": _("Ride cancelled."),
    "arm": _("It will be cancelled as soon as it is matched."),
    "drop": _("Drop changed[ to {drop}]."),
    "feedback": _("Feedback sent. Thank you."),
    "resolve": _("Saved."),
    "reopen": _("Open again: it needs an answer."),
    "link": _("The account is connected again."),
    "stop": _("This ride is followed no longer."),
    "disarm": _("Taken back: it will not be cancelled."),
    "guest": _("The guest is corrected."),
}
_UNCONFIRMED: Final[dict[str, Text]] = {
    "abort": _("Asked to stop, not confirmed yet"),
    "cancel": _("Asked to cancel, not confirmed yet"),
    "drop": _("Drop change sent, not confirmed yet"),
    "feedback": _("Feedback kept; it is sent as soon as it can be"),
}
_UNSENT: Final[dict[str, tuple[Text, Text, str]]] = {
    "NO_CONNECTION": (
        _("We couldn't reach the ride company"),
        _("Nothing was asked, nothing has changed. Try again."),
        "offline",
    ),
    "RATE_LIMITED": (
        _("The ride company wants no more questions just now"),
        _("Nothing was asked, nothing has changed. Try again in a moment."),
        "waiting",
    ),
    "RECONNECT": (
        _("The account needs reconnecting"),
        _("Nothing was asked, nothing has changed. Ask the manager to reconnect it."),
        "needs",
    ),
    "KEY_MISSING": (
        _("ridedash can't read its link to this account"),
        _(
            "Nothing was asked, nothing has changed. Tell whoever runs ridedash that a key is "
            "missing."
        ),
        "needs",
    ),
}
# codes whose words fit after these actions only; after others the service's own are quoted alone
_ONLY_AFTER: Final = {
    wire.BOOKING_ALLOTED: ("abort",),
    wire.CANCELLATION_NOT_ALLOWED: ("abort", "cancel"),
    wire.RIDE_IN_PROGRESS: ("abort", "cancel"),
}
# codes after which another attempt does not help until the link is repaired
_UNTIL_REPAIRED: Final = frozenset({"RECONNECT", "KEY_MISSING"})
_AGAIN: Final[dict[str, Text]] = {
    "REJECTED": _("Fix and try again"),
    "FAILED": _("Other cars"),
    "ALLOTMENT_FAILED": _("Try again"),
}


def action_words(name: str, state: str | None = None) -> ActionWords:
    """The words of a button in an order state or booking status.

    Raises KeyError for an unknown action.
    """
    label, icon, about = _ACTIONS[name]
    if name == "again":
        label = _AGAIN.get(state or "", label)
    if name == "arm" and state in wire.CAB_KNOWN:
        label = _("Cancel as soon as it has a number")
    return ActionWords(str(label), icon, str(about))


def note_words(note: str | None) -> str:
    """Why a button is disabled: the sentence for a key of _NOTES; any other text unchanged."""
    return str(_NOTES.get(note or "", note or ""))


def service_quote(text: str | None) -> str:
    """The service's words, quoted; "" for none, or for a mere "SUCCESS"."""
    if wire.normal_code(text or "") in ("", wire.SUCCESS):
        return ""
    return say(_("The ride company said: “{quote}”"), {"quote": text})


def outcome_words(
    name: str,
    outcome: str,
    *,
    code: str | None = None,
    header: str | None = None,
    text: str | None = None,
    **facts: str | None,
) -> Words:
    """The outcome of an action, for staff.

    `outcome` is done, armed (a cancel that waits for a booking number), refused, unconfirmed,
    unanswered (feedback that is not sent again), not_now or not_sent. `header` and `text` are the
    service's own words, which are quoted; the header of a refused change of the drop stands in for
    its code. `facts` are the values of placeholders, such as `drop`.
    """
    if outcome == "armed":
        return Words(
            str(_DONE["arm"]),
            str(_("The fee rules of the ride company then apply.")),
            "warn",
            "waiting",
        )
    if outcome == "not_now" and code is None:
        return Words(
            str(_("Not possible any more")),
            str(_("The ride has moved on; nothing was asked.")),
            "warn",
            "info",
        )
    if outcome == "done":
        done = say(_DONE.get(name, _("Done.")), facts)
        return Words(done, service_quote(text), "quiet" if name == "withdraw" else "ok", "done")
    if outcome == "unanswered":
        return Words(
            str(_("Feedback was sent; the ride company has not confirmed it")), "", "info", "info"
        )
    if outcome == "unconfirmed":
        return Words(
            str(_UNCONFIRMED.get(name, _("Asked, not confirmed yet"))),
            str(_("We read the ride back and show what the ride company says.")),
            "warn",
            "waiting",
        )
    if outcome == "not_sent":
        return _unsent(name, code, text)
    said = wire.said(header, text)
    if name == "drop" and code is None:
        return _refused(header, said, facts)
    if name not in _ONLY_AFTER.get(wire.normal_code(code or ""), (name,)):
        return _refused(None, said or code, facts)
    return _refused(code, said, facts)


def _unsent(name: str, code: str | None, text: str | None) -> Words:
    """Why the service has certainly done nothing; suggests a retry only if that can help."""
    headline, detail, icon = _UNSENT.get(code or "", _UNSENT["NO_CONNECTION"])
    words = str(detail)
    if code in _UNTIL_REPAIRED and name in ("cancel", "drop"):
        words += str(_(" Until then, call the driver."))
    return Words(str(headline), " ".join(filter(None, [words, service_quote(text)])), "bad", icon)


def _refused(code: str | None, text: str | None, facts: dict[str, str | None]) -> Words:
    words = refusal(code, Audience.STAFF, message=text, ordering=False, **facts)
    sentences = [words.why, words.next_step, service_quote(words.quote)]
    return Words(words.headline, " ".join(filter(None, sentences)), "bad", "cancelled")


# staff of the property are called by their names; all other actors by their kind
ACTOR_WORDS: Final[Mapping[ActorKind, Text]] = {
    ActorKind.STAFF: _("Somebody else"),
    ActorKind.GUEST: _("The guest"),
    ActorKind.KIOSK: _("Kiosk"),
    ActorKind.WORKER: _("ridedash itself"),
    ActorKind.CLI: _("Command line"),
    ActorKind.VISITOR: _("Nobody signed in"),
}


def actor_words(written: str | None, people: Mapping[int, str]) -> str:
    """The actor in words, in the reader's language. `people` are names of staff by id.

    A text that is not an actor is returned unchanged.
    """
    actor = actor_of(written)
    if actor is None:
        return written or ""
    return people.get(actor.staff_id or 0) or str(ACTOR_WORDS[actor.kind])


def placed_words(at: str, by: str, started_by: str | None) -> str:
    """When and by whom an order was placed; if it waited for its guest, also who started it."""
    actor = actor_of(started_by)
    if actor is None:
        return f"{at} · {by}"
    if actor.kind is ActorKind.GUEST:
        return gettext("%(at)s · %(by)s · started by the guest", at=at, by=by)
    return gettext("%(at)s · %(by)s · started at the desk", at=at, by=by)
