"""A demo begins anew: at a story's start, with the same random choices, without old rows."""

import threading
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from ridedash.demo import beginning
from ridedash.demo.beginning import Start, empty_too, starts
from ridedash.demo.emptying import StillSending, empty
from ridedash.store import audit, tries
from ridedash.store.actors import WORKER
from ridedash.store.database.database import Base
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import EndedSignIn, Throttle
from tests.demo.stages import Stage, fill
from tests.sandbox import sandbox_desk

pytestmark = pytest.mark.database

EVENING = datetime(2026, 3, 5, 12, 10, tzinfo=UTC)  # Thursday 17:40 in Port Meridian
GROW = (audit.AuditRow, EndedSignIn)  # a reset leaves their rows, which are deleted by age


def begin(stage: Stage, start: Start | None = None) -> None:
    with stage.desk.app.test_request_context():
        beginning.begin(lambda _s: None, start)


def cast(stage: Stage) -> dict[str, Any]:
    """What one booking gets: its price, driver, plate, code, number and way."""
    booking = stage.sandbox.book("mini")
    stage.sandbox.control("leap")
    seen = stage.sandbox.track(booking)
    assert seen["booking_status"] == "CALL_DRIVER"
    return seen | {"products": stage.sandbox.products(drop=sandbox_desk.far_drop())["categories"]}


def test_a_story_starts_on_its_weekday_and_hour_with_the_clock_held(stage: Stage) -> None:
    assert starts(3, time(17, 40), ZoneInfo("Asia/Kolkata")) == EVENING
    fill(stage)
    begin(stage, Start(EVENING, 7))
    stage.sandbox.clock.advance(600)
    clock = stage.sandbox.web.get("/control/clock", headers=sandbox_desk.CONTROL).json
    assert (clock["now"], clock["speed"]) == (EVENING.timestamp(), 0)
    assert stage.sandbox.ledger() == []


def test_the_same_start_has_the_same_cast_at_any_wall_time(stage: Stage) -> None:
    begin(stage, Start(EVENING, 2))
    first = cast(stage)
    stage.sandbox.clock.advance(98_765.4321)
    begin(stage, Start(EVENING, 2))
    assert cast(stage) == first
    begin(stage, Start(EVENING, 3))
    assert cast(stage)["vehicle_number"] != first["vehicle_number"]


def test_what_else_was_recorded_is_cleared_once_the_rides_are_gone(stage: Stage) -> None:
    seen: list[int] = []
    empty_too(stage.desk.app, lambda: seen.append(stage.count(Order)))
    fill(stage)
    stage.press("reset")
    assert seen == [0]


def test_a_file_that_can_not_be_deleted_does_not_stop_a_reset(stage: Stage) -> None:
    def clear() -> None:
        raise PermissionError("read-only")

    empty_too(stage.desk.app, clear)
    fill(stage)
    assert "The demo begins anew." in stage.press("reset")
    assert stage.count(Order) == 0


def test_a_reset_that_can_not_be_audited_changes_nothing_in_the_sandbox(stage: Stage) -> None:
    stage.desk.order("BOOKED", "CALL_DRIVER")
    db, now, sandbox_reset = stage.desk.services.db, stage.desk.now, threading.Event()

    def note(_s: Session) -> None:
        raise ValueError("no entry")

    with pytest.raises(ValueError, match="no entry"):
        empty(db, lambda: now, sandbox_reset.set, note)
    assert (sandbox_reset.is_set(), stage.count(Ride)) == (False, 1)


def test_wrong_pins_of_before_do_not_close_the_kiosk_to_the_next_partner(stage: Stage) -> None:
    db, now, sign_in_key = stage.desk.services.db, stage.desk.now, "name:5f2b"
    keys = [tries.pins_of(1), *(tries.codes_of(1, phone=phone) for phone in (True, False))]
    with db.write() as s:
        s.add(Throttle(key=sign_in_key, fails=3, since=now))  # counts tries to sign in
        left = [tries.tries_left(s, key, 1, now) for key in keys * 2]
    assert left == [1, 1, 1, 0, 0, 0]
    stage.press("reset")
    with db.write() as s:
        assert [tries.tries_left(s, key, 1, now) for key in keys] == [1, 1, 1]
        assert s.get_one(Throttle, sign_in_key).fails == 3


def left(stage: Stage) -> dict[str, Any]:
    """Rows of each table here and in the sandbox, and files."""
    rows = {table.__tablename__: stage.count(table) for table in Base.__subclasses__()}
    for table in GROW:
        del rows[table.__tablename__]
    with stage.sandbox.app.extensions["sandbox"].store.read() as connection:
        for name in ("bookings", "feedback", "scenarios", "faults", "outages"):
            found = connection.execute(f"SELECT COUNT(*) FROM {name}").fetchone()
            rows[f"sandbox.{name}"] = found[0]
    files = sorted(str(path) for path in stage.folder.rglob("*") if path.is_file())
    return rows | {"files": files}


def test_twenty_resets_leave_no_row_file_or_thread(stage: Stage) -> None:
    fill(stage)
    stage.press("reset")
    before, threads = left(stage), set(threading.enumerate())
    assert before["offers"] == 1  # the newest one
    for _ in range(20):
        fill(stage)
        assert "The demo begins anew." in stage.press("reset")
    assert left(stage) == before
    assert set(threading.enumerate()) <= threads  # a thread of an earlier test may end meanwhile


def test_no_order_gets_a_number_that_the_audit_log_names(stage: Stage) -> None:
    last = [stage.desk.order("READY") for _ in range(2)][1]
    with stage.desk.services.db.write() as s:
        audit.record(s, WORKER, "order.move", f"orders:{last}", "READY", stage.desk.now)
    stage.press("reset")
    cars = [stage.desk.order("READY") for _ in range(2)]
    assert last < cars[0] < cars[1]


def test_cars_of_one_press_get_numbers_of_their_own(stage: Stage) -> None:
    last = stage.desk.order("READY")
    with stage.desk.services.db.write() as s:
        order = s.get_one(Order, last)
        audit.record(s, WORKER, "order.move", f"orders:{last}", "READY", stage.desk.now)
        columns = {each.name: getattr(order, each.name) for each in Order.__table__.c}
        s.delete(order)
        s.flush()
        own = [{"id": None, "mtx": f"rd{n}", "form_token": f"t{n}"} for n in range(2)]
        cars = [Order(**columns | each) for each in own]
        s.add_all(cars)
        s.flush()
        assert last < cars[0].id < cars[1].id


def test_a_poll_in_flight_is_waited_for_and_no_other_begins(stage: Stage) -> None:
    ids = [stage.desk.order("BOOKED", "CALL_DRIVER") for _ in range(2)]
    db, now, sandbox_reset = stage.desk.services.db, stage.desk.now, threading.Event()
    polled, waits = (Ride.order_id == order_id for order_id in ids)
    stage.desk.add(lambda s: s.execute(update(Ride).where(waits).values(next_poll_at=now)))
    leased = {"next_poll_at": now, "lease_until": now + timedelta(seconds=9)}
    stage.desk.add(lambda s: s.execute(update(Ride).where(polled).values(leased)))
    looked: list[datetime | None] = []

    def clock() -> datetime:
        """The clock; when it is read the third time, the answer about the polled ride comes."""
        with db.write() as s:
            looked.append(s.scalar(select(Ride.next_poll_at).where(waits)))
            if len(looked) == 3:
                s.execute(update(Ride).where(polled).values(lease_until=None))
            assert not sandbox_reset.is_set()
        return now

    empty(db, clock, sandbox_reset.set, lambda _s: None)
    assert (looked[0], min(looked[1:]) > now) == (now, True)
    assert (sandbox_reset.is_set(), stage.count(Ride)) == (True, 0)


def test_a_refused_reset_lets_the_polls_go_on(stage: Stage) -> None:
    order_id, db, now = stage.desk.order("SENDING"), stage.desk.services.db, stage.desk.now
    stage.desk.order("BOOKED", "CALL_DRIVER")
    with pytest.raises(StillSending):
        empty(db, lambda: now, lambda: None, lambda _s: None, waits_s=0.0)
    with db.read() as s:
        assert s.scalars(select(Ride.next_poll_at)).all() == [now]
        assert s.get_one(Order, order_id).state == "SENDING"
