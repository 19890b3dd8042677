"""Tables of paired devices, which are a guest's kiosk in the lobby or a display at the door.

Further tables have visits of a kiosk (nothing that guests typed), desk codes, approvals, tickets,
hints on the way to the car, and links by which a guest continues on their own phone.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import JSON, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class KioskKind(StrEnum):
    """What a paired device is."""

    KIOSK = "kiosk"  # guests book on it
    DOOR = "door"  # shows the next cars at the entrance


class WhoPays(StrEnum):
    """Who decides that the property pays for a ride that a guest books at a kiosk."""

    DRIVER = "driver"  # no one: guests pay the driver
    CODE = "code"  # staff, by a desk code that they make beforehand
    APPROVAL = "approval"  # staff, who approve each booking at the desk


class AskState(StrEnum):
    """The states of an approval."""

    WAITING = "waiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"


# A list of texts as JSON
Texts: Final = JSON(none_as_null=True)


class Kiosk(Base):
    """A device: its place, rules and pairing, and the contents of its last heartbeat.

    Secrets are stored as hashes. A revoked device stays for its rides and is never paired again.
    """

    __tablename__ = "kiosks"
    __table_args__ = (
        Index("kiosks_of_property", "property_id"),
        Index("kiosks_pairing", "pairing_hash"),
        Index("kiosks_by_old_token", "old_token_hash"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    kind: Mapped[str] = mapped_column(ShortText(8))  # KioskKind
    name: Mapped[str] = mapped_column(ShortText(120))
    place: Mapped[str | None] = mapped_column(ShortText(200))  # where it stands, in words
    # the kiosk's own pickup point; None: the property's
    lat: Mapped[float | None]
    lng: Mapped[float | None]
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    rule: Mapped[str] = mapped_column(ShortText(12), default=WhoPays.DRIVER.value)  # WhoPays
    # {"mon": [["06:00", "23:00"]], …}; empty: always open
    hours: Mapped[dict[str, Any]] = mapped_column(default=dict)
    languages: Mapped[list[str]] = mapped_column(Texts, default=list)  # empty: all
    default_language: Mapped[str | None] = mapped_column(ShortText(8))
    # width of a pixel of its screen, which staff measure in the kiosk's panel
    mm_per_px: Mapped[float | None]
    bottom_mm: Mapped[int | None]  # height of its screen's lower edge above the floor
    idle_s: Mapped[int | None]  # None: the default of each screen
    # how many rides may wait for their passengers at the same time; None: the usual number
    most_waiting: Mapped[int | None]
    printer: Mapped[bool] = mapped_column(default=False)
    attended: Mapped[bool] = mapped_column(default=False)  # a tablet at the desk
    desk_phone: Mapped[str | None] = mapped_column(ShortText(32))
    # how a door display names a ride: by number, room or initials
    shows: Mapped[str] = mapped_column(ShortText(12), default="number")
    marks: Mapped[bool] = mapped_column(default=False)  # whether the doorman may mark rides there
    pairing_hash: Mapped[str | None] = mapped_column(ShortText(64))
    pairing_until: Mapped[datetime | None]
    token_hash: Mapped[str | None] = mapped_column(ShortText(64), unique=True)
    old_token_hash: Mapped[str | None] = mapped_column(ShortText(64))
    replaced_at: Mapped[datetime | None]  # when the token replaced the old one
    confirmed_at: Mapped[datetime | None]  # when the device first used that token
    pin_hash: Mapped[str | None] = mapped_column(ShortText(255))
    pin_tries: Mapped[int] = mapped_column(default=0)  # consecutive wrong PINs
    pin_blocked_until: Mapped[datetime | None]
    # who made the last pairing code; None for a kiosk that a demo paired by one press
    paired_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    paired_at: Mapped[datetime | None]
    seen_at: Mapped[datetime | None]  # the last heartbeat
    # the release of the page that it shows
    release: Mapped[str | None] = mapped_column(ShortText(64))
    health: Mapped[dict[str, Any]] = mapped_column(default=dict)  # contents of the last heartbeat
    out_of_order: Mapped[bool] = mapped_column(default=False)
    # until then the kiosk asks for desk codes, because rides booked on it were cancelled before
    # they began
    code_until: Mapped[datetime | None]
    # when the desk ended that early
    code_waived_at: Mapped[datetime | None]
    # when the desk handed the kiosk to a guest, and the guest's language; None once the visit began
    handed_at: Mapped[datetime | None]
    handed_language: Mapped[str | None] = mapped_column(ShortText(8))
    made_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class KioskVisit(Base):
    """One guest's visit at a kiosk: when, in which language, how far it got, how it ended.

    It never contains what was typed. The call for help lasts from `help_at` until it is answered or
    the visit ends.
    """

    __tablename__ = "kiosk_visits"
    __table_args__ = (
        Index("kiosk_visits_by_day", "property_id", "began_at"),
        Index("kiosk_visits_of_kiosk", "kiosk_id", "began_at"),
    )
    id: Mapped[str] = mapped_column(ShortText(32), primary_key=True)  # random
    kiosk_id: Mapped[int] = mapped_column(ForeignKey("kiosks.id"))
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    how: Mapped[str | None] = mapped_column(ShortText(8))  # done, idle, left, help, lost
    language: Mapped[str | None] = mapped_column(ShortText(8))
    aids: Mapped[list[str]] = mapped_column(Texts, default=list)
    screen: Mapped[str | None] = mapped_column(ShortText(20))  # the furthest screen
    seconds: Mapped[int | None]
    order_id: Mapped[int | None]  # a row of orders
    help_at: Mapped[datetime | None]
    help_answered_at: Mapped[datetime | None]
    help_answered_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))


class KioskCode(Base):
    """A desk code: six digits with which a guest may book, valid once and for some minutes."""

    __tablename__ = "kiosk_codes"
    __table_args__ = (Index("kiosk_codes_of_property", "property_id", "code_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    code_hash: Mapped[str] = mapped_column(ShortText(64))
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    guest_id: Mapped[int | None] = mapped_column(ForeignKey("guests.id"))
    house_pays: Mapped[bool]
    made_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by_kiosk: Mapped[int | None] = mapped_column(ForeignKey("kiosks.id"))


class KioskAsk(Base):
    """An approval: a booking request for the desk to answer (`wish`, without name and phone)."""

    __tablename__ = "kiosk_asks"
    __table_args__ = (
        Index("kiosk_asks_of_property", "property_id", "state"),
        Index("kiosk_asks_of_visit", "visit_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    kiosk_id: Mapped[int] = mapped_column(ForeignKey("kiosks.id"))
    visit_id: Mapped[str] = mapped_column(ShortText(32))
    wish: Mapped[dict[str, Any]] = mapped_column(default=dict)
    wish_enc: Mapped[str | None] = mapped_column(Text)  # encrypted: name and phone
    offer_id: Mapped[int]  # a row of offers, deleted after a day unless it is ordered
    state: Mapped[str] = mapped_column(ShortText(12))  # AskState
    house_pays: Mapped[bool] = mapped_column(default=False)
    reason: Mapped[str | None] = mapped_column(ShortText(40))
    order_id: Mapped[int | None]  # a row of orders
    asked_at: Mapped[datetime]
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    answered_at: Mapped[datetime | None]


class Ticket(Base):
    """What a guest takes along from a kiosk: a ride number (K1, K2, … each day) and a PIN."""

    __tablename__ = "tickets"
    __table_args__ = (Index("ticket_numbers", "property_id", "day", "number", unique=True),)
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"), unique=True)
    number: Mapped[int]
    day: Mapped[str] = mapped_column(ShortText(10))  # the property's local day, "2026-11-23"
    pin_hash: Mapped[str] = mapped_column(ShortText(255))
    # whether the guest booked on their own phone, to which the kiosk had shown a link
    on_phone: Mapped[bool] = mapped_column(default=False)
    tries: Mapped[int] = mapped_column(default=0)  # wrong PINs
    closed_at: Mapped[datetime | None]


class PickupHint(Base):
    """How to walk from a kiosk to a pickup point, which is known by name or by position."""

    __tablename__ = "pickup_hints"
    __table_args__ = (Index("pickup_hints_of_property", "property_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    kiosk_id: Mapped[int | None] = mapped_column(ForeignKey("kiosks.id"))  # None: from every kiosk
    point: Mapped[str | None] = mapped_column(ShortText(200))
    lat: Mapped[float | None]
    lng: Mapped[float | None]
    words: Mapped[dict[str, Any]] = mapped_column(default=dict)  # {language: text}
    metres: Mapped[int | None]
    minutes: Mapped[int | None]
    steps: Mapped[bool | None]  # None: unknown


class OwnPhone(Base):
    """A link with which a guest continues on their own phone: opened once, by one browser."""

    __tablename__ = "kiosk_phones"
    token_hash: Mapped[str] = mapped_column(ShortText(64), primary_key=True)
    kiosk_id: Mapped[int] = mapped_column(ForeignKey("kiosks.id"))
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    visit_id: Mapped[str | None] = mapped_column(ShortText(32))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    opened_at: Mapped[datetime | None]
    session_hash: Mapped[str | None] = mapped_column(ShortText(64))  # hash of the browser's cookie
    used_at: Mapped[datetime | None]
