"""What people read for who did something (store/actors.py)."""

from collections.abc import Mapping
from typing import Final

from ridedash.store.actors import ActorKind, actor_of
from ridedash.wording.say import Text, gettext, lazy

# Staff have names. These words stand for the others, and for staff of another property.
KINDS: Final[Mapping[ActorKind, Text]] = {
    ActorKind.STAFF: lazy("Somebody else"),
    ActorKind.GUEST: lazy("The guest"),
    ActorKind.KIOSK: lazy("Kiosk"),
    ActorKind.WORKER: lazy("ridedash itself"),
    ActorKind.CLI: lazy("Command line"),
    ActorKind.VISITOR: lazy("Nobody signed in"),
}


def actor_words(written: str | None, people: Mapping[int, str]) -> str:
    """Who an actor is, in the reader's language. `people` are the names of staff by id.

    What is no actor stays as it is.
    """
    actor = actor_of(written)
    if actor is None:
        return written or ""
    return people.get(actor.staff_id or 0) or str(KINDS[actor.kind])


def placed_words(at: str, by: str, started_by: str | None) -> str:
    """When and by whom an order was placed; of one that waited for its guest, who started it."""
    actor = actor_of(started_by)
    if actor is None:
        return f"{at} · {by}"
    if actor.kind is ActorKind.GUEST:
        return gettext("%(at)s · %(by)s · started by the guest", at=at, by=by)
    return gettext("%(at)s · %(by)s · started at the desk", at=at, by=by)
