"""Rides in minimal rows, which a tracker follows with given answers; what each round wrote."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import insert, inspect, select, update
from sqlalchemy.orm import Session

from ridedash.rides.accounts.tokens import (
    AccountTokens,
    NeedsReconnect,
    NoRefreshNow,
    TokenUnreadable,
)
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking.poll import Tracker
from ridedash.service.errors import NoAnswer, Throttled
from ridedash.service.transport.http import Answer
from ridedash.service_time import at_pace
from ridedash.store.accounts import add_account
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.orders import Action, Attention, Offer, Order, Ride, TimelineEvent
from ridedash.store.models.people import Guest
from ridedash.store.properties import add_property

START: Final = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
BLANK: Final[dict[type, Any]] = {str: "", int: 0, float: 0.0, bool: False, dict: {}}
NOT_CALLED: Final[dict[str, Exception]] = {
    "timeout": NoAnswer("timeout", sent=True),
    "silent": Throttled(Throttled.SILENT, 7.0),
    "limited": Throttled(Throttled.LIMITED, 0.1),
    "reconnect": NeedsReconnect("account"),
    "no refresh": NoRefreshNow("account"),
    "unreadable token": TokenUnreadable("account"),
}
ANSWERS: Final = {
    "refused": Answer(
        200, {}, b'{"status": "FAILURE", "code": "NO_BOOKING", "message": "no such booking"}'
    ),
    "429": Answer(429, {"retry-after": "20"}, b""),
    "500": Answer(500, {}, b"oops"),
    "html": Answer(200, {}, b"<html>"),
}


@dataclass
class Service:
    """Answers track_ride by id, with a body or {"error": a name in NOT_CALLED or ANSWERS}."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def track_answer(
        self, _token: str, *, booking_id: str | None, txn_id: str | None, **_: Any
    ) -> Answer:
        body = self.answers[booking_id or txn_id or ""]
        error = body.get("error")
        if error in NOT_CALLED:
            raise NOT_CALLED[error]
        if error is not None:
            return ANSWERS[error]
        return Answer(
            200, {}, json.dumps({"status": "SUCCESS", "request_type": "TRACK_RIDE"} | body).encode()
        )


def row_of(table: Any, **known: Any) -> dict[str, Any]:
    """A row with the `known` values, and a blank in each other column that needs a value."""
    needed = [
        c
        for c in table.__table__.columns
        if not c.nullable and c.name != "id" and c.name not in known
    ]
    return {c.name: BLANK[c.type.python_type] for c in needed} | known


class Played:
    """Rides of one database, one for each case {kind, ids, timeout_s, ...}, due at once."""

    def __init__(
        self, url: str, cases: list[dict[str, Any]], *, pace: float = 1.0, chance: float = 0.5
    ) -> None:
        self.db, self.vault, self.service = Database(url), TokenVault("k1:" + new_key()), Service()
        self.now, self.cases = START, cases
        with self.db.write() as s:
            self.property_id = add_property(s, "Grand Meridian Hotel", "UTC", START).id
            self.account_id = add_account(
                s, self.vault, self.property_id, "House", "good", START
            ).id
            guest = row_of(
                Guest, property_id=self.property_id, name="Guest Heron", created_at=START
            )
            guest_id = s.execute(insert(Guest).returning(Guest.id), guest).scalar_one()
            offer = row_of(
                Offer, property_id=self.property_id, fetched_at=START, kind="auto", currency="INR"
            )
            offer_id = s.execute(insert(Offer).returning(Offer.id), offer).scalar_one()
            known = {"guest_id": guest_id, "offer_id": offer_id}
            self.orders = [self._start(s, number, case, known) for number, case in enumerate(cases)]
        tokens = AccountTokens(self.db, self.vault, None, lambda: self.now)
        client: Any = self.service
        runtime = Runtime(self.db, client, tokens, lambda: self.now, time=at_pace(pace))
        self.tracker = Tracker(runtime, chance=lambda: chance)

    def _start(self, s: Session, number: int, case: dict[str, Any], known: dict[str, Any]) -> int:
        ours = {"property_id": self.property_id, "account_id": self.account_id, "created_at": START}
        booked = case.get("ids", "booking") == "booking"
        ids = {
            "booking_id": f"B{number}" if booked else None,
            "txn_id": None if booked else f"T{number}",
        }
        timeout_s = case.get("timeout_s")
        order = row_of(
            Order,
            **ours,
            **ids,
            **known,
            form_token=f"token-{number}",
            mtx=f"M{number}",
            kind=case["kind"],
            state=case.get("state", "BOOKED" if booked else "MATCHING"),
            open=case.get("open", True),
            guard_key=f"guest {number}",
            due_at=START,
            happens_at=START,
            version=1,
            booking_timeout_at=None if timeout_s is None else START + timedelta(seconds=timeout_s),
        )
        order_id: int = s.execute(insert(Order).returning(Order.id), order).scalar_one()
        due = {"status": None, "interval_s": 3.0, "next_poll_at": START}
        s.execute(
            insert(Ride), row_of(Ride, **ours, **ids, **due, order_id=order_id, kind=case["kind"])
        )
        return order_id

    def round(self, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Poll due rides; each step has a ride's `answer` and the `first` and `meanwhile` writes.

        Others make these writes before and during the poll. Returns, for each ride, what was
        written by the poll and meanwhile.
        """
        for number, step in enumerate(steps):
            self._others(number, step.get("first", ()))
        before = [self.rows(number) for number in range(len(steps))]
        for number, step in enumerate(steps):
            ride = before[number]["ride"]
            self.service.answers[ride["booking_id"] or ride["txn_id"]] = step["answer"]
        polled = [self.tracker.ask(claim) for claim in self.tracker.claim(1000)]
        for number, step in enumerate(steps):
            self._others(number, step.get("meanwhile", ()))
        self.tracker.record(polled)
        return [written(old, self.rows(number)) for number, old in enumerate(before)]

    def _others(self, number: int, writes: Any) -> None:
        """Write like another process: {action: ...}, {item: name, cleared: true}, {order: columns}
        or {ride: columns}.
        """
        order_id = self.orders[number]
        with self.db.write() as s:
            for write in writes:
                if "action" in write:
                    called_s = write["action"].get("called_s")
                    called_at = None if called_s is None else self.now + timedelta(seconds=called_s)
                    given = {
                        name: value for name, value in write["action"].items() if name != "called_s"
                    }
                    ours = {
                        "property_id": self.property_id,
                        "account_id": self.account_id,
                        "order_id": order_id,
                    }
                    s.execute(
                        insert(Action),
                        row_of(Action, **ours, made_at=self.now, called_at=called_at, **given),
                    )
                elif "item" in write:
                    cleared_at = self.now if write.get("cleared") else None
                    ours = {"property_id": self.property_id, "order_id": order_id}
                    s.add(
                        Attention(
                            **ours, name=write["item"], raised_at=self.now, cleared_at=cleared_at
                        )
                    )
                elif "order" in write:
                    s.execute(update(Order).where(Order.id == order_id).values(write["order"]))
                else:
                    s.execute(update(Ride).where(Ride.order_id == order_id).values(write["ride"]))

    def rows(self, number: int) -> dict[str, Any]:
        """All rows of a ride's order; times are seconds after START."""
        order_id = self.orders[number]
        with self.db.read() as s:
            order = s.scalars(select(Order).where(Order.id == order_id)).one()
            ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).one()
            code = ride.otp_enc and self.vault.decrypt(ride.otp_enc, "rides", ride.id, "otp")
            columns = {
                name: value
                for name, value in _columns(ride).items()
                if name not in {"otp_enc", "poll_seq"}
            }
            events = s.scalars(
                select(TimelineEvent)
                .where(TimelineEvent.order_id == order_id)
                .order_by(TimelineEvent.id)
            ).all()
            items = s.scalars(select(Attention).where(Attention.order_id == order_id)).all()
            actions = s.scalars(
                select(Action).where(Action.order_id == order_id).order_by(Action.id)
            ).all()
            subject = AuditRow.subject == f"orders:{order_id}"
            audit = s.scalars(select(AuditRow).where(subject).order_by(AuditRow.id)).all()
        return {
            "order": _columns(order),
            "ride": columns | {"start code": code},
            "timeline": [
                [each.what, each.name, each.detail, _json_value(each.at)] for each in events
            ],
            "attention": {
                i.name: [i.detail, _json_value(i.raised_at), _json_value(i.cleared_at)]
                for i in items
            },
            "actions": {
                f"{n} {a.name}": [
                    a.state,
                    a.code,
                    a.calls,
                    _json_value(a.settled_at),
                    _json_value(a.next_try_at),
                ]
                for n, a in enumerate(actions)
            },
            "audit": [
                [each.who, each.what, each.result, _json_value(each.facts)] for each in audit
            ],
        }


def written(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is new in the rows, by table: changed columns, added rows."""
    found: dict[str, Any] = {}
    for table, rows in after.items():
        old = before[table]
        if isinstance(rows, list):
            new: Any = rows[len(old) :]
        else:
            new = {
                name: value for name, value in rows.items() if name not in old or old[name] != value
            }
        if new:
            found[table] = new
    return found


def _columns(row: Any) -> dict[str, Any]:
    return {
        column.name: _json_value(getattr(row, column.name)) for column in inspect(type(row)).columns
    }


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return round((value - START).total_seconds(), 3)
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if each not in ([], ())}
    return str(value) if isinstance(value, Decimal) else value
