"""Growth: with a hundred times the rides and equally many active ones, nothing gets slower."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from time import perf_counter
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Integer,
    String,
    Table,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.orm import Session

from bench.frame import Absent, Ratio, Result, Run, line, quiet
from bench.page_desk import Pages, pages
from ridedash.rides.tracking.claims import Bounds, claim_due, release
from ridedash.store.database.engines import PAGES_KB
from ridedash.store.database.postgresql import lift_limits
from ridedash.store.models.orders import Offer, Order, Ride, TimelineEvent
from ridedash.store.models.people import Guest
from ridedash.store.orders import OrderPage, orders_by_ids
from tests import databases

ACTIVE: Final = 300
SIZES: Final = (1_000, 10_000, 100_000)
AIM: Final = "≤ 1.2"
PROTECTS: Final = (
    "A property that has booked for years polls, claims and lists its rides as fast as on its "
    "first day."
)


@line("growth-sqlite", "SQLite, rides in the table", aim=AIM, protects=PROTECTS, minutes=15)
def on_sqlite(run: Run) -> list[Result]:
    """Each size has its own file; each larger one is measured alternately with the smallest."""
    return _measured(run, databases.SQLITE)


@line("growth-postgresql", "PostgreSQL, rides in the table", aim=AIM, protects=PROTECTS, minutes=20)
def on_postgresql(run: Run) -> list[Result]:
    """The same on a server that this bench starts in a temporary folder."""
    try:
        return _measured(run, databases.POSTGRESQL)
    except BaseException as error:  # pytest's skip is not an Exception
        if type(error).__name__ != "Skipped":
            raise
        return [Absent(str(error))]


def _measured(run: Run, kind: str) -> list[Result]:
    os.environ["RIDEDASH_TEST_DATABASE"] = kind
    sizes = SIZES[: run.of(3, 2)]
    with contextlib.ExitStack() as stack:
        grown = [stack.enter_context(_grown(size)) for size in sizes]
        found: list[Result] = [
            _flat(run, what, work, grown[0], other)
            for what, work in (
                ("poll route", _poll),
                ("claims", _claims),
                ("board's list", _list),
                ("board", _board),
            )
            for other in grown[1:]
        ]
    databases.close()
    return found


@dataclass
class Grown:
    """A property with a number of rides, of which ACTIVE are not over."""

    size: int
    shown: Pages
    watched: int


def _flat(
    run: Run, what: str, work: Callable[[Grown], object], small: Grown, large: Grown
) -> Ratio:
    times = run.of(60, 15)
    taken = [_alternating(work, small, large, times) for _ in range(run.repeats + 1)][1:]
    ratios = [ours / base for ours, base in taken]
    return Ratio(
        median(ours for ours, _ in taken),
        median(base for _, base in taken),
        median(ratios),
        (min(ratios), max(ratios)),
        "ms",
        label=f"{what}: {large.size:,} against {small.size:,}",
    )


def _alternating(
    work: Callable[[Grown], object], small: Grown, large: Grown, times: int
) -> tuple[float, float]:
    """(large, small): milliseconds of an action, as the lower quartile, measured alternately."""
    took: dict[int, list[float]] = {small.size: [], large.size: []}
    for _ in range(times):
        for each in (small, large):
            began = perf_counter()
            work(each)
            took[each.size].append((perf_counter() - began) * 1000)
    return quiet(took[large.size]), quiet(took[small.size])


def _poll(grown: Grown) -> object:
    return grown.shown.get(f"/rides/{grown.watched}/snapshot.json")


def _board(grown: Grown) -> object:
    return grown.shown.get("/board.json")


def _list(grown: Grown) -> object:
    services = grown.shown.desk.services
    with services.db.read() as s:
        return recent_orders(s, grown.shown.desk.ids["desk.property"], 60)


def recent_orders(s: Session, property_id: int, limit: int) -> list[OrderPage]:
    """The newest orders of a property as a list of rides needs them."""
    newest = select(Order.id).where(Order.property_id == property_id).order_by(Order.id.desc())
    return orders_by_ids(s, property_id, s.scalars(newest.limit(limit)).all(), light=True)


def _claims(grown: Grown) -> object:
    services = grown.shown.desk.services
    claims = claim_due(
        services.db, services.clock() + timedelta(seconds=60), Bounds(32, 32), "bench"
    )
    assert len(claims) == 32
    release(services.db, claims)
    return claims


@contextlib.contextmanager
def _grown(size: int) -> Iterator[Grown]:
    with pages() as shown:
        done = shown.desk.order(
            status="COMPLETED", ride={"ended_at": shown.desk.now, "next_poll_at": None}
        )
        with shown.desk.services.db.write() as s, in_bulk(s):
            copied(s, done, size - ACTIVE - 1)
            spread(s, "due_at", "created_at", "happens_at")
        watched = [shown.desk.order(status="CALL_DRIVER") for _ in range(ACTIVE)]
        known(shown)
        yield Grown(size, shown, watched[0])


COPIED: Final = (Guest, Offer, Order, Ride, TimelineEvent)
BASE: Final = 1_000_000  # copies of an order have ids between it and its double


@contextlib.contextmanager
def in_bulk(s: Session) -> Iterator[None]:
    """For a block that writes very many rows: indexes are dropped before it and created after it.

    On PostgreSQL the block runs without triggers and without checks of foreign keys.
    """
    connection = s.connection()
    sqlite = connection.dialect.name == databases.SQLITE
    indexes = [index for model in COPIED for index in model.__table__.indexes]  # type: ignore[attr-defined]
    if sqlite:
        connection.exec_driver_sql("PRAGMA cache_size=-256000")
    else:
        lift_limits(connection)
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
    for index in indexes:
        index.drop(connection)
    yield
    for index in indexes:
        index.create(connection)
    if sqlite:
        connection.exec_driver_sql(f"PRAGMA cache_size=-{PAGES_KB}")


def copied(s: Session, order_id: int, copies: int, guests: int | None = None) -> None:
    """Insert copies of an order with all its rows, by one statement for each table.

    Each copy has an offer of its own. The copies share `guests` guests, or have one each. Their ids
    are lower than any that the program gives. Only once for each database.
    """
    guests = guests or copies
    unique = {"form_token", "mtx", "booking_id"}
    order = s.get_one(Order, order_id)
    originals = {Guest: order.guest_id, Offer: order.offer_id}
    for model in COPIED:
        table: Table = model.__table__  # type: ignore[attr-defined]
        series = select(literal(1, Integer).label("n")).cte("series", recursive=True)
        most = guests if model is Guest else copies
        series = series.union_all(select(series.c.n + 1).where(series.c.n < most))
        # an order has several timeline events
        place = func.dense_rank().over(order_by=table.c.id)
        ours: dict[str, ColumnElement[int]] = {"id": literal(BASE) * place + series.c.n}
        if model is Order:
            ours["offer_id"] = literal(BASE) + series.c.n
            ours["guest_id"] = literal(BASE) + 1 + series.c.n % guests
        elif model in (Ride, TimelineEvent):
            ours["order_id"] = literal(BASE) + series.c.n
        for name in unique & set(table.c.keys()):
            ours[name] = table.c[name] + literal("-") + series.c.n.cast(String)
        picked = [ours.get(each.name, each).label(each.name) for each in table.c]
        key = table.c["order_id" if "order_id" in table.c else "id"]
        source = select(*picked).where(key == originals.get(model, order_id))
        copied = insert(table).inline().from_select([each.name for each in table.c], source)
        words = copied.compile(s.get_bind(), compile_kwargs={"literal_binds": True})  # type: ignore[arg-type]
        # Run as text, because an SQLAlchemy statement would return every new id.
        s.connection().exec_driver_sql(str(words))


def spread(s: Session, *columns: str) -> None:
    """Set these times of the copied orders: one order every five minutes, backwards."""
    minutes = f"(id % {BASE}) * 5"
    for name in columns:
        earlier = f"{name} - {minutes} * interval '1 minute'"
        if s.get_bind().dialect.name == databases.SQLITE:
            earlier = f"strftime('%Y-%m-%d %H:%M:%f000', {name}, '-' || ({minutes}) || ' minutes')"
        s.execute(
            text(f"UPDATE orders SET {name} = {earlier} WHERE id BETWEEN {BASE} AND {2 * BASE}")
        )


def known(shown: Pages) -> None:
    """Update the statistics of the tables, as in a database that has run for a while.

    PostgreSQL does this by itself every minute.
    """
    engine = shown.desk.services.db.engine
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == databases.SQLITE:
            connection.execute(text("ANALYZE"))
            return
        lift_limits(connection)
        connection.execute(text("VACUUM ANALYZE"))
