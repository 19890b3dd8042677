"""A demo with its sandbox, and a manager's browser; only the test moves the two clocks."""

from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash.demo import pages
from ridedash.demo.sandbox_control import SandboxControl
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service.transport.http import Http
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.kiosks import begin, new_device
from ridedash.store.models.desk import Favourite
from ridedash.store.models.kiosks import Kiosk, KioskKind, KioskVisit, Ticket
from ridedash.store.models.people import Staff
from tests import streets
from tests.sandbox import sandbox_desk
from tests.views.ride_pages import Desk, make_desk, token


class Stage:
    """A demo with its sandbox, and the browser of a manager."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        streets.grow()
        self.sandbox: Any = sandbox_desk.Desk(folder)
        self.desk: Desk = make_desk(folder, **settings)
        self.desk.add(lambda s: setattr(s.get(Staff, self.desk.ids["desk"]), "role", "manager"))
        self.reach(httpx.WSGITransport(self.sandbox.app))
        self.web: FlaskClient = self.desk.client()
        self.csrf = token(self.web)

    def reach(self, transport: httpx.BaseTransport) -> None:
        control = SandboxControl(self.desk.services.settings, Http(transport))
        self.desk.app.extensions[pages.EXTENSION] = control

    def press(self, what: str, **fields: str) -> str:
        """Press a button of the director. Returns the page that follows."""
        sent = fields | {"csrf_token": self.csrf}
        return self.web.post(f"/demo/{what}", data=sent, follow_redirects=True).text

    def count(self, table: Any) -> int:
        with self.desk.services.db.read() as s:
            return int(s.scalar(select(func.count()).select_from(table)))

    def audited(self) -> list[tuple[str, dict[str, Any]]]:
        with self.desk.services.db.read() as s:
            rows = s.scalars(select(AuditRow).order_by(AuditRow.id))
            return [(row.what, row.facts) for row in rows if row.what.startswith("demo.")]

    def close(self) -> None:
        self.sandbox.close()
        self.desk.close()


def fill(stage: Stage) -> None:
    """Add rides here and in the sandbox, a link, a kiosk visit; a kiosk only the first time."""
    desk, home = stage.desk, stage.desk.ids["desk.property"]
    stage.sandbox.book("mini")
    order_id = desk.order("BOOKED", "CALL_DRIVER", attention=["late"])
    desk.order("UNKNOWN", supersedes=order_id)
    db, now = desk.services.db, desk.now
    make_link(db, now, home, order_id, LinkKind.RIDER, by_staff(desk.ids["desk"]))
    with db.write() as s:
        kiosk = s.scalars(select(Kiosk)).first() or furnished(s, home, now)
        kiosk.handed_at, kiosk.code_until = now, now
        s.add(KioskVisit(id="v" * 16, kiosk_id=kiosk.id, property_id=home, began_at=now))
        s.add(Ticket(property_id=home, order_id=order_id, number=1, day="2026-05-04", pin_hash="x"))


def furnished(s: Session, home: int, now: datetime) -> Kiosk:
    """A kiosk and a favourite place."""
    kiosk = new_device(s, home, KioskKind.KIOSK, "Lobby", now)
    begin(kiosk, now)
    s.add(Favourite(property_id=home, kind="drop", slot=1, name="Airport", lat=-38.5, lng=-128.0))
    return kiosk
