"""The history: what is kept for it, which rides it finds, what they add up to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import select

from ridedash.store.db import Database
from ridedash.store.orders import Order, Ride
from ridedash.store.people import Guest
from ridedash.store.revisions import alembic_config
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    yield made
    made.close()


def migrate(db: Database, to: str) -> None:
    with db.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        (command.downgrade if to == "0006" else command.upgrade)(config, to)


def kept(desk: Desk, order_id: int) -> list[Any]:
    with desk.services.db.read() as s:
        rows = select(
            Order.happens_at, Order.ended_as, Order.total_minor, Order.currency, Ride.plate, Ride.total_minor,
            Ride.currency, Guest.folded,
        )  # fmt: skip
        joined = rows.join(Ride, Ride.order_id == Order.id).join(Guest, Guest.id == Order.guest_id)
        return list(s.execute(joined.where(Order.id == order_id)).one())


@pytest.mark.parametrize("kind", ["point_to_point", "auto"])
def test_a_database_that_was_in_use_gets_what_the_history_needs(desk: Desk, kind: str) -> None:
    over = {"ended_at": NOON, "next_poll_at": None}
    done = desk.order("BOOKED", "COMPLETED", kind, ride=over, guest="José García")
    live = desk.order("BOOKED", "CALL_DRIVER", kind)
    migrate(desk.services.db, "0006")
    migrate(desk.services.db, "head")
    desk.services.db.require_current()
    total = {"point_to_point": 24_000, "auto": 18_600}[kind]
    placed = kept(desk, done)[0]
    assert kept(desk, done) == [placed, "COMPLETED", total, "INR", "KA01AB1234", total, "INR", " jose garcia"]
    assert kept(desk, live) == [placed, None, None, None, "KA01AB1234", None, None, " guest heron"]
    assert placed is not None
