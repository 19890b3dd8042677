"""A kiosk at the property of the desk in tests/views/booking, and what guests do on it."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from ridedash.extensions import limiter
from ridedash.store.kiosks import begin
from ridedash.store.models.kiosks import Kiosk, KioskKind, KioskVisit, Ticket
from ridedash.store.orders import Order, OrderPage, order_page
from ridedash.views.web.devices import cookie_name
from tests.views.booking.test_pages import Desk
from tests.views.booking.test_pages import desk as _desk

__all__ = ["desk", "lobby"]
desk = _desk
DROP = {"drop_lat": "-38.55", "drop_lng": "-128.06", "drop_name": "Airport"}
VISITS = itertools.count(1)


@dataclass
class Lobby:
    """A paired kiosk and its browser."""

    desk: Desk
    client: FlaskClient
    id: int
    visit: str = "v" * 32
    token: str = "t" * 32
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def services(self) -> Any:
        return self.desk.app.extensions["ridedash"]

    def next_guest(self) -> None:
        """Another guest comes: a new visit, a new page with its own form token."""
        number = next(VISITS)
        self.visit, self.token = f"visit-{number:026}", f"token-{number:026}"

    def post(self, what: str, **form: Any) -> dict[str, Any]:
        """The answer to a form of this visit."""
        data = {"visit": self.visit, "lang": "en"} | form
        answer = self.client.post(f"/kiosk/{what}", data=data)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        return dict(answer.get_json())

    def cars(self, **form: Any) -> dict[str, Any]:
        return self.post("cars", **(DROP | form))

    def offer(self, name: str = "Mini", **form: Any) -> int:
        """The id of the offer that the kiosk shows now for a car."""
        return int(next(car["offer"] for car in self.cars(**form)["cars"] if car["name"] == name))

    def order(self, **form: Any) -> dict[str, Any]:
        """A press of Book; the fields are as the page sends them."""
        given = {"form_token": self.token, "name": "Ana", "phone": "", "seats": "", "code": ""}
        if "offer" not in form:
            form["offer"] = self.offer()
        return self.post("order", **(given | form))

    def set(self, **facts: Any) -> None:
        with self.services.db.write() as s:
            for name, value in facts.items():
                setattr(s.get_one(Kiosk, self.id), name, value)

    def orders(self) -> list[Order]:
        return self.desk.orders()

    def ride(self, number: int) -> int:
        """The id of the order that was made as this number of all, from 1."""
        return self.desk.ride(number)

    def page(self, order_id: int) -> OrderPage:
        with self.services.db.read() as s:
            found = order_page(s, s.get_one(Order, order_id).property_id, order_id)
        assert found is not None
        return found

    def become(self, order_id: int, state: str, code: str | None = None) -> None:
        """Give an order a state, with the columns that the worker would set."""
        with self.services.db.write() as s:
            order = s.get_one(Order, order_id)
            order.state, order.code, order.version = state, code, order.version + 1
            order.open = state in ("READY", "SENDING", "UNKNOWN", "MATCHING", "BOOKED")
            if state == "BOOKED":
                order.booking_id = f"C{order_id}"

    def visits(self) -> list[KioskVisit]:
        with self.services.db.read() as s:
            return list(s.scalars(select(KioskVisit).order_by(KioskVisit.began_at)))

    def tickets(self) -> list[Ticket]:
        with self.services.db.read() as s:
            return list(s.scalars(select(Ticket).order_by(Ticket.id)))


@pytest.fixture
def lobby(desk: Desk) -> Lobby:
    """A kiosk at the property's usual pickup, with the rule that guests pay the driver."""
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        row = Kiosk(property_id=1, kind="kiosk", name="Lobby", rule="driver", made_at=desk.now)
        s.add(row)
        s.flush()
        token = begin(row, desk.now)
        made = Lobby(desk, desk.app.test_client(), row.id)
    desk.app.config["WTF_CSRF_ENABLED"] = False  # test_device.py tests the tokens
    with desk.app.test_request_context():
        limiter.reset()
        name = cookie_name(KioskKind.KIOSK)
    made.client.set_cookie(name, token, secure=name.startswith("__Host-"))
    return made
