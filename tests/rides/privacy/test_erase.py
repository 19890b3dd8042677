"""Erasing a guest: no column, no text and no byte of the file keeps the name, phone or room."""

import unicodedata
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.privacy.erase import ErasedGuest, NotCompacted, StillRiding, erase
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import Action, Order, Ride
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property
from tests.rides.desk_world import START, World
from tests.rides.privacy.ended_rides import KEY, NAME, PHONE, ROOM, guest_of, hits, ridden, ride_of

pytestmark = pytest.mark.database


def erased(world: World, **who: str | None) -> tuple[int, int]:
    return erase(world.db, world.clock, KEY, ErasedGuest(world.property_id, **who))


def test_a_guest_is_erased_by_the_second_phone_too(world: World) -> None:
    order_id = ridden(world, phone=PHONE)
    with world.db.write() as s:
        s.get_one(Guest, guest_of(world, order_id).id).phone2 = "+442079460958"
    assert erased(world, phone="+442079460958") == (1, 1)
    assert hits(world, NAME, PHONE, "442079460958") == set()


def test_a_number_with_an_extension_is_erased_by_the_number_alone(world: World) -> None:
    ridden(world, phone=f"{PHONE};ext=12")
    assert erased(world, phone=PHONE) == (1, 1)
    assert hits(world, NAME, PHONE) == set()


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


@pytest.mark.parametrize(
    ("name", "typed", "written"),
    [
        ("Łukasz Kot", "Lukasz Kot", "KOT, Lukasz"),
        ("Lukasz Kot", "Kot Łukasz", "Łukasz Kot"),
        ("Jürgen Müller", "Juergen Mueller", "Mueller, Jurgen"),
        ("Mueller", "Müller", "muller"),
        ("Ann O'Brien", "OBrien, Ann", "Ann O’Brien"),
        ("Hassan al-Rashid", "alrashid hassan", "Hassan Al Rashid"),
        ("Æthelred Heron", "Aethelred Heron", "æthelred  heron"),
        ("山田 太郎", "山田太郎", "山田　太郎"),
        ("山田太郎", "山田　太郎", "山田 太郎"),
        ("فاطمة", "فاطمه", "فَاطِمَة"),
    ],
)
def test_a_guest_is_erased_in_any_spelling_of_the_name(
    world: World, name: str, typed: str, written: str
) -> None:
    order_id = ridden(world, name, phone=None, room="4 B")
    other = ridden(world, "Guest Other", phone=None, room="4 B")
    with world.db.write() as s:
        s.execute(update(ShiftNote).values(text=f"Ring {written}, not Mullerin"))
        s.execute(update(Action).values(payload={"reason": "x"}))
    assert erased(world, name=typed, room="4b") == (1, 1)
    assert guest_of(world, order_id).name != name
    assert guest_of(world, other).name == "Guest Other"
    with world.db.read() as s:
        assert {note.text for note in s.query(ShiftNote)} == {"Ring [erased], not Mullerin"}


def test_a_japanese_name_goes_from_a_text_without_spaces(world: World) -> None:
    ridden(world, "山田 太郎", phone=None, room="4")
    with world.db.write() as s:
        s.execute(update(ShiftNote).values(text="山田太郎様の荷物、山田 太郎へ"))
    assert erased(world, name="山田太郎", room="4") == (1, 1)
    with world.db.read() as s:
        assert {note.text for note in s.query(ShiftNote)} == {"[erased]様の荷物、[erased]へ"}


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
        action = s.scalars(select(Action).where(mine)).one()
    assert action.payload == {"reason": "[erased] takes this car", "armed": True}
    assert action.text == "for [erased]"


def test_a_guest_with_an_open_order_is_not_erased(world: World) -> None:
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


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("Xi", "[erased] X Xiao"),  # a name of two letters is erased
        ("X", "Xi X Xiao"),  # a single letter occurs in too many texts
        ("Xi X", "[erased] Xiao"),
    ],
)
def test_a_name_goes_as_whole_words_and_one_letter_is_left(
    world: World, name: str, left: str
) -> None:
    ridden(world, name=name, phone=None)
    note(world, "Xi X Xiao")
    assert erased(world, name=name, room=ROOM) == (1, 1)
    assert notes(world) == [left]


@pytest.mark.parametrize(
    ("phone", "left"),
    [
        ("+999123", "Ring 99-91 23 or 999 1234"),  # so short a number might be anybody's
        ("+9991234", "Ring 99-91 23 or [erased]"),  # no country has the code 999
    ],
)
def test_a_number_goes_in_any_spacing_unless_it_is_too_short(
    world: World, phone: str, left: str
) -> None:
    ridden(world, phone=phone)
    note(world, "Ring 99-91 23 or 999 1234")
    assert erased(world, phone=phone) == (1, 1)
    assert notes(world) == [left]


def test_texts_of_another_property_stay_as_they_are(world: World) -> None:
    ridden(world)
    with world.db.write() as s:
        theirs = add_property(s, "Second House", "Asia/Kolkata", START).id
        s.execute(update(ShiftNote).values(property_id=theirs, text=f"Call {NAME}"))
    assert erased(world, phone=PHONE) == (1, 1)
    assert notes(world) == [f"Call {NAME}"]


def test_a_guest_whose_ride_is_followed_for_its_price_is_not_erased(world: World) -> None:
    order_id = ridden(world)
    with world.db.write() as s:
        s.execute(update(Ride).values(next_poll_at=START))
    with pytest.raises(StillRiding):
        erased(world, phone=PHONE)
    assert guest_of(world, order_id).phone == PHONE


def test_a_guest_who_was_erased_is_not_found_again(world: World) -> None:
    ridden(world)
    assert erased(world, phone=PHONE) == (1, 1)
    with world.db.write() as s:
        s.execute(update(Guest).values(phone=PHONE))
    assert erased(world, phone=PHONE) == (0, 0)


def note(world: World, written: str) -> None:
    with world.db.write() as s:
        s.execute(update(ShiftNote).values(text=written))


def notes(world: World) -> list[str]:
    with world.db.read() as s:
        return list(s.scalars(select(ShiftNote.text)))
