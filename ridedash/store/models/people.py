"""Tables of people: properties, their staff and sign-ins, guests, linked accounts."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, event, false, text, true
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.names import found_by, name_key
from ridedash.store.database.database import Base, ShortText


class Property(Base):
    """A hotel, hospital or venue: its time zone, currency and usual pickup."""

    __tablename__ = "properties"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(ShortText(120))
    timezone: Mapped[str] = mapped_column(ShortText(64))
    # the country of phone numbers that are typed without a country code
    country: Mapped[str | None] = mapped_column(ShortText(2))
    currency: Mapped[str | None] = mapped_column(ShortText(3))
    pickup_name: Mapped[str | None] = mapped_column(ShortText(200))
    pickup_lat: Mapped[float | None]
    pickup_lng: Mapped[float | None]
    phone: Mapped[str | None] = mapped_column(ShortText(32))
    created_at: Mapped[datetime]
    # how long before their flight the property's guests want to be at the airport
    flight_margin_min: Mapped[int] = mapped_column(default=120, server_default="120")
    # how long after they land guests need to the pickup: passport, luggage, the way out
    luggage_min: Mapped[int] = mapped_column(default=40, server_default="40")
    # the property's own logo and colour, shown to guests (ridedash/face/)
    colour: Mapped[str | None] = mapped_column(ShortText(7))  # "#7a1f3d"
    logo: Mapped[str | None] = mapped_column(ShortText(72))  # LogoRow.name
    logo_width: Mapped[int | None]
    logo_height: Mapped[int | None]
    logo_ground: Mapped[str | None] = mapped_column(ShortText(5))  # "light" or "dark"
    # its face on kiosks (ridedash/face/kiosk_look.py); all None: waves, and no typeface of its own
    picture_wide: Mapped[str | None] = mapped_column(ShortText(72))  # PictureRow.name
    picture_tall: Mapped[str | None] = mapped_column(ShortText(72))
    picture_focus: Mapped[str | None] = mapped_column(ShortText(8))
    pattern: Mapped[str | None] = mapped_column(ShortText(8))
    typeface: Mapped[str | None] = mapped_column(ShortText(8))
    # part of the address of its own sign-in page
    door: Mapped[str | None] = mapped_column(ShortText(32))
    # the language for readers who have not chosen one; None: English
    language: Mapped[str | None] = mapped_column(ShortText(8))
    # whether guests are offered languages that only a machine has translated
    machine_words: Mapped[bool] = mapped_column(default=True, server_default=true())
    # rises with each change of `wordings` or `word_reviews`; 0: there were none yet
    words_version: Mapped[int] = mapped_column(default=0, server_default="0")


class DemoMark(Base):
    """Marks the database of a demo: a single row, written with its first property.

    `day`: "wanted" until the rides of its day are made, then "made"; "none" for a demo without
    rides, or when making them failed.
    """

    __tablename__ = "demo_mark"
    id: Mapped[int] = mapped_column(primary_key=True)
    made_at: Mapped[datetime]
    day: Mapped[str] = mapped_column(ShortText(8))


class Wording(Base):
    """A sentence in a property's own words, in one language (ridedash/wording/own.py)."""

    __tablename__ = "wordings"
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    language: Mapped[str] = mapped_column(ShortText(8), primary_key=True)
    name: Mapped[str] = mapped_column(ShortText(40), primary_key=True)
    text: Mapped[str] = mapped_column(ShortText(200))
    # the program's English sentence at that time, which `text` replaces
    english: Mapped[str] = mapped_column(ShortText(300))
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    at: Mapped[datetime]


class WordReview(Base):
    """A mark that a native reader has read a language's critical sentences, those of `digest`."""

    __tablename__ = "word_reviews"
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    language: Mapped[str] = mapped_column(ShortText(8), primary_key=True)
    digest: Mapped[str] = mapped_column(ShortText(64))  # digest of the sentences that were read
    # the member of staff who set the mark
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    at: Mapped[datetime]


class LogoRow(Base):
    """The bytes of a property's logo, in a separate table because every page reads properties.

    They were made by ridedash/face/logo.py; `name` is their SHA-256 and kind: "1f….png".
    """

    __tablename__ = "logos"
    __table_args__ = (Index("logos_by_name", "name"),)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    name: Mapped[str] = mapped_column(ShortText(72))
    content: Mapped[bytes] = mapped_column(LargeBinary)


class PictureRow(Base):
    """The bytes of one crop of a property's picture; `shape` is "wide" or "tall".

    They were made by ridedash/face/kiosk_look.py; `name` is their SHA-256 and kind: "1f….jpg".
    """

    __tablename__ = "pictures"
    __table_args__ = (Index("pictures_by_name", "name"),)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    shape: Mapped[str] = mapped_column(ShortText(4), primary_key=True)
    name: Mapped[str] = mapped_column(ShortText(72))
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Staff(Base):
    """A person who signs in. `role` is concierge, manager or admin."""

    __tablename__ = "staff"
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    name: Mapped[str] = mapped_column(ShortText(120))
    # as `sign_in_key` returns it; made from `name`, except for the user of a demo
    sign_in_name: Mapped[str] = mapped_column(ShortText(120), unique=True)
    password_hash: Mapped[str] = mapped_column(ShortText(255))
    role: Mapped[str] = mapped_column(ShortText(20))
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]
    # the cookies of browsers that are known as theirs hold this; a new value makes all of them void
    browsers: Mapped[str] = mapped_column(ShortText(16), default="", server_default="")
    # single-key shortcuts without Ctrl
    shortcuts: Mapped[bool] = mapped_column(default=True, server_default=true())
    # a sound when a ride needs attention
    sound: Mapped[bool] = mapped_column(default=False, server_default=false())
    # language of their pages; None: the property's
    language: Mapped[str | None] = mapped_column(ShortText(8))


class SignIn(Base):
    """One signed-in browser. The secret itself is never stored, only its hash."""

    __tablename__ = "sign_ins"
    id_hash: Mapped[str] = mapped_column(ShortText(64), primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class EndedSignIn(Base):
    """A sign-in or link that ended early, for processes that still have it in memory."""

    __tablename__ = "ended_sign_ins"
    __table_args__ = (Index("ended_sign_ins_by_time", "at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    id_hash: Mapped[str] = mapped_column(ShortText(64))
    at: Mapped[datetime]


class LinkStart(Base):
    """An account linking that has begun at the service's OAuth page and has not ended.

    The OAuth state is stored as a hash, the PKCE verifier is encrypted.
    """

    __tablename__ = "link_starts"
    state_hash: Mapped[str] = mapped_column(ShortText(64), primary_key=True)
    # the sign-in that began the linking: only its browser may finish it
    sign_in_hash: Mapped[str] = mapped_column(ShortText(64))
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    order_id: Mapped[int | None]  # the order from whose page the linking began
    verifier_enc: Mapped[str]
    expires_at: Mapped[datetime]


class Throttle(Base):
    """Counts of tries at a secret, so that guessing has a limit.

    It counts failed sign-ins of one name (hashed), one known browser or one network, and pairing
    codes of one network (store/sign_in_tries.py); desk codes and PINs at one kiosk
    (store/tries.py).
    """

    __tablename__ = "throttles"
    key: Mapped[str] = mapped_column(ShortText(80), primary_key=True)
    fails: Mapped[int]
    since: Mapped[datetime]  # start of the window; for a name, its last failure
    blocked_until: Mapped[datetime | None]


class Guest(Base):
    """The person whom a ride is for. Our booking request to the service has none of these data."""

    __tablename__ = "guests"
    __table_args__ = (
        Index("guests_by_phone", "property_id", "phone"),
        Index("guests_by_phone2", "property_id", "phone2"),
        Index("guests_by_room", "property_id", "room"),
        Index("guests_by_seen", "property_id", "seen_at"),
        Index("guests_by_name", "property_id", "folded"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    name: Mapped[str] = mapped_column(ShortText(120))
    phone: Mapped[str | None] = mapped_column(ShortText(32))
    phone2: Mapped[str | None] = mapped_column(ShortText(32))  # a second one, for staff
    room: Mapped[str | None] = mapped_column(ShortText(32))
    language: Mapped[str | None] = mapped_column(ShortText(8))  # for the guest's own page
    # a note about the person, for all of their rides
    note: Mapped[str | None] = mapped_column(ShortText(500))
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime | None]  # when an order of theirs was last made or changed
    # a guest who typed their data into a kiosk, and whom the desk has not confirmed
    unverified: Mapped[bool] = mapped_column(default=False, server_default=false())
    # when the person was removed: a pseudonym replaced the name; phone, room, note and language
    # were deleted; the rides keep their figures
    erased_at: Mapped[datetime | None]
    # what a search finds the name by, and the key that all its spellings share (names.py)
    folded: Mapped[str | None] = mapped_column(ShortText(300))
    name_key: Mapped[str | None] = mapped_column(ShortText(300))


class Account(Base):
    """A linked account of the service; tokens are encrypted, bound to this row.

    `state`: new (not yet connected for the first time), ok, reconnect, removed (kept for its
    rides).
    """

    __tablename__ = "accounts"
    __table_args__ = (
        Index(
            "one_default_account",
            "property_id",
            unique=True,
            sqlite_where=text("is_default"),
            postgresql_where=text("is_default"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    label: Mapped[str] = mapped_column(ShortText(120))
    is_default: Mapped[bool]
    state: Mapped[str] = mapped_column(ShortText(12))
    access_token_enc: Mapped[str | None]
    refresh_token_enc: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    # the process that is refreshing the tokens
    refresh_owner: Mapped[str | None] = mapped_column(ShortText(80))
    refresh_until: Mapped[datetime | None]  # end of its lease
    created_at: Mapped[datetime]
    # the user's id at the partner, sent with each booking if it is set
    affiliate_uid: Mapped[str | None] = mapped_column(ShortText(100))


@event.listens_for(Guest, "before_insert")
@event.listens_for(Guest, "before_update")
def _findable(_mapper: object, _connection: object, guest: Guest) -> None:
    """Store both folded forms with every change of a name."""
    guest.folded, guest.name_key = found_by(guest.name), name_key(guest.name)
