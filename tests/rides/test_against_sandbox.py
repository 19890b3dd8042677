"""Orders and the worker against the sandbox: rides of each kind, from the press to their end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.actions import request
from ridedash.rides.tracking.record import otp_of
from ridedash.rides.worker import Worker
from ridedash.sandbox import SandboxSettings, create_sandbox, mint_token
from ridedash.sandbox.city.city import cities
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.service.types.tracking import Snapshot
from ridedash.store.accounts import keep_tokens
from ridedash.store.models.people import Account
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import OrderPage
from tests import streets
from tests.rides.desk_world import World

pytestmark = pytest.mark.database


def place_named(part: str) -> LatLng:
    return next(place.position for place in cities()[0].places if part in place.id)


class SandboxWorld(World):
    """The desk of the other tests, with the sandbox instead of the fake service."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        settings = SandboxSettings(
            database=folder / "sandbox.sqlite",
            app_token="app-token",
            client_id="ridedash",
            client_secret="secret",
            clock=self.clock,
        )
        streets.grow()
        self.app = create_sandbox(settings)
        self.wire = httpx.Client(
            transport=httpx.WSGITransport(app=self.app), base_url="http://127.0.0.1:1"
        )
        self.http = Http(httpx.WSGITransport(app=self.app))
        self.client = RideClient(self.http, "http://127.0.0.1:1", "app-token")
        self.tokens = AccountTokens(self.db, self.vault, None, self.clock)
        self.user = mint_token(settings.database, "house")
        with self.db.write() as s:
            keep_tokens(
                s.get_one(Account, self.account_id), self.vault, self.user, None, None, self.clock()
            )

    def next(self, scenario: str) -> None:
        self.wire.post(
            "/control/next", json={"scenario": scenario}, headers={"X-Sandbox-Control": "1"}
        )

    def trip(self) -> Trip:
        last = cities()[0].places[-1]
        return Trip(place_named("grand-meridian"), "Hotel", last.position, last.name)

    def offered(self, category: str) -> int:
        """Add an offer like the picker's, with an upfront price's `fare_id`. Returns its id."""
        trip = self.trip()
        listed = self.client.products(trip.pickup, trip.drop, category, self.user)
        product = next(product for product in listed.products if product.category == category)
        fare_id = product.estimate.fare_id if product.estimate else None
        facts = product.model_dump(mode="json")
        priced = Priced(
            category, str(product.kind), category, product.currency, None, facts, fare_id=fare_id
        )
        owner = OfferOwner(self.property_id, self.actor, self.account_id)
        with self.db.write() as s:
            return add_offer(s, owner, trip, priced, self.clock()).id

    def ordered(self, worker: Worker, category: str) -> int:
        seats = 1 if category == "share" else None
        order_id = self.place(offer_id=self.offered(category), seats=seats)
        worker.step()
        return order_id

    def follow(
        self, worker: Worker, order_id: int, until: set[str], minutes: int = 180
    ) -> list[OrderPage]:
        """Run the worker until a status in `until`. Returns an order page for each new status."""
        seen: list[OrderPage] = []
        for _ in range(minutes * 6):
            worker.step()
            page = self.page(order_id)
            status = page.ride.status if page.ride else None
            if status and (not seen or seen[-1].ride.status != status):  # type: ignore[union-attr]
                seen.append(page)
            if status in until:
                return seen
            self.clock.go(10)  # each phase of a ride lasts longer than this
        raise AssertionError(
            f"no {until} in {minutes} minutes: {[page.ride.status for page in seen if page.ride]}"
        )

    def close(self) -> None:
        self.wire.close()
        self.app.extensions["sandbox"].close()
        super().close()


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[SandboxWorld]:
    made = SandboxWorld(tmp_path)
    yield made
    made.close()


def statuses(pages: list[OrderPage]) -> list[str | None]:
    return [page.ride.status for page in pages if page.ride]


def test_a_point_to_point_ride_from_the_press_to_the_invoice(sandbox: SandboxWorld) -> None:
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "mini")
        assert sandbox.state(order_id) == "BOOKED"
        pages = sandbox.follow(worker, order_id, {"COMPLETED"})
    assert statuses(pages) == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]
    here = next(page.ride for page in pages if page.ride and page.ride.status == "CLIENT_LOCATED")
    assert (otp_of(here, sandbox.vault) or "").isdigit()
    last = sandbox.ride(order_id)
    facts = Snapshot.model_validate(last.facts)
    assert last.otp_enc is None
    assert facts.vehicle_number
    assert facts.driver_name
    assert facts.price is not None
    assert facts.price.fare is not None
    assert sandbox.page(order_id).attention == ()


def test_a_shared_ride_that_has_to_wait_is_handed_over_and_ends_with_its_invoice_stored(
    sandbox: SandboxWorld,
) -> None:
    sandbox.next("share_retry")
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "share")
        assert sandbox.state(order_id) == "MATCHING"
        pages = sandbox.follow(worker, order_id, {"COMPLETED"})
    order = sandbox.page(order_id).order
    assert order.state == "BOOKED"
    assert order.booking_id
    assert order.txn_id
    assert statuses(pages)[-4:] == ["CLIENT_LOCATED", "INVOICE", "IN_PROGRESS", "COMPLETED"]
    names = [event.name for event in sandbox.page(order_id).events]
    assert names.count("handover") == 1
    facts = Snapshot.model_validate(sandbox.ride(order_id).facts)
    assert facts.route, "sent while riding only, and stored"
    assert facts.price is not None


def test_a_shared_ride_that_finds_no_match_has_failed(sandbox: SandboxWorld) -> None:
    sandbox.next("share_retry_fail")
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "share")
        sandbox.follow(worker, order_id, {"ALLOTMENT_FAILED"})
    assert (sandbox.state(order_id), sandbox.page(order_id).order.open) == ("FAILED", False)


def test_an_auto_whose_first_driver_cancels_comes_with_another(sandbox: SandboxWorld) -> None:
    sandbox.next("driver_cancels")
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "auto")
        pages = sandbox.follow(worker, order_id, {"COMPLETED"})
    seen = statuses(pages)
    assert "ALLOTMENT_RETRYING" in seen
    assert seen[-4:] == ["CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"]
    trip = Snapshot.model_validate(sandbox.ride(order_id).facts).trip
    assert trip is not None
    assert trip.payable_amount is not None, "sent with the invoice only, and stored"
    assert trip.cash_paid is not None


def test_no_driver_at_all_ends_the_order(sandbox: SandboxWorld) -> None:
    sandbox.next("no_cab")
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "mini")
        pages = sandbox.follow(worker, order_id, {"ALLOTMENT_FAILED"})
    assert set(statuses(pages)) <= {"ALLOTMENT_PENDING", "ALLOTMENT_FAILED"}
    assert not sandbox.page(order_id).order.open


@pytest.mark.parametrize(
    ("until", "action"), [("ALLOTMENT_PENDING", "abort"), ("CALL_DRIVER", "cancel")]
)
def test_a_ride_can_be_stopped_before_and_after_a_driver_came(
    sandbox: SandboxWorld, until: str, action: str
) -> None:
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "mini")
        sandbox.follow(worker, order_id, {until})
        means: tuple[Any, ...] = (
            sandbox.runtime,
            order_id,
            sandbox.actor,
        )
        more = ("guest left",) if action == "cancel" else ()
        assert getattr(request, action)(*means, *more).outcome == "done"
        sandbox.follow(worker, order_id, {"BOOKING_CANCELLED"}, minutes=2)
    assert not sandbox.page(order_id).order.open


def test_a_cancel_armed_while_matching_is_sent_when_the_match_comes(sandbox: SandboxWorld) -> None:
    sandbox.next("share_retry")
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "share")
        request.arm_cancel(sandbox.db, sandbox.clock, order_id, sandbox.actor, "changed mind")
        sandbox.follow(worker, order_id, {"BOOKING_CANCELLED"})
    assert [action.state for action in sandbox.page(order_id).actions] == ["done"]


def test_an_answer_that_is_cut_after_the_booking_was_made_is_unknown(sandbox: SandboxWorld) -> None:
    fault = {"operation": "create", "fault": "html", "times": 1}
    sandbox.wire.post("/control/faults", json=fault, headers={"X-Sandbox-Control": "1"})
    with sandbox.worker() as worker:
        order_id = sandbox.ordered(worker, "mini")
    assert sandbox.state(order_id) == "UNKNOWN"
