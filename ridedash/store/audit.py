"""The record of who did what, when, and what came of it. Rows are added, never changed (security.md section 8)."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from ridedash.store.db import Base, Line


class AuditRow(Base):
    """One deed. `who` is `staff:<id>`, `worker` or `cli`; `subject` is `<table>:<id>`."""

    __tablename__ = "audit"
    __table_args__ = (Index("audit_by_subject", "subject"), Index("audit_by_time", "property_id", "at"))
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    property_id: Mapped[int | None]
    who: Mapped[str] = mapped_column(Line(80))
    what: Mapped[str] = mapped_column(Line(60))
    subject: Mapped[str] = mapped_column(Line(80))
    result: Mapped[str] = mapped_column(Line(60))
    facts: Mapped[dict[str, Any]]


def record(s: Session, who: str, what: str, subject: str, result: str, now: datetime, **facts: Any) -> None:
    """Add a row in the caller's transaction. Facts are JSON values: never tokens, phones or start codes.

    `property_id` among the facts becomes the row's own column.
    """
    property_id = facts.pop("property_id", None)
    s.add(AuditRow(at=now, property_id=property_id, who=who, what=what, subject=subject, result=result, facts=facts))
