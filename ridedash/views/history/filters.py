"""What somebody asks the history for: read from an address or a form, put into an address.

Guest and room identify a person: they are posted, and are encrypted in addresses
(docs/security.md ASVS 14.2.1).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.store.database.database import MAX_ID
from ridedash.store.encryption import DecryptionFailed
from ridedash.store.history import Outcome, PageKey, RideFilter
from ridedash.store.properties import Property
from ridedash.text import one_line
from ridedash.views.web.current_user import current_sign_in, current_staff
from ridedash.views.web.formatting import zone
from ridedash.wording import gettext as _


def seal(what: str, words: str) -> str:
    """The words as an address may hold them, readable to this program alone, and only while this
    sign-in holds.
    """
    return services().vault.encrypt(words, "addresses", current_sign_in().sign_in, what)


def opened(what: str, text: str) -> str | None:
    """The words again; None for what was not sealed here: typed by hand, changed, or of another
    sign-in.
    """
    try:
        return services().vault.decrypt(text, "addresses", current_sign_in().sign_in, what)
    except DecryptionFailed:
        return None


WEEK: Final = timedelta(days=6)  # and today
FIRST, LAST = date(2000, 1, 1), date(2199, 12, 31)
WORDS: Final = {"guest": 120, "room": 32, "category": 64}
PERSONS: Final = ("guest", "room")


@dataclass(frozen=True)
class Chosen:
    """The filters as the form shows them; days are the property's, both included. 0 and "": any."""

    first: date
    last: date
    state: str = ""
    guest: str = ""
    room: str = ""
    category: str = ""
    staff: int = 0
    centre: int = 0
    wrong: str = ""  # what could not be understood

    def asked(self, tz: ZoneInfo) -> RideFilter:
        """The same for the store."""
        return RideFilter(
            since=datetime.combine(self.first, time(), tz).astimezone(UTC),
            until=datetime.combine(self.last + timedelta(days=1), time(), tz).astimezone(UTC),
            outcome=Outcome(self.state) if self.state else None,
            guest=self.guest,
            room=self.room,
            staff_id=self.staff or None,
            category=self.category,
            centre_id=self.centre or None,
        )

    def filters(self) -> dict[str, str]:
        """What is filtered by beside the days and the person."""
        named = {
            name: str(getattr(self, name)) for name in ("state", "category", "staff", "centre")
        }
        return {name: value for name, value in named.items() if value not in ("", "0")}

    def person(self) -> dict[str, str]:
        """Whom it is about, when it is about somebody."""
        named = {name: str(getattr(self, name)) for name in PERSONS}
        return {name: value for name, value in named.items() if value}

    def query(self, before: PageKey | None = None) -> str:
        """The address's query that asks for the same, or for what comes after a key."""
        said = {"from": self.first.isoformat(), "to": self.last.isoformat()} | self.filters()
        said |= {name: seal(name, words) for name, words in self.person().items()}
        if before is not None:
            said["before"] = (
                f"{before.at.astimezone(UTC).replace(tzinfo=None).isoformat()}_{before.id}"
            )
        return urlencode(said)


@dataclass(frozen=True)
class Question:
    """What is asked of whose history, and when."""

    house: Property
    tz: ZoneInfo
    now: datetime
    today: date  # on the property's calendar
    chosen: Chosen


def question(db: Session, form: Mapping[str, str]) -> Question:
    """What a form, or an address whose words were unsealed, asks of the house of whoever is signed
    in.
    """
    house, now = db.get_one(Property, current_staff().property_id), services().clock()
    tz = zone(house.timezone)
    today = now.astimezone(tz).date()
    return Question(house, tz, now, today, chosen(form, today))


def unsealed(args: Mapping[str, str]) -> dict[str, str]:
    """An address as the form that led to it; `unread` when it names a person in words that are not
    ours.
    """
    named = {name: opened(name, args[name]) for name in PERSONS if args.get(name)}
    unread = {"unread": "1"} if None in named.values() else {}
    return dict(args.items()) | {name: words or "" for name, words in named.items()} | unread


def chosen(args: Mapping[str, str], today: date) -> Chosen:
    """What a form asks for: the last seven days unless it says otherwise; what makes no sense is
    not asked for.
    """
    wrong = ""
    last = _day(args.get("to", ""))
    first = _day(args.get("from", ""))
    if (args.get("to") and last is None) or (args.get("from") and first is None):
        wrong = _("That is no day of the calendar. Choose one, such as 2026-03-05.")
    elif args.get("unread"):
        wrong = _("The guest or room of this address can't be read any more. Type it again.")
    last = last or max(today, first or today)
    first = first or last - WEEK
    if first > last:
        first, last = last, first
    words = {name: one_line(args.get(name, ""), most) for name, most in WORDS.items()}
    state = args.get("state", "")
    return Chosen(
        first,
        last,
        state if state in list(Outcome) else "",
        staff=_id(args.get("staff", "")),
        centre=_id(args.get("centre", "")),
        wrong=wrong,
        **words,
    )


def key_of(text: str) -> PageKey | None:
    """Where a page begins; none for what is no such place."""
    at, _line, number = text.partition("_")
    with suppress(ValueError, OverflowError):
        return PageKey(datetime.fromisoformat(at).replace(tzinfo=UTC), _id(number))
    return None


def spans(today: date, now: Chosen) -> list[tuple[str, str, bool]]:
    """Spans that people ask for: name, query, and whether it is the one that is shown."""
    month = today.replace(day=1)
    last_month = (month - timedelta(days=1)).replace(day=1)
    known = (
        (_("Today"), today, today),
        (_("Yesterday"), today - timedelta(days=1), today - timedelta(days=1)),
        (_("7 days"), today - WEEK, today),
        (_("This month"), month, today),
        (_("Last month"), last_month, month - timedelta(days=1)),
        (_("Next 7 days"), today, today + WEEK),
    )
    return [
        (name, replace(now, first=first, last=last).query(), (first, last) == (now.first, now.last))
        for name, first, last in known
    ]


def _day(text: str) -> date | None:
    with suppress(ValueError):
        day = date.fromisoformat(text)
        return day if FIRST <= day <= LAST else None
    return None


def _id(text: str) -> int:
    return min(int(text), MAX_ID) if text.isascii() and text.isdigit() and len(text) < 20 else 0
