"""The actor of an event, as a value. Orders, their timelines and the audit log store its text.

Actors other than staff are guests with the link of a ride, kiosks, the worker, the command line and
people who are not signed in.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ActorKind(StrEnum):
    """The kinds of actors. Their names on pages are in wording/actions.py."""

    STAFF = "staff"
    GUEST = "guest"  # by the link of one ride
    KIOSK = "kiosk"
    WORKER = "worker"
    CLI = "cli"
    VISITOR = "visitor"  # a person who is not signed in


@dataclass(frozen=True)
class Actor:
    """A person or a part of the program that acts; `id` is the id of their row.

    >>> str(Actor(ActorKind.STAFF, 3)), str(Actor(ActorKind.WORKER))
    ('staff:3', 'worker')
    """

    kind: ActorKind
    # of staff, guests or kiosks; None for a kind without rows, or without a known row
    id: int | None = None

    def __str__(self) -> str:
        if self.id is None:
            return self.kind.value
        return f"{self.kind.value}:{self.id}"

    @property
    def staff_id(self) -> int | None:
        """The id of the member of staff who acts; None for any other actor."""
        if self.kind is not ActorKind.STAFF:
            return None
        return self.id

    @property
    def kiosk_id(self) -> int | None:
        """The id of the kiosk on which a guest acts; None for any other actor."""
        if self.kind is not ActorKind.KIOSK:
            return None
        return self.id


WORKER: Final = Actor(ActorKind.WORKER)
CLI: Final = Actor(ActorKind.CLI)
VISITOR: Final = Actor(ActorKind.VISITOR)


def by_staff(staff_id: int | None) -> Actor:
    """The actor for a member of staff."""
    return Actor(ActorKind.STAFF, staff_id)


def by_kiosk(kiosk_id: int) -> Actor:
    """The actor for a kiosk, whoever uses it."""
    return Actor(ActorKind.KIOSK, kiosk_id)


def by_guest(guest_id: int) -> Actor:
    """The actor for a guest, or for anyone else who has the link to this guest's ride."""
    return Actor(ActorKind.GUEST, guest_id)


def actor_of(text: str | None) -> Actor | None:
    """The actor from its stored form, such as "guest:7"; None for anything else."""
    kind, _, number = (text or "").partition(":")
    if kind not in set(map(str, ActorKind)) or (
        number and not (number.isascii() and number.isdigit())
    ):
        return None
    return Actor(ActorKind(kind), int(number) if number else None)


Who = Actor | str  # an actor as a value or in its stored form
