"""Who did something: a value that orders, their timeline and the audit log write down.

Staff are not alone: guests start rides by their links, kiosks book, and the worker acts by itself.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ActorKind(StrEnum):
    """What kind of somebody acts. What people read for each is in wording/actions.py."""

    STAFF = "staff"
    GUEST = "guest"  # by the link of one ride
    KIOSK = "kiosk"
    WORKER = "worker"
    CLI = "cli"
    VISITOR = "visitor"  # somebody who is not signed in


@dataclass(frozen=True)
class Actor:
    """Somebody who acts, for one moment: the id is that of their row.

    >>> str(Actor(ActorKind.STAFF, 3)), str(Actor(ActorKind.WORKER))
    ('staff:3', 'worker')
    """

    kind: ActorKind
    id: int | None = None  # of staff, guests or kiosks; None: there is one of that kind, or no row

    def __str__(self) -> str:
        return self.kind.value if self.id is None else f"{self.kind.value}:{self.id}"

    @property
    def staff_id(self) -> int | None:
        """The member of staff who acts; None for anybody else."""
        return self.id if self.kind is ActorKind.STAFF else None

    @property
    def kiosk_id(self) -> int | None:
        """The kiosk on which a guest acts; None for anybody else."""
        return self.id if self.kind is ActorKind.KIOSK else None


WORKER: Final = Actor(ActorKind.WORKER)
CLI: Final = Actor(ActorKind.CLI)
VISITOR: Final = Actor(ActorKind.VISITOR)


def by_staff(staff_id: int | None) -> Actor:
    """A member of staff as an actor."""
    return Actor(ActorKind.STAFF, staff_id)


def by_kiosk(kiosk_id: int) -> Actor:
    """A kiosk as an actor: whoever stands there."""
    return Actor(ActorKind.KIOSK, kiosk_id)


def by_guest(guest_id: int) -> Actor:
    """A guest as an actor: the person of this row, or whoever has their link."""
    return Actor(ActorKind.GUEST, guest_id)


def actor_of(text: str | None) -> Actor | None:
    """The actor of a written form, such as "guest:7"; None for anything else."""
    kind, _, number = (text or "").partition(":")
    if kind not in set(map(str, ActorKind)) or (
        number and not (number.isascii() and number.isdigit())
    ):
        return None
    return Actor(ActorKind(kind), int(number) if number else None)


Who = Actor | str  # who acts, as a value or as it is written
