"""An outage of the service, on a clock set by hand, with the real Tracker and Traffic."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
from sqlalchemy import select

from bench.faults.shop import APP_TOKEN, Shop, shop_of
from ridedash.rides.tracking.poll import Tracker
from ridedash.service.client import RideClient
from ridedash.service.throttle.traffic import Priority, Traffic
from ridedash.store.orders import OrderState, Ride
from tests.rides.desk_world import START, FakeService

RATE: Final = 45
STEP_S: Final = 0.1
AHEAD: Final = 16  # the most polls of a round: two for each of a worker's eight threads
STATUSES: Final = ("CALL_DRIVER", "CLIENT_LOCATED", "IN_PROGRESS")


@dataclass(frozen=True)
class ServiceCall:
    """One outgoing call: its time, its booking ("" for a create), and whether it was answered."""

    at: float
    booking_id: str
    answered: bool


class Town(Shop):
    """A property whose service can be away; it records the calls."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.service, self.up, self.rng = FakeService(), True, rng
        self.service_calls: list[ServiceCall] = []
        self.toggles: list[float] = []
        super().__init__(folder, self.play, durable=False)
        self.worker.tracker = Tracker(self.worker.runtime, chance=rng.random)

    def _client(self) -> RideClient:
        self.traffic = Traffic(
            RATE, monotonic=self.now, pause=self.clock.go, chance=self.rng.random
        )
        return RideClient(
            self.http, self.address, APP_TOKEN, pause=self.clock.go, traffic=self.traffic
        )

    def now(self) -> float:
        """Seconds since the beginning."""
        return (self.clock() - START).total_seconds()

    def play(self, request: httpx.Request) -> httpx.Response:
        """Record a call, and let the service answer it while it is up."""
        self.service_calls.append(
            ServiceCall(self.now(), request.url.params.get("booking_id", ""), self.up)
        )
        if not self.up:
            raise httpx.ConnectError("refused")
        return self.service.handle(request)

    def drive(self, rides: int) -> None:
        """Add live rides in several statuses."""
        for _ in range(rides):
            self.send()
            made = self.service.bookings[-1]["booking_id"]
            status = self.rng.choice(STATUSES)
            self.service.tracks[made] = [
                {"booking_id": made, "booking_status": status, "vehicle_number": "PM 1"}
            ]

    def go(self, seconds: float) -> None:
        """Run the worker's rounds for a duration."""
        end = self.now() + seconds
        while self.now() < end:
            self.clock.go(STEP_S)
            self.round()

    def round(self) -> None:
        """Claim, poll and record rides as one round of a worker does, in one thread."""
        before = self.traffic.is_open(write=False)
        tracker, room = self.worker.tracker, self.traffic.capacity
        most = min(AHEAD, room(Priority.WAITING))
        if most:
            claims = tracker.claim(most, min(AHEAD, room(Priority.REST)))
            tracker.record([tracker.ask(claim) for claim in claims])
        if self.traffic.is_open(write=False) is not before:
            self.toggles.append(self.now())

    def seen_since(self, at: float) -> dict[str, float]:
        """When each booking had its first answer after that time."""
        seen: dict[str, float] = {}
        for call in self.service_calls:
            if call.answered and call.booking_id and call.at >= at:
                seen.setdefault(call.booking_id, call.at)
        return seen

    def lost(self) -> int:
        """The number of rides without details or polls, plus that of orders in a wrong state."""
        made = {booking["mtx"] for booking in self.service.bookings}
        states = {True: OrderState.BOOKED, False: OrderState.NOT_SENT}
        wrong = sum(order.state != states[order.mtx in made] for order in self.orders())
        with self.s.db.read() as s:
            rides = s.scalars(select(Ride)).all()
        wrong += sum(
            ride.status not in STATUSES or ride.facts.get("vehicle_number") != "PM 1"
            for ride in rides
        )
        return wrong + sum(ride.next_poll_at is None or ride.ended_at is not None for ride in rides)


@contextmanager
def town(folder: Path, rng: random.Random) -> Iterator[Town]:
    """A Town, closed at the end."""
    with shop_of(Town(folder, rng)) as made:
        yield made


@dataclass(frozen=True)
class Outage:
    """The results of one outage."""

    calls: int  # while the service was away
    known_after_s: float  # from the service's failure until the program knows that it is silent
    fresh_s: float  # from the service's return until every ride had an answer
    peak: int  # largest number of polls in any second
    lost: int


def outage(place: Town, rides: int, before_s: float, away_s: float, after_s: float) -> Outage:
    """Let the service be away for `away_s` while rides are in progress."""
    place.drive(rides)
    place.go(before_s)
    place.up, went = False, place.now()
    known_after_s = away_s
    while place.now() < went + away_s:
        place.go(STEP_S)
        if place.traffic.silent_since is not None:
            known_after_s = min(known_after_s, place.now() - went)
    place.up, came = True, place.now()
    place.go(after_s)
    seen = place.seen_since(came)
    fresh_s = max(seen.values()) - came if len(seen) == rides else after_s
    calls = sum(not call.answered for call in place.service_calls)
    return Outage(
        calls,
        known_after_s,
        fresh_s,
        peak([a.at for a in place.service_calls if a.booking_id]),
        place.lost(),
    )


def flap(place: Town, rides: int, minutes: float, half_s: float = 5.0) -> int:
    """Let the service be away and up by turns, `half_s` seconds each, while people book.

    Returns the largest number of changes of the circuit breaker in any minute.
    """
    place.drive(rides)
    end, presses = place.now() + minutes * 60, 0
    while place.now() < end:
        place.up = not place.up
        place.go(half_s)
        presses += 1
        if presses % 3 == 0:
            place.send()
            _follow(place)
    place.up = True
    place.go(60)
    return most_within(place.toggles, 60.0)


def _follow(place: Town) -> None:
    """Let the service answer polls of each booking that was made."""
    for booking in place.service.bookings:
        made = booking["booking_id"]
        snapshot = {"booking_id": made, "booking_status": "CALL_DRIVER", "vehicle_number": "PM 1"}
        place.service.tracks.setdefault(made, [snapshot])


def peak(starts: Sequence[float]) -> int:
    """The largest number of these moments in any second."""
    return most_within(starts, 1.0)


def most_within(times: Sequence[float], seconds: float) -> int:
    """The largest number of these moments in any span of that many seconds, excluding its end."""
    ordered, first, most = sorted(times), 0, 0
    for last, time_ in enumerate(ordered):
        while time_ - ordered[first] >= seconds - 1e-6:
            first += 1
        most = max(most, last - first + 1)
    return most
