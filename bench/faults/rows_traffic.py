"""Rate limits and outages of the service.

Rows 12, 14 and 15 of the fault matrix (docs/reliability.md 2).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

import httpx
from sqlalchemy import func, or_, select

from bench.faults.answering import answering, free_port, stopped
from bench.faults.outage import RATE, Town, flap, outage, peak, town
from bench.faults.scoreboard import Case, Verdict, row
from bench.faults.shop import APP_TOKEN, NOWHERE
from ridedash.geo import LatLng
from ridedash.rides.health import alarms
from ridedash.rides.runtime import Runtime
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.errors import RateLimited, Throttled
from ridedash.service.throttle.traffic import Permit, Priority, Traffic
from ridedash.service.transport.http import Http
from ridedash.service_time import at_pace
from ridedash.store.orders import Ride

SENT_AT: Final = "Sat, 21 Nov 2026 10:00:00 GMT"
RETRY_AFTER: Final = {  # Retry-After header -> seconds of throttling
    "7": 7.0,
    "0": 1.0,
    "300": 300.0,
    "301": 300.0,
    "1000000000": 300.0,
    "9" * 5000: 300.0,
    "Sat, 21 Nov 2026 10:00:30 GMT": 30.0,
    "Sat, 21 Nov 2026 09:00:00 GMT": 1.0,
    "Sat, 21 Nov 2099 10:00:00 GMT": 300.0,
    "": 1.0,
    "soon": 1.0,
    "-5": 1.0,
    "1e9": 1.0,
    "NaN": 1.0,
    "Sat, 99 Nov 2026 10:00:00 GMT": 1.0,
}
AWAY_S: Final = 600.0
FRESH_S: Final = 45.0
CALLS: Final = 60
PAGE_S: Final = 4.0  # seconds between two polls of an open page
KNOWN_WITHIN_S: Final = 10.0 - PAGE_S
TOGGLES: Final = 12
BEFORE_S: Final = 12.0
SHORT_S: Final = AWAY_S / 20


class Stage:
    """A client on a clock set by hand whose service answers 429 once, then normally."""

    def __init__(self, retry_after: str) -> None:
        self.now, self.answers = 0.0, [_limited(retry_after)]
        self.traffic = Traffic(
            RATE, monotonic=lambda: self.now, pause=lambda _s: None, chance=lambda: 0.5
        )
        self.client = RideClient(
            Http(httpx.MockTransport(self._play)), NOWHERE, APP_TOKEN, traffic=self.traffic
        )

    def _play(self, _request: httpx.Request) -> httpx.Response:
        return self.answers.pop() if self.answers else httpx.Response(200, json={"categories": []})

    def is_limited(self) -> bool:
        """Whether the first call gets the 429."""
        try:
            self.client.products(LatLng(-38.5, -128.0))
        except RateLimited:
            return True
        return False


def _limited(retry_after: str) -> httpx.Response:
    return httpx.Response(429, headers={"Date": SENT_AT, "Retry-After": retry_after})


@row(12, "429: Retry-After in seconds, as a date, nonsense, 1e9")
def too_many(_case: Case) -> Verdict:
    """Calls are throttled exactly as long as required; actions of people go first afterwards."""
    wrong = [sent[:40] for sent, wait_s in RETRY_AFTER.items() if not _is_held(sent, wait_s)]
    note = (
        f"wrong: {wrong}"
        if wrong
        else "held to the millisecond; then writes, pages, waiting guests, the rest"
    )
    return Verdict(len(RETRY_AFTER), ok=not wrong, note=note)


def _is_held(sent: str, wait_s: float) -> bool:
    stage = Stage(sent)
    if not stage.is_limited() or abs(stage.traffic.throttled_s() - wait_s) > 1e-6:
        return False
    stage.now = wait_s - 0.001
    early = [priority for priority in Priority if _goes(stage, priority)]
    return not early and _order_after(stage) == list(Priority)


def _order_after(stage: Stage) -> list[Priority]:
    """The order in which calls of each priority are permitted."""
    first: list[Priority] = []
    for _ in range(2000):
        stage.now += 0.001
        for priority in reversed(Priority):
            if priority not in first and _goes(stage, priority):
                first.append(priority)
    return first


def _goes(stage: Stage, priority: Priority) -> bool:
    if priority > Priority.PAGE and not stage.traffic.capacity(priority):
        return False  # a worker claims no more polls than the capacity
    try:
        stage.traffic.enter(priority)
    except Throttled:
        return False
    return True


@row(14, "Service away for ten minutes, 300 rides, on a virtual clock", short=False)
def away(case: Case) -> Verdict:
    """Few calls are made in the outage, it is noticed soon, and afterwards all rides are polled."""
    with town(case.folder, case.rng) as place:
        found = outage(place, 300, before_s=30.0, away_s=AWAY_S, after_s=90.0)
    ok = (
        found.calls <= CALLS
        and found.known_after_s <= KNOWN_WITHIN_S
        and found.fresh_s <= FRESH_S
        and found.peak <= RATE
    )
    note = (
        f"{found.calls} calls, known after {found.known_after_s:.1f} s, "
        f"fresh {found.fresh_s:.1f} s after, peak {found.peak}/s"
    )
    return Verdict(300, lost=found.lost, ok=ok, note=note)


@row(15, "Service that is there for 5 s and away for 5 s, ten minutes", short=False)
def flapping(case: Case) -> Verdict:
    """No state is lost, no order becomes UNKNOWN, the circuit breaker changes rarely."""
    with town(case.folder, case.rng) as place:
        toggles = flap(place, 60, minutes=10.0)
        lost, orders = place.lost(), len(place.orders())
    return Verdict(
        orders, lost=lost, ok=toggles <= TOGGLES, note=f"{toggles} toggles in the worst minute"
    )


class Counted(Traffic):
    """Traffic that records when its calls began."""

    def __init__(self, rate: float) -> None:
        super().__init__(rate)
        self.began: list[float] = []

    def enter(self, priority: Priority, patience_s: float = 0.0) -> Permit:
        """See Traffic.enter."""
        permit = super().enter(priority, patience_s)
        self.began.append(permit.started)
        return permit


@row(14, "The same for 30 s with a real worker and sockets, pace 20", short=False)
def away_for_real(case: Case) -> Verdict:
    """The service is a process that is killed, and started at the same address 30 s later."""
    with _rides(case) as (place, traffic, port):
        with answering(port):
            time.sleep(BEFORE_S)
        went, known_after_s = time.monotonic(), _known_after_s(place, SHORT_S)
        with answering(port):
            return _judged(place, traffic, went, known_after_s)


@row(14, "A service that hangs for 30 s: connections, and no answers", short=False)
def hanging_for_real(case: Case) -> Verdict:
    """The service is a process that is suspended for 30 s: each call takes its whole timeout."""
    with _rides(case) as (place, traffic, port), answering(port) as pid:
        time.sleep(BEFORE_S)
        went = time.monotonic()
        with stopped(pid):
            known_after_s = _known_after_s(place, SHORT_S)
        return _judged(place, traffic, went, known_after_s)


@contextmanager
def _rides(case: Case) -> Iterator[tuple[Town, Counted, int]]:
    """300 rides, a worker that tracks them, and a port for the service."""
    with town(case.folder, case.rng) as place, free_port() as port, Http() as http:
        place.clock.now = datetime.now(UTC)  # the worker uses wall time
        place.drive(300)
        traffic = Counted(RATE)
        with _working(place, http, port, traffic):
            yield place, traffic, port


def _judged(place: Town, traffic: Counted, went: float, known_after_s: float) -> Verdict:
    came = time.monotonic()
    fresh_s = _fresh_s(place, 60.0)
    calls, most = sum(went <= began < came for began in traffic.began), peak(traffic.began)
    ok = calls <= CALLS and known_after_s <= KNOWN_WITHIN_S and fresh_s <= FRESH_S and most <= RATE
    note = (
        f"{calls} calls, known after {known_after_s:.1f} s, "
        f"fresh after {fresh_s:.1f} s, peak {most}/s"
    )
    return Verdict(300, ok=ok, note=note)


@contextmanager
def _working(place: Town, http: Http, port: int, traffic: Traffic) -> Iterator[None]:
    client = RideClient(http, f"http://127.0.0.1:{port}", APP_TOKEN, traffic=traffic)
    now = lambda: datetime.now(UTC)  # noqa: E731
    worker = Worker(
        Runtime(place.s.db, client, place.s.tokens, now, time=at_pace(20)), place.journal
    )
    stop = threading.Event()
    thread = threading.Thread(target=worker.run, args=(stop,), name="worker")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        worker.wake()
        thread.join(30)


def _known_after_s(place: Town, seconds: float) -> float:
    """Seconds until the worker recorded that the service is silent; waits for the whole outage."""
    began, known_s = time.monotonic(), seconds
    while (passed := time.monotonic() - began) < seconds:
        with place.s.db.read() as s:
            if alarms(s, datetime.now(UTC)).silent_since is not None:
                known_s = min(known_s, passed)
        time.sleep(0.2)
    return known_s


def _fresh_s(place: Town, seconds: float) -> float:
    """Seconds until every ride was polled again."""
    began, since = time.monotonic(), datetime.now(UTC)
    while time.monotonic() - began < seconds:
        with place.s.db.read() as s:
            stale = or_(Ride.seen_at.is_(None), Ride.seen_at <= since)
            left = s.scalar(select(func.count()).select_from(Ride).where(stale))
        if left == 0:
            return time.monotonic() - began
        time.sleep(0.2)
    return seconds
