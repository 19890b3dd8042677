"""A kiosk's health in the settings: its last heartbeat, its voices and fonts, its visits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ridedash.rides.kiosk.health import can, is_alive, is_old, is_wrong, skew_s
from ridedash.rides.kiosk.needs import KioskNeed
from ridedash.store.kiosk_desk import Visits
from ridedash.store.kiosk_visits import KioskScreen
from ridedash.store.models.kiosks import Kiosk
from ridedash.views.web.formatting import age, listed
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import lazy, ngettext
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.say import Text

SCREEN_NAMES: Final[dict[str, Text]] = {
    KioskScreen.START: lazy("Start"),
    KioskScreen.WHERE: lazy("Where to?"),
    KioskScreen.PLACE: lazy("Another place"),
    KioskScreen.CAR: lazy("Which car?"),
    KioskScreen.MEET: lazy("Pickup point"),
    KioskScreen.PEOPLE: lazy("How many people?"),
    KioskScreen.WHO: lazy("Who are you?"),
    KioskScreen.CHECK: lazy("Check"),
    KioskScreen.CODE: lazy("Code from our desk"),
    KioskScreen.SENDING: lazy("Booking"),
    KioskScreen.ASKING: lazy("Waiting for the desk"),
    KioskScreen.UNSHOWN: lazy("Ticket not shown"),
    KioskScreen.BOOKED: lazy("Booked"),
    KioskScreen.FIND: lazy("Find your ride"),
    KioskScreen.RIDE: lazy("My ride"),
    KioskScreen.SORRY: lazy("Not booked"),
    KioskScreen.UNKNOWN: lazy("We don't know"),
}
NEEDS: Final[dict[KioskNeed, Text]] = {
    KioskNeed.PICKUP: lazy("It has no pickup point: give one to it or to the property."),
    KioskNeed.ACCOUNT: lazy("It has no ride account: link one, or choose another for this kiosk."),
    KioskNeed.RECONNECT: lazy("Its ride account needs reconnecting (Settings, Accounts)."),
}


@dataclass(frozen=True)
class Spoken:
    """A language of a kiosk, and whether the device can speak it and display its letters."""

    name: str
    tag: str
    voice: bool | None  # None: the device has not said
    font: bool | None


@dataclass(frozen=True)
class Health:
    """A kiosk's health in words.

    `tone` and `state` are for its badge; `wrong` lists what can be repaired.
    """

    tone: str
    state: str
    seen: str
    wrong: tuple[str, ...]
    release: str
    language: str
    spoken: tuple[Spoken, ...]
    visits: str
    left: str
    asked: str


def health_of(
    row: Kiosk, visits: Visits | None, now: datetime, needs: Sequence[KioskNeed] = ()
) -> Health:
    """The health of a device now; `visits`: those of today, None without any.

    `needs`: what keeps it from booking; it stands first.
    """
    tone, state = _state(row, now, needs)
    seen = age((now - row.seen_at).total_seconds()) if row.seen_at else _("never")
    found = visits or Visits()
    return Health(
        tone,
        state,
        seen,
        (*(str(NEEDS[each]) for each in needs), *_wrong(row)),
        row.release or "",
        _own_name(found.language),
        spoken_by(row),
        _visits(found),
        " · ".join(f"{screen_name(name)} {count}" for name, count in found.left),
        " · ".join(_help_words(*each) for each in found.asked),
    )


def spoken_by(row: Kiosk) -> tuple[Spoken, ...]:
    """Each language of a device, with what its last heartbeat reported about voices and fonts."""
    return tuple(
        Spoken(
            language.own_name,
            language.tag,
            can(row, "voices", code),
            can(row, "fonts", code),
        )
        for code, language in LANGUAGES.items()
        if not row.languages or code in row.languages
    )


def screen_name(name: str) -> str:
    """The name of a screen of the kiosk; for a screen of another version, its key."""
    return str(SCREEN_NAMES.get(name, name))


def _state(row: Kiosk, now: datetime, needs: Sequence[KioskNeed]) -> tuple[str, str]:
    if row.token_hash is None:
        return "quiet", _("Not paired yet")
    if row.out_of_order:
        return "warn", _("Out of order")
    if not is_alive(row, now):
        return "bad", _("Silent")
    if needs:
        return "bad", _("Can't book")
    return "ok", _("Alive")


def _wrong(row: Kiosk) -> list[str]:
    """Problems that a person should solve at the device or in its settings."""
    found: list[str] = []
    if row.token_hash is None:
        return found
    if row.pin_hash is None and row.kind == "kiosk":
        found.append(_("It has no staff PIN: nobody can leave the kiosk's screen."))
    if is_old(row):
        found.append(_("It shows release %(release)s and reloads when idle.", release=row.release))
    ahead = skew_s(row)
    if is_wrong(ahead):
        found.append(_("Its clock is wrong by %(n)d s.", n=round(abs(ahead or 0))))
    mute = [each.name for each in spoken_by(row) if each.voice is False]
    if mute and row.kind == "kiosk":
        found.append(_("It can't read aloud in: %(languages)s.", languages=listed(mute, locale())))
    bare = [each.name for each in spoken_by(row) if each.font is False]
    if bare:
        found.append(_("Fonts are missing for: %(languages)s.", languages=listed(bare, locale())))
    if row.mm_per_px is None and row.kind == "kiosk":
        found.append(_("Its screen is not measured yet: sizes are a guess."))
    return found


def _help_words(screen: str, code: str, count: int) -> str:
    """Where guests of one language asked for help: words on that screen may be hard to read."""
    return " ".join(filter(None, [screen_name(screen), _own_name(code), str(count)]))


def _own_name(code: str | None) -> str:
    """The own name of a language; "" for none, and for one that we don't know."""
    language = LANGUAGES.get(code or "")
    if language is None:
        return ""
    return language.own_name


def _visits(found: Visits) -> str:
    if not found.begun:
        return _("No visit today")
    parts = [
        ngettext("%(num)d visit today", "%(num)d visits today", found.begun),
        _("%(n)d booked", n=found.booked),
    ]
    if found.helped:
        parts.append(_("%(n)d asked for help", n=found.helped))
    if found.median_s is not None:
        parts.append(_("typically %(n)d s", n=found.median_s))
    return " · ".join(parts)
