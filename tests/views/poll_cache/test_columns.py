"""Every column that a polled page reads is one whose change the poll cache notices (columns.py)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from ridedash.rides.share_links import LinkKind
from ridedash.service_time import REAL
from ridedash.store.database.database import Base
from ridedash.store.models.orders import Order, Ride
from ridedash.store.orders import OrderPage
from ridedash.views.board.rows import item
from ridedash.views.board.state import AT_EVERY_POLL
from ridedash.views.guest.view_model import code_is_due, guest_view
from ridedash.views.rides.facts import RideFacts
from ridedash.views.rides.snapshot import expires_at
from ridedash.views.rides.view_model import ride_view
from tests.views.poll_cache.cases import cases, page_of
from tests.views.poll_cache.columns import (
    FIXED,
    LATE,
    REVISION,
    VERSIONED,
    noticed,
    versions_rise,
)
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database
Reads = dict[str, set[str]]


class Recorded:
    """A row that notes which of its columns are read."""

    def __init__(self, row: Base, reads: Reads) -> None:
        self._row, self._reads = row, reads

    def __getattr__(self, name: str) -> Any:
        if name in self._row.__table__.columns:
            self._reads[self._row.__tablename__].add(name)
        return getattr(self._row, name)


def recorded(page: OrderPage, reads: Reads) -> Any:
    """An order's page whose rows note which of their columns are read."""

    def wrapped(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(wrapped, value))
        return Recorded(value, reads) if isinstance(value, Base) else value

    return replace(
        page, **{field.name: wrapped(getattr(page, field.name)) for field in fields(page)}
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("property"))
    yield made
    made.close()


def shown(desk: Desk, page: Any, later: timedelta) -> None:
    """Make all that the three polls show of an order."""
    now = desk.now + later
    facts = RideFacts(page, now, REAL, "en")
    ride_view(page, now, REAL).as_json()
    expires_at(page, now, REAL)
    for kind in LinkKind:
        code_is_due(page, kind, facts)
        guest_view(page, kind, now, REAL, "en").as_json()
    for stale in (False, True):
        item(facts, stale=stale, paused=False)


def test_every_column_that_a_poll_shows_is_noticed_when_it_changes(desk: Desk) -> None:
    """Changes of a missing column would be shown late: add it to a set in columns.py."""
    reads: Reads = defaultdict(set)
    for case in cases():
        page = recorded(page_of(desk, case), reads)
        with desk.app.test_request_context("/"):
            for later in (timedelta(0), timedelta(hours=1)):
                shown(desk, page, later)
    missing = {table: columns - noticed(table) for table, columns in reads.items()}
    assert not any(missing.values()), missing
    assert {
        "orders",
        "rides",
        "actions",
        "moments",
        "attention",
        "offers",
        "guests",
        "accounts",
    } <= set(reads)


def test_a_row_of_the_board_reads_nothing_else_that_each_poll_writes(desk: Desk) -> None:
    """Of the columns in AT_EVERY_POLL, a row may only read those that are compared separately."""
    reads: Reads = defaultdict(set)
    for case in cases():
        page = recorded(page_of(desk, case), reads)
        with desk.app.test_request_context("/"):
            item(RideFacts(page, desk.now, REAL, "en"), stale=False, paused=False)
    apart = {"facts", "seen_at", "next_poll_at", "position_at", "lease_until", "owner"}
    assert (reads["rides"] | reads["orders"]) & AT_EVERY_POLL <= apart


def test_the_recorder_notices_a_column_that_is_not_declared(desk: Desk) -> None:
    reads: Reads = defaultdict(set)
    page = recorded(page_of(desk, next(iter(cases()))), reads)
    assert page.order.mtx
    assert reads["orders"] - noticed("orders") == {"mtx"}


def test_no_column_is_listed_twice_and_each_exists() -> None:
    tables = Base.metadata.tables
    for table in {name for found in (VERSIONED, REVISION, FIXED, LATE) for name in found}:
        columns_of = [found.get(table, frozenset()) for found in (VERSIONED, REVISION, FIXED, LATE)]
        assert sum(map(len, columns_of)) == len(noticed(table)), table
        assert noticed(table) <= set(tables[table].columns.keys()), table


@pytest.mark.sqlite_only  # only there do triggers note the changes
def test_a_column_that_is_written_without_a_new_version_is_found(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    desk.order("BOOKED", "CALL_DRIVER")

    @versions_rise(desk.services.db)
    def write_three_columns() -> None:
        for change in (
            update(Ride).values(status="CLIENT_LOCATED"),
            update(Order).values(created_at=desk.now),
            update(Order).values(room="9", version=Order.version + 1),
        ):
            with desk.services.db.write() as s:
                s.execute(change)

    with pytest.raises(AssertionError) as failed:
        write_three_columns()
    found = set(re.findall(r"'(\w+\.\w+)'", str(failed.value)))
    assert found == {"rides.status", "orders.created_at"}
    desk.close()
