"""The folding of names among 100,000 guests, against the folding that knew accents alone."""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from bench import frame
from bench.baselines import former_names
from bench.frame import Result, Run, line
from bench.page_desk import cpu_ms
from ridedash.names import found_by, name_key
from ridedash.rides.orders.guard import guard_of
from ridedash.store.database.database import Database
from ridedash.store.guests import GuestDetails, find_same
from ridedash.store.models.orders import Offer
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property
from ridedash.store.search import guests_like
from tests import databases
from tests.names import ONE_NAME

GUESTS: Final = 100_000
ROOMS: Final = 400
PRESSES: Final = 200
NOW: Final = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
NAMES: Final = [name for rows in ONE_NAME.values() for row in rows for name in row]
OFFER: Final = Offer(pickup_lat=-38.5, pickup_lng=-128.0)


@line(
    "names",
    "a guest found again, with the guard's key, among 100,000 guests, against accents alone",
    aim="≤ 1.2",
    protects="The question before a second car comes for any spelling, and costs no waiting.",
    minutes=2,
)
def names(run: Run) -> list[Result]:
    """CPU on SQLite of presses for guests of the property, and of searches by name."""
    with _guests(run.of(GUESTS, 10_000)) as (now, before):
        return [
            frame.side_by_side(run, now.presses, before.presses, "ms", label="200 presses"),
            frame.side_by_side(run, now.search, before.search, "ms", label="a search by name"),
        ]


@dataclass
class House:
    """A property with its guests, as one of the two foldings finds them."""

    s: Session
    property_id: int
    known: list[GuestDetails]
    press: Callable[[Session, int, GuestDetails], Guest | None]
    like: Callable[[Session, int, str], object]

    def presses(self) -> float:
        """Milliseconds of CPU of PRESSES presses, each for another known guest."""
        return cpu_ms(1, self._press)

    def search(self) -> float:
        """Milliseconds of CPU of a search for words that few names have."""
        return cpu_ms(3, lambda: self.like(self.s, self.property_id, "garcia ruiz w77"))

    def _press(self) -> None:
        self.s.expunge_all()
        for each in self.known:
            assert self.press(self.s, self.property_id, each) is not None


def _now(s: Session, property_id: int, details: GuestDetails) -> Guest | None:
    guard_of(property_id, details.name, None, details.room, OFFER)
    return find_same(s, property_id, details)


def _before(s: Session, property_id: int, details: GuestDetails) -> Guest | None:
    former_names.guard_of(details.name, details.room or "")
    return former_names.find_same(s, property_id, details)


def _like(s: Session, property_id: int, typed: str) -> object:
    return s.scalars(select(Guest).where(Guest.id.in_(guests_like(property_id, typed)))).all()


@contextlib.contextmanager
def _guests(many: int) -> Iterator[tuple[House, House]]:
    """The same guests in two databases, each with the columns of its folding."""
    with contextlib.ExitStack() as stack:
        made = []
        for sides in (
            (_now, _like, found_by),
            (_before, former_names.guests_like, former_names.normalised),
        ):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="ridedash-bench-")))
            db = Database(databases.new_database(folder, databases.SQLITE))
            stack.callback(db.close)
            made.append(_house(stack.enter_context(db.write()), many, *sides))
        yield made[0], made[1]


def _house(
    s: Session,
    many: int,
    press: Callable[[Session, int, GuestDetails], Guest | None],
    like: Callable[[Session, int, str], object],
    folded: Callable[[str], str],
) -> House:
    dice, prop = random.Random(1), add_property(s, "Grand Hotel", "UTC", NOW)
    facts = {"property_id": prop.id, "created_at": NOW, "seen_at": NOW, "unverified": False}
    known = [
        GuestDetails(f"{dice.choice(NAMES)} w{number}"[:120], room=str(dice.randrange(ROOMS)))
        for number in range(many)
    ]
    rows = [
        {"id": n, "name": each.name, "room": each.room, "folded": folded(each.name), **facts}
        for n, each in enumerate(known, 1)
    ]
    for row in rows:
        row["name_key"] = name_key(str(row["name"]))
    s.connection().execute(insert(Guest.__table__), rows)
    return House(s, prop.id, dice.sample(known, PRESSES), press, like)
