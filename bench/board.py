"""The board of a busy property: the cost of a poll of 200 live rides in CPU time and bytes."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from time import process_time
from typing import Any, Final

from sqlalchemy import update

from bench import frame
from bench.frame import Result, Run, line
from bench.growth import recent_orders
from bench.page_desk import Pages, pages
from ridedash.store.orders import Heartbeat, Order, Ride
from ridedash.views.poll_cache.cache import EXTENSION, FRESH_S
from ridedash.views.rides.view_model import ride_view
from tests.views.ride_pages import snapshot_facts

RIDES: Final = 200
EVERY_S: Final = 2.5
A_MINUTE: Final = round(60 / EVERY_S)
A_CYCLE: Final = round(FRESH_S / EVERY_S)  # polls in which each row comes of age once
# fraction of cabs that move between two polls of the board; a ride is polled every four seconds
MOVED: Final = 0.6
NEW_ETA: Final = 8  # rides whose ETA changes between two polls
PROTECTS: Final = (
    "Five desks of a busy property watch two hundred rides all day at no noticeable cost."
)


@line(
    "board",
    "poll of a board of 200 live rides, CPU against the list made anew",
    aim="≤ 1/2",
    protects=PROTECTS,
)
def poll_cpu(run: Run) -> Result:
    """CPU time of a poll after most cabs have moved, while the clock goes on.

    So rows that have come of age are made anew, as in use. The baseline reads and formats every
    ride for each poll.
    """
    with _busy() as board:
        ours = _mean(board.moved_on, board.poll)
        return frame.side_by_side(run, ours, _mean(board.moved_on, board.whole), "ms of CPU")


@line(
    "board-idle",
    "the same for every further desk, CPU against the list made anew",
    aim="≤ 1/20",
    protects=PROTECTS,
)
def further_desk(run: Run) -> Result:
    """Ten polls at one moment, as of several desks: all are answered from one cached board.

    Our figure is the mean CPU time of one poll.
    """
    with _busy() as board:
        board.poll()
        ours = _mean(lambda: None, lambda: [board.ask() for _ in range(10)])
        return frame.side_by_side(
            run, lambda: ours() / 10, _mean(lambda: None, board.whole), "ms of CPU"
        )


@line(
    "board-bytes",
    "bytes a minute of that board, against whole lists",
    aim="≤ 1/4",
    protects=PROTECTS,
)
def bytes_a_minute(run: Run) -> Result:
    """Bytes of addresses and response bodies a minute, without headers.

    The baseline sends the whole list with every poll; its requests are not counted.
    """
    with _busy() as board:
        board.poll()

        def ours() -> float:
            sent = 0
            for _ in range(A_MINUTE):
                board.moved_on()
                sent += board.poll()
            return sent / 1000

        def baseline() -> float:
            return sum(len(board.desk.get("/board.json")) for _ in range(A_MINUTE)) / 1000

        return frame.side_by_side(run, ours, baseline, "kB a minute")


def _mean(before: Callable[[], object], work: Callable[[], object]) -> Callable[[], float]:
    """A function that returns the mean CPU time of `work` in ms, without the time of `before`."""

    def taken() -> float:
        spent = 0.0
        for _ in range(A_CYCLE):
            before()
            began = process_time()
            work()
            spent += process_time() - began
        return spent * 1000 / A_CYCLE

    return taken


@dataclass
class Board:
    """A property with RIDES live rides, a signed-in viewer, and a clock that the bench sets."""

    desk: Pages
    rng: Random = field(default_factory=lambda: Random(7))
    rows: dict[int, str] = field(default_factory=dict)
    v: str = ""
    now_s: float = 1_000.0

    def poll(self) -> int:
        """Poll EVERY_S after the last poll. Returns the bytes of the address and of the body."""
        self.now_s += EVERY_S
        self.desk.desk.now += timedelta(seconds=EVERY_S)  # rows come of age by the app's clock
        return self.ask()

    def ask(self) -> int:
        address = f"/board.json?since={self._since()}"
        data = self.desk.get(address)
        body = json.loads(data)
        if body:
            self.v = body["v"]
            self.rows |= {row["id"]: row["rev"] for row in body["rows"]}
        return len(data) + len(address)

    def whole(self) -> bytes:
        """The baseline: read and format every ride, and send all of them."""
        services = self.desk.desk.services
        with services.db.read() as s:
            found = recent_orders(s, self.desk.desk.ids["desk.property"], RIDES)
        views = [ride_view(page, services.clock(), services.time()).as_json() for page in found]
        return json.dumps(views).encode()

    def moved_on(self) -> None:
        """Store what changes between two polls: positions of cabs, some ETAs, signs of life."""
        now = self.desk.desk.now
        with self.desk.desk.services.db.write() as s:
            s.execute(update(Heartbeat).values(beat_at=now))
            s.execute(update(Ride).values(seen_at=now))
            rides = s.query(Ride).all()
            for ride in self.rng.sample(rides, round(MOVED * RIDES)):
                at = [-38.5 + self.rng.uniform(-0.03, 0.03), -128 + self.rng.uniform(-0.03, 0.03)]
                ride.facts = ride.facts | {"position": at}
                s.get_one(Order, ride.order_id).version += 1
            for ride in self.rng.sample(rides, NEW_ETA):
                ride.facts = ride.facts | {"eta": {"seconds": self.rng.randint(60, 1_500)}}
                s.get_one(Order, ride.order_id).version += 1

    def _since(self) -> str:
        return f"{self.v}~{''.join(self.rows.values())}" if self.v else ""


@contextlib.contextmanager
def _busy() -> Iterator[Board]:
    with pages(POLL_LAYER="on") as desk:
        for n in range(RIDES):
            status = "CALL_DRIVER" if n % 2 else "IN_PROGRESS"
            desk.desk.order(status=status, guest=f"Guest {n}", ride={"facts": _facts(status)})
        board = Board(desk)
        cache: Any = desk.desk.app.extensions[EXTENSION]
        cache.monotonic = lambda: board.now_s
        yield board


def _facts(status: str) -> dict[str, Any]:
    return snapshot_facts("point_to_point", status, vehicle_number="KA01AB1234")
