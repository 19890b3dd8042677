"""Each guest has one row, which is found again by id, by phone, or by room and name, until the
guest is erased.
"""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from ridedash.store import guests
from ridedash.store.database.database import Database
from ridedash.store.guests import GuestDetails
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property
from tests.store.migrated import migrate
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
PHONE, OTHER = "+912227783300", "+912227783311"


class House:
    """One property and its guests."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "Asia/Kolkata", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id

    def told(self, name: str, at: datetime = NOON, house: int | None = None, **facts: Any) -> int:
        told = GuestDetails(name, **facts)
        with self.db.write() as s:
            guests.lock_guest(s, house or self.id, told)
            return guests.store_guest(s, house or self.id, told, at, None).id

    def row(self, guest_id: int) -> Guest:
        with self.db.read() as s:
            return s.get_one(Guest, guest_id)

    def found(self, typed: str) -> list[str]:
        with self.db.read() as s:
            return [guest.name for guest in guests.find(s, self.id, typed)]


@pytest.fixture
def house(database: str) -> Iterator[House]:
    made = House(database)
    yield made
    made.db.close()


def test_a_phone_finds_the_person_again_and_new_details_are_stored(house: House) -> None:
    first = house.told("Guest Heron", phone=PHONE)
    again = house.told("Guest Heron", NOON + timedelta(days=1), phone=PHONE, room="412")
    assert again == first
    row = house.row(first)
    assert (row.name, row.phone, row.room, row.seen_at) == (
        "Guest Heron",
        PHONE,
        "412",
        NOON + timedelta(days=1),
    )
    assert house.told("heron", phone=PHONE) == first
    assert house.row(first).name == "Guest Heron", "a name does not get shorter"


def test_a_shared_phone_is_no_proof_that_two_names_are_one_person(house: House) -> None:
    assert house.told("Guest Heron", phone=PHONE) != house.told("Guest Wren", phone=PHONE)


def test_no_one_is_renamed_by_a_shared_phone_or_taken_for_one_of_two(house: House) -> None:
    short = house.told("Heron", phone=PHONE)
    first = house.told("Old Heron", phone=PHONE)
    second = house.told("Young Heron", phone=PHONE)
    assert len({short, first, second}) == 3
    assert [house.row(each).name for each in (short, first, second)] == [
        "Heron",
        "Old Heron",
        "Young Heron",
    ]
    assert house.told("heron", phone=PHONE) == short, (
        "a name of its own comes before a part of another's"
    )


def test_room_and_name_find_the_person_again_while_phones_do_not_differ(house: House) -> None:
    first = house.told("Guest Heron", room="412a")
    assert house.told("guest HERON", room="412A") == first
    assert house.told("Guest Heron", room="412A", phone=PHONE) == first
    assert house.told("Guest Heron", room="412A") == first
    assert house.told("Guest Heron", room="412A", phone=OTHER) != first
    assert house.told("Guest Wren", room="412A") != first


def test_a_chosen_guest_is_that_row_while_the_typed_name_is_like_theirs(house: House) -> None:
    first = house.told("Guest Heron", room="412", note="Wheelchair")
    moved = house.told("Guest Heron", guest_id=first, room="500", phone=PHONE, note="Wheelchair")
    assert moved == first
    assert (house.row(first).room, house.row(first).phone) == ("500", PHONE)
    assert house.told("Guest Wren", guest_id=first) != first, "another name is another person"
    assert house.row(first).name == "Guest Heron"
    house.told("Guest Heron", guest_id=first)
    assert house.row(first).note is None, "the note was in the form, and somebody emptied it"


def test_no_one_is_found_in_another_property(house: House) -> None:
    first = house.told("Guest Heron", phone=PHONE, room="412")
    there = house.told("Guest Heron", house=house.other, phone=PHONE, room="412", guest_id=first)
    assert there != first
    with house.db.read() as s:
        assert guests.guest_of(s, house.other, first) is None
        assert [guest.id for guest in guests.find(s, house.other, "412")] == [there]


def test_an_erased_guest_is_neither_found_nor_made_again(house: House) -> None:
    first = house.told("Guest Heron", phone=PHONE, room="412")
    with house.db.write() as s:
        row = s.get_one(Guest, first)
        row.erased_at, row.name = NOON, "Guest 0123456789"
    assert (
        house.found("412") == house.found("heron") == house.found("0123") == house.found("") == []
    )
    assert house.told("Guest Heron", phone=PHONE, room="412", guest_id=first) != first
    with house.db.read() as s:
        assert guests.guest_of(s, house.id, first) is None


def test_the_finder_knows_rooms_phones_and_names_in_any_notation(house: House) -> None:
    house.told("José Heron", phone=PHONE, room="412")
    house.told("Guest Wren", NOON + timedelta(hours=1), room="4120")
    house.told("Guest Merlin", NOON + timedelta(hours=2), room="12", phone=OTHER)
    assert house.found("412") == ["José Heron", "Guest Wren"], (
        "the room itself, then rooms that begin so"
    )
    assert house.found("022 2778-3300") == ["José Heron"]
    assert house.found("+91 22 2778") == ["Guest Merlin", "José Heron"]
    assert house.found("jose") == ["José Heron"]
    assert house.found("GUEST w") == ["Guest Wren"]
    assert house.found("  ") == ["Guest Merlin", "Guest Wren", "José Heron"]
    for nobody in ("%", "_", "'", "x" * 500, "9999", "\\"):
        assert house.found(nobody) == []


def test_a_guest_is_found_in_letters_and_digits_of_other_scripts(house: House) -> None:
    house.told("حمامة أوزة", phone=PHONE, room="412")
    house.told("Guest Heron", room="41", phone=OTHER)
    for typed in ("حمامه", "اوزه حمامة", "٤١٢", "४१२", "٠٢٢ ٢٧٧٨ ٣٣٠٠"):
        assert house.found(typed) == ["حمامة أوزة"], typed
    assert house.told("حمامه اوزه", room="412") == house.told("حمامة أوزة", phone=PHONE)


def test_guests_whom_an_older_release_stored_are_found_after_an_upgrade(house: House) -> None:
    who = house.told("حمامة أوزة", room="412")
    house.told("Guest Heron", room="41")
    migrate(house.db, "0031", "downgrade")
    with house.db.write() as s:
        s.execute(text("UPDATE guests SET room = '٤١٢' WHERE room = '412'"))
    assert house.found("حمامه") == house.found("412") == []
    for _time in range(2):
        migrate(house.db, "0031", "upgrade")
        assert house.found("حمامه") == house.found("412") == ["حمامة أوزة"]
        assert house.found("heron") == ["Guest Heron"]
    assert house.told("حمامه اوزه", room="412") == who


def test_two_desks_that_write_down_one_new_guest_make_one_row(house: House) -> None:
    start, made = threading.Barrier(2), []

    def write() -> None:
        start.wait()
        made.append(house.told("Guest Heron", phone=PHONE))

    desks = [threading.Thread(target=write) for _ in range(2)]
    for desk in desks:
        desk.start()
    for desk in desks:
        desk.join()
    assert len(set(made)) == 1


@pytest.mark.sqlite_only  # SQLite's query plan is readable text
def test_among_twenty_thousand_guests_no_search_reads_the_whole_table(house: House) -> None:
    plans = []
    with house.db.read() as s:
        for which in (*guests._ways(house.id, "412"), *guests._ways(house.id, "heron")):
            query = guests._mine(house.id).where(which).limit(8)
            compiled = str(query.compile(s.connection(), compile_kwargs={"literal_binds": True}))
            plans += [
                row.detail
                for row in s.execute(text("EXPLAIN QUERY PLAN " + compiled.replace(":", r"\:")))
            ]
    assert not [plan for plan in plans if plan.startswith("SCAN guests") and "INDEX" not in plan]
    with house.db.read() as s:
        assert s.scalars(select(Guest)).all() == []


@pytest.mark.parametrize("sign", ["…", "!!!", "?"])
def test_a_name_without_a_word_is_like_itself_alone(sign: str) -> None:
    assert guests.alike(sign, sign)
    assert not guests.alike(sign, "Guest Heron")
    assert not guests.alike("Guest Heron", sign)


def test_a_phone_does_not_make_a_name_without_a_word_another_person(house: House) -> None:
    heron = house.told("Guest Heron", phone=PHONE)
    assert house.told("…", phone=PHONE) != heron
    assert house.row(heron).name == "Guest Heron"


def test_the_name_is_as_it_was_spelt_last_and_what_is_not_stated_stays(house: House) -> None:
    first = house.told("Jose Garcia", phone=PHONE, note="Wheelchair", language="es")
    assert house.told("José García", phone=PHONE) == first
    row = house.row(first)
    assert (row.name, row.note, row.language) == ("José García", "Wheelchair", "es")


def test_the_beginning_of_a_room_is_found_in_any_case_of_its_letters(house: House) -> None:
    house.told("Guest Heron", room="Tower 12")
    house.told("Guest Wren", NOON + timedelta(hours=1), room="t%wer")
    for typed in ("tow", "TOWER 1", "Tower"):
        assert house.found(typed) == ["Guest Heron"], typed
    assert house.found("T%") == ["Guest Wren"]


def test_a_room_alone_or_a_name_alone_is_no_proof_of_a_person(house: House) -> None:
    first = house.told("Guest Heron", room="412")
    assert house.told("Guest Heron", room="500") != first
    assert house.told("Heron", room="412") != first, "a couple often has one name"


def test_what_a_request_says_anew_of_a_guest_is_known(house: House) -> None:
    row = house.row(house.told("Guest Heron", phone=PHONE, room="412"))
    for new, told in (
        (False, GuestDetails("Heron", PHONE)),
        (False, GuestDetails("Guest Heron", PHONE, "412")),
        (True, GuestDetails("Guest Heron", PHONE, "500")),
        (True, GuestDetails("Young Guest Heron", PHONE)),
        (True, GuestDetails("Guest Heron", note="Wheelchair")),
    ):
        assert guests.has_new_details(row, told) is new, told


def test_a_finder_shows_each_guest_once_and_strangers_behind_all_others(house: House) -> None:
    with house.db.write() as s:
        typed = GuestDetails("Guest Ana", room="412")
        guests.store_stranger(s, house.id, typed, NOON + timedelta(hours=9))
        s.add(Guest(property_id=house.id, name="Guest Nobody", created_at=NOON))
    house.told("Guest Heron", NOON + timedelta(hours=1), room="412")
    house.told("Guest Wren", room="4120")
    named = ["Guest Heron", "Guest Wren", "Guest Ana"]
    for typed_text in ("412", ""):
        for limit in (1, 2, 3):
            with house.db.read() as s:
                found = guests.find(s, house.id, typed_text, limit)
            assert [guest.name for guest in found] == named[:limit], (typed_text, limit)


def test_eight_guests_are_shown_and_a_long_text_is_cut_as_names_are(house: House) -> None:
    for number in range(9):
        house.told("h" * 120, room=f"4{number}")
    assert len(house.found("")) == len(house.found("4")) == len(house.found("h" * 121)) == 8


def test_a_guest_whom_staff_choose_among_strangers_is_verified_by_that(house: House) -> None:
    with house.db.write() as s:
        typed = GuestDetails("Guest Ana", PHONE)
        stranger = guests.store_stranger(s, house.id, typed, NOON).id
    assert house.told("Guest Ana", phone=PHONE) != stranger
    assert house.told("Guest Ana", guest_id=stranger) == stranger
    assert house.row(stranger).unverified is False


def test_a_guest_usually_goes_to_the_last_places_each_once(desk: Desk) -> None:
    def goes(kind: str, name: str | None, **facts: Any) -> int:
        return desk.order("BOOKED", kind=kind, drop_name=name, **facts)

    orders = [goes("share", "Forgotten"), goes("point_to_point", "Pier")]
    orders += [goes("point_to_point", None), goes("point_to_point", "Nowhere", drop_lat=None)]
    for name in ("Fort", "Fort", "Fort", "Airport", "Airport", "Harbour", "Harbour"):
        orders.append(goes("point_to_point", name))
    orders += [goes("point_to_point", None), goes("auto", "Harbour")]
    alone = goes("share", "Elsewhere")
    with desk.services.db.write() as s:
        guest = s.get_one(Order, orders[0]).guest_id
        for order_id in orders[1:]:
            s.get_one(Order, order_id).guest_id = guest
        s.flush()
        found = guests.usual(s, guest)
        assert found.category == "auto"
        assert [name for name, _, _ in found.places] == ["Harbour", "Airport", "Fort"]
        assert found.places[0][1:] == (-38.48, -127.97)
        theirs = guests.usual(s, s.get_one(Order, alone).guest_id)
        assert (theirs.category, [each[0] for each in theirs.places]) == ("share", ["Elsewhere"])
        assert guests.usual(s, 10**6) == guests.Usual()


def test_on_postgresql_a_lock_is_of_one_phone_or_else_of_one_room_and_name(house: House) -> None:
    if house.db.dialect == "sqlite":
        pytest.skip("it has one writer at a time")

    def locks(*told: tuple[int, GuestDetails]) -> int:
        """How many different locks a transaction holds for these guests."""
        with house.db.write() as s:
            for where, details in told:
                guests.lock_guest(s, where, details)
            held = text(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                "AND pid = pg_backend_pid()"
            )
            return s.scalar(held) or 0

    heron, room = GuestDetails("Heron", PHONE), GuestDetails("Guest Heron", room="412")
    assert locks((house.id, heron)) == 1
    assert locks((house.id, heron), (house.id, GuestDetails("Wren", PHONE, "7"))) == 1
    assert locks((house.id, heron), (house.id, GuestDetails("Heron", OTHER))) == 2
    assert locks((house.id, heron), (house.other, heron)) == 2
    assert locks((house.id, room), (house.id, GuestDetails("guest HERON", room="412"))) == 1
    assert locks((house.id, room), (house.id, GuestDetails("Guest Heron", room="413"))) == 2
    many = [(house.id, GuestDetails("Heron", f"+9122277833{n:02}")) for n in range(40)]
    assert locks(*many) == 40, "whatever the sign of the number that a lock has"
