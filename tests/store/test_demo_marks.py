"""A demo's database is marked. Live mode refuses it, and demos refuse unmarked ones with rides."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete

from ridedash.cli import demo
from ridedash.cli.commands import require_mode
from ridedash.cli.errors import CommandError
from ridedash.store import demo_marks
from ridedash.store.database.database import Database
from ridedash.store.models.people import DemoMark, Property
from tests.views.ride_pages import NOON, make_desk

pytestmark = pytest.mark.database


def test_live_mode_refuses_the_database_of_a_demo(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    live = replace(desk.services, settings=replace(desk.services.settings, mode="live"))
    require_mode(live)
    with desk.services.db.write() as s:
        demo_marks.mark(s, desk.now, demo_marks.NONE)
    require_mode(desk.services)
    with pytest.raises(CommandError, match="this database is a demo's"):
        require_mode(live)
    desk.close()


def test_a_demo_refuses_a_database_with_rides_that_is_none_of_its_own(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    desk.order("BOOKED", "CALL_DRIVER")
    desk.add(lambda s: setattr(s.get(Property, desk.ids["desk.property"]), "name", "Other"))
    with pytest.raises(CommandError, match="has rides and is no demo's"):
        demo.seed(desk.services)
    desk.close()


def test_a_demo_of_an_earlier_release_is_marked(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    demo.seed(desk.services)
    with desk.services.db.write() as s:
        assert s.get(DemoMark, demo_marks.ROW) is not None
        s.execute(delete(DemoMark))
    desk.order("BOOKED", "CALL_DRIVER")
    demo.seed(desk.services)
    with desk.services.db.read() as s:
        found = demo_marks.mark_of(s)
    assert found is not None
    assert found.day == demo_marks.NONE  # a demo that is marked afterwards gets no day
    desk.close()


def test_the_day_of_a_demo_is_noted_where_there_is_a_demo(db: Database) -> None:
    with db.write() as s:
        demo_marks.settle(s, demo_marks.MADE)
        assert demo_marks.mark_of(s) is None
        row = demo_marks.mark(s, NOON, demo_marks.NONE)
        s.flush()
        assert s.get(DemoMark, 1) is row, "where every release looks for it"
        demo_marks.settle(s, demo_marks.MADE)
        assert (row.made_at, row.day) == (NOON, demo_marks.MADE)
