"""Desk codes: six digits of one property, valid once and for ten minutes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from ridedash.rides.kiosk import desk_codes
from ridedash.rides.kiosk.desk_codes import NewCode, OpenCode, make_code, open_code, use_up
from ridedash.store.audit import AuditRow
from ridedash.store.guests import GuestDetails, store_guest
from ridedash.store.models.kiosks import KioskCode
from tests.locks import locked
from tests.rides.desk_world import START, World
from tests.rides.kiosk_world import KEY, add_kiosk

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
TEN = timedelta(minutes=10)


def opened(
    world: World, typed: str, at: timedelta = timedelta(0), where: int = 0
) -> OpenCode | None:
    with world.db.read() as s:
        return open_code(s, KEY, world.property_id + where, typed, START + at)


def test_a_code_is_stored_as_a_hash_and_says_who_made_it_and_who_pays(world: World) -> None:
    code = make_code(world.db, START, KEY, NewCode(world.property_id, 1, house_pays=True))
    assert len(code) == 6
    assert code.isdigit()
    with world.db.read() as s:
        [row] = s.query(KioskCode).all()
        assert code not in str(vars(row))
        assert (row.made_by, row.made_at, row.expires_at) == (1, START, START + TEN)
        [entry] = s.query(AuditRow).filter_by(what="kiosk.code_made").all()
        assert (entry.who, entry.subject) == ("staff:1", f"kiosk_codes:{row.id}")
        assert entry.facts == {"house_pays": True, "guest": None}
        assert entry.property_id == world.property_id
    assert opened(world, code) == OpenCode(row.id, house_pays=True, guest_id=None)


def test_a_code_is_read_as_people_type_it_in_its_property_for_ten_minutes(world: World) -> None:
    code = make_code(world.db, START, KEY, NewCode(world.property_id, 1))
    assert opened(world, f" {code[:3]} {code[3:]} ")
    assert opened(world, code, TEN - MILLISECOND)
    for zero in "٠۰०０":
        assert opened(world, code.translate({48 + n: ord(zero) + n for n in range(10)})), zero
    for typed in (code[:5], f"{code}0", "abcdef", "²²²²²²", "", f"{int(code) ^ 1:06d}"):
        assert opened(world, typed) is None, typed
    assert opened(world, code, TEN) is None
    assert opened(world, code, where=1) is None
    with world.db.read() as s:
        assert open_code(s, "another key", world.property_id, code, START) is None


def test_a_code_is_used_up_once_for_what_was_read_of_it(world: World) -> None:
    made = make_code(world.db, START, KEY, NewCode(world.property_id, 1))
    code, kiosk = opened(world, made), add_kiosk(world)
    assert code is not None
    with world.db.write() as s:
        assert not use_up(s, replace(code, id=1_000), kiosk, START)
        assert not use_up(s, code, kiosk, START + TEN)
        with locked(s) as tables:
            assert use_up(s, code, kiosk, START + TEN - MILLISECOND)
        assert tables == {"kiosk_codes"}
        row = s.get_one(KioskCode, code.id)
        assert (row.used_at, row.used_by_kiosk) == (START + TEN - MILLISECOND, kiosk)
        assert not use_up(s, code, kiosk, START)
        row.used_at = None
        assert not use_up(s, replace(code, guest_id=9), kiosk, START)
    with world.db.write() as s:
        row = s.get_one(KioskCode, code.id)
        row.used_at = None
        s.flush()
        s.connection().exec_driver_sql("UPDATE kiosk_codes SET house_pays = true")
        assert not use_up(s, code, kiosk, START), "read again: it says something else now"
    with world.db.write() as s:
        s.get_one(KioskCode, code.id).used_at = START
    assert opened(world, made) is None


def test_a_code_of_a_guest_needs_one_of_the_property(world: World) -> None:
    with world.db.write() as s:
        details = GuestDetails("Guest Heron", room="9")
        guest = store_guest(s, world.property_id, details, START, 1).id
    made = make_code(world.db, START, KEY, NewCode(world.property_id, 1, guest_id=guest))
    code = opened(world, made)
    assert code is not None
    assert (code.guest_id, code.house_pays) == (guest, False)
    for where, who in ((world.property_id, guest + 1), (world.property_id + 1, guest)):
        with pytest.raises(LookupError):
            make_code(world.db, START, KEY, NewCode(where, 1, guest_id=who))


def test_digits_of_an_open_code_are_not_given_out_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: Iterator[int] = iter([7, 7, 8, *[7] * 20])
    bounds = []

    def draw(below: int) -> int:
        bounds.append(below)
        return next(drawn)

    monkeypatch.setattr(desk_codes, "secrets", SimpleNamespace(randbelow=draw))
    wanted = NewCode(world.property_id, 1)
    assert [make_code(world.db, START, KEY, wanted) for _ in range(2)] == ["000007", "000008"]
    assert set(bounds) == {1_000_000}
    with pytest.raises(RuntimeError):
        make_code(world.db, START, KEY, wanted)


def test_phones_and_their_kiosk_count_wrong_codes_apart(world: World) -> None:
    kiosk = add_kiosk(world)
    with world.db.write() as s:

        def may(phone: bool) -> bool:
            return desk_codes.may_try(s, kiosk, START, phone=phone)

        assert [may(True) for _ in range(6)] == [True] * 5 + [False]
        assert not desk_codes.tries_stopped(s, kiosk, START), "those of phones stop no kiosk"
        assert may(False)
        desk_codes.was_right(s, kiosk)
        assert not may(True)
        assert desk_codes.may_try(s, kiosk, START)
        desk_codes.was_right(s, kiosk, phone=True)
        assert may(True)
        assert desk_codes.may_try(s, kiosk, START)
