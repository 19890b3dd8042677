"""Paired devices: codes that pair once, tokens that are replaced, PINs with few tries."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import inspect
from werkzeug.security import generate_password_hash

from ridedash.store import kiosks
from ridedash.store.database.database import Database
from ridedash.store.kiosks import WrongPin
from ridedash.store.models.kiosks import Kiosk, KioskCode, KioskKind, KioskVisit
from ridedash.store.properties import add_property, add_staff
from tests.locks import locked

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
DAY = timedelta(hours=24)
KIOSK, DOOR = KioskKind.KIOSK, KioskKind.DOOR


class PropertyFixture:
    """Two properties, and a kiosk of the first."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "UTC", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id
            self.lobby = kiosks.new_device(s, self.id, KIOSK, "Lobby", NOON).id

    def row(self) -> Kiosk:
        with self.db.read() as s:
            return s.get_one(Kiosk, self.lobby)

    def code(self, now: datetime = NOON) -> str:
        with self.db.write() as s:
            return kiosks.make_pairing_code(s.get_one(Kiosk, self.lobby), None, now)

    def pair(self, code: str, now: datetime = NOON) -> str | None:
        with self.db.write() as s:
            paired = kiosks.pair(s, code, now)
            return paired[1] if paired else None

    def paired(self) -> str:
        token = self.pair(self.code())
        assert token
        return token

    def knows(self, token: str | None, now: datetime = NOON, kind: KioskKind = KIOSK) -> bool:
        with self.db.read() as s:
            found = kiosks.device_with(s, kind, token or "", now)
            assert found is None or found.id == self.lobby
            return found is not None

    def renewed(self, token: str, now: datetime) -> str | None:
        with self.db.write() as s:
            return kiosks.renewed(s, self.lobby, token, now)

    def tries(self, pin: str, now: datetime = NOON) -> float | None:
        """The wait after a wrong PIN; None after a right one."""
        try:
            with self.db.write() as s:
                kiosks.count_pin(s.get_one(Kiosk, self.lobby, with_for_update=True), now)
            kiosks.verify_pin(self.row(), pin, now)
        except WrongPin as error:
            return error.wait_s
        with self.db.write() as s:
            kiosks.forget_tries(s.get_one(Kiosk, self.lobby))
        return None


@pytest.fixture
def prop(database: str) -> Iterator[PropertyFixture]:
    made = PropertyFixture(database)
    yield made
    made.db.close()


def test_a_code_pairs_once_within_ten_minutes_and_is_read_as_people_type_it(
    prop: PropertyFixture,
) -> None:
    code = prop.code()
    assert len(code) == 8
    assert set(code) <= set("23456789ABCDEFGHJKMNPQRSTVWXYZ")
    assert prop.pair("WRQNGC2D") is None
    token = prop.pair(f" {code[:4].lower()}-{code[4:]} ")
    assert prop.knows(token)
    assert not prop.knows(token, kind=DOOR), "it is no display"
    assert prop.pair(code) is None, "used"
    assert prop.pair(prop.code(), NOON + kiosks.CODE_LASTS) is None, "too late"
    assert prop.pair(prop.code(), NOON + kiosks.CODE_LASTS - MILLISECOND)
    assert not prop.knows(token), "the browser that was paired before"


def test_only_the_last_code_counts_and_the_paired_device_stays_until_it_is_used(
    prop: PropertyFixture,
) -> None:
    token = prop.paired()
    first, second = prop.code(), prop.code()
    assert prop.knows(token)
    assert prop.pair(first) is None
    assert prop.pair(second)


def test_neither_code_nor_token_nor_pin_is_readable_in_the_database(prop: PropertyFixture) -> None:
    code, token = prop.code(), prop.paired()
    with prop.db.write() as s:
        kiosks.set_pin(s.get_one(Kiosk, prop.lobby), "482159")
    row = prop.row()
    stored = [getattr(row, column.key) for column in inspect(Kiosk).columns]
    assert not any(secret in str(stored) for secret in (code, token, "482159"))
    assert len(token) == 43, "256 bits"


def test_a_token_is_replaced_after_a_day_and_the_old_one_lives_ten_minutes_more(
    prop: PropertyFixture,
) -> None:
    old, later = prop.paired(), NOON + DAY
    assert prop.renewed(old, later - MILLISECOND) is None
    new = prop.renewed(old, later)
    assert new
    assert prop.renewed(old, later) is None, "a request that came at the same time"
    assert prop.knows(old, later)
    assert prop.knows(new, later)
    assert prop.renewed(new, later + MILLISECOND) is None, "the device has come with it"
    assert prop.knows(old, later + timedelta(minutes=10))
    assert not prop.knows(old, later + MILLISECOND + timedelta(minutes=10))
    assert prop.knows(new, later + 100 * DAY)


def test_a_device_that_never_got_its_new_token_keeps_the_old_one_and_gets_another(
    prop: PropertyFixture,
) -> None:
    """The device's power was cut while the answer was on its way."""
    old, later = prop.paired(), NOON + DAY
    lost = prop.renewed(old, later)
    morning = later + timedelta(hours=9)
    assert prop.knows(old, morning)
    again = prop.renewed(old, morning)
    assert again not in (None, lost)
    assert prop.knows(again, morning)
    assert not prop.knows(lost, morning)
    assert prop.renewed("somebody's", morning) is None


def test_a_device_that_is_unpaired_can_be_paired_again_and_a_revoked_one_can_not(
    prop: PropertyFixture,
) -> None:
    token = prop.paired()
    with prop.db.write() as s:
        kiosks.unpair(s.get_one(Kiosk, prop.lobby))
    assert not prop.knows(token)
    token, code = prop.paired(), prop.code()
    with prop.db.write() as s:
        kiosks.revoke(s.get_one(Kiosk, prop.lobby), NOON)
    assert not prop.knows(token)
    assert prop.pair(code) is None
    with prop.db.read() as s:
        assert kiosks.devices_of(s, prop.id) == []
        assert kiosks.device_of(s, prop.id, prop.lobby), "its rides name it"


def test_devices_are_of_one_property_and_one_kind(prop: PropertyFixture) -> None:
    with prop.db.write() as s:
        door = kiosks.new_device(s, prop.id, DOOR, "Entrance", NOON)
        kiosks.new_device(s, prop.other, KIOSK, "Their lobby", NOON)
        assert [row.name for row in kiosks.devices_of(s, prop.id)] == ["Lobby", "Entrance"]
        assert kiosks.devices_of(s, prop.id, DOOR) == [door]
        assert kiosks.device_of(s, prop.other, door.id) is None
        assert kiosks.device_of(s, prop.id, door.id, hold=True) is door


def test_five_wrong_pins_close_the_panel_for_a_quarter_of_an_hour(prop: PropertyFixture) -> None:
    assert prop.tries("482159") == 0.0, "none is set"
    with prop.db.write() as s:
        row = s.get_one(Kiosk, prop.lobby)
        for wrong in ("48215", "4821590", "48215a", "４８２１５９"):
            with pytest.raises(ValueError, match="six digits"):
                kiosks.set_pin(row, wrong)
        kiosks.set_pin(row, "482159")
    assert [prop.tries("000000") for _ in range(4)] == [0.0] * 4
    assert prop.tries("482159") is None, "a right one is forgiven the wrong ones before"
    assert [prop.tries("000000") for _ in range(5)] == [0.0] * 4 + [900.0]
    assert prop.tries("482159") == 900.0
    assert prop.tries("482159", NOON + timedelta(minutes=15) - MILLISECOND) is not None
    assert prop.tries("482159", NOON + timedelta(minutes=15)) is None


def test_a_heartbeat_marks_a_device_as_alive(prop: PropertyFixture) -> None:
    with prop.db.write() as s:
        kiosks.note_heartbeat(s, prop.lobby, NOON, "1.2", {"screen": "start"})
        kiosks.note_heartbeat(s, prop.lobby + 1_000, NOON, "1.2", {})
    row = prop.row()
    assert (row.seen_at, row.release, row.health) == (NOON, "1.2", {"screen": "start"})


def test_a_token_is_due_until_its_device_has_come_with_it_and_after_a_day(
    prop: PropertyFixture,
) -> None:
    token = prop.paired()
    row = prop.row()
    due = kiosks.is_due
    assert [due(row, token, NOON + each) for each in (DAY - MILLISECOND, DAY)] == [False, True]
    row.confirmed_at = None
    assert due(row, token, NOON), "it has not come with it yet"
    ten = timedelta(minutes=10)
    assert [due(row, "old", NOON + each) for each in (ten - MILLISECOND, ten)] == [False, True]
    row.confirmed_at = NOON
    assert not due(row, "old", NOON + ten)
    row.replaced_at = None
    assert not due(row, token, NOON + 9 * DAY)


def test_a_handed_kiosk_is_taken_over_and_knows_whether_help_comes(prop: PropertyFixture) -> None:
    facts = {"kiosk_id": prop.lobby, "property_id": prop.id, "began_at": NOON, "aids": []}
    with prop.db.write() as s:
        row = s.get_one(Kiosk, prop.lobby)
        row.handed_at, row.handed_language = NOON, "hi"
        with locked(s) as tables:
            kiosks.take_over(s, prop.lobby)
            kiosks.note_heartbeat(s, prop.lobby, NOON, "1", {})
            kiosks.renewed(s, prop.lobby, "x", NOON)
            assert tables == {"kiosks"}
        assert (row.handed_at, row.handed_language) == (None, None)
        kiosks.take_over(s, 1_000)
        visit = KioskVisit(id="v", **facts)
        s.add_all([visit, KioskVisit(id="other", help_at=NOON, **facts)])
        state = kiosks.help_state
        assert state(s, prop.lobby, "v") == ""
        visit.help_at = NOON
        assert state(s, prop.lobby, "v") == "asked"
        assert state(s, prop.lobby + 1, "v") == ""
        visit.help_answered_at = NOON
        assert state(s, prop.lobby, "v") == "coming"
        visit.ended_at = NOON
        assert state(s, prop.lobby, "v") == ""
        assert state(s, prop.lobby, "none") == ""
        assert kiosks.kind_of(row) is KIOSK


def test_each_read_of_a_device_that_is_changed_locks_it_alone(prop: PropertyFixture) -> None:
    for run, wanted in (
        (lambda s: kiosks.device_of(s, prop.id, prop.lobby), set()),
        (lambda s: kiosks.device_of(s, prop.id, prop.lobby, hold=True), {"kiosks"}),
        (lambda s: kiosks.pair(s, "NONE", NOON), {"kiosks"}),
        (lambda s: kiosks.note_heartbeat(s, prop.lobby, NOON, "1", {}), {"kiosks"}),
        (lambda s: kiosks.renewed(s, prop.lobby, "x", NOON), {"kiosks"}),
    ):
        with prop.db.write() as s, locked(s) as tables:
            run(s)  # type: ignore[no-untyped-call]
        assert tables == wanted


def test_revoked_devices_are_listed_on_request(prop: PropertyFixture) -> None:
    with prop.db.write() as s:
        kiosks.revoke(s.get_one(Kiosk, prop.lobby), NOON)
        assert s.get_one(Kiosk, prop.lobby).revoked_at == NOON
        assert [row.id for row in kiosks.devices_of(s, prop.id, ended=True)] == [prop.lobby]


def test_a_wrong_pin_is_answered_with_how_long_the_panel_is_closed(prop: PropertyFixture) -> None:
    row = prop.row()
    row.pin_hash = generate_password_hash("482159")
    for until, wait_s in ((None, 0.0), (NOON + MILLISECOND * 500, 0.5), (NOON - MILLISECOND, 0.0)):
        row.pin_blocked_until = until
        with pytest.raises(WrongPin) as error:
            kiosks.verify_pin(row, "000000", NOON)
        assert error.value.wait_s == wait_s
    row.pin_tries, row.pin_blocked_until = 3, NOON
    kiosks.set_pin(row, "482159")
    assert (row.pin_tries, row.pin_blocked_until) == (0, None)
    row.pin_tries, row.pin_blocked_until = 3, NOON
    kiosks.begin(row, NOON)
    assert (row.pin_tries, row.pin_blocked_until) == (0, None)
    assert (row.replaced_at, row.confirmed_at, row.paired_at) == (NOON, NOON, NOON)
    kiosks.unpair(row)
    assert (row.token_hash, row.old_token_hash, row.paired_at) == (None, None, None)


def test_five_wrong_pins_are_counted_anew_after_the_panel_was_closed(prop: PropertyFixture) -> None:
    row = prop.row()
    with pytest.raises(WrongPin):
        kiosks.verify_pin(row, "", NOON)  # no PIN is set
    row.pin_hash, row.pin_tries = "never compared", 0
    for now in (NOON, NOON + timedelta(minutes=15)):
        for _ in range(5):
            kiosks.count_pin(row, now)
        assert row.pin_blocked_until == now + timedelta(minutes=15)
        assert row.pin_tries == 0


def test_a_revoked_device_keeps_nothing_that_opens_it_and_none_would(prop: PropertyFixture) -> None:
    token, code = prop.paired(), prop.code()
    with prop.db.write() as s:
        s.get_one(Kiosk, prop.lobby).revoked_at = NOON
    assert not prop.knows(token)
    assert prop.pair(code) is None
    with prop.db.write() as s:
        row = s.get_one(Kiosk, prop.lobby)
        kiosks.revoke(row, NOON)
        assert (row.token_hash, row.pairing_hash) == (None, None)


def test_the_codes_of_a_person_end_unless_they_were_used_and_no_one_elses(
    prop: PropertyFixture,
) -> None:
    later = NOON + timedelta(minutes=5)
    facts = {"property_id": prop.id, "house_pays": True, "made_at": NOON, "expires_at": later}
    with prop.db.write() as s:
        otter, heron = (
            add_staff(s, prop.id, f"Desk {name}", "hash", "concierge", NOON).id
            for name in ("Otter", "Heron")
        )
        paired = kiosks.new_device(s, prop.id, KIOSK, "Paired", NOON)
        token = kiosks.begin(paired, NOON)
        paired.paired_by = otter
        open_one, theirs = (
            kiosks.new_device(s, prop.id, KIOSK, name, NOON) for name in ("Open", "Theirs")
        )
        kiosks.make_pairing_code(open_one, otter, NOON)
        kiosks.make_pairing_code(theirs, heron, NOON)
        assert (open_one.paired_by, theirs.paired_by) == (otter, heron)
        codes = [
            KioskCode(code_hash=name, made_by=by, used_at=used, **facts)
            for name, by, used in (
                ("open", otter, None),
                ("used", otter, NOON),
                ("theirs", heron, None),
            )
        ]
        s.add_all(codes)
        s.flush()
        kiosks.end_codes_of(s.connection(), otter)
        s.expire_all()
        assert [row.expires_at for row in codes] == [NOON, later, later]
        assert (open_one.pairing_hash, open_one.pairing_until) == (None, None)
        assert theirs.pairing_hash
        assert theirs.pairing_until == NOON + kiosks.CODE_LASTS
        assert kiosks.device_with(s, KIOSK, token, NOON) is paired
