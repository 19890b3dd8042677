"""An order's page is read with few statements, and with everything that there is of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from ridedash.store.orders import Order, OrderPage, order_page, orders_by_ids
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    yield made
    made.close()


@contextmanager
def selects(desk: Desk) -> Iterator[list[str]]:
    """The SELECT statements of the block."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith("SELECT"):
            found.append(statement)

    event.listen(desk.services.db.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(desk.services.db.engine, "before_cursor_execute", note)


def read(desk: Desk, order_id: int) -> OrderPage:
    with desk.services.db.read() as s:
        found = order_page(s, desk.ids["desk.property"], order_id)
    assert found is not None
    return found


def test_an_order_about_which_nothing_was_done_or_raised_takes_two_statements(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with selects(desk) as asked:
        page = read(desk, order_id)
    assert len(asked) == 2
    assert (page.actions, page.attention, page.superseded_by, page.way_back) == ((), (), None, None)


def test_what_was_done_raised_and_booked_again_is_read_for_each_order_that_has_it(
    desk: Desk,
) -> None:
    quiet = desk.order("BOOKED", "CALL_DRIVER")
    acted = desk.order("BOOKED", "CALL_DRIVER", actions=[("cancel", "done", {})])
    noted = desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    again, back = desk.order("READY"), desk.order("READY")
    desk.add(lambda s: setattr(s.get(Order, again), "supersedes", acted))
    desk.add(lambda s: setattr(s.get(Order, back), "back_of", noted))
    ids = [quiet, acted, noted, again, back]
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], ids)
    assert [page.order.id for page in pages] == ids
    assert [[each.name for each in page.actions] for page in pages] == [[], ["cancel"], [], [], []]
    assert [[each.name for each in page.attention] for page in pages] == [
        [],
        [],
        ["car_swapped"],
        [],
        [],
    ]
    assert [page.superseded_by for page in pages] == [None, again, None, None, None]
    assert [page.way_back for page in pages] == [None, None, back, None, None]


def test_an_item_that_somebody_cleared_is_no_longer_read(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=["car_swapped"])
    (item,) = read(desk, order_id).attention
    desk.add(lambda s: setattr(s.merge(item), "cleared_at", desk.now))
    assert read(desk, order_id).attention == ()
