"""Tables with which a restore from a backup is detected, recorded and repaired.

See docs/booking-protocol.md 1.7.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, false
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class Watermark(Base):
    """A counter of this database in a single row; every heartbeat of a worker raises it.

    A worker that has seen a higher watermark knows that the database was restored from a backup.
    """

    __tablename__ = "watermark"
    id: Mapped[int] = mapped_column(primary_key=True)
    epoch: Mapped[int]  # rises with every restore that was noticed or declared
    beats: Mapped[int]
    beat_at: Mapped[datetime | None]


class Restore(Base):
    """A restore that a worker noticed or that a person declared."""

    __tablename__ = "restores"
    id: Mapped[int] = mapped_column(primary_key=True)
    # the last instant that the database knows of; None if unknown
    restored_to: Mapped[datetime | None]
    noticed_at: Mapped[datetime]
    # when a person accepted it (`ridedash db accept-restore`), which sets free the orders that are
    # still held because of it
    accepted_at: Mapped[datetime | None]
    # the journals were lost, and whether the database was restored too is not known
    bare: Mapped[bool] = mapped_column(default=False, server_default=false())


class LostOrder(Base):
    """An order that a journal contains and the database has lost, with the journal's data."""

    __tablename__ = "lost_orders"
    __table_args__ = (Index("lost_orders_of_property", "property_id", "closed_at"),)
    # the partner reference, sent as `merchant_txn_id`
    mtx: Mapped[str] = mapped_column(ShortText(32), primary_key=True)
    # the number that its row had; an order that is taken up gets it again. None: not journalled
    number: Mapped[int | None]
    # None where the database has lost the property as well
    property_id: Mapped[int | None] = mapped_column(ForeignKey("properties.id"))
    account_id: Mapped[int]  # no foreign key: the database may have lost the account too
    category: Mapped[str] = mapped_column(ShortText(64))
    attempt: Mapped[int]
    sent_at: Mapped[datetime]
    # the fields of sent_journal.OUTCOME_FIELDS; None while no answer is known
    outcome: Mapped[dict[str, Any] | None]
    listed_at: Mapped[datetime]
    # when staff took it up or dismissed it, or when it was proved that nothing was booked
    closed_at: Mapped[datetime | None]
    # the order that staff made from it
    order_id: Mapped[int | None] = mapped_column(ForeignKey("orders.id"))
