"""Saved views of the history: whose they are, how many there may be, and their names."""

import pytest
from sqlalchemy import select

from ridedash.store.database.database import Database
from ridedash.store.models.desk import SavedView
from ridedash.store.properties import add_property, add_staff
from ridedash.store.saved_views import (
    MOST_VIEWS,
    TooManyViews,
    ViewNameTaken,
    save_view,
    view_of,
    views_of,
)
from tests.locks import locked
from tests.store.lobby import NOON

pytestmark = pytest.mark.database


def house(db: Database, name: str) -> tuple[int, int, int]:
    """The ids of a new property and of two of its staff."""
    with db.write() as s:
        prop = add_property(s, name, "Asia/Kolkata", NOON).id
        people = [
            add_staff(s, prop, f"{name} {n}", "x", "concierge", NOON).id for n in ("one", "two")
        ]
    return prop, people[0], people[1]


def names(db: Database, prop: int, staff: int) -> list[tuple[str, str]]:
    with db.read() as s:
        return [(view.name, view.query) for view in views_of(s, prop, staff)]


def test_staff_see_the_propertys_views_and_their_own(db: Database) -> None:
    prop, one, two = house(db, "here")
    other, elsewhere, _ = house(db, "there")
    with db.write() as s:
        save_view(s, prop, one, "mine", "span=today")
        save_view(s, prop, None, "Zebra", "span=week")
        save_view(s, prop, None, "apple", "span=month")
        save_view(s, prop, two, "theirs", "span=today")
        save_view(s, other, None, "far", "span=today")
    everybody = [("apple", "span=month"), ("Zebra", "span=week")]
    assert names(db, prop, one) == [*everybody, ("mine", "span=today")]
    assert names(db, prop, two) == [*everybody, ("theirs", "span=today")]
    assert names(db, other, elsewhere) == [("far", "span=today")]
    with db.read() as s:
        far = s.scalars(select(SavedView).where(SavedView.name == "far")).one()
        assert view_of(s, other, far.id) is far
        assert view_of(s, prop, far.id) is None


def test_no_two_views_of_one_owner_have_one_name(db: Database) -> None:
    prop, one, two = house(db, "here")
    with db.write() as s:
        for owner in (one, None, two):
            save_view(s, prop, owner, "bills", "span=week")
            save_view(s, prop, owner, "bills", "span=week")  # the same, once more
            for name in ("bills", "BILLS"):
                with pytest.raises(ViewNameTaken):
                    save_view(s, prop, owner, name, "span=month")
    for staff in (one, two):
        assert names(db, prop, staff) == [("bills", "span=week"), ("bills", "span=week")]


def test_each_owner_has_so_many_views_and_no_more(db: Database) -> None:
    prop, one, two = house(db, "here")
    with db.write() as s:
        for n in range(MOST_VIEWS):
            save_view(s, prop, one, f"view {n}", "span=week")
        with pytest.raises(TooManyViews):
            save_view(s, prop, one, "one more", "span=week")
        save_view(s, prop, two, "their first", "span=week")
        save_view(s, prop, None, "of all", "span=week")
    assert len(names(db, prop, one)) == MOST_VIEWS + 1


def test_a_save_waits_for_another_one_of_the_property(db: Database) -> None:
    prop, one, _ = house(db, "here")
    with db.write() as s, locked(s) as tables:
        save_view(s, prop, one, "mine", "span=today")
    assert tables == {"properties"}
