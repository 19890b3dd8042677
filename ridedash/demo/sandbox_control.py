"""Controls the sandbox's clock, scenarios and faults over HTTP, like any other client program."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ridedash.config import Settings
from ridedash.geo import LatLng
from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.turns import CONTROL

WITHIN_S: Final = 2.0  # short, because a Reset makes such a call in its database transaction
OK = 200
CONFLICT = 409
SPEEDS: Final = (0, 1, 5, 20, 60)  # speeds of the clock that a demo offers; 0 holds it
# a story's own pace: each wait runs at the slowest speed that ends it in time, or is skipped
OWN_PACE: Final = -1
LONGEST_WAIT_S: Final = 5.0  # of the wall clock


class NotDone(Exception):
    """The sandbox gave no answer, refused, or gave an answer that can't be read."""


class NotOurs(NotDone):
    """The service is not this installation's own sandbox on this machine; nothing was sent."""


class NothingAhead(NotDone):
    """No ride is under way that could reach another phase."""


@dataclass(frozen=True)
class ClockNow:
    """What the sandbox's clock shows, and its speed: service seconds per wall second, 0 when held.

    `turned_at` is the wall time at which it was last set or got another speed. `stops`: the clock
    runs until a ride's next phase and is then held.
    """

    at: datetime
    speed: float
    turned_at: datetime
    stops: bool


@dataclass(frozen=True)
class Leapt:
    """The ride whose next phase `leap` reached, and how many other rides also changed."""

    booking_id: str
    status: str
    others: int


@dataclass(frozen=True)
class LedgerEntry:
    """A booking in the sandbox's ledger; `mtx` is the reference that its partner gave it."""

    booking_id: str
    mtx: str
    status: str


@dataclass(frozen=True)
class LedgerPhase:
    """A status of a booking, and when it begins."""

    status: str
    at: datetime


@dataclass(frozen=True)
class Wait:
    """A speed of the clock, and how many wall seconds a wait takes at it."""

    speed: int
    seconds: float


@dataclass(frozen=True)
class SandboxControl:
    """The control of this installation's own sandbox. Every method raises NotDone.

    The address is checked before each call, not only at the start: if it is not that of our own
    sandbox, nothing is sent and NotOurs is raised.
    """

    settings: Settings
    http: Http
    within_s: float = WITHIN_S  # how long a call may take

    def clock(self) -> ClockNow:
        """The clock now."""
        return _clock(self._call("GET", "/control/clock"))

    def run_at(self, speed: float) -> ClockNow:
        """Let the clock run at a speed of 1 to 60, or hold it with 0."""
        return _clock(self._call("POST", "/control/clock", {"speed": speed}))

    def set(self, at: datetime, speed: int) -> ClockNow:
        """Set the clock to `at` and let it run from there at a speed; 0 holds it.

        Raises NotDone for an earlier time while the sandbox has bookings.
        """
        body = {"at": at.timestamp(), "speed": speed}
        return _clock(self._call("POST", "/control/clock", body))

    def leap(self, booking_id: str | None = None, speed: int = 0) -> Leapt:
        """Set the clock to the next phase of a ride, or of any ride. Raises NothingAhead.

        With a speed of 1 to 60 the clock runs to that phase and is then held.
        """
        body: dict[str, Any] = {} if booking_id is None else {"booking_id": booking_id}
        if speed:
            body["speed"] = speed
        answer = self._call("POST", "/control/leap", body)
        try:
            return Leapt(
                str(answer["booking_id"]), str(answer["booking_status"]), int(answer["others"])
            )
        except (ValueError, TypeError, LookupError) as error:
            raise NotDone from error

    def arm(self, scenario: str) -> None:
        """Choose a scenario for the next booking to which it can happen."""
        self._call("POST", "/control/next", {"scenario": scenario})

    def add_fault(self, fault: dict[str, Any]) -> None:
        """Add a fault: the body of POST /control/faults (docs/operating.md)."""
        self._call("POST", "/control/faults", fault)

    def reset(self, seed: int | None = None, at: datetime | None = None) -> None:
        """Delete bookings, feedback, scenarios and faults; bookings are numbered from 1 again.

        Without `seed` the configured seed decides on drivers and codes. The clock is held at `at`;
        without `at` it goes on at the configured speed.
        """
        body: dict[str, Any] = {} if seed is None else {"seed": seed}
        if at is not None:
            body |= {"at": at.timestamp(), "speed": 0}
        self._call("POST", "/control/reset", body)

    def ledger(self) -> list[LedgerEntry]:
        """Every booking of the sandbox, also those that the dashboard does not know."""
        try:
            found = self._call("GET", "/control/ledger")["bookings"]
            return [
                LedgerEntry(
                    str(each["booking_id"]), str(each["merchant_txn_id"]), str(each["status"])
                )
                for each in found
            ]
        except (TypeError, LookupError) as error:
            raise NotDone from error

    def phases(self, mtx: str) -> list[LedgerPhase]:
        """The planned phases of the booking with this reference, also past ones, in order.

        [] if there is no such booking.
        """
        try:
            found = self._call("GET", "/control/ledger")["bookings"]
            mine = next((each for each in found if each["merchant_txn_id"] == mtx), None)
            if mine is None:
                return []
            return [
                LedgerPhase(str(p["status"]), datetime.fromtimestamp(float(p["at"]), UTC))
                for p in mine["phases"]
            ]
        except (ValueError, TypeError, LookupError, ArithmeticError, OSError) as error:
            raise NotDone from error

    def wait_for(self, mtx: str) -> "Wait":
        """How a story at its own pace waits for the next phase of the booking with this reference.

        A wait that would be too long at the greatest speed has the speed 0: the clock leaps.
        """
        now = self.clock().at
        ahead = [each.at for each in self.phases(mtx) if each.at > now]
        if not ahead:
            return Wait(0, 0.0)
        seconds = (ahead[0] - now).total_seconds()
        for speed in filter(None, SPEEDS):
            if seconds <= speed * LONGEST_WAIT_S:
                return Wait(speed, seconds / speed)
        return Wait(0, 0.0)

    def city_at(self, place: LatLng) -> str:
        """The name of the city around a point; "" where there is none."""
        try:
            for city in self._call("GET", "/city.json").get("cities", ()):
                (south, west), (north, east) = city["bounds"]
                if south <= place.lat <= north and west <= place.lng <= east:
                    return str(city["name"])
        except (ValueError, TypeError, LookupError) as error:
            raise NotDone from error
        return ""

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if not self.settings.sandboxed:
            raise NotOurs
        url = self.settings.service_url.rstrip("/") + path
        try:
            answer = self.http.call(Request(method, url, self.within_s, CONTROL, json=body))
            found = answer.json()
        except ServiceError as error:
            raise NotDone from error
        if path == "/control/leap" and answer.status == CONFLICT:
            raise NothingAhead
        if answer.status != OK or not isinstance(found, dict):
            raise NotDone
        return found


def _clock(body: dict[str, Any]) -> ClockNow:
    try:
        at = datetime.fromtimestamp(float(body["now"]), UTC)
        turned_at = datetime.fromtimestamp(float(body["turns"][-1]["wall"]), UTC)
        return ClockNow(at, float(body["speed"]), turned_at, body["stop"] is not None)
    except (ValueError, TypeError, LookupError, ArithmeticError, OSError) as error:
        raise NotDone from error
