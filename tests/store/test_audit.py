"""The audit log is read by property, time, person and subject, and each filter narrows it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.store import audit
from ridedash.store.actors import CLI, WORKER, by_staff
from ridedash.store.audit import AuditFilter
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Ride

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
HERE, THERE = 1, 2
HOUR = timedelta(hours=1)


@pytest.fixture
def db(database: str) -> Iterator[Database]:
    """The steps of an order, of a link and of a command, an hour apart; and another property's."""
    made = Database(database)
    rows: list[tuple[Any, str, str, str, int | None]] = [
        (by_staff(7), "order.move", "orders:3", "READY", HERE),
        (WORKER, "order.move", "orders:3", "BOOKED", HERE),
        (by_staff(7), "ride.cancel", "orders:3", "done", HERE),
        (by_staff(8), "order.move", "orders:33", "NOT_SENT", HERE),
        ("guest:5", "guest.start", "orders:33", "ok", HERE),
        (by_staff(9), "ride.cancel", "orders:3", "done", THERE),
        (CLI, "keys.rotated", "keys", "ok", None),
    ]
    with made.write() as s:
        for n, (who, what, subject, result, property_id) in enumerate(rows):
            facts = {"n": n} if property_id is None else {"n": n, "property_id": property_id}
            audit.record(s, who, what, subject, result, NOON + n * HOUR, **facts)
    yield made
    made.close()


def read(db: Database, limit: int = 20, property_id: int = HERE, **filters: Any) -> list[int]:
    with db.read() as s:
        return [
            row.facts["n"] for row in audit.entries(s, property_id, AuditFilter(**filters), limit)
        ]


def test_an_entry_has_who_did_what_when_and_its_property_in_a_column(db: Database) -> None:
    with db.read() as s:
        [row] = audit.entries(s, THERE, AuditFilter(), 9)
    assert (row.who, row.what, row.subject, row.result) == (
        "staff:9",
        "ride.cancel",
        "orders:3",
        "done",
    )
    assert (row.at, row.property_id, row.facts) == (NOON + 5 * HOUR, THERE, {"n": 5})


def test_a_property_reads_its_own_entries_the_newest_first_and_those_of_no_property_on_request(
    db: Database,
) -> None:
    assert read(db) == [4, 3, 2, 1, 0]
    assert read(db, 2) == [4, 3]
    assert read(db, nobodys=True) == [6, 4, 3, 2, 1, 0]
    assert read(db, property_id=THERE, nobodys=True) == [6, 5]
    assert read(db, property_id=3) == []


def test_a_span_has_its_first_instant_and_not_its_last(db: Database) -> None:
    assert read(db, since=NOON + HOUR) == [4, 3, 2, 1]
    assert read(db, until=NOON + 3 * HOUR) == [2, 1, 0]
    assert read(db, since=NOON + HOUR, until=NOON + HOUR) == []


def test_the_next_page_begins_before_the_last_entry(db: Database) -> None:
    with db.read() as s:
        last = audit.entries(s, HERE, AuditFilter(), 2)[-1].id
    assert read(db, before=last) == [2, 1, 0]


def test_entries_are_found_by_person_step_and_order(db: Database) -> None:
    assert read(db, who="staff:7") == [2, 0]
    assert read(db, who="staff:7", what="order.move") == [0]
    assert read(db, what="order.move") == [3, 1, 0]
    assert read(db, order=3) == [2, 1, 0]
    assert read(db, order=33) == [4, 3]
    assert read(db, who="guest") == [4]
    assert read(db, who="guest:5") == [4]
    assert read(db, who="guest:6") == []


def test_what_people_did_leaves_out_the_worker_alone(db: Database) -> None:
    """A person who starts a waiting ride makes its order READY, and no other entry says so."""
    assert read(db, people=True) == [4, 3, 2, 0]
    assert read(db, people=True, who="worker") == []


def test_who_saw_a_start_code_is_noted_without_the_code(db: Database) -> None:
    ride = Ride(order_id=5, property_id=HERE, otp_enc="k1.secret.code")
    with db.write() as s:
        audit.record_code_shown(s, by_staff(7), ride, "print", NOON)
        [row] = audit.entries(s, HERE, AuditFilter(order=5), 9)
    assert (row.who, row.what, row.result, row.at) == ("staff:7", "code_shown", "ok", NOON)
    assert row.facts == {"by": "print"}
