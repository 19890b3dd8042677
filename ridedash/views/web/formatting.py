"""Formats money, times, durations and number plates.

Locale and zone are parameters; words around the values are in the language of the request.
"""

import re
from collections import ChainMap
from collections.abc import Iterable
from copy import copy
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.core import Locale, UnknownLocaleError
from babel.dates import format_datetime, format_interval, format_skeleton, get_datetime_format
from babel.lists import format_list
from babel.numbers import format_currency, format_decimal, get_currency_precision

from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.languages import formats_of
from ridedash.wording.say import LocalisedFact, with_pauses

_PLATE: Final = re.compile(r"([A-Z]{2})([0-9]{1,2})([A-Z]{0,3})([0-9]{3,4})")
_CODE_END: Final = re.compile(r"(?<=[A-Z])(?=\d)")  # CLDR has a space there, which Babel leaves out
PLACES: Final = 2  # decimals of an amount; more for a currency with coins below a hundredth
# the order of CLDR's root locale: each style falls back on the next one
_UNIT_STYLES: Final = ("unit", "unit-short", "standard")
LONGEST_PLATE: Final = 16  # characters; a longer text is not treated as a plate


@lru_cache(maxsize=4096)
def money(
    amount: Decimal | None,
    currency: str | None,
    locale: str = "en",
    *,
    cents: bool = False,
    hundredths: bool = False,
    decimals: bool = False,
) -> str:
    """An amount in its currency; "" when unknown. Whole amounts have no cents, unless `cents`.

    With `cents`, a whole amount still has none in a currency whose smallest coin is a whole unit;
    with `decimals` it has them in every currency, as on a bill with parts of a unit. `hundredths`:
    the amount was rounded to hundredths, so no digit beyond them is shown. In another language than
    English the amount is a `LocalisedFact`, which also has the English form.
    """
    if amount is None:
        return ""
    places = PLACES if hundredths else places_of(currency)
    cents = decimals or (cents and _coins(currency) != 0)
    shown = _money(amount, currency, locale, cents, places)
    if locale == "en":
        return shown
    return LocalisedFact(shown, _money(amount, currency, "en", cents, places))


def places_of(currency: str | None) -> int:
    """The decimals of an amount that is not whole: 3 for Kuwaiti dinars, 2 for most currencies."""
    return max(PLACES, _coins(currency) or 0)


def _coins(currency: str | None) -> int | None:
    """The decimals of a currency's smallest coin; None for a text that is no currency's code."""
    if currency is None or not re.fullmatch(r"[A-Z]{3}", currency):
        return None
    return get_currency_precision(currency)


def has_cents(amount: Decimal, currency: str | None) -> bool:
    """Whether an amount, rounded as it is shown, has a part of a unit."""
    shown = _rounded(amount, places_of(currency))
    return shown != shown.to_integral_value()


def _rounded(amount: Decimal, places: int) -> Decimal:
    """An amount rounded half up, as in totals.minor: a ride and the history show the same cents.

    In a currency with thousandths a ride shows 2.375, and the history, in hundredths, 2.38.
    """
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0  # "+ 0": no minus zero


def _money(amount: Decimal, currency: str | None, locale: str, cents: bool, places: int) -> str:
    amount = _rounded(amount, places)
    known = _known(locale)
    whole = amount == amount.to_integral_value() and not cents
    if currency is None or _coins(currency) is None:
        return _sign(format_decimal(amount, format="#,##0" if whole else "#,##0.00", locale=known))
    try:
        pattern = copy(Locale.parse(known).currency_formats["standard"])
        pattern.frac_prec = (0, 0) if whole else (places, places)
        shown = format_currency(amount, currency, pattern, locale=known, currency_digits=False)
        return _sign(_CODE_END.sub("\u00a0", shown))
    except (UnknownLocaleError, ValueError):
        return f"{amount} {currency}"


@lru_cache(maxsize=4096)  # a year of insights has a thousand small numbers
def decimal(number: float, locale: str = "en") -> str:
    """A number with one decimal at most, as a language writes it: "16.7", "16,7" in German."""
    known = Locale.parse(formats_of(locale))
    pattern = copy(known.decimal_formats[None])  # Hindi groups by two digits
    pattern.frac_prec = (0, 1)
    return str(pattern.apply(round(number, 1) + 0, known))  # "+ 0": no minus before a zero


def exact(number: Decimal, locale: str = "en") -> str:
    """A number with all its decimals and without groups, as a language writes it: "1.25"."""
    shown = number.to_integral_value()
    if number != shown:
        shown = number.normalize()
    known = formats_of(locale)
    return str(
        format_decimal(shown, locale=known, decimal_quantization=False, group_separator=False)
    )


def listed(parts: Iterable[str], locale: str = "en") -> str:
    """Names as a list in a sentence, as a language writes it: "a, b and c", "a、b、c"."""
    return str(format_list(list(parts), locale=formats_of(locale)))


def measured(parts: Iterable[str], locale: str = "en") -> str:
    """Several measures of one thing, side by side: "4 h, 40 km", in Japanese "4 h 40 km"."""
    measures = list(parts)
    styles = Locale.parse(formats_of(locale)).list_patterns
    # Babel's `format_list` uses a single style, and raises KeyError if CLDR takes one of its
    # patterns from the next style (Spanish from two parts on, German and Hindi from three).
    known: ChainMap[str, str] = ChainMap(*(styles[name] for name in _UNIT_STYLES if name in styles))
    if len(measures) < 2:
        return "".join(measures)
    if len(measures) == 2:
        return known["2"].format(*measures)
    first, second, *between, last = measures
    text = known["start"].format(first, second)
    for part in between:
        text = known["middle"].format(text, part)
    return known["end"].format(text, last)


def days_text(first: date, last: date, locale: str = "en") -> str:
    """A range of days in the notation of a language: "1 – 31 May 2026"."""
    if first == last:
        return day_text(first, "yMMMd", locale)
    if locale != "en":
        return str(format_interval(first, last, "yMMMd", locale=formats_of(locale)))
    parts = "d"
    if first.year != last.year:
        parts = "yMMMd"
    elif first.month != last.month:
        parts = "MMMd"
    return f"{day_text(first, parts)} – {day_text(last, 'yMMMd')}"


def _sign(text: str) -> str:
    """The text with a typographic minus sign, which is as wide as a plus.

    If the text begins with a right-to-left mark, a left-to-right mark before the minus keeps it in
    front of its figures.
    """
    bare = text.lstrip("\u200e\u200f")
    if not bare.startswith("-"):
        return text
    minus = "\u200e−" if text.startswith("\u200f") else "−"
    return text.replace("-", minus, 1)


@lru_cache(maxsize=32)
def _known(locale: str) -> Locale | str:
    """A parsed locale, cached. An unknown one stays text, which Babel refuses when it is used."""
    try:
        return Locale.parse(locale)
    except (UnknownLocaleError, ValueError):
        return locale


def zone(name: str) -> ZoneInfo:
    """The zone of a property; UTC when its name is not one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def clock_time(
    at: datetime | None, tz: ZoneInfo, _locale: str = "en", *, seconds: bool = False
) -> str:
    """An instant as hours and minutes in the property's zone; "" when unknown."""
    if at is None:
        return ""
    # all languages of the program use this form, so `_locale` is unused
    return at.astimezone(tz).strftime("%H:%M:%S" if seconds else "%H:%M")


def day_time(at: datetime | None, now: datetime, tz: ZoneInfo, locale: str = "en") -> str:
    """Hours and minutes, and the day before them unless that is today; "" when unknown."""
    if at is None or at.astimezone(tz).date() == now.astimezone(tz).date():
        return clock_time(at, tz, locale)
    return joined(day_text(at.astimezone(tz), "MMMd", locale), clock_time(at, tz, locale), locale)


def day_text(at: date, parts: str, locale: str = "en") -> str:
    """A day in the notation of the language: MMMd (5 Mar), MMMEd (Thu 5 Mar), yMMMd (5 Mar 2026).

    A datetime is written in its own time zone: convert it first.
    """
    return str(format_skeleton(parts, at, locale=_known(formats_of(locale))))


def joined(day: str, time: str, locale: str = "en") -> str:
    """A day and a time as the language puts them together: "5 Mar 16:05", "3月5日 16:05"."""
    known = _known(formats_of(locale))
    if isinstance(known, str) or known.language == "en":
        return f"{day} {time}"  # without the comma of English, which only takes space in tables
    return str(get_datetime_format("short", known)).format(time, day)


def weekday_time(at: datetime, tz: ZoneInfo, locale: str = "en") -> str:
    """A day with its weekday, and the time there: "Thu 5 Mar 16:05"."""
    return joined(day_text(at.astimezone(tz), "MMMEd", locale), clock_time(at, tz, locale), locale)


def planned_time(at: datetime, now: datetime, tz: ZoneInfo, locale: str = "en") -> str:
    """When a planned ride is: 17:10 today, 05:10 tomorrow, 05:10 on Thu 5 Mar."""
    here = at.astimezone(tz)
    time = clock_time(at, tz, locale)
    days = (here.date() - now.astimezone(tz).date()).days
    if days == 0:
        return _("%(time)s today", time=time)
    if days == 1:
        return _("%(time)s tomorrow", time=time)
    return _("%(time)s on %(day)s", time=time, day=day_text(here, "MMMEd", locale))


def time_in_full(at: datetime, now: datetime, tz: ZoneInfo, locale: str = "en") -> str:
    """A time to come, with its day and how far ahead it is.

    Tomorrow, Tue 24 Nov, 06:15, in 14 h 20 min.
    """
    here = at.astimezone(tz)
    time = clock_time(at, tz, locale)
    on = day_text(here, "MMMEd", locale)
    days = (here.date() - now.astimezone(tz).date()).days
    # Whole minutes, rounded down: the typed text "in 17 min" means the first whole minute that is
    # at least 17 minutes away, so the text shown here is "in 17 min" again.
    ahead = _ahead(int((at - now).total_seconds()) // 60, days)
    words = {"day": on, "time": time, "ahead": ahead}
    if days == 0:
        return _("Today, %(day)s, %(time)s, %(ahead)s") % words
    if days == 1:
        return _("Tomorrow, %(day)s, %(time)s, %(ahead)s") % words
    return _("%(day)s, %(time)s, %(ahead)s") % words


class FlightTime(NamedTuple):
    """When a flight leaves, or lands; None when that is not known."""

    at: datetime | None
    lands: bool


def flight_words(number: str | None, when: FlightTime, tz: ZoneInfo, locale: str = "en") -> str:
    """A flight for staff: LH 760, leaves Tue 24 Nov 21:40; "" for none."""
    if when.at is None:
        return with_pauses(number, "")
    at = weekday_time(when.at, tz, locale)
    if when.lands:
        return with_pauses(number, _("lands %(at)s", at=at))
    return with_pauses(number, _("leaves %(at)s", at=at))


def _ahead(minutes: int, days: int) -> str:
    """How far ahead a time is: exact on the same and the next day, else in days."""
    hours, rest = divmod(max(minutes, 0), 60)
    if days > 1:
        return ngettext("in %(num)d day", "in %(num)d days", days)
    if not hours:
        return _("in %(n)d min", n=rest)
    if not rest:
        return _("in %(h)d h", h=hours)
    return _("in %(h)d h %(n)d min", h=hours, n=rest)


def belonging(car: tuple[int, int] | None, series: tuple[int, int] | None, *, back: bool) -> str:
    """What distinguishes the orders of one press: "Car 1/3", "Ride 2/12", "Way back".

    "" for a single order.
    """
    parts = []
    if back:
        parts.append(_("Way back"))
    if car:
        parts.append(_("Car %(n)d/%(cars)d", n=car[0], cars=car[1]))
    if series:
        parts.append(_("Ride %(n)d/%(rides)d", n=series[0], rides=series[1]))
    return " · ".join(parts)


def full_time(at: datetime | None, tz: ZoneInfo, locale: str = "en") -> str:
    """An instant with its date and zone, for print and for titles."""
    if at is None:
        return ""
    here = at.astimezone(tz)
    known = _known(formats_of(locale))
    on = day_text(here, "yMMMd", locale)
    clock = format_datetime(here, "HH:mm z", locale=known)
    if isinstance(known, Locale) and known.text_direction == "rtl":
        clock = f"\u2066{clock}\u2069"  # otherwise the plus sign of +0530 would follow the digits
    if locale == "en":
        return f"{on}, {clock}"
    return joined(on, clock, locale)


def stamp(at: datetime | None) -> str:
    """An instant for scripts: ISO 8601 in UTC with milliseconds; "" when unknown."""
    if at is None:
        return ""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def minutes(seconds: float | None) -> str:
    """A short duration in everyday words: "4 min", "under a minute"; "" when unknown."""
    if seconds is None or seconds < 0:
        return ""
    if seconds < 60:
        return _("under a minute")
    return ngettext("%(num)d min", "%(num)d min", -(-int(seconds) // 60))


def time_left(seconds: float | None) -> str:
    """How long a trip still lasts: "about 4 min left", "under a minute left"; "" when unknown."""
    if seconds is None or seconds < 0:
        return ""
    if seconds < 60:
        return _("under a minute left")
    num = -(-int(seconds) // 60)
    return ngettext("about %(num)d min left", "about %(num)d min left", num)


def age(seconds: float) -> str:
    """How long ago something was, in the words that the page's script then updates."""
    whole = max(0, int(seconds))
    if whole < 5:
        return _("just now")
    if whole < 60:
        return _("{n} s ago").replace("{n}", str(whole))
    if whole < 3600:
        return _("{n} min ago").replace("{n}", str(whole // 60))
    return _("{n} h ago").replace("{n}", str(whole // 3600))


def span(seconds: float) -> str:
    """A duration as a stopwatch shows it, 0:42, 12:05; from an hour on "1 h 25 min"."""
    whole = max(0, int(seconds))
    if whole >= 3600:
        words = _("{h} h {m} min").replace("{h}", str(whole // 3600))
        return words.replace("{m}", str(whole % 3600 // 60))
    return f"{whole // 60}:{whole % 60:02d}"


def plate(text: str | None) -> str:
    """A number plate in groups, as it is painted: "KA 01 AB 1234".

    Any other text stays as it is.
    """
    raw = " ".join((text or "").split())
    match = _PLATE.fullmatch(re.sub(r"[ \-]", "", raw).upper())
    if match is None:
        return raw
    return " ".join(filter(None, match.groups()))


def spelled(text: str) -> str:
    """A plate letter by letter, for reading aloud."""
    if len(text) > LONGEST_PLATE:
        return text
    return " ".join(text.replace(" ", ""))


def initials(name: str | None) -> str:
    """Up to two initials; a driver's replace a picture, because pictures are never loaded."""
    words = re.findall(r"\w+", name or "")
    if len(words) > 1:
        words = [words[0], words[-1]]
    return "".join(word[0] for word in words).upper()


TITLES: Final = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "dr",
        "prof",
        "sir",
        "madam",
        "lady",
        "shri",
        "smt",
        "captain",
    }
)
# in "Driver Cedar" both words are the name
CALL_SIGNS: Final = frozenset({"driver", "guest", "rider"})


def first_name(name: str | None) -> str:
    """The first name; "" when only a title and a family name are known. A call sign stays whole."""
    words = (name or "").split()
    titled = bool(words) and words[0].rstrip(".").casefold() in TITLES
    if titled:
        words = words[1:]
    if not words or (titled and len(words) == 1):
        return ""
    if words[0].casefold() in CALL_SIGNS:
        return " ".join(words[:2])
    return words[0].rstrip(",")


def clock_held(at: str) -> str:
    """In a demo, the message that the service's clock is held at this time; "" for ""."""
    if not at:
        return ""
    return _("The demo's clock is held at %(at)s. All rides stand still.", at=at)


def driver_words(name: str | None) -> str:
    """The driver by first name, with the word "Driver"; "" when unknown."""
    known = first_name(name)
    if not known or known.casefold().startswith("driver "):
        return known
    return _("Driver %(name)s", name=known)
