"""Tables of the desk: places, cost centres, saved views, links, invitations, shift notes."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class Favourite(Base):
    """A place that a property uses often. `kind` is pickup or drop, `slot` a number from 1 to 9."""

    __tablename__ = "favourites"
    __table_args__ = (Index("favourite_slots", "property_id", "kind", "slot", unique=True),)
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    kind: Mapped[str] = mapped_column(ShortText(8))
    slot: Mapped[int]
    name: Mapped[str] = mapped_column(ShortText(200))
    lat: Mapped[float]
    lng: Mapped[float]


class CostCentre(Base):
    """What a ride is charged to inside the property. Rides keep a cost centre that is closed."""

    __tablename__ = "cost_centres"
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    name: Mapped[str] = mapped_column(ShortText(80))
    closed_at: Mapped[datetime | None]


class SavedView(Base):
    """Filters of the history under a name. `staff_id` None: they are the property's."""

    __tablename__ = "saved_views"
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    name: Mapped[str] = mapped_column(ShortText(40))
    query: Mapped[str] = mapped_column(ShortText(300))  # as in the history's address


class CarCapacity(Base):
    """How much fits into the cars of a category, as a property has set it; None: not known."""

    __tablename__ = "car_capacities"
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    category: Mapped[str] = mapped_column(ShortText(64), primary_key=True)
    name: Mapped[str] = mapped_column(ShortText(300))  # as the service named it then
    persons: Mapped[int | None]
    bags: Mapped[int | None]


class Link(Base):
    """A guest's or a follower's access to one ride, without a sign-in.

    The secret is never stored, only its hash.
    """

    __tablename__ = "links"
    __table_args__ = (Index("links_by_order", "order_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(ShortText(64), unique=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    kind: Mapped[str] = mapped_column(ShortText(10))  # rider, follower
    made_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    made_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class Invitation(Base):
    """A link for a new member of staff or a new password: valid once, stored as a hash."""

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(ShortText(64), unique=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    role: Mapped[str] = mapped_column(ShortText(20))
    name: Mapped[str] = mapped_column(ShortText(120))
    # whose password it sets; None: a new member of staff
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    made_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class ShiftNote(Base):
    """A note of one shift to the next."""

    __tablename__ = "shift_notes"
    __table_args__ = (Index("shift_notes_open", "property_id", "done_at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    text: Mapped[str] = mapped_column(ShortText(1000))
    made_at: Mapped[datetime]
    done_at: Mapped[datetime | None]
    done_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
