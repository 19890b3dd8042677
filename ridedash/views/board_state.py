"""The whole board of a property at an instant; rows that look the same as before are not made again."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy.orm import Session

from ridedash.rides.lifecycle import freshness
from ridedash.store.board import BoardMark, board_marks
from ridedash.store.orders import orders_by_ids
from ridedash.views.board_rows import Cab, Item, item, revision
from ridedash.views.poll_memory import FRESH_S
from ridedash.views.ride_facts import RideFacts

SAME_S: Final = 0.5  # so long the same board is shown to everybody who asks this process
_SERVES: Final = timedelta(seconds=FRESH_S)


class Kept(NamedTuple):
    """A row that was made, of what, and until when it is that."""

    key: tuple[int, bool, bool, bool]  # version, followed, stale, told
    item: Item
    until: datetime
    made: datetime


@dataclass(frozen=True)
class Board:
    """Everything that stands on it, in its order."""

    items: tuple[Item, ...]

    @cached_property
    def order(self) -> list[int]:
        return [each.row.id for each in self.items]

    @cached_property
    def revisions(self) -> dict[int, str]:
        return {each.row.id: each.json["rev"] for each in self.items}

    @cached_property
    def cabs(self) -> list[Cab]:
        return [each.cab for each in self.items if each.cab]

    @cached_property
    def needs(self) -> int:
        """How many rides need somebody."""
        return sum(each.row.group in ("unknown", "needs") for each in self.items)

    @cached_property
    def order_rev(self) -> str:
        return revision(self.order)

    @cached_property
    def cabs_rev(self) -> str:
        return revision(self.cabs)

    @cached_property
    def rows_rev(self) -> str:
        return revision(list(self.revisions.values()))

    def json_of(self, known: dict[int, str]) -> list[dict[str, Any]]:
        """The rows that look different from what somebody has."""
        return [each.json for each in self.items if known.get(each.row.id) != each.json["rev"]]


@dataclass
class House:
    """What a process remembers of one property in one language."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: dict[int, Kept] = field(default_factory=dict)
    board: Board | None = None
    made_at: float = float("-inf")
    deeds: int = -1
    told: bool = False


def board_of(s: Session, property_id: int, now: datetime, pace: float, locale: str, told: bool, house: House) -> Board:
    """The board now. `told`: that nothing is being updated is said for all rides; `house` keeps what was made."""
    marks = board_marks(s, property_id, now)
    keys = {each.order_id: (each.version, each.followed, _stale(each, now), told) for each in marks}
    stays = {number: house.kept[number] for number, key in keys.items() if _holds(house.kept.get(number), key, now)}
    fresh = _made(s, property_id, [number for number in keys if number not in stays], keys, (now, pace, locale))
    house.kept = stays | fresh
    return Board(tuple(sorted((each.item for each in house.kept.values()), key=lambda each: each.place)))


def _stale(mark: BoardMark, now: datetime) -> bool:
    if not mark.followed or mark.seen_at is None or mark.interval_s is None:
        return False
    return freshness(mark.seen_at, now, mark.interval_s) in ("stale", "lost")


def _holds(kept: Kept | None, key: tuple[int, bool, bool, bool], now: datetime) -> bool:
    return kept is not None and kept.key == key and kept.made <= now < kept.until


def _made(
    s: Session, property_id: int, numbers: Sequence[int], keys: dict[int, Any], reader: tuple[datetime, float, str]
) -> dict[int, Kept]:
    found, now = {}, reader[0]
    for page in orders_by_ids(s, property_id, numbers, light=True) if numbers else ():
        version, followed, stale, told = keys[page.order.id]
        made = item(RideFacts(page, *reader), stale=stale, told=told)
        latest = now + _SERVES  # a guest, an account or the property may get another name
        until = min(made.turns, latest) if made.turns else latest
        found[page.order.id] = Kept((version, followed, stale, told), made, until, now)
    return found
