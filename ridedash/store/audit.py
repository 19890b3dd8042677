"""The audit log: who did what, when, and with what result. Rows are added, never changed.

See docs/security.md 8.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Index, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from ridedash.store.actors import WORKER, ActorKind, Who
from ridedash.store.database.database import Base, ShortText
from ridedash.store.models.orders import Ride


class AuditRow(Base):
    """One audit entry.

    `who` is an actor in its stored form (store/actors.py): `staff:<id>`, `guest:<id>`,
    `kiosk:<id>`, `worker`, `cli` or `visitor`; `subject` is `<table>:<id>`.

    Rows are deleted by age only (rides/privacy/retention.py). The program's PostgreSQL role does
    not need UPDATE on this table.
    """

    __tablename__ = "audit"
    __table_args__ = (
        Index("audit_by_subject", "subject"),
        Index("audit_by_time", "property_id", "at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    property_id: Mapped[int | None]
    who: Mapped[str] = mapped_column(ShortText(80))
    what: Mapped[str] = mapped_column(ShortText(60))
    subject: Mapped[str] = mapped_column(ShortText(80))
    result: Mapped[str] = mapped_column(ShortText(60))
    facts: Mapped[dict[str, Any]]


def record(
    s: Session, who: Who, what: str, subject: str, result: str, now: datetime, **facts: Any
) -> None:
    """Add an audit entry in the caller's transaction.

    Facts are JSON values: never tokens, phones or start codes. `property_id` among them becomes the
    row's own column.
    """
    property_id = facts.pop("property_id", None)
    s.add(
        AuditRow(
            at=now,
            property_id=property_id,
            who=str(who),
            what=what,
            subject=subject,
            result=result,
            facts=facts,
        )
    )


@dataclass(frozen=True)
class AuditFilter:
    """Which entries to read; None: any.

    `before` is the id of an entry: only older entries are read.
    """

    since: datetime | None = None
    until: datetime | None = None
    who: str | None = None  # an actor in its stored form, or "guest" for every guest
    what: str | None = None
    before: int | None = None
    order: int | None = None  # only entries about this order
    people: bool = False  # leave out the entries of the worker
    nobodys: bool = False  # also entries without a property: unknown sign-in names, commands


def record_code_shown(s: Session, who: Who, ride: Ride, by: str, now: datetime) -> None:
    """Record that a person saw the start code of a ride, and how; never the code itself."""
    facts = {"property_id": ride.property_id, "by": by}
    record(s, who, "code_shown", f"orders:{ride.order_id}", "ok", now, **facts)


def entries(s: Session, property_id: int, filters: AuditFilter, limit: int) -> list[AuditRow]:
    """Entries of a property, the newest first."""
    own = AuditRow.property_id == property_id
    query = select(AuditRow).where(
        or_(own, AuditRow.property_id.is_(None)) if filters.nobodys else own
    )
    if filters.since is not None:
        query = query.where(AuditRow.at >= filters.since)
    if filters.until is not None:
        query = query.where(AuditRow.at < filters.until)
    if filters.before is not None:
        query = query.where(AuditRow.id < filters.before)
    if filters.people:
        query = query.where(AuditRow.who != str(WORKER))
    if filters.who == ActorKind.GUEST:
        query = query.where(AuditRow.who.startswith(f"{ActorKind.GUEST}:"))
    about = f"orders:{filters.order}" if filters.order is not None else None
    wanted = (
        (AuditRow.who, None if filters.who == ActorKind.GUEST else filters.who),
        (AuditRow.what, filters.what),
        (AuditRow.subject, about),
    )
    for column, value in wanted:
        if value is not None:
            query = query.where(column == value)
    return list(s.scalars(query.order_by(AuditRow.id.desc()).limit(limit)))
