"""Tables of guest lists: a list, and a row for each line. See docs/booking-protocol.md 1.10."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, event, false
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.names import found_by
from ridedash.store.database.database import Base, ShortText


class ListState(StrEnum):
    """The states of a list."""

    DRAFT = "DRAFT"  # read, not pressed yet
    RUNNING = "RUNNING"  # a worker books its waiting lines, wave by wave
    STOPPED = "STOPPED"  # by a person, by a restore, or because too much failed
    DONE = "DONE"  # no line waits


class LineState(StrEnum):
    """The states of a line. Only WAITING lines are booked."""

    OPEN = "OPEN"  # not pressed yet, or corrected since
    WAITING = "WAITING"
    ORDERED = "ORDERED"
    ASKED = "ASKED"  # a person has to answer `code` before it is booked


class GuestList(Base):
    """A list of guests as it was read, the trip of its lines, and how far its booking has come."""

    __tablename__ = "guest_lists"
    __table_args__ = (
        Index("guest_lists_due", "state", "next_at"),
        Index("guest_lists_alike", "property_id", "digest"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))  # who has read it
    label: Mapped[str] = mapped_column(ShortText(120))  # the name of its file; "" for a pasted list
    state: Mapped[str] = mapped_column(ShortText(12))  # ListState
    version: Mapped[int]  # rises with every change that its page shows
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    # digest of its guests, by which the same file is noticed
    digest: Mapped[str] = mapped_column(ShortText(64))
    # each line has this token with its number as the form token of its order
    form_token: Mapped[str] = mapped_column(ShortText(64), unique=True)
    group_key: Mapped[str] = mapped_column(ShortText(32))  # that of its orders
    # how it was read: fields of the columns, encoding, oddities, order of dates
    sheet: Mapped[dict[str, Any]]
    # what all lines share unless they have their own: ends, time in words, car, account, payment
    trip: Mapped[dict[str, Any]]
    pressed_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    pressed_at: Mapped[datetime | None]
    next_at: Mapped[datetime | None]  # when the next wave may begin
    owner: Mapped[str | None] = mapped_column(ShortText(80))
    lease_until: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0, server_default="0")  # failed waves in a row
    # why it is stopped, or why its next wave waits
    code: Mapped[str | None] = mapped_column(ShortText(40))


class ListLine(Base):
    """One line of a list. Once it is ordered, only the order knows its guest."""

    __tablename__ = "list_lines"
    __table_args__ = (
        UniqueConstraint("list_id", "number"),
        Index("list_lines_of_order", "order_id"),
        Index("list_lines_of_offer", "offer_id"),
        Index("list_lines_of_property", "property_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    list_id: Mapped[int] = mapped_column(ForeignKey("guest_lists.id"))
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    number: Mapped[int]  # from 1
    row: Mapped[int]  # its line in the file or the text
    # `cells` as they were read, `typed` corrections by field, the `place` found for its drop, and
    # the codes of questions that a person has answered (`meant`)
    data: Mapped[dict[str, Any]]
    # why it is left out (ridedash/lists/table.py, Out); None: it is a guest
    out: Mapped[str | None] = mapped_column(ShortText(16))
    car: Mapped[int]  # lines with the same number share a car
    # the partner reference of its order, made with the line: a database that goes back in time
    # can't order it under another one
    mtx: Mapped[str] = mapped_column(ShortText(32), unique=True)
    state: Mapped[str] = mapped_column(ShortText(12))  # LineState
    # what is ordered, frozen at the press; only of the first line of a car
    plan: Mapped[dict[str, Any] | None]
    # the offer that was shown, with its highest price in hundredths, and whether it is by the meter
    offer_id: Mapped[int | None]
    shown_minor: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(ShortText(8))
    metered: Mapped[bool] = mapped_column(default=False, server_default=false())
    code: Mapped[str | None] = mapped_column(ShortText(40))  # the question of an ASKED line
    price_minor: Mapped[int | None]  # the present price, if that is the question
    order_id: Mapped[int | None]


class Companion(Base):
    """A further guest of a car that several share: the order's own guest is the first of them."""

    __tablename__ = "order_companions"
    __table_args__ = (
        Index("order_companions_of_order", "order_id"),
        Index("order_companions_by_room", "property_id", "room"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    name: Mapped[str] = mapped_column(ShortText(120))
    folded: Mapped[str | None] = mapped_column(ShortText(300))  # what a search finds the name by
    room: Mapped[str | None] = mapped_column(ShortText(32))
    phone: Mapped[str | None] = mapped_column(ShortText(32))
    phone2: Mapped[str | None] = mapped_column(ShortText(32))


@event.listens_for(Companion, "before_insert")
@event.listens_for(Companion, "before_update")
def _findable(_mapper: object, _connection: object, companion: Companion) -> None:
    companion.folded = found_by(companion.name or "")
