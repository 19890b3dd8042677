"""Kiosks as the desk sees them: their visits, and their calls (help, approvals, silence)."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    CompoundSelect,
    String,
    bindparam,
    cast,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from ridedash.store.models.kiosks import AskState, Kiosk, KioskAsk, KioskVisit, PickupHint

ALIVE: Final = timedelta(seconds=60)  # a kiosk without a heartbeat for this long is silent
# managers are alerted to a kiosk that is silent for this long in its opening hours
SILENT: Final = timedelta(minutes=3)
# help is for a guest who stands there: a visit that began longer ago is over
RINGS: Final = timedelta(minutes=30)
ASK_LASTS: Final = timedelta(seconds=180)  # as long as an ask for approval lasts


class Ring(NamedTuple):
    """A call of a kiosk that the desk has to answer.

    `what` is "help", "ask" or "silent"; `key` is the id of the visit, of the approval or of the
    kiosk, as text.
    """

    what: str
    key: str
    at: datetime
    kiosk_id: int
    kiosk: str


def rings(s: Session, property_id: int, now: datetime) -> list[Ring]:
    """All calls at a property, the longest waiting first.

    One statement, because each poll runs it.
    """
    since = {"rings": now - RINGS, "asked": now - ASK_LASTS, "silent": now - SILENT}
    rows = s.execute(_RINGS, {"property_id": property_id, **since})
    return sorted((Ring(*row) for row in rows), key=lambda each: (each.at, each.key))


_HERE: Final[BindParameter[int]] = bindparam("property_id")
_RINGS: Final[CompoundSelect[Any]] = union_all(
    select(literal("help"), KioskVisit.id, KioskVisit.help_at, Kiosk.id, Kiosk.name)
    .join(Kiosk, Kiosk.id == KioskVisit.kiosk_id)
    .where(
        KioskVisit.property_id == _HERE,
        # a visit that began earlier is over, whether its end was reported or not
        KioskVisit.began_at > bindparam("rings"),
        KioskVisit.help_at.is_not(None),
        KioskVisit.help_answered_at.is_(None),
        KioskVisit.ended_at.is_(None),
    ),
    select(literal("ask"), cast(KioskAsk.id, String), KioskAsk.asked_at, Kiosk.id, Kiosk.name)
    .join(Kiosk, Kiosk.id == KioskAsk.kiosk_id)
    .where(
        KioskAsk.property_id == _HERE,
        KioskAsk.state == AskState.WAITING.value,
        KioskAsk.asked_at > bindparam("asked"),
    ),
    select(literal("silent"), cast(Kiosk.id, String), Kiosk.seen_at, Kiosk.id, Kiosk.name).where(
        Kiosk.property_id == _HERE,
        Kiosk.seen_at < bindparam("silent"),
        Kiosk.token_hash.is_not(None),
        # without the windows that a demo turns into kiosks by one press: they may close at any time
        Kiosk.paired_by.is_not(None),
        Kiosk.revoked_at.is_(None),
        Kiosk.out_of_order.is_(False),
    ),
)


def hints_of(s: Session, property_id: int) -> list[PickupHint]:
    """The pickup hints of a property, in the order in which they were added."""
    mine = select(PickupHint).where(PickupHint.property_id == property_id)
    return list(s.scalars(mine.order_by(PickupHint.id)))


def hint_of(s: Session, property_id: int, hint_id: int) -> PickupHint | None:
    """One pickup hint; None when it is unknown or another property's."""
    row = s.get(PickupHint, hint_id)
    if row is None or row.property_id != property_id:
        return None
    return row


class Visits(NamedTuple):
    """The visits of a kiosk since an instant.

    `left` counts, by the furthest screen, the visits that ended without an order. `median_s` is the
    median duration of all visits in seconds; None if none is known. `asked` counts, by screen and
    language, the visits in which a guest asked for help; the language is "" until the page reports
    the end of the visit.
    """

    begun: int = 0
    booked: int = 0
    helped: int = 0
    left: tuple[tuple[str, int], ...] = ()
    median_s: int | None = None
    language: str | None = None  # language of the last visit
    asked: tuple[tuple[str, str, int], ...] = ()


def visits_of(s: Session, kiosk_ids: Collection[int], since: datetime) -> dict[int, Visits]:
    """The visits of these kiosks since `since`; a kiosk without one is left out."""
    query = select(KioskVisit).where(
        KioskVisit.kiosk_id.in_(kiosk_ids), KioskVisit.began_at >= since
    )
    rows: dict[int, list[KioskVisit]] = {}
    for row in s.scalars(query.order_by(KioskVisit.began_at)) if kiosk_ids else ():
        rows.setdefault(row.kiosk_id, []).append(row)
    return {number: _counted(found) for number, found in rows.items()}


def _counted(rows: list[KioskVisit]) -> Visits:
    over = (row for row in rows if row.ended_at is not None and row.order_id is None)
    left = Counter(row.screen for row in over if row.screen)
    helped = [row for row in rows if row.help_at is not None]
    asked = Counter((row.screen or "", row.language or "") for row in helped)
    lasted = sorted(row.seconds for row in rows if row.seconds is not None)
    return Visits(
        begun=len(rows),
        booked=sum(row.order_id is not None for row in rows),
        helped=len(helped),
        left=tuple(sorted(left.items(), key=lambda each: (-each[1], each[0]))),
        median_s=lasted[len(lasted) // 2] if lasted else None,
        language=next((row.language for row in reversed(rows) if row.language), None),
        asked=tuple(
            (*at, count)
            for at, count in sorted(asked.items(), key=lambda each: (-each[1], each[0]))
        ),
    )


def answer_help(
    s: Session, property_id: int, visit_id: str, staff_id: int, now: datetime
) -> KioskVisit | None:
    """Record that staff are coming, which the kiosk shows to the guest.

    Returns the visit; None if it is unknown, another property's, or has not called for help.
    """
    row = s.get(KioskVisit, visit_id, with_for_update=True)
    if row is None or row.property_id != property_id or row.help_at is None:
        return None
    if row.help_answered_at is None:
        row.help_answered_at = now
        row.help_answered_by = staff_id
    return row


class KioskCounts(NamedTuple):
    """Numbers of paired devices at one instant, for monitoring."""

    alive: int
    silent: int  # paired, not out of order, and without a heartbeat for a minute
    out_of_order: int
    silent_s: float  # seconds for which the longest silent device is silent; 0.0 if none is


def kiosk_counts(s: Session, now: datetime) -> KioskCounts:
    """How many paired devices are alive, silent and out of order."""
    paired = Kiosk.token_hash.is_not(None), Kiosk.revoked_at.is_(None)
    rows = s.execute(select(Kiosk.seen_at, Kiosk.out_of_order).where(*paired)).all()
    ages = [(now - seen).total_seconds() for seen, out in rows if seen is not None and not out]
    late = [age for age in ages if age > ALIVE.total_seconds()]
    return KioskCounts(
        alive=len(ages) - len(late),
        silent=len(late),
        out_of_order=sum(out for _seen, out in rows),
        silent_s=max(late, default=0.0),
    )
