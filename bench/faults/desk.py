"""The harness: a database, people who book, and the double of the service with its ledger."""

import contextlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.exc import InterfaceError, OperationalError

from bench.faults.clock import FastClock
from bench.faults.life import KEYS, LEDGER, Life
from bench.faults.nursery import ENDS_S, ROOT
from bench.faults.scoreboard import POSTGRESQL, SQLITE, Case, Missing
from ridedash.geo import LatLng
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import OfferStale, place
from ridedash.rides.orders.resolve import reopen, resolve_not_booked
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.actors import Actor, by_staff
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.encryption import TokenVault
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import Order, OrderState
from ridedash.store.properties import add_property, add_staff
from tests import backing
from tests.databases import new_database

PICKUP, DROP = LatLng(-38.5, -128.0), LatLng(-38.52, -128.03)
# the database takes no write, or is gone: people try again
AWAY: Final = (DatabaseBusy, CommitUnknown, OperationalError, InterfaceError)
OFFER_S: Final = 60.0  # how long one offer is used; it is valid for two minutes
SHARES: Final = ("matching", "match_cancel", "match_fails")


@contextlib.contextmanager
def database(case: Case) -> Iterator[str]:
    """The URL of a new database of the kind that the row needs. Raises Missing like `postgres`."""
    if case.database == SQLITE:
        yield new_database(case.folder / f"db-{time.monotonic_ns()}", SQLITE)
        return
    assert case.database == POSTGRESQL
    with postgres() as server:
        url = server.url("postgres")
        made = Database(url)
        made.upgrade()
        made.close()
        yield url


@contextlib.contextmanager
def postgres() -> Iterator[backing.PostgresServer]:
    """A PostgreSQL server for this row only. Raises Missing if this machine has none."""
    try:
        with backing.postgres_server() as server:
            yield server
    except backing.Missing as error:
        raise Missing(str(error)) from None


class Ledger:
    """The actions of the double, and the answers that workers read and journalled, in sequence."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read, self._lines = 0, list[dict[str, Any]]()

    def lines(self) -> list[dict[str, Any]]:
        """Every line so far."""
        with self.file.open("rb") as file:
            file.seek(self._read)
            whole = file.read()
        whole = whole[: whole.rfind(b"\n") + 1]
        self._read += len(whole)
        self._lines += [json.loads(line) for line in whole.splitlines()]
        return self._lines

    def of(self, what: str) -> list[dict[str, Any]]:
        """The lines of one kind."""
        return [line for line in self.lines() if line["what"] == what]


@contextlib.contextmanager
def double(folder: Path, hold_s: float = 0.0) -> Iterator[tuple[int, Ledger]]:
    """Start the double in a process. Yields its port and its ledger."""
    file = folder / LEDGER
    file.touch()
    command = [sys.executable, "-m", "bench.faults.double", str(file), str(hold_s)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield int(process.stdout.readline()), Ledger(file)
    finally:
        process.stdin.close()
        process.wait(ENDS_S)
        process.stdout.close()


@dataclass
class Press:
    """What the harness knows of one order. `way` is the kind of answer to its create (WAYS)."""

    order_id: int
    answer_kind: str
    guest: str
    request: BookingRequest
    root: int  # the first order of this request


@dataclass
class Desk:
    """A property with one member of staff whose decisions are recorded.

    Use it in one thread at a time.
    """

    url: str
    folder: Path
    port: int
    ledger: Ledger
    clock: FastClock
    rng: random.Random
    presses: dict[int, Press] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)  # root order to "book again" presses
    closed: set[int] = field(default_factory=set)  # orders that someone may have closed
    # forms whose order may or may not be in the database
    unsure: list[tuple[str, BookingRequest]] = field(default_factory=list)
    _offers: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.db = Database(self.url)
        now, vault = self.clock(), TokenVault(KEYS)
        with self.db.write() as s:
            self.property_id = add_property(s, "Grand Meridian Hotel", "Asia/Kolkata", now).id
            self.staff_id = add_staff(
                s, self.property_id, "Desk Robin", "hash", "concierge", now
            ).id
            account = add_account(s, vault, self.property_id, "House", "good", now)
            keep_tokens(account, vault, "good", "again", None, now)
            self.account_id = account.id

    @property
    def actor(self) -> Actor:
        """The member of staff who acts."""
        return by_staff(self.staff_id)

    def life(self, **options: Any) -> Life:
        """The settings of a worker process on this database."""
        facts = {
            "origin": self.clock.origin,
            "speed": self.clock.speed,
            "folder": str(self.folder),
            **options,
        }
        return Life(url=self.url, port=self.port, **facts)

    def request(
        self, answer_kind: str, guest: str = "", supersedes: int | None = None
    ) -> BookingRequest:
        """A booking request whose create gets an answer of the kind `answer_kind`."""
        number = self.rng.getrandbits(60)
        return BookingRequest(
            property_id=self.property_id,
            actor=self.actor,
            account_id=self.account_id,
            form_token=f"form-{number}",
            offer_id=self._offer("share" if answer_kind in SHARES else "mini"),
            guest_name=guest or f"Guest {number}",
            seats=1 if answer_kind in SHARES else None,
            coupon=answer_kind,
            supersedes=supersedes,
        )

    def press(self, answer_kind: str, guest: str = "", before: Press | None = None) -> Press | None:
        """Press "Book", or "Book again" for an earlier order.

        Returns None when the database failed, the guest has an open order or the offer is too old.
        """
        root = before.root if before is not None else 0
        try:
            request = self.request(
                answer_kind, guest, before.order_id if before is not None else None
            )
        except AWAY:
            return None
        try:
            made = self.send(answer_kind, request, root)
        except (GuardBusy, OfferStale):
            return None
        except AWAY:
            if before is None:
                self.unsure.append((answer_kind, request))
            return None
        if before is not None:
            self.again[made.root] = self.again.get(made.root, 0) + 1
        return made

    def send(self, answer_kind: str, request: BookingRequest, root: int = 0) -> Press:
        """Send a form; the same form again gives the same order."""
        order_id = place(self.db, self.clock, request).order_id
        press = Press(order_id, answer_kind, request.guest_name, request, root or order_id)
        return self.presses.setdefault(order_id, press)

    def decide(self, press: Press) -> None:
        """Decide about an order whose outcome is unknown; the decision may be wrong."""
        choice = self.rng.choice(("close", "close and book again", "close and reopen", "wait"))
        with contextlib.suppress(*AWAY):
            if choice == "wait":
                return
            self.closed.add(press.order_id)
            if not resolve_not_booked(
                self.db, self.clock, press.order_id, self.staff_id, "asked by phone"
            ):
                return
            if choice == "close and book again":
                self.press("booked", press.guest, press)
            elif choice == "close and reopen":
                reopen(self.db, self.clock, press.order_id, self.staff_id)

    def orders(self) -> list[Order]:
        """Every order."""
        with self.db.read() as s:
            return list(s.scalars(select(Order).order_by(Order.id)))

    def in_state(self, *states: OrderState) -> list[int]:
        """The ids of orders in these states."""
        with self.db.read() as s:
            return list(s.scalars(select(Order.id).where(Order.state.in_(states))))

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def _offer(self, category: str) -> int:
        offer_id, made = self._offers.get(category, (0, -OFFER_S))
        if (time.monotonic() - made) * self.clock.speed < OFFER_S:
            return offer_id
        kind = "share" if category == "share" else "point_to_point"
        trip = Trip(PICKUP, "Lobby", DROP, "Airport")
        priced = Priced(category, kind, category.title(), "INR", "₹240", {"category": category})
        owner = OfferOwner(self.property_id, self.actor)
        made = time.monotonic()
        with self.db.write() as s:
            offer_id = add_offer(s, owner, trip, priced, self.clock()).id
        self._offers[category] = (offer_id, made)
        return offer_id


def as_json(request: BookingRequest) -> dict[str, Any]:
    """A booking request for an immediate ride, as JSON values for another process.

    `life.request_of` reads them.
    """
    return {
        name: value
        for name, value in asdict(request).items()
        if name not in ("pickup_at", "margin", "tz")
    }
