"""The sandbox's clock, scenarios and faults, over HTTP like any other program of this machine."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ridedash.config import Settings
from ridedash.geo import LatLng
from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.turns import CONTROL

WITHIN_S: Final = 2.0  # a reset waits for it while it holds the database
OK, CONFLICT = 200, 409
SPEEDS: Final = (0, 1, 5, 20, 60)  # of the clock that a demo offers; with 0 it is held


class NotDone(Exception):
    """The sandbox gave no answer, or refused, or its answer can't be read."""


class NotOurs(NotDone):
    """The service is not this installation's own sandbox on this machine: nothing was sent."""


class NothingAhead(NotDone):
    """No ride is under way that could come to another phase."""


@dataclass(frozen=True)
class ClockNow:
    """What the sandbox's clock shows, and its speed: service seconds in a wall second, 0 held.

    `turned_at` is the wall instant of its last turn. `stops`: it runs up to a ride's next phase,
    and is held there.
    """

    at: datetime
    speed: float
    turned_at: datetime
    stops: bool


@dataclass(frozen=True)
class Leapt:
    """The ride that a leap brought to its next phase, and how many other rides moved with it."""

    booking_id: str
    status: str
    others: int


@dataclass(frozen=True)
class Entry:
    """A booking in the sandbox's ledger; `mtx` is the reference that its partner gave it."""

    booking_id: str
    mtx: str
    status: str


@dataclass(frozen=True)
class Phase:
    """A status of a booking, and when it begins."""

    status: str
    at: datetime


@dataclass(frozen=True)
class SandboxControl:
    """The control of this installation's own sandbox. Every method raises NotDone.

    The address is looked at before each call, not only at the start: with another one nothing is
    sent, and NotOurs is raised.
    """

    settings: Settings
    http: Http

    def clock(self) -> ClockNow:
        """The clock now."""
        return _clock(self._call("GET", "/control/clock"))

    def run_at(self, speed: float) -> ClockNow:
        """Let the clock run at a speed of 1 to 60, or hold it with 0."""
        return _clock(self._call("POST", "/control/clock", {"speed": speed}))

    def set(self, at: datetime, speed: int) -> ClockNow:
        """Let the clock show `at` and run from there at a speed, held with 0.

        An earlier time is NotDone while the sandbox has bookings.
        """
        body = {"at": at.timestamp(), "speed": speed}
        return _clock(self._call("POST", "/control/clock", body))

    def leap(self, booking_id: str | None = None, speed: int = 0) -> Leapt:
        """Leap to the next phase of a ride, or of any. Raises NothingAhead.

        With a speed of 1 to 60 the clock runs there, and is held.
        """
        asked: dict[str, Any] = {} if booking_id is None else {"booking_id": booking_id}
        if speed:
            asked["speed"] = speed
        body = self._call("POST", "/control/leap", asked)
        try:
            return Leapt(str(body["booking_id"]), str(body["booking_status"]), int(body["others"]))
        except (ValueError, TypeError, LookupError) as error:
            raise NotDone from error

    def arm(self, scenario: str) -> None:
        """Let the next booking that it fits go as the scenario says."""
        self._call("POST", "/control/next", {"scenario": scenario})

    def add_fault(self, fault: dict[str, Any]) -> None:
        """Let something go wrong: the body of POST /control/faults (docs/operating.md)."""
        self._call("POST", "/control/faults", fault)

    def reset(self, seed: int | None = None, at: datetime | None = None) -> None:
        """Delete bookings, feedback, scenarios and faults; bookings are numbered from 1 again.

        Without `seed` drivers and codes are those of the configured one. The clock is held at
        `at`; without it, it goes on at the configured speed.
        """
        body: dict[str, Any] = {} if seed is None else {"seed": seed}
        if at is not None:
            body |= {"at": at.timestamp(), "speed": 0}
        self._call("POST", "/control/reset", body)

    def ledger(self) -> list[Entry]:
        """Every booking of the sandbox, also those that nobody knows of."""
        try:
            found = self._call("GET", "/control/ledger")["bookings"]
            return [
                Entry(str(each["booking_id"]), str(each["merchant_txn_id"]), str(each["status"]))
                for each in found
            ]
        except (TypeError, LookupError) as error:
            raise NotDone from error

    def phases(self, mtx: str) -> list[Phase]:
        """What a booking will come to, by its reference and in order; none without a booking."""
        try:
            found = self._call("GET", "/control/ledger")["bookings"]
            mine = next((each for each in found if each["merchant_txn_id"] == mtx), None)
            ahead = [] if mine is None else mine["phases"]
            return [
                Phase(str(p["status"]), datetime.fromtimestamp(float(p["at"]), UTC)) for p in ahead
            ]
        except (ValueError, TypeError, LookupError, ArithmeticError, OSError) as error:
            raise NotDone from error

    def city_at(self, place: LatLng) -> str:
        """The name of the city around a place; "" where none is."""
        for city in self._call("GET", "/city.json").get("cities", ()):
            (south, west), (north, east) = city["bounds"]
            if south <= place.lat <= north and west <= place.lng <= east:
                return str(city["name"])
        return ""

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if not self.settings.sandboxed:
            raise NotOurs
        url = self.settings.service_url.rstrip("/") + path
        try:
            answer = self.http.call(Request(method, url, WITHIN_S, CONTROL, json=body))
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
