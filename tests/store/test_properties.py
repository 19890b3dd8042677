"""People and properties: sign-ins, limits on guesses, encrypted tokens, and the data of each
property kept separate.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text

from ridedash.face import Logo
from ridedash.geo import LatLng
from ridedash.store import accounts, insights, properties
from ridedash.store.actors import by_staff
from ridedash.store.board import unknown_orders
from ridedash.store.database.database import Database
from ridedash.store.encryption import BadKeys, DecryptionFailed, TokenVault, new_key
from ridedash.store.guests import GuestDetails, store_guest, store_stranger
from ridedash.store.invitations import invite_to_new_password, open_invitation
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Account, Staff
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import order_page, recent_drops
from ridedash.store.sign_in_tries import code_allowed, sign_in_allowed, sign_in_succeeded
from ridedash.store.sign_ins import (
    close_all_sign_ins,
    close_sign_in,
    open_sign_in,
    sign_in_facts,
)
from tests.views.ride_pages import NOON, Desk

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
KEY_1, KEY_2 = "k1:" + new_key(), "k2:" + new_key()


@pytest.fixture
def staff(db: Database) -> Staff:
    with db.write() as s:
        place = properties.add_property(s, "Grand Meridian Hotel", "Asia/Kolkata", NOW)
        return properties.add_staff(s, place.id, "Desk Otter", "hash", "concierge", NOW)


def test_staff_are_found_by_their_name_in_any_case(db: Database, staff: Staff) -> None:
    with db.read() as s:
        found = properties.find_staff(s, "  DESK  otter ")
        assert found is not None
        assert found.id == staff.id
        assert properties.find_staff(s, "Desk Lynx") is None


def test_a_sign_in_lasts_twelve_hours_and_ends_when_it_is_closed(
    db: Database, staff: Staff
) -> None:
    with db.write() as s:
        first, second = (open_sign_in(s, staff.id, NOW) for _ in range(2))
        s.flush()
        assert sign_in_facts(s, first, NOW + timedelta(hours=11, minutes=59))
        assert sign_in_facts(s, first, NOW + timedelta(hours=12)) is None
        last = timedelta(hours=12) - timedelta(milliseconds=1)
        assert properties.sign_ins_of(s, [staff.id], NOW + last) == {staff.id: 2}
        assert properties.sign_ins_of(s, [staff.id], NOW + timedelta(hours=12)) == {}
        assert properties.sign_ins_of(s, [staff.id + 1], NOW) == {}, "no one else's"
        close_sign_in(s, first)
        assert sign_in_facts(s, first, NOW) is None, "a copy of the cookie is worth nothing"
        assert sign_in_facts(s, second, NOW)
        close_all_sign_ins(s, staff.id)
        assert sign_in_facts(s, second, NOW) is None


def test_the_secret_of_a_sign_in_is_not_in_the_database(db: Database, staff: Staff) -> None:
    with db.write() as s:
        sid = open_sign_in(s, staff.id, NOW)
    with db.read() as s:
        stored = repr(s.execute(text("SELECT * FROM sign_ins")).all())
    assert str(staff.id) in stored
    assert sid not in stored


@pytest.mark.sqlite_only  # PostgreSQL has its files elsewhere
def test_the_secret_of_a_sign_in_is_not_in_the_files_of_the_database(
    db: Database, staff: Staff, tmp_path: Path
) -> None:
    with db.write() as s:
        sid = open_sign_in(s, staff.id, NOW)
    db.close()
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"sign_ins" in files
    assert sid.encode() not in files


def test_a_disabled_member_of_staff_is_signed_out(db: Database, staff: Staff) -> None:
    with db.write() as s:
        sid = open_sign_in(s, staff.id, NOW)
        s.get_one(Staff, staff.id).disabled_at = NOW
        s.flush()
        assert sign_in_facts(s, sid, NOW) is None
        with pytest.raises(LookupError):
            open_sign_in(s, staff.id, NOW)


def test_after_five_failures_a_name_waits_thirty_seconds_and_twice_as_long_each_time(
    db: Database,
) -> None:
    now, waits = NOW, []
    for number in range(12):
        with db.write() as s:
            assert sign_in_allowed(s, "Desk Otter", f"10.0.0.{number}", now) == 0
            wait = sign_in_allowed(s, "desk otter", "10.0.1.1", now)
        waits.append(wait)
        now += timedelta(seconds=wait)
    assert waits == [0, 0, 30, 60, 120, 240, 480, 900, 900, 900, 900, 900]


def test_a_thousand_guesses_try_forty_passwords_at_most(db: Database) -> None:
    tried = 0
    with db.write() as s:
        for number in range(1000):
            at = NOW + timedelta(seconds=number * 0.5)
            tried += sign_in_allowed(s, f"name {number}", "10.0.0.1", at) == 0
    assert tried == 30


def test_success_forgets_the_failures_of_a_name(db: Database) -> None:
    with db.write() as s:
        for _ in range(40):
            assert sign_in_allowed(s, "Desk Otter", "10.0.0.1", NOW) == 0
            sign_in_succeeded(s, "Desk Otter", "10.0.0.1")
            s.flush()


def test_typed_names_are_not_stored_in_the_clear(db: Database) -> None:
    with db.write() as s:
        sign_in_allowed(s, "my-password-typed-as-a-name", "10.0.0.1", NOW)
    with db.read() as s:
        keys = s.execute(text("SELECT key FROM throttles")).scalars().all()
    assert not any("password" in key for key in keys)


def test_tokens_are_read_back_only_in_their_own_row_and_column() -> None:
    vault = TokenVault(KEY_1)
    sealed = vault.encrypt("secret", "accounts", 1, "access_token")
    assert vault.decrypt(sealed, "accounts", 1, "access_token") == "secret"
    for place in (
        ("accounts", 2, "access_token"),
        ("accounts", 1, "refresh_token"),
        ("rides", 1, "access_token"),
    ):
        with pytest.raises(DecryptionFailed):
            vault.decrypt(sealed, *place)
    assert sealed != vault.encrypt("secret", "accounts", 1, "access_token")


def test_the_first_key_encrypts_and_all_decrypt_and_a_lost_key_raises_decryption_failed() -> None:
    old, both, new = TokenVault(KEY_1), TokenVault(f"{KEY_2},{KEY_1}"), TokenVault(KEY_2)
    sealed = old.encrypt("secret", "t", 1, "c")
    assert both.decrypt(sealed, "t", 1, "c") == "secret"
    assert both.encrypt("secret", "t", 1, "c").startswith("k2.")
    for broken in (sealed, "", "k2", "k2.x.y", "k2..", "k9.AAAA.AAAA", sealed[:-3] + "AAA"):
        with pytest.raises(DecryptionFailed):
            new.decrypt(broken, "t", 1, "c")
    assert new_key() not in repr(both)


FIXED_KEY = "mZkRr0V6pYyQvTn3o1uXcW8eJtL5sB2dHfGaKiNqPw4="


@pytest.mark.parametrize(
    "keys", ["", "k1", "k1:", "k1:abc", "k1:" + "A" * 43 + "=", "k 1:" + FIXED_KEY, FIXED_KEY]
)
def test_weak_or_malformed_keys_are_refused(keys: str) -> None:
    with pytest.raises(BadKeys):
        TokenVault(keys)


def test_one_account_of_a_property_is_the_default(db: Database, staff: Staff) -> None:
    vault = TokenVault(KEY_1)
    with db.write() as s:
        first = accounts.add_account(s, vault, staff.property_id, "House", "a-token", NOW)
        s.flush()
        assert first.is_default
        other = accounts.add_account(s, vault, staff.property_id, "Events", "b-token", NOW)
        accounts.make_default(s, other)
    with db.read() as s:
        assert [account.id for account in accounts.accounts_of(s, staff.property_id)] == [
            other.id,
            first.id,
        ]
        assert accounts.account_of(s, staff.property_id + 1, first.id) is None
        row = s.get_one(Account, first.id)
    assert row.access_token_enc is not None
    assert "a-token" not in row.access_token_enc
    assert vault.decrypt(row.access_token_enc, "accounts", first.id, "access_token") == "a-token"


def test_an_offer_signs_its_price_and_not_the_lock_of_it(db: Database, staff: Staff) -> None:
    def signed(**changes: object) -> str:
        facts = {"price_text": "₹240", "fare_id": "A", "seat_prices": {"": "240.00"}, **changes}
        priced = Priced("mini", "point_to_point", "Mini", "INR", product={}, **facts)  # type: ignore[arg-type]
        with db.write() as s:
            owner, trip = (
                OfferOwner(staff.property_id, by_staff(staff.id)),
                Trip(LatLng(1, 2), drop=LatLng(3, 4)),
            )
            return add_offer(s, owner, trip, priced, NOW).signature

    assert signed() == signed(fare_id="B")
    assert signed() != signed(seat_prices={"": "265.00"})


def test_an_empty_property_has_no_orders(db: Database, staff: Staff) -> None:
    with db.read() as s:
        assert recent_drops(s, staff.property_id, 40) == []
        assert order_page(s, staff.property_id, 1) is None
        assert unknown_orders(s, staff.property_id) == (0, None)


def test_the_only_property_needs_no_address_of_its_own_to_be_known(
    db: Database, staff: Staff
) -> None:
    with db.write() as s:
        only = properties.property_at(s, "")
        assert only is not None
        assert properties.property_at(s, "x") is None
        properties.make_door(only)
        door = only.door
        assert door is not None
        properties.make_door(only)
        assert only.door == door
        other = properties.add_property(s, "Other House", "UTC", NOW)
        assert properties.property_at(s, "") is None
        assert properties.property_at(s, door) is only
        assert other.door is None


def test_a_sign_in_name_is_also_taken_by_a_disabled_person(db: Database, staff: Staff) -> None:
    with db.write() as s:
        assert properties.is_taken(s, " DESK otter ")
        assert not properties.is_taken(s, "Desk Lynx")
        s.get_one(Staff, staff.id).disabled_at = NOW
        assert properties.is_taken(s, "Desk Otter")
        assert properties.find_staff(s, "Desk Otter") is None


@pytest.fixture
def other(db: Database, staff: Staff) -> int:
    """Another property, beside that of `staff`."""
    with db.write() as s:
        return properties.add_property(s, "Harbour House", "UTC", NOW).id


def test_a_property_is_found_by_its_name_among_all(db: Database, staff: Staff, other: int) -> None:
    with db.read() as s:
        assert [each.id for each in properties.properties(s)] == [staff.property_id, other]
        found = [properties.find_property(s, name) for name in ("Harbour House", "harbour")]
        assert [each and each.id for each in found] == [other, None]


def test_staff_and_cost_centres_are_those_of_a_property_who_may_act_first(
    db: Database, staff: Staff, other: int
) -> None:
    with db.write() as s:
        gone = properties.add_staff(s, staff.property_id, "Ada", "hash", "concierge", NOW)
        gone.disabled_at = NOW
        theirs = properties.add_staff(s, other, "Bea", "hash", "concierge", NOW)
        centres = [
            CostCentre(property_id=where, name=name, closed_at=closed)
            for where, name, closed in (
                (staff.property_id, "A", NOW),
                (staff.property_id, "Bar", None),
                (other, "Spa", None),
            )
        ]
        s.add_all(centres)
        s.flush()
        here = staff.property_id
        assert [each.id for each in properties.staff_of(s, here)] == [staff.id, gone.id]
        assert properties.staff_member(s, here, gone.id) is gone
        assert properties.staff_member(s, here, theirs.id) is None
        assert [each.name for each in properties.cost_centres_of(s, here)] == ["Bar", "A"]
        assert properties.cost_centre_of(s, here, centres[1].id) is centres[1]
        assert properties.cost_centre_of(s, here, centres[2].id) is None
        names = insights.staff_names(s, [gone.id, theirs.id])
        assert names == {gone.id: "Ada", theirs.id: "Bea"}
        assert insights.centre_names(s, [other]) == {centres[2].id: "Spa"}


def test_a_favourite_is_the_place_that_was_stored_last_on_its_slot(
    db: Database, staff: Staff, other: int
) -> None:
    here = staff.property_id
    with db.write() as s:
        for name, lat in (("Pier", 1.5), ("Airport", 2.5)):
            properties.set_favourite(s, here, "drop", 1, name, LatLng(lat, 3.5))
            s.flush()
        properties.set_favourite(s, here, "pickup", 1, "Gate", LatLng(4.5, 5.5))
        properties.set_favourite(s, other, "drop", 1, "Dock", LatLng(6.5, 7.5))
        s.flush()
        found = properties.favourites_of(s, here)
        assert {key: (row.name, row.lat, row.lng) for key, row in found.items()} == {
            ("drop", 1): ("Airport", 2.5, 3.5),
            ("pickup", 1): ("Gate", 4.5, 5.5),
        }


def test_a_logo_is_shown_until_another_comes_and_no_other_property_loses_its_own(
    db: Database, staff: Staff, other: int
) -> None:
    first, second, theirs = (
        Logo(name=f"{name}.png", width=30, height=20 + n, content=name.encode())
        for n, name in enumerate(("first", "second", "theirs"))
    )
    with db.write() as s:
        here, there = (properties.locked_property(s, n) for n in (staff.property_id, other))
        properties.keep_logo(s, there, theirs)
        for logo in (first, second):
            properties.keep_logo(s, here, logo)
            s.flush()
        assert (here.logo, here.logo_width, here.logo_height) == ("second.png", 30, 21)
        contents = [properties.face_content(s, each.name) for each in (first, second, theirs)]
        assert contents == [None, b"second", b"theirs"]
        properties.keep_logo(s, here, None)
        s.flush()
        assert (here.logo, here.logo_width, here.logo_height) == (None, None, None)
        assert properties.face_content(s, "second.png") is None
        assert properties.face_content(s, "theirs.png") == b"theirs"


@pytest.mark.database
def test_planned_pickups_are_those_of_the_property_that_are_not_ordered_yet(desk: Desk) -> None:
    first = desk.order("SCHEDULED")
    for state in ("SCHEDULED", "BOOKED"):
        desk.order(state)
    desk.order("SCHEDULED", prop="other")
    with desk.services.db.write() as s:
        s.get_one(Order, first).pickup_at = NOON + timedelta(hours=9)
    with desk.services.db.read() as s:
        found = properties.planned_pickups(s, desk.ids["desk.property"])
        mine = Order.property_id == desk.ids["desk.property"], Order.state == "SCHEDULED"
        expected = {at for at in s.scalars(select(Order.pickup_at).where(*mine)) if at}
    assert found == sorted(expected)
    assert found[-1] == NOON + timedelta(hours=9)


def test_staff_who_are_disabled_or_get_another_role_lose_sign_ins_and_links(
    db: Database, staff: Staff
) -> None:
    for name, value in (("role", "manager"), ("disabled_at", NOW)):
        with db.write() as s:
            row = s.get_one(Staff, staff.id)
            sid = open_sign_in(s, staff.id, NOW)
            s.flush()
            _link, secret = invite_to_new_password(s, row, staff.id, NOW)
            s.flush()
            assert open_invitation(s, secret, NOW) is not None
            row.name = "Desk Heron"
            s.flush()
            assert sign_in_facts(s, sid, NOW), "a new name ends nothing"
            setattr(row, name, value)
        with db.write() as s:
            assert sign_in_facts(s, sid, NOW) is None
            assert open_invitation(s, secret, NOW) is None


def test_a_strangers_row_is_new_and_unverified_and_a_named_guests_stays_as_it_is(
    db: Database, staff: Staff
) -> None:
    here = staff.property_id
    with db.write() as s:
        known = store_guest(s, here, GuestDetails("Guest Heron", room="412"), NOW, staff.id)
        typed = GuestDetails("Ana", "+912227783300", "7", language="es")
        rows = [store_stranger(s, here, typed, NOW) for _ in range(2)]
        assert len({known.id, *(row.id for row in rows)}) == 3
        row = rows[0]
        assert (row.name, row.phone, row.room, row.language) == ("Ana", "+912227783300", "7", "es")
        assert (row.unverified, row.staff_id, row.created_at, row.seen_at) == (True, None, NOW, NOW)
        same = GuestDetails("Ana", "+912227783300", "7")
        assert store_guest(s, here, same, NOW, staff.id).id not in {each.id for each in rows}
        named = GuestDetails("Ana", guest_id=known.id)
        assert store_stranger(s, here, named, NOW + timedelta(days=1)) is known
        assert (known.name, known.seen_at, known.unverified) == ("Guest Heron", NOW, False)
        there = properties.add_property(s, "Harbour House", "UTC", NOW).id
        assert store_stranger(s, there, named, NOW).name == "Ana", "is no guest of theirs"


def test_a_pairing_code_is_tried_thirty_times_in_ten_minutes_from_one_address(
    db: Database,
) -> None:
    with db.write() as s:
        waits = [code_allowed(s, "10.0.0.1", NOW) for _ in range(31)]
        assert waits[:30] == [0.0] * 30
        assert waits[30] > 0
        assert code_allowed(s, "10.0.0.2", NOW) == 0.0, "each address by itself"
        long = [code_allowed(s, "f" * 64 + str(n), NOW) for n in range(31)]
        assert (long[29], long[30] > 0) == (0.0, True), "64 characters of an address count"
        assert code_allowed(s, "10.0.0.1", NOW + timedelta(minutes=11)) == 0.0
