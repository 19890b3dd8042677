"""How long data is stored, and what is left of guests and their rides afterwards."""

import dataclasses
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, text

from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.rides.privacy.retention import (
    RetentionDays,
    forget_guest,
    pseudonym,
    remove_old_data,
    retention_job,
)
from ridedash.store import audit
from ridedash.store.audit import AuditRow
from ridedash.store.models.kiosks import (
    Kiosk,
    KioskAsk,
    KioskCode,
    KioskVisit,
    OwnPhone,
    Ticket,
)
from ridedash.store.models.orders import Order, PathPoint, Ride, TimelineEvent
from ridedash.store.models.people import Guest, Throttle
from ridedash.store.sign_in_tries import sign_in_allowed
from tests.rides.desk_world import START, World
from tests.rides.privacy.ended_rides import KEY, NAME, PHONE, ROOM, guest_of, hits, ridden, ride_of
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database

DAY = timedelta(days=1)


def test_after_seven_days_a_ride_keeps_only_where_it_began_and_ended(world: World) -> None:
    order_id = ridden(world)
    remove_old_data(world.db, START + 7 * DAY, RetentionDays(), KEY)
    assert "position" in ride_of(world, order_id).facts
    remove_old_data(world.db, START + 7 * DAY + timedelta(seconds=1), RetentionDays(), KEY)
    ride = ride_of(world, order_id)
    assert set(ride.facts) == {
        "pickup",
        "drop",
        "driver_name",
        "driver_number",
        "price",
        "passengers",
    }
    assert ride.position_at is None
    assert guest_of(world, order_id).name == NAME


def test_the_driven_path_goes_with_the_other_positions_and_with_an_erased_guest(
    world: World,
) -> None:
    old, erased = ridden(world), ridden(world, "Guest Erased", "+911234500000", "9")
    with world.db.write() as s:
        for order_id in (old, erased):
            s.add(PathPoint(order_id=order_id, at=START, lat=1.5, lng=2.5))

    def left() -> list[int]:
        with world.db.read() as s:
            return sorted(s.scalars(select(PathPoint.order_id)))

    wanted = ErasedGuest(world.page(erased).order.property_id, phone="+911234500000")
    erase(world.db, lambda: START, KEY, wanted)
    assert left() == [old]
    remove_old_data(world.db, START + 7 * DAY, RetentionDays(), KEY)
    assert left() == [old]
    remove_old_data(world.db, START + 7 * DAY + timedelta(seconds=1), RetentionDays(), KEY)
    assert left() == []


def test_after_thirty_days_name_and_phone_are_a_pseudonym_and_the_money_stays(world: World) -> None:
    first, second = ridden(world), ridden(world)
    expected = pseudonym(guest_of(world, first), KEY)
    remove_old_data(world.db, START + 30 * DAY + timedelta(seconds=1), RetentionDays(), KEY)
    assert {guest_of(world, each).name for each in (first, second)} == {expected}
    assert expected != pseudonym(Guest(property_id=1, name=NAME, phone=PHONE), "another key")
    guest, ride = guest_of(world, first), ride_of(world, first)
    assert (guest.phone, guest.room, guest.note) == (None, None, None)
    assert guest.erased_at is not None
    assert (ride.total_minor, ride.currency, ride.facts["price"]) == (
        24_000,
        "INR",
        {"fare": "210"},
    )
    assert "driver_name" not in ride.facts
    # notes of the property: only `erase` removes names from them
    assert hits(world, NAME) == {("shift_notes", "text")}


def test_a_guest_with_a_ride_ahead_or_of_unknown_outcome_keeps_the_name(world: World) -> None:
    planned, unknown = ridden(world, "Guest Planned"), ridden(world, "Guest Unknown")
    with world.db.write() as s:
        s.get_one(Order, planned).pickup_at = START + 40 * DAY
        s.get_one(Order, unknown).state = "UNKNOWN"
    remove_old_data(world.db, START + 31 * DAY, RetentionDays(), KEY)
    assert guest_of(world, planned).name == "Guest Planned"
    assert guest_of(world, unknown).name == "Guest Unknown"


def test_answers_go_after_thirty_days_and_the_record_after_a_year(world: World) -> None:
    order_id = ridden(world)
    with world.db.write() as s:
        audit.record(s, "cli", "sign_in", "staff:1", "ok", START)
    remove_old_data(world.db, START + 31 * DAY, RetentionDays(), KEY)
    with world.db.read() as s:
        assert s.get_one(Order, order_id).evidence is None
        assert s.query(AuditRow).filter_by(what="sign_in").count() == 1
    remove_old_data(world.db, START + 366 * DAY, RetentionDays(), KEY)
    with world.db.read() as s:
        assert s.query(AuditRow).filter_by(what="sign_in").count() == 0


def test_counts_of_failed_sign_ins_go_after_a_day(world: World) -> None:
    with world.db.write() as s:
        sign_in_allowed(s, "somebody", "10.0.0.1", START)
    for days, left in ((0.9, 2), (1.1, 0)):
        remove_old_data(world.db, START + days * DAY, RetentionDays(), KEY)
        with world.db.read() as s:
            assert s.query(Throttle).count() == left


def test_the_days_are_settings(world: World) -> None:
    order_id = ridden(world)
    keep = RetentionDays(positions=100, guests=200, evidence=300, audit=400)
    remove_old_data(world.db, START + 99 * DAY, keep, KEY)
    assert "position" in ride_of(world, order_id).facts
    assert guest_of(world, order_id).name == NAME
    assert all(
        getattr(keep, each.name) > getattr(RetentionDays(), each.name)
        for each in dataclasses.fields(keep)
    )


def test_many_rows_are_done_in_small_transactions_and_once(world: World) -> None:
    now = START + 400 * DAY
    with world.db.write() as s:
        s.execute(text("DELETE FROM audit"))
        for _ in range(450):
            audit.record(s, "cli", "sign_in", "staff:1", "ok", START)
    assert remove_old_data(world.db, now, RetentionDays(), KEY) == 450
    assert remove_old_data(world.db, now, RetentionDays(), KEY) == 0


def test_the_worker_does_it(world: World) -> None:
    order_id = ridden(world)
    world.clock.go(31 * 24 * 3600)
    with world.worker(
        retention_job=lambda now: retention_job(world.db, RetentionDays(), KEY, now)
    ) as worker:
        worker._is_even = lambda _now: True  # otherwise the job runs only after an hour
        worker.step()
    assert guest_of(world, order_id).name.startswith("Guest ")
    assert guest_of(world, order_id).name != NAME


def test_what_is_deleted_is_overwritten_whatever_the_default_of_sqlite(world: World) -> None:
    """Debian's SQLite overwrites deleted data by default, others don't; so the job asks for it."""
    ridden(world)
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        remove_old_data(world.db, START + 400 * DAY, RetentionDays(), KEY)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    secured = [n for n, each in enumerate(statements) if each == "PRAGMA secure_delete = ON"]
    written = [n for n, each in enumerate(statements) if each.startswith(("UPDATE", "DELETE"))]
    assert written
    if world.db.dialect == "sqlite":
        assert secured
        assert secured[0] < written[0]
    else:
        assert not secured


def test_a_guest_who_was_seen_lately_keeps_the_name_also_without_a_ride(world: World) -> None:
    now = START + 40 * DAY
    with world.db.write() as s:
        for name, seen_at in (("Lately", now - 29 * DAY), ("Long Ago", now - 31 * DAY)):
            s.add(
                Guest(
                    property_id=world.property_id,
                    staff_id=world.staff_id,
                    name=name,
                    created_at=START,
                    seen_at=seen_at,
                )
            )
    remove_old_data(world.db, now, RetentionDays(), KEY)
    with world.db.read() as s:
        names = {guest.name.split()[0] for guest in s.scalars(select(Guest))}
    assert names == {"Lately", "Guest"}


MILLISECOND = timedelta(milliseconds=1)
AT = {days: NOON - days * DAY for days in (1, 2, 7, 30, 365)}
LATE = {"kept": timedelta(0), "gone": MILLISECOND}


def old_rows(desk: Desk) -> None:
    """Add two rows of each kind that expires: as old as it may be, and a millisecond older."""
    home = {"property_id": desk.ids["desk.property"]}
    desk.add(lambda s: s.add(Kiosk(id=1, kind="kiosk", name="Lobby", made_at=NOON, **home)))
    with desk.services.db.write() as s:
        for name, late in LATE.items():
            day, mine = AT[1] - late, {"kiosk_id": 1, **home}
            s.add(KioskAsk(visit_id=name, offer_id=1, state="expired", asked_at=day, **mine))
            s.add(KioskCode(code_hash=name, house_pays=False, made_at=day, expires_at=day, **home))
            s.add(OwnPhone(token_hash=name, made_at=AT[2] - late, expires_at=NOON, **mine))
            s.add(KioskVisit(id=name, began_at=AT[365] - late, aids=[], **mine))
            s.add(Throttle(key=name, fails=1, since=day))
            audit.record(s, "cli", name, "subject", "ok", AT[365] - late)


def test_each_kind_of_row_is_deleted_right_after_its_time_and_not_before(desk: Desk) -> None:
    old_rows(desk)
    remove_old_data(desk.services.db, NOON, RetentionDays(), KEY)
    with desk.services.db.read() as s:
        for column in (
            KioskAsk.visit_id,
            KioskCode.code_hash,
            OwnPhone.token_hash,
            KioskVisit.id,
            Throttle.key,
        ):
            assert s.scalars(select(column)).all() == ["kept"], column
        entries = s.scalars(select(AuditRow.what).where(AuditRow.subject == "subject")).all()
        assert entries == ["kept"]


def test_data_stored_for_an_order_is_deleted_by_the_orders_own_age(desk: Desk) -> None:
    home, orders = {"property_id": desk.ids["desk.property"]}, {}
    for name, late in LATE.items():
        over = {"ended_at": AT[7] - late, "next_poll_at": None}
        orders[name] = desk.order("BOOKED", "COMPLETED", ride=over)
        orders[f"{name} without end"] = desk.order(
            "BOOKED", "COMPLETED", ride={"ended_at": None, "next_poll_at": None}
        )
    followed = desk.order("BOOKED", "COMPLETED", ride={"ended_at": AT[30]})
    with desk.services.db.write() as s:
        for number, (name, late) in enumerate(LATE.items()):
            row = s.get_one(Order, orders[name])
            row.created_at, row.evidence = AT[30] - late, "{}"
            row.version += 1
            ride = s.query(Ride).filter_by(order_id=orders[f"{name} without end"]).one()
            ride.created_at = AT[7] - late
            s.add(PathPoint(order_id=row.id, at=AT[7] - late, lat=1.0, lng=2.0))
            s.add(Ticket(order_id=row.id, number=number, day="2026-04-04", pin_hash="x", **home))
    days = RetentionDays(guests=30, evidence=30, positions=7)
    assert days == RetentionDays()
    remove_old_data(desk.services.db, NOON, days, KEY)
    with desk.services.db.read() as s:
        assert s.scalars(select(Ticket.order_id)).all() == [orders["kept"]]
        assert s.scalars(select(PathPoint.order_id)).all() == [orders["kept"]]
        found = {name: s.get_one(Order, order_id).evidence for name, order_id in orders.items()}
        assert (found["kept"], found["gone"]) == ("{}", None)
        moved = select(Ride.order_id).where(Ride.position_at.is_not(None))
        unchanged = {
            followed,
            *(number for name, number in orders.items() if name.startswith("kept")),
        }
        assert set(s.scalars(moved)) == unchanged
        for order_id in orders.values():
            facts = s.query(Ride).filter_by(order_id=order_id).one().facts
            assert ("position" in facts) is (order_id in unchanged)
            assert {"pickup", "drop", "price"} <= set(facts)


def test_a_guest_is_forgotten_right_after_the_last_of_their_rides_expires(desk: Desk) -> None:
    old = AT[30] - DAY
    facts: dict[str, dict[str, Any]] = {
        "ordered": {"created_at": AT[30]},
        "ordered before": {"created_at": AT[30] - MILLISECOND},
        "planned": {"pickup_at": AT[30]},
        "planned before": {"pickup_at": AT[30] - MILLISECOND},
        "unknown": {"state": "UNKNOWN"},
        "seen": {},
        "seen before": {},
    }
    orders = {name: desk.order("REJECTED", guest=name) for name in facts}
    with desk.services.db.write() as s:
        for name, columns in facts.items():
            order = s.get_one(Order, orders[name])
            for column, value in {"created_at": old, **columns}.items():
                setattr(order, column, value)
            order.version += 1
            guest = s.get_one(Guest, order.guest_id)
            guest.created_at = old
            if name.startswith("seen"):
                guest.seen_at = AT[30] - MILLISECOND * (name != "seen")
        for name, late in LATE.items():
            row = {"name": name, "created_at": AT[30] - late}
            s.add(Guest(property_id=desk.ids["desk.property"], **row))
    assert remove_old_data(desk.services.db, NOON, RetentionDays(), KEY) == 4
    with desk.services.db.read() as s:
        names = s.scalars(select(Guest.name)).all()
    left = [name for name in names if not re.fullmatch("Guest [0-9a-f]{10}", name)]
    assert sorted(left) == ["kept", "ordered", "planned", "seen", "unknown"]


def test_what_a_kiosk_stored_about_a_guest_is_deleted_with_them_and_of_no_one_else(
    desk: Desk,
) -> None:
    home, theirs, other = {"property_id": desk.ids["desk.property"]}, *two_orders(desk)
    desk.add(lambda s: s.add(Kiosk(id=1, kind="kiosk", name="Lobby", made_at=NOON, **home)))
    with desk.services.db.write() as s:
        guests = {each: s.get_one(Order, each).guest_id for each in (theirs, other)}
        for order_id, guest_id in guests.items():
            ask = {"offer_id": 1, "state": "approved", "asked_at": NOON, "kiosk_id": 1, **home}
            s.add(KioskAsk(visit_id="v", order_id=order_id, wish_enc="k1.a.b", **ask))
            code = {"house_pays": False, "made_at": NOON, "expires_at": NOON, **home}
            s.add(KioskCode(code_hash=f"{guest_id}", guest_id=guest_id, **code))
            s.add(Ticket(order_id=order_id, number=order_id, day="d", pin_hash="x", **home))
            row = s.get_one(Order, order_id)
            row.message, row.guard_key, row.version = "words", "key", row.version + 1
            detail = {"order_id": order_id, "what": "event", "name": "x", "at": NOON, **home}
            s.add(TimelineEvent(detail="of the guest", **detail))
        s.get_one(Order, theirs).open = True
        s.flush()
        guest = s.get_one(Guest, guests[theirs])
        assert forget_guest(s, guest, NOON, KEY) == 1
    with desk.services.db.read() as s:
        assert s.scalars(select(Ticket.order_id)).all() == [other]
        asks = dict(s.execute(select(KioskAsk.order_id, KioskAsk.wish_enc)).tuples().all())
        assert asks == {theirs: None, other: "k1.a.b"}
        assert set(s.scalars(select(KioskCode.guest_id))) == {None, guests[other]}
        mine, yours = (s.get_one(Order, each) for each in (theirs, other))
        assert (mine.message, mine.guard_key, mine.note) == (None, "key", None), "it is open"
        assert (yours.message, yours.guard_key, yours.note) == ("words", "key", "Two suitcases")
        details = select(TimelineEvent.order_id).where(TimelineEvent.detail.is_not(None))
        assert s.scalars(details).all() == [other]


def test_the_text_of_the_service_about_an_order_is_deleted_with_the_guest_and_our_reason_stays(
    desk: Desk,
) -> None:
    orders = two_orders(desk)
    codes = (("INVALID_CITY", "Dear Ms Heron, not from there"), ("PLAN_MISSED", "PLAN_NO_PRICE"))
    with desk.services.db.write() as s:
        for order_id, (code, message) in zip(orders, codes, strict=True):
            row = s.get_one(Order, order_id)
            row.code, row.message = code, message
            forget_guest(s, s.get_one(Guest, row.guest_id), NOON, KEY)
    with desk.services.db.read() as s:
        assert [s.get_one(Order, each).message for each in orders] == [None, "PLAN_NO_PRICE"]


def two_orders(desk: Desk) -> tuple[int, int]:
    return desk.order("REJECTED"), desk.order("REJECTED")


def test_an_offer_is_stored_for_a_whole_day(world: World) -> None:
    for _ in range(2):
        world.offer()
    assert retention_job(world.db, RetentionDays(), KEY, START + DAY) == 0
    assert retention_job(world.db, RetentionDays(), KEY, START + DAY + MILLISECOND) == 1


def test_a_pseudonym_is_of_a_phone_or_else_of_a_name_and_a_room() -> None:
    def of(key: str = KEY, **facts: Any) -> str:
        given = {"property_id": 1, "name": NAME, "phone": PHONE, "room": ROOM}
        return pseudonym(Guest(**{**given, **facts}), key)

    assert re.fullmatch("Guest [0-9a-f]{10}", of())
    assert of() == of(name="Another", room="1")
    assert of(phone=None) == of(phone=None, name=NAME.upper(), room=ROOM.lower())
    others = [
        of(property_id=2),
        of(phone="+91"),
        of("k"),
        of(phone=None),
        of(phone=None, room=None),
    ]
    assert len({of(), *others}) == 6
