"""The setup of the worker benches: a database with many live rides, and a worker."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, insert, select

from bench.fake_tracking import KINDS
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.runtime import Runtime
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.hooks import Hooks
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Http
from ridedash.service_time import at_pace
from ridedash.store.accounts import add_account
from ridedash.store.database.database import Database
from ridedash.store.encryption import TokenVault
from ridedash.store.models.orders import Offer, Order, Ride
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property

APP_TOKEN: Final = "app-token-of-the-bench"
USER_TOKEN: Final = "user-token-of-the-bench-0123456789abcdef"
KEYS: Final = "k1:" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="  # encrypts the fake token
BLANK: Final[dict[type, Any]] = {str: "", int: 0, float: 0.0, bool: False, dict: {}}


def clock() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


def rows_for(table: Any, **known: Any) -> dict[str, Any]:
    """A row with an empty value in each required column."""
    needed = [
        c
        for c in table.__table__.columns
        if not c.nullable and c.name != "id" and c.name not in known
    ]
    return {c.name: BLANK[c.type.python_type] for c in needed} | known


def fill(db: Database, rides: int, over_s: float = 0.0) -> None:
    """Insert live rides, a third of each kind; the first polls are due within `over_s` seconds."""
    now, vault = clock(), TokenVault(KEYS)
    with db.write() as s:
        place = add_property(s, "Grand Meridian Hotel", "UTC", now).id
        account = add_account(s, vault, place, "House", USER_TOKEN, now).id
        ours = {"property_id": place, "account_id": account, "created_at": now}
        guest = rows_for(Guest, property_id=place, name="Guest Heron", created_at=now)
        guest_id = s.execute(insert(Guest).returning(Guest.id), guest).scalar_one()
        offer = rows_for(Offer, property_id=place, fetched_at=now, kind="auto")
        offer_id = s.execute(insert(Offer).returning(Offer.id), offer).scalar_one()
        for start in range(0, rides, 1000):
            numbers = range(start, min(start + 1000, rides))
            orders = [
                _order(n, now, ours | {"guest_id": guest_id, "offer_id": offer_id}) for n in numbers
            ]
            ids = (
                s.execute(insert(Order).returning(Order.id, sort_by_parameter_order=True), orders)
                .scalars()
                .all()
            )
            due = [now + timedelta(seconds=over_s * n / rides) for n in numbers]
            s.execute(
                insert(Ride),
                [_ride(n, i, ours, at) for n, i, at in zip(numbers, ids, due, strict=True)],
            )


def _order(number: int, now: datetime, ours: dict[str, Any]) -> dict[str, Any]:
    return rows_for(
        Order,
        **ours,
        form_token=f"token-{number}",
        mtx=f"M-{number}",
        kind=KINDS[number % 3],
        state="BOOKED",
        booking_id=booking_id(number),
        due_at=now,
        version=1,
        open=True,
    )


def _ride(number: int, order_id: int, ours: dict[str, Any], due: datetime) -> dict[str, Any]:
    known = {"booking_id": booking_id(number), "order_id": order_id, "next_poll_at": due}
    kind = KINDS[number % 3]
    return rows_for(Ride, **ours, **known, kind=kind, status=None, interval_s=3.0)


def booking_id(number: int) -> str:
    """An id whose first letter is that of the kind, from which fake_tracking knows the kind."""
    return f"{KINDS[number % 3][0]}{number}"


def polls_of(db: Database) -> int:
    """How many polls were made of all rides, up to the last recorded answer of each."""
    with db.read() as s:
        return s.scalar(select(func.sum(Ride.merged_seq))) or 0


@contextmanager
def worker_on(
    db: Database,
    url: str,
    folder: Path,
    *,
    pace: float = 60.0,
    threads: int = 8,
    hooks: Hooks | None = None,
) -> Iterator[Worker]:
    """A worker that polls a fake without a rate limit."""
    tokens = AccountTokens(db, TokenVault(KEYS), None, clock)
    with Http() as http:
        client = RideClient(http, url, APP_TOKEN, traffic=Traffic(math.inf, hooks=hooks))
        journal = AnswerJournal(folder / "box", slots=4)
        try:
            yield Worker(
                Runtime(db, client, tokens, clock, time=at_pace(pace)), journal, threads=threads
            )
        finally:
            journal.close()


@contextmanager
def running(worker: Worker) -> Iterator[None]:
    """Run the loop of a worker in a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        worker.wake()
        thread.join()


def resident_mb() -> float:
    """The resident memory of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
