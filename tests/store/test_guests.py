"""Each guest has one row, which is found again by id, by phone, or by room and name, until the
guest is erased.
"""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from ridedash.names import begins
from ridedash.store import guests
from ridedash.store.database.database import Database
from ridedash.store.guests import GuestDetails
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property
from tests.names import ONE_NAME
from tests.store.migrated import migrate
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
PHONE, OTHER = "+912227783300", "+912227783311"


class PropertyFixture:
    """One property and its guests."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "Asia/Kolkata", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id

    def stored_guest(
        self, name: str, at: datetime = NOON, property_id: int | None = None, **facts: Any
    ) -> int:
        details = GuestDetails(name, **facts)
        with self.db.write() as s:
            guests.lock_guest(s, property_id or self.id, details)
            return guests.store_guest(s, property_id or self.id, details, at, None).id

    def row(self, guest_id: int) -> Guest:
        with self.db.read() as s:
            return s.get_one(Guest, guest_id)

    def found(self, typed: str) -> list[str]:
        with self.db.read() as s:
            return [guest.name for guest in guests.find(s, self.id, typed)]


@pytest.fixture
def prop(database: str) -> Iterator[PropertyFixture]:
    made = PropertyFixture(database)
    yield made
    made.db.close()


def test_a_phone_finds_the_person_again_and_new_details_are_stored(prop: PropertyFixture) -> None:
    first = prop.stored_guest("Guest Heron", phone=PHONE)
    again = prop.stored_guest("Guest Heron", NOON + timedelta(days=1), phone=PHONE, room="412")
    assert again == first
    row = prop.row(first)
    assert (row.name, row.phone, row.room, row.seen_at) == (
        "Guest Heron",
        PHONE,
        "412",
        NOON + timedelta(days=1),
    )
    assert prop.stored_guest("heron", phone=PHONE) == first
    assert prop.row(first).name == "Guest Heron", "a name does not get shorter"


def test_a_shared_phone_is_no_proof_that_two_names_are_one_person(prop: PropertyFixture) -> None:
    assert prop.stored_guest("Guest Heron", phone=PHONE) != prop.stored_guest(
        "Guest Wren", phone=PHONE
    )


def test_no_one_is_renamed_by_a_shared_phone_or_taken_for_one_of_two(prop: PropertyFixture) -> None:
    short = prop.stored_guest("Heron", phone=PHONE)
    first = prop.stored_guest("Old Heron", phone=PHONE)
    second = prop.stored_guest("Young Heron", phone=PHONE)
    assert len({short, first, second}) == 3
    assert [prop.row(each).name for each in (short, first, second)] == [
        "Heron",
        "Old Heron",
        "Young Heron",
    ]
    assert prop.stored_guest("heron", phone=PHONE) == short, (
        "a name of its own comes before a part of another's"
    )


def test_room_and_name_find_the_person_again_while_phones_do_not_differ(
    prop: PropertyFixture,
) -> None:
    first = prop.stored_guest("Guest Heron", room="412a")
    assert prop.stored_guest("guest HERON", room="412A") == first
    assert prop.stored_guest("Guest Heron", room="412A", phone=PHONE) == first
    assert prop.stored_guest("Guest Heron", room="412A") == first
    assert prop.stored_guest("Guest Heron", room="412A", phone=OTHER) != first
    assert prop.stored_guest("Guest Wren", room="412A") != first


def test_a_chosen_guest_is_that_row_while_the_typed_name_is_like_theirs(
    prop: PropertyFixture,
) -> None:
    first = prop.stored_guest("Guest Heron", room="412", note="Wheelchair")
    moved = prop.stored_guest(
        "Guest Heron", guest_id=first, room="500", phone=PHONE, note="Wheelchair"
    )
    assert moved == first
    assert (prop.row(first).room, prop.row(first).phone) == ("500", PHONE)
    assert prop.stored_guest("Guest Wren", guest_id=first) != first, (
        "another name is another person"
    )
    assert prop.row(first).name == "Guest Heron"
    prop.stored_guest("Guest Heron", guest_id=first)
    assert prop.row(first).note is None, "the note was in the form, and the user emptied it"


def test_no_one_is_found_in_another_property(prop: PropertyFixture) -> None:
    first = prop.stored_guest("Guest Heron", phone=PHONE, room="412")
    there = prop.stored_guest(
        "Guest Heron", property_id=prop.other, phone=PHONE, room="412", guest_id=first
    )
    assert there != first
    with prop.db.read() as s:
        assert guests.guest_of(s, prop.other, first) is None
        assert [guest.id for guest in guests.find(s, prop.other, "412")] == [there]


def test_an_erased_guest_is_neither_found_nor_made_again(prop: PropertyFixture) -> None:
    first = prop.stored_guest("Guest Heron", phone=PHONE, room="412")
    with prop.db.write() as s:
        row = s.get_one(Guest, first)
        row.erased_at, row.name = NOON, "Guest 0123456789"
    assert prop.found("412") == prop.found("heron") == prop.found("0123") == prop.found("") == []
    assert prop.stored_guest("Guest Heron", phone=PHONE, room="412", guest_id=first) != first
    with prop.db.read() as s:
        assert guests.guest_of(s, prop.id, first) is None


def test_the_finder_knows_rooms_phones_and_names_in_any_notation(prop: PropertyFixture) -> None:
    prop.stored_guest("José Heron", phone=PHONE, room="412")
    prop.stored_guest("Guest Wren", NOON + timedelta(hours=1), room="4120")
    prop.stored_guest("Guest Merlin", NOON + timedelta(hours=2), room="12", phone=OTHER)
    assert prop.found("412") == ["José Heron", "Guest Wren"], (
        "the room itself, then rooms that begin so"
    )
    assert prop.found("022 2778-3300") == ["José Heron"]
    assert prop.found("+91 22 2778") == ["Guest Merlin", "José Heron"]
    assert prop.found("jose") == ["José Heron"]
    assert prop.found("GUEST w") == ["Guest Wren"]
    assert prop.found("  ") == ["Guest Merlin", "Guest Wren", "José Heron"]
    for unmatched in ("%", "_", "'", "x" * 500, "9999", "\\"):
        assert prop.found(unmatched) == []


def test_a_guest_is_found_in_letters_and_digits_of_other_scripts(prop: PropertyFixture) -> None:
    prop.stored_guest("حمامة أوزة", phone=PHONE, room="412")
    prop.stored_guest("Guest Heron", room="41", phone=OTHER)
    for typed in ("حمامه", "اوزه حمامة", "٤١٢", "४१२", "٠٢٢ ٢٧٧٨ ٣٣٠٠"):
        assert prop.found(typed) == ["حمامة أوزة"], typed
    assert prop.stored_guest("حمامه اوزه", room="412") == prop.stored_guest(
        "حمامة أوزة", phone=PHONE
    )


def test_guests_whom_an_older_release_stored_are_found_after_an_upgrade(
    prop: PropertyFixture,
) -> None:
    who = prop.stored_guest("حمامة أوزة", room="412")
    prop.stored_guest("Guest Heron", room="41")
    migrate(prop.db, "0031", "downgrade")
    with prop.db.write() as s:
        s.execute(text("UPDATE guests SET room = '٤١٢' WHERE room = '412'"))
    assert prop.found("حمامه") == prop.found("412") == []
    for _time in range(2):
        migrate(prop.db, "0031", "upgrade")
        assert prop.found("حمامه") == prop.found("412") == ["حمامة أوزة"]
        assert prop.found("heron") == ["Guest Heron"]
    assert prop.stored_guest("حمامه اوزه", room="412") == who


@pytest.mark.parametrize("language", ONE_NAME)
def test_a_guest_has_one_row_and_is_suggested_in_any_spelling_of_the_name(
    prop: PropertyFixture, language: str
) -> None:
    for number, row in enumerate(ONE_NAME[language]):
        room = f"4{number}"
        assert len({prop.stored_guest(each, room=room) for each in row}) == 1, row
        if begins(row[0]):
            assert [each for each in row if row[-1] not in prop.found(each)] == []


def test_a_family_that_shares_a_phone_has_one_row_for_each_in_any_spelling(
    prop: PropertyFixture,
) -> None:
    jurgen = prop.stored_guest("Jürgen Müller", phone=PHONE)
    ann = prop.stored_guest("Ann O'Brien", phone=PHONE)
    assert prop.stored_guest("Mueller, Juergen", phone=PHONE) == jurgen
    assert prop.stored_guest("MUELLER", phone=PHONE) == jurgen
    assert prop.stored_guest("obrien ann", phone=PHONE) == ann
    assert prop.stored_guest("Annie O’Brien", phone=PHONE) not in (ann, jurgen)


def test_guests_of_an_older_release_are_one_person_in_any_spelling_after_an_upgrade(
    prop: PropertyFixture,
) -> None:
    who = prop.stored_guest("Łukasz O'Brien", room="412")
    migrate(prop.db, "0041", "downgrade")
    with prop.db.engine.connect() as line:
        assert line.scalars(text("SELECT folded FROM guests")).all() == [" łukasz o brien"]
    for _time in range(2):
        migrate(prop.db, "0041", "upgrade")
        assert prop.found("lukasz obrien") == ["Łukasz O'Brien"]
    assert prop.stored_guest("OBrien Lukasz", room="412") == who


def test_two_desks_that_write_down_one_new_guest_make_one_row(prop: PropertyFixture) -> None:
    start, made = threading.Barrier(2), []

    def write() -> None:
        start.wait()
        made.append(prop.stored_guest("Guest Heron", phone=PHONE))

    desks = [threading.Thread(target=write) for _ in range(2)]
    for desk in desks:
        desk.start()
    for desk in desks:
        desk.join()
    assert len(set(made)) == 1


@pytest.mark.sqlite_only  # SQLite's query plan is readable text
def test_among_twenty_thousand_guests_no_search_reads_the_whole_table(
    prop: PropertyFixture,
) -> None:
    plans = []
    with prop.db.read() as s:
        for which in (*guests._ways(prop.id, "412"), *guests._ways(prop.id, "heron")):
            query = guests._mine(prop.id).where(which).limit(8)
            compiled = str(query.compile(s.connection(), compile_kwargs={"literal_binds": True}))
            plans += [
                row.detail
                for row in s.execute(text("EXPLAIN QUERY PLAN " + compiled.replace(":", r"\:")))
            ]
    assert not [plan for plan in plans if plan.startswith("SCAN guests") and "INDEX" not in plan]
    with prop.db.read() as s:
        assert s.scalars(select(Guest)).all() == []


@pytest.mark.parametrize("whole", ["Guest Grey Heron", "Heron Guest"])
def test_a_name_is_like_one_that_has_all_of_its_words(whole: str) -> None:
    assert guests.alike(whole, "Heron")
    assert guests.alike("Heron", whole)
    assert not guests.alike(whole, "Heron Wren")


@pytest.mark.parametrize("sign", ["…", "!!!", "?"])
def test_a_name_without_a_word_is_like_itself_alone(sign: str) -> None:
    assert guests.alike(sign, sign)
    assert not guests.alike(sign, "Guest Heron")
    assert not guests.alike("Guest Heron", sign)


def test_a_phone_does_not_make_a_name_without_a_word_another_person(prop: PropertyFixture) -> None:
    heron = prop.stored_guest("Guest Heron", phone=PHONE)
    assert prop.stored_guest("…", phone=PHONE) != heron
    assert prop.row(heron).name == "Guest Heron"


def test_the_name_is_as_it_was_spelt_last_and_what_is_not_stated_stays(
    prop: PropertyFixture,
) -> None:
    first = prop.stored_guest("Jose Garcia", phone=PHONE, note="Wheelchair", language="es")
    assert prop.stored_guest("José García", phone=PHONE) == first
    row = prop.row(first)
    assert (row.name, row.note, row.language) == ("José García", "Wheelchair", "es")


def test_the_beginning_of_a_room_is_found_in_any_case_of_its_letters(prop: PropertyFixture) -> None:
    prop.stored_guest("Guest Heron", room="Tower 12")
    prop.stored_guest("Guest Wren", NOON + timedelta(hours=1), room="t%wer")
    for typed in ("tow", "TOWER 1", "Tower"):
        assert prop.found(typed) == ["Guest Heron"], typed
    assert prop.found("T%") == ["Guest Wren"]


def test_a_room_alone_or_a_name_alone_is_no_proof_of_a_person(prop: PropertyFixture) -> None:
    first = prop.stored_guest("Guest Heron", room="412")
    assert prop.stored_guest("Guest Heron", room="500") != first
    assert prop.stored_guest("Heron", room="412") != first, "a couple often has one name"


def test_what_a_request_says_anew_of_a_guest_is_known(prop: PropertyFixture) -> None:
    row = prop.row(prop.stored_guest("Guest Heron", phone=PHONE, room="412"))
    for new, details in (
        (False, GuestDetails("Heron", PHONE)),
        (False, GuestDetails("Guest Heron", PHONE, "412")),
        (True, GuestDetails("Guest Heron", PHONE, "500")),
        (True, GuestDetails("Young Guest Heron", PHONE)),
        (True, GuestDetails("Guest Heron", note="Wheelchair")),
    ):
        assert guests.has_new_details(row, details) is new, details


def test_a_finder_shows_each_guest_once_and_strangers_behind_all_others(
    prop: PropertyFixture,
) -> None:
    with prop.db.write() as s:
        typed = GuestDetails("Guest Ana", room="412")
        guests.store_stranger(s, prop.id, typed, NOON + timedelta(hours=9))
        s.add(Guest(property_id=prop.id, name="Guest Nobody", created_at=NOON))
    prop.stored_guest("Guest Heron", NOON + timedelta(hours=1), room="412")
    prop.stored_guest("Guest Wren", room="4120")
    named = ["Guest Heron", "Guest Wren", "Guest Ana"]
    for typed_text in ("412", ""):
        for limit in (1, 2, 3):
            with prop.db.read() as s:
                found = guests.find(s, prop.id, typed_text, limit)
            assert [guest.name for guest in found] == named[:limit], (typed_text, limit)


def test_eight_guests_are_shown_and_a_long_text_is_cut_as_names_are(prop: PropertyFixture) -> None:
    for number in range(9):
        prop.stored_guest("h" * 120, room=f"4{number}")
    assert len(prop.found("")) == len(prop.found("4")) == len(prop.found("h" * 121)) == 8


def test_a_guest_whom_staff_choose_among_strangers_is_verified_by_that(
    prop: PropertyFixture,
) -> None:
    with prop.db.write() as s:
        typed = GuestDetails("Guest Ana", PHONE)
        stranger = guests.store_stranger(s, prop.id, typed, NOON).id
    assert prop.stored_guest("Guest Ana", phone=PHONE) != stranger
    assert prop.stored_guest("Guest Ana", guest_id=stranger) == stranger
    assert prop.row(stranger).unverified is False


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


def test_on_postgresql_a_lock_is_of_one_phone_or_else_of_one_room_and_name(
    prop: PropertyFixture,
) -> None:
    if prop.db.dialect == "sqlite":
        pytest.skip("it has one writer at a time")

    def locks(*locked_guests: tuple[int, GuestDetails]) -> int:
        """How many different locks a transaction holds for these guests."""
        with prop.db.write() as s:
            for where, details in locked_guests:
                guests.lock_guest(s, where, details)
            held = text(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                "AND pid = pg_backend_pid()"
            )
            return s.scalar(held) or 0

    heron, room = GuestDetails("Heron", PHONE), GuestDetails("Guest Heron", room="412")
    assert locks((prop.id, heron)) == 1
    assert locks((prop.id, heron), (prop.id, GuestDetails("Wren", PHONE, "7"))) == 1
    assert locks((prop.id, heron), (prop.id, GuestDetails("Heron", OTHER))) == 2
    assert locks((prop.id, heron), (prop.other, heron)) == 2
    assert locks((prop.id, room), (prop.id, GuestDetails("guest HERON", room="412"))) == 1
    assert locks((prop.id, room), (prop.id, GuestDetails("Guest Heron", room="413"))) == 2
    many = [(prop.id, GuestDetails("Heron", f"+9122277833{n:02}")) for n in range(40)]
    assert locks(*many) == 40, "whatever the sign of the number that a lock has"
