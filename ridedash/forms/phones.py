"""Phone numbers: as people write them, as stored, in words, and as a link that dials them.

A stored number is in E.164, with its extension, if any, as in RFC 3966: "+442079460958;ext=12". A
number that a person has confirmed although no country has it is stored as its digits.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import phonenumbers
from phonenumbers import (
    CountryCodeSource,
    Leniency,
    PhoneNumber,
    PhoneNumberMatcher,
    PhoneNumberType,
)

from ridedash.text import plain_signs
from ridedash.wording import gettext
from ridedash.wording import lazy as _
from ridedash.wording.say import country_name

# Two-letter codes of the countries for which `read_phone` accepts numbers without a country code.
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
LONGEST: Final = 120  # characters of a typed text
LEAST_ALONE: Final = 7  # digits of a number that stands beside another one: "030/123456" is one
AS_TYPED: Final = range(3, 16)  # digits of a number that no country has
EXTENSION: Final = ";ext="

_KINDS: Final = {
    PhoneNumberType.MOBILE: _("mobile"),
    PhoneNumberType.FIXED_LINE: _("landline"),
    PhoneNumberType.FIXED_LINE_OR_MOBILE: _("landline or mobile"),
    PhoneNumberType.TOLL_FREE: _("freephone"),
    PhoneNumberType.PREMIUM_RATE: _("premium rate"),
    PhoneNumberType.SHARED_COST: _("shared cost"),
    PhoneNumberType.VOIP: _("internet phone"),
    PhoneNumberType.PERSONAL_NUMBER: _("personal number"),
    PhoneNumberType.PAGER: _("pager"),
    PhoneNumberType.UAN: _("company number"),
    PhoneNumberType.VOICEMAIL: _("voicemail"),
}
_MOBILE: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
_NORTH_AMERICA: Final = 1  # the country code
_LINK: Final = re.compile(
    r"(?:https?://)?(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)\+?(\d+).*|tel:(.*)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL: Final = re.compile(
    r"(?:tel|telephone|phone|ph|mob|mobile|mobil|cell|handy|móvil|portable|whats\s?app|wa)"
    r"(?:\s?(?:no|nr))?[\s.:]+(?=[+(\d])",
    re.IGNORECASE,
)
_EXTENSION: Final = re.compile(
    r"[\s,;.(]*(?:(?<![^\W\d_])(?:extension|extn|ext|x|durchwahl|dw|nebenstelle|nst|klappe|poste"
    r"|interno|int|ramal|anexo|доб(?:авочный)?)|内線|分机|分機|转|轉|تحويلة|एक्सटेंशन|#)"
    r"[\s.:=]*(\d{1,9})[\s)]*$"
    r"|\s*,\s*(\d{1,4})\s*$",  # a pause, as phones dial it
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"\s*(?:[/;,|&\n、，；]|\b(?:or|and|und|oder|et|ou|y|o|e|и|или)\b|或|和|या|और|أو)\s*",
    re.IGNORECASE,
)
_GAPS: Final = "-()[]./·•_~:'\u30fc"  # beside spaces
_QUOTES: Final = " \t\r\n'\"’‘“”<>`"
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MEXICO_BEFORE_2019: Final = re.compile(r"(?:\+52(?:1|01|044|045)|(?:1|01|044|045))(\d{10})")


class PhoneError(ValueError):
    """A text that is no phone number; the message says what to type instead."""

    @property
    def in_full(self) -> str:
        """The message, with the numbers that may be meant."""
        return str(self)


class PhoneAsks(PhoneError):
    """A text that only a person can decide: it may be each of `choices`, as they are stored.

    `as_typed`: the last of them is the text itself, a number that no country has.
    """

    def __init__(self, message: str, choices: Iterable[str], *, as_typed: bool = False) -> None:
        super().__init__(message)
        self.choices = tuple(choices)
        self.as_typed = as_typed

    @property
    def in_full(self) -> str:
        """The message, with the numbers that may be meant."""
        known = () if self.as_typed else self.choices
        return " ".join((str(self), " / ".join(map(described, known)))).strip()


@dataclass(frozen=True)
class PhoneReading:
    """How a typed text was read, to be shown beside its field before anything is ordered.

    `stored` is the number, None while there is none. `choices`: the numbers that it may be.
    """

    stored: str | None = None
    message: str = ""
    choices: tuple[str, ...] = ()
    as_typed: bool = False


@dataclass(frozen=True)
class _Typed:
    """One number as typed: digits with or without a plus, its first group, its extension."""

    digits: str
    first: str
    extension: str

    @property
    def mark(self) -> str:
        """What a stored number ends with: its extension, if it has one."""
        return f"{EXTENSION}{self.extension}" if self.extension else ""

    def stored(self, number: PhoneNumber) -> str:
        plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        return f"{plain}{self.mark}"


def read_phone(text: str, country: str | None, chosen: Container[str] = ()) -> str | None:
    """A phone number in any notation as it is stored; None for an empty text.

    `country` (two letters) is the country of a number that is typed without its country code. A
    text that may be several numbers is the one of them that is in `chosen`. Raises PhoneError, and
    PhoneAsks unless one is chosen.

    >>> read_phone("(0)22 2778 3300", "IN"), read_phone("020 7946 0958 ext. 12", "GB")
    ('+912227783300', '+442079460958;ext=12')
    """
    if not text.strip():
        return None
    try:
        return _one_number(text, country)
    except PhoneAsks as error:
        for each in error.choices:
            if each in chosen:
                return each
        raise


def reading_of(
    text: str, country: str | None, known: Container[str] = (), chosen: str = ""
) -> PhoneReading:
    """How `read_phone` reads a text, as a value for pages. `known` numbers need no question."""
    try:
        return PhoneReading(read_phone(text, country, known))
    except PhoneAsks as error:
        stored = chosen if chosen in error.choices else None
        return PhoneReading(stored, str(error), error.choices, error.as_typed)
    except PhoneError as error:
        return PhoneReading(message=str(error))


def numbers_in(text: str, country: str | None) -> tuple[str, ...]:
    """The numbers of a text that clearly has several, as they are stored; () for any other text."""
    try:
        parts = _parts(_plain(text), country)
    except PhoneError:
        return ()
    if any(len(part) != 1 for part in parts):
        return ()
    return tuple(dict.fromkeys(part[0] for part in parts))


def described(stored: str) -> str:
    """A stored number in words, in the reader's language: "Germany, mobile · +49 1512 3456789"."""
    return " · ".join(filter(None, (kind_of(stored), grouped(stored))))


def kind_of(stored: str | None) -> str:
    """Country and kind of a stored number, such as "Germany, mobile"; "" for an unknown one."""
    number = _valid(without_extension(stored), None) if stored else None
    if number is None:
        return ""
    code = phonenumbers.region_code_for_number(number) or ""
    is_of_none = code == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY
    country = gettext("international") if is_of_none else country_name(code)
    kind = _KINDS.get(phonenumbers.number_type(number))
    if not kind:
        return country
    return gettext("%(country)s, %(kind)s", country=country, kind=str(kind))


def without_extension(stored: str | None) -> str:
    """The number that messages go to, and that the telephone network knows."""
    return (stored or "").partition(EXTENSION)[0]


def tel(number: str | None) -> str:
    """The address that dials a number; "" for none. An extension is dialled after a pause.

    The plus sign is not encoded: not every phone reads "%2B" as a plus.
    """
    plain, _mark, extension = (number or "").partition(EXTENSION)
    digits = "".join(each for each in plain if each in "+0123456789")
    if not digits.strip("+"):
        return ""
    pause = f",{extension}" if extension else ""
    return f"tel:{digits}{pause}"


def grouped(number: str | None) -> str:
    """A stored number in groups, as it is dialled from abroad; any other text stays as it is.

    >>> grouped("+912227783300"), grouped("22 or 0")
    ('+91 22 2778 3300', '22 or 0')
    """
    plain, _mark, extension = (number or "").partition(EXTENSION)
    try:
        known = phonenumbers.parse(plain)
    except phonenumbers.NumberParseException:
        shown = plain
    else:
        shown = str(phonenumbers.format_number(known, phonenumbers.PhoneNumberFormat.INTERNATIONAL))
        # in an impossible number, phonenumbers may drop a zero as the country's trunk prefix
        if tel(shown) != tel(plain):
            shown = plain
    if not extension:
        return shown
    return gettext("%(number)s, ext. %(extension)s", number=shown, extension=extension)


def _one_number(text: str, country: str | None) -> str:
    """The only number that a text can be. Raises PhoneError, and PhoneAsks for several."""
    plain = _plain(text)
    parts = _parts(plain, country)
    if parts:
        several = list(dict.fromkeys(each for part in parts for each in part))
        if len(several) == 1 and all(parts):  # one number, written twice
            return several[0]
        message = gettext("There is more than one number here. Choose one.")
        raise PhoneAsks(message, several)
    typed = _typed(plain)
    readings, sure = _readings(typed, country)
    if sure:
        return readings[0]
    if readings:
        raise PhoneAsks(_asks(readings), readings)
    raise _unknown(typed)


def _asks(readings: list[str]) -> str:
    if len(readings) == 1:
        return gettext(
            "Without + this is no number here. Choose it if it is this one abroad, or check the "
            "digits."
        )
    return gettext(
        "These digits may be two numbers. Choose one, or type it with + and its country code."
    )


def _unknown(typed: _Typed) -> PhoneError:
    message = gettext(
        "No phone has this number. Check the digits; a number from abroad needs its country code."
    )
    digits = typed.digits.lstrip("+")
    if len(digits) not in AS_TYPED or (typed.digits[0] == "+" and digits[0] == "0"):
        return PhoneError(message)
    return PhoneAsks(message, [f"{typed.digits}{typed.mark}"], as_typed=True)


def _plain(text: str) -> str:
    """The text in half-width characters and ASCII digits, without invisible ones, links and labels.

    Raises PhoneError for a text that is too long.
    """
    if len(text) > LONGEST:
        raise PhoneError(_no_number())
    plain = plain_signs(text).strip(_QUOTES)
    link = _LINK.fullmatch(plain)
    if link:
        plain = f"+{link[1]}" if link[1] else link[2].replace("%20", " ").replace("%2B", "+")
    if not _LABEL.match(plain):
        return plain
    return _LABEL.sub("", plain, count=1)


def _no_number() -> str:
    return gettext("Type the phone number with its country code, such as +91 22 2778 3300.")


def _typed(plain: str) -> _Typed:
    """One number as typed. Raises PhoneError for letters and signs that no number has."""
    number = plain
    extension = ""
    found = _EXTENSION.search(plain)
    if found:
        number = plain[: found.start()]
        extension = found[1] or found[2]
    number = _marks(number)
    letters = " ".join(_LETTERS.findall(number))
    has_digits = any(each.isdigit() for each in number)
    if letters and has_digits:
        raise PhoneError(
            gettext(
                "A phone number has no letters: “%(letters)s”. Type zero as 0, and one as 1.",
                letters=letters[:20],
            )
        )
    if not has_digits or re.search(r"[^\d+ ]", number) or number.rfind("+") > 0:
        raise PhoneError(_no_number())
    groups = number.lstrip("+ ").split()
    plus = "+" if number.startswith("+") else ""
    return _Typed(plus + "".join(groups), groups[0], extension)


def _marks(number: str) -> str:
    """The number with one space for whatever people write between digits.

    A zero in brackets after a country code, as in "+44 (0)20", is not dialled from abroad. In Italy
    it is.
    """
    if re.match(r"\s*(?:\+|00)", number) and not re.match(r"\s*(?:\+|00)\s*39\b", number):
        number = re.sub(r"[(\[]\s*0\s*[)\]]", " ", number, count=1)
    joined = " ".join("".join(" " if each in _GAPS else each for each in number).split())
    return re.sub(r"^\+ *(?:0 ?0 *)?", "+", joined)  # also "+ 91", and "+0091"


def _parts(plain: str, country: str | None) -> list[list[str]]:
    """The readings of each number of a text that has several; [] for a text of one.

    "030/123456" is one number: its first part is none by itself.
    """
    found = _EXTENSION.search(plain)
    ended = plain[: found.start()] if found else plain
    parts = [each for each in _BESIDE.split(ended) if any(map(str.isdigit, each))]
    if len(parts) > 1:
        parts[-1] += plain[len(ended) :]
        alone = [_alone(each, country) for each in parts]
        if all(alone):
            return alone
        if alone[0]:  # "030 123456 / 78" may also be one number
            joined = _readings(_typed(_BESIDE.sub(" ", plain)), country)
            return [*alone, joined[0] if joined[1] else []]
    if not _alone(plain, country):
        for first, second in _halves(plain):
            one = _alone(first, country)
            other = _alone(second, country)
            if one and other:
                return [one, other]
    return []


def _halves(plain: str) -> Iterator[tuple[str, str]]:
    """The text, cut at each space and before each plus."""
    for cut in re.finditer(r"(?<=\d)(?:\s+|(?=\+))", plain):
        yield plain[: cut.start()], plain[cut.end() :]


def _alone(part: str, country: str | None) -> list[str]:
    """The readings of a part of a text by itself; [] for one that is no number."""
    try:
        typed = _typed(part)
    except PhoneError:
        return []
    if len(typed.digits.strip("+")) < LEAST_ALONE:
        return []
    return _readings(typed, country)[0]


def _readings(typed: _Typed, country: str | None) -> tuple[list[str], bool]:
    """What a typed number may be, and whether it is certain which.

    Without a plus it may be a number of the property's country, or one abroad of which the plus is
    missing. "00" means a plus wherever the country itself does not dial so within its borders.
    """
    own = _valid(typed.digits, country)
    if typed.digits[0] == "+":
        if own is None:
            return [], False
        return [typed.stored(own)], True
    dialled = typed.digits.startswith("00")
    abroad = _valid(f"+{typed.digits.removeprefix('00')}", None)
    if own is None or abroad is None or typed.stored(own) == typed.stored(abroad):
        only = own or abroad
        american = None if abroad else _american(typed, own, country)
        if american:
            both = [typed.stored(own)] if own else []
            return [*both, typed.stored(american)], False
        if only is None:
            return [], False
        sure = bool(own) or dialled or _begins_abroad(typed, only)
        return [typed.stored(only)], sure
    both = [typed.stored(own), typed.stored(abroad)]
    if dialled:
        if own.country_code == phonenumbers.country_code_for_region(country or ""):
            return both, False
        return both[1:], True
    if own.country_code_source == CountryCodeSource.FROM_NUMBER_WITH_IDD:
        return both[:1], True
    if _is_ordinary(typed.digits, own, country):
        return both[:1], True
    return both, False


def _is_ordinary(digits: str, own: PhoneNumber, country: str | None) -> bool:
    """Whether this is how people of the country write that number, in whatever groups.

    A landline has its trunk prefix, if the country has one.
    """
    if not _is_as_written_here(digits, country):
        return False
    trunk = _trunk(country)
    is_mobile = phonenumbers.number_type(own) in _MOBILE
    return is_mobile or not trunk or digits.startswith(trunk)


def _trunk(country: str | None) -> str:
    """What is dialled before a number within the country, mostly 0; "" for nothing."""
    known = phonenumbers.PhoneMetadata.metadata_for_region(country or "", None)
    if known is None:
        return ""
    return known.national_prefix or ""


def _american(typed: _Typed, own: PhoneNumber | None, country: str | None) -> PhoneNumber | None:
    """The number in North America that ten digits may be, where nobody types the 1 before it.

    None in a country of that plan, for the country's mobile numbers, and for landlines with their
    trunk prefix.
    """
    if len(typed.digits) != 10 or typed.digits[0] in "+0":
        return None
    if phonenumbers.country_code_for_region(country or "") == _NORTH_AMERICA:
        return None
    if own and phonenumbers.number_type(own) in _MOBILE:
        return None
    if own and not _trunk(country):
        return None
    return _valid(f"+{_NORTH_AMERICA}{typed.digits}", None)


def _begins_abroad(typed: _Typed, abroad: PhoneNumber) -> bool:
    """Whether the country code is written as a group of its own: "91 98765 43214"."""
    return typed.first == str(abroad.country_code)


def _is_as_written_here(digits: str, country: str | None) -> bool:
    """Whether people in the country write a number so: with its trunk prefix, if it needs one."""
    found = PhoneNumberMatcher(digits, country, leniency=Leniency.VALID)
    return any((each.start, each.end) == (0, len(digits)) for each in found)


def _valid(digits: str, country: str | None) -> PhoneNumber | None:
    """The number that these digits are in a country, or with a plus anywhere; None for no number.

    Mexico's mobiles had a "1" after the country code until 2019, and longer prefixes at home.
    """
    before = _MEXICO_BEFORE_2019.fullmatch(digits)
    if before and (country == "MX" or digits[0] == "+"):
        digits = f"+52{before[1]}"
    try:
        number = phonenumbers.parse(digits, country, keep_raw_input=True)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return number
