"""PostgreSQL crashes while orders are sent: none is lost, none is sent without a stored claim."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient
from sqlalchemy.exc import SQLAlchemyError

from ridedash.factory import create_app
from ridedash.rides.orders.place import place
from ridedash.rides.worker import Worker
from ridedash.store.database.database import Database, DatabaseBusy
from tests.backing import PostgresServer, postgres_server
from tests.rides.desk_world import World

STOPS = 3


@pytest.fixture
def server(postgres: str) -> Iterator[PostgresServer]:
    """A database server for one test, which stops and starts it."""
    with postgres_server() as made:
        db = Database(made.url())
        db.upgrade()
        db.close()
        yield made


def step(worker: Worker) -> None:
    """Run one round of a worker; errors of the database don't end the test."""
    with contextlib.suppress(DatabaseBusy, SQLAlchemyError):
        worker.step()


def test_orders_outlive_a_server_that_stops_while_they_are_sent(
    server: PostgresServer, tmp_path: Path
) -> None:
    world = World(tmp_path, server.url())

    def stops(body: dict[str, Any]) -> httpx.Response:
        server.stop(immediate=True)
        return world.service.booked(body)

    with world.worker() as worker:
        for number in range(STOPS):
            order_id = world.place()
            request = world.request()
            world.service.create.append(stops)
            step(worker)
            with pytest.raises(DatabaseBusy):
                place(world.db, world.clock, request)
            step(worker)
            assert world.service.count("create") == 2 * number + 1, "no send without T2"
            server.start()
            assert world.state(order_id) == "SENDING"
            world.clock.go(16)
            step(worker)
            assert world.state(order_id) == "BOOKED", "the answer was in the journal"
            again = place(world.db, world.clock, request)
            assert again.created, "the refused press had written nothing"
            step(worker)
            assert world.state(again.order_id) == "BOOKED"
    assert [order.booking_id for order in world.orders()] == [
        each["booking_id"] for each in world.service.bookings
    ]
    world.close()


def test_pages_say_when_to_come_back_and_work_again_without_a_restart(
    server: PostgresServer, tmp_path: Path
) -> None:
    environ = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_DATABASE_URL": server.url()}
    app = create_app(environ | {"RIDEDASH_SERVICE_URL": "http://127.0.0.1:9"})
    browser = app.test_client()
    for _ in range(STOPS):
        assert signed_in(browser) == (401, None)
        server.stop(immediate=True)
        assert signed_in(browser) == (503, "5")
        assert browser.get("/readyz").status_code == 503
        server.start()
    assert signed_in(browser) == (401, None)
    app.extensions["ridedash"].db.close()


def signed_in(browser: FlaskClient) -> tuple[int, str | None]:
    """Sign in with an unknown name, which needs the database. Returns status and Retry-After."""
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get("/sign-in").text)
    assert found
    form = {"name": "nobody", "password": "no password", "csrf_token": found[1]}
    answer = browser.post("/sign-in", data=form)
    return answer.status_code, answer.headers.get("Retry-After")
