"""Orders for tests of the pages: in each state, of each kind, and with unusual facts."""

import itertools
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.security import generate_password_hash

from ridedash.factory import create_app
from ridedash.store import accounts, audit, properties, sign_ins
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import OrderState
from ridedash.store.models.people import Guest
from ridedash.store.orders import Action, Attention, Heartbeat, Offer, Order, Ride, TimelineEvent
from tests.databases import new_database

SPACE = "[ \t\n\r\f]+"  # white space of HTML, without the no-break space
SPACE_BESIDE_TAGS = re.compile(f"(?<=>){SPACE}|{SPACE}(?=[<>])")
NOON = datetime(2026, 5, 4, 8, 30, tzinfo=UTC)  # 14:00 in Kolkata
PASSWORD = "a long enough password"
HASH = generate_password_hash(PASSWORD, method="scrypt:1024:8:1")  # cheap: tests sign in often
PICKUP = {"lat": -38.5, "lng": -128.0}
STATUSES = {
    "point_to_point": [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
        "COMPLETED",
    ],
    "share": [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
        "COMPLETED",
    ],
    "auto": ["PENDING", "ALLOTMENT_RETRYING", "CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"],
}
ENDS = ["ALLOTMENT_FAILED", "BOOKING_CANCELLED"]
SNAPSHOT_BYTES = 1_950  # the most of a snapshot on the wire, before compression
ORDER_STATES = [str(state) for state in OrderState]


def compact(page: str) -> str:
    """The markup of a page as one line, without the white space that templates put beside tags."""
    return re.sub(SPACE, " ", SPACE_BESIDE_TAGS.sub("", page))


def without_tokens(text: str) -> str:
    """A page without its row numbers and tokens, in which any few digits may stand by chance."""
    return re.sub(r"[\w-]{15,}", "", text)


@dataclass
class Desk:
    """An app with two properties, staff in both, and a clock for tests."""

    app: Flask
    now: datetime = NOON
    ids: dict[str, int] = field(default_factory=dict)
    counter: itertools.count = field(default_factory=lambda: itertools.count(1))  # type: ignore[type-arg]

    @property
    def services(self) -> Any:
        return self.app.extensions["ridedash"]

    def close(self) -> None:
        self.services.db.close()

    def client(self, signed_in: bool = True, name: str = "desk") -> FlaskClient:
        """A browser; signed in as the front desk by default.

        The sign-in is written into the database. The form, which tests/views/auth tests, would take
        a good part of a short test's time, for its page and its slow hash of the password.
        """
        client = self.app.test_client()
        if signed_in:
            with self.services.db.write() as s:
                staff = properties.find_staff(s, name)
                assert staff is not None
                sid = sign_ins.open_sign_in(s, staff.id, self.services.clock())
                facts = {"property_id": staff.property_id}
                who, subject = by_staff(staff.id), f"staff:{staff.id}"
                audit.record(s, who, "sign_in", subject, "ok", self.services.clock(), **facts)
            with client.session_transaction() as session:
                session["sid"] = sid
        return client

    def add(self, rows: Callable[[Any], None]) -> None:
        with self.services.db.write() as s:
            rows(s)

    def order(
        self,
        state: str = "BOOKED",
        status: str | None = None,
        kind: str = "point_to_point",
        **facts: Any,
    ) -> int:
        """An order in a state, with a ride in a status when one is given; returns its id."""
        with self.services.db.write() as s:
            order = _order(self, s, state, kind, facts)
            if status is not None or facts.get("ride"):
                _ride(self, s, order, status, kind, facts)
            for name in facts.get("attention", ()):
                s.add(
                    Attention(
                        property_id=order.property_id,
                        order_id=order.id,
                        name=name,
                        detail=None,
                        raised_at=self.now,
                        cleared_at=None,
                    )
                )
            for name, action_state, extra in facts.get("actions", ()):
                s.add(action_row(order, name, action_state, self.now, extra))
            return int(order.id)


REFUSING_PORT: Final = "9"


def make_desk(folder: Path, **settings: str) -> Desk:
    """A migrated database with a property, another one, and a member of staff in each."""
    held: list[Desk] = []
    environ = {
        "RIDEDASH_INSTANCE": str(folder),
        "RIDEDASH_DATABASE_URL": new_database(folder),
        "RIDEDASH_POLL_LAYER": "off",  # tests write to the database directly
        # nothing listens there; a demo that is running may have the usual port
        "RIDEDASH_SANDBOX_PORT": REFUSING_PORT,
        **{f"RIDEDASH_{k}": v for k, v in settings.items()},
    }
    app = create_app(environ, clock=lambda: held[0].now)
    desk = Desk(app)
    held.append(desk)
    with desk.services.db.write() as s:
        for name, who in (("Grand Meridian Hotel", "desk"), ("Other House", "other")):
            prop = properties.add_property(
                s, name, "Asia/Kolkata", NOON, country="IN", currency="INR", phone="+910000000000"
            )
            staff = properties.add_staff(s, prop.id, f"Concierge {who}", HASH, "concierge", NOON)
            staff.sign_in_name = who
            account = accounts.add_account(
                s, desk.services.vault, prop.id, "House account", "token", NOON
            )
            desk.ids |= {who: staff.id, f"{who}.property": prop.id, f"{who}.account": account.id}
        s.add(Heartbeat(worker="w", beat_at=NOON))
    return desk


def token(client: FlaskClient) -> str:
    """A CSRF token of the browser's session, as its pages have one; no page is made for it."""
    with client.session_transaction() as session:
        secret = session.setdefault("csrf_token", secrets.token_hex(20))
    key = client.application.secret_key
    assert key
    return URLSafeTimedSerializer(key, salt="wtf-csrf-token").dumps(secret)


def token_of_page(client: FlaskClient, path: str) -> str:
    """The CSRF token that a page has, for tests in which the page has to be opened first."""
    text = client.get(path).text
    return text.split('name="csrf-token" content="')[1].split('"')[0]


def snapshot_facts(kind: str, status: str | None, **more: Any) -> dict[str, Any]:
    """Merged facts as the worker stores them."""
    facts: dict[str, Any] = {"pickup": [-38.5, -128.0], "drop": [-38.48, -127.97]}
    if status in ("CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS", "COMPLETED"):
        facts |= {
            "position": [-38.505, -128.004],
            "bearing": 73.0,
            "speed": 22.0,
            "driver_name": "Driver Cedar",
            "driver_number": "+91 00000 12345",
            "driver_rating": "4.7",
            "vehicle_type": "mini",
            "car_model": "Tata Tiago",
            "vehicle_number": "KA01AB1234",
            "vehicle_color": "white",
            "eta": {"seconds": 240},
            "distance": {"metres": 1450},
        }
    if kind == "auto":
        facts |= _auto_facts(status)
    elif status in ("CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS", "COMPLETED"):
        facts["price"] = {
            "fare": "210",
            "service_tax": "18.50",
            "toll_charges": "35",
            "discount_value": "23.50",
            "discount_percentage": "10",
        }
    if kind == "share" and "position" in facts:
        facts["route"] = [
            {"name": "Guest Heron", "state": "pickup", "position": [-38.5, -128.0]},
            {"name": "Rider Wren", "state": "pickup", "position": [-38.494, -127.99]},
            {"name": "Rider Wren", "state": "drop", "position": [-38.485, -127.98]},
            {"name": "Guest Heron", "state": "drop", "position": [-38.48, -127.97]},
        ]
    return facts | more


def _auto_facts(status: str | None) -> dict[str, Any]:
    bill = {
        "billing_enabled": True,
        "discount": "10",
        "advance": "0",
        "convenience_charge": "15",
        "amount": "181",
        "distance": {"metres": 7200},
        "night_charges_applied": True,
        "night_charge_ratio": "1.5",
    }
    if status == "INVOICE":
        return {
            "trip": bill | {"payable_amount": "186", "trip_time": {"seconds": 1380}},
            "svc_money_balance": "42.5",
        }
    if status == "COMPLETED":
        return {
            "trip": bill | {"cash_paid": "186", "ride_time": {"seconds": 1380}},
            "svc_money_balance": "42.5",
        }
    return {}


def action_row(
    order: Order, name: str, state: str, now: datetime, extra: Mapping[str, Any]
) -> Action:
    base = {
        "payload": {},
        "calls": 1,
        "called_at": now,
        "settled_at": now,
        "next_try_at": None,
        "code": None,
        "header": None,
        "text": None,
    }
    return Action(
        property_id=order.property_id,
        staff_id=order.staff_id,
        account_id=order.account_id,
        order_id=order.id,
        name=name,
        state=state,
        made_at=now,
        **(base | dict(extra)),
    )


def _product(category: str, kind: str) -> dict[str, Any]:
    """A product that the service offered, as it is stored; each reader gets words for its price."""
    estimate = {"amount_min": "210", "amount_max": "260"}
    return {
        "category": category,
        "display_name": category.title(),
        "kind": kind,
        "currency": "INR",
        "estimate": estimate,
    }


def _order(desk: Desk, s: Any, state: str, kind: str, facts: dict[str, Any]) -> Order:
    who, n = facts.get("prop", "desk"), next(desk.counter)
    property_id, staff, account = (
        desk.ids[f"{who}.property"],
        desk.ids[who],
        desk.ids[f"{who}.account"],
    )
    guest = Guest(
        property_id=property_id,
        staff_id=staff,
        name=facts.get("guest", "Guest Heron"),
        phone=facts.get("phone", "+910000012345"),
        room=facts.get("room", "412"),
        language=facts.get("language"),
        created_at=desk.now,
    )
    category = {"share": "share", "auto": "auto"}.get(kind, "mini")
    offer = Offer(
        property_id=property_id,
        staff_id=staff,
        account_id=account,
        pickup_lat=-38.5,
        pickup_lng=-128.0,
        pickup_name=facts.get("pickup_name", "Grand Meridian Hotel, main door"),
        drop_lat=facts.get("drop_lat", -38.48),
        drop_lng=facts.get("drop_lng", -127.97),
        drop_name=facts.get("drop_name", "Meridian Airport, Departures"),
        category=category,
        kind=kind,
        display_name=facts.get("display_name", category.title()),
        currency=facts.get("currency", "INR"),
        price_text=facts.get("price_text", "meter fare, about ₹210–260"),
        product=facts.get("product", _product(category, kind)),
        fare_id=None,
        seat_prices=facts.get("seat_prices", {"1": "96", "2": "140"} if kind == "share" else {}),
        cancellation=facts.get(
            "cancellation", {"charge": "30", "currency": "INR", "applies_after": {"seconds": 300}}
        ),
        fetched_at=desk.now,
        signature="x",
    )
    s.add_all([guest, offer])
    s.flush()
    sent = desk.now - timedelta(seconds=facts.get("age_s", 42))
    extra = {
        "code": None,
        "message": None,
        "resolved_at": None,
        "booking_timeout_at": None,
        "next_retry": None,
        "txn_id": None,
        "late_double": False,
        "supersedes": None,
        "resolve_reason": None,
        "resolved_by": None,
        "note": "Two suitcases",
        "guest_until": desk.now + timedelta(hours=3) if state == "WAITING" else None,
        "ceiling_minor": 30_000 if state == "WAITING" else None,
        "started_by": None,
        "held_at": None,
    }
    booked = state == "BOOKED"
    order = Order(
        property_id=property_id,
        staff_id=staff,
        account_id=account,
        guest_id=guest.id,
        offer_id=offer.id,
        room=guest.room,
        form_token=f"t{n}",
        form_digest="d",
        mtx=f"GMH-20260504-{n:04d}-7Q2K",
        body="{}",
        body_digest="d",
        seats=1 if kind == "share" else None,
        payment=facts.get("payment", "cash"),
        category=category,
        kind=kind,
        state=state,
        version=3,
        created_at=sent,
        due_at=sent,
        ready_at=sent,
        sent_at=None if state == "READY" else sent,
        attempt=1,
        owner=None,
        lease_until=None,
        reauthorised=False,
        throttled=False,
        booking_id=f"CRN{n:06d}" if booked and not facts.get("txn") else None,
        booking_timeout_s=90.0,
        http_status=None,
        evidence=None,
        guard_key=None,
        guard_override_by=None,
        open=False,
        **(extra | {k: v for k, v in facts.items() if k in extra}),
    )
    s.add(order)
    s.flush()
    return order


def _ride(
    desk: Desk, s: Any, order: Order, status: str | None, kind: str, facts: dict[str, Any]
) -> None:
    base: dict[str, Any] = {
        "reported": None,
        "retried": False,
        "otp_enc": None,
        "back_status": None,
        "previous_plate": None,
        "swapped_at": None,
        "allotted_at": desk.now - timedelta(seconds=60),
        "ended_at": None,
        "position_at": desk.now,
        "seen_at": desk.now - timedelta(seconds=2),
        "next_poll_at": desk.now,
        "interval_s": 4.0,
        "facts": snapshot_facts(kind, status),
    }
    ride = Ride(
        property_id=order.property_id,
        staff_id=order.staff_id,
        account_id=order.account_id,
        order_id=order.id,
        kind=kind,
        booking_id=order.booking_id,
        txn_id=order.txn_id,
        status=status,
        created_at=desk.now,
        poll_seq=4,
        merged_seq=4,
        lease_until=None,
        owner=None,
        errors=0,
        poison=0,
        unknown_id=0,
        final_polls=0,
        **(base | facts.get("ride", {})),
    )
    s.add(ride)
    s.flush()
    if facts.get("otp"):
        ride.otp_enc = desk.services.vault.encrypt(facts["otp"], "rides", ride.id, "otp")
    _timeline(desk, s, order, status, kind, facts)


def _timeline(
    desk: Desk, s: Any, order: Order, status: str | None, kind: str, facts: dict[str, Any]
) -> None:
    in_order = STATUSES[kind]
    reached = in_order[:1]
    if status in in_order:
        reached = in_order[: in_order.index(status) + 1]
    elif status:
        reached = [*reached, status]
    if kind == "point_to_point" and status != "INVOICE":
        reached = [name for name in reached if name != "INVOICE"]
    if kind == "auto" and status != "ALLOTMENT_RETRYING":
        reached = [name for name in reached if name != "ALLOTMENT_RETRYING"]
    for i, name in enumerate(reversed(reached)):
        at = desk.now - timedelta(seconds=facts.get("in_state_s", 45) + 150 * i)
        s.add(
            TimelineEvent(
                property_id=order.property_id,
                order_id=order.id,
                what="ride",
                name=name,
                detail=None,
                at=at,
            )
        )
