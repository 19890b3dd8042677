"""A doorman marks rides of the property whose car is coming or here; a repeated mark is one."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.rides.actions.door_marks import mark, mark_of
from ridedash.store.actors import by_kiosk
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Ride, TimelineEvent
from ridedash.store.orders import order_page
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
DOOR = by_kiosk(3)
MINUTE = timedelta(minutes=1)


def marked(desk: Desk, order_id: int, name: str, at: Any = NOON) -> bool:
    home = desk.ids["desk.property"]
    return mark(desk.services.db, at, DOOR, home, order_id, name)


def stored(desk: Desk, order_id: int) -> Any:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
        assert page is not None
        return mark_of(page)


def test_only_a_followed_ride_whose_car_is_coming_or_here_is_marked(desk: Desk) -> None:
    statuses = ("CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS")
    taken = [desk.order("BOOKED", status) for status in statuses]
    left = [desk.order("BOOKED", status) for status in ("ALLOTMENT_PENDING", "COMPLETED")]
    left += [
        desk.order("BOOKED", "CALL_DRIVER", ride={"next_poll_at": None}),
        desk.order("BOOKED", "CALL_DRIVER", prop="other"),
        desk.order("UNKNOWN", "CALL_DRIVER"),
        desk.order("BOOKED"),
        1_000_000,
    ]
    assert [marked(desk, each, "in") for each in taken] == [True] * 4
    assert [marked(desk, each, "in") for each in left] == [False] * 7


def test_the_same_mark_again_is_not_noted_again_and_the_last_one_counts(desk: Desk) -> None:
    order_id, other = (desk.order("BOOKED", "CLIENT_LOCATED") for _ in range(2))
    assert stored(desk, order_id) is None
    assert marked(desk, other, "away", NOON)
    for minutes, name in enumerate(("in", "in", "away", "in")):
        assert marked(desk, order_id, name, NOON + minutes * MINUTE)
    assert stored(desk, order_id) == ("in", NOON + 3 * MINUTE)
    with desk.services.db.read() as s:
        mine = select(TimelineEvent.name, TimelineEvent.at).where(
            TimelineEvent.order_id == order_id, TimelineEvent.what == "event"
        )
        assert s.execute(mine.order_by(TimelineEvent.id)).all() == [
            ("door_in", NOON),
            ("door_away", NOON + 2 * MINUTE),
            ("door_in", NOON + 3 * MINUTE),
        ]
        entries = select(AuditRow).where(AuditRow.subject == f"orders:{order_id}")
        rows = s.scalars(entries.order_by(AuditRow.id)).all()
        assert [(row.what, row.result) for row in rows] == [
            ("door.mark", name) for name in ("in", "away", "in")
        ]
        assert {row.property_id for row in rows} == {desk.ids["desk.property"]}


def test_a_mark_of_another_ride_is_no_newer_one_of_this(desk: Desk) -> None:
    order_id, other = (desk.order("BOOKED", "CLIENT_LOCATED") for _ in range(2))
    for each, name in ((order_id, "in"), (other, "away"), (order_id, "in")):
        assert marked(desk, each, name)
    with desk.services.db.read() as s:
        mine = TimelineEvent.order_id == order_id, TimelineEvent.what == "event"
        assert s.scalars(select(TimelineEvent.name).where(*mine)).all() == ["door_in"]


def test_a_mark_is_about_the_car_of_its_time(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED")
    assert marked(desk, order_id, "away")
    for swapped, counts in ((NOON, True), (NOON + MINUTE, False)):
        with desk.services.db.write() as s:
            s.scalars(select(Ride).where(Ride.order_id == order_id)).one().swapped_at = swapped
        assert (stored(desk, order_id) == ("away", NOON)) is counts
