"""Search by indexes: what a typed text means, in which property, and which orders come first."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert, select

from ridedash.names import begins, found_by
from ridedash.store import search
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Offer, Order, Ride
from ridedash.store.models.people import Account, Guest
from ridedash.store.properties import add_property
from ridedash.store.search import find_orders, guests_like, phone_digits, spellings
from tests.names import ONE_NAME
from tests.rides.tracking.played import START, row_of
from tests.store.migrated import migrate

pytestmark = pytest.mark.database


class PropertyFixture:
    """Two properties, and orders in bare rows, which no search text matches by chance."""

    def __init__(self, url: str) -> None:
        self.db, self.numbers = Database(url), itertools.count(1)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "UTC", START).id
            self.other = add_property(s, "Other Hotel", "UTC", START).id
            account = row_of(Account, property_id=self.id, created_at=START)
            self.account = s.execute(insert(Account).returning(Account.id), account).scalar_one()
            offer = row_of(Offer, property_id=self.id, fetched_at=START, kind="auto")
            self.offer = s.execute(insert(Offer).returning(Offer.id), offer).scalar_one()

    def guest(
        self, name: str = "Q", phone: str | None = None, property_id: int | None = None
    ) -> int:
        ours = {"property_id": property_id or self.id, "created_at": START}
        guest = row_of(Guest, **ours, name=name, phone=phone, folded=found_by(name))
        with self.db.write() as s:
            return s.execute(insert(Guest).returning(Guest.id), guest).scalar_one()

    def order(
        self, state: str = "BOOKED", plate: str | None = None, live: bool = False, **facts: Any
    ) -> int:
        number, property_id = next(self.numbers), facts.pop("property_id", self.id)
        ours = {"property_id": property_id, "account_id": self.account, "created_at": START}
        given = {name: facts.pop(name) for name in ("name", "phone") if name in facts}
        guest_id = facts.pop("guest_id", None) or self.guest(**given, property_id=property_id)
        columns = {"form_token": f"token-{number}", "mtx": f"ZZ-{number:06}", "due_at": START}
        columns |= {"state": state, "offer_id": self.offer, "guest_id": guest_id, "open": False}
        columns |= {"happens_at": START}
        with self.db.write() as s:
            order = row_of(Order, **ours, **(columns | facts))
            order_id: int = s.execute(insert(Order).returning(Order.id), order).scalar_one()
            due = START if live else None
            ride = row_of(Ride, **ours, order_id=order_id, plate=plate, next_poll_at=due)
            s.execute(insert(Ride), ride)
        return order_id

    def found(self, text: str, limit: int = 20) -> list[int]:
        with self.db.read() as s:
            return find_orders(s, self.id, text, limit)


@pytest.fixture
def prop(database: str) -> Iterator[PropertyFixture]:
    made = PropertyFixture(database)
    yield made
    made.db.close()


LIVE = pytest.mark.parametrize("live", [True, False], ids=["live", "over"])


@LIVE
def test_a_plate_is_found_by_three_of_its_characters_and_by_no_fewer(
    prop: PropertyFixture, live: bool
) -> None:
    wanted = prop.order(plate="KA05XY7788", live=live)
    prop.order(plate="MH12QQ1234", live=live)
    for text in ("KA05XY7788", "ka 05 xy-7788", "788", "a05", "05X"):
        assert prop.found(text) == [wanted], text
    for text in ("88", "05", "KAX", "7787"):
        assert prop.found(text) == [], text


@LIVE
def test_a_plate_is_not_found_by_letters_alone_which_are_a_name(
    prop: PropertyFixture, live: bool
) -> None:
    prop.order(plate="ABC123", live=live)
    assert prop.found("abc") == []


@LIVE
@pytest.mark.parametrize("column", ["booking_id", "mtx"])
def test_a_number_is_found_by_three_or_more_of_its_first_characters(
    prop: PropertyFixture, column: str, live: bool
) -> None:
    wanted = prop.order(live=live, **{column: "CRN9941"})
    prop.order(live=live, **{column: "CRN77"})
    for text in ("CRN9941", "crn9941", "CRN 99", " crn 99 41 ", "CRN9"):
        assert prop.found(text) == [wanted], text
    assert len(prop.found("CRN")) == 2
    for text in ("CR", "RN9941", "CRN99410", "CRN_9", "CR%"):
        assert prop.found(text) == [], text


@LIVE
def test_a_phone_is_found_by_four_digits_in_any_notation(prop: PropertyFixture, live: bool) -> None:
    wanted = prop.order(phone="+912227783300", live=live)
    prop.order(phone="+912227784411", live=live)
    for text in ("3300", "022 2778 3300", "+91 (0)22 2778-3300", "2778.3300", "0 3300"):
        assert prop.found(text) == [wanted], text
    assert prop.found("300") == []
    assert prop.found("03300 Q9") == []


@LIVE
def test_a_name_is_found_by_the_beginnings_of_its_words_all_of_them(
    prop: PropertyFixture, live: bool
) -> None:
    wanted = prop.order(name="José García-Ruiz", live=live)
    prop.order(name="José Wren", live=live)
    for text in ("garcia", "GARC", "jos rui", "ruiz  JOSE"):
        assert prop.found(text) == [wanted], text
    for text in ("arcia", "jose heron", "%", "j_se", "-"):
        assert prop.found(text) == [], text


@LIVE
def test_letters_and_digits_of_other_scripts_find_what_they_mean(
    prop: PropertyFixture, live: bool
) -> None:
    wanted = prop.order(
        name="حمامة أوزة", phone="+912227783300", room="412", plate="KA01AB1234", live=live
    )
    prop.order(name="نورس", room="41", live=live)
    texts = (
        "حمامه",
        "اوز",
        "٤١٢",
        "۴۱۲",
        "४१२",
        "４１２",
        "٣٣٠٠",
        "٠٢٢ ٢٧٧٨ ٣٣٠٠",
        "ＫＡ٠١",
        "١٢٣٤",
    )
    assert [text for text in texts if prop.found(text) != [wanted]] == []


@LIVE
@pytest.mark.parametrize("language", ONE_NAME)
def test_a_ride_is_found_by_any_spelling_of_its_guests_name(
    prop: PropertyFixture, language: str, live: bool
) -> None:
    rides = [(row, prop.order(name=row[0], live=live)) for row in ONE_NAME[language]]
    for row, wanted in rides:
        if begins(row[0]):
            assert [typed for typed in row if wanted not in prop.found(typed)] == []


@LIVE
def test_one_chinese_character_finds_the_names_that_have_it(
    prop: PropertyFixture, live: bool
) -> None:
    wang, ming = prop.order(name="王小明", live=live), prop.order(name="李　明", live=live)
    for typed, found in (("王", [wang]), ("小", [wang]), ("明", [ming, wang]), ("李明", [ming])):
        assert prop.found(typed) == found, typed


def test_a_plate_that_an_older_release_stored_is_found_after_an_upgrade(
    prop: PropertyFixture,
) -> None:
    wanted = prop.order(plate="ＫＡ٠١AB١٢٣٤")
    assert prop.found("KA01AB1234") == []
    for _time in range(2):
        migrate(prop.db, "0031", "upgrade")
        assert prop.found("KA01AB1234") == prop.found("ka ٠١") == [wanted]


def test_a_room_is_found_in_other_cases_and_by_its_beginning_while_the_ride_goes_on(
    prop: PropertyFixture,
) -> None:
    over, live = prop.order(room="PH-1"), prop.order(room="PH-12", live=True)
    assert prop.found("ph-1") == [live, over]
    assert prop.found("PH-") == [live]
    assert prop.found("Ph-12") == [live]
    for text in ("H-1", "PH_1", "P%"):
        assert prop.found(text) == [], text
    assert spellings("pH-1") == ["PH-1", "Ph-1", "pH-1", "ph-1"]


@LIVE
def test_nothing_of_another_property_is_ever_found(prop: PropertyFixture, live: bool) -> None:
    facts = {"name": "Guest Heron", "phone": "+912227783300", "plate": "KA05XY7788"}
    numbers = {"room": "412", "booking_id": "CRN9941", "mtx": "RD-ABCDEF"}
    for state in ("BOOKED", "UNKNOWN"):
        for letter in "ab" if state == "BOOKED" else "cd":
            own = {name: value + letter for name, value in numbers.items() if name != "room"}
            prop.order(state, live=live, property_id=prop.other, **facts, **own, room="412")
    for text in ("heron", "27783300", "KA05XY7788", "412", "CRN9941", "RD-ABC"):
        assert prop.found(text) == [], text
    prop.order(**facts, **numbers, live=live)
    for text in ("heron", "27783300", "KA05XY7788", "412", "CRN9941", "RD-ABC"):
        assert len(prop.found(text)) == 1, text


def test_what_is_not_over_comes_first_then_the_newest_up_to_the_limit(
    prop: PropertyFixture,
) -> None:
    unknown = prop.order("UNKNOWN", name="Guest Heron")
    over = [prop.order(name="Guest Heron") for _ in range(3)]
    live = prop.order(name="Guest Heron", live=True)
    refused = prop.order("REJECTED", name="Guest Heron")
    everything = [live, unknown, refused, *over[::-1]]
    for limit in (1, 2, 3, 20):
        assert prop.found("heron", limit) == everything[:limit]


def test_of_very_many_guests_of_one_name_the_newest_rides_are_found(prop: PropertyFixture) -> None:
    with prop.db.write() as s:
        ours = {"property_id": prop.id, "created_at": START, "name": "Guest", "folded": " guest"}
        rows = [row_of(Guest, **ours) for _ in range(197)]
        s.execute(insert(Guest), rows)
    few = [prop.order(name="Guest") for _ in range(2)]
    assert prop.found("guest") == few[::-1]
    more = [prop.order(name="Guest") for _ in range(3)]
    prop.order(name="Other")
    prop.order(name="Guest", property_id=prop.other)
    assert prop.found("guest") == [*more[::-1], *few[::-1]]
    assert prop.found("guest", 2) == more[:0:-1]


@pytest.mark.sqlite_only  # SQLite's query plan is readable text
@pytest.mark.parametrize("index", ["orders_by_booking", "orders_by_mtx"])
def test_a_number_is_found_by_its_place_in_an_index(prop: PropertyFixture, index: str) -> None:
    with prop.db.read() as s:
        [condition] = {
            named: each for named, each in search._numbers(s, "RD-1") if named == index
        }.values()
        query = search._by(index, select(Order.id).where(Order.property_id == prop.id, condition))
        compiled = str(query.compile(s.connection(), compile_kwargs={"literal_binds": True}))
        rows = s.connection().exec_driver_sql("EXPLAIN QUERY PLAN " + compiled).all()
    [plan] = [row[-1] for row in rows]
    assert index in plan
    assert plan.count(">?") == plan.count("<?") == 1, plan


@pytest.mark.parametrize("text", ["", "  ", "\t", "%", "_", "'", "\U0010ffff" * 3])
def test_a_text_that_means_nothing_finds_nothing(prop: PropertyFixture, text: str) -> None:
    prop.order(name="Guest Heron", room="412", plate="KA05XY7788", live=True)
    assert prop.found(text) == []


def test_guests_are_those_of_the_property_and_none_for_a_text_without_words(
    prop: PropertyFixture,
) -> None:
    mine = prop.guest("Guest Heron", "+912227783300")
    prop.guest("Guest Wren", "+912227784411")
    prop.guest("Guest Heron", "+912227783300", prop.other)
    with prop.db.read() as s:
        for text, ids in (("heron", [mine]), ("783300", [mine]), ("!", []), ("wren heron", [])):
            assert list(s.scalars(guests_like(prop.id, text))) == ids, text


def test_digits_of_a_phone_need_four_and_nothing_but_a_phone_has_them() -> None:
    assert phone_digits(" 0 3300 ") == "3300"
    assert phone_digits("0330") == ""
    assert phone_digits("+44 (0)20 7946 0958") == "442079460958"
    assert phone_digits("Room 3300") == ""
