"""Links for new staff and new passwords: valid once, for a day, until their maker's access ends."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from ridedash.store import invitations
from ridedash.store.database.database import Database
from ridedash.store.models.desk import Invitation
from ridedash.store.models.people import Staff
from ridedash.store.properties import add_property, add_staff
from tests.locks import locked

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
DAY = timedelta(hours=24)
MILLISECOND = timedelta(milliseconds=1)


class PropertyFixture:
    """Two properties, each with a manager, and a concierge of the first."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "UTC", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id
            self.boss = add_staff(s, self.id, "Boss Otter", "hash", "manager", NOON).id
            self.their_boss = add_staff(s, self.other, "Boss Wren", "hash", "manager", NOON).id
            self.heron = add_staff(s, self.id, "Desk Heron", "hash", "concierge", NOON).id

    def invited(self, name: str = "Desk Newt", property_id: int | None = None) -> tuple[int, str]:
        by = self.their_boss if property_id else self.boss
        with self.db.write() as s:
            row, secret = invitations.invite(s, property_id or self.id, "concierge", name, by, NOON)
            return row.id, secret

    def new_password(self, now: datetime = NOON, made_by: int | None = None) -> tuple[int, str]:
        with self.db.write() as s:
            staff = s.get_one(Staff, self.heron)
            row, secret = invitations.invite_to_new_password(s, staff, made_by or self.boss, now)
            return row.id, secret

    def opens(self, secret: str, now: datetime = NOON) -> int | None:
        with self.db.write() as s:
            found = invitations.open_invitation(s, secret, now)
            held = invitations.open_invitation(s, secret, now, hold=True)
            assert (found and found.id) == (held and held.id)
            return found and found.id

    def row(self, number: int) -> Invitation:
        with self.db.read() as s:
            return s.get_one(Invitation, number)


@pytest.fixture
def prop(database: str) -> Iterator[PropertyFixture]:
    made = PropertyFixture(database)
    yield made
    made.db.close()


def test_a_link_is_valid_for_a_day_and_its_secret_is_not_stored(prop: PropertyFixture) -> None:
    number, secret = prop.invited()
    assert prop.opens(secret) == number
    assert prop.opens(secret, NOON + DAY - MILLISECOND) == number
    assert prop.opens(secret, NOON + DAY) is None
    row = prop.row(number)
    assert (row.property_id, row.role, row.name, row.made_by) == (
        prop.id,
        "concierge",
        "Desk Newt",
        prop.boss,
    )
    assert (row.made_at, row.expires_at, row.used_at, row.staff_id) == (
        NOON,
        NOON + DAY,
        None,
        None,
    )
    assert secret not in row.token_hash
    for wrong in (row.token_hash, secret[:-1], "", "\udcff"):
        assert prop.opens(wrong) is None


def test_a_link_that_was_used_is_closed_and_no_longer_listed(prop: PropertyFixture) -> None:
    number, secret = prop.invited()
    newer, _ = prop.invited("Desk Crane")
    with prop.db.write() as s:
        s.get_one(Invitation, number).used_at = NOON
    assert prop.opens(secret) is None
    with prop.db.read() as s:
        assert [each.id for each in invitations.open_invitations(s, prop.id, NOON)] == [newer]


def test_the_open_links_of_a_property_are_its_own_the_newest_first(prop: PropertyFixture) -> None:
    first, second = prop.invited()[0], prop.invited("Desk Crane")[0]
    theirs = prop.invited(property_id=prop.other)[0]
    with prop.db.read() as s:
        for now, ids in ((NOON + DAY - MILLISECOND, [second, first]), (NOON + DAY, [])):
            assert [each.id for each in invitations.open_invitations(s, prop.id, now)] == ids
        one = invitations.invitation_of(s, prop.id, first)
        assert one is not None
        assert one.id == first
        assert invitations.invitation_of(s, prop.id, theirs) is None
        assert invitations.invitation_of(s, prop.other, theirs) is not None


def test_a_second_link_for_a_new_password_ends_the_first_and_no_other(
    prop: PropertyFixture,
) -> None:
    _, invited = prop.invited()
    _, older = prop.new_password()
    later = NOON + timedelta(hours=1)
    number, newer = prop.new_password(later)
    assert prop.opens(older, later) is None
    assert prop.opens(newer, later) == number
    assert prop.opens(invited, later) is not None
    row = prop.row(number)
    assert (row.staff_id, row.name, row.role, row.property_id) == (
        prop.heron,
        "Desk Heron",
        "concierge",
        prop.id,
    )


def test_a_link_that_had_been_used_or_had_expired_keeps_its_times(prop: PropertyFixture) -> None:
    used, _ = prop.new_password()
    with prop.db.write() as s:
        s.get_one(Invitation, used).used_at = NOON
    expired, _ = prop.new_password(NOON - DAY)
    prop.new_password(NOON + timedelta(hours=1))
    assert prop.row(used).expires_at == NOON + DAY
    assert prop.row(expired).expires_at == NOON


def test_who_is_disabled_sets_no_password_by_a_link_made_before_or_after(
    prop: PropertyFixture,
) -> None:
    _, before = prop.new_password()
    with prop.db.write() as s:
        s.get_one(Staff, prop.heron).disabled_at = NOON
    _, after = prop.new_password()
    assert (prop.opens(before), prop.opens(after)) == (None, None)


@pytest.mark.parametrize("who", ["boss", "heron"])
def test_links_end_with_the_person_who_made_them_or_whom_they_are_for(
    prop: PropertyFixture, who: str
) -> None:
    password, _ = prop.new_password()
    invited, _ = prop.invited()
    used, _ = prop.invited("Desk Crane")
    theirs, _ = prop.invited(property_id=prop.other)
    with prop.db.write() as s:
        s.get_one(Invitation, used).used_at = NOON
    with prop.db.write() as s:
        invitations.end_links_of(s.connection(), getattr(prop, who))
    with prop.db.read() as s:
        left = select(Invitation.id).where(Invitation.expires_at > NOON).order_by(Invitation.id)
        ended = {password, invited} if who == "boss" else {password}
        assert set(s.scalars(left)) == {password, invited, used, theirs} - ended


def test_a_secret_has_192_bits_and_only_its_use_locks_its_row(prop: PropertyFixture) -> None:
    _, secret = prop.invited()
    assert len(secret) == 32
    with prop.db.write() as s:
        for how, tables in (({}, set()), ({"hold": True}, {"invitations"})):
            with locked(s) as found:
                assert invitations.open_invitation(s, secret, NOON, **how)
            assert found == tables
