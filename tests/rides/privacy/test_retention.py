"""What is kept for how long, erasing a guest, and changing the keys of what is encrypted."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, text, update

from ridedash.rides.accounts.rotate_keys import rotate
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.privacy.erase import ErasedGuest, NotCompacted, StillRiding, erase
from ridedash.rides.privacy.retention import (
    RetentionDays,
    forget_guest,
    pseudonym,
    remove_old_data,
    retention_job,
)
from ridedash.store import audit
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.kiosks import (
    Kiosk,
    KioskAsk,
    KioskCode,
    KioskVisit,
    OwnPhone,
    Ticket,
)
from ridedash.store.models.orders import Action, Attention, Order, PathPoint, Ride, TimelineEvent
from ridedash.store.models.people import Account, Guest, Throttle
from ridedash.store.sign_ins import sign_in_allowed
from tests.rides.desk_world import KEYS, START, World
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database

KEY = "a key of this test"
NAME, PHONE, ROOM = "Guest Quillfeather", "+911234509876", "Q-417"
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """Its rides ended long ago: what is taken from them raises no version."""
    made = World(tmp_path, database)
    yield made
    made.close()


def ridden(
    world: World, name: str = NAME, phone: str | None = PHONE, room: str | None = ROOM
) -> int:
    """An order whose ride has ended, with all that may say who it was for, and where."""
    order_id = world.place()
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.state, order.open, order.note, order.evidence = (
            "BOOKED",
            False,
            f"wheelchair of {name}",
            '{"x": 1}',
        )
        order.guard_key, order.resolve_reason = f"1|{phone}", f"{name} told us"
        order.message = f"Dear {name}, your booking is made"
        guest = s.get_one(Guest, order.guest_id)
        guest.name, guest.phone, guest.room, guest.note, guest.seen_at = (
            name,
            phone,
            room,
            f"{name} likes silence",
            START,
        )
        facts: dict[str, Any] = {
            "pickup": [1.0, 2.0],
            "drop": [3.0, 4.0],
            "position": [1.5, 2.5],
            "bearing": 7.0,
            "driver_name": "Driver Cedar",
            "driver_number": "+910000000001",
            "price": {"fare": "210"},
            "passengers": [name],
            "route": [{"name": name, "state": "pickup", "position": [1.0, 2.0]}],
        }
        ride = Ride(
            property_id=order.property_id,
            staff_id=order.staff_id,
            account_id=order.account_id,
            order_id=order_id,
            kind="point_to_point",
            booking_id=None,
            txn_id=None,
            status="COMPLETED",
            reported=None,
            facts=facts,
            otp_enc=None,
            back_status=None,
            previous_plate=None,
            swapped_at=None,
            retried=False,
            allotted_at=None,
            ended_at=START,
            total_minor=24_000,
            currency="INR",
            position_at=START,
            seen_at=START,
            created_at=START,
            poll_seq=1,
            merged_seq=1,
            next_poll_at=None,
            interval_s=4.0,
            lease_until=None,
            owner=None,
            errors=0,
            poison=0,
            unknown_id=0,
            final_polls=3,
        )
        s.add(ride)
        s.add(
            TimelineEvent(
                property_id=order.property_id,
                order_id=order_id,
                what="event",
                name="x",
                detail=name,
                at=START,
            )
        )
        s.add(
            Attention(
                property_id=order.property_id,
                order_id=order_id,
                name="x",
                detail=name,
                raised_at=START,
                cleared_at=None,
            )
        )
        s.add(
            Action(
                property_id=order.property_id,
                staff_id=order.staff_id,
                account_id=order.account_id,
                order_id=order_id,
                name="feedback",
                payload={"rating": 5, "options": [], "comments": f"{name} was kind"},
                state="done",
                calls=1,
                made_at=START,
                called_at=START,
                settled_at=START,
                next_try_at=None,
                code=None,
                header=None,
                text=name,
            )
        )
        s.add(
            ShiftNote(
                property_id=order.property_id,
                staff_id=order.staff_id or 0,
                made_at=START,
                done_at=None,
                done_by=None,
                text=f"Call {name.upper()} back on 12345 09876, not on 55 12345 09",
            )
        )
    return order_id


def ride_of(world: World, order_id: int) -> Ride:
    with world.db.read() as s:
        return s.scalars(select(Ride).where(Ride.order_id == order_id)).one()


def guest_of(world: World, order_id: int) -> Guest:
    with world.db.read() as s:
        return s.get_one(Guest, s.get_one(Order, order_id).guest_id)


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
    # those are notes of the house, told by `erase` alone
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
    for days, kept in ((0.9, 3), (1.1, 0)):
        remove_old_data(world.db, START + days * DAY, RetentionDays(), KEY)
        with world.db.read() as s:
            assert s.query(Throttle).count() == kept


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
        worker._is_even = lambda _now: True  # otherwise after an hour
        worker.step()
    assert guest_of(world, order_id).name.startswith("Guest ")
    assert guest_of(world, order_id).name != NAME


def hits(world: World, *words: str) -> set[tuple[str, str]]:
    """Columns of the database, of any type, that hold one of these words in any case of letters."""
    from sqlalchemy import inspect

    found = set()
    with world.db.read() as s:
        for table in inspect(s.connection()).get_table_names():
            for row in s.execute(text(f'SELECT * FROM "{table}"')).mappings():
                found |= {
                    (table, column)
                    for column, value in row.items()
                    if any(word.casefold() in str(value).casefold() for word in words)
                }
    return found


def erased(world: World, **who: str | None) -> tuple[int, int]:
    return erase(world.db, world.clock, KEY, ErasedGuest(world.property_id, **who))


def test_after_erasing_no_column_and_no_byte_of_the_file_has_name_or_phone(
    world: World, tmp_path: Path
) -> None:
    ridden(world)
    order_id = ridden(world)
    spoken = (NAME, PHONE, "1234509876", "12345 09876", ROOM)
    assert len(hits(world, *spoken)) >= 10
    assert erased(world, phone=PHONE) == (2, 2)
    assert hits(world, *spoken) == set()
    assert ride_of(world, order_id).total_minor == 24_000
    with world.db.read() as s:
        line = s.query(AuditRow).filter_by(what="guest.erased").first()
        notes = {note.text for note in s.query(ShiftNote)}
    assert line is not None
    assert line.who == "cli"
    assert notes == {"Call [erased] back on [erased], not on 55 12345 09"}
    if world.db.dialect == "sqlite":
        files = list(tmp_path.rglob("*.sqlite*"))
        assert files
        for file in files:
            content = file.read_bytes().lower()
            assert not [word for word in spoken if word.lower().encode() in content], file


def test_what_was_typed_about_a_ride_goes_also_where_no_answer_came(world: World) -> None:
    order_id = ridden(world)
    with world.db.write() as s:
        s.execute(update(Action).values(state="unconfirmed", settled_at=None))
        s.get_one(Order, order_id).version += 1
    assert erased(world, phone=PHONE) == (1, 1)
    assert hits(world, NAME) == set()


def test_a_guest_is_found_by_name_and_room_too_in_any_case(world: World) -> None:
    order_id, other = ridden(world, phone=None), ridden(world, "Guest Other", phone=None)
    assert erased(world, name="guest QUILLFEATHER", room="another") == (0, 0)
    assert erased(world, name="guest QUILLFEATHER", room=ROOM.lower()) == (1, 1)
    assert guest_of(world, order_id).name != NAME
    assert guest_of(world, other).name == "Guest Other"


@pytest.mark.parametrize(
    ("phone", "written"),
    [
        ("+33123456789", "01 23 45 67 89"),
        ("+33123456789", "0033 1 23 45 67 89"),
        ("+6561234567", "6123-4567"),
        ("+971501234567", "050 123 4567"),
        ("+4930123456", "+49 (0)30 123456"),
        ("+919845012345", "0 98450\u201112345"),
        ("+919845012345", "\u096f\u096e\u096a\u096b\u0966 \u0967\u0968\u0969\u096a\u096b"),
        ("+79121234567", "8 (912) 123-45-67"),
        ("+390612345678", "06 1234 5678"),
    ],
)
def test_a_number_goes_from_notes_as_people_of_its_country_write_it(
    world: World, phone: str, written: str
) -> None:
    ridden(world, phone=phone)
    with world.db.write() as s:
        s.execute(update(ShiftNote).values(text=f"Ring {written}, not 1{written}7."))
    assert erased(world, phone=phone) == (1, 1)
    with world.db.read() as s:
        assert [note.text for note in s.query(ShiftNote)] == [f"Ring [erased], not 1{written}7."]


def test_a_name_and_a_room_are_found_in_any_spelling_of_their_letters(world: World) -> None:
    order_id = ridden(world, "Guest Zo\u00eb O\u2019Wren", phone=None, room="\u00d6st 4")
    with world.db.write() as s:
        s.execute(update(ShiftNote).values(text="Guest  Zoe\u0308\nO'Wren rang"))
        s.execute(update(Action).values(payload={"reason": "x"}))
    named = {"name": "guest zoe\u0308 o'wren", "room": "\u00f6st 4"}
    assert erased(world, **named) == (1, 1)
    assert guest_of(world, order_id).room is None
    with world.db.read() as s:
        assert [note.text for note in s.query(ShiftNote)] == ["[erased] rang"]


def test_a_name_goes_also_from_what_was_typed_at_another_guests_ride(world: World) -> None:
    ridden(world)
    other = ridden(world, "Guest Other", "+911234500000", "9")
    with world.db.write() as s:
        payload = {"reason": f"{NAME} takes this car", "armed": True}
        mine = Action.order_id == other
        s.execute(update(Action).where(mine).values(payload=payload, text=f"for {NAME}"))
    assert erased(world, phone=PHONE) == (1, 1)
    assert hits(world, NAME, PHONE) == set()
    with world.db.read() as s:
        kept = s.scalars(select(Action).where(mine)).one()
    assert kept.payload == {"reason": "[erased] takes this car", "armed": True}
    assert kept.text == "for [erased]"


def test_a_guest_under_way_is_not_erased(world: World) -> None:
    order_id = ridden(world)
    with world.db.write() as s:
        s.get_one(Order, order_id).state = "UNKNOWN"
    with pytest.raises(StillRiding):
        erased(world, phone=PHONE)
    assert guest_of(world, order_id).phone == PHONE


def test_a_guest_who_is_known_by_name_alone_is_erased(world: World) -> None:
    alone, roomed = (world.place(guest_name="Guest Dunlin", guest_room=each) for each in ("", "7"))
    for order_id in (alone, roomed):
        assert withdraw(world.db, world.clock, order_id, world.actor)
    assert erased(world, name="guest dunlin", room="") == (1, 1)
    assert guest_of(world, alone).name != guest_of(world, roomed).name == "Guest Dunlin"


def test_a_name_and_a_room_are_found_in_any_case_of_any_letters_and_however_accents_are_typed(
    world: World,
) -> None:
    order_id = world.place(guest_name="Zoë Grèbe", guest_room="Élysée 4")
    assert withdraw(world.db, world.clock, order_id, world.actor)
    assert erased(world, name="zoë grèbe", room="élysée 5") == (0, 0)
    typed = unicodedata.normalize("NFD", "zoë grèbe")
    assert erased(world, name=typed, room="élysée 4") == (1, 1)
    assert guest_of(world, order_id).room is None


def test_a_guest_of_another_property_stays(world: World) -> None:
    order_id = ridden(world)
    assert erase(world.db, world.clock, KEY, ErasedGuest(world.property_id + 1, phone=PHONE)) == (
        0,
        0,
    )
    assert guest_of(world, order_id).name == NAME


def test_rotating_encrypts_all_secrets_with_the_first_key_and_counts_those_it_could_not_read(
    world: World,
) -> None:
    fresh = new_key()
    order_id = ridden(world)
    both = TokenVault(f"k2:{fresh},{KEYS}")
    with world.db.write() as s:
        ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).one()
        ride.otp_enc = world.vault.encrypt("4711", "rides", ride.id, "otp")
        account = s.get_one(Account, world.account_id)
        account.refresh_token_enc = "k0.gone.gone"
    done = rotate(world.db, both, world.clock)
    assert (done.done, done.left) == (2, 1)
    assert rotate(world.db, both, world.clock).done == 0
    only_new = TokenVault(f"k2:{fresh}")
    with world.db.read() as s:
        ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).one()
        assert only_new.decrypt(ride.otp_enc or "", "rides", ride.id, "otp") == "4711"
        sealed = s.get_one(Account, world.account_id).access_token_enc or ""
        assert only_new.decrypt(sealed, "accounts", world.account_id, "access_token") == "good"
        lines = s.query(AuditRow).filter_by(what="keys.rotated").all()
    assert [line.facts["left"] for line in lines] == [1, 1]


@pytest.mark.sqlite_only
def test_a_file_that_another_process_reads_is_not_compacted_until_the_command_runs_again(
    world: World,
) -> None:
    ridden(world)
    hasty = Database(world.db.url, busy_s=0.1)
    with world.db.read() as s:
        s.execute(text("SELECT count(*) FROM guests")).all()
        with pytest.raises(NotCompacted):
            erase(hasty, world.clock, KEY, ErasedGuest(world.property_id, phone=PHONE))
    assert erase(hasty, world.clock, KEY, ErasedGuest(world.property_id, phone=PHONE)) == (0, 0)
    hasty.close()


def test_what_is_deleted_is_overwritten_whatever_the_default_of_sqlite(world: World) -> None:
    """Debian's SQLite overwrites by default, others don't: so the job has to ask for it."""
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


MOMENT = timedelta(milliseconds=1)
AT = {days: NOON - days * DAY for days in (1, 2, 7, 30, 365)}
LATE = {"kept": timedelta(0), "gone": MOMENT}


def old_rows(desk: Desk) -> None:
    """Of each kind that is kept for a time one row exactly so old, and one a moment older."""
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


def test_each_kind_of_row_goes_a_moment_after_its_time_and_not_before(desk: Desk) -> None:
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
        told = s.scalars(select(AuditRow.what).where(AuditRow.subject == "subject")).all()
        assert told == ["kept"]


def test_what_an_order_kept_goes_with_its_own_age(desk: Desk) -> None:
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
        kept = {followed, *(number for name, number in orders.items() if name.startswith("kept"))}
        assert set(s.scalars(moved)) == kept
        for order_id in orders.values():
            facts = s.query(Ride).filter_by(order_id=order_id).one().facts
            assert ("position" in facts) is (order_id in kept)
            assert {"pickup", "drop", "price"} <= set(facts)


def test_a_guest_is_forgotten_a_moment_after_the_last_of_their_rides(desk: Desk) -> None:
    old = AT[30] - DAY
    facts: dict[str, dict[str, Any]] = {
        "ordered": {"created_at": AT[30]},
        "ordered before": {"created_at": AT[30] - MOMENT},
        "planned": {"pickup_at": AT[30]},
        "planned before": {"pickup_at": AT[30] - MOMENT},
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
                guest.seen_at = AT[30] - MOMENT * (name != "seen")
        for name, late in LATE.items():
            row = {"name": name, "created_at": AT[30] - late}
            s.add(Guest(property_id=desk.ids["desk.property"], **row))
    assert remove_old_data(desk.services.db, NOON, RetentionDays(), KEY) == 4
    with desk.services.db.read() as s:
        names = s.scalars(select(Guest.name)).all()
    left = [name for name in names if not re.fullmatch("Guest [0-9a-f]{10}", name)]
    assert sorted(left) == ["kept", "ordered", "planned", "seen", "unknown"]


def test_what_a_kiosk_kept_of_a_guest_goes_with_them_and_of_nobody_else(desk: Desk) -> None:
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
        told = select(TimelineEvent.order_id).where(TimelineEvent.detail.is_not(None))
        assert s.scalars(told).all() == [other]


def two_orders(desk: Desk) -> tuple[int, int]:
    return desk.order("REJECTED"), desk.order("REJECTED")


def test_an_offer_is_kept_for_a_whole_day(world: World) -> None:
    for _ in range(2):
        world.offer()
    assert retention_job(world.db, RetentionDays(), KEY, START + DAY) == 0
    assert retention_job(world.db, RetentionDays(), KEY, START + DAY + MOMENT) == 1


def test_a_pseudonym_is_of_a_phone_or_else_of_a_name_and_a_room() -> None:
    def of(key: str = KEY, **facts: Any) -> str:
        given = {"property_id": 1, "name": NAME, "phone": PHONE, "room": ROOM}
        return pseudonym(Guest(**{**given, **facts}), key)

    assert re.fullmatch("Guest [0-9a-f]{10}", of())
    assert of() == of(name="Another", room="1")
    assert of(phone=None) == of(phone=None, name=NAME.upper(), room=ROOM.lower())
    others = [of(property_id=2), of(phone="+91"), of("k"), of(phone=None), of(phone=None, room=None)]
    assert len({of(), *others}) == 6
