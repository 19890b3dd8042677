"""The top bar of every staff page: unknown orders, stopped updates, alerts of the property."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from flask import request
from sqlalchemy.orm import Session

from ridedash.config import Settings
from ridedash.extensions import services
from ridedash.rides.health import Alarms, alarms, heartbeat_age, is_alive
from ridedash.rides.kiosk.opening import is_open
from ridedash.store.board import AccountInNeed, accounts_in_need, unknown_orders
from ridedash.store.guest_lists import LIST_STOPPED, ListInNeed, lists_in_need
from ridedash.store.kiosk_desk import Ring, rings
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import Property, Staff
from ridedash.store.restores import Waiting, waiting
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import age, clock_held, clock_time, day_time, stamp, zone
from ridedash.views.web.permissions import ADMIN, MANAGE, may
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import ngettext


@dataclass(frozen=True)
class Alert:
    """Something that needs attention for the whole property.

    `label` and `href` link to the page that solves it; "" if the user may not open that page.
    """

    name: str
    title: str
    detail: str
    label: str
    href: str


def demo_words(settings: Settings) -> str:
    """The words of the band on every page of a demo and of a rehearsal; "" for all others."""
    if settings.rehearsal:
        return _("Rehearsal: no real rides")
    if not settings.demo:
        return ""
    if settings.sandboxed:
        return _("Demo: no real rides")
    return _("Demo on a service that is not our sandbox: rides may be real")


def on_stage(settings: Settings) -> bool:
    """Whether this page is asked for by a frame of a demo's stage, whose own band says enough.

    Only the stage may frame our pages. Every browser that it runs in sends this header.
    """
    return settings.sandboxed and request.headers.get("Sec-Fetch-Dest") == "iframe"


def marked(name: str) -> str:
    """The name of a file to download; the name says so if it is of a demo or a rehearsal."""
    settings = services().settings
    if settings.demo or settings.rehearsal:
        return f"demo-{name}"
    return name


@dataclass(frozen=True)
class StaffBar:
    """The contents of the top bar."""

    property_name: str
    staff_name: str
    unknown: int
    unknown_text: str
    unknown_since: str
    stopped: str  # the message that no worker runs, and since when; "" while one runs
    # the message that the ride service does not answer or refuses the key, and since when; or ""
    silent: str
    # the message that the database was restored, and what waits for a decision; or ""
    restored: str = ""
    held: str = ""  # in a demo: the message that its clock is held, and at which time; or ""
    decide: bool = False  # whether something waits for a decision since the restore
    alerts: tuple[Alert, ...] = field(default=())
    rings: tuple[Ring, ...] = field(default=())  # calls from kiosks
    kiosk: str = ""  # the number of guests at kiosks who wait, in words; or ""
    shortcuts: bool = True  # whether the user has single-key shortcuts on
    sound: bool = False

    @property
    def updates_stopped(self) -> bool:
        """Whether the bar says that no ride is being updated."""
        return bool(self.stopped or self.silent)

    def as_json(self) -> dict[str, Any]:
        """The fields that can change while a page is open."""
        fields: dict[str, Any] = {
            "unknown": self.unknown,
            "since": self.unknown_since,
            "text": self.unknown_text,
        }
        fields |= {"stopped": self.stopped, "silent": self.silent, "restored": self.restored}
        fields["decide"] = self.decide
        if self.held:
            fields["held"] = self.held
        if self.kiosk:
            fields["kiosk"] = self.kiosk
        if self.alerts:
            fields["alerts"] = [vars(each) for each in self.alerts]
        return fields


@dataclass(frozen=True)
class BarFacts:
    """The facts of the top bar, without words: the same for all users of a role at a property.

    `heartbeat_s`: the age of the last heartbeat of any worker. `rings`: the calls from kiosks; a
    silent kiosk is among them only if it is open at this hour, and only for managers.
    """

    at: datetime
    prop: Property | None
    unknown: int
    unknown_since: datetime | None
    heartbeat_s: float | None
    alarms: Alarms
    restored: Waiting | None
    accounts: list[AccountInNeed]
    rings: list[Ring]
    lists: list[ListInNeed]


def bar_facts(db: Session, now: datetime) -> BarFacts:
    """The facts for the signed-in user's role and property."""
    number = current_staff().property_id
    prop = db.get(Property, number)
    ringing = rings(db, number, now)
    return BarFacts(
        now,
        prop,
        *unknown_orders(db, number),
        heartbeat_age(db, now),
        alarms(db, now),
        None if prop is None else waiting(db, number, homeless=may(ADMIN)),
        accounts_in_need(db, number, services().vault),
        [each for each in ringing if each.what != "silent" or _is_missed(db, each, prop, now)],
        lists_in_need(db, number, by_person=LIST_STOPPED),
    )


def _is_missed(db: Session, ring: Ring, prop: Property | None, now: datetime) -> bool:
    """Whether the user should look after a silent kiosk: as a manager, while the kiosk is open."""
    if prop is None or not may(MANAGE):
        return False
    return is_open(db.get_one(Kiosk, ring.kiosk_id), now.astimezone(zone(prop.timezone)))


def staff_bar(facts: BarFacts) -> StaffBar:
    """The bar of the signed-in user, with what can change while a page is open."""
    found = facts.restored
    text = _("%(n)d unknown", n=facts.unknown)
    asking = tuple(each for each in facts.rings if each.what != "silent")
    if facts.unknown_since is not None:
        text = f"{text} · {age((facts.at - facts.unknown_since).total_seconds())}"
    bar = StaffBar(
        property_name="",
        staff_name=current_staff().name,
        unknown=facts.unknown,
        unknown_text=text,
        unknown_since=stamp(facts.unknown_since),
        stopped=_stopped(facts),
        silent="",
        decide=found is not None and bool(found.held or found.lost),
        alerts=(
            *map(_in_need, facts.accounts),
            *map(_waiting_list, facts.lists),
            *_silent_kiosks(facts),
            *_wrong_clock(facts.alarms.clock_ahead_s),
        ),
        rings=asking,
        kiosk=_asking(asking),
    )
    prop = facts.prop
    if prop is None:
        return bar
    return replace(
        bar,
        property_name=prop.name,
        silent=_silent(facts.alarms, prop, facts.at),
        restored=_restored(found, prop, facts.at),
        held=_held_message(prop, facts.at),
    )


def page_bar(db: Session, now: datetime) -> StaffBar:
    """The bar with the user's preferences, which a page reads only once."""
    prefers = db.get_one(Staff, current_staff().id)
    bar = staff_bar(bar_facts(db, now))
    return replace(bar, shortcuts=prefers.shortcuts, sound=prefers.sound)


def _held_message(prop: Property, now: datetime) -> str:
    """The message that the clock of a demo is held."""
    time = services().time()
    if not time.held:
        return ""
    return clock_held(clock_time(time.shown(now), zone(prop.timezone)))


def _stopped(facts: BarFacts) -> str:
    """The message that no worker refreshes what is shown.

    It gives a time of day instead of an age, so that a screen reader reads the message only once,
    and not at each poll.
    """
    age_s = facts.heartbeat_s
    if is_alive(age_s):
        return ""
    if age_s is None or facts.prop is None:
        return _(
            "Live updates have not started: the program that fetches them is not running. Rides go "
            "on; what is shown here is not refreshed."
        )
    stopped_at = facts.at - timedelta(seconds=age_s)
    at = day_time(stopped_at, facts.at, zone(facts.prop.timezone), locale())
    return _(
        "Live updates stopped at %(at)s. Rides go on; what is shown here is not being refreshed.",
        at=at,
    )


def _silent(wrong: Alarms, prop: Property, now: datetime) -> str:
    """The message that the ride service does not answer, or refuses the partner's key.

    Both are known only while a worker runs.
    """
    since = wrong.silent_since or wrong.key_refused_since
    if since is None:
        return ""
    time = services().time()  # the message shows the time of the rides
    at = day_time(time.shown(since), time.shown(now), zone(prop.timezone), locale())
    if wrong.silent_since is not None:
        return _(
            "The ride company has not answered since %(at)s. Rides go on; what you see may be old.",
            at=at,
        )
    refused = _(
        "The ride company has refused this desk's key since %(at)s: nothing can be booked. Rides "
        "go on; what you see may be old.",
        at=at,
    )
    todo = _("Tell a manager.")
    if may(MANAGE):
        todo = _("Tell whoever runs ridedash to check the key with the ride company.")
    return f"{refused} {todo}"


def _restored(found: Waiting | None, prop: Property, now: datetime) -> str:
    """The message that the database was restored from a backup, and how much is to be decided."""
    if found is None:
        return ""
    at = ""
    if found.restored_to is not None:
        at = day_time(found.restored_to, now, zone(prop.timezone), locale())
    sentences = [_happened(found, at)]
    if found.held:
        sentences.append(
            ngettext(
                "%(num)d planned ride waits for you.",
                "%(num)d planned rides wait for you.",
                found.held,
            )
        )
    if found.lost:
        sentences.append(
            ngettext("%(num)d booking is missing.", "%(num)d bookings are missing.", found.lost)
        )
    if not found.held and not found.lost and not found.is_bare:
        sentences.append(_("What was entered after that is missing."))
    return " ".join(sentences)


def _happened(found: Waiting, at: str) -> str:
    """What happened to the database; `at` is the last time that it knows of, or ""."""
    if found.is_bare and at:
        return _("The record of what was booked since %(at)s is lost.", at=at)
    if found.is_bare:
        return _("The record of what was booked is lost.")
    if at:
        return _("The database was restored to %(at)s.", at=at)
    return _("The database was restored from a backup.")


def _asking(asking: tuple[Ring, ...]) -> str:
    """How many guests at kiosks wait for the desk, in words; "" for none."""
    helps = sum(each.what == "help" for each in asking)
    asks = len(asking) - helps
    if helps and asks:
        return ngettext("Kiosk: %(num)d waits for you", "Kiosk: %(num)d wait for you", len(asking))
    if helps:
        return ngettext("Kiosk: %(num)d asks for help", "Kiosk: %(num)d ask for help", helps)
    if asks:
        return ngettext("Kiosk: %(num)d to approve", "Kiosk: %(num)d to approve", asks)
    return ""


def _silent_kiosks(facts: BarFacts) -> list[Alert]:
    """Kiosks that managers should look after: silent for minutes, and not closed at this hour."""
    prop = facts.prop
    if prop is None:
        return []
    return [
        Alert(
            f"kiosk-{each.kiosk_id}",
            _("Kiosk %(name)s is silent", name=each.kiosk),
            _(
                "Nothing was heard of it since %(at)s. Is it on, and does its network work?",
                at=day_time(each.at, facts.at, zone(prop.timezone), locale()),
            ),
            _("Look"),
            f"/admin/kiosks/{each.kiosk_id}",
        )
        for each in facts.rings
        if each.what == "silent"
    ]


def _wrong_clock(ahead_s: float | None) -> list[Alert]:
    """The alert that planned rides wait, because a worker's clock differs from the service's."""
    if ahead_s is None:
        return []
    title = _("The clock of ridedash is slow")
    if ahead_s > 0:
        title = _("The clock of ridedash is fast")
    detail = _(
        "It is %(n)d min from the ride company's. Planned rides wait until it is right: tell "
        "whoever runs ridedash, and book by hand what must go.",
        n=round(abs(ahead_s) / 60),
    )
    return [Alert("clock", title, detail, "", "")]


def _waiting_list(found: ListInNeed) -> Alert:
    title = _("A guest list has stopped")
    if not found.code:
        title = ngettext(
            "Guest list: %(num)d car waits for an answer",
            "Guest list: %(num)d cars wait for an answer",
            found.asking,
        )
    detail = _("Nothing is booked for these guests until somebody decides.")
    if found.label:
        detail = f"{found.label} · {detail}"
    return Alert(f"list-{found.id}", title, detail, _("Look"), f"/lists/{found.id}")


def _in_need(account: AccountInNeed) -> Alert:
    if account.is_unreadable:
        title = _("ridedash can't read its link to %(account)s", account=account.label)
        detail = _(
            "A key is missing: tell whoever runs ridedash. What is pressed for its rides is not "
            "sent until then."
        )
        return Alert(f"key-{account.id}", title, detail, "", "")
    title = _("%(account)s needs reconnecting", account=account.label)
    if not may(MANAGE):
        detail = _("Ask a manager: rides show their last facts.")
        return Alert(f"reconnect-{account.id}", title, detail, "", "")
    detail = _("Its rides show their last facts until then.")
    return Alert(f"reconnect-{account.id}", title, detail, _("Reconnect"), "/admin/accounts")
