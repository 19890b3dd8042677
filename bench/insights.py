"""The insights of properties with a hundred thousand rides: a month, three months, a year."""

from datetime import date, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import TextClause, bindparam, delete, select, text
from sqlalchemy.orm import Session

from bench import frame
from bench.frame import Result, Run, line
from bench.growth import in_bulk, known
from bench.history import BusyProperty, measured_on, p95, timed
from ridedash.store.insight_rollup import rolled_up
from ridedash.store.insights import Insights, InsightsProperty, insights, span_of
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.orders import InsightSpan, Ride
from ridedash.store.models.people import Property, Staff
from tests import databases
from tests.views.ride_pages import HASH, NOON

AIM: Final = "≤ 300 ms"
ROLLUP: Final = "What was added up once is not added up again at each look."
PROTECTS: Final = "A manager looks at the month in a meeting, and nobody waits for the picture."
MONTH: Final = ("2026-04-01", "2026-04-30")
YEAR: Final = ("2025-05-06", "2026-05-05")  # the year of all rides of the property
PERIODS: Final = {
    "a month beside the one before": MONTH,
    "three months beside those before": ("2026-02-01", "2026-04-30"),
    "all 100,000 rides": YEAR,
}
PEOPLE: Final = 12  # members of staff who book
CENTRES: Final = 60
SPREAD: Final = (
    "UPDATE orders SET driver_s = 20 + id % 400, guest_s = 60 + id % 700,"
    " category = CASE id % 7 WHEN 0 THEN 'sedan' WHEN 1 THEN 'suv' WHEN 2 THEN 'share'"
    " WHEN 3 THEN 'auto' ELSE 'mini' END,"
    f" staff_id = :staff + id / 7 % {PEOPLE}, cost_centre_id = :centre + id / 84 % {CENTRES}",
    "UPDATE offers SET drop_name = 'Place ' || (id % 700)",
    # half of the cancelled rides were cancelled too late to be free
    "UPDATE rides SET allotted_at = :early WHERE id % 40 = 0",
)
# gives every second ride to another property, in all tables that insights read
SHARED: Final = tuple(
    f"UPDATE {table} SET property_id = :other WHERE {key} % 2 = 0"
    for table, key in (("orders", "id"), ("offers", "id"), ("rides", "order_id"))
)


@line("insights-sqlite", "SQLite, 100,000 rides, p95", aim=AIM, protects=PROTECTS, minutes=20)
def on_sqlite(run: Run) -> list[Result]:
    """Requests of the page, from the address to the last byte."""
    return measured_on(databases.SQLITE, partial(_measured, run), varied)


@line(
    "insights-postgresql", "PostgreSQL, 100,000 rides, p95", aim=AIM, protects=PROTECTS, minutes=30
)
def on_postgresql(run: Run) -> list[Result]:
    """The same on a server that this bench starts in a temporary folder."""
    return measured_on(databases.POSTGRESQL, partial(_measured, run), varied)


@line(
    "insights-rollup-sqlite",
    "SQLite, figures of 100,000 rides, against adding up the orders",
    aim="≤ 1/2",
    protects=ROLLUP,
    minutes=10,
)
def rollup_on_sqlite(run: Run) -> list[Result]:
    """The figures without the page."""
    return measured_on(databases.SQLITE, partial(_against_orders, run), varied)


@line(
    "insights-rollup-postgresql", "PostgreSQL, the same", aim="≤ 1/2", protects=ROLLUP, minutes=15
)
def rollup_on_postgresql(run: Run) -> list[Result]:
    """The figures without the page."""
    return measured_on(databases.POSTGRESQL, partial(_against_orders, run), varied)


def _against_orders(run: Run, prop: BusyProperty) -> list[Result]:
    db, now = prop.shown.desk.services.db, prop.shown.desk.now
    tz = ZoneInfo("Asia/Kolkata")
    insights_property = InsightsProperty(prop.id, tz, "INR")

    def compared(label: str, days: tuple[str, str]) -> Result:
        span = span_of(date.fromisoformat(days[0]), date.fromisoformat(days[1]), tz)

        def stored() -> Insights:
            with rolled_up(db, [(insights_property, span)], now) as rollup, db.read() as s:
                return rollup.insights(s, insights_property, span)

        def added_up() -> Insights:
            with db.read() as s:
                return insights(s, insights_property, span)

        stored()
        assert stored().total == added_up().total
        return frame.side_by_side(
            run,
            lambda: frame.quiet([timed(stored) for _ in range(run.of(12, 4))]),
            lambda: frame.quiet([timed(added_up) for _ in range(run.of(12, 4))]),
            "ms",
            label=label,
        )

    return [compared(label, days) for label, days in PERIODS.items()]


def _measured(run: Run, prop: BusyProperty) -> list[Result]:
    shown = prop.shown
    shown.browser = shown.desk.client()  # as an admin
    found = [_page_of(run, prop, label, days) for label, days in PERIODS.items()]
    shared(prop)
    both = [str(shown.desk.ids[f"{name}.property"]) for name in ("desk", "other")]
    for label, days in {"a month": MONTH, "all 100,000 rides": YEAR}.items():
        found.append(_page_of(run, prop, f"{label}, of two properties", days, property=both))
    return found


def _page_of(
    run: Run, prop: BusyProperty, label: str, days: tuple[str, str], **more: list[str]
) -> Result:
    ask = partial(prop.shown.get, "/insights", **{"from": days[0], "to": days[1]}, **more)
    return p95(run, label, ask, run.of(40, 12))


def varied(s: Session) -> None:
    """Vary products, places, staff and cost centres, and make the signed-in user an admin."""
    property_id = s.scalars(select(Property.id).order_by(Property.id)).first()
    admin = s.scalars(select(Staff).where(Staff.property_id == property_id)).one()
    admin.role = "admin"
    people = [
        Staff(
            property_id=property_id,
            name=f"Desk {n}",
            sign_in_name=f"desk {n}",
            password_hash=HASH,
            role="concierge",
            created_at=NOON,
        )
        for n in range(PEOPLE)
    ]
    centres = [
        CostCentre(property_id=property_id, name=f"Centre {n}", closed_at=None)
        for n in range(CENTRES)
    ]
    s.add_all([*people, *centres])
    s.flush()
    values = {
        "staff": min(each.id for each in people),
        "centre": min(each.id for each in centres),
    }
    values["early"] = NOON - timedelta(minutes=10)
    for statement in SPREAD:
        names = {name: each for name, each in values.items() if f":{name}" in statement}
        s.execute(_statement(statement), names)


def shared(prop: BusyProperty) -> None:
    """Give every second ride to another property."""
    desk = prop.shown.desk
    with desk.services.db.write() as s, in_bulk(s):
        for statement in SHARED:
            s.execute(text(statement), {"other": desk.ids["other.property"]})
        s.execute(delete(InsightSpan))  # PostgreSQL's triggers, which note changes, are off here
    known(prop.shown)


def _statement(words: str) -> TextClause:
    found = text(words)
    if ":early" in words:
        return found.bindparams(bindparam("early", type_=Ride.allotted_at.type))
    return found
