"""Bookings and queued scenarios in the database.

Each change of a booking raises the revision of its row.
"""

import json
import secrets
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.pricing.rates import Terms
from ridedash.sandbox.store import ReadCache
from ridedash.sandbox.trips.planner import SCENARIOS
from ridedash.sandbox.trips.timeline import TripPhase, TripPlan, plan_from_json

CACHE_SIZE: Final = 512  # parsed bookings
KEY: Final = "SELECT n, revision FROM bookings"  # the key of a parsed booking
BY_ID: Final = f"{KEY} WHERE booking_id = ? AND user = ?"
BY_TXN: Final = f"{KEY} WHERE txn_id = ? AND user = ?"

BookingKey = tuple[int, int]


@dataclass(frozen=True)
class BookingTerms:
    """The booking request of the partner, and the terms on which it was priced."""

    pickup: LatLng
    drop: LatLng | None
    seats: int
    cash: bool
    terms: Terms
    affiliate_uid: str | None = None
    drop_changed: bool = False

    def to_json(self) -> dict[str, Any]:
        """A JSON object that request_from_json reads."""
        return {
            "pickup": self.pickup,
            "drop": self.drop,
            "seats": self.seats,
            "cash": self.cash,
            "terms": self.terms.to_json(),
            "affiliate_uid": self.affiliate_uid,
            "drop_changed": self.drop_changed,
        }


def request_from_json(data: dict[str, Any]) -> BookingTerms:
    """The request that to_json wrote."""
    places = {
        "pickup": LatLng(*data["pickup"]),
        "drop": LatLng(*data["drop"]) if data["drop"] else None,
    }
    return BookingTerms(**{**data, **places, "terms": Terms.from_json(data["terms"])})


@dataclass(frozen=True)
class Booking:
    """One booking. `ended_status` and `ended_at` are set when it was aborted or cancelled."""

    booking_id: str
    txn_id: str | None
    merchant_txn_id: str | None
    user: str
    category: str
    city: str
    created_at: float
    scenario: str
    request: BookingTerms
    plan: TripPlan
    ended_status: str | None = None
    ended_at: float | None = None
    n: int = field(default=0, compare=False)
    # JSON of the fields that are constant during a status, by status and driver
    memo: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def kind(self) -> wire.Kind:
        """Point-to-point, share or auto."""
        return wire.kind_of(self.category)

    def phase(self, now: float) -> TripPhase:
        """The phase at a time."""
        if self.ended_status is not None and self.ended_at is not None:
            return TripPhase(self.ended_status, self.ended_at)
        return self.plan.phase(now)

    def next_phase_at(self, now: float) -> float | None:
        """When the next phase begins; None when the booking has ended."""
        if self.ended_status is not None:
            return None
        return next((phase.at for phase in self.plan.phases if phase.at > now), None)

    def status(self, now: float) -> str:
        """The `booking_status` at a time."""
        return self.phase(now).status

    def revealed(self, now: float) -> bool:
        """Whether the partner may know the booking id.

        The id of a share booking with retry is revealed once a driver is allotted, all others at
        once.
        """
        allotted_at = self.plan.allotted_at
        return self.txn_id is None or (allotted_at is not None and now >= allotted_at)


class Ledger:
    """Reads and writes bookings on a given connection, and caches parsed bookings by revision."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[BookingKey, Booking] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, connection: sqlite3.Connection, booking: Booking) -> None:
        """Store a new booking."""
        connection.execute(
            "INSERT INTO bookings (booking_id, txn_id, merchant_txn_id, user, category, city, "
            "created_at, scenario, request, plan, revision) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                booking.booking_id,
                booking.txn_id,
                booking.merchant_txn_id,
                booking.user,
                booking.category,
                booking.city,
                booking.created_at,
                booking.scenario,
                _dumps(booking.request.to_json()),
                _dumps(booking.plan.to_json()),
                # A random revision: after a reset the numbers begin again, and another process may
                # still cache an earlier booking by its number and revision.
                secrets.randbits(48),
            ),
        )

    def find(
        self, connection: sqlite3.Connection, user: str, booking_id: str, now: float
    ) -> Booking | None:
        """A user's booking by its id, once the partner may know that id."""
        row = connection.execute(BY_ID, (booking_id, user)).fetchone()
        if row is None:
            return None
        booking = self._read(connection, row)
        if booking is None or not booking.revealed(now):
            return None
        return booking

    def tracked(self, cache: ReadCache, user: str, booking_id: str, txn_id: str) -> Booking | None:
        """A user's booking by its id, revealed or not, or else by its temporary transaction id."""
        sql, value = (BY_ID, booking_id) if booking_id else (BY_TXN, txn_id)
        row = cache.get(
            (sql, value, user), lambda connection: connection.execute(sql, (value, user)).fetchone()
        )
        if row is None:
            return None
        return self._cached(_key(row)) or cache.read(
            lambda connection: self._parse(connection, row["n"])
        )

    def all(self, connection: sqlite3.Connection) -> list[Booking]:
        """Every booking, in the order in which they were made."""
        rows = connection.execute(f"{KEY} ORDER BY n").fetchall()
        return [booking for row in rows if (booking := self._read(connection, row))]

    def end(
        self, connection: sqlite3.Connection, booking: Booking, now: float, reason: str | None
    ) -> None:
        """Mark the booking as cancelled from now on."""
        connection.execute(
            "UPDATE bookings SET ended_status = ?, ended_at = ?, reason = ?, "
            "revision = revision + 1 WHERE n = ?",
            (wire.BOOKING_CANCELLED, now, reason, booking.n),
        )

    def redirect(
        self,
        connection: sqlite3.Connection,
        booking: Booking,
        request: BookingTerms,
        plan: TripPlan,
    ) -> None:
        """Store the changed request and plan of a booking with another drop."""
        connection.execute(
            "UPDATE bookings SET request = ?, plan = ?, revision = revision + 1 WHERE n = ?",
            (_dumps(request.to_json()), _dumps(plan.to_json()), booking.n),
        )

    def _read(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Booking | None:
        return self._cached(_key(row)) or self._parse(connection, row["n"])

    def _cached(self, key: BookingKey) -> Booking | None:
        with self._lock:
            if key in self._parsed:
                self._parsed.move_to_end(key)
                return self._parsed[key]
        return None

    def _parse(self, connection: sqlite3.Connection, n: int) -> Booking | None:
        """The current booking, or None after a reset.

        Another process may have changed it since its key was read.
        """
        row = connection.execute("SELECT * FROM bookings WHERE n = ?", (n,)).fetchone()
        if row is None:
            return None
        booking = _booking(row)
        with self._lock:
            self._parsed[_key(row)] = booking
            while len(self._parsed) > CACHE_SIZE:
                self._parsed.popitem(last=False)
        return booking


def _key(row: sqlite3.Row) -> BookingKey:
    return row["n"], row["revision"]


def _booking(row: sqlite3.Row) -> Booking:
    return Booking(
        booking_id=row["booking_id"],
        txn_id=row["txn_id"],
        merchant_txn_id=row["merchant_txn_id"],
        user=row["user"],
        category=row["category"],
        city=row["city"],
        created_at=row["created_at"],
        scenario=row["scenario"],
        request=request_from_json(json.loads(row["request"])),
        plan=plan_from_json(json.loads(row["plan"])),
        ended_status=row["ended_status"],
        ended_at=row["ended_at"],
        n=row["n"],
    )


def next_number(connection: sqlite3.Connection) -> int:
    """The number of the next booking; numbers only grow until a reset.

    Call it inside the transaction that adds the booking.
    """
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'bookings'").fetchone()
    if row is None:
        return 1
    return int(row["seq"]) + 1


def queue_scenario(connection: sqlite3.Connection, scenario: str) -> None:
    """Queue a scenario (a name of SCENARIOS) for the next booking of its kind."""
    connection.execute("INSERT INTO scenarios (scenario) VALUES (?)", (scenario,))


def pop_scenario(connection: sqlite3.Connection, kind: wire.Kind) -> str | None:
    """Remove and return the oldest queued scenario that fits a kind of booking, or None."""
    for row in connection.execute("SELECT id, scenario FROM scenarios ORDER BY id").fetchall():
        if SCENARIOS[row["scenario"]] in (None, kind):
            connection.execute("DELETE FROM scenarios WHERE id = ?", (row["id"],))
            return str(row["scenario"])
    return None


def _dumps(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))
