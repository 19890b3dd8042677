"""Phone numbers in any notation."""

from pathlib import Path

import pytest

from ridedash.phones import PhoneError, grouped, read_phone


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
