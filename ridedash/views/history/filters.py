"""The filters of the history: read from a form or an address, and written into an address.

Guest and room identify a person: they are posted, and they are encrypted in addresses
(docs/security.md ASVS 14.2.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.inputs import calendar_day, row_id, utc_instant
from ridedash.store.encryption import DecryptionFailed
from ridedash.store.history import PageKey, RideFilter, RideOutcome
from ridedash.store.models.people import Property
from ridedash.text import one_line
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.formatting import zone
from ridedash.wording import gettext as _

SIX_DAYS: Final = timedelta(days=6)  # these six days and one more day are a week
WEEK: Final = "week"
WORDS: Final = {"guest": 120, "room": 32, "category": 64}
PERSONS: Final = ("guest", "room")


@dataclass(frozen=True)
class Filters:
    """The filters as the form shows them; both days are included. 0 and "" mean any."""

    first: date
    last: date
    state: str = ""
    guest: str = ""
    room: str = ""
    category: str = ""
    staff: int = 0
    centre: int = 0
    span: str = ""  # the name in SPANS of these days, which are others tomorrow; "" for dates
    wrong: str = ""  # the error message of an invalid day or address

    def ride_filter(self, tz: ZoneInfo) -> RideFilter:
        """The filter of the store, with days in the zone `tz`."""
        return RideFilter(
            since=datetime.combine(self.first, time(), tz).astimezone(UTC),
            until=datetime.combine(self.last + timedelta(days=1), time(), tz).astimezone(UTC),
            outcome=RideOutcome(self.state) if self.state else None,
            guest=self.guest,
            room=self.room,
            staff_id=self.staff or None,
            category=self.category,
            centre_id=self.centre or None,
        )

    def without_person(self) -> dict[str, str]:
        """The active filters without the days, the guest and the room."""
        named = {
            name: str(getattr(self, name)) for name in ("state", "category", "staff", "centre")
        }
        return {name: value for name, value in named.items() if value not in ("", "0")}

    def person(self) -> dict[str, str]:
        """The guest and the room, where they are filters."""
        named = {name: str(getattr(self, name)) for name in PERSONS}
        return {name: value for name, value in named.items() if value}

    def kept(self) -> dict[str, str]:
        """The fields of an address that name nobody: the days and the other filters."""
        days = {"from": self.first.isoformat(), "to": self.last.isoformat()}
        if self.span:
            days = {"span": self.span}
        return days | self.without_person()

    def kept_query(self) -> str:
        """The query string of an address without guest and room, as it is saved."""
        return urlencode(self.kept())

    def query(self, before: PageKey | None = None) -> str:
        """The query string of an address with these filters, for the page after `before`."""
        fields = self.kept()
        fields |= {name: encrypted(name, words) for name, words in self.person().items()}
        if before is not None:
            at = before.at.astimezone(UTC).replace(tzinfo=None)
            fields["before"] = f"{at.isoformat()}_{before.id}"
        return urlencode(fields)


@dataclass(frozen=True)
class HistoryQuery:
    """A request to the history: the property, the time, and the filters."""

    prop: Property
    tz: ZoneInfo
    now: datetime
    today: date  # in the property's time zone
    filters: Filters


def history_query(db: Session, form: Mapping[str, str]) -> HistoryQuery:
    """The query of a form, or of a decrypted address, for the user's property."""
    prop = db.get_one(Property, current_staff().property_id)
    now = services().clock()
    tz = zone(prop.timezone)
    today = now.astimezone(tz).date()
    return HistoryQuery(prop, tz, now, today, filters_of(form, today))


def decrypted(args: Mapping[str, str]) -> dict[str, str]:
    """The decrypted fields of an address; with `unread` if one of them can't be decrypted."""
    named = {name: decrypted_words(name, args[name]) for name in PERSONS if args.get(name)}
    found = dict(args.items()) | {name: words or "" for name, words in named.items()}
    if None in named.values():
        found["unread"] = "1"
    return found


def filters_of(args: Mapping[str, str], today: date) -> Filters:
    """The filters of a form: by default the last seven days.

    Days by name count unless the form has other dates.
    Invalid values are ignored; for a day, or for words that can't be decrypted, `wrong` says so.
    """
    wrong = ""
    last = calendar_day(args.get("to", ""))
    first = calendar_day(args.get("from", ""))
    if (args.get("to") and last is None) or (args.get("from") and first is None):
        wrong = _("That is no day of the calendar. Choose one, such as 2026-03-05.")
    elif args.get("unread"):
        wrong = _("The guest or room of this address can't be read any more. Type it again.")
    named = days_by_name(today)
    span = args.get("span", "")
    if not any(args.get(name) for name in ("span", "from", "to")):
        span = WEEK
    if span in named and (first, last) in ((None, None), named[span]):
        first, last = named[span]
    else:
        span = ""
    last = last or max(today, first or today)
    first = first or last - SIX_DAYS
    if first > last:
        first, last = last, first
    words = {name: one_line(args.get(name, ""), most) for name, most in WORDS.items()}
    state = args.get("state", "")
    return Filters(
        first,
        last,
        state if state in list(RideOutcome) else "",
        staff=row_id(args.get("staff", "")) or 0,
        centre=row_id(args.get("centre", "")) or 0,
        span=span,
        wrong=wrong,
        **words,
    )


def key_of(text: str) -> PageKey | None:
    """The key after which a page begins; None for an invalid one."""
    at, _line, number = text.partition("_")
    instant = utc_instant(at)
    last = row_id(number)
    if not instant or not last:
        return None
    return PageKey(instant, last)


def days_by_name(today: date) -> dict[str, tuple[date, date]]:
    """The first and last day of each common period, as seen today."""
    month = today.replace(day=1)
    last_month = (month - timedelta(days=1)).replace(day=1)
    yesterday = today - timedelta(days=1)
    return {
        "today": (today, today),
        "yesterday": (yesterday, yesterday),
        WEEK: (today - SIX_DAYS, today),
        "month": (month, today),
        "last_month": (last_month, month - timedelta(days=1)),
        "next_week": (today, today + SIX_DAYS),
    }


def encrypted(what: str, words: str) -> str:
    """Words encrypted for an address, readable only with this sign-in."""
    return services().vault.encrypt(words, "addresses", current_sign_in().sign_in, what)


def decrypted_words(what: str, text: str) -> str | None:
    """The words of an address; None for a changed text, or for one of another sign-in."""
    try:
        return services().vault.decrypt(text, "addresses", current_sign_in().sign_in, what)
    except DecryptionFailed:
        return None
