"""When the lines of a list go: none of them now unless a person has said so."""

import re

import pytest

from tests.views.booking.test_pages import desk
from tests.views.lists.test_lists import Lists, lists, words

__all__ = ["desk", "lists"]
pytestmark = pytest.mark.database
WHEN = "When? Type a time or “now”, or say above when lines without a time go."
UNTIMED = "Name;Room;Phone\nHeron;412;98450 11111\nWren;413;98450 22222"


def trip_form(lists: Lists, at: str) -> dict[str, str]:
    """The form of a list's trip, without when its lines go."""
    trip = lists.row(at).trip
    start, drop = trip["pickup"]["name"], trip["drop"]["name"]
    return {"pickup": start, "drop": drop, "category": trip["category"], "do": "price"}


def test_no_line_goes_now_unless_a_person_has_said_so(lists: Lists) -> None:
    at = lists.priced(UNTIMED, when="")
    page = lists.page(at)
    assert page.count(WHEN) == 2
    assert "Goes now" not in page
    assert 'id="list-book"' not in lists.client.get(at).text, "there is nothing to press"
    answer = lists.book(at, shown="x")
    assert answer.status_code == 409
    assert [str(line.state) for line in lists.lines(at)] == ["OPEN"] * 3


@pytest.mark.parametrize("word", ["now", "NOW", "jetzt", "maintenant", "ahora", "अभी", "现在"])
def test_a_word_for_now_sends_lines_without_a_time_at_once(lists: Lists, word: str) -> None:
    at = lists.priced(UNTIMED, when=word)
    page = lists.page(at)
    assert page.count("Goes now") == 2
    assert "Book 2 cars" in page
    assert "· 2 now" in page
    lists.book(at)
    assert [(line.plan or {})["pickup_at"] for line in lists.lines(at)[1:]] == [None, None]


def test_the_choice_that_lines_without_a_time_go_now_is_not_made_for_anybody(lists: Lists) -> None:
    at = lists.priced(UNTIMED, when="")
    box = re.search(r'id="list-when-now"[^>]*>', lists.client.get(at).text)
    assert box
    assert "checked" not in box[0]
    trip = trip_form(lists, at)
    lists.do(at, **trip, when_now="1")
    assert "· 2 now" in lists.page(at)
    lists.do(at, **trip)
    assert lists.page(at).count(WHEN) == 2, "it is taken back"


def test_of_a_time_and_now_the_one_that_was_said_last_counts(lists: Lists) -> None:
    at = lists.priced(UNTIMED, when="tomorrow 06:15")
    trip = trip_form(lists, at)
    assert "· 2 planned" in lists.page(at)
    assert lists.page(at).count("06:15 tomorrow") >= 2, "a time of the list is shown in its lines"
    lists.do(at, **trip, when="tomorrow 06:15", when_now="1")
    assert "· 2 now" in lists.page(at)
    assert lists.row(at).trip["when"] == ""
    lists.do(at, **trip, when="tomorrow 07:15", when_now="1")
    assert "· 2 planned" in lists.page(at)
    assert not lists.row(at).trip["when_now"]


def test_the_button_says_how_many_go_now_and_how_many_are_planned(lists: Lists) -> None:
    text = "Name;Room;Time\nHeron;412;now\nWren;413;tomorrow 06:15\nTeal;414;\nLark;415;sofort"
    at = lists.priced(text, when="")
    page = lists.page(at)
    assert page.count(WHEN) == 1
    assert page.count("Goes now") == 2
    assert "Book 3 cars" in page
    assert "· 2 now · 1 planned" in page


def test_a_column_that_is_not_read_keeps_the_list_from_being_booked(lists: Lists) -> None:
    at = lists.priced("Heron;412;by the sea\nWren;413;over the hill")
    page = lists.page(at)
    assert "Column 3 is not read: “by the sea”." in page
    assert "Book 2 cars" not in page
    assert lists.book(at, shown="x").status_code == 409
    lists.do(at, column_2="note")
    assert "is not read" not in lists.page(at)
    assert "Book 2 cars" in lists.page(at)
    lists.do(at, column_2="asked")
    lists.do(at, column_2="")
    assert "Book 2 cars" in lists.page(at), "it was left out"


def test_a_ditto_mark_is_the_cell_above_once_a_person_says_so(lists: Lists) -> None:
    text = (
        "Name\tRoom\tTime\tDrop\nHeron\t301\ttomorrow 06:15\tMeridian Airport\n"
        'Wren\t302\t"\t"\nTeal\t303\tditto\t-"-\nLark\t304\tsame as above\tdo.'
    )
    at = lists.priced(text, drop="", when="")
    page = lists.page(at)
    assert page.count("As in the line above: “tomorrow 06:15 · Meridian Airport”?") == 3
    assert "Book 1 car" in page
    for number in (4, 3, 5):
        lists.do(at, do=f"yes:{number}:ditto")
    lists.do(at, do="price")
    page = lists.page(at)
    assert "As in the line above" not in page
    assert page.count("06:15 tomorrow") == 4
    assert "Book 4 cars" in page
    assert "· 4 planned" in page


def test_a_ditto_mark_below_nothing_is_typed(lists: Lists) -> None:
    at = lists.priced("Name;Room;Time\nHeron;301;''\nWren;302;tomorrow 06:15")
    page = lists.page(at)
    assert "There is nothing above that this mark could mean. Type it." in page
    assert "Book 1 car" in page
    lists.do(f"{at}/lines/2", name="Heron", room="301", time="tomorrow 07:15")
    lists.do(at, do="price")
    assert "Book 2 cars" in lists.page(at)


@pytest.mark.parametrize("nothing", ["-", "–", "n/a", "N/A", "none", "keine", "---"])
def test_a_dash_says_that_there_is_nothing(lists: Lists, nothing: str) -> None:
    at = lists.priced(f"Name;Room;Phone;Flight;Drop\nHeron;412;{nothing};{nothing};{nothing}")
    assert "Book 1 car" in lists.page(at)
    lists.book(at)
    plan = lists.lines(at)[1].plan or {}
    assert (plan["phone"], plan["flight"], plan["note"]) == (None, None, None)


def test_an_answered_half_of_the_day_is_settled(lists: Lists) -> None:
    at = lists.priced("Name;Time\nHeron;6/3 11am\nWren;06/03/2026 11:00", when="")
    lists.do(at, date_order="dmy")
    assert "Which half of the day is meant?" in lists.page(at)
    choice = re.findall(r'value="(time:3:[^"]+)"', lists.client.get(at).text)[0]
    lists.do(at, do=choice)
    lists.do(at, do="price")
    assert "Which half of the day" not in lists.page(at)
    assert "Book 2 cars" in lists.page(at)


DAYS = "On which day? Other parts of the list have one."


@pytest.mark.parametrize(
    "text",
    [
        "TRANSFERS 05 MAR 2026\nName;Time\nHeron;17:30\nWren;18:00",
        "Party – 5.3.2026\nName;Time\nHeron;17:30\nWren;18:00",
        "Name;Time\nTeal;05-Mar-26 17:15\nHeron;17:30\nWren;18:00",
        "Name;Time\nTeal;tomorrow 17:15\nHeron;17:30\nWren;18:00",
    ],
)
def test_a_time_of_day_in_a_list_with_a_date_asks_for_its_day(lists: Lists, text: str) -> None:
    at = lists.priced(text, when="")
    page = lists.page(at)
    assert page.count(DAYS) == 2
    assert "17:30 today" not in page
    assert "Use Thu 5 Mar for all times without a day" in page
    lists.do(at, do="day:2026-03-05")
    lists.do(at, do="price")
    page = lists.page(at)
    assert DAYS not in page
    assert "Times without a day are on Thu 5 Mar." in page
    assert "17:30 tomorrow" in page
    assert "18:00 tomorrow" in page
    lists.do(at, do="day:")
    assert lists.page(at).count(DAYS) == 2


def test_one_line_is_given_its_day_alone(lists: Lists) -> None:
    at = lists.priced("Name;Time\nHeron;05-Mar-26 17:30\nWren;18:00\nTeal;19:00", when="")
    choice = re.findall(r'value="(time:3:[^"]+)"', lists.client.get(at).text)
    assert choice == ["time:3:2026-03-05 18:00"]
    lists.do(at, do=choice[0])
    page = lists.page(at)
    assert "18:00 tomorrow" in page
    assert page.count(DAYS) == 1


def test_a_day_alone_is_the_day_of_times_without_one(lists: Lists) -> None:
    at = lists.priced("Name;Time\nHeron;17:30\nWren;", when="5 mar")
    page = lists.page(at)
    assert "Times without a day are on Thu 5 Mar." in page
    assert "17:30 tomorrow" in page
    assert page.count(WHEN) == 1, "a day is no time of the line without one"


def test_a_time_of_the_list_that_is_none_is_refused_in_words(lists: Lists) -> None:
    at = lists.read(UNTIMED)
    start = lists.row(at).trip["pickup"] or {"name": "-38.5, -128.0"}
    answer = lists.do(at, do="cars", pickup=start["name"], when="5 dex")
    assert answer.status_code == 409
    assert "is not understood" in words(answer.text)


def test_what_was_not_read_of_a_message_is_asked_in_its_line(lists: Lists) -> None:
    chat = "05/03/2026, 10:0{} - Agency: {}"
    texts = ("Heron room 412 tomorrow 06:15, two dogs", "room 622", "Wren room 413 tomorrow 06:15")
    at = lists.priced("\n".join(chat.format(n, text) for n, text in enumerate(texts)), when="")
    page = lists.page(at)
    assert "Not read: “two dogs”. Go without it?" in page
    assert "The name is missing." in page
    assert "Book 1 car" in page
    lists.do(at, do="yes:1:unread")
    lists.do(at, do="price")
    assert "Book 2 cars" in lists.page(at)
