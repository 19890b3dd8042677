"""What people read for who did something (store/actors.py)."""

from collections.abc import Mapping
from typing import Final

from ridedash.store.actors import ActorKind, actor_of
from ridedash.wording.say import Text, lazy

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
