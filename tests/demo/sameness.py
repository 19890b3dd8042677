"""What must be the same each time a story is played: its cast, and what came of it.

Read from the two databases of a running demo, so that nothing is left out which a page may show.
"""

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from ridedash.service_time import ServiceTime
from ridedash.turns import turns_of
from tests.running import Running

CONTROL = {"X-Sandbox-Control": "1"}
OURS = re.compile(r"RD-[0-9A-Z]+")  # references are random: they are named as they appear
SECRET = ("fare_id", "merchant_txn_id")  # made anew with each question


def cast(demo: Running) -> list[dict[str, Any]]:
    """Of each booking: what was offered, its price, number and places, and its whole plan.

    The plan has arrival, drivers, cars, plates, start code and routes.
    """
    rows = _rows(
        demo.instance / "sandbox.db",
        "SELECT booking_id, txn_id, user, category, created_at, scenario, request, plan"
        " FROM bookings ORDER BY n",
    )
    offered = _rows(
        demo.instance / "ridedash.db",
        "SELECT category, price_text, seat_prices, product FROM offers WHERE id IN"
        " (SELECT offer_id FROM orders) ORDER BY id",
    )
    found: list[dict[str, Any]] = _bare([_read(row) for row in (*rows, *offered)])
    return found


def facts(demo: Running) -> list[Any]:
    """Of each order: its ends, and each event in the service's time; and what pages were told."""
    time = ServiceTime(
        turns_of(httpx.get(f"{demo.sandbox_url}/control/clock", headers=CONTROL).json())
    )
    path, found = demo.instance / "ridedash.db", []
    orders = _rows(
        path,
        "SELECT orders.id, orders.state, orders.booking_id, orders.txn_id, rides.status,"
        " rides.facts, rides.plate, rides.previous_plate, rides.total_minor"
        " FROM orders LEFT JOIN rides ON rides.order_id = orders.id ORDER BY orders.id",
    )
    for order in orders:
        number = order.pop("id")
        moments = _rows(
            path,
            f"SELECT what, name, detail, at FROM moments WHERE order_id = {number} ORDER BY id",
        )
        steps = _rows(
            path, f"SELECT what, result FROM audit WHERE subject = 'orders:{number}' ORDER BY id"
        )
        for moment in moments:
            wall = datetime.fromisoformat(moment["at"]).replace(tzinfo=UTC)
            moment["at"] = round(time.shown(wall).timestamp(), 2)
        found.append([_read(order), moments, steps])
    return found


def told(demo: Running) -> str:
    """One hash of the facts, with our references named in the order in which they appear."""
    names: dict[str, str] = {}
    text = OURS.sub(
        lambda match: names.setdefault(match[0], f"reference {len(names)}"),
        json.dumps(facts(demo), sort_keys=True),
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(path: Path, query: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(query)]


def _read(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose JSON is read."""
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
