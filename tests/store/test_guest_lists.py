"""Guest lists in the database: how long they stay, and what is left of their guests."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import inspect, select

from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.rides.privacy.retention import RetentionDays, drop_old_offers, remove_old_data
from ridedash.store.database.database import Database
from ridedash.store.guest_lists import DRAFT_LASTS, GuestList, ListLine, alike
from ridedash.store.models.orders import Offer
from tests.rides.desk_world import World
from tests.rides.list_world import ListWorld
from tests.store.migrated import migrate

pytestmark = pytest.mark.database
KEY = "a key"
SECOND = timedelta(seconds=1)


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    made = World(tmp_path, database)
    yield made
    made.close()


def count(world: World) -> tuple[int, int]:
    with world.db.read() as s:
        return s.query(GuestList).count(), s.query(ListLine).count()


def test_a_draft_goes_after_a_week_and_a_pressed_list_with_the_guests(world: World) -> None:
    ListWorld(world, guests=2)
    ListWorld(world, guests=2).change(state="DONE")
    began, days = world.clock(), RetentionDays()
    remove_old_data(world.db, began + DRAFT_LASTS, days, KEY)
    assert count(world) == (2, 4)
    remove_old_data(world.db, began + DRAFT_LASTS + SECOND, days, KEY)
    assert count(world) == (1, 2)
    remove_old_data(world.db, began + timedelta(days=30) + SECOND, days, KEY)
    assert count(world) == (0, 0)


def test_the_newest_other_list_with_the_same_guests_is_known(world: World) -> None:
    for _ in range(3):
        ListWorld(world, guests=2)
    with world.db.write() as s:
        first, second, third = s.scalars(select(GuestList).order_by(GuestList.id)).all()
        first.digest = second.digest = third.digest = "the same"
        assert alike(s, third) is second
        assert alike(s, second) is third
        third.digest = "another"
        assert alike(s, third) is None


def test_a_list_that_is_being_booked_is_not_deleted(world: World) -> None:
    listed = ListWorld(world)
    listed.press()
    remove_old_data(world.db, world.clock() + timedelta(days=400), RetentionDays(), KEY)
    assert count(world) == (1, 3)


def test_the_offer_of_a_line_stays_as_long_as_the_line(world: World) -> None:
    listed = ListWorld(world, guests=1)
    listed.offer_all()
    world.offer()
    drop_old_offers(world.db, world.clock() + timedelta(days=3))
    with world.db.read() as s:
        assert s.get(Offer, listed.lines[0].offer_id) is not None


def test_erasing_a_guest_empties_the_lines_that_name_them_and_no_other(world: World) -> None:
    listed = ListWorld(world, guests=2)
    guest = ErasedGuest(world.property_id, name="Guest 1", room="401")
    erase(world.db, world.clock, KEY, guest)
    first, second = listed.lines
    assert (first.data, first.plan, first.out) == ({}, None, "person")
    assert second.data["cells"] == ["Guest 2", "402"]


def test_erasing_a_number_finds_it_as_a_list_writes_it(world: World) -> None:
    listed = ListWorld(world, guests=1)
    with world.db.write() as s:
        line = s.get_one(ListLine, listed.lines[0].id)
        line.data = {"cells": ["Heron", "0 98450-11111"]}
    erase(world.db, world.clock, KEY, ErasedGuest(world.property_id, phone="+919845011111"))
    assert listed.lines[0].data == {}


def test_the_migration_makes_both_tables_and_takes_them_back(world: World) -> None:
    db: Database = world.db
    migrate(db, "0034", "downgrade")
    assert not {"guest_lists", "list_lines"} & set(inspect(db.engine).get_table_names())
    migrate(db, "0034", "upgrade")
    ListWorld(world, guests=1)
    assert count(world) == (1, 1)
