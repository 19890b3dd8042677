"""Typed pickup times: what they mean on the property's clock, and why some are refused."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.orders.schedule_times import NoSuchTime
from ridedash.rides.orders.time_words import ENGLISH, TWO_THINGS, TimeWords, normalised_words
from ridedash.rides.orders.typed_time import NotATime, TimeRefusal, read_time

KOLKATA, BERLIN = ZoneInfo("Asia/Kolkata"), ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 23, 10, 25, 20, tzinfo=UTC)  # Monday, 15:55:20 in Kolkata


def shown(text: str) -> str:
    found = read_time(text, NOW, KOLKATA)
    assert found.at > NOW
    assert found.at.second == 0
    return f"{found.at.astimezone(KOLKATA):%a %d %b %H:%M}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("6:15", "Tue 24 Nov 06:15"),
        ("0615", "Tue 24 Nov 06:15"),
        ("615", "Tue 24 Nov 06:15"),
        ("6.15", "Tue 24 Nov 06:15"),
        ("at 6", "Tue 24 Nov 06:00"),
        ("15:55", "Tue 24 Nov 15:55"),  # today's 15:55 has already begun
        ("15:56", "Mon 23 Nov 15:56"),
        ("tomorrow 0615", "Tue 24 Nov 06:15"),
        ("0615 TOMORROW", "Tue 24 Nov 06:15"),
        ("tm615", "Tue 24 Nov 06:15"),
        ("day after tomorrow, 9", "Wed 25 Nov 09:00"),
        ("fri 14", "Fri 27 Nov 14:00"),
        ("Fri. 2 p.m.", "Fri 27 Nov 14:00"),
        ("mon 16", "Mon 23 Nov 16:00"),
        ("mon 15", "Mon 30 Nov 15:00"),
        ("14h30", "Tue 24 Nov 14:30"),
        ("14h", "Tue 24 Nov 14:00"),
        ("noon", "Tue 24 Nov 12:00"),
        ("midnight", "Tue 24 Nov 00:00"),
        ("12 am", "Tue 24 Nov 00:00"),
        ("12:30 pm", "Tue 24 Nov 12:30"),
        ("tonight 8", "Mon 23 Nov 20:00"),
        ("tonight 1:30", "Tue 24 Nov 01:30"),
        ("tomorrow at 6 in the morning", "Tue 24 Nov 06:00"),
        ("in 40 min", "Mon 23 Nov 16:36"),  # 16:35:20, rounded up to a whole minute
        ("+40", "Mon 23 Nov 16:36"),
        ("40 minutes", "Mon 23 Nov 16:36"),
        ("in 2 h", "Mon 23 Nov 17:56"),
        ("in 1h30", "Mon 23 Nov 17:26"),
        ("1 hour 30", "Mon 23 Nov 17:26"),
        ("in 3 days 9:30", "Thu 26 Nov 09:30"),
        ("24 nov 6", "Tue 24 Nov 06:00"),
        ("Nov 24 6:15 pm", "Tue 24 Nov 18:15"),
        ("24.11. 6:15", "Tue 24 Nov 06:15"),
        ("24/11 6:15", "Tue 24 Nov 06:15"),
        ("1 january 6", "Fri 01 Jan 06:00"),
        ("2026-11-24 06:15", "Tue 24 Nov 06:15"),
        ("2026-11-24T06:15", "Tue 24 Nov 06:15"),
        ("Tomorrow, Tue 24 Nov, 06:15", "Tue 24 Nov 06:15"),  # the form in which times are shown
        ("६:१५", "Tue 24 Nov 06:15"),
        # a year is not read as a clock time
        ("nov 24 2026 6:15", "Tue 24 Nov 06:15"),
        ("November 24th, 2026 at 6", "Tue 24 Nov 06:00"),
        ("24 nov 2026 0615", "Tue 24 Nov 06:15"),
        ("2026 nov 24 6:15", "Tue 24 Nov 06:15"),
        ("24.11. 2026 6:15", "Tue 24 Nov 06:15"),
        ("24.11.26 6:15", "Tue 24 Nov 06:15"),
        ("24/11/26 6:15", "Tue 24 Nov 06:15"),
        ("jan 1 2027 noon", "Fri 01 Jan 12:00"),
        ("24 nov 2030", "Tue 24 Nov 20:30"),  # 2030 is too far ahead to be the year of a ride
        ("tomorrow 2026", "Tue 24 Nov 20:26"),
        # nights
        ("tomorrow 2 at night", "Tue 24 Nov 02:00"),
        ("fri 1:30 at night", "Fri 27 Nov 01:30"),
        ("2 at night", "Tue 24 Nov 02:00"),
        ("today 2 at night", "Tue 24 Nov 02:00"),
        ("8 at night", "Mon 23 Nov 20:00"),
        ("tomorrow night 11", "Tue 24 Nov 23:00"),
        ("tomorrow night 23:30", "Tue 24 Nov 23:30"),
        ("12 at night", "Tue 24 Nov 00:00"),
        ("tonight 12", "Tue 24 Nov 00:00"),
        ("tonight 12:30", "Tue 24 Nov 00:30"),
        ("tonight 12 am", "Tue 24 Nov 00:00"),
        ("tonight 0:30", "Tue 24 Nov 00:30"),
        ("tonight midnight", "Tue 24 Nov 00:00"),
        ("this evening 12", "Tue 24 Nov 00:00"),
        ("tonight 8 pm", "Mon 23 Nov 20:00"),
        ("tonight 16:30", "Mon 23 Nov 16:30"),
        ("tomorrow evening 8", "Tue 24 Nov 20:00"),
        ("tomorrow evening 8 pm", "Tue 24 Nov 20:00"),
        # noon and midnight
        ("tomorrow 12 am", "Tue 24 Nov 00:00"),
        ("tomorrow 12 pm", "Tue 24 Nov 12:00"),
        ("tomorrow 12", "Tue 24 Nov 12:00"),
        ("tomorrow noon", "Tue 24 Nov 12:00"),
        ("12:30 in the morning", "Tue 24 Nov 00:30"),
    ],
)
def test_a_typed_time_is_the_next_one_of_that_name(text: str, meant: str) -> None:
    assert shown(text) == meant


@pytest.mark.parametrize(
    ("text", "why", "part"),
    [
        ("", TimeRefusal.EMPTY, ""),
        (" , ", TimeRefusal.EMPTY, ""),
        ("sometime", TimeRefusal.UNKNOWN, "sometime"),
        ("in 5 parsecs", TimeRefusal.UNKNOWN, "parsecs"),
        ("tomorrow 6 7", TimeRefusal.UNKNOWN, "7"),
        ("in 6:15", TimeRefusal.UNKNOWN, "in 6:15"),
        ("<today> 6 <b>", TimeRefusal.UNKNOWN, "b"),
        ("6" * 80, TimeRefusal.UNKNOWN, "6" * 20 + "…"),
        ("fri", TimeRefusal.NO_CLOCK, ""),
        ("tomorrow", TimeRefusal.NO_CLOCK, ""),
        ("25:00", TimeRefusal.NO_HOUR, "25:00"),
        ("6:75", TimeRefusal.NO_HOUR, "6:75"),
        ("14 am", TimeRefusal.NO_HOUR, "14:00"),
        ("31 feb 6", TimeRefusal.NO_DAY, "31 feb 6"),
        ("2026-13-40 6", TimeRefusal.NO_DAY, "2026-13-40"),
        ("0001-01-01 6", TimeRefusal.NO_DAY, "0001-01-01"),
        ("fri 24 nov 6", TimeRefusal.NOT_THAT_DAY, "2026-11-24"),
        ("today 24 nov 6", TimeRefusal.NOT_THAT_DAY, "2026-11-23"),
        ("3/4 6:15", TimeRefusal.DAY_OR_MONTH, "3/4"),
        ("2h", TimeRefusal.SPAN_OR_CLOCK, "2"),
        ("tomorrow midnight", TimeRefusal.MIDNIGHT, ""),
        ("fri midnight", TimeRefusal.MIDNIGHT, ""),
        ("24 nov midnight", TimeRefusal.MIDNIGHT, ""),
        ("24 nov", TimeRefusal.NO_CLOCK, ""),
        ("nov 24 2026", TimeRefusal.NO_CLOCK, ""),
        ("2026 nov 24", TimeRefusal.NO_CLOCK, ""),
        ("24.11. 2026", TimeRefusal.NO_CLOCK, ""),
        (
            "tomorrow 12 at night",
            TimeRefusal.NIGHT,
            "",
        ),  # the midnight before that day, or after it
        ("fri night 1", TimeRefusal.NIGHT, ""),  # the night before Friday, or the night after it
        ("tonight noon", TimeRefusal.NIGHT, ""),
        ("tonight 12 pm", TimeRefusal.NIGHT, ""),
        ("tonight 9 am", TimeRefusal.NIGHT, ""),
        ("tomorrow night 10 am", TimeRefusal.NIGHT, ""),
        ("2 in the evening", TimeRefusal.NIGHT, ""),
        ("5 at night", TimeRefusal.NIGHT, ""),
        ("today 6:15", TimeRefusal.PAST, ""),
        ("20 nov 6", TimeRefusal.PAST, ""),
        ("in 0 min", TimeRefusal.PAST, ""),
    ],
)
def test_what_is_no_time_to_come_says_why(text: str, why: TimeRefusal, part: str) -> None:
    with pytest.raises(NotATime) as refused:
        read_time(text, NOW, KOLKATA)
    assert (refused.value.why, refused.value.part) == (why, part)


def test_a_time_that_a_clock_change_leaves_out_or_repeats_is_refused_or_marked() -> None:
    spring = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
    with pytest.raises(NoSuchTime) as gap:
        read_time("tomorrow 2:30", spring, BERLIN)
    assert f"{gap.value.after:%H:%M}" == "03:00"
    autumn = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
    found = read_time("tomorrow 0230", autumn, BERLIN)
    assert (found.at, found.twice) == (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), True)
    night = datetime(2026, 10, 24, 23, 50, tzinfo=UTC)  # 01:50 in Berlin, summer time
    assert read_time("in 5 h", night, BERLIN).at.astimezone(BERLIN).hour == 5
    with pytest.raises(NotATime) as twice:
        read_time("in 90 min", night, BERLIN)
    assert twice.value.why is TimeRefusal.TWICE


GERMAN = replace(
    ENGLISH,
    today=("heute",),
    tomorrow=("morgen",),
    after_tomorrow=("übermorgen",),
    weekdays=tuple((day, f"am {day}") for day in ("mo", "di", "mi", "do", "fr", "sa", "so")),
    hours=("Std", "Stunden"),
    clock=("Uhr",),
    forenoon=("früh",),
    skipped=("um", "am"),
)
JAPANESE = replace(
    ENGLISH,
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
        (JAPANESE, "明日6時15分", 24, "06:15"),
        (JAPANESE, "明日６：１５", 24, "06:15"),
        (JAPANESE, "明日午後6時半", 24, "18:30"),
        (JAPANESE, "金曜14時", 27, "14:00"),
        (JAPANESE, "日 14:00", 29, "14:00"),
        (JAPANESE, "今夜8時", 23, "20:00"),
        (JAPANESE, "3日後 9:30", 26, "09:30"),
        (JAPANESE, "11月27日(金) 06:15", 27, "06:15"),
        (JAPANESE, "2026年11月27日 6時", 27, "06:00"),
        (JAPANESE, "40分後", 23, "16:36"),
        (JAPANESE, "2時間後", 23, "17:56"),
        (JAPANESE, "tomorrow 6", 24, "06:00"),
    ],
)
def test_another_language_is_words_alone_and_english_is_understood_too(
    words: TimeWords, text: str, day: int, clock: str
) -> None:
    here = read_time(text, NOW, KOLKATA, words.and_english()).at.astimezone(KOLKATA)
    assert (here.day, f"{here:%H:%M}") == (day, clock)


def test_a_word_that_means_something_else_in_english_is_refused_as_ambiguous() -> None:
    for text in ("12 am", "am 24.11. 12:30", "6 am"):  # German "on", English "before noon"
        with pytest.raises(NotATime) as refused:
            read_time(text, NOW, KOLKATA, GERMAN.and_english())
        assert (refused.value.why, refused.value.part) == (TimeRefusal.TWO_THINGS, "am")
    with pytest.raises(NotATime) as unknown:
        read_time("morgen fünf", NOW, KOLKATA, GERMAN.and_english())
    assert unknown.value.part == "fünf"
    with pytest.raises(NotATime):
        read_time("tomorrow 6", NOW, KOLKATA, GERMAN)


def test_no_word_of_english_means_two_things() -> None:
    assert TWO_THINGS not in ENGLISH.tags().values()
    assert all(word == normalised_words(word) and "." not in word for word in ENGLISH.tags())
    assert [len(ENGLISH.weekdays), len(ENGLISH.months)] == [7, 12]
