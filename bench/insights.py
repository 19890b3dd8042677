"""The insights of a property with a hundred thousand rides: a month, three months, a year."""

from functools import partial
from typing import Final

from sqlalchemy import text

from bench.frame import Result, Run, line
from bench.growth import known
from bench.history import BusyProperty, measured_on, p95
from ridedash.store.models.people import Staff
from tests import databases

AIM: Final = "≤ 300 ms"
PROTECTS: Final = "A manager looks at the month in a meeting, and nobody waits for the picture."
PERIODS: Final = {  # the rides of the property are of the year before 4 May 2026
    "a month beside the one before": "2026-04-01 2026-04-30",
    "three months beside those before": "2026-02-01 2026-04-30",
    "all 100,000 rides": "2025-05-06 2026-05-05",
}
SPREAD: Final = (
    "UPDATE orders SET driver_s = 20 + id % 400, guest_s = 60 + id % 700, cost_centre_id = id % 60",
    "UPDATE offers SET drop_name = 'Place ' || (id % 700)",
)


@line("insights-sqlite", "SQLite, 100,000 rides, p95", aim=AIM, protects=PROTECTS, minutes=10)
def on_sqlite(run: Run) -> list[Result]:
    """Requests of the page, from the address to the last byte."""
    return measured_on(databases.SQLITE, partial(_measured, run))


@line(
    "insights-postgresql", "PostgreSQL, 100,000 rides, p95", aim=AIM, protects=PROTECTS, minutes=15
)
def on_postgresql(run: Run) -> list[Result]:
    """The same on a server that this bench starts in a temporary folder."""
    return measured_on(databases.POSTGRESQL, partial(_measured, run))


def _measured(run: Run, prop: BusyProperty) -> list[Result]:
    desk = prop.shown.desk
    with desk.services.db.write() as s:
        s.get_one(Staff, desk.ids["desk"]).role = "manager"
        for statement in SPREAD:
            s.execute(text(statement))
    known(prop.shown)
    prop.shown.browser = desk.client()  # as a manager
    return [
        p95(run, label, partial(prop.shown.get, "/insights", **{"from": first, "to": last}))
        for label, days in PERIODS.items()
        for first, last in [days.split()]
    ]
