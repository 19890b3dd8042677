"""Typed pickup times: what they mean on the property's clock, and why some are refused."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.times.schedule_times import LocalTime, NoSuchTime
from ridedash.rides.times.time_answers import Asked, NotATime, TimeQuestion, TimeRefusal
from ridedash.rides.times.time_words import ENGLISH_WORDS, TWO_THINGS, TimeWords, normalised_words
from ridedash.rides.times.typed_time import read_time

KOLKATA, BERLIN = ZoneInfo("Asia/Kolkata"), ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 23, 10, 25, 20, tzinfo=UTC)  # Monday, 15:55:20 in Kolkata


def shown(text: str) -> str:
    found = read_time(text, NOW, KOLKATA)
    assert found.at > NOW
    assert found.at.second == 0
    return f"{found.at.astimezone(KOLKATA):%a %d %b %H:%M}"


READ: Final = [
    ("06:15", "Tue 24 Nov 06:15"),
    ("0615", "Tue 24 Nov 06:15"),
    ("06.15", "Tue 24 Nov 06:15"),
    ("6 am", "Tue 24 Nov 06:00"),
    ("6:15am", "Tue 24 Nov 06:15"),
    ("6.15 a.m.", "Tue 24 Nov 06:15"),
    ("6 a. m.", "Tue 24 Nov 06:00"),
    ("6p", "Mon 23 Nov 18:00"),
    ("6:15PM", "Mon 23 Nov 18:15"),
    ("6 am sharp", "Tue 24 Nov 06:00"),
    ("0630 hrs", "Tue 24 Nov 06:30"),
    ("15:55", "Tue 24 Nov 15:55"),
    ("15:56", "Mon 23 Nov 15:56"),
    ("tomorrow 0615", "Tue 24 Nov 06:15"),
    ("0615 TOMORROW", "Tue 24 Nov 06:15"),
    ("tm0615", "Tue 24 Nov 06:15"),
    ("0630", "Tue 24 Nov 06:30"),
    ("18h", "Mon 23 Nov 18:00"),
    ("18 h 30", "Mon 23 Nov 18:30"),
    ("1930hrs", "Mon 23 Nov 19:30"),
    ("18 30", "Mon 23 Nov 18:30"),
    ("18 30 hrs", "Mon 23 Nov 18:30"),
    ("tomorrow 06 30", "Tue 24 Nov 06:30"),
    ("4 Dec 18 30", "Fri 04 Dec 18:30"),
    ("18:30 hours", "Mon 23 Nov 18:30"),
    ("18:30!", "Mon 23 Nov 18:30"),
    ("pickup 18:30 please", "Mon 23 Nov 18:30"),
    ("8 in the afternoon", "Mon 23 Nov 20:00"),
    ("04.12 18:00", "Fri 04 Dec 18:00"),
    ("4th dec 18:00", "Fri 04 Dec 18:00"),
    ("dec 1st 6pm", "Tue 01 Dec 18:00"),
    ("in 1 hour and 30 minutes", "Mon 23 Nov 17:26"),
    ("1930 hours", "Mon 23 Nov 19:30"),
    ("19:30 hrs", "Mon 23 Nov 19:30"),
    ("19.30 Uhr", "Mon 23 Nov 19:30"),
    ("18:00h", "Mon 23 Nov 18:00"),
    ("day after tomorrow, 21", "Wed 25 Nov 21:00"),
    ("fri 14", "Fri 27 Nov 14:00"),
    ("Fri. 2 p.m.", "Fri 27 Nov 14:00"),
    ("mon 16", "Mon 23 Nov 16:00"),
    ("mon 15", "Mon 30 Nov 15:00"),
    ("this friday 18:00", "Fri 27 Nov 18:00"),
    ("next monday 18:00", "Mon 30 Nov 18:00"),
    ("monday week 18:00", "Mon 30 Nov 18:00"),
    ("a week on friday 18:00", "Fri 04 Dec 18:00"),
    ("friday - 18:00", "Fri 27 Nov 18:00"),
    ("14h30", "Tue 24 Nov 14:30"),
    ("14h", "Tue 24 Nov 14:00"),
    ("noon", "Tue 24 Nov 12:00"),
    ("12 noon", "Tue 24 Nov 12:00"),
    ("noon tomorrow", "Tue 24 Nov 12:00"),
    ("midnight", "Tue 24 Nov 00:00"),
    ("12 midnight", "Tue 24 Nov 00:00"),
    ("24:00", "Tue 24 Nov 00:00"),
    ("2400", "Tue 24 Nov 00:00"),
    ("tomorrow 24:00", "Wed 25 Nov 00:00"),
    ("0:00 tomorrow", "Tue 24 Nov 00:00"),
    ("00:00", "Tue 24 Nov 00:00"),
    ("12 am", "Tue 24 Nov 00:00"),
    ("12:30 am", "Tue 24 Nov 00:30"),
    ("12:30 pm", "Tue 24 Nov 12:30"),
    ("12 pm", "Tue 24 Nov 12:00"),
    ("today 6", "Mon 23 Nov 18:00"),
    ("today 6:15", "Mon 23 Nov 18:15"),
    ("tonight 8", "Mon 23 Nov 20:00"),
    ("tonight 11h", "Mon 23 Nov 23:00"),
    ("tonight 1:30", "Tue 24 Nov 01:30"),
    ("tonight 12", "Tue 24 Nov 00:00"),
    ("tonight 12:30", "Tue 24 Nov 00:30"),
    ("tonight 0:30", "Tue 24 Nov 00:30"),
    ("tonight midnight", "Tue 24 Nov 00:00"),
    ("tonight 16:30", "Mon 23 Nov 16:30"),
    ("this evening 7", "Mon 23 Nov 19:00"),
    ("this evening 12", "Tue 24 Nov 00:00"),
    ("tomorrow evening 8", "Tue 24 Nov 20:00"),
    ("tomorrow evening at eight", "Tue 24 Nov 20:00"),
    ("tomorrow at 6 in the morning", "Tue 24 Nov 06:00"),
    ("2 at night", "Tue 24 Nov 02:00"),
    ("8 at night", "Mon 23 Nov 20:00"),
    ("12 at night", "Tue 24 Nov 00:00"),
    ("tomorrow night 11", "Tue 24 Nov 23:00"),
    ("11:30 in the morning", "Tue 24 Nov 11:30"),
    ("half past six pm", "Mon 23 Nov 18:30"),
    ("half past six tomorrow evening", "Tue 24 Nov 18:30"),
    ("quarter to seven pm", "Mon 23 Nov 18:45"),
    ("a quarter past 6 am", "Tue 24 Nov 06:15"),
    ("ten to seven pm", "Mon 23 Nov 18:50"),
    ("10 to 7 pm", "Mon 23 Nov 18:50"),
    ("20 past 6 pm", "Mon 23 Nov 18:20"),
    ("twenty-five past six in the evening", "Mon 23 Nov 18:25"),
    ("six thirty pm", "Mon 23 Nov 18:30"),
    ("six forty five pm", "Mon 23 Nov 18:45"),
    ("quarter to midnight", "Mon 23 Nov 23:45"),
    ("half past 12 at night", "Tue 24 Nov 00:30"),
    ("quarter to one in the afternoon", "Tue 24 Nov 12:45"),
    ("in 40 min", "Mon 23 Nov 16:36"),
    ("+40", "Mon 23 Nov 16:36"),
    ("40 minutes", "Mon 23 Nov 16:36"),
    ("in 90 min", "Mon 23 Nov 17:26"),
    ("in 2 h", "Mon 23 Nov 17:56"),
    ("in 2 hrs", "Mon 23 Nov 17:56"),
    ("in 1h30", "Mon 23 Nov 17:26"),
    ("1 hour 30", "Mon 23 Nov 17:26"),
    ("in an hour", "Mon 23 Nov 16:56"),
    ("in half an hour", "Mon 23 Nov 16:26"),
    ("half an hour", "Mon 23 Nov 16:26"),
    ("an hour and a half", "Mon 23 Nov 17:26"),
    ("1.5 hours", "Mon 23 Nov 17:26"),
    ("in 1.5h", "Mon 23 Nov 17:26"),
    ("in 1,5 hours", "Mon 23 Nov 17:26"),
    ("in forty minutes", "Mon 23 Nov 16:36"),
    ("2 hours from now", "Mon 23 Nov 17:56"),
    ("in 3 days 09:30", "Thu 26 Nov 09:30"),
    ("24 nov 06:00", "Tue 24 Nov 06:00"),
    ("Nov 24 6:15 pm", "Tue 24 Nov 18:15"),
    ("24.11. 06:15", "Tue 24 Nov 06:15"),
    ("24/11 06:15", "Tue 24 Nov 06:15"),
    ("1 january 06:00", "Fri 01 Jan 06:00"),
    ("4th of December at 6pm", "Fri 04 Dec 18:00"),
    ("4-Dec-26 0615", "Fri 04 Dec 06:15"),
    ("04DEC26 1830", "Fri 04 Dec 18:30"),
    ("4/Dec/26 18:30", "Fri 04 Dec 18:30"),
    ("04DEC 1830", "Fri 04 Dec 18:30"),
    ("4 dec '26 18:00", "Fri 04 Dec 18:00"),
    ("4 dec 18", "Fri 04 Dec 18:00"),
    ("Dec 4 2026 6pm", "Fri 04 Dec 18:00"),
    ("24 Nov - 6:15 pm", "Tue 24 Nov 18:15"),
    ("4/4 18:00", "Sun 04 Apr 18:00"),
    ("31/12 18:00", "Thu 31 Dec 18:00"),
    ("12/31 18:00", "Thu 31 Dec 18:00"),
    ("fri 4/12 18:00", "Fri 04 Dec 18:00"),
    ("2026/12/04 18:00", "Fri 04 Dec 18:00"),
    ("2026-11-24 06:15", "Tue 24 Nov 06:15"),
    ("2026-11-24T06:15", "Tue 24 Nov 06:15"),
    ("2026-12-04T06:15+05:30", "Fri 04 Dec 06:15"),
    ("2026-12-04T06:15:00Z", "Fri 04 Dec 11:45"),
    ("2026-12-04 06:15 +0100", "Fri 04 Dec 10:45"),
    ("Tomorrow, Tue 24 Nov, 06:15", "Tue 24 Nov 06:15"),
    ("०६:१५", "Tue 24 Nov 06:15"),
    ("٠٦:١٥", "Tue 24 Nov 06:15"),
    ("１８：３０", "Mon 23 Nov 18:30"),
    ("18\u200b:\u200e30", "Mon 23 Nov 18:30"),
    ("18:30\ufe0f", "Mon 23 Nov 18:30"),
    ("nov 24 2026 6:15 pm", "Tue 24 Nov 18:15"),
    ("November 24th, 2026 at 18:00", "Tue 24 Nov 18:00"),
    ("24 nov 2026 0615", "Tue 24 Nov 06:15"),
    ("2026 nov 24 06:15", "Tue 24 Nov 06:15"),
    ("24.11. 2026 06:15", "Tue 24 Nov 06:15"),
    ("24.11.26 06:15", "Tue 24 Nov 06:15"),
    ("24/11/26 06:15", "Tue 24 Nov 06:15"),
    ("jan 1 2027 noon", "Fri 01 Jan 12:00"),
    ("24 nov 2030", "Tue 24 Nov 20:30"),
    ("tomorrow 2026", "Tue 24 Nov 20:26"),
    ("around 7 pm", "Mon 23 Nov 19:00"),
    ("~19:00", "Mon 23 Nov 19:00"),
    ("7pm-ish", "Mon 23 Nov 19:00"),
    ("7ish pm", "Mon 23 Nov 19:00"),
]
# what is asked, with each time that it may mean
ASKED: Final = [
    ("tomorrow 6/7 pm", Asked.WHICH, ["Tue 24 Nov 06:00", "Tue 24 Nov 18:00", "Tue 24 Nov 19:00"]),
    ("6", Asked.HALF, ["Mon 23 Nov 18:00", "Tue 24 Nov 06:00"]),
    ("at 6", Asked.HALF, ["Mon 23 Nov 18:00", "Tue 24 Nov 06:00"]),
    ("six", Asked.HALF, ["Mon 23 Nov 18:00", "Tue 24 Nov 06:00"]),
    ("6:15", Asked.HALF, ["Mon 23 Nov 18:15", "Tue 24 Nov 06:15"]),
    ("6.15", Asked.HALF, ["Mon 23 Nov 18:15", "Tue 24 Nov 06:15"]),
    ("615", Asked.HALF, ["Mon 23 Nov 18:15", "Tue 24 Nov 06:15"]),
    ("630", Asked.HALF, ["Mon 23 Nov 18:30", "Tue 24 Nov 06:30"]),
    ("12", Asked.HALF, ["Tue 24 Nov 00:00", "Tue 24 Nov 12:00"]),
    ("12:30", Asked.HALF, ["Tue 24 Nov 00:30", "Tue 24 Nov 12:30"]),
    ("tomorrow 6", Asked.HALF, ["Tue 24 Nov 06:00", "Tue 24 Nov 18:00"]),
    ("fri 9", Asked.HALF, ["Fri 27 Nov 09:00", "Fri 27 Nov 21:00"]),
    ("24 nov 6", Asked.HALF, ["Tue 24 Nov 06:00", "Tue 24 Nov 18:00"]),
    ("half past six", Asked.HALF, ["Mon 23 Nov 18:30", "Tue 24 Nov 06:30"]),
    ("quarter to seven", Asked.HALF, ["Mon 23 Nov 18:45", "Tue 24 Nov 06:45"]),
    ("six thirty", Asked.HALF, ["Mon 23 Nov 18:30", "Tue 24 Nov 06:30"]),
    ("12 in the morning", Asked.HALF, ["Tue 24 Nov 00:00", "Tue 24 Nov 12:00"]),
    ("~7", Asked.HALF, ["Mon 23 Nov 19:00", "Tue 24 Nov 07:00"]),
    ("around 7", Asked.HALF, ["Mon 23 Nov 19:00", "Tue 24 Nov 07:00"]),
    ("7ish", Asked.HALF, ["Mon 23 Nov 19:00", "Tue 24 Nov 07:00"]),
    ("this morning 6", Asked.OVER, ["Tue 24 Nov 06:00"]),
    ("today 15:00", Asked.OVER, ["Tue 24 Nov 15:00"]),
    ("today 6 am", Asked.OVER, ["Tue 24 Nov 06:00"]),
    ("6h", Asked.SPAN, ["Mon 23 Nov 18:00", "Mon 23 Nov 21:56", "Tue 24 Nov 06:00"]),
    ("2h", Asked.SPAN, ["Mon 23 Nov 17:56", "Tue 24 Nov 02:00", "Tue 24 Nov 14:00"]),
    ("1h30", Asked.SPAN, ["Mon 23 Nov 17:26", "Tue 24 Nov 01:30", "Tue 24 Nov 13:30"]),
    ("7 hrs", Asked.SPAN, ["Mon 23 Nov 19:00", "Mon 23 Nov 22:56", "Tue 24 Nov 07:00"]),
    ("18 hours", Asked.SPAN, ["Mon 23 Nov 18:00", "Tue 24 Nov 09:56"]),
    ("1.30 hours", Asked.SPAN, ["Mon 23 Nov 17:26", "Tue 24 Nov 01:30", "Tue 24 Nov 13:30"]),
    ("in 2", Asked.SPAN, ["Mon 23 Nov 15:58", "Mon 23 Nov 17:56"]),
    (
        "half six",
        Asked.WHICH,
        ["Mon 23 Nov 17:30", "Mon 23 Nov 18:30", "Tue 24 Nov 05:30", "Tue 24 Nov 06:30"],
    ),
    (
        "6 or 7",
        Asked.WHICH,
        ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00", "Tue 24 Nov 06:00", "Tue 24 Nov 07:00"],
    ),
    ("6 or 7 pm", Asked.WHICH, ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00", "Tue 24 Nov 06:00"]),
    (
        "between 6 and 7",
        Asked.WHICH,
        ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00", "Tue 24 Nov 06:00", "Tue 24 Nov 07:00"],
    ),
    ("6-7pm", Asked.WHICH, ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00", "Tue 24 Nov 06:00"]),
    (
        "tomorrow 6-7",
        Asked.WHICH,
        ["Tue 24 Nov 06:00", "Tue 24 Nov 07:00", "Tue 24 Nov 18:00", "Tue 24 Nov 19:00"],
    ),
    ("18:00-19:00", Asked.WHICH, ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00"]),
    ("from 18:00 to 19:00", Asked.WHICH, ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00"]),
    (
        "6 to 7",
        Asked.WHICH,
        ["Mon 23 Nov 18:00", "Mon 23 Nov 19:00", "Tue 24 Nov 06:00", "Tue 24 Nov 07:00"],
    ),
    (
        "5 to 7 pm",
        Asked.WHICH,
        ["Mon 23 Nov 17:00", "Mon 23 Nov 18:55", "Mon 23 Nov 19:00", "Tue 24 Nov 05:00"],
    ),
    ("next friday 18:00", Asked.DAY, ["Fri 27 Nov 18:00", "Fri 04 Dec 18:00"]),
    ("4/12 18:00", Asked.DAY, ["Fri 04 Dec 18:00", "Mon 12 Apr 18:00"]),
    ("12/4 18:00", Asked.DAY, ["Fri 04 Dec 18:00", "Mon 12 Apr 18:00"]),
    ("4-12 18:00", Asked.DAY, ["Fri 04 Dec 18:00", "Mon 12 Apr 18:00"]),
    ("04/12/26 18:00", Asked.DAY, ["Fri 04 Dec 18:00"]),
    ("3/4 06:15", Asked.DAY, ["Thu 04 Mar 06:15", "Sat 03 Apr 06:15"]),
    (
        "4/12 6:15",
        Asked.DAY,
        ["Fri 04 Dec 06:15", "Fri 04 Dec 18:15", "Mon 12 Apr 06:15", "Mon 12 Apr 18:15"],
    ),
    ("tomorrow midnight", Asked.DAY, ["Tue 24 Nov 00:00", "Wed 25 Nov 00:00"]),
    ("fri midnight", Asked.DAY, ["Fri 27 Nov 00:00", "Sat 28 Nov 00:00"]),
    ("24 nov midnight", Asked.DAY, ["Tue 24 Nov 00:00", "Wed 25 Nov 00:00"]),
    ("tomorrow 12 at night", Asked.DAY, ["Tue 24 Nov 00:00", "Wed 25 Nov 00:00"]),
    ("tomorrow 2 at night", Asked.DAY, ["Tue 24 Nov 02:00", "Wed 25 Nov 02:00"]),
    ("fri night 1", Asked.DAY, ["Fri 27 Nov 01:00", "Sat 28 Nov 01:00"]),
]
# what is refused, with the part that is wrong
REFUSED: Final = [
    ("1st", TimeRefusal.UNKNOWN, "1."),
    ("4th 18:00", TimeRefusal.UNKNOWN, "4."),
    ("013", TimeRefusal.UNKNOWN, "013"),
    ("11 in the afternoon", TimeRefusal.NOT_THEN, "11 in the afternoon"),
    ("", TimeRefusal.EMPTY, ""),
    (" , ", TimeRefusal.EMPTY, ""),
    ("sometime", TimeRefusal.UNKNOWN, "sometime"),
    ("in 5 parsecs", TimeRefusal.UNKNOWN, "parsecs"),
    ("tomorrow 6 7", TimeRefusal.UNKNOWN, "7"),
    ("18 19", TimeRefusal.UNKNOWN, "19"),
    ("in 6:15", TimeRefusal.UNKNOWN, "in 6:15"),
    ("6:15 half past 7", TimeRefusal.UNKNOWN, "6:15"),
    ("<today> 18:00 <b>", TimeRefusal.UNKNOWN, "b"),
    ("6" * 80, TimeRefusal.UNKNOWN, "66666666666666666666…"),
    ("by 7 pm", TimeRefusal.UNKNOWN, "by"),
    ("before 7", TimeRefusal.UNKNOWN, "before 7"),
    ("after 7 pm", TimeRefusal.UNKNOWN, "after 7 pm"),
    ("6:15 UTC", TimeRefusal.UNKNOWN, "utc"),
    ("fri", TimeRefusal.NO_CLOCK, ""),
    ("tomorrow", TimeRefusal.NO_CLOCK, ""),
    ("25:00", TimeRefusal.NO_HOUR, "25:00"),
    ("24:30", TimeRefusal.NO_HOUR, "24:30"),
    ("6:75", TimeRefusal.NO_HOUR, "6:75"),
    ("14 am", TimeRefusal.NO_HOUR, "14:00"),
    ("31 feb 06:00", TimeRefusal.NO_DAY, "31 feb 06:00"),
    ("31/2 06:00", TimeRefusal.NO_DAY, "31/2"),
    ("2/31 06:00", TimeRefusal.NO_DAY, "2/31"),
    ("2026-13-40 06:00", TimeRefusal.NO_DAY, "2026-13-40"),
    ("0001-01-01 06:00", TimeRefusal.NO_DAY, "0001-01-01"),
    ("2026-13-40T06:15Z", TimeRefusal.NO_DAY, "2026-13-40t06:15z"),
    ("fri 24 nov 18:00", TimeRefusal.NOT_THAT_DAY, "2026-11-24"),
    ("today 24 nov 18:00", TimeRefusal.NOT_THAT_DAY, "2026-11-23"),
    ("24 nov", TimeRefusal.NO_CLOCK, ""),
    ("nov 24 2026", TimeRefusal.NO_CLOCK, ""),
    ("2026 nov 24", TimeRefusal.NO_CLOCK, ""),
    ("24.11. 2026", TimeRefusal.NO_CLOCK, ""),
    ("4/12", TimeRefusal.NO_CLOCK, ""),
    ("tonight noon", TimeRefusal.NOT_THEN, "tonight noon"),
    ("tonight 12 pm", TimeRefusal.NOT_THEN, "tonight 12 pm"),
    ("tonight 9 am", TimeRefusal.NOT_THEN, "tonight 9 am"),
    ("tomorrow night 10 am", TimeRefusal.NOT_THEN, "tomorrow night 10 am"),
    ("2 in the evening", TimeRefusal.NOT_THEN, "2 in the evening"),
    ("5 at night", TimeRefusal.NOT_THEN, "5 at night"),
    ("20 nov 06:00", TimeRefusal.PAST, ""),
    ("2020-01-01T06:15Z", TimeRefusal.PAST, ""),
    ("in 0 min", TimeRefusal.PAST, ""),
    ("tonight 15:59", TimeRefusal.NOT_THEN, "tonight 15:59"),
    ("sun 4/12 18:00", TimeRefusal.NOT_THAT_DAY, "2026-12-04"),
    ("19:00 noon", TimeRefusal.NOT_THEN, "19:00 noon"),
]


@pytest.mark.parametrize(("text", "meant"), READ)
def test_a_typed_time_is_the_next_one_of_that_name(text: str, meant: str) -> None:
    assert shown(text) == meant


@pytest.mark.parametrize(("text", "about", "choices"), ASKED)
def test_what_may_be_several_times_is_asked_and_each_is_offered(
    text: str, about: Asked, choices: list[str]
) -> None:
    with pytest.raises(TimeQuestion) as question:
        read_time(text, NOW, KOLKATA)
    found = [f"{at.astimezone(KOLKATA):%a %d %b %H:%M}" for at in question.value.choices]
    assert (question.value.about, found) == (about, choices)


@pytest.mark.parametrize(("text", "why", "part"), REFUSED)
def test_what_is_no_time_to_come_says_why(text: str, why: TimeRefusal, part: str) -> None:
    with pytest.raises(NotATime) as refused:
        read_time(text, NOW, KOLKATA)
    assert (refused.value.why, refused.value.part) == (why, part)


@pytest.mark.parametrize(
    ("now", "text", "hours"),
    [
        ((4, 0), "6", [6, 18]),  # both of today
        ((7, 0), "6", [18, 6]),
        ((7, 0), "today 6", [18]),  # one of both is over
        ((19, 0), "today 6", "over"),
        ((19, 0), "this morning 6", "over"),
        ((5, 0), "this morning 6", [6]),
        ((19, 0), "tonight 6", "over"),
        ((0, 30), "tonight 1:30", [1]),
    ],
)
def test_a_half_of_the_day_is_taken_only_if_the_other_is_not_meant_or_over(
    now: tuple[int, int], text: str, hours: list[int] | str
) -> None:
    local = datetime(2026, 11, 23, *now, tzinfo=KOLKATA)
    try:
        found = [read_time(text, local, KOLKATA).at]
    except TimeQuestion as question:
        found = list(question.choices)
        if question.about is Asked.OVER:
            said = question.at
            assert said is not None
            assert [at.astimezone(KOLKATA).hour for at in found] == [said.astimezone(KOLKATA).hour]
            assert hours == "over"
            return
    assert [at.astimezone(KOLKATA).hour for at in found] == hours


def test_a_time_that_a_clock_change_leaves_out_is_refused_with_the_next_one() -> None:
    spring = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
    with pytest.raises(NoSuchTime) as gap:
        read_time("tomorrow 02:30", spring, BERLIN)
    assert f"{gap.value.after:%H:%M}" == "03:00"


FIRST, SECOND = datetime(2026, 10, 25, 0, 45, tzinfo=UTC), datetime(2026, 10, 25, 1, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "text", "meant"),
    [
        ("2026-10-24T12:00Z", "tomorrow 02:45", [FIRST, SECOND]),
        ("2026-10-25T00:30Z", "02:45", [FIRST, SECOND]),  # 2:30, the first
        ("2026-10-25T00:30Z", "today 02:45", [FIRST, SECOND]),
        ("2026-10-25T00:50Z", "02:45", [SECOND]),  # 2:50, the first: one of both is over
        ("2026-10-25T00:50Z", "today 02:45", [SECOND]),
        ("2026-10-25T01:10Z", "02:45", [SECOND]),  # 2:10, the second
        ("2026-10-25T00:15Z", "+30 min", [FIRST]),
        ("2026-10-25T01:15Z", "+30 min", [SECOND]),
        ("2026-10-25T00:45Z", "in 1 hour", [SECOND]),
        ("2026-10-24T12:00Z", "2026-10-25 02:45+0200", [FIRST]),
        ("2026-10-24T12:00Z", "2026-10-25 02:45+0100", [SECOND]),
    ],
)
def test_of_a_time_that_clocks_show_twice_the_one_to_come_is_meant_or_it_is_asked(
    now: str, text: str, meant: list[datetime]
) -> None:
    at = datetime.fromisoformat(now)
    if len(meant) == 1:
        assert read_time(text, at, BERLIN) == LocalTime(meant[0], twice=True)
        return
    with pytest.raises(TimeQuestion) as question:
        read_time(text, at, BERLIN)
    assert (question.value.about, list(question.value.choices)) == (Asked.TWICE, meant)


GERMAN = replace(
    ENGLISH_WORDS,
    today=("heute",),
    tomorrow=("morgen",),
    after_tomorrow=("übermorgen",),
    weekdays=tuple((day, f"am {day}") for day in ("mo", "di", "mi", "do", "fr", "sa", "so")),
    hours=("Std", "Stunden"),
    clock=("Uhr",),
    forenoon=("früh",),
    skipped=("um", "am"),
    of_24=True,
)
JAPANESE = replace(
    ENGLISH_WORDS,
    tonight=("今夜",),
    tomorrow=("明日",),
    weekdays=tuple((day, f"{day}曜") for day in "月火水木金土日"),
    months=((),) * 12,
    ahead=("後",),
    minutes=("分",),
    hours=("時間",),
    days=("日後",),
    clock=("時",),
    forenoon=("午前",),
    afternoon=("午後",),
)


@pytest.mark.parametrize(
    ("words", "text", "day", "clock"),
    [
        (GERMAN, "morgen um 6 Uhr 15", 24, "06:15"),
        (GERMAN, "Übermorgen 18 uhr", 25, "18:00"),
        (GERMAN, "ubermorgen 18:00", 25, "18:00"),
        (GERMAN, "morgen früh um 6", 24, "06:00"),
        (GERMAN, "am Fr. 14:00", 27, "14:00"),
        (GERMAN, "fri 14", 27, "14:00"),
        (GERMAN, "tomorrow 0615", 24, "06:15"),
        (GERMAN, "morgen 6h", 24, "06:00"),
        (JAPANESE, "明日午前6時15分", 24, "06:15"),
        (JAPANESE, "明日０６：１５", 24, "06:15"),
        (JAPANESE, "明日午後6時半", 24, "18:30"),
        (JAPANESE, "金曜14時", 27, "14:00"),
        (JAPANESE, "日 14:00", 29, "14:00"),
        (JAPANESE, "今夜8時", 23, "20:00"),
        (JAPANESE, "3日後 09:30", 26, "09:30"),
        (JAPANESE, "11月27日(金) 06:15", 27, "06:15"),
        (JAPANESE, "2026年11月27日 18時", 27, "18:00"),
        (JAPANESE, "40分後", 23, "16:36"),
        (JAPANESE, "2時間後", 23, "17:56"),
        (JAPANESE, "tomorrow 6am", 24, "06:00"),
    ],
)
def test_another_language_is_words_alone_and_english_is_understood_too(
    words: TimeWords, text: str, day: int, clock: str
) -> None:
    here = read_time(text, NOW, KOLKATA, words.and_english()).at.astimezone(KOLKATA)
    assert (here.day, f"{here:%H:%M}") == (day, clock)


def test_a_word_that_means_something_else_in_english_is_refused_as_ambiguous() -> None:
    for text in ("12 am", "6:15 am", "6 am"):  # German "on", English "before noon"
        with pytest.raises(NotATime) as refused:
            read_time(text, NOW, KOLKATA, GERMAN.and_english())
        assert (refused.value.why, refused.value.part) == (TimeRefusal.TWO_THINGS, "am")
    with pytest.raises(NotATime) as unknown:
        read_time("morgen fünf", NOW, KOLKATA, GERMAN.and_english())
    assert unknown.value.part == "fünf"
    with pytest.raises(NotATime):
        read_time("tomorrow 6", NOW, KOLKATA, GERMAN)
    on = read_time("am 24.11. 18:30", NOW, KOLKATA, GERMAN.and_english()).at
    assert f"{on.astimezone(KOLKATA):%d %H:%M}" == "24 18:30"


def test_no_word_of_english_means_two_things() -> None:
    assert TWO_THINGS not in ENGLISH_WORDS.tags().values()
    assert all(word == normalised_words(word) and "." not in word for word in ENGLISH_WORDS.tags())
    assert [len(ENGLISH_WORDS.weekdays), len(ENGLISH_WORDS.months)] == [7, 12]
