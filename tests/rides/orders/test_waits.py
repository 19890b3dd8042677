"""The waits that an order keeps: until a driver accepts, then until the pickup."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ridedash.rides.state.transitions import note_wait
from ridedash.store.models.orders import Order
from ridedash.store.orders import Ride, TimelineEvent
from tests.store.test_history import migrate
from tests.views.ride_pages import NOON, make_desk

PRESS = datetime(2026, 5, 4, 8, 30, tzinfo=UTC)


def waits(kind: str, *seen: tuple[str, float], **columns: object) -> tuple[int | None, int | None]:
    """The stored waits when each status is seen that many seconds after the press."""
    order = Order(kind=kind, created_at=PRESS, **columns)
    for status, after_s in seen:
        note_wait(order, status, PRESS + timedelta(seconds=after_s))
    return order.driver_s, order.guest_s


def test_waits_end_with_the_first_driver_and_at_the_pickup() -> None:
    taxi = [("ALLOTMENT_PENDING", 1), ("CALL_DRIVER", 40.6), ("CLIENT_LOCATED", 300)]
    assert waits("point_to_point", *taxi) == (41, 259)
    assert waits("point_to_point", *taxi, ("IN_PROGRESS", 400)) == (41, 259)
    assert waits("share", ("CALL_DRIVER", 40), ("INVOICE", 100)) == (40, 60)
    again = ("ALLOTMENT_RETRYING", 60), ("CALL_DRIVER", 90), ("IN_PROGRESS", 500)
    assert waits("auto", ("CALL_DRIVER", 20), *again) == (20, 480)


def test_a_driver_who_is_there_at_once_was_not_waited_for() -> None:
    assert waits("point_to_point", ("CLIENT_LOCATED", 0)) == (0, 0)
    assert waits("point_to_point", ("CALL_DRIVER", -2), ("CLIENT_LOCATED", -1)) == (0, 0)


@pytest.mark.parametrize(
    "seen",
    [
        [("IN_PROGRESS", 900)],  # no worker ran
        [("ALLOTMENT_FAILED", 90)],
        [("COMPLETED", 900)],
    ],
)
def test_a_search_whose_end_was_not_seen_is_no_wait(seen: list[tuple[str, float]]) -> None:
    assert waits("point_to_point", *seen) == (None, None)


def test_the_bill_of_an_auto_is_no_pickup() -> None:
    assert waits("auto", ("CALL_DRIVER", 20), ("INVOICE", 900)) == (20, None)


def test_a_planned_ride_waits_from_its_order_and_a_lost_one_from_no_known_time() -> None:
    ordered = {"pickup_at": PRESS, "ready_at": PRESS - timedelta(seconds=600)}
    assert waits("point_to_point", ("CALL_DRIVER", -500), **ordered) == (100, None)
    assert waits("point_to_point", ("CALL_DRIVER", 9), pickup_at=PRESS) == (None, None)
    assert waits("point_to_point", ("CALL_DRIVER", 9), recovered_at=PRESS) == (None, None)


def test_a_ride_that_the_guest_starts_waits_from_their_press() -> None:
    started = {"guest_until": PRESS + timedelta(hours=3), "ready_at": PRESS + timedelta(hours=2)}
    assert waits("point_to_point", ("CALL_DRIVER", 7240), **started) == (40, None)


@pytest.mark.database
def test_rides_of_a_database_that_was_in_use_get_their_waits(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    order_id = desk.order("BOOKED", "COMPLETED", age_s=90)
    other = desk.order("BOOKED", "CALL_DRIVER", age_s=90, ride={"allotted_at": None})
    with desk.services.db.write() as s:
        s.query(TimelineEvent).filter_by(order_id=order_id).delete()
        s.query(Ride).filter_by(order_id=order_id).one().allotted_at = NOON - timedelta(seconds=60)
        for name, after_s in (("CALL_DRIVER", -60), ("CLIENT_LOCATED", 12), ("IN_PROGRESS", 99)):
            at = NOON + timedelta(seconds=after_s)
            property_id = desk.ids["desk.property"]
            s.add(
                TimelineEvent(
                    property_id=property_id, order_id=order_id, what="ride", name=name, at=at
                )
            )
    migrate(desk.services.db, "0006")
    migrate(desk.services.db, "head")
    with desk.services.db.read() as s:
        stored = [
            (s.get(Order, each).driver_s, s.get(Order, each).guest_s) for each in (order_id, other)
        ]
    desk.close()
    assert stored == [(30, 72), (None, None)]
