"""A list of guests at the desk: shown as it was read, corrected, priced, booked by one press."""

import io
import re
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select, update
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from ridedash.extensions import limiter
from ridedash.store.guest_lists import GuestList, ListLine, lines_of
from ridedash.store.models.orders import Order
from ridedash.store.properties import add_property
from tests.lists.workbook import row, workbook
from tests.views.booking.test_pages import Desk, desk
from tests.work import calls

__all__ = ["desk"]
pytestmark = pytest.mark.database
HEADED = "Name;Room;Phone\nHeron;412;98450 11111\nWren;413;\nTotal: 2"


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


class Lists:
    """The lists of a desk, as its browser sees them."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.client = desk, desk.client
        self.db = desk.app.extensions["ridedash"].db
        page = desk.client.get("/lists/new").text
        token = re.search(r'name="csrf-token" content="([^"]+)"', page)
        assert token
        self.headers = {"X-CSRFToken": token[1]}

    def read(self, text: str = HEADED) -> str:
        """Read a pasted list. Returns its address."""
        answer = self.post("/lists/new", {"text": text})
        assert answer.status_code == 303, words(answer.text)
        return str(answer.headers["Location"])

    def upload(self, data: bytes, name: str = "guests.csv") -> TestResponse:
        # encoded here: the client would leave the temporary file of a long body open
        fields = {"file": FileStorage(io.BytesIO(data), name)}
        boundary, body = encode_multipart(fields)
        kind = f"multipart/form-data; boundary={boundary}"
        return self.client.post("/lists/new", data=body, content_type=kind, headers=self.headers)

    def page(self, at: str) -> str:
        answer = self.client.get(at)
        assert answer.status_code == 200
        return words(answer.text)

    def do(self, at: str, **form: str) -> TestResponse:
        return self.post(at, dict(form))

    def post(self, at: str, data: dict[str, Any]) -> TestResponse:
        return self.client.post(at, data=data, headers=self.headers)

    def priced(self, text: str = HEADED, **trip: str) -> str:
        """A list with its trip and prices; lines without a time go now unless `when` says else."""
        at = self.read(text)
        start = self.row(at).trip["pickup"] or {"name": "-38.5, -128.0"}
        given = {"pickup": start["name"], "drop": "Meridian Airport", "when": "now", **trip}
        self.do(at, do="cars", **given)
        self.do(at, do="price")
        return at

    def book(self, at: str, **changes: str) -> TestResponse:
        page = self.client.get(at).text
        form = re.search(rf'action="{at}/book">(.*?)</form>', page, re.S)
        sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[1])) if form else {}
        return self.post(f"{at}/book", sent | changes)

    def lines(self, at: str) -> list[ListLine]:
        with self.db.read() as s:
            return lines_of(s, int(at.rsplit("/", 1)[1]))

    def row(self, at: str) -> GuestList:
        with self.db.read() as s:
            return s.get_one(GuestList, int(at.rsplit("/", 1)[1]))

    def orders(self) -> list[Order]:
        with self.db.read() as s:
            return list(s.scalars(select(Order)))


@pytest.fixture
def lists(desk: Desk) -> Lists:
    return Lists(desk)


def test_a_list_is_shown_before_anything_is_booked_and_its_head_is_no_guest(lists: Lists) -> None:
    at = lists.read()
    page = lists.page(at)
    assert "Left out: heading" in page
    assert "Left out: total" in page
    assert "+91 98450 11111" in page
    assert [line.out for line in lists.lines(at)] == ["head", None, None, "total"]
    assert lists.orders() == []


def test_a_press_lets_the_worker_book_the_good_lines_and_names_the_others(lists: Lists) -> None:
    at = lists.priced(HEADED.replace("413;", "413;12345"))
    page = lists.page(at)
    assert "“12345”: No phone has this number." in page
    assert "Lines that are not booked yet: 3" in page
    assert "Book 1 car" in page
    assert lists.book(at).status_code == 303
    assert [str(line.state) for line in lists.lines(at)] == ["OPEN", "WAITING", "OPEN", "OPEN"]
    assert lists.row(at).state == "RUNNING"
    assert (lists.lines(at)[1].plan or {})["phone"] == "+919845011111"
    assert lists.book(at).status_code == 303
    assert "0 of 1 done" in lists.page(at)


def test_the_car_of_a_list_is_at_first_the_cheapest_private_one(lists: Lists) -> None:
    at = lists.priced()
    names = [each["category"] for each in lists.row(at).sheet["cars"]]
    assert "auto" in names, "which is cheaper"
    assert lists.row(at).trip["category"] == names[0] == "mini"


def test_a_cell_with_two_numbers_has_phone_and_second_phone_and_an_unclear_one_asks(
    lists: Lists,
) -> None:
    at = lists.priced(
        "Name;Room;Phone\nHeron;412;98450 11111 / 98450 22222\nWren;413;65 6253 0000\n"
        "Merle;414;98450 OOOOO"
    )
    page = lists.page(at)
    for each in (
        "India, mobile · +91 98450 11111",
        "India, mobile · +91 98450 22222",
        "These digits may be two numbers",
        "Singapore, landline · +65 6253 0000",
        "“OOOOO”",
    ):
        assert each in page
    assert lists.book(at).status_code == 303
    plan = lists.lines(at)[1].plan or {}
    assert (plan["phone"], plan["phone2"]) == ("+919845011111", "+919845022222")
    assert [line.plan for line in lists.lines(at)[2:]] == [None, None]


def test_a_line_is_corrected_in_place_and_can_then_be_booked(lists: Lists) -> None:
    at = lists.priced(HEADED.replace("413;", "413;12345"))
    assert 'value="12345"' in lists.client.get(f"{at}?line=3").text
    lists.do(f"{at}/lines/3", name="Wren", room="413", phone="98450 22222")
    assert "No phone has this number" not in lists.page(at)
    lists.do(at, do="price")
    assert "Book 2 cars" in lists.page(at)


def test_each_column_can_be_named_otherwise(lists: Lists) -> None:
    at = lists.read("412;7\n413;8")
    assert "The name is missing" not in lists.page(at)
    lists.do(at, column_0="room", column_1="name")
    lists.do(at, do="price")
    assert lists.row(at).sheet["fields"] == ["room", "name"]
    lists.do(at, column_0="nonsense")
    assert lists.row(at).sheet["fields"] == ["room", "name"]


def test_a_row_that_was_left_out_is_taken_in_again_and_back(lists: Lists) -> None:
    at = lists.read("Heron;412\nTBA;413")
    lists.do(at, do="in:2")
    assert lists.lines(at)[1].out is None
    lists.do(at, do="out:2")
    assert lists.lines(at)[1].out == "person"
    assert "Left out: left out" in lists.page(at)


def test_the_same_guest_twice_is_asked_about_and_a_yes_is_kept(lists: Lists) -> None:
    at = lists.priced("Heron;412\nHERON;412")
    assert "The same guest, time and place as in an earlier line." in lists.page(at)
    lists.do(at, do="yes:2:twice")
    lists.do(at, do="price")
    assert "Book 2 cars" in lists.page(at)
    lists.book(at)
    assert (lists.lines(at)[1].plan or {})["twice"] is True


@pytest.mark.parametrize(
    ("name", "again"),
    [("Łukasz Kot", "Lukasz Kot"), ("Heron, Ann", "Ann Heron"), ("山田 太郎", "山田太郎")],
)
def test_a_guest_of_a_list_is_the_same_in_another_spelling(
    lists: Lists, name: str, again: str
) -> None:
    at = lists.priced(f"{name};412\n{again};412")
    assert "The same guest, time and place as in an earlier line." in lists.page(at)


def test_the_same_list_twice_needs_a_word_before_it_is_booked(lists: Lists) -> None:
    lists.priced()
    at = lists.priced("HERON, 412, 98450-11111\nwren, 413")
    assert "A list with the same guests was read at" in lists.page(at)
    assert "Nothing was booked" in words(lists.book(at, version="0", shown="x").text)
    lists.do(at, has_again="1", again_ok="1")
    lists.book(at)
    assert lists.row(at).state == "RUNNING"


def test_each_line_has_its_own_time_and_drop(lists: Lists) -> None:
    text = (
        "Name;Room;Time;Drop\nHeron;412;tomorrow 06:15;Meridian Airport\n"
        "Wren;413;tomorrow 07:00;Arcade"
    )
    at = lists.priced(text, drop="")
    page = lists.page(at)
    assert "06:15 tomorrow" in page
    assert "to Meridian Airport" in page
    assert "to Arcade" in page
    lists.book(at)
    plans = [line.plan for line in lists.lines(at) if line.plan]
    assert [plan["pickup_at"][:16] for plan in plans] == ["2026-03-05T00:45", "2026-03-05T01:30"]


def test_a_time_keeps_its_day_after_midnight(lists: Lists) -> None:
    from datetime import timedelta

    at = lists.priced("Name;Time\nHeron;tomorrow 18:00", drop="Meridian Airport")
    assert "18:00 tomorrow" in lists.page(at)
    lists.desk.now += timedelta(hours=10)
    assert "18:00 today" in lists.page(at)


def test_a_press_on_a_page_that_shows_something_else_books_nothing(lists: Lists) -> None:
    from datetime import timedelta

    at = lists.priced("Name;Time\nHeron;18:00")
    page = lists.client.get(at).text
    form = re.search(rf'action="{at}/book">(.*?)</form>', page, re.S)
    assert form
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[1]))
    lists.desk.now += timedelta(hours=9)
    answer = lists.post(f"{at}/book", sent)
    assert answer.status_code == 409
    assert lists.row(at).state == "DRAFT"


def test_dates_that_may_be_two_days_are_asked_about_once(lists: Lists) -> None:
    at = lists.priced("Name;Time\nHeron;5/3 06:15\nWren;6/3 06:15")
    assert "may be two days: say above the table which is meant." in lists.page(at)
    lists.do(at, date_order="dmy")
    assert "06:15 tomorrow" in lists.page(at)
    shown = lists.priced("Name;Time\nHeron;5/3 06:15\nWren;16/3 06:15")
    assert "may be two days" not in lists.page(shown)


def test_a_time_that_may_be_several_is_asked_in_its_line_alone(lists: Lists) -> None:
    at = lists.priced("Name;Room;Time\nHeron;412;6 pm\nWren;413;6\nTeal;414;6 or 7 pm")
    page = lists.page(at)
    assert "Which half of the day is meant? Choose one." in page
    assert "Book 1 car" in page, "the others are not kept from being booked"
    html = lists.client.get(at).text
    found = re.findall(r'value="(time:3:[^"]+)"', html)
    assert [each.rpartition(" ")[2] for each in found] == ["18:00", "06:00"]
    assert len(re.findall(r'value="time:4:', html)) == 3
    lists.do(at, do=found[1])
    lists.do(at, do="price")
    page = lists.page(at)
    assert "Which half of the day is meant?" not in page
    assert "06:00 tomorrow" in page
    assert "Book 2 cars" in page
    assert "That may be several times. Choose one." in page, "line 4 still asks"


def test_a_list_in_the_clock_of_24_hours_says_what_its_other_times_mean(lists: Lists) -> None:
    at = lists.priced("Name;Room;Time\nHeron;412;today 18:30\nWren;413;tomorrow 6:15")
    assert "Which half of the day" not in lists.page(at)
    assert "06:15 tomorrow" in lists.page(at)
    asked = lists.priced("Name;Room;Time\nHeron;412;tomorrow 7:30\nWren;413;tomorrow 6:15")
    assert lists.page(asked).count("Which half of the day") == 2
    lists.do(f"{asked}/lines/2", name="Heron", room="412", time="today 18:30")
    assert lists.page(asked).count("Which half of the day") == 1, "a person's own words are no sign"


def test_guests_share_a_car_by_hand_and_by_seats(lists: Lists) -> None:
    text = "Name;Room;Pax\nHeron;412;2\nWren;413;1\nTeal;414;2\nLark;415;1"
    at = lists.priced(text)
    lists.do(at, do="seats", seats="4")
    assert [line.car for line in lists.lines(at)][1:] == [2, 2, 4, 4]
    lists.do(at, do="price")
    assert "Book 2 cars" in lists.page(at)
    lists.do(f"{at}/lines/4", name="Teal", room="414", persons="2", car="2")
    assert "Car 2 has more people than seats." in lists.page(at)
    lists.do(f"{at}/lines/4", name="Teal", room="414", persons="1", car="2", time="tomorrow 06:15")
    assert "has the same car, and another time or place." in lists.page(at)


def test_a_file_of_a_code_page_is_read_and_another_encoding_can_be_chosen(lists: Lists) -> None:
    answer = lists.upload("Jürgen;412\nŁukasz;413".encode("cp1250", "replace"), "gäste.csv")
    at = str(answer.headers["Location"])
    assert "Jürgen" in lists.page(at)
    lists.do(at, encoding="cp1251")
    assert "Jürgen" not in lists.page(at)
    lists.do(at, encoding="cp1250")
    assert "Łukasz" in lists.page(at)
    assert lists.row(at).label == "gäste.csv"


def test_a_workbook_is_read_and_others_are_refused_with_a_sentence(lists: Lists) -> None:
    answer = lists.upload(workbook(row(1, "Heron", "412")), "guests.xlsx")
    assert answer.status_code == 303
    assert "Heron" in lists.page(str(answer.headers["Location"]))
    for data in (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), b"%PDF-1.7", b""):
        refused = lists.upload(data, "guests.xls")
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text


def test_a_file_of_more_than_two_megabytes_is_refused(lists: Lists) -> None:
    assert lists.upload(b"Heron;412\n" * 210_000).status_code == 422
    assert lists.upload(b"x" * 3_000_000).status_code == 413


def test_a_list_of_another_property_is_not_found(lists: Lists) -> None:
    at = lists.read()
    with lists.db.write() as s:
        other = add_property(s, "Annexe", "Asia/Kolkata", lists.desk.now).id
        s.execute(update(GuestList).values(property_id=other))
    for answer in (
        lists.client.get(at),
        lists.do(at),
        lists.do(f"{at}/book"),
        lists.do(f"{at}/stop"),
        lists.do(f"{at}/continue"),
        lists.do(f"{at}/delete"),
        lists.do(f"{at}/lines/1"),
        lists.do(f"{at}/lines/1/answer"),
    ):
        assert answer.status_code == 404


def test_stop_and_go_on_are_presses_of_the_page(lists: Lists) -> None:
    at = lists.priced()
    lists.book(at)
    lists.do(f"{at}/stop")
    assert "Stopped. Nothing more is booked until somebody goes on." in lists.page(at)
    lists.do(f"{at}/continue")
    assert lists.row(at).state == "RUNNING"


def test_a_draft_is_deleted_with_its_guests_and_a_pressed_list_is_not(lists: Lists) -> None:
    at = lists.priced()
    lists.book(at)
    lists.do(f"{at}/delete")
    assert lists.lines(at)
    draft = lists.read("Lark;415")
    lists.do(f"{draft}/delete")
    assert lists.lines(draft) == []


def test_text_of_a_list_never_becomes_markup(lists: Lists) -> None:
    hostile = '<script>alert(1)</script>";{{7*7}}\u202e'
    at = lists.read(f"Name;Room;Drop\n{hostile};412;{hostile}")
    page = lists.client.get(at).text
    assert "<script>alert" not in page
    assert "49" not in words(page).split()
    assert "\u202e" not in page


def test_sixty_lines_are_shown_with_little_work(lists: Lists) -> None:
    text = "\n".join(
        f"Guest N{n};{n};+91 98450 {n:05};tomorrow 06:{n % 60:02};late" for n in range(60)
    )
    at = lists.read(f"Name;Room;Phone;Time;Remarks\n{text}")
    lists.client.get(at)
    assert calls(lambda: lists.client.get(at)) < 500_000
    assert len(lists.client.get(at).data) < 300_000


@pytest.fixture(autouse=True)
def unlimited() -> Any:
    limiter.enabled, before = False, limiter.enabled
    yield
    limiter.enabled = before
