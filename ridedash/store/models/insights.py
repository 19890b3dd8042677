"""Tables of the insights' roll-up: figures of days that are over, and what has changed since."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class InsightSpan(Base):
    """The figures of some days of a property, as they were when they were added up.

    They are true unless there is an InsightChange with their token (store/insight_rollup.py).
    """

    __tablename__ = "insight_spans"
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    # before `since`: what asks for the spans of an instant of today then finds none at once
    until: Mapped[datetime] = mapped_column(primary_key=True)  # not included
    since: Mapped[datetime] = mapped_column(primary_key=True)
    zone: Mapped[str] = mapped_column(ShortText(64))  # by whose clock days and hours are counted
    counted_by: Mapped[str] = mapped_column(ShortText(64))  # digest of the code that counted
    token: Mapped[int]  # at random: the claim of the reader who adds them up
    figures: Mapped[str | None] = mapped_column(Text)  # JSON; None until they are added up


class InsightChange(Base):
    """A trigger of the database saw a change of what is counted in a span: it is no longer true.

    Rows are only inserted, and none is unique: so no writer ever waits for another one here.
    """

    __tablename__ = "insight_changes"
    __table_args__ = (Index("insight_changes_of_span", "token"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[int]  # of the span
