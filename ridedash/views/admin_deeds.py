"""The words for what the record holds: one line for each kind of deed. A test holds that each one has its words."""

from typing import Final

from ridedash.wording import lazy as _

DEEDS: Final = {
    "sign_in": _("Signed in"),
    "sign_out": _("Signed out"),
    "sign_out.everywhere": _("Signed out everywhere"),
    "order.place": _("Booked a ride"),
    "order.move": _("Order moved on"),
    "order.bad_move": _("Order could not move on"),
    "order.resolve": _("Settled an unknown order"),
    "order.late_answer": _("A late answer came"),
    "again": _("Began to book again"),
    "order.change": _("Changed a planned ride"),
    "link.made": _("Made a guest's link"),
    "link.ended": _("Ended a guest's link"),
    "ride.abort": _("Stopped the search"),
    "ride.cancel": _("Cancelled a ride"),
    "ride.drop": _("Changed the drop"),
    "ride.feedback": _("Gave feedback"),
    "ride.alarm": _("Something to look at"),
    "ride.stop_following": _("Stopped following"),
    "attention.seen": _("Marked as seen"),
    "code_shown": _("Showed a start code"),
    "history.exported": _("Exported rides"),
    "guest.erased": _("Erased a guest"),
    "property.changed": _("Changed the property"),
    "property.made": _("Made a property"),
    "property.looked_at": _("Looked at the property"),
    "place.set": _("Set a favourite place"),
    "place.removed": _("Removed a favourite place"),
    "cost_centre.made": _("Made a cost centre"),
    "cost_centre.closed": _("Closed a cost centre"),
    "cost_centre.opened": _("Opened a cost centre again"),
    "invitation.made": _("Made an invitation"),
    "invitation.withdrawn": _("Withdrew an invitation"),
    "staff.added": _("Added somebody to the staff"),
    "staff.joined": _("Joined by invitation"),
    "staff.role": _("Changed a role"),
    "staff.disabled": _("Disabled somebody"),
    "staff.enabled": _("Enabled somebody"),
    "staff.signed_out": _("Signed somebody out"),
    "password.changed": _("Changed the own password"),
    "password.set": _("Set a password by a link"),
    "account.linked": _("Connected an account"),
    "account.lost": _("An account needs reconnecting"),
    "account.default": _("Chose the default account"),
    "account.removed": _("Removed an account"),
    "keys.rotated": _("Changed the keys of tokens"),
    "refused": _("Tried what is not open to them"),
}
RESULTS: Final = {
    "ok": "",
    "refused": _("Refused"),
    "throttled": _("Too many tries"),
    "left": _("Some kept the old key"),
}


def deeds() -> dict[str, str]:
    """What was done, by its name in the record."""
    return {name: str(words) for name, words in DEEDS.items()}


def results() -> dict[str, str]:
    """What came of it."""
    return {name: str(words) for name, words in RESULTS.items()}
