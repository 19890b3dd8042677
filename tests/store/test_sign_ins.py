"""Sign-ins that end when they should, in every process, and guesses that get slower and slower."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select, text, update

from ridedash.store import sign_in_tries, sign_ins
from ridedash.store.database import numbers
from ridedash.store.database.database import Database
from ridedash.store.kiosks import make_pairing_code, new_device
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.models.people import EndedSignIn, Property, SignIn, Staff, Throttle
from ridedash.store.properties import add_property, add_staff
from tests.databases import POSTGRESQL

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class PropertyFixture:
    """Two properties, and two people of the first."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "UTC", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id
            self.otter = add_staff(s, self.id, "Desk Otter", "hash", "concierge", NOON).id
            self.heron = add_staff(s, self.id, "Desk Heron", "hash", "admin", NOON).id

    def opened(
        self,
        staff_id: int,
        now: datetime = NOON,
        instead_of: sign_ins.SignInFacts | None = None,
        **facts: int,
    ) -> str:
        with self.db.write() as s:
            return sign_ins.open_sign_in(s, staff_id, now, instead_of=instead_of, **facts)

    def used(self, sid: str, at: datetime, known: sign_ins.SignInFacts | None = None) -> None:
        """A person uses a sign-in; `known` is what was read of it before, if not now."""
        found = known or self.facts(sid, at)
        assert found is not None
        with self.db.write() as s:
            sign_ins.note_use(s, found, at)

    def facts(self, sid: str, now: datetime = NOON) -> sign_ins.SignInFacts | None:
        with self.db.read() as s:
            return sign_ins.sign_in_facts(s, sid, now)

    def change(self, staff_id: int, **columns: object) -> None:
        with self.db.write() as s:
            for name, value in columns.items():
                setattr(s.get_one(Staff, staff_id), name, value)

    def wait(self, name: str = "x", address: str = "10.0.0.1", now: datetime = NOON) -> float:
        """The seconds to wait before this guess; 0.0 if it may be made, and is counted as wrong."""
        with self.db.write() as s:
            return sign_in_tries.sign_in_allowed(s, name, address, now)

    def right(self, name: str = "x", address: str = "10.0.0.1") -> None:
        with self.db.write() as s:
            sign_in_tries.sign_in_succeeded(s, name, address)

    def ended(self, after: int = 0) -> list[str]:
        with self.db.read() as s:
            return [hashed for _, hashed in sign_ins.ended_secrets(s, after)]


@pytest.fixture
def prop(database: str) -> Iterator[PropertyFixture]:
    made = PropertyFixture(database)
    yield made
    made.db.close()


def test_a_sign_in_is_of_its_person_and_shows_their_property_for_twelve_hours(
    prop: PropertyFixture,
) -> None:
    with prop.db.write() as s:
        s.execute(update(Property).where(Property.id == prop.id).values(language="de"))
    prop.change(prop.otter, language="fr")
    sid = prop.opened(prop.otter)
    facts = prop.facts(sid)
    assert facts is not None
    assert facts[1:] == (
        NOON,
        NOON + timedelta(hours=12),
        prop.otter,
        prop.id,
        "Desk Otter",
        "concierge",
        "fr",
        "de",
    )
    with prop.db.read() as s:
        assert sid not in s.scalars(select(SignIn.id_hash)).all(), "the secret is not stored"
    assert prop.facts(sid, NOON + timedelta(hours=12) - MILLISECOND) is not None
    assert prop.facts(sid, NOON + timedelta(hours=12)) is None
    for wrong in (facts.sign_in, sid[:-1], "", "é\udcff"):
        with prop.db.read() as s:
            assert sign_ins.sign_in_facts(s, wrong, NOON) is None


def test_a_sign_in_in_place_of_another_ends_with_it_and_shows_another_property(
    prop: PropertyFixture,
) -> None:
    before = prop.facts(prop.opened(prop.heron))
    assert before is not None
    later = NOON + timedelta(hours=11)
    sid = prop.opened(prop.heron, later, before, property_id=prop.other)
    facts = prop.facts(sid, later)
    assert facts is not None
    assert facts.property_id == prop.other
    assert (facts.began_at, facts.expires_at) == (NOON, NOON + timedelta(hours=12))


def test_use_moves_the_end_by_twelve_hours_up_to_a_week_and_never_back(
    prop: PropertyFixture,
) -> None:
    sid, at = prop.opened(prop.otter), NOON
    first = prop.facts(sid)
    week = NOON + timedelta(days=7)
    while at + timedelta(hours=12) < week:
        at += timedelta(hours=11)
        prop.used(sid, at)
        found = prop.facts(sid, at)
        assert found is not None
        assert found.expires_at == min(at + timedelta(hours=12), week)
        assert found.is_last_end is (found.expires_at == week)
    prop.used(sid, NOON + timedelta(hours=1), first)  # a request that was slow
    assert prop.facts(sid, week - MILLISECOND) is not None
    assert prop.facts(sid, week) is None


def test_use_brings_no_sign_in_back_that_has_ended(prop: PropertyFixture) -> None:
    sids = [prop.opened(prop.otter) for _ in range(2)]
    known = [prop.facts(sid) for sid in sids]
    late = NOON + timedelta(hours=12)
    prop.used(sids[0], late, known[0])
    assert prop.facts(sids[0], late) is None
    with prop.db.write() as s:
        sign_ins.close_sign_in(s, sids[1])
    prop.used(sids[1], NOON, known[1])
    assert prop.facts(sids[1]) is None


def test_sign_ins_that_have_expired_are_deleted_by_the_next_one_and_no_others(
    prop: PropertyFixture,
) -> None:
    opened = [NOON + timedelta(hours=n) for n in (1, 2, 3)]
    sids = [prop.opened(prop.otter, each) for each in opened]
    prop.opened(prop.heron, opened[1] + timedelta(hours=12))
    with prop.db.read() as s:
        assert s.scalar(select(func.count()).select_from(SignIn)) == 3
    assert [prop.facts(sid) is not None for sid in sids] == [False, True, True]


def test_no_disabled_or_unknown_person_signs_in(prop: PropertyFixture) -> None:
    prop.change(prop.otter, disabled_at=NOON)
    for staff_id in (prop.otter, 999):
        with pytest.raises(LookupError):
            prop.opened(staff_id)


def test_a_sign_out_ends_one_sign_in_or_all_of_a_person_and_notifies_the_other_processes(
    prop: PropertyFixture,
) -> None:
    first, second, third = (prop.opened(prop.otter) for _ in range(3))
    theirs = prop.opened(prop.heron)
    names = {sid: facts.sign_in for sid in (first, second, third) if (facts := prop.facts(sid))}
    with prop.db.write() as s:
        sign_ins.close_sign_in(s, first)
    assert [prop.facts(sid) is None for sid in (first, second, third, theirs)] == [
        True,
        False,
        False,
        False,
    ]
    assert prop.ended() == [names[first]]
    with prop.db.write() as s:
        sign_ins.close_all_sign_ins(s, prop.otter)
    assert [prop.facts(sid) is None for sid in (first, second, third, theirs)] == [
        True,
        True,
        True,
        False,
    ]
    assert sorted(prop.ended()) == sorted(names.values())
    with prop.db.read() as s:
        numbers = [number for number, _ in sign_ins.ended_secrets(s, 0)]
        assert numbers == sorted(numbers)
        assert [number for number, _ in sign_ins.ended_secrets(s, numbers[0])] == numbers[1:]


def test_after_the_clock_was_set_back_the_other_processes_are_still_notified(
    prop: PropertyFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    prop.opened(prop.otter)
    second = prop.opened(prop.heron)
    with prop.db.write() as s:
        sign_ins.close_all_sign_ins(s, prop.otter)
    with prop.db.read() as s:
        [(read, _hash)] = sign_ins.ended_secrets(s, 0)
    yesterday = time.time_ns() - 86_400 * 10**9
    monkeypatch.setattr(numbers, "time", SimpleNamespace(time_ns=lambda: yesterday))
    if prop.db.dialect == POSTGRESQL:
        table, now = "ended_sign_ins", "statement_timestamp()"
        default = numbers.postgresql_default(table).replace(now, f"({now} - interval '1 day')")
        with prop.db.write() as s:
            s.execute(text(f"ALTER TABLE {table} ALTER COLUMN id SET DEFAULT {default}"))
    known = prop.facts(second)
    assert known is not None
    with prop.db.write() as s:
        sign_ins.close_sign_in(s, second)
    assert prop.ended(after=read) == [known.sign_in]


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        ({"disabled_at": NOON}, True),
        ({"role": "manager"}, True),
        ({"property_id": "other"}, True),
        ({"name": "Otter"}, False),
        ({"role": "concierge"}, False),
    ],
)
def test_a_person_whose_permissions_change_is_signed_out_and_no_one_else(
    prop: PropertyFixture, change: dict[str, object], ends: bool
) -> None:
    if "property_id" in change:
        change = {"property_id": prop.other}
    sid, theirs = prop.opened(prop.otter), prop.opened(prop.heron)
    known = prop.facts(sid)
    assert known is not None
    prop.change(prop.otter, **change)
    assert (prop.facts(sid) is None) is ends
    assert prop.ended() == [known.sign_in] * ends
    assert prop.facts(theirs) is not None


def test_ended_sign_ins_are_stored_for_a_day_and_the_newest_for_ever(prop: PropertyFixture) -> None:
    now = datetime.now(UTC)
    for _ in range(3):
        with prop.db.write() as s:
            sign_ins.close_sign_in(s, sign_ins.open_sign_in(s, prop.otter, now))
    ages = (timedelta(hours=25), timedelta(hours=23), timedelta(hours=25))
    with prop.db.write() as s:
        ids = s.scalars(select(EndedSignIn.id).order_by(EndedSignIn.id)).all()
        for number, age in zip(ids, ages, strict=True):
            row = update(EndedSignIn).where(EndedSignIn.id == number)
            s.execute(row.values(at=now - age))
    with prop.db.write() as s:
        sign_ins.close_sign_in(s, sign_ins.open_sign_in(s, prop.heron, now))
        left = s.scalars(select(EndedSignIn.id).order_by(EndedSignIn.id)).all()
    assert list(left[:2]) == list(ids[1:]), "the last one was the newest then"
    assert left[2] > ids[2]


def test_after_five_wrong_passwords_a_name_waits_and_each_more_doubles_it(
    prop: PropertyFixture,
) -> None:
    now = NOON
    for _ in range(4):
        assert prop.wait(now=now) == 0
    waits = []
    for _ in range(8):
        assert prop.wait(now=now) == 0
        waits.append(prop.wait(now=now))
        assert prop.wait(now=now + timedelta(seconds=waits[-1]) - MILLISECOND) > 0
        now += timedelta(seconds=waits[-1])
    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
    assert prop.wait("  X ", now=now - MILLISECOND) > 0, (
        "in any case and spacing it is the same name"
    )
    assert prop.wait("y", now=now - MILLISECOND) == 0


def test_an_hour_without_a_guess_or_the_right_password_begins_anew(prop: PropertyFixture) -> None:
    for _ in range(4):
        prop.wait()
    later = NOON + timedelta(hours=1) + MILLISECOND
    for _ in range(4):
        assert prop.wait(now=later) == 0
        assert prop.wait("y", now=later - MILLISECOND) == 0
    assert prop.wait(now=later) == 0
    assert prop.wait(now=later) == 30, "the fifth of this hour"
    prop.right()
    assert prop.wait(now=later) == 0


def test_within_the_hour_nothing_is_forgotten(prop: PropertyFixture) -> None:
    for n in range(5):
        assert prop.wait(now=NOON + n * timedelta(hours=1)) == 0
    assert prop.wait(now=NOON + timedelta(hours=4)) == 30


def test_thirty_wrong_passwords_from_one_address_stop_it_until_ten_minutes_are_over(
    prop: PropertyFixture,
) -> None:
    now = NOON + timedelta(minutes=4)
    for n in range(30):
        assert prop.wait(f"name {n}", now=NOON if n == 0 else now) == 0
    assert prop.wait("one more", now=now) == 6 * 60
    assert prop.wait("one more", "10.0.0.2", now=now) == 0
    over = NOON + timedelta(minutes=10)
    assert prop.wait("one more", now=over - MILLISECOND) > 0
    assert prop.wait("one more", now=over) == 0
    assert prop.wait("one more", now=over) == 0


def test_who_types_the_right_password_uses_up_nothing_of_their_address(
    prop: PropertyFixture,
) -> None:
    for n in range(29):
        assert prop.wait(f"name {n}") == 0
    for _ in range(3):
        assert prop.wait("right") == 0
        prop.right("right")
    assert prop.wait("one more") == 0
    assert prop.wait("two more") == 600


def test_a_clock_that_has_stepped_back_locks_no_address_out(prop: PropertyFixture) -> None:
    for n in range(30):
        prop.wait(f"name {n}", now=NOON + timedelta(days=1))
    assert prop.wait("back", now=NOON) > 0, "the block of the other clock"
    prop.right("back")
    assert prop.wait("back", now=NOON) == 0
    for n in range(28):
        assert prop.wait(f"again {n}", now=NOON) == 0, "the window began anew"


def test_the_secret_of_a_sign_in_has_256_bits(prop: PropertyFixture) -> None:
    assert len(prop.opened(prop.otter)) == 43


def test_one_right_password_leaves_an_address_all_of_its_tries(prop: PropertyFixture) -> None:
    assert prop.wait("right") == 0
    prop.right("right")
    assert [prop.wait(f"name {n}") for n in range(30)] == [0] * 30
    assert prop.wait("one more") == 600


def test_a_guess_that_is_refused_for_its_address_leaves_no_row_of_its_name(
    prop: PropertyFixture,
) -> None:
    for n in range(30):
        prop.wait(f"name {n}")
    with prop.db.read() as s:
        rows = s.scalar(select(func.count()).select_from(Throttle))
    assert 0 < prop.wait("another", now=NOON + timedelta(minutes=10) - MILLISECOND) < 1
    with prop.db.read() as s:
        assert s.scalar(select(func.count()).select_from(Throttle)) == rows


def test_an_address_is_known_by_its_first_64_characters(prop: PropertyFixture) -> None:
    assert [prop.wait(f"name {n}", "f" * 64 + str(n)) for n in range(30)] == [0] * 30
    assert prop.wait("one more", "f" * 64) == 600
    assert prop.wait("one more", "f" * 63) == 0


def test_the_codes_that_a_person_made_end_with_what_they_may_do(prop: PropertyFixture) -> None:
    with prop.db.write() as s:
        kiosk = new_device(s, prop.id, KioskKind.KIOSK, "Lobby", NOON)
        make_pairing_code(kiosk, prop.otter, NOON)
    prop.change(prop.otter, role="manager")
    with prop.db.read() as s:
        assert s.scalars(select(Kiosk.pairing_hash)).all() == [None]


def test_on_postgresql_sign_ins_end_one_transaction_after_the_other(prop: PropertyFixture) -> None:
    """Without a lock a process could read a later number first, and never see the earlier one."""
    if prop.db.dialect == "sqlite":
        pytest.skip("it has one writer at a time")
    held = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
    with prop.db.write() as s:
        sign_ins.close_all_sign_ins(s, prop.otter)
        assert s.scalar(held) == 1


def test_all_addresses_of_one_subscriber_are_one(prop: PropertyFixture) -> None:
    for n in range(30):
        assert prop.wait(f"name {n}", f"2001:db8:0:1:{n:x}::{n:x}") == 0
    assert prop.wait("one more", "2001:db8:0:1::ffff") == 600
    assert prop.wait("one more", "2001:db8:0:2::1") == 0, "of another subscriber"
    for n in range(30):
        prop.wait(f"again {n}", f"fe80::{n:x}%eth0")
    assert prop.wait("a neighbour", "fe80::ff%eth0") == 0


@pytest.mark.parametrize(
    ("networks", "verified"),
    [
        ([f"2001:db8:0:0:{n:x}::1" for n in range(40)], 30),
        ([f"2001:db8:0:{n:x}::1" for n in range(40)], 100),
        ([f"2001:db8:0:{n << 8:x}::1" for n in range(40)], 300),
        ([f"2001:db8:{n:x}::1" for n in range(11)], 330),
        ([f"2002:{n:x}::1" for n in range(11)], 330),
    ],
    ids=["/64", "/56", "/48", "many", "6to4"],
)
def test_each_network_has_a_limit_and_all_together_have_none(
    prop: PropertyFixture, networks: list[str], verified: int
) -> None:
    with prop.db.write() as s:
        waits = [
            sign_in_tries.sign_in_allowed(s, f"name {n}", networks[n % len(networks)], NOON)
            for n in range(400)
        ]
    assert waits.count(0.0) == verified
