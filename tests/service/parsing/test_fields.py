"""Each reading of one JSON value gives the value or None, and never raises an exception."""

import unicodedata
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.geo import LatLng
from ridedash.service.parsing import fields, units
from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.types.products import Product
from ridedash.service.types.rate_cards import CancellationPolicy

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text()
    | st.sampled_from(
        [
            "-1",
            "1e999",
            "9" * 400,
            "0x10",
            "٣",
            " 5 ",
            "NaN",
            Decimal("1E+999999"),
            Decimal("1E-999999"),
        ]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)

READINGS = [
    fields.row,
    fields.currency,
    fields.rows,
    fields.items,
    fields.text,
    fields.ident,
    fields.number,
    fields.positive,
    fields.integer,
    fields.real,
    fields.flag,
    fields.link,
    fields.place,
    fields.ring,
    units.duration,
    units.length,
    units.time_unit,
    units.length_unit,
    units.measured_time,
    units.service_time,
    lambda value: units.measured_length(value, "metre"),
    lambda value: fields.point(value, value),
    lambda value: units.duration("3", value),
    lambda value: units.length({"value": 3}, value),
]


@given(anything)
def test_no_value_raises(value):
    for reading in READINGS:
        reading(value)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("0.2", Decimal("0.2")),
        (" 1900.0 ", Decimal(1900)),
        (50, Decimal(50)),
        (4.73269, Decimal("4.73269")),
        ("-1", Decimal(-1)),
        ("+3", Decimal(3)),
        (".5", Decimal("0.5")),
        (Decimal("1E+3"), Decimal(1000)),
        (0.1, Decimal("0.1")),
        (Decimal("0E+99999999"), Decimal(0)),
        (Decimal("0.1234567890123456789"), Decimal("0.123456789012")),
        ("", None),
        ("NA", None),
        ("1e5", None),
        ("1,900", None),
        ("٣", None),
        (True, None),
        (None, None),
        ([], None),
        (float("nan"), None),
        (float("inf"), None),
        (Decimal("NaN"), None),
        (Decimal("1E+99999999"), None),
        (10**12, None),
        ("9" * 5000, None),
    ],
)
def test_a_number_is_read_exactly_or_not_at_all(value, read):
    assert fields.number(value) == read


def test_a_number_of_5000_digits_is_none_for_every_reading():
    for reading in READINGS:
        assert not reading(10**5000)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("CRN123", "CRN123"),
        (12345, "12345"),
        (" x ", "x"),
        *(
            (bad, None)
            for bad in ("", "a b", "null", "x" * 101, "\u202ex", True, Decimal("1.5"), 10**50, {})
        ),
    ],
)
def test_an_identifier_is_whole_or_none(value, read):
    assert fields.ident(value) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("https://img.example/a.png?x=1", "https://img.example/a.png?x=1"),
        (" https://img.example ", "https://img.example"),
        ("HTTPS://img.example/", "HTTPS://img.example/"),
    ]
    + [
        (bad, None)
        for bad in (
            "http://img.example/a.png",
            "javascript:alert(1)",
            "//img.example",
            "https://",
            "https:///x",
            "https://u:p@img.example",
            "https://img.example/\u202e",
            "https://[::1",
            "https://img.example/" + "x" * 3000,
            "no address",
            7,
            None,
        )
    ],
)
def test_a_link_is_https_without_credentials_or_none(value, read):
    assert fields.link(value) == read


@pytest.mark.parametrize(
    ("lat", "lng", "read"),
    [
        ("12.5", 77, LatLng(12.5, 77.0)),
        (0, 0, None),
        ("0", "0.0", None),
        (0, 5, LatLng(0.0, 5.0)),
        (91, 0, None),
        (5, 181, None),
        (5, None, None),
        ("x", 5, None),
    ],
)
def test_a_position_is_whole_and_on_the_globe_or_none(lat, lng, read):
    assert fields.point(lat, lng) == read


@pytest.mark.parametrize(
    ("unit", "seconds"),
    [(word, 180) for word in ("MINUTE", "MINUTES", "minute", "Minutes", "min", " MINS ", None, "")]
    + [
        ("SECONDS", 3),
        ("second", 3),
        ("hour", 10800),
        ("HRS", 10800),
        ("day", 259200),
        ("fortnight", None),
        (7, None),
    ],
)
def test_a_time_unit_is_read_in_any_spelling(unit, seconds):
    assert units.duration("3", unit) == (None if seconds is None else Duration(seconds=seconds))


@pytest.mark.parametrize(
    ("unit", "metres"),
    [(word, 200) for word in ("KM", "KMS", "kilometre", "kilometer", "Kilometers", "km", None)]
    + [("METER", 0), ("metres", 0), ("mile", 322), ("parsec", None), ([], None)],
)
def test_a_length_unit_is_read_in_any_spelling(unit, metres):
    assert units.length("0.2", unit) == (None if metres is None else Distance(metres=metres))


def test_minutes_are_rounded_up_and_kilometres_exact():
    assert Duration(seconds=61).minutes == 2
    assert Duration(seconds=180).minutes == 3
    assert Distance(metres=1234).km == Decimal("1.234")


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2016-06-16T10:45:38.000+05:30", datetime(2016, 6, 16, 5, 15, 38, tzinfo=UTC)),
        ("2016-06-16T10:45:38+5:30", datetime(2016, 6, 16, 5, 15, 38, tzinfo=UTC)),
        ("2016-06-16 10:45:38,250 +0530", datetime(2016, 6, 16, 5, 15, 38, 250000, tzinfo=UTC)),
        ("2016-06-16T10:45:38 Asia/Kolkata", datetime(2016, 6, 16, 5, 15, 38, tzinfo=UTC)),
        ("2016-06-16T10:45Z", datetime(2016, 6, 16, 10, 45, tzinfo=UTC)),
        ("2016-06-16T10:45:38 -03:00", datetime(2016, 6, 16, 13, 45, 38, tzinfo=UTC)),
        ("2016-06-16T10:45:38 IST", None),
        ("2016-06-16T10:45:38", None),
        ("2016-13-45T10:45:38Z", None),
        ("0001-01-01T00:00:00+05:30", None),
        ("2016-06-16T10:45:38+99:99", None),
        ("2016-06-16T10:45:38 Asia/../../etc/passwd", None),
        ("2016-06-16T10:45:38 America/", None),
        ("soon", None),
    ],
)
def test_a_time_keeps_its_text_and_its_instant_where_it_names_one(written, instant):
    read = units.service_time(written)
    assert (read.text, read.at) == (written, instant)


def test_a_row_normalises_its_keys_and_the_exact_one_wins():
    assert fields.row({"Text ": 1, "CODE": 2}) == {"text": 1, "code": 2}
    assert fields.row({"Text": 1, "text": 2, "TEXT": 3}) == {"text": 2}


@given(st.text() | st.text(alphabet="a\u202e\u200b\u0000\ud800\n\u2028\U000e0041${}<"))
def test_cleaned_text_is_short_and_holds_no_invisible_character(value):
    read = fields.text(value)
    assert read is None or (0 < len(read) <= 300 and read == read.strip())
    for char in read or "":
        assert char in "\u200c\u200d" or unicodedata.category(char) not in {
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
            "Zl",
            "Zp",
        }
    (read or "").encode("utf-8")


@pytest.mark.parametrize("unit", ["second", "minute", "hour", "days"])
def test_a_span_that_would_leave_the_calendar_is_none(unit):
    assert units.duration(999_999_999_999, unit) is None
    assert units.duration("366", "days") == Duration(seconds=366 * 86_400)


@pytest.mark.parametrize(
    ("value", "read"),
    [(True, True), (False, False), (1, True), (0, False), (2, None), (-1, None), (1.0, None)]
    + [(word, True) for word in ("TRUE ", "yes", "1")]
    + [(word, False) for word in ("false", " No", "0")]
    + [(word, None) for word in ("maybe", "", "2", None, [])],
)
def test_a_flag_is_a_boolean_or_a_word_or_digit_for_one(value, read):
    assert fields.flag(value) is read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (7, "7"),
        (Decimal("1.50"), "1.50"),
        (Decimal("1E+3"), "1000"),
        (0.5, "0.5"),
        (True, None),
        ([], None),
        ("", None),
        ("  ", None),
        (" a", "a"),
        ("a  b", "a b"),
        ("a\x00b", "ab"),
        ("ä\u200bb", "äb"),
        ("x" * 300, "x" * 300),
    ],
)
def test_a_text_is_cleaned_and_a_number_is_its_digits(value, read):
    assert fields.text(value) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("x" * 100, "x" * 100),
        (" " * 150 + "x", "x"),
        (" " * 199 + "x", "x"),
        (" " * 200 + "x", None),
        (10**40 - 1, "9" * 40),
        (10**40, None),
        (1 - 10**40, "-" + "9" * 40),
        ("NONE", None),
    ],
)
def test_an_identifier_has_up_to_a_hundred_characters_or_forty_digits(value, read):
    assert fields.ident(value) == read
    assert fields.ident("xyz", 3) == "xyz"
    assert fields.ident("wxyz", 3) is None


def test_numbers_have_their_bounds():
    assert fields.number(10**12 - 1) == 10**12 - 1
    assert fields.number(1 - 10**12) == 1 - 10**12
    assert fields.number(-(10**12)) is None
    assert fields.number(Decimal(10**12)) is None
    assert fields.number("9" * 12) == Decimal("9" * 12)
    assert fields.number(" " * 59 + "7") == 7
    assert fields.number(" " * 60 + "7") is None
    assert fields.number(Decimal("1E-13")) == 0
    assert fields.number(Decimal("1.5E-12")) == Decimal("2E-12")
    assert fields.number(Decimal("0.00000001234567")) == Decimal("0.000000012346")
    assert str(fields.number(Decimal("0E-30"))) == "0"
    assert [fields.positive(each) for each in (0, 1, "-1", "x")] == [0, 1, None, None]
    assert [fields.integer(each) for each in ("5", 5.0, "5.5", True)] == [5, 5, None, None]
    assert [fields.real(each) for each in ("5.5", 5, None)] == [5.5, 5.0, None]


def test_lists_are_flat_and_have_up_to_two_hundred_elements():
    one = {"A": 1}
    assert fields.rows(one) == fields.rows([one]) == fields.rows([[one]]) == [{"a": 1}]
    assert fields.rows({}) == fields.rows([{}]) == fields.rows("a") == []
    assert len(fields.rows([one] * 201)) == len(fields.rows([[one] * 150] * 2)) == 200
    assert fields.items(range(3)) == []
    assert fields.items((1, 2)) == [1, 2]
    assert len(fields.items([1] * 201)) == 200


def test_a_link_has_up_to_two_thousand_characters_and_a_port_that_exists():
    start = "https://img.example/"
    longest = start + "x" * (2000 - len(start))
    assert fields.link(longest) == longest
    assert fields.link(longest + "x") is None
    assert fields.link("https://img.example:8443/x") == "https://img.example:8443/x"
    assert fields.link("https://img.example:0/x") is None
    assert fields.link("https://img.example:x/") is None


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ([1, 2], LatLng(1, 2)),
        ((1, 0), LatLng(1, 0)),
        ([1, 2, 3], None),
        ([1], None),
        ({"Lat": 1, "lng": "2"}, LatLng(1, 2)),
        ({"lat": 1}, None),
        (None, None),
    ],
)
def test_a_place_is_a_pair(value, read):
    assert fields.place(value) == read
    assert fields.ring([value, [3, 4]]) == ((read, LatLng(3, 4)) if read else (LatLng(3, 4),))


def test_keys_are_remembered_up_to_a_thousand_and_long_ones_not(monkeypatch):
    known = set()
    monkeypatch.setattr(fields, "_plain_keys", known)
    sent = {"a": 1, "k" * 40: 2, "k" * 41: 3}
    assert fields.row(sent) == sent
    assert known == {"a", "k" * 40}
    assert fields.row({"a": 1}) == {"a": 1}
    for n in range(1000):
        fields.row({f"key{n}": 1})
    assert len(known) == 1000
    assert fields.row({"B": 1}) == {"b": 1}
    assert "b" not in known


@pytest.mark.parametrize(
    ("sent", "read"), [("inr", "INR"), (" Eur ", "EUR"), ("Rs.", "Rs."), ("", None), (7, "7")]
)
def test_a_currency_is_one_however_it_is_spelled(sent: object, read: str | None) -> None:
    """If letter case mattered, "inr" would be an unknown currency with its own totals."""
    assert fields.currency(sent) == read
    assert Product.from_wire({"id": "mini", "currency": sent}).currency == read
    policy = {"cancellation_charge": 30, "currency": sent}
    assert CancellationPolicy.from_wire(policy).currency == read
