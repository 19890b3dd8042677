"""Amounts, days and times as each language writes them.

The expected texts are written by hand from the charts of CLDR, not taken from Babel.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ridedash.rides.times.typed_time import read_time
from ridedash.rides.tracking.totals import MINOR, minor
from ridedash.views.insights.periods import Period
from ridedash.views.rides.offer_price import money_range
from ridedash.views.web.formatting import (
    clock_time,
    day_text,
    day_time,
    decimal,
    full_time,
    listed,
    measured,
    money,
    places_of,
    time_in_full,
    weekday_time,
    zone,
)

CODES = ("en", "hi", "ar", "es", "fr", "de", "ja", "zh_Hans")
KOLKATA, PARIS = zone("Asia/Kolkata"), zone("Europe/Paris")
NOON = datetime(2026, 3, 1, 6, 30, tzinfo=UTC)
THURSDAY = datetime(2026, 3, 5, 10, 35, tzinfo=UTC)  # 16:05 in Kolkata

Fact = Callable[[str], str]


def amount(number: str, currency: str | None = "INR") -> Fact:
    return lambda code: money(Decimal(number), currency, code)


def span(low: str, high: str, currency: str = "INR") -> Fact:
    return lambda code: money_range(Decimal(low), Decimal(high), currency, code)


def on(year: int, month: int, day: int, parts: str) -> Fact:
    return lambda code: day_text(date(year, month, day), parts, code)


def sizes(*parts: str) -> Fact:
    return lambda code: measured(parts, code)


def names(*parts: str) -> Fact:
    return lambda code: listed(parts, code)


def days(first: date, last: date) -> Fact:
    return lambda code: Period(first, last).words(code)


# Spanish groups four digits too: Babel doesn't know from how many digits on CLDR groups.
# "~" is a no-break space, "'" a narrow one, "@" the mark that keeps Arabic amounts right to left
FACTS: list[tuple[Fact, str]] = [
    (amount("240"), "₹240|₹240|@240~₹|240~INR|240~₹|240~₹|₹240|₹240"),
    (amount("240.5"), "₹240.50|₹240.50|@240.50~₹|240,50~INR|240,50~₹|240,50~₹|₹240.50|₹240.50"),
    (amount("0"), "₹0|₹0|@0~₹|0~INR|0~₹|0~₹|₹0|₹0"),
    (amount("-0.004"), "₹0|₹0|@0~₹|0~INR|0~₹|0~₹|₹0|₹0"),
    (amount("-30"), "−₹30|−₹30|@\u200e−30~₹|−30~INR|−30~₹|−30~₹|−₹30|−₹30"),
    (amount("1250"), "₹1,250|₹1,250|@1,250~₹|1.250~INR|1'250~₹|1.250~₹|₹1,250|₹1,250"),
    (
        amount("1234567"),
        "₹1,234,567|₹12,34,567|@1,234,567~₹|1.234.567~INR|1'234'567~₹|1.234.567~₹"
        "|₹1,234,567|₹1,234,567",
    ),
    (amount("5.5", "EUR"), "€5.50|€5.50|@5.50~€|5,50~€|5,50~€|5,50~€|€5.50|€5.50"),
    (amount("12", "USD"), "$12|$12|@12~US$|12~US$|12~$US|12~$|$12|US$12"),
    (amount("900", "JPY"), "¥900|JP¥900|@900~JP¥|900~JPY|900~JPY|900~¥|￥900|JP¥900"),
    (
        amount("1.5", "KWD"),
        "KWD~1.500|KWD~1.500|@1.500~د.ك.@|1,500~KWD|1,500~KWD|1,500~KWD|KWD~1.500|KWD~1.500",
    ),
    (amount("7.25", "GBP"), "£7.25|£7.25|@7.25~UK£|7,25~GBP|7,25~£GB|7,25~£|£7.25|£7.25"),
    (
        span("210", "260"),
        "₹210–260|₹210–260|@210–@260~₹|210–260~INR|210–260~₹|210–260~₹|₹210–260|₹210–260",
    ),
    (
        span("99.5", "120"),
        "₹99.50–120|₹99.50–120|@99.50–@120~₹|99,50–120~INR|99,50–120~₹"
        "|99,50–120~₹|₹99.50–120|₹99.50–120",
    ),
    (names("A", "B"), "A and B|A और B|A وB|A y B|A et B|A und B|A、B|A和B"),
    (
        names("A", "B", "C"),
        "A, B and C|A, B, और C|A وB وC|A, B y C|A, B et C|A, B und C|A、B、C|A、B和C",
    ),
    (sizes("4 h"), "|".join(["4 h"] * 8)),
    (
        sizes("4 h", "40 km"),
        "4 h, 40 km|4 h और 40 km|4 h و40 km|4 h y 40 km|4 h et 40 km|4 h, 40 km|4 h 40 km|4 h40 km",
    ),
    (
        sizes("2 d", "4 h", "9 km"),
        "2 d, 4 h, 9 km|2 d, 4 h, और 9 km|2 d، و4 h، و9 km|2 d, 4 h y 9 km|2 d, 4 h et 9 km"
        "|2 d, 4 h und 9 km|2 d 4 h 9 km|2 d4 h9 km",
    ),
    (
        sizes("1", "2", "3", "4"),
        "1, 2, 3, 4|1, 2, 3, और 4|1، و2، و3، و4|1, 2, 3 y 4|1, 2, 3 et 4|1, 2, 3 und 4"
        "|1 2 3 4|1234",
    ),
    (span("8", "8", "EUR"), "€8|€8|@8~€|8~€|8~€|8~€|€8|€8"),
    (on(2026, 3, 5, "MMMd"), "5 Mar|5 मार्च|5 مارس|5 mar|5 mars|5. März|3月5日|3月5日"),
    (on(2026, 1, 31, "MMMd"), "31 Jan|31 जन॰|31 يناير|31 ene|31 janv.|31. Jan.|1月31日|1月31日"),
    (on(2026, 5, 1, "MMMd"), "1 May|1 मई|1 مايو|1 may|1 mai|1. Mai|5月1日|5月1日"),
    (on(2026, 7, 14, "MMMd"), "14 Jul|14 जुल॰|14 يوليو|14 jul|14 juil.|14. Juli|7月14日|7月14日"),
    (on(2026, 8, 9, "MMMd"), "9 Aug|9 अग॰|9 أغسطس|9 ago|9 août|9. Aug.|8月9日|8月9日"),
    (on(2026, 10, 2, "MMMd"), "2 Oct|2 अक्टू॰|2 أكتوبر|2 oct|2 oct.|2. Okt.|10月2日|10月2日"),
    (
        on(2026, 12, 24, "MMMd"),
        "24 Dec|24 दिस॰|24 ديسمبر|24 dic|24 déc.|24. Dez.|12月24日|12月24日",
    ),
    (
        on(2026, 3, 5, "MMMEd"),
        "Thu 5 Mar|गुरु, 5 मार्च|الخميس، 5 مارس|jue, 5 mar|jeu. 5 mars|Do., 5. März"
        "|3月5日(木)|3月5日周四",
    ),
    (
        on(2026, 3, 8, "MMMEd"),
        "Sun 8 Mar|रवि, 8 मार्च|الأحد، 8 مارس|dom, 8 mar|dim. 8 mars|So., 8. März"
        "|3月8日(日)|3月8日周日",
    ),
    (
        on(2026, 3, 5, "yMMMd"),
        "5 Mar 2026|5 मार्च 2026|5 مارس 2026|5 mar 2026|5 mars 2026|5. März 2026"
        "|2026年3月5日|2026年3月5日",
    ),
    (
        on(2025, 12, 31, "yMMMd"),
        "31 Dec 2025|31 दिस॰ 2025|31 ديسمبر 2025|31 dic 2025|31 déc. 2025|31. Dez. 2025"
        "|2025年12月31日|2025年12月31日",
    ),
    (lambda code: clock_time(THURSDAY, KOLKATA, code), "|".join(["16:05"] * 8)),
    (lambda code: day_time(THURSDAY, THURSDAY, KOLKATA, code), "|".join(["16:05"] * 8)),
    (
        lambda code: day_time(THURSDAY, NOON, KOLKATA, code),
        "5 Mar 16:05|5 मार्च, 16:05|5 مارس، 16:05|5 mar, 16:05|5 mars 16:05|5. März, 16:05"
        "|3月5日 16:05|3月5日 16:05",
    ),
    (
        lambda code: weekday_time(THURSDAY, KOLKATA, code),
        "Thu 5 Mar 16:05|गुरु, 5 मार्च, 16:05|الخميس، 5 مارس، 16:05|jue, 5 mar, 16:05"
        "|jeu. 5 mars 16:05|Do., 5. März, 16:05|3月5日(木) 16:05|3月5日周四 16:05",
    ),
    (
        lambda code: full_time(THURSDAY, PARIS, code).rpartition(" ")[0],
        "5 Mar 2026, 11:35|5 मार्च 2026, 11:35|5 مارس 2026، \u206611:35|5 mar 2026, 11:35"
        "|5 mars 2026 11:35|5. März 2026, 11:35|2026年3月5日 11:35|2026年3月5日 11:35",
    ),
    (
        days(date(2026, 5, 1), date(2026, 5, 31)),
        "1 – 31 May 2026|1–31 मई 2026|1–31 مايو 2026|1–31 may 2026|1–31 mai 2026"
        "|1.–31. Mai 2026|2026年5月1日～31日|2026年5月1日至31日",
    ),
]


def test_facts_are_written_as_each_language_writes_them() -> None:
    assert len(FACTS) >= 30
    wrong = []
    for number, (fact, expected) in enumerate(FACTS):
        wanted = expected.replace("~", "\u00a0").replace("'", "\u202f").replace("@", "\u200f")
        for code, text in zip(CODES, wanted.split("|"), strict=True):
            if fact(code) != text:
                wrong.append((number, code, fact(code), text))
    assert wrong == []


def test_an_unknown_language_and_an_unknown_currency_are_written_somehow() -> None:
    assert money(Decimal("5.5"), "INR", "tlh") == "5.50 INR"
    assert money(Decimal(1250), None) == "1,250"
    assert money(None, "INR") == ""


@pytest.mark.parametrize("sent", ["100.005", "0.125", "1.245", "-0.125", "2.675", "99.995"])
def test_a_ride_says_the_same_cents_as_the_history_that_adds_it_up(sent: str) -> None:
    amount = Decimal(sent)
    whole = Decimal(minor(amount)) / MINOR
    for currency in ("INR", None, "tlh"):
        assert money(amount, currency) == money(whole, currency)


AMOUNTS = st.decimals(0, 100_000, places=3)
CURRENCIES = st.sampled_from(["INR", "EUR", "KWD", "BHD", "OMR", "TND", "JOD", "JPY", "KRW"])


@given(AMOUNTS, CURRENCIES)
@example(Decimal("2.375"), "KWD")
@example(Decimal("1250.5"), "JPY")
def test_an_amount_is_shown_to_its_currencys_smallest_coin(sent: Decimal, currency: str) -> None:
    fine = currency in {"KWD", "BHD", "OMR", "TND", "JOD"}
    assert places_of(currency) == (3 if fine else 2)
    shown, stored = money(sent, currency), Decimal(minor(sent)) / MINOR
    expected = sent if fine else stored  # all three decimals, or rounded half up to hundredths
    assert read(shown) == expected
    assert [len(part) for part in re.findall(r"\.(\d+)", shown)] in ([], [3 if fine else 2])
    added_up = money(stored, currency, hundredths=True)
    assert read(added_up) == stored
    assert [len(part) for part in re.findall(r"\.(\d+)", added_up)] in ([], [2])


def read(shown: str) -> Decimal:
    """An English amount as a number."""
    return Decimal(re.sub(r"[^\d.]", "", shown))


@pytest.mark.parametrize(
    ("currency", "shown"),
    [("INR", "₹900.00"), ("KWD", "KWD\u00a0900.000"), ("JPY", "¥900"), ("KRW", "₩900")],
)
def test_a_column_with_cents_has_none_in_a_currency_without_any(currency: str, shown: str) -> None:
    assert money(Decimal(900), currency, cents=True) == shown


@given(st.lists(AMOUNTS, min_size=1, max_size=5), st.sampled_from(["KWD", "TND"]))
def test_the_lines_of_a_bill_in_thousandths_add_up(lines: list[Decimal], currency: str) -> None:
    shown = [read(money(line, currency, cents=True)) for line in lines]
    assert sum(shown) == read(money(sum(lines, Decimal(0)), currency, cents=True))


@pytest.mark.parametrize("second", [0, 1, 30, 59])
@pytest.mark.parametrize("typed", [15, 17, 60, 77])
def test_a_time_so_many_minutes_ahead_reads_as_it_was_typed(typed: int, second: int) -> None:
    now = NOON.replace(second=second, microsecond=second * 1000)
    found = read_time(f"in {typed} min", now, KOLKATA)
    hours, minutes = divmod(typed, 60)
    words = {15: "in 15 min", 17: "in 17 min", 60: "in 1 h", 77: "in 1 h 17 min"}
    assert time_in_full(found.at, now, KOLKATA).endswith(words[typed])
    assert found.at - now >= timedelta(hours=hours, minutes=minutes)


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (16.666, "en", "16.7"),
        (16.666, "de", "16,7"),
        (100.0, "de", "100"),
        (-0.04, "de", "0"),
        (1234, "hi", "1,234"),
        (123456, "hi", "1,23,456"),
        (1234, "es", "1.234"),
    ],
)
def test_a_number_is_written_as_its_language_does(number: float, code: str, shown: str) -> None:
    assert decimal(number, code) == shown
