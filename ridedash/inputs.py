"""Numbers, days, times and addresses from outside: bounded, or None. Pure.

Every id, count and day from outside is read here, so nothing behind it meets a number that no
database stores or a day that no time zone can shift (docs/security.md ASVS 2.2).
"""

import ipaddress
import re
from datetime import UTC, date, datetime, time
from typing import Any, Final

MAX_ID: Final = 2**63 - 1  # the largest id that a database stores
FIRST_DAY = date(2000, 1, 1)
LAST_DAY = date(2199, 12, 31)
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")


def whole_number(text: str, least: int = 0, most: int = MAX_ID) -> int | None:
    """A number in ASCII digits from `least` to `most`; None for anything else.

    >>> whole_number("12"), whole_number("1e5"), whole_number("-1"), whole_number("9" * 30)
    (12, None, None, None)
    """
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        return None
    number = int(typed)
    if not least <= number <= most:
        return None
    return number


def row_id(text: str) -> int | None:
    """The id of a database row, from 1 up; None for anything else."""
    return whole_number(text, 1)


def row_ids(text: str) -> tuple[int, ...]:
    """The ids of database rows in a list such as 12,15, at most a hundred.

    Entries that are no ids, and all after the hundredth entry, are left out.

    >>> row_ids("12,15,y,0")
    (12, 15)
    """
    found = map(row_id, text.split(",", 100)[:100])
    return tuple(each for each in found if each is not None)


def calendar_day(text: str) -> date | None:
    """A day such as 2026-03-05, of the years 2000 to 2199; None for anything else.

    >>> calendar_day("2026-02-30"), calendar_day("0001-01-01")
    (None, None)
    """
    typed = text.strip()
    if not _DAY.fullmatch(typed):
        return None
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        return None
    if not FIRST_DAY <= day <= LAST_DAY:
        return None
    return day


def time_of_day(text: str) -> time | None:
    """A time of day such as 05:10 or 05:10:30; None for anything else."""
    typed = text.strip()
    if not _TIME.fullmatch(typed):
        return None
    try:
        return time.fromisoformat(typed)
    except ValueError:
        return None


def utc_instant(text: str) -> datetime | None:
    """An instant of UTC such as 2026-03-05T05:10:00.25, without a zone; None for anything else.

    A day without a time means its midnight.
    """
    day, _t, _rest = text.partition("T")
    if calendar_day(day) is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo is not None:
        return None
    return at.replace(tzinfo=UTC)


# an airline code of two or three characters, one to four digits, perhaps a letter
_FLIGHT: Final = re.compile(
    r"([A-Z]{3}|[A-Z][A-Z0-9]|[0-9][A-Z])[ -]?([0-9]{1,4}[A-Z]?)(?: (T ?[0-9A-Z]))?"
)
_JOURNEY: Final = re.compile(r"[\w][\w .,/+-]{1,23}")


def flight_number(text: str | None) -> str:
    """A flight number as tickets print it, with other numbers of a shared flight and its terminal.

    Any other text, such as the number of a train or a ferry, only in capitals.

    >>> flight_number("lh760/ua8837"), flight_number("6E-204"), flight_number("ek505 t3")
    ('LH 760/UA 8837', '6E 204', 'EK 505 T3')
    >>> flight_number("ice 573"), flight_number("soon")
    ('ICE 573', 'SOON')
    """
    typed = " ".join((text or "")[:40].upper().split())
    numbers = [_FLIGHT.fullmatch(each.strip()) for each in typed.split("/")]
    if not all(numbers):
        return typed
    return "/".join(" ".join(filter(None, each.groups())) for each in numbers if each)


def is_journey_number(text: str) -> bool:
    """Whether a text may be the number of a flight, a train or a ferry, as it is printed."""
    return bool(_JOURNEY.fullmatch(text)) and any(map(str.isdigit, text))


def is_flight_number(text: str) -> bool:
    """Whether a text is the number of a flight, and of nothing else."""
    return all(_FLIGHT.fullmatch(each.strip()) for each in text.split("/"))


def network_of(address: str) -> str:
    """The key by which a client's tries are counted: an IPv6 /64 network, otherwise the address.

    One subscriber of IPv6 has 2**64 addresses or more, all of one /64 network: counted one by one,
    no one would ever meet a limit. All neighbours on a link share its link-local network, so
    link-local addresses are counted one by one.

    >>> network_of("203.0.113.9"), network_of("2001:db8:1:2:3::4"), network_of("::ffff:203.0.113.9")
    ('203.0.113.9', '2001:db8:1:2::/64', '203.0.113.9')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    if known.is_link_local or known.is_loopback:
        return str(known)[:64]
    return str(ipaddress.IPv6Network((known.packed[:8] + bytes(8), 64)))


def networks_of(address: str) -> list[str]:
    """`network_of` an address, and of IPv6 also the /56 and /48 networks around it.

    A house or a company that rents a line gets one of these, with 256 or 65,536 /64 networks.

    >>> networks_of("203.0.113.9"), networks_of("2001:db8:1:203::4")
    (['203.0.113.9'], ['2001:db8:1:203::/64', '2001:db8:1:200::/56', '2001:db8:1::/48'])
    """
    own = network_of(address)
    try:
        network = ipaddress.IPv6Network(own)
    except ValueError:
        return [own]
    if network.prefixlen != 64:
        return [own]
    return [own, *(str(network.supernet(new_prefix=length)) for length in (56, 48))]


def required_id(value: Any) -> int:
    """The id of a row. Raises ValueError for anything else."""
    found = row_id(str(value))
    if found is None:
        raise ValueError("no id of a row")
    return found


def optional_id(value: Any) -> int | str:
    """The id of a row, or "" when none is chosen. Raises ValueError for anything else."""
    return "" if value in (None, "") else required_id(value)


def weekday(value: Any) -> int:
    """A weekday, Monday is 0. Raises ValueError for anything else."""
    found = whole_number(str(value))
    if found is None or found not in range(7):
        raise ValueError("no weekday")
    return found
