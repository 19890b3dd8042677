"""A whole property in one process: web app, one worker, and a service that a row controls.

A row is a test of the fault matrix (docs/reliability.md 2).
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx
import pytest
from flask.testing import FlaskClient
from sqlalchemy import event, select
from werkzeug.security import generate_password_hash

from bench.faults.scoreboard import SQLITE, Missing
from ridedash.extensions import Services, limiter
from ridedash.factory import create_app
from ridedash.places import SandboxPlaces
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import place
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.oauth import OAuthClient
from ridedash.service.throttle.traffic import Permit, Priority, Result, Traffic
from ridedash.service.transport.http import Answer, Http, Request
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.actors import Actor, by_staff
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import Order, OrderPage, Ride, order_page
from ridedash.store.properties import add_property, add_staff
from tests.databases import new_database
from tests.rides.desk_world import DROP, PICKUP, Clock, FakeService
from tests.service.bodies import PRODUCTS

NOWHERE: Final = "http://127.0.0.1:9"
PASSWORD: Final = "a long enough password"
# A cheap hash: rows sign in often.
HASH: Final = generate_password_hash(PASSWORD, method="scrypt:1024:8:1")
APP_TOKEN: Final = "partner-key-of-the-bench"
STAFF: Final = ("Desk Otter", "Desk Heron")
Play = Callable[[httpx.Request], httpx.Response]


class Service(FakeService):
    """A service that the row controls; `products` is the body of its answers about products."""

    def __init__(self) -> None:
        super().__init__()
        self.products: dict[str, Any] = PRODUCTS

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one call."""
        name = request.url.path.rsplit("/", 1)[-1]
        if name == "products":
            self.calls.append((name, dict(request.url.params)))
            return httpx.Response(200, json=self.products)
        if name.endswith(".json"):
            return httpx.Response(
                200, json={"places": [], "cities": [], "street": "", "area": "", "place": ""}
            )
        return super().handle(request)


class Hasty(Http):
    """Http with shorter timeouts."""

    def __init__(
        self, connect_s: float, total_s: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        super().__init__(transport)
        self.connect_s, self.total_s = connect_s, total_s

    def call(self, request: Request) -> Answer:
        """See Http.call."""
        connect_s = min(request.connect_s, self.connect_s)
        total_s = min(request.total_s, self.total_s)
        return super().call(replace(request, connect_s=connect_s, total_s=total_s))


def database_in(folder: Path, kind: str) -> str:
    """The URL of a fresh, migrated database of that kind. Raises Missing without its server."""
    try:
        return new_database(folder, of=kind)
    except pytest.skip.Exception as error:
        raise Missing(str(error)) from None


class OpenRoad(Traffic):
    """Traffic that throttles nothing, for rows with a thousand failures in a second."""

    def enter(self, priority: Priority, patience_s: float = 0.0) -> Permit:  # noqa: ARG002
        """Permit the call at once."""
        return Permit(priority, 0.0, 0)

    def settle(self, permit: Permit, result: Result, retry_after_s: float | None = None) -> None:
        """Record nothing."""

    def capacity(self, priority: Priority = Priority.REST) -> int:  # noqa: ARG002
        """Unlimited capacity."""
        return 10_000


class Shop:
    """One property with two members of staff and one account.

    `play` answers calls; without it, real sockets to `address` do. `durable=False` lets SQLite skip
    its syncs, for rows without a power cut.
    """

    def __init__(
        self,
        folder: Path,
        play: Play | None = None,
        *,
        url: str = "",
        address: str = NOWHERE,
        http: Http | None = None,
        durable: bool = True,
    ) -> None:
        self.folder, self.address, self.clock = folder, address, Clock()
        folder.mkdir(parents=True, exist_ok=True)
        environ = {
            "INSTANCE": str(folder / "instance"),
            "DATABASE_URL": url or database_in(folder, SQLITE),
        }
        environ |= {"SERVICE_URL": address} if address.startswith("http://") else {}
        self.app = create_app(
            {f"RIDEDASH_{name}": value for name, value in environ.items()}, clock=self.clock
        )
        self.http = http or Http(httpx.MockTransport(play) if play else None)
        self.journal = AnswerJournal(folder / "box", slots=64)
        if not durable and self.s.db.engine.dialect.name == SQLITE:
            event.listen(
                self.s.db.engine,
                "connect",
                lambda line, _: line.execute("PRAGMA synchronous=OFF").close(),
            )
        self._wire()
        self._people()
        self.presses = 0

    @property
    def s(self) -> Services:
        """The services of the app."""
        found: Services = self.app.extensions["ridedash"]
        return found

    @property
    def runtime(self) -> Runtime:
        """A Runtime of these services, with the clock of this Shop."""
        return Runtime(self.s.db, self.s.client, self.s.tokens, self.clock)

    def _wire(self) -> None:
        s = self.s
        token_url = f"{self.address}/oauth/token"
        s.oauth = OAuthClient(
            self.http, f"{self.address}/oauth/authorize", token_url, "id", "secret", ""
        )
        s.tokens = AccountTokens(s.db, s.vault, s.oauth, self.clock)
        s.geocoder = SandboxPlaces(self.http, self.address)
        s.client = self._client()
        self.worker = Worker(self.runtime, self.journal)

    def _client(self) -> RideClient:
        return RideClient(
            self.http, self.address, APP_TOKEN, pause=lambda _s: None, traffic=OpenRoad()
        )

    def forget(self) -> None:
        """Make a client for the current http and address, and reset the rate limits of pages."""
        fresh = self._client()
        self.s.client = fresh
        self.worker.runtime = runtime = replace(self.worker.runtime, client=fresh)
        self.worker.tracker = Tracker(runtime)
        for each in (self.worker.sender, self.worker.caller):
            each.runtime = runtime
        limiter.reset()

    def _people(self) -> None:
        now = self.clock()
        home = {"pickup_name": "Lobby", "pickup_lat": PICKUP.lat, "pickup_lng": PICKUP.lng}
        with self.s.db.write() as s:
            place_ = add_property(
                s, "Grand Meridian Hotel", "Asia/Kolkata", now, country="IN", currency="INR", **home
            )
            self.property_id = place_.id
            rows = [add_staff(s, place_.id, name, HASH, "manager", now) for name in STAFF]
            self.staff_ids = [row.id for row in rows]
            account = add_account(s, self.s.vault, place_.id, "House", "good", now)
            keep_tokens(account, self.s.vault, "good", "again", None, now)
            self.account_id = account.id

    @property
    def staff_id(self) -> int:
        """The member of staff who acts by default."""
        return self.staff_ids[0]

    @property
    def actor(self) -> Actor:
        """The member of staff who acts by default, as orders and the audit log name them."""
        return by_staff(self.staff_id)

    def browser(self, name: str = STAFF[0]) -> FlaskClient:
        """A signed-in browser."""
        client = self.app.test_client()
        facts = {
            "name": name,
            "password": PASSWORD,
            "csrf_token": csrf_of(client.get("/sign-in").text),
        }
        answer = client.post("/sign-in", data=facts)
        assert answer.status_code == 303, answer.text
        return client

    def offer(self, kind: str = "point_to_point", category: str = "mini", **options: Any) -> int:
        """Store an offer, as if its product card were shown now; returns its id."""
        priced = Priced(
            category, kind, category.title(), "INR", "₹240", {"category": category}, **options
        )
        owner = OfferOwner(self.property_id, self.actor)
        with self.s.db.write() as s:
            trip = Trip(PICKUP, "Lobby", DROP, "Airport")
            return add_offer(s, owner, trip, priced, self.clock()).id

    def form(self, page: str, **facts: Any) -> dict[str, str]:
        """The booking form as a browser posts it, with the token of `page`."""
        self.presses += 1
        hidden = {"csrf_token": csrf_of(page), "form_token": f"a-form-token-of-{self.presses:08d}"}
        trip = {
            "pickup_lat": str(PICKUP.lat),
            "pickup_lng": str(PICKUP.lng),
            "pickup": "Lobby",
            "drop": "Airport",
        }
        drop = {"drop_lat": str(DROP.lat), "drop_lng": str(DROP.lng)}
        guest = {"guest_name": f"Guest {self.presses}", "account": str(self.account_id)}
        return hidden | trip | drop | guest | {name: str(value) for name, value in facts.items()}

    def request(self, **facts: Any) -> BookingRequest:
        """The booking request of a press."""
        self.presses += 1
        kind = facts.pop("kind", "point_to_point")
        category = {"share": "share", "auto": "auto"}.get(kind, "mini")
        ids = {
            "property_id": self.property_id,
            "actor": self.actor,
            "account_id": self.account_id,
        }
        form = {
            "form_token": f"a-request-token-of-{self.presses:08d}",
            "guest_name": f"Guest {self.presses}",
        }
        offer_id = facts.pop("offer_id", None) or self.offer(kind, category)
        return BookingRequest(
            **{
                **ids,
                **form,
                "offer_id": offer_id,
                "seats": 1 if kind == "share" else None,
                **facts,
            }
        )

    def place(self, **facts: Any) -> int:
        """Make an order that is READY; returns its id."""
        return place(self.s.db, self.clock, self.request(**facts)).order_id

    def send(self, **facts: Any) -> int:
        """Make an order and send it; returns its id."""
        order_id = self.place(**facts)
        self.worker.sender.send(order_id)
        return order_id

    def page(self, order_id: int) -> OrderPage:
        """The order for a page, with all related rows."""
        with self.s.db.read() as s:
            page = order_page(s, self.property_id, order_id)
        assert page is not None
        return page

    def order(self, order_id: int) -> Order:
        """The row of the order."""
        return self.page(order_id).order

    def ride(self, order_id: int) -> Ride:
        """The row of the order's ride."""
        ride = self.page(order_id).ride
        assert ride is not None
        return ride

    def orders(self) -> list[Order]:
        """All orders, oldest first."""
        with self.s.db.read() as s:
            return list(s.scalars(select(Order).order_by(Order.id)))

    def close(self) -> None:
        """Close everything."""
        self.journal.close()
        self.http.close()
        self.s.db.close()


AnyShop = TypeVar("AnyShop", bound=Shop)


@contextmanager
def shop(folder: Path, play: Play | None = None, **options: Any) -> Iterator[Shop]:
    """A Shop, closed at the end."""
    with shop_of(Shop(folder, play, **options)) as made:
        yield made


@contextmanager
def shop_of(made: AnyShop) -> Iterator[AnyShop]:
    """Yields a given Shop, and closes it at the end."""
    limiter.reset()
    with _hushed("ridedash", "waitress.queue"):
        try:
            yield made
        finally:
            made.close()


@contextmanager
def _hushed(*names: str) -> Iterator[None]:
    """Silence the loggers during the block, except critical records: other errors are expected."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def csrf_of(page: str) -> str:
    """The CSRF token of a page."""
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found, page[:500]
    return unescape(found[1])
