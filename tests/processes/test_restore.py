"""The drill of docs/operating.md, Restore: real processes, a backup, the sandbox's bookings."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.rides.orders import after_restore
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import place
from ridedash.rides.orders.request import offered
from ridedash.store import properties, restores
from ridedash.store.accounts import default_account
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Staff
from ridedash.store.offers import OfferOwner, Trip, add_offer
from tests import databases
from tests.processes.fleet import WAIT_S, Fleet, fleet, wait_for
from tests.rides.dumps import dump, restore

DROP = LatLng(-38.48, -127.95)


@pytest.fixture(params=[databases.SQLITE, databases.POSTGRESQL])
def quiet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    """A desk without a worker; planned rides are due an hour before their pickup."""
    url = databases.new_database(tmp_path, request.param)
    with fleet(tmp_path, url, RIDEDASH_SCHEDULE_LEAD_MINUTES="60") as made:
        yield made
        made.services.client._http.close()
    databases.forget(tmp_path)


class Desk:
    """The one property of a demo, and a member of its staff."""

    def __init__(self, made: Fleet) -> None:
        self.made, self.s = made, made.services
        with self.s.db.read() as db:
            here = properties.properties(db)[0]
            account = default_account(db, here.id)
            staff = db.scalars(select(Staff).where(Staff.property_id == here.id)).first()
        assert account is not None
        assert staff is not None
        assert here.pickup_lat is not None
        assert here.pickup_lng is not None
        self.property_id, self.account_id, self.staff_id = here.id, account.id, staff.id
        self.pickup = LatLng(here.pickup_lat, here.pickup_lng)

    def book(self, guest: str, planned: bool = False) -> str:
        """Order or plan a ride. Returns its partner reference."""
        product = next(
            each
            for each in self.s.client.products(self.pickup, DROP).products
            if each.kind == "point_to_point"
        )
        now = self.s.clock()
        with self.s.db.write() as db:
            owner = OfferOwner(self.property_id, by_staff(self.staff_id))
            offer = add_offer(db, owner, Trip(self.pickup, None, DROP), offered(product), now)
        request = BookingRequest(
            property_id=self.property_id,
            actor=by_staff(self.staff_id),
            account_id=self.account_id,
            form_token=f"a form for {guest}",
            guest_name=guest,
            offer_id=offer.id,
            pickup_at=now + timedelta(minutes=16) if planned else None,
            margin=timedelta(minutes=60),
        )
        order_id = place(self.s.db, self.s.clock, request).order_id
        with self.s.db.read() as db:
            return db.get_one(Order, order_id).mtx

    def state(self, reference: str) -> tuple[str, str | None]:
        with self.s.db.read() as db:
            order = db.scalars(select(Order).where(Order.mtx == reference)).one()
            return order.state, order.booking_id

    def is_booked(self, reference: str) -> bool:
        return self.state(reference)[0] == "BOOKED"

    def lost(self) -> list[str]:
        with self.s.db.read() as db:
            return [row.mtx for row in restores.lost_orders(db, self.property_id)]

    def worker(self, name: str) -> None:
        self.made.ridedash(name, "worker")

    def end(self, name: str) -> None:
        process = self.made.processes[name]
        process.terminate()
        assert process.wait(WAIT_S) == 0, self.made.output(name)

    def command(self, *words: str) -> str:
        """Run a command. Returns what it prints."""
        return subprocess.run(
            [sys.executable, "-m", "ridedash.cli", *words],
            env=self.made.environ,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        ).stdout

    def sold(self) -> list[str]:
        """The references of all bookings that the service has made."""
        books = sqlite3.connect(self.made.folder / "instance" / "sandbox.db")
        with closing(books):
            return [row[0] for row in books.execute("SELECT merchant_txn_id FROM bookings")]


def test_after_a_restore_nothing_is_booked_twice_and_everything_is_found(quiet: Fleet) -> None:
    desk = Desk(quiet)
    planned = desk.book("Guest Heron", planned=True)
    backup = dump(quiet.services.db)
    missing = desk.book("Guest Wren")
    desk.worker("before")
    wait_for(lambda: desk.is_booked(planned) and desk.is_booked(missing))
    number = desk.state(planned)
    desk.end("before")
    assert "ok    restore" in desk.command("doctor")

    restore(quiet.services.db, backup)
    assert desk.state(planned) == ("SCHEDULED", None)
    printed = desk.command("doctor")
    assert "FAIL  restore" in printed
    assert "sent orders that it lacks: 2" in printed

    desk.worker("after")
    wait_for(lambda: desk.lost() == [missing], lambda: quiet.output("after"))
    wait_for(lambda: desk.state(planned) == number, lambda: quiet.output("after"))
    wanted = after_restore.TakeUp(desk.property_id, desk.staff_id, missing)
    after_restore.take_up(quiet.services.runtime, wanted)
    wait_for(lambda: desk.is_booked(missing))
    accepted = desk.command("db", "accept-restore")
    assert "Planned rides that are ordered when they are due: 0" in accepted
    desk.end("after")
    assert "ok    restore" in desk.command("doctor")
    assert sorted(desk.sold()) == sorted([planned, missing])


def test_without_its_journals_a_declared_restore_holds_what_was_planned(quiet: Fleet) -> None:
    desk = Desk(quiet)
    planned = desk.book("Guest Heron", planned=True)
    backup = dump(quiet.services.db)
    desk.worker("before")
    wait_for(lambda: desk.is_booked(planned))
    desk.end("before")
    restore(quiet.services.db, backup)
    folder = quiet.folder / "instance" / "blackbox"
    folder.rename(folder.with_name("lost"))
    assert "are held: 1," in desk.command("db", "restored-at", "2026-01-01T15:28")
    desk.worker("after")
    later = desk.book("Guest Wren")
    wait_for(lambda: desk.is_booked(later), lambda: quiet.output("after"))
    assert desk.state(planned) == ("SCHEDULED", None)
    assert sorted(desk.sold()) == sorted([planned, later])
