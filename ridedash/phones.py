"""Phone numbers: as typed, as stored (E.164), and as a link that dials them."""

from typing import Final

import phonenumbers

from ridedash.wording import lazy as _

# Two-letter codes of the countries for which `read_phone` accepts numbers without a country code.
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)


class PhoneError(ValueError):
    """A phone number that can't be parsed; the message says what to type instead."""


def read_phone(text: str, country: str | None) -> str | None:
    """A phone number in any notation as E.164; None for an empty text. Raises PhoneError.

    `country` (two letters) is the country of a number that is typed without its country code.

    >>> read_phone("(0)22 2778 3300", "IN")
    '+912227783300'
    """
    typed = text.strip()
    if not typed:
        return None
    if country is None and typed.startswith("00"):
        typed = "+" + typed[2:]
    try:
        number = phonenumbers.parse(typed, country)
    except phonenumbers.NumberParseException as error:
        message = _("Type the phone number with its country code, such as +91 22 2778 3300.")
        raise PhoneError(message) from error
    if not phonenumbers.is_valid_number(number):
        raise PhoneError(
            _(
                "No phone has this number. Check the digits; a number from abroad needs its "
                "country code."
            )
        )
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def tel(number: str | None) -> str:
    """The address that dials a number; "" for none.

    The plus sign is not encoded: not every phone reads "%2B" as a plus.
    """
    digits = "".join(each for each in number or "" if each in "+0123456789")
    return f"tel:{digits}" if digits.strip("+") else ""


def grouped(number: str | None) -> str:
    """A stored number in groups, as it is dialled from abroad; any other text stays as it is.

    >>> grouped("+912227783300"), grouped("22 or 0")
    ('+91 22 2778 3300', '22 or 0')
    """
    try:
        known = phonenumbers.parse(number or "")
    except phonenumbers.NumberParseException:
        return number or ""
    shown = str(phonenumbers.format_number(known, phonenumbers.PhoneNumberFormat.INTERNATIONAL))
    # in an impossible number, phonenumbers may drop a zero as the country's trunk prefix
    return shown if tel(shown) == tel(number) else number or ""
