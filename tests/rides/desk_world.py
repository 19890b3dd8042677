"""A small desk to test with: a database, a property, a clock that is set by hand, and a service
that obeys.
"""

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import Placed, place
from ridedash.rides.runtime import Failpoint, Runtime, no_failpoint
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.oauth import OAuthClient
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Http
from ridedash.service_time import at_pace
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.actors import Actor, by_staff
from ridedash.store.database.database import Database
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from ridedash.store.orders import Order, OrderPage, Ride, order_page
from ridedash.store.properties import add_property, add_staff
from tests.databases import new_database

START = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
PICKUP, DROP = LatLng(-38.5, -128.0), LatLng(-38.52, -128.03)
KEYS = "k1:" + new_key()


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class FakeService:
    """A stand-in for the service: tests choose its answers; `bookings` is what it really booked."""

    def __init__(self) -> None:
        self.bookings: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.tokens = {"good"}
        # these answer the next creates, one each
        self.create: list[Callable[[dict[str, Any]], httpx.Response]] = []
        # the answers by booking_id or txn_id; the last one is repeated
        self.tracks: dict[str, list[dict[str, Any]]] = {}
        # by last word of the path: bodies or exceptions for the next calls
        self.answers: dict[str, list[Any]] = {}
        # the answer to a request for prices, made from its query; None: `answers` has it
        self.products: Callable[[dict[str, Any]], Any] | None = None
        self.refreshes = 0
        self._numbers = itertools.count(1)

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rsplit("/", 1)[-1]
        if name == "token":
            return self.token()
        body = json.loads(request.content) if request.content else dict(request.url.params)
        self.calls.append((name, body))
        if request.headers.get("authorization", "")[7:] not in self.tokens:
            return httpx.Response(401, json={"status": "FAILURE", "message": "token"})
        if name == "create":
            return (self.create.pop(0) if self.create else self.booked)(body)
        if name == "track_ride":
            return self.tracked(body.get("booking_id") or body["txn_id"])
        answer = (
            self.answers[name].pop(0)
            if self.answers.get(name)
            else {"status": "SUCCESS", "code": "SUCCESS"}
        )
        if name == "products" and self.products:
            answer = self.products(body)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def token(self) -> httpx.Response:
        self.refreshes += 1
        self.tokens = {f"fresh-{self.refreshes}"}
        body = {
            "access_token": f"fresh-{self.refreshes}",
            "refresh_token": "again",
            "expires_in": 3600,
        }
        return httpx.Response(200, json={**body, "token_type": "Bearer"})

    def make(self, body: dict[str, Any]) -> str:
        booking_id = f"C{next(self._numbers)}"
        self.bookings.append({"booking_id": booking_id, "mtx": body["merchant_txn_id"]})
        return booking_id

    def booked(self, body: dict[str, Any]) -> httpx.Response:
        facts = {
            "status": "SUCCESS",
            "booking_id": self.make(body),
            "merchant_txn_id": body["merchant_txn_id"],
        }
        return httpx.Response(
            200, json={**facts, "booking_timeout": 240, "booking_timeout_unit": "SECONDS"}
        )

    def matching(self, body: dict[str, Any]) -> httpx.Response:
        retry = {
            "booking_timeout": 180,
            "booking_timeout_unit": "SECONDS",
            "next_retry_time": "14:02:30",
        }
        return httpx.Response(
            200, json={"status": "SUCCESS", "booking_id": None, "txn_id": "T1", "retry": retry}
        )

    def lost_answer(self, body: dict[str, Any]) -> httpx.Response:
        self.make(body)
        raise httpx.ReadTimeout("no answer")

    def unreachable(self, body: dict[str, Any]) -> httpx.Response:
        raise httpx.ConnectError("refused")

    def tracked(self, key: str) -> httpx.Response:
        answers = self.tracks.get(key)
        if answers is None:
            return httpx.Response(
                200, json={"status": "FAILURE", "code": "NO_BOOKING", "message": "no such booking"}
            )
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if "raise" in answer:
            raise answer["raise"]
        return httpx.Response(
            200, json={"status": "SUCCESS", "request_type": "TRACK_RIDE", **answer}
        )

    def count(self, name: str) -> int:
        return sum(call == name for call, _ in self.calls)


class World:
    """Everything wired together on one database: a fresh one unless its address is given."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        self.folder, self.clock, self.service = folder, Clock(), FakeService()
        folder.mkdir(parents=True, exist_ok=True)
        self.db = Database(database or new_database(folder))
        self.vault = TokenVault(KEYS)
        self.http = Http(transport=self.service.transport())
        by_hand = Traffic(math.inf, monotonic=lambda: self.clock().timestamp(), pause=self.pause)
        self.client = RideClient(self.http, "http://127.0.0.1:1", "app-token", traffic=by_hand)
        self.oauth = OAuthClient(
            self.http, "http://127.0.0.1:1/a", "http://127.0.0.1:1/token", "id", "secret", ""
        )
        self.tokens = AccountTokens(self.db, self.vault, self.oauth, self.clock)
        self.numbers = itertools.count(1)
        now = self.clock()
        with self.db.write() as s:
            self.property_id = add_property(s, "Grand Meridian Hotel", "Asia/Kolkata", now).id
            self.staff_id = add_staff(
                s, self.property_id, "Desk Otter", "hash", "concierge", now
            ).id
            account = add_account(s, self.vault, self.property_id, "House", "good", now)
            keep_tokens(account, self.vault, "good", "again", None, now)
            self.account_id = account.id

    def pause(self, seconds: float) -> None:
        """Wait by the world's clock, or in real time if that clock can't be moved."""
        getattr(self.clock, "go", time.sleep)(seconds)

    @contextmanager
    def worker(
        self, *, pace: float = 1.0, failpoint: Failpoint = no_failpoint, **options: Any
    ) -> Iterator[Worker]:
        journal = AnswerJournal(self.folder / "box", slots=4)
        runtime = replace(self.runtime, time=at_pace(pace), failpoint=failpoint)
        try:
            yield Worker(runtime, journal, **options)
        finally:
            journal.close()

    @property
    def actor(self) -> Actor:
        return by_staff(self.staff_id)

    @property
    def runtime(self) -> Runtime:
        return Runtime(self.db, self.client, self.tokens, self.clock)

    def offer(self, kind: str = "point_to_point", category: str = "mini", **options: Any) -> int:
        trip = options.pop("trip", None) or Trip(PICKUP, "Lobby", DROP, "Airport")
        currency = options.pop("currency", "INR")
        priced = Priced(
            category, kind, category.title(), currency, "₹240", {"category": category}, **options
        )
        with self.db.write() as s:
            owner = OfferOwner(self.property_id, self.actor)
            return add_offer(s, owner, trip, priced, self.clock()).id

    def request(self, **facts: Any) -> BookingRequest:
        kind = facts.pop("kind", "point_to_point")
        number = next(self.numbers)
        given = {
            "property_id": self.property_id,
            "actor": self.actor,
            "account_id": self.account_id,
            "form_token": f"token-{number}",
            "guest_name": f"Guest {number}",
            "seats": 1 if kind == "share" else None,
        }
        if "offer_id" not in facts:
            category = {"share": "share", "auto": "auto"}.get(kind, "mini")
            facts["offer_id"] = self.offer(kind, category)
        if facts.get("override_guard") and "second_to" not in facts:
            facts["second_to"] = tuple(order.id for order in self.orders())
        return BookingRequest(**{**given, **facts})

    def place(self, **facts: Any) -> int:
        return self.placed(**facts).order_id

    def placed(self, **facts: Any) -> Placed:
        return place(self.db, self.clock, self.request(**facts))

    def book(self, worker: Worker, **facts: Any) -> int:
        """Place an order and do one round of the worker, which sends it and may poll its ride."""
        order_id = self.place(**facts)
        worker.step()
        return order_id

    def page(self, order_id: int) -> OrderPage:
        with self.db.read() as s:
            page = order_page(s, self.property_id, order_id)
        assert page is not None
        return page

    def state(self, order_id: int) -> str:
        return self.page(order_id).order.state

    def orders(self) -> list[Order]:
        with self.db.read() as s:
            return list(s.scalars(select(Order).order_by(Order.id)))

    def ride(self, order_id: int) -> Ride:
        ride = self.page(order_id).ride
        assert ride is not None
        return ride

    def close(self) -> None:
        self.http.close()
        self.db.close()


def request_of(**facts: Any) -> BookingRequest:
    """A request of a booking form that no database has seen."""
    given: dict[str, Any] = {
        "property_id": 1,
        "actor": by_staff(1),
        "account_id": 1,
        "offer_id": 1,
        "form_token": "token",
        "guest_name": "Guest Heron",
    }
    return BookingRequest(**{**given, **facts})
