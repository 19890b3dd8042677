"""The calls of this installation as pages read them, each linked to its order and property."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from flask import Flask, current_app, has_request_context, request
from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from ridedash.demo.beginning import empty_too
from ridedash.demo.lens.made import made_of
from ridedash.demo.lens.operations import trip_of
from ridedash.demo.lens.recorder import Cause, LensRecorder, record
from ridedash.demo.lens.store import RecordedCall, Ties
from ridedash.extensions import Services
from ridedash.store.models.orders import Offer, Order
from ridedash.store.sign_ins import SignInFacts
from ridedash.views.web.current_user import KNOWN_SIGN_IN
from ridedash.wire import Kind

EXTENSION: Final = "ridedash.lens"
FLUSH_S: Final = 1.0
MOST_ORDERS: Final = 500  # the latest orders, to which the calls of a list are linked
MOST_LISTED: Final = 200
MOST_JUDGED: Final = 1_000  # calls of a ride that are judged again to explain one of them

_TIES: Final = (
    *(Order.id, Order.property_id, Order.booking_id, Order.txn_id, Order.mtx),
    *(Order.offer_id, Order.kind),
    *(Offer.pickup_lat, Offer.pickup_lng, Offer.drop_lat, Offer.drop_lng, Offer.fetched_at),
)


def init_app(app: Flask) -> None:
    """Record the calls of this process; a Reset forgets them."""
    s: Services = app.extensions["ridedash"]
    recorder = app.extensions[EXTENSION] = record(s, page)
    empty_too(app, lambda: recorder.file.clear(s.clock()))


def page() -> Cause:
    """The route of the current request with the role of the user, and the order in its address.

    For example "GET /rides/new, manager".
    """
    if not has_request_context() or request.url_rule is None:
        return "", None
    order = (request.view_args or {}).get("order_id")
    known: SignInFacts | None = request.environ.get(KNOWN_SIGN_IN)
    who = "" if known is None else f", {known.role}"
    route = f"{request.method} {request.url_rule.rule}{who}"
    return route, order if isinstance(order, int) else None


def recorder() -> LensRecorder:
    """The recorder of this process."""
    found: LensRecorder = current_app.extensions[EXTENSION]
    return found


class Lens:
    """The calls that the staff of one property may see: those of its orders, and those of no order.

    `s` reads the main database.
    """

    def __init__(self, s: Session, property_id: int) -> None:
        self._s = s
        self._property = property_id
        self._file = recorder().file
        recorder().flush(FLUSH_S)

    def calls(
        self,
        order: int | None = None,
        only_errors: bool = False,
        after: int = 0,
        limit: int = MOST_LISTED,
    ) -> list[RecordedCall]:
        """The latest calls, the earliest first, without bodies.

        Only calls that have changed since `after`, the highest `RecordedCall.turn` seen before.
        """
        ties = None
        if order is not None:
            row = self._s.execute(_query().where(Order.id == order)).one_or_none()
            if row is None or row.property_id != self._property:
                return []
            ties = _ties(row)
        found = self._file.calls(ties, only_errors, after, limit)
        if order is not None:
            return [replace(each, order=order) for each in found]
        return list(self._own(found))

    def call(self, number: int) -> RecordedCall | None:
        """One call with its bodies; None unless the property may see it."""
        found = self._file.call(number)
        if found is None:
            return None
        return next(iter(self._own([found])), None)

    def whole(self, order: int, limit: int) -> list[RecordedCall]:
        """The latest `limit` calls of an order, the earliest first, with their bodies."""
        listed = self.calls(order, limit=limit)
        read = (self._file.call(each.number) for each in listed)
        return [replace(each, order=order) for each in read if each is not None]

    def conclusions(self, calls: Sequence[RecordedCall]) -> dict[int, str]:
        """Our conclusions from all calls of one order, with bodies, by the numbers of the calls."""
        order = calls[0].order if calls else None
        row = None
        if order is not None:
            row = self._s.execute(_query().where(Order.id == order)).one_or_none()
        return made_of(calls, None if row is None else Kind(row.kind))

    def conclusion(self, call: RecordedCall) -> str:
        """Our conclusion from one call, which depends on the earlier calls of its order."""
        calls = [call] if call.order is None else self.whole(call.order, MOST_JUDGED)
        return self.conclusions(calls).get(call.number, "")

    def latest(self, order: int, operation: str) -> RecordedCall | None:
        """The order's last call to an operation, with its bodies; None if it has none."""
        mine = [each for each in self.calls(order) if each.operation == operation]
        if not mine:
            return None
        return self.call(mine[-1].number)

    def _own(self, calls: Sequence[RecordedCall]) -> Iterable[RecordedCall]:
        rows = self._s.execute(_query().order_by(Order.id.desc()).limit(MOST_ORDERS)).all()
        known = {key: row for row in reversed(rows) for key in _keys(row)}
        booked = {row.offer_id: row for row in reversed(rows)}
        offers = self._file.offers([each.number for each in calls if each.ids.trip])
        for call in calls:
            ids = call.ids
            keys = (call.hint, ids.mtx, ids.booking_id, ids.txn_id)
            row = next((known[key] for key in keys if key and key in known), None)
            own_offers = offers.get(call.number, ())
            row = row or next((booked[each] for each in own_offers if each in booked), None)
            row = row or _offered(call, rows)
            if row is None:
                yield call
            elif row.property_id == self._property:
                yield replace(call, order=row.id)


def _query() -> Select[Any]:
    return select(*_TIES).join(Offer, Offer.id == Order.offer_id)


def _keys(row: Row[Any]) -> Iterable[int | str]:
    return [each for each in (row.id, row.mtx, row.booking_id, row.txn_id) if each]


def _ties(row: Row[Any]) -> Ties:
    trip = trip_of(row.pickup_lat, row.pickup_lng, row.drop_lat, row.drop_lng)
    ids = row.booking_id or "", row.txn_id or "", row.mtx
    return Ties(row.id, *ids, trip, row.offer_id, row.fetched_at.timestamp())


def _offered(call: RecordedCall, rows: Iterable[Row[Any]]) -> Row[Any] | None:
    """The newest order whose price may have come from this call of products; None for none."""
    if not call.ids.trip:
        return None
    for row in rows:
        ties = _ties(row)
        if ties.trip == call.ids.trip and ties.priced_by(call):
            return row
    return None
