"""The bookings as rows: made, found, ended, given another drop. Each change raises the row's revision."""

import json
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.rates import Terms
from ridedash.sandbox.trips import Phase, Plan, plan_from_json

KEPT_READ: Final = 512  # plans that stay parsed
HEAD: Final = (  # a booking without its request and plan, which are long and mostly known already
    "SELECT n, booking_id, txn_id, merchant_txn_id, user, category, city, created_at, scenario, ended_status, ended_at,"
    " revision FROM bookings"
)


@dataclass(frozen=True)
class Request:
    """What the partner asked for, and the terms on which it was priced."""

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


def request_from_json(data: dict[str, Any]) -> Request:
    """The request that to_json wrote."""
    places = {"pickup": LatLng(*data["pickup"]), "drop": LatLng(*data["drop"]) if data["drop"] else None}
    return Request(**{**data, **places, "terms": Terms.from_json(data["terms"])})


@dataclass(frozen=True)
class Booking:
    """One booking. `ended_status` is set when it was aborted or cancelled, at `ended_at`."""

    booking_id: str
    txn_id: str | None
    merchant_txn_id: str | None
    user: str
    category: str
    city: str
    created_at: float
    scenario: str
    request: Request
    plan: Plan
    ended_status: str | None = None
    ended_at: float | None = None
    n: int = field(default=0, compare=False)
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # what stays so at this revision

    @property
    def kind(self) -> wire.Kind:
        """Point-to-point, share or auto."""
        return wire.kind_of(self.category)

    def phase(self, now: float) -> Phase:
        """What holds at a moment."""
        if self.ended_status is not None and self.ended_at is not None:
            return Phase(self.ended_status, self.ended_at)
        return self.plan.phase(now)

    def status(self, now: float) -> str:
        """The `booking_status` at a moment."""
        return self.phase(now).status

    def revealed(self, now: float) -> bool:
        """Whether the partner may know the booking id: at once, or for a share retry once a driver is allotted."""
        allotted_at = self.plan.allotted_at
        return self.txn_id is None or (allotted_at is not None and now >= allotted_at)


Parsed = tuple[Request, Plan, dict[str, Any]]


class Ledger:
    """Reads and writes bookings on a connection handed in, and keeps parsed plans for as long as they hold."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[tuple[int, int, float], Parsed] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, connection: sqlite3.Connection, booking: Booking) -> None:
        """Write a new booking down."""
        connection.execute(
            "INSERT INTO bookings (booking_id, txn_id, merchant_txn_id, user, category, city, created_at, scenario,"
            " request, plan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(booking.booking_id, booking.txn_id, booking.merchant_txn_id, booking.user, booking.category),
                *(booking.city, booking.created_at, booking.scenario),
                *(_dumps(booking.request.to_json()), _dumps(booking.plan.to_json())),
            ),
        )

    def find(self, connection: sqlite3.Connection, user: str, booking_id: str, now: float) -> Booking | None:
        """A user's booking by its id, once the partner may know that id."""
        row = connection.execute(f"{HEAD} WHERE booking_id = ? AND user = ?", (booking_id, user)).fetchone()
        booking = self._read(connection, row) if row else None
        return booking if booking and booking.revealed(now) else None

    def find_txn(self, connection: sqlite3.Connection, user: str, txn_id: str) -> Booking | None:
        """A user's share booking by its temporary transaction id."""
        row = connection.execute(f"{HEAD} WHERE txn_id = ? AND user = ?", (txn_id, user)).fetchone()
        return self._read(connection, row) if row else None

    def all(self, connection: sqlite3.Connection) -> list[Booking]:
        """Every booking, in the order in which they were made."""
        rows = connection.execute(f"{HEAD} ORDER BY n").fetchall()
        return [booking for row in rows if (booking := self._read(connection, row))]

    def end(self, connection: sqlite3.Connection, booking: Booking, now: float, reason: str | None) -> None:
        """The booking is cancelled from now on."""
        connection.execute(
            "UPDATE bookings SET ended_status = ?, ended_at = ?, reason = ?, revision = revision + 1 WHERE n = ?",
            (wire.BOOKING_CANCELLED, now, reason, booking.n),
        )

    def redirect(self, connection: sqlite3.Connection, booking: Booking, request: Request, plan: Plan) -> None:
        """The booking goes somewhere else, by another plan."""
        connection.execute(
            "UPDATE bookings SET request = ?, plan = ?, revision = revision + 1 WHERE n = ?",
            (_dumps(request.to_json()), _dumps(plan.to_json()), booking.n),
        )

    def _read(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Booking | None:
        parsed = self._parse(connection, row)
        if parsed is None:
            return None
        request, plan, memo = parsed
        return Booking(
            booking_id=row["booking_id"],
            txn_id=row["txn_id"],
            merchant_txn_id=row["merchant_txn_id"],
            user=row["user"],
            category=row["category"],
            city=row["city"],
            created_at=row["created_at"],
            scenario=row["scenario"],
            request=request,
            plan=plan,
            ended_status=row["ended_status"],
            ended_at=row["ended_at"],
            n=row["n"],
            memo=memo,
        )

    def _parse(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Parsed | None:
        """Request and plan; None when a reset was faster."""
        key = (row["n"], row["revision"], row["created_at"])
        with self._lock:
            if key in self._parsed:
                self._parsed.move_to_end(key)
                return self._parsed[key]
        # read again with its revision: another process may have changed it since the head was read
        sql = "SELECT request, plan, revision FROM bookings WHERE n = ?"
        row = connection.execute(sql, (key[0],)).fetchone()
        if row is None:
            return None
        key = (key[0], row["revision"], key[2])
        parsed: Parsed = (request_from_json(json.loads(row["request"])), plan_from_json(json.loads(row["plan"])), {})
        with self._lock:
            self._parsed[key] = parsed
            while len(self._parsed) > KEPT_READ:
                self._parsed.popitem(last=False)
        return parsed


def next_number(connection: sqlite3.Connection) -> int:
    """The number of the next booking, ever growing; call it inside the transaction that adds it."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'bookings'").fetchone()
    return int(row["seq"]) + 1 if row else 1


def _dumps(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))
