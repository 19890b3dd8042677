"""What must be the same each time a story is played: its cast, and what came of it.

Both are read from the databases of a running demo, so that nothing is left out which a page may
show, and from the recording of its calls.
"""

import hashlib
import json
import re
import time
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from ridedash.observability.metrics import IN_VAIN
from ridedash.service_time import ServiceTime
from ridedash.turns import turns_of
from tests import databases
from tests.processes.fleet import get
from tests.running import Running

CONTROL = {"X-Sandbox-Control": "1"}
OURS = re.compile(r"RD-[0-9A-Z]+")  # references are random: they are named as they appear
RECORDED_S = 10.0
STILL_S = 0.5  # after so long without another call in the file, all are there
POLL, VAIN = "track_ride", {*IN_VAIN, "held"}
SECRET = ("fare_id", "merchant_txn_id")  # differ in each answer


def cast(demo: Running) -> list[dict[str, Any]]:
    """All bookings with number, places and plan, then the offers of the orders with their prices.

    The plan has arrival, drivers, cars, plates, start code and routes.
    """
    rows = _rows(
        _file(demo.instance / "sandbox.db"),
        "SELECT booking_id, txn_id, user, category, created_at, scenario, request, plan"
        " FROM bookings ORDER BY n",
    )
    offered = _rows(
        _database(demo),
        "SELECT category, price_text, seat_prices, product FROM offers WHERE id IN"
        " (SELECT offer_id FROM orders) ORDER BY id",
    )
    found: list[dict[str, Any]] = _bare([_read(row) for row in (*rows, *offered)])
    return found


def facts(demo: Running) -> list[Any]:
    """Of each order: its result, its events in the service's time, its audit entries, its calls."""
    recorded(demo)
    service_time = ServiceTime(turns_of(get(f"{demo.sandbox_url}/control/clock", CONTROL).json()))
    url, found = _database(demo), []
    orders = _rows(
        url,
        "SELECT orders.id, orders.mtx, orders.state, orders.booking_id, orders.txn_id,"
        " rides.status, rides.facts, rides.plate, rides.previous_plate, rides.total_minor"
        " FROM orders LEFT JOIN rides ON rides.order_id = orders.id ORDER BY orders.id",
    )
    for order in orders:
        number = order.pop("id")
        moments = _rows(
            url,
            f"SELECT what, name, detail, at FROM moments WHERE order_id = {number} ORDER BY id",
        )
        steps = _rows(
            url, f"SELECT what, result FROM audit WHERE subject = 'orders:{number}' ORDER BY id"
        )
        for moment in moments:
            moment["at"] = round(service_time.shown(_instant(moment["at"])).timestamp(), 2)
        found.append([_read(order), moments, steps, _calls(demo, order)])
    return found


def recorded(demo: Running) -> None:
    """Wait until the lens has written the calls that have ended."""
    count, before, end = -1, 0.0, time.monotonic() + RECORDED_S
    while time.monotonic() < end:
        [row] = _rows(_file(demo.instance / "lens.db"), "SELECT COUNT(*) AS calls FROM calls")
        if row["calls"] != count:
            count, before = row["calls"], time.monotonic()
        elif time.monotonic() > before + STILL_S:
            return
        time.sleep(STILL_S / 10)


def _calls(demo: Running, order: dict[str, Any]) -> list[tuple[str, ...]]:
    """The calls about an order with their outcome; equal ones in a row count as one.

    How often a ride is polled depends on the wall clock; what is answered does not. Polls in vain
    are not compared: an outage lasts for wall time, so rides differ in them (see `calls_in_vain`).
    """
    ids = [order[name] or "-" for name in ("booking_id", "txn_id", "mtx")]
    rows = _rows(
        _file(demo.instance / "lens.db"),
        "SELECT operation, outcome, status FROM calls WHERE booking_id = '{}' OR txn_id = '{}'"
        " OR mtx = '{}' ORDER BY number".format(*ids),
    )
    answered = [row for row in rows if row["operation"] != POLL or row["outcome"] not in VAIN]
    return [key for key, _ in groupby(tuple(map(str, row.values())) for row in answered)]


def calls_in_vain(demo: Running) -> int:
    """How many calls of this story got no usable answer, as the lens has recorded them."""
    query = "SELECT outcome, same FROM calls JOIN latest USING (number)"
    rows = _rows(_file(demo.instance / "lens.db"), query)
    return sum(row["same"] for row in rows if row["outcome"] in IN_VAIN)


def difference(one: Any, other: Any, where: str = "") -> str:
    """The first place where two such values differ, with both; "" if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(f"{where}.{key}", one[key], other[key]) for key in one]
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{where}: {one} / {other}"
        pairs = [(f"{where}[{n}]", *both) for n, both in enumerate(zip(one, other, strict=True))]
    else:
        return "" if one == other else f"{where}: {one} / {other}"
    return next((found for at, a, b in pairs if (found := difference(a, b, at))), "")


def named(facts: list[Any]) -> list[Any]:
    """The facts, with our references named in the order in which they appear."""
    names: dict[str, str] = {}
    found: list[Any] = json.loads(
        OURS.sub(
            lambda match: names.setdefault(match[0], f"reference {len(names)}"),
            json.dumps(facts, sort_keys=True),
        )
    )
    return found


def fingerprint(demo: Running) -> str:
    """One hash of the facts."""
    return digest(named(facts(demo)))


def digest(facts: list[Any]) -> str:
    """The hash of facts that are `named`."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _database(demo: Running) -> str:
    """The address of the dashboard's database, on SQLite or on PostgreSQL."""
    chosen = databases.settings_for(demo.instance)
    return chosen.get("RIDEDASH_DATABASE_URL") or _file(demo.instance / "ridedash.db")


def _file(path: Path) -> str:
    return f"sqlite:///file:{path}?mode=ro&uri=true"


def _rows(url: str, query: str) -> list[dict[str, Any]]:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as database:
        return [dict(row) for row in database.exec_driver_sql(query).mappings()]


def _instant(at: str | datetime) -> datetime:
    found = datetime.fromisoformat(at) if isinstance(at, str) else at
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _read(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON texts parsed."""
    return {
        name: json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value
        for name, value in row.items()
    }


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if isinstance(value, dict):
        return {name: _bare(each) for name, each in value.items() if name not in SECRET}
    return value
