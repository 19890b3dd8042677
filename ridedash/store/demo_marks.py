"""The mark of a demo's database, which contains no real ride and must not get one."""

from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store.models.orders import Order
from ridedash.store.models.people import DemoMark

ROW: Final = 1  # the id of the one row
WANTED, MADE, NONE = "wanted", "made", "none"  # DemoMark.day: whether past rides are made


class WrongMode(Exception):
    """This database can't be used in this mode; the message says what to do."""


def mark_of(s: Session) -> DemoMark | None:
    """The mark of a demo's database; None for any other."""
    return s.get(DemoMark, ROW)


def mark(s: Session, now: datetime, day: str) -> DemoMark:
    """Mark this database as a demo's."""
    row = DemoMark(id=ROW, made_at=now, day=day)
    s.add(row)
    return row


def settle(s: Session, day: str) -> None:
    """Record that the demo's past rides are MADE, or NONE when making them failed."""
    row = mark_of(s)
    if row is not None:
        row.day = day


def refuse_in_live_mode(s: Session) -> None:
    """Raise WrongMode for a demo's database: its rides were never real."""
    if mark_of(s) is not None:
        raise WrongMode(
            "this database is a demo's and can't be used in live mode. Name another one in "
            "RIDEDASH_DATABASE_URL, or set RIDEDASH_MODE=demo."
        )


def refuse_in_demo_mode(s: Session) -> None:
    """Raise WrongMode for a database that has orders and no mark of a demo: they may be real."""
    if mark_of(s) is None and s.execute(select(Order.id).limit(1)).first() is not None:
        raise WrongMode(
            "this database has rides and is no demo's, so a demo does not open it. Name another "
            "one in RIDEDASH_DATABASE_URL, or set RIDEDASH_MODE=live."
        )
