"""Phone numbers in any notation."""

from pathlib import Path

import pytest

from ridedash.forms.phones import (
    PhoneAsks,
    PhoneError,
    grouped,
    kind_of,
    numbers_in,
    read_phone,
    tel,
    without_extension,
)


@pytest.mark.parametrize(
    ("typed", "country", "stored"),
    [
        ("022 2778 3300", "IN", "+912227783300"),
        ("(022) 2778-3300", "IN", "+912227783300"),
        ("+91 22 2778 3300", "DE", "+912227783300"),
        ("0091 22 2778 3300", "IN", "+912227783300"),
        ("0091 22 2778 3300", None, "+912227783300"),
        ("+44 20 7946 0958", "IN", "+442079460958"),
        ("tel:+44-20-7946-0958", "IN", "+442079460958"),
        ("०२२ २७७८ ३३००", "IN", "+912227783300"),
        ("+٩١٢٢٢٧٧٨٣٣٠٠", None, "+912227783300"),
        ("  ", "IN", None),
    ],
)
def test_a_phone_number_in_any_notation_is_stored_as_e164(
    typed: str, country: str | None, stored: str | None
) -> None:
    assert read_phone(typed, country) == stored


@pytest.mark.parametrize(
    "typed", ["12", "the red one", "+999 1234567", "022 2778 33001234567890", "{{7*191}}", "+"]
)
def test_an_invalid_phone_number_is_refused_with_advice(typed: str) -> None:
    with pytest.raises(PhoneError, match="country code"):
        read_phone(typed, "IN")


# country of the property, what is typed, what is read
READ = """
IN | 98450 11111 | +919845011111
IN | 098450-11111 | +919845011111
IN | 91 98450 11111 | +919845011111
IN | 919845011111 | +919845011111
IN | 98450/11111 | +919845011111
IN | 0091 98450 11111 | +919845011111
IN | (0)22 2778 3300 | +912227783300
IN | ०९८४५० १११११ | +919845011111
IN | 98450 11111 / +91 98450 11111 | +919845011111
IN | Tel: 98450 11111 | +919845011111
IN | '+91 98450 11111 | +919845011111
IN | 00971 50 123 4567 | +971501234567
SG | 0091 98450 00000 | +919845000000
SG | 0091-98450-00000 | +919845000000
SG | (0091) 98450 00000 | +919845000000
SG | 001 44 20 7946 0958 | +442079460958
SG | 91 98450 00000 | +919845000000
SG | 6253 0000 | +6562530000
SG | 65 6253 0000 | +6562530000
SG | 9123 4567 | +6591234567
SG | +91\u00a098450\u00a011111 | +919845011111
SG | \u202a+91 98450\u201111111\u202c | +919845011111
SG | ＋９１ ９８４５０ １１１１１ | +919845011111
DE | 0151 2345 6789 | +4915123456789
DE | 0171/1234567 | +491711234567
DE | 030/12345678 | +493012345678
DE | 00 44 (0)20 7946 0958 | +442079460958
DE | +49 (0)30 123456 | +4930123456
DE | 030 123456 Durchwahl 12 | +4930123456;ext=12
DE | 030 123456 DW12 | +4930123456;ext=12
DE | 0091 98765 43214 | +919876543214
DE | +52 1 55 1234 5678 | +525512345678
DE | +54 9 11 2345-6789 | +5491123456789
DE | https://wa.me/919845011111 | +919845011111
US | (212) 555-0123 | +12125550123
US | 1 212 555 0123 | +12125550123
US | 656 253 0000 | +16562530000
US | 011 44 20 7946 0958 | +442079460958
US | 0091 98450 00000 | +919845000000
US | +1 (0)212 555 0123 | +12125550123
US | 91-98450-00000 | +919845000000
GB | 020 7946 0958 | +442079460958
GB | 020 7946 0958 ext. 12 | +442079460958;ext=12
GB | 020 7946 0958x12 | +442079460958;ext=12
GB | 020 7946 0958 (ext 12) | +442079460958;ext=12
GB | tel:+44-20-7946-0958;ext=12 | +442079460958;ext=12
GB | 020 7946 0958,12 | +442079460958;ext=12
GB | +0091 98450 11111 | +919845011111
MX | 55 1234 5678 | +525512345678
MX | 52 1 55 1234 5678 | +525512345678
MX | +52 1 55 1234 5678 | +525512345678
MX | 0052 1 55 1234 5678 | +525512345678
MX | 044 55 1234 5678 | +525512345678
MX | 01 55 1234 5678 | +525512345678
AR | 011 15 2345-6789 | +5491123456789
AR | 11 2345-6789 | +541123456789
AR | +54 11 15 2345 6789 | +5491123456789
AR | 011 4321-1234 int 12 | +541143211234;ext=12
BR | (11) 98765-4321 | +5511987654321
BR | 0 15 11 98765-4321 | +5511987654321
BR | 00 21 49 30 1234567 | +49301234567
AE | 050 123 4567 | +971501234567
AE | ٠٥٠ ١٢٣ ٤٥٦٧ | +971501234567
AE | 0097150 123 4567 | +971501234567
JP | 090-1234-5678 | +819012345678
JP | ０３ー１２３４ー５６７８ | +81312345678
JP | 03-1234-5678 内線12 | +81312345678;ext=12
JP | 010 44 20 7946 0958 | +442079460958
CN | 138 0013 8000 | +8613800138000
CN | 86 138 0013 8000 | +8613800138000
CN | 010 1234 5678 | +861012345678
FR | 06 12 34 56 78 | +33612345678
FR | 06.12.34.56.78 | +33612345678
FR | +33 (0)6 12 34 56 78 | +33612345678
ES | 612 34 56 78 | +34612345678
ES | 91 123 45 67 | +34911234567
AU | 0011 44 20 7946 0958 | +442079460958
RU | 8 (916) 123-45-67 | +79161234567
RU | 8~10 49 30 1234567 | +49301234567
RU | 8 (495) 123-45-67 доб. 12 | +74951234567;ext=12
IT | +39 (0)6 1234 5678 | +390612345678
"""
# what asks, and the numbers among which a person chooses
ASKED = """
DE | 91 98765 43214 | +49919876543214 +919876543214
DE | 919876543214 | +49919876543214 +919876543214
MX | 1 55 1234 5678 | +525512345678 +15512345678
IN | 65 6253 0000 | +916562530000 +6562530000
IN | 6562530000 | +916562530000 +6562530000
IN | 65 9123 4567 | +916591234567 +6591234567
IN | 6591234567 | +916591234567 +6591234567
IN | 659-123-4567 | +916591234567 +6591234567
IN | (212) 555-1234 | +912125551234 +12125551234
IN | 2125551234 | +912125551234 +12125551234
MX | 15512345678 | +525512345678 +15512345678
DE | 212-555-1234 | +492125551234 +12125551234
SG | 919845000000 | +919845000000
IN | 79845 011111 | +79845011111
IN | 98450 11111 / 98450 22222 | +919845011111 +919845022222
IN | 98450 11111, 98450 22222 | +919845011111 +919845022222
IN | 98450 11111 98450 22222 | +919845011111 +919845022222
IN | +919845011111+919845022222 | +919845011111 +919845022222
IN | 98450 11111 or 98450 22222 | +919845011111 +919845022222
IN | 98450 11111 / 12 | +919845011111
DE | 030 123456 / 78 | +4930123456 +493012345678
GB | 020 7946 0958 x12 / 020 7946 0959 | +442079460958;ext=12 +442079460959
"""
REFUSED = """
IN | 98450 OOOOO | letters: “OOOOO”
IN | 98450 l1111 | letters: “l”
IN | 98450 1111I | letters: “I”
US | 1-800-FLOWERS | letters: “FLOWERS”
IN | 98450 11111 (Ann) | letters: “Ann”
GR | 98450 ΟΟΟΟΟ | letters: “ΟΟΟΟΟ”
IN | ext 12 | country code
IN | ++91 98450 11111 | country code
IN | 98450*11111 | country code
"""


def rows(table: str) -> list[list[str]]:
    decoded = table.replace("\\u00a0", "\u00a0").replace("\\u2011", "\u2011")
    return [[cell.strip(" ") for cell in line.split(" | ")] for line in decoded.split("\n")[1:-1]]


@pytest.mark.parametrize(("country", "typed", "stored"), rows(READ))
def test_a_number_is_read_as_people_of_the_country_write_it(
    country: str, typed: str, stored: str
) -> None:
    assert read_phone(typed, country) == stored
    assert read_phone(stored, "ES") == stored, "what is stored is read everywhere as it stands"
    assert kind_of(stored)


@pytest.mark.parametrize(("country", "typed", "choices"), rows(ASKED))
def test_a_text_that_may_be_several_numbers_is_asked(
    country: str, typed: str, choices: str
) -> None:
    with pytest.raises(PhoneAsks) as asked:
        read_phone(typed, country)
    assert list(asked.value.choices) == choices.split()
    assert not asked.value.as_typed
    for each in asked.value.choices:
        assert read_phone(typed, country, chosen={each}) == each
        assert grouped(each) in asked.value.in_full
    with pytest.raises(PhoneAsks):
        read_phone(typed, country, chosen={"+12025550123"})


@pytest.mark.parametrize(
    ("country", "digits"),
    [("IN", "9845011111"), ("IN", "6591234567"), ("DE", "919876543214"), ("ES", "612345678")],
)
def test_the_same_digits_in_other_groups_ask_the_same_question(country: str, digits: str) -> None:
    def asked(typed: str) -> tuple[str, ...]:
        try:
            return (read_phone(typed, country) or "",)
        except PhoneAsks as error:
            return error.choices

    groups = {
        f"{digits[:first]} {digits[first:second]}-{digits[second:]}"
        for first in range(1, 5)
        for second in range(5, 8)
    }
    assert {asked(typed) for typed in groups} == {asked(digits)}


@pytest.mark.parametrize(("country", "typed", "why"), rows(REFUSED))
def test_letters_and_foreign_signs_are_refused_and_named(
    country: str, typed: str, why: str
) -> None:
    with pytest.raises(PhoneError, match=why) as refused:
        read_phone(typed, country)
    assert not isinstance(refused.value, PhoneAsks)


@pytest.mark.parametrize(
    ("typed", "stored"), [("4711", "4711"), ("+999 1234567", "+9991234567"), ("4-7-1-1", "4711")]
)
def test_a_number_that_no_country_has_is_stored_only_on_purpose(typed: str, stored: str) -> None:
    with pytest.raises(PhoneAsks, match="No phone has this number") as asked:
        read_phone(typed, "DE")
    assert asked.value.as_typed
    assert asked.value.choices == (stored,)
    assert read_phone(typed, "DE", chosen={stored}) == stored
    with pytest.raises(PhoneError):
        read_phone(f"{typed}1", "DE", chosen={stored})
    assert (kind_of(stored), grouped(stored)) == ("", stored)


def test_the_numbers_of_a_text_with_several_are_known_where_each_is_clear() -> None:
    both = ("+919845011111", "+919845022222")
    assert numbers_in("98450 11111 / 98450 22222", "IN") == both
    for text in ("98450 11111", "98450 11111 / 12", "", "91 98765 43214 / 0151 2345 6789"):
        assert numbers_in(text, "DE" if "0151" in text else "IN") == ()


def test_an_extension_is_shown_and_dialled_and_gets_no_message() -> None:
    stored = "+442079460958;ext=12"
    assert grouped(stored) == "+44 20 7946 0958, ext. 12"
    assert tel(stored) == "tel:+442079460958,12"
    assert without_extension(stored) == "+442079460958"


@pytest.mark.parametrize(
    "text", ["1/" * 60, "1 " * 60, "+1" * 60, "98450 11111/12 " * 7, "(" * 120]
)
def test_a_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(PhoneError):
        read_phone(text, "IN")


def test_a_number_without_country_code_needs_the_propertys_country() -> None:
    with pytest.raises(PhoneError):
        read_phone("022 2778 3300", None)


def test_a_number_is_shown_in_groups_as_it_is_dialled_from_abroad() -> None:
    assert grouped("+912227783300") == "+91 22 2778 3300"
    assert grouped("+442079460958") == "+44 20 7946 0958"
    for text in ("", "reception 9", "022 2778 3300", "+910000000000"):
        assert grouped(text) == text
    assert grouped(None) == ""


def test_no_template_writes_an_address_that_dials_by_itself() -> None:
    """The filter `tel` leaves the plus as it is: not every phone reads "%2B" as a plus."""
    templates = Path(__file__).parents[1] / "templates"
    assert [path.name for path in templates.rglob("*.html") if "tel:" in path.read_text()] == []
