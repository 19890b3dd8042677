"""The whole board of a property at an instant; unchanged rows are reused from the last board."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy.orm import Session

from ridedash.rides.tracking.intervals import freshness
from ridedash.service_time import ServiceTime
from ridedash.store.board import BoardMark, board_marks, placed_since
from ridedash.store.orders import OrderPage, orders_by_ids
from ridedash.views.board.rows import BoardItem, BoardRow, Cab, cab_of, item, revision
from ridedash.views.poll_cache.cache import FRESH_S
from ridedash.views.rides.facts import RideFacts

# after this time a row is made again even if nothing changed
_ROW_VALID_FOR: Final = timedelta(seconds=FRESH_S)
# facts about the cab that no row shows; the map takes its position from `BoardItem.cab`
OF_THE_CAB: Final = frozenset({"position", "bearing", "speed", "distance"})
# columns that polls of the service write and no row shows, and an attribute that SQLAlchemy adds
AT_EVERY_POLL: Final = frozenset(
    {
        "_sa_instance_state",
        "version",
        "facts",
        "seen_at",
        "position_at",
        "merged_seq",
        "poll_seq",
        "next_poll_at",
        "interval_s",
        "lease_until",
        "owner",
        "errors",
        "poison",
        "unknown_id",
    }
)


class RowKey(NamedTuple):
    """The inputs of a row, as far as they are known without reading its order."""

    version: int
    followed: bool
    stale: bool
    paused: bool
    turned_at: datetime | None  # the last turn of the service's clock


class StoredRow(NamedTuple):
    """A row, its inputs, and the end of its validity."""

    key: RowKey
    item: BoardItem
    until: datetime
    made: datetime
    inputs: list[Any]  # the columns that were read for it, except those of its cab


class Shown(NamedTuple):
    """What decides how a board is shown: its property, the time, the language.

    `paused`: the top bar says that no ride is being updated.
    """

    property_id: int
    now: datetime
    time: ServiceTime
    locale: str
    paused: bool


@dataclass(frozen=True)
class Board:
    """All rows, in the order in which the page lists them.

    `order` has the order ids in that sequence; `order_rev`, `cabs_rev` and `rows_rev` change when
    the sequence, the cabs or the rows do.
    """

    items: tuple[BoardItem, ...]
    rows: dict[int, StoredRow]  # by order id, for the next board

    @cached_property
    def order(self) -> list[int]:
        return [each.row.id for each in self.items]

    @cached_property
    def cabs(self) -> list[Cab]:
        return [each.cab for each in self.items if each.cab]

    @cached_property
    def needs(self) -> int:
        """How many rides need attention."""
        return sum(each.row.group in ("unknown", "needs") for each in self.items)

    @cached_property
    def order_rev(self) -> str:
        return revision(self.order)

    @cached_property
    def cabs_rev(self) -> str:
        return revision(self.cabs)

    @cached_property
    def rows_rev(self) -> str:
        return revision([each.json["rev"] for each in self.items])

    def json_of(self, known: Collection[str]) -> list[dict[str, Any]]:
        """The rows whose revision is not among the known ones."""
        return [each.json for each in self.items if each.json["rev"] not in known]


NO_ROWS: Final = Board((), {})


def marks_of(
    s: Session, property_id: int, now: datetime, since: datetime | None = None
) -> list[BoardMark]:
    """The marks that show whether a row has changed; they are the same in all languages.

    `since`: only orders placed from then on, while a new demo makes the rides of its past days.
    """
    marks = board_marks(s, property_id, now)
    if since is None:
        return marks
    # the rides that a new demo makes for its past days are briefly under way
    ours = placed_since(s, property_id, since)
    return [each for each in marks if each.order_id in ours]


def needs_now(s: Session, shown: Shown, since: datetime | None) -> list[BoardRow]:
    """The rows under "Needs you", in their order; `since` as in marks_of."""
    found = board_of(s, shown, marks_of(s, shown.property_id, shown.now, since), None)
    return [each.row for each in found.items if each.row.group == "needs"]


def board_of(s: Session, shown: Shown, marks: Sequence[BoardMark], before: Board | None) -> Board:
    """The board now. Unchanged rows of `before` are reused; `before` itself if no row changed."""
    now = shown.now
    stored = (before or NO_ROWS).rows
    turned_at = shown.time.turned_at
    keys = {
        each.order_id: RowKey(
            each.version, each.followed, _stale(each, now), shown.paused, turned_at
        )
        for each in marks
    }
    rows = {
        number: stored[number]
        for number, key in keys.items()
        if _is_valid(stored.get(number), key, now)
    }
    others = [number for number in keys if number not in rows]
    for page in orders_by_ids(s, shown.property_id, others, light=True) if others else ():
        number = page.order.id
        rows[number] = _update_row(
            RideFacts(page, now, shown.time, shown.locale), keys[number], stored.get(number)
        )
    if before is not None and rows == stored:
        return before
    return Board(
        tuple(sorted((each.item for each in rows.values()), key=lambda each: each.place)), rows
    )


def _stale(mark: BoardMark, now: datetime) -> bool:
    if not mark.followed or mark.seen_at is None or mark.interval_s is None:
        return False
    return freshness(mark.seen_at, now, mark.interval_s) in ("stale", "lost")


def _is_valid(stored: StoredRow | None, key: RowKey, now: datetime) -> bool:
    return stored is not None and stored.key == key and stored.made <= now < stored.until


def _update_row(facts: RideFacts, key: RowKey, before: StoredRow | None) -> StoredRow:
    """A row made from the database, or the earlier one with the new position of its cab.

    Most polls of the service only change a position, so most rows need not be made again.
    """
    inputs = _inputs(facts.page)
    # a stale row shows when the service last answered, which is not among the inputs
    if before is None or key.stale or before.inputs != inputs:
        return _make_row(facts, key, inputs)
    # the version rose and no input changed: the cab has moved
    if not _is_valid(before, key._replace(version=before.key.version), facts.now):
        return _make_row(facts, key, inputs)
    return before._replace(key=key, item=replace(before.item, cab=cab_of(facts)))


def _make_row(facts: RideFacts, key: RowKey, inputs: list[Any]) -> StoredRow:
    made = item(facts, stale=key.stale, paused=key.paused)
    latest = facts.now + _ROW_VALID_FOR  # names may change while the version does not
    return StoredRow(key, made, min(made.expires, latest), facts.now, inputs)


def _inputs(page: OrderPage) -> list[Any]:
    """Every column that was read for a row, without those in AT_EVERY_POLL.

    The lease and its owner are included for orders, because there they belong to the sending.
    """
    rows = (
        page.order,
        page.offer,
        page.guest,
        page.account,
        page.property,
        *page.actions,
        *page.attention,
    )
    inputs: list[Any] = [
        {k: v for k, v in vars(row).items() if k not in AT_EVERY_POLL} for row in rows
    ]
    inputs += [
        [each.id for each in page.events],
        page.superseded_by,
        page.kiosk,
        page.order.lease_until,
        page.order.owner,
    ]
    if page.ride is not None:
        # with a stop request the row also depends on when the service last answered
        stopped = any(each.name in ("abort", "cancel") for each in page.actions)
        facts = {k: v for k, v in page.ride.facts.items() if k not in OF_THE_CAB}
        inputs += [{k: v for k, v in vars(page.ride).items() if k not in AT_EVERY_POLL}, facts]
        inputs.append(page.ride.seen_at if stopped else None)
    return inputs
