"""Scenarios ordered by control: each is taken by the next booking of the kind that it speaks of."""

import sqlite3

from ridedash import wire
from ridedash.sandbox.trips.planner import SCENARIOS


def order(connection: sqlite3.Connection, scenario: str) -> None:
    """Queue a scenario, a name of SCENARIOS."""
    connection.execute("INSERT INTO scenarios (scenario) VALUES (?)", (scenario,))


def take(connection: sqlite3.Connection, kind: wire.Kind) -> str | None:
    """The oldest ordered scenario that a booking of this kind can play, taken off the queue; None
    without one.
    """
    for row in connection.execute("SELECT id, scenario FROM scenarios ORDER BY id").fetchall():
        if SCENARIOS[row["scenario"]] in (None, kind):
            connection.execute("DELETE FROM scenarios WHERE id = ?", (row["id"],))
            return str(row["scenario"])
    return None
