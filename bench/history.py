"""History and search of a property with a hundred thousand rides, compared with a plain version."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final
from urllib.parse import parse_qsl

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from bench import frame
from bench.frame import Absent, Ratio, Result, Run, line
from bench.growth import BASE, copied, in_bulk, known, spread
from bench.page_desk import Pages, pages
from ridedash.observability.process import started
from ridedash.store.history import PageKey, RideFilter, page, records, totals
from ridedash.store.models.orders import Offer, Order, Ride
from ridedash.store.models.people import Guest, Staff
from tests import databases

RIDES: Final = 100_000
GUESTS: Final = 20_000
SIZE: Final = 50
DEEP: Final = 40_000  # rides before a page deep in the list
PROTECTS: Final = (
    "A concierge who asks for last March gets it while the guest still stands at the desk."
)
BASELINE: Final = "An answer from one index, by keys, stays what it is when the rides become many."
YEAR: Final = "from=2025-05-01&to=2026-05-05"
NOTHING_THERE: Final = "search for what is not there"
PAGES: Final = {
    "the last 7 days": "",
    "a whole year": YEAR,
    "far back in a year": f"{YEAR}&before=2025-12-16T00:00:00_9999999",
    "a guest's year": f"{YEAR}&guest=w123",
    "a year of 220 guests with this beginning": f"{YEAR}&guest=w77",
    "a year's cancelled rides": f"{YEAR}&state=cancelled",
    "a room's year": f"{YEAR}&room=117",
}
SEARCHES: Final = {
    "search by name": "heron w123",  # 20 guests, read by guest
    "search by a name of 220": "heron w77",  # w77 and w770 to w779, read from the newest ride
    "search by a name of many": "heron",
    "search by phone": "+91 90010 12345",  # one guest
    "search by plate": "xy 1234",
    NOTHING_THERE: "zz 99",
}


@line("history-sqlite", "SQLite, 100,000 rides, p95", aim="≤ 150 ms", protects=PROTECTS, minutes=10)
def on_sqlite(run: Run) -> list[Result]:
    """Requests of pages, from the address to the last byte."""
    return measured_on(databases.SQLITE, lambda prop: [p95(run, *case) for case in _cases(prop)])


@line(
    "history-postgresql",
    "PostgreSQL, 100,000 rides, p95",
    aim="≤ 150 ms",
    protects=PROTECTS,
    minutes=15,
)
def on_postgresql(run: Run) -> list[Result]:
    """The same on a server that this bench starts in a temporary folder."""
    return measured_on(
        databases.POSTGRESQL, lambda prop: [p95(run, *case) for case in _cases(prop)]
    )


@line(
    "history-plain-sqlite",
    "SQLite, rides read and added up, against ORM and OFFSET",
    aim="≤ 1/2",
    protects=BASELINE,
)
def baseline_on_sqlite(run: Run) -> list[Result]:
    """The queries without the page."""
    return measured_on(databases.SQLITE, lambda prop: _against_baseline(run, prop))


@line(
    "history-plain-postgresql", "PostgreSQL, the same", aim="≤ 1/2", protects=BASELINE, minutes=10
)
def baseline_on_postgresql(run: Run) -> list[Result]:
    """The queries without the page."""
    return measured_on(databases.POSTGRESQL, lambda prop: _against_baseline(run, prop))


@dataclass
class BusyProperty:
    """A property with a year of rides."""

    shown: Pages

    @property
    def id(self) -> int:
        return self.shown.desk.ids["desk.property"]

    def year_filter(self) -> RideFilter:
        now = self.shown.desk.now
        return RideFilter(now - timedelta(days=370), now + timedelta(days=1))

    def key(self, back: int) -> PageKey | None:
        """The key of the page that has `back` rides before it; None for the first page."""
        return (
            PageKey(self.shown.desk.now - timedelta(minutes=5 * back), 2 * BASE) if back else None
        )


def measured_on(
    kind: str,
    measure: Callable[[BusyProperty], list[Result]],
    vary: Callable[[Session], None] | None = None,
) -> list[Result]:
    """The measurements of a property with RIDES rides on a kind of database.

    `vary` changes the rides further, for lines that need more variety than those of this module.
    """
    os.environ["RIDEDASH_TEST_DATABASE"] = kind
    try:
        with busy(vary) as prop:
            return measure(prop)
    except BaseException as error:  # pytest's skip is not an Exception
        if type(error).__name__ != "Skipped":
            raise
        return [Absent(str(error))]
    finally:
        databases.close()


def _cases(prop: BusyProperty) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each request, as a label and a function that makes it. Raises if a search misses its rides.

    The form makes the addresses that name a guest or a room; searches are posted.
    """
    for label, query in PAGES.items():
        form = dict(parse_qsl(query))
        if {"guest", "room"} & form.keys():
            form = dict(parse_qsl(prop.shown.post("/history", **form).location.partition("?")[2]))
        yield label, partial(prop.shown.get, "/history", **form)
    for label, words in SEARCHES.items():
        ask = partial(prop.shown.post, "/search.json", q=words)
        # a search that finds nothing is fast, and measures nothing
        if bool((ask().json or {})["rides"]) != (label != NOTHING_THERE):
            raise RuntimeError(f"{label}: {words!r} found what it should not, or nothing")
        yield label, ask


def p95(run: Run, label: str, ask: Callable[[], object], times: int = 0) -> Ratio:
    """Milliseconds that 19 of 20 requests take at most; the note has this process's CPU time."""
    times = times or run.of(40, 20)
    spent: list[float] = []

    def ours() -> float:
        began = process_time()
        took = sorted(timed(ask) for _ in range(times))
        spent.append((process_time() - began) * 1000 / times)
        return took[times * 19 // 20 - 1]

    ask()
    found = frame.alone(run, ours, "ms", label=label)
    return replace(found, note=f"{median(spent):.0f} ms of this process's CPU")


def _against_baseline(run: Run, prop: BusyProperty) -> list[Result]:
    def figure(
        read: Callable[[Session, BusyProperty, int], object], back: int
    ) -> Callable[[], float]:
        def taken() -> float:
            with prop.shown.desk.services.db.read() as s:
                return frame.quiet(
                    [timed(lambda: read(s, prop, back)) for _ in range(run.of(12, 4))]
                )

        return taken

    return [
        frame.side_by_side(run, figure(_ours, back), figure(_baseline, back), "ms", label=label)
        for label, back in (
            ("the newest page of a year", 0),
            (f"{DEEP:,} rides further back", DEEP),
        )
    ]


def _ours(s: Session, prop: BusyProperty, back: int) -> object:
    s.expunge_all()
    keys = page(s, prop.id, prop.year_filter(), SIZE, prop.key(back))
    found = records(s, prop.id, [key.id for key in keys])
    assert len(found) == SIZE
    return found, totals(s, prop.id, prop.year_filter(), "INR")


def _baseline(s: Session, prop: BusyProperty, back: int) -> object:
    """The plain version: entities, an offset, sums over a join."""
    s.expunge_all()
    year_filter = prop.year_filter()
    fits = (
        Order.property_id == prop.id,
        Order.created_at >= year_filter.since,
        Order.created_at < year_filter.until,
    )
    query = select(Order, Offer, Guest, Staff, Ride).join(Offer, Offer.id == Order.offer_id)
    query = query.join(Guest, Guest.id == Order.guest_id).outerjoin(
        Staff, Staff.id == Order.staff_id
    )
    query = (
        query.outerjoin(Ride, Ride.order_id == Order.id)
        .where(*fits)
        .order_by(Order.created_at.desc())
    )
    found = s.execute(query.offset(back).limit(SIZE)).all()
    assert len(found) == SIZE
    sums = select(Ride.status, Ride.currency, func.count(), func.sum(Ride.total_minor))
    sums = (
        sums.join(Order, Order.id == Ride.order_id)
        .where(*fits)
        .group_by(Ride.status, Ride.currency)
    )
    return found, s.execute(sums).all()


def timed(read: Callable[[], Any]) -> float:
    """Milliseconds that `read` takes."""
    began = perf_counter()
    read()
    return (perf_counter() - began) * 1000


@contextlib.contextmanager
def busy(vary: Callable[[Session], None] | None = None) -> Iterator[BusyProperty]:
    """A property with RIDES rides of a year and 200 under way, in a temporary folder."""
    with pages() as shown:
        over = {"ended_at": shown.desk.now, "next_poll_at": None, "plate": "KA01AB1234"}
        order_id = shown.desk.order(status="COMPLETED", ride=over)
        with shown.desk.services.db.write() as s, in_bulk(s):
            copied(s, order_id, RIDES - 1, GUESTS)
            _spread(s)
            if vary is not None:
                vary(s)
        for status in ("CALL_DRIVER", "IN_PROGRESS"):
            for _ in range(100):
                shown.desk.order(status=status)
        known(shown)
        started()  # as the processes that serve pages do
        yield BusyProperty(shown)


def _spread(s: Session) -> None:
    """Spread the rides: one every five minutes, with various rooms, prices, plates and outcomes."""
    spread(s, "created_at", "happens_at")
    for statement in (
        "UPDATE orders SET room = CAST(100 + id % 400 AS TEXT),"
        " currency = 'INR',"
        " ended_as = CASE WHEN id % 20 = 0 THEN 'BOOKING_CANCELLED' ELSE 'COMPLETED' END,"
        " total_minor = CASE WHEN id % 20 = 0 THEN NULL ELSE 20000 + id % 9000 END",
        "UPDATE rides SET currency = 'INR', total_minor = 20000 + id % 9000, plate = 'KA01XY' || "
        "(id % 9000 + 1000),"
        " status = CASE WHEN id % 20 = 0 THEN 'BOOKING_CANCELLED' ELSE 'COMPLETED' END",
        "UPDATE guests SET folded = folded || ' w' || (id % 1000), phone = '+91' || (9000000000 + "
        "id)",
    ):
        s.execute(text(statement))
