"""Orders of kiosks beside those of a desk, while workers are killed at any instant.

Row 38 of the fault matrix (docs/reliability.md 2).
"""

import random
from dataclasses import dataclass, field
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from sqlalchemy import select

from bench.faults.checking import Findings
from bench.faults.crashing import WAITING, CrashRun, crash_run
from bench.faults.desk import DROP, PICKUP, database
from bench.faults.desk import Press as Known
from bench.faults.rows_crashes import met, needed
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row
from ridedash.rides.kiosk.approvals import GuestRequest
from ridedash.rides.kiosk.place import KioskPress, book
from ridedash.rides.kiosk.tickets import Looked, look_up, pin_of, ride_number
from ridedash.rides.runtime import Runtime
from ridedash.store.actors import by_kiosk
from ridedash.store.models.kiosks import Kiosk, Ticket
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import OrderState

KEY: Final = "a secret of this installation"
TZ: Final = ZoneInfo("Asia/Kolkata")
SHARE: Final = 0.5  # fraction of presses that come from a kiosk
MOST_PRESSES: Final = 3  # of one page, which presses again after each lost answer


@dataclass
class BesideKiosks(CrashRun):
    """People at the desk, and guests who each have their own kiosk, so that no limit stops them."""

    pressed: dict[int, KioskPress] = field(default_factory=dict)  # by order

    def people_do(self, rng: random.Random) -> None:
        """A guest books at a kiosk, or the people at the desk do one step."""
        if rng.random() < SHARE and len(self.desk.in_state(OrderState.READY)) < WAITING:
            self._press_at_kiosk(rng)
        else:
            super().people_do(rng)

    def _press_at_kiosk(self, rng: random.Random) -> None:
        """A guest books. Their page sends the same press one to three times (lost answers)."""
        press = self._page(rng)
        nothing = cast("Any", None)  # no client, no tokens: a press makes no call to the service
        runtime = Runtime(self.desk.db, nothing, nothing, self.desk.clock)
        ids = {book(runtime, KEY, press, TZ).order_id for _ in range(rng.randint(1, MOST_PRESSES))}
        for order_id in ids:
            request = self.desk.request("booked", press.request.name)
            known = Known(order_id, "booked", press.request.name, request, min(ids))
            self.desk.presses[order_id] = known
            self.pressed[order_id] = press

    def _page(self, rng: random.Random) -> KioskPress:
        desk, now, number = self.desk, self.desk.clock(), rng.getrandbits(50)
        with desk.db.write() as s:
            kiosk = Kiosk(
                property_id=desk.property_id,
                kind="kiosk",
                name="Lobby",
                rule="driver",
                made_at=now,
            )
            s.add(kiosk)
            s.flush()
            owner = OfferOwner(desk.property_id, by_kiosk(kiosk.id))
            trip = Trip(PICKUP, "Lobby", DROP, "Airport")
            priced = Priced("mini", "point_to_point", "Mini", "INR", "₹240", {"category": "mini"})
            offer_id = add_offer(s, owner, trip, priced, now).id
            kiosk_id = kiosk.id
        request = GuestRequest(f"Kiosk{number}", None, None, None)
        visit, token = f"visit-{number:018}", f"token-{number:018}"
        return KioskPress(kiosk_id, desk.property_id, visit, token, offer_id, request)

    def without_ticket(self) -> Findings:
        """Check that each kiosk order is paid in cash, and has a ticket.

        The ticket's ride number is unique, and finds the order together with the PIN of the page.
        """
        found = Findings()
        with self.desk.db.write() as s:
            rows = s.scalars(select(Ticket)).all()
            numbers = {(row.day, row.number) for row in rows}
            if len(numbers) != len(rows) or {row.order_id for row in rows} != set(self.pressed):
                found.find("forgotten", f"{len(rows)} tickets for {len(self.pressed)} orders")
            for ticket in rows:
                press = self.pressed.get(ticket.order_id)
                if press is None:
                    continue
                typed = ride_number(ticket.number), pin_of(KEY, press.secret)
                look = look_up(s, KEY, self.desk.property_id, typed, self.desk.clock())
                if look.what is not Looked.FOUND or look.order_id != ticket.order_id:
                    found.find("forgotten", f"order {ticket.order_id}: its PIN opens nothing")
        for order in self.desk.orders():
            if order.kiosk_id is not None and order.payment != "cash":
                found.find("false_booked", f"order {order.id} is paid by the house")
        return found


@row(38, "kill -9 of a worker, kiosk orders beside desk orders")
def beside_kiosks(case: Case) -> Verdict:
    """About half of the orders come from kiosks."""
    return _killed(case, case.size(400, 12))


@row(
    38,
    "kill -9 of a worker, kiosk orders beside desk orders, PostgreSQL",
    short=False,
    database=POSTGRESQL,
)
def beside_kiosks_postgresql(case: Case) -> Verdict:
    """The same on PostgreSQL."""
    return _killed(case, case.size(400, 20))


def _killed(case: Case, kills: int) -> Verdict:
    with database(case) as url, crash_run(case, url, "run", BesideKiosks) as run:
        run.kill(kills, 1)
        run.tally.found = run.settle()
        run.tally.found.add(run.without_ticket())
        run.tally.orders = len(run.desk.orders())
        if not run.pressed:
            run.tally.found.find("forgotten", "no kiosk ordered anything")
        return met(run.tally, needed(case))
