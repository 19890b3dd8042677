"""Tables of offers, orders, rides, actions, events, attention items, workers and insights."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint, event, false, text
from sqlalchemy.orm import Mapped, mapped_column

from ridedash.store.database.database import Base, ShortText


class OrderState(StrEnum):
    """The states of an order (docs/booking-protocol.md 1.5)."""

    SCHEDULED = "SCHEDULED"
    WAITING = "WAITING"
    READY = "READY"
    SENDING = "SENDING"
    BOOKED = "BOOKED"
    MATCHING = "MATCHING"
    REJECTED = "REJECTED"
    NOT_SENT = "NOT_SENT"
    UNKNOWN = "UNKNOWN"
    CLOSED_NOT_BOOKED = "CLOSED_NOT_BOOKED"
    FAILED = "FAILED"


# orders that wait, are being sent, or whose outcome or booking id is unknown
UNSETTLED: Final = (
    OrderState.SCHEDULED,
    OrderState.WAITING,
    OrderState.READY,
    OrderState.SENDING,
    OrderState.UNKNOWN,
    OrderState.MATCHING,
)


class Offer(Base):
    """One product card as it was shown: trip, category, price.

    The form posts its id, never a price.
    """

    __tablename__ = "offers"
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), index=True)
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    kiosk_id: Mapped[int | None]  # the kiosk at which it was shown to a guest
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    pickup_lat: Mapped[float]
    pickup_lng: Mapped[float]
    pickup_name: Mapped[str | None] = mapped_column(ShortText(200))
    drop_lat: Mapped[float | None]
    drop_lng: Mapped[float | None]
    drop_name: Mapped[str | None] = mapped_column(ShortText(200))
    category: Mapped[str] = mapped_column(ShortText(64))
    kind: Mapped[str] = mapped_column(ShortText(16))  # wire.Kind
    display_name: Mapped[str] = mapped_column(ShortText(300))
    currency: Mapped[str | None] = mapped_column(ShortText(8))
    # the price as the card showed it; None if there was no card, or no price on it; "" for a way
    # back without a price
    price_text: Mapped[str | None] = mapped_column(ShortText(300))
    product: Mapped[dict[str, Any]]  # Product.model_dump(mode="json")
    fare_id: Mapped[str | None] = mapped_column(ShortText(500))
    # fixed prices by seats: {"1": "96.00", "2": "140.00"}; one fixed price: {"": "240.00"}; else {}
    seat_prices: Mapped[dict[str, Any]]
    cancellation: Mapped[dict[str, Any] | None]  # CancellationPolicy.model_dump(mode="json")
    fetched_at: Mapped[datetime]
    # digest of trip, category and price; without fare_id
    signature: Mapped[str] = mapped_column(ShortText(64))


# The columns of an index with everything that the history and the insights filter by or sum up, so
# that they read no rows of orders.
HISTORY: Final = (
    "property_id",
    "happens_at",
    "id",
    "state",
    "ended_as",
    "total_minor",
    "currency",
    "guest_id",
    "staff_id",
    "category",
    "cost_centre_id",
    "room",
    "driver_s",
    "guest_s",
    "offer_id",
)


class Order(Base):
    """Our durable record of a request to book (docs/booking-protocol.md 1.2)."""

    __tablename__ = "orders"
    __table_args__ = (
        Index(
            "one_open_order_per_guest",
            "guard_key",
            unique=True,
            sqlite_where=text("open"),
            postgresql_where=text("open"),
        ),
        Index("orders_by_state", "state", "due_at"),
        Index("orders_recent", "property_id", "id"),
        Index("orders_of_property", "property_id", "state", "due_at"),
        Index("orders_by_day", "property_id", "created_at"),
        Index("orders_of_guest", "guest_id"),
        Index("orders_of_group", "group_key"),
        Index("orders_of_series", "series_key"),
        Index("orders_going_back", "back_of"),
        Index("orders_superseding", "supersedes"),
        Index("orders_history", *HISTORY),
        Index("orders_of_room", "property_id", "room", "id"),
        Index("orders_of_category", "property_id", "category"),
        Index("orders_by_mtx", "property_id", "mtx", postgresql_ops={"mtx": "text_pattern_ops"}),
        Index(
            "orders_by_booking",
            "property_id",
            "booking_id",
            postgresql_ops={"booking_id": "text_pattern_ops"},
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    kiosk_id: Mapped[int | None]  # the kiosk at which a guest booked it; staff_id is None then
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    guest_id: Mapped[int] = mapped_column(ForeignKey("guests.id"))
    offer_id: Mapped[int] = mapped_column(ForeignKey("offers.id"))
    note: Mapped[str | None] = mapped_column(ShortText(500))
    form_token: Mapped[str] = mapped_column(ShortText(64), unique=True)
    # digest of the whole form: the same token with another form is refused
    form_digest: Mapped[str] = mapped_column(ShortText(64))
    # the partner reference, which the service calls merchant_txn_id: A-Z, 0-9, hyphen
    mtx: Mapped[str] = mapped_column(ShortText(32), unique=True)
    body: Mapped[str] = mapped_column(Text)  # the frozen request, JSON
    body_digest: Mapped[str] = mapped_column(ShortText(64))
    seats: Mapped[int | None]
    payment: Mapped[str | None] = mapped_column(ShortText(16))
    category: Mapped[str] = mapped_column(ShortText(64))
    kind: Mapped[str] = mapped_column(ShortText(16))
    state: Mapped[str] = mapped_column(ShortText(20))
    version: Mapped[int]  # the revision: rises when a shown fact changes
    created_at: Mapped[datetime]
    due_at: Mapped[datetime]
    # the flight, train or ferry that the guest takes after the ride: number and departure; with
    # `flight_lands` the one that brings them to the pickup, and when it lands
    flight: Mapped[str | None] = mapped_column(ShortText(8))  # also longer: two shared numbers
    departs_at: Mapped[datetime | None]
    flight_lands: Mapped[bool] = mapped_column(default=False, server_default=false())
    pickup_at: Mapped[datetime | None]  # when the guest of a scheduled order wants to be picked up
    # for a ride that the guest starts: the latest time for that, and the highest price (in
    # hundredths)
    guest_until: Mapped[datetime | None]
    ceiling_minor: Mapped[int | None]
    # the actor who started a waiting order
    started_by: Mapped[str | None] = mapped_column(ShortText(80))
    # number of failed attempts to make a planned ride READY
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    # equal for all cars of a group; the ways back of a group are another group
    group_key: Mapped[str | None] = mapped_column(ShortText(32))
    # equal for all planned rides of one series
    series_key: Mapped[str | None] = mapped_column(ShortText(32))
    back_of: Mapped[int | None]  # the order whose way back this is; both were made by one press
    cost_centre_id: Mapped[int | None]  # a row of cost_centres
    ready_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    attempt: Mapped[int]
    owner: Mapped[str | None] = mapped_column(ShortText(80))
    lease_until: Mapped[datetime | None]
    # since when an order that was not sent is held, because the database was restored
    held_at: Mapped[datetime | None]
    # when the order was made anew from the sent journal (docs/booking-protocol.md 1.7)
    recovered_at: Mapped[datetime | None]
    reauthorised: Mapped[bool]  # whether the one token refresh after a 401 is used up
    throttled: Mapped[bool]  # whether the one retry after a 429 is used up
    booking_id: Mapped[str | None] = mapped_column(ShortText(300), unique=True)
    txn_id: Mapped[str | None] = mapped_column(ShortText(300), index=True)
    # when the search for a driver ends; set only in orders of an earlier release
    booking_timeout_at: Mapped[datetime | None]
    # how long the search lasts, as the service sent it: seconds of the service's time from the
    # creation of the ride
    booking_timeout_s: Mapped[float | None]
    # when a shared ride is matched again, in the words of the service
    next_retry: Mapped[str | None] = mapped_column(ShortText(300))
    http_status: Mapped[int | None]
    code: Mapped[str | None] = mapped_column(ShortText(300))
    message: Mapped[str | None] = mapped_column(ShortText(300))
    # the first 2 kB of the answer, without secrets
    evidence: Mapped[str | None] = mapped_column(Text)
    # the order that this one replaces
    supersedes: Mapped[int | None] = mapped_column(ForeignKey("orders.id"))
    resolved_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    resolve_reason: Mapped[str | None] = mapped_column(ShortText(500))
    # the duplicate-booking guard: property, guest and pickup area; None without one
    guard_key: Mapped[str | None] = mapped_column(ShortText(200))
    guard_override_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    open: Mapped[bool]
    late_double: Mapped[bool]  # a late answer proved a booking after staff had closed the order
    # `pickup_at`, else `created_at`: the history lists the order under that day
    happens_at: Mapped[datetime | None]
    # the guest's room at the time of the order; a later stay may change `Guest.room`
    room: Mapped[str | None] = mapped_column(ShortText(32))
    # the last booking_status of a ride that is over
    ended_as: Mapped[str | None] = mapped_column(ShortText(64))
    total_minor: Mapped[int | None]  # a copy of the ride's total, for the index above
    currency: Mapped[str | None] = mapped_column(ShortText(8))
    # whole seconds to the first driver from `created_at`, or from `ready_at` if the ride is planned
    # or the guest starts it
    driver_s: Mapped[int | None]
    # whole seconds from the first driver to the driver at the pickup (transitions.note_wait)
    guest_s: Mapped[int | None]


class Ride(Base):
    """The journey of a booking, followed by polling (docs/booking-protocol.md 3). One per order."""

    __tablename__ = "rides"
    __table_args__ = (
        Index("rides_due", "next_poll_at"),
        Index("rides_by_plate", "property_id", "plate", "order_id"),
        Index(
            "rides_followed",
            "property_id",
            sqlite_where=text("next_poll_at IS NOT NULL"),
            postgresql_where=text("next_poll_at IS NOT NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"), unique=True)
    kind: Mapped[str] = mapped_column(ShortText(16))
    booking_id: Mapped[str | None] = mapped_column(ShortText(300), unique=True)
    txn_id: Mapped[str | None] = mapped_column(ShortText(300))
    status: Mapped[str | None] = mapped_column(ShortText(64))  # the last status that we know
    # an unknown status, while the service sends it
    reported: Mapped[str | None] = mapped_column(ShortText(300))
    facts: Mapped[dict[str, Any]]  # merged Snapshot.model_dump(mode="json"), never the otp
    otp_enc: Mapped[str | None]  # the start code, encrypted; only while the service sends it
    # an earlier status that was reported once; the ride goes back to it if it is reported again
    back_status: Mapped[str | None] = mapped_column(ShortText(64))
    # the plate before the car was swapped
    previous_plate: Mapped[str | None] = mapped_column(ShortText(300))
    swapped_at: Mapped[datetime | None]
    retried: Mapped[bool]  # whether the one ALLOTMENT_RETRYING of an auto ride was seen
    allotted_at: Mapped[datetime | None]  # when a driver was first seen: free minutes count from it
    ended_at: Mapped[datetime | None]
    # the price of the ride, in hundredths of `currency`; None while it is unknown
    total_minor: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(ShortText(8))
    # the cab's plate with only letters and digits, for searching
    plate: Mapped[str | None] = mapped_column(ShortText(300))
    position_at: Mapped[datetime | None]  # when facts.position was seen
    # where a ride without a drop ended, and the address found for it (rides/tracking/ends.py)
    end_lat: Mapped[float | None]
    end_lng: Mapped[float | None]
    end_name: Mapped[str | None] = mapped_column(ShortText(200))
    seen_at: Mapped[datetime | None]  # last good poll; a new poll does not raise the version
    created_at: Mapped[datetime]
    poll_seq: Mapped[int]
    merged_seq: Mapped[int]
    next_poll_at: Mapped[datetime | None]  # None: no longer polled
    # seconds until the next poll; pages poll about as often, and derive from it whether facts are
    # stale
    interval_s: Mapped[float]
    lease_until: Mapped[datetime | None]
    owner: Mapped[str | None] = mapped_column(ShortText(80))
    errors: Mapped[int]  # consecutive failed polls
    poison: Mapped[int]  # consecutive failures to record an answer
    unknown_id: Mapped[int]  # consecutive answers saying that the service doesn't know the id
    final_polls: Mapped[int]  # polls after the end


class Action(Base):
    """One abort, cancel, drop change or feedback; the row is committed before its call.

    `state`: armed (a cancel waiting for a booking id), calling, done, refused, unconfirmed,
    not_sent, dropped.
    """

    __tablename__ = "actions"
    __table_args__ = (
        Index("actions_by_order", "order_id", "id"),
        Index("actions_open", "state", "next_try_at"),
        Index(
            "drops_changed",
            "property_id",
            "order_id",
            sqlite_where=text("name = 'drop' AND state = 'done'"),
            postgresql_where=text("name = 'drop' AND state = 'done'"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    staff_id: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))
    kiosk_id: Mapped[int | None]  # the kiosk at which a guest asked for it
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    name: Mapped[str] = mapped_column(ShortText(12))  # abort, cancel, drop, feedback
    payload: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(ShortText(12))
    calls: Mapped[int]
    made_at: Mapped[datetime]
    called_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    next_try_at: Mapped[datetime | None]
    code: Mapped[str | None] = mapped_column(ShortText(300))
    header: Mapped[str | None] = mapped_column(ShortText(300))
    text: Mapped[str | None] = mapped_column(ShortText(300))


class TimelineEvent(Base):
    """A timeline event: an order or its ride reached a state, or something else happened.

    `what`: order (name is an OrderState), ride (name is a booking_status), event (name is a
    constant of the module that adds it: transitions.add_event).
    """

    __tablename__ = "moments"
    __table_args__ = (
        Index("moments_by_order", "order_id", "id"),
        Index(
            "moments_unknown",
            "property_id",
            "order_id",
            sqlite_where=text("what = 'order' AND name = 'UNKNOWN'"),
            postgresql_where=text("what = 'order' AND name = 'UNKNOWN'"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    what: Mapped[str] = mapped_column(ShortText(8))
    name: Mapped[str] = mapped_column(ShortText(64))
    detail: Mapped[str | None] = mapped_column(ShortText(300))
    at: Mapped[datetime]


class PathPoint(Base):
    """A point of the path that a cab has driven, in degrees (WGS 84); at most one in ten seconds.

    Polls add them; retention removes them with the other positions.
    """

    __tablename__ = "path_points"
    __table_args__ = (
        Index("path_points_by_order", "order_id", "id"),
        Index("path_points_by_age", "at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    at: Mapped[datetime]
    lat: Mapped[float]
    lng: Mapped[float]


class Attention(Base):
    """An attention item: something about an order that a member of staff must look at.

    Raised once per name until it is cleared.
    """

    __tablename__ = "attention"
    __table_args__ = (
        UniqueConstraint("order_id", "name"),
        Index(
            "attention_open",
            "property_id",
            sqlite_where=text("cleared_at IS NULL"),
            postgresql_where=text("cleared_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    name: Mapped[str] = mapped_column(ShortText(40))
    detail: Mapped[str | None] = mapped_column(ShortText(300))
    raised_at: Mapped[datetime]
    cleared_at: Mapped[datetime | None]


class Heartbeat(Base):
    """When a worker was last seen."""

    __tablename__ = "heartbeats"
    worker: Mapped[str] = mapped_column(ShortText(80), primary_key=True)
    beat_at: Mapped[datetime]
    # since when the service gives this worker no answers; None: it answers
    silent_since: Mapped[datetime | None]
    # since when the worker can store no answer, and so sends nothing; None: it can store answers
    unready_since: Mapped[datetime | None]
    # since when the service refuses the partner's key; None: it accepts it
    key_refused_since: Mapped[datetime | None]
    # seconds by which the worker's clock is ahead of the service's, if too many; negative: behind
    clock_ahead_s: Mapped[float | None]
    # whether it has compared the database with its sent journal, and so may send
    compared: Mapped[bool] = mapped_column(default=False, server_default=false())


class InsightSpan(Base):
    """The figures of some days of a property, at the time when they were computed.

    They are valid unless there is an InsightChange with their token (store/insight_rollup.py).
    """

    __tablename__ = "insight_spans"
    property_id: Mapped[int] = mapped_column(ForeignKey("properties.id"), primary_key=True)
    # this column precedes `since` in the key, so that a query for spans that contain an instant of
    # today (there are none) reads no row
    until: Mapped[datetime] = mapped_column(primary_key=True)  # not included
    since: Mapped[datetime] = mapped_column(primary_key=True)
    # time zone in which days and hours are counted
    zone: Mapped[str] = mapped_column(ShortText(64))
    counted_by: Mapped[str] = mapped_column(ShortText(64))  # digest of the code that counted
    token: Mapped[int]  # random; identifies the claim of the process that computes the figures
    figures: Mapped[str | None] = mapped_column(Text)  # JSON; None until they are computed


class InsightChange(Base):
    """A change of counted data, recorded by a database trigger: the span is no longer valid.

    Rows are only inserted, without a unique key, so that no writer ever waits for another one here.
    """

    __tablename__ = "insight_changes"
    __table_args__ = (Index("insight_changes_of_span", "token"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[int]  # token of the span


@event.listens_for(Order, "before_insert")
@event.listens_for(Order, "before_update")
def _dated(_mapper: object, _connection: object, order: Order) -> None:
    """Set `happens_at`: a ride is listed on the day of its pickup, not on the day of its order."""
    order.happens_at = order.pickup_at or order.created_at
