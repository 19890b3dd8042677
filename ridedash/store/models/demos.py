"""The mark of a demo's database."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class DemoMark(Base):
    """That this database is a demo's: a single row, written with its first property.

    `day` is how it starts: "wanted" until its day is made, then "made"; "none" for an empty one.
    """

    __tablename__ = "demo_mark"
    id: Mapped[int] = mapped_column(primary_key=True)
    made_at: Mapped[datetime]
    day: Mapped[str] = mapped_column(ShortText(8))
