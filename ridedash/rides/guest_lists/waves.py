"""Books the lines of a list in waves, driven by the worker (docs/booking-protocol.md 1.10).

Each car is an order of its own, made by `place` with its own form token in the commit that marks
its lines as ordered: a kill, a second worker or a second press makes none twice. A planned line is
stored at once. A line for now is priced in its wave; where that is more than was shown, it asks.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.rides.guest_lists.press import (
    LIST_GUARD,
    LIST_METERED,
    LIST_NOT_BOOKABLE,
    LIST_PRICE,
    ask,
)
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.journals.restore import RestoreWatch
from ridedash.rides.orders import request as requests
from ridedash.rides.orders.due import CAR_GONE, NO_JOURNAL, NO_PRICE, SHORT_WAIT_S, reason_code
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.guest_start import in_minor, is_metered, price_of
from ridedash.rides.orders.place import OfferStale, OfferUnknown, RequestRefused, TokenReused, place
from ridedash.rides.orders.press import PlaceError, token_of
from ridedash.rides.runtime import Runtime
from ridedash.rides.state.codes import (
    EXPIRED,
    NO_ANSWER,
    NO_CONNECTION,
    RATE_LIMITED,
    RECONNECT,
    WITHDRAWN,
)
from ridedash.rides.state.states import BEING_SENT
from ridedash.rides.times.schedule_times import wait_after
from ridedash.service.errors import ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.products import Product
from ridedash.store.actors import by_staff
from ridedash.store.companions import Companion
from ridedash.store.database.database import retry_conflict
from ridedash.store.guest_lists import (
    LIST_FAILING,
    LIST_SILENT,
    GuestList,
    LineState,
    ListLine,
    ListState,
    lines_of,
    locked_list,
    stop_list,
    touch,
)
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.offers import OfferOwner, Trip, add_offer

WAVE: Final = 6  # cars for now in one wave, as in one press of the form
WAVE_EVERY: Final = timedelta(seconds=6)  # so sixty cars a minute, as a person may press
LEASE: Final = timedelta(seconds=60)  # renewed with each car; longer than the requests of one take
PATIENCE: Final = timedelta(minutes=10)  # then a list that can't go on waits for a person
FEW: Final = 3  # orders from which a wave without a booking stops the list
# ends of orders that say nothing of the ride service: a worker died, a person changed their mind
OUR_OWN: Final = frozenset({EXPIRED, WITHDRAWN})
# reasons for which the same line is tried again later
PASSING: Final = frozenset({NO_CONNECTION, NO_ANSWER, RATE_LIMITED, RECONNECT, NO_JOURNAL})

log = logging.getLogger(__name__)


class _Later(Exception):
    """No line can be booked now; `code` says why. The wave ends, and is tried again."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Asks(Exception):
    """The line needs a person's answer."""

    def __init__(self, code: str, price_minor: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.price_minor = price_minor


class _Gone(PlaceError):
    """The line is not to be booked any more: stopped, opened again, or booked by another worker."""


@dataclass(frozen=True)
class _Wave:
    """The right to book lines of a list, until `until`."""

    of: GuestList
    until: datetime


class ListDriver:
    """Books lists for one worker. Safe to share between threads."""

    def __init__(self, runtime: Runtime, journal: AnswerJournal, watch: RestoreWatch) -> None:
        self.runtime = runtime
        self.journal = journal
        self.watch = watch
        self.closed = False  # a worker that stops begins with no further line

    def due(self, limit: int) -> Sequence[int]:
        """Lists whose next wave may begin, the longest due first."""
        now = self.runtime.clock()
        query = select(GuestList.id).where(*_due(now)).order_by(GuestList.next_at).limit(limit)
        with self.runtime.db.read() as s:
            return s.scalars(query).all()

    def book(self, list_id: int) -> bool:
        """One wave of a list. False when it is not due, or another worker has it."""
        wave = self._claim(list_id)
        if wave is None:
            return False
        self.runtime.failpoint("list.claimed")
        if self._stops(wave):
            return True
        code = None
        try:
            for line in self._lines(wave.of):
                if self.closed or not self._car(wave, line):
                    break
        except _Later as later:
            code = later.code
        self._end(wave, code)
        return True

    def _claim(self, list_id: int) -> _Wave | None:
        """Claim the list, and let the other lists of the same person wait for one wave."""
        now = self.runtime.clock()
        until = now + LEASE
        claim = (
            update(GuestList)
            .where(GuestList.id == list_id, *_due(now), self.watch.is_as_seen())
            .values(owner=self.runtime.owner, lease_until=until)
        )
        with self.runtime.db.write() as s:
            if self.closed or s.connection().execute(claim).rowcount != 1:
                return None
            found = s.get_one(GuestList, list_id)
            others = (
                update(GuestList)
                .where(GuestList.pressed_by == found.pressed_by, GuestList.id != list_id)
                .where(GuestList.state == ListState.RUNNING, GuestList.next_at < now + WAVE_EVERY)
                .values(next_at=now + WAVE_EVERY)
            )
            s.connection().execute(others)
            return _Wave(found, until)

    def _stops(self, wave: _Wave) -> bool:
        """Stop a list of which the last orders were all in vain: the next ones would be too."""
        with self.runtime.db.write() as s:
            found = locked_list(s, wave.of.id)
            if found is None or not _is_failing(s, found):
                return False
            if found.state == ListState.RUNNING:
                stop_list(found, LIST_FAILING, self.runtime.clock())
            return True

    def _lines(self, of: GuestList) -> list[ListLine]:
        """The first lines of the cars of this wave: all planned ones, then a few for now.

        None for now while an order of the last wave has not left yet: they would pile up.
        """
        with self.runtime.db.read() as s:
            waiting = [
                line
                for line in lines_of(s, of.id)
                if line.state == LineState.WAITING and line.plan and "with" not in line.plan
            ]
            ready = select(func.count()).where(
                Order.group_key == of.group_key, Order.state == OrderState.READY
            )
            held_up = bool(s.scalar(ready))
        planned = [line for line in waiting if _facts(line)["pickup_at"]]
        if held_up:
            return planned
        now = [line for line in waiting if not _facts(line)["pickup_at"]]
        return planned + now[:WAVE]

    def _car(self, wave: _Wave, line: ListLine) -> bool:
        """Book one car. False when the wave is over, because the list was stopped."""
        try:
            offer_id = self._offer(wave.of, line)
            self.runtime.failpoint("list.priced")
            self._place(wave, line, offer_id)
        except _Asks as asks:
            return self._ask(wave, line, asks)
        except _Gone:
            return False
        self.runtime.failpoint("list.placed")
        return True

    def _offer(self, of: GuestList, line: ListLine) -> int:
        """The offer of the order: for a planned ride the one that was shown, else a fresh one.

        Raises _Asks and _Later.
        """
        if _facts(line)["pickup_at"] and line.offer_id is not None:
            return line.offer_id
        product = self._product(line)
        _check_price(product, line)
        priced = requests.offered(product)
        account_id = _facts(line)["trip"]["account_id"]
        owner = OfferOwner(of.property_id, by_staff(of.pressed_by), account_id)
        now = self.runtime.clock()
        with self.runtime.db.write() as s:
            return add_offer(s, owner, trip_of_line(line), priced, now).id

    def _product(self, line: ListLine) -> Product:
        if not self.journal.ready():
            raise _Later(NO_JOURNAL)
        client = self.runtime.client
        trip = trip_of_line(line)
        facts = _facts(line)["trip"]
        traffic = client.traffic
        category = facts["category"]
        if traffic.wait_s(Priority.WRITE) > SHORT_WAIT_S:
            raise _Later(NO_CONNECTION if traffic.is_open(write=True) else RATE_LIMITED)
        try:
            listed = call_with_token(
                self.runtime.tokens,
                facts["account_id"],
                lambda token: client.products(trip.pickup, trip.drop, category, token),
            )
        except ServiceError as error:
            code = reason_code(error)
            if code in PASSING:
                raise _Later(code) from error
            raise _Asks(code) from error
        except (NeedsReconnect, NoRefreshNow) as error:
            raise _Later(error.code) from None
        product = listed.product(category)
        if product is None:
            raise _Asks(CAR_GONE)
        return product

    def _place(self, wave: _Wave, line: ListLine, offer_id: int) -> None:
        """Make the order of a car, or find the one that was made before. Raises _Asks, _Gone."""
        of = wave.of
        runtime = self.runtime
        order_id = self._order_made(of, line)
        if order_id is None:
            hooks = _LineHooks(self, wave, line)
            request = _request(of, line, offer_id)
            try:
                placed = place(runtime.db, runtime.clock, request, runtime.failpoint, hooks)
                order_id = None if placed.created else placed.order_id
            except TokenReused as error:
                order_id = error.order_id
            except GuardBusy as error:
                if self._note_busy(wave, line, error):
                    return  # the next wave books it
                raise _Asks(LIST_GUARD) from error
            except OfferStale:
                raise _Later(RATE_LIMITED) from None  # a busy machine: the next wave prices anew
            except (RequestRefused, OfferUnknown) as error:
                raise _Asks(LIST_NOT_BOOKABLE) from error
        if order_id is not None:
            made = order_id
            retry_conflict(lambda: self._link(wave, line.number, made))

    def _order_made(self, of: GuestList, line: ListLine) -> int | None:
        """The order of this line, if it exists: by its token, or by its reference."""
        token = token_of(of.form_token, line.number)
        made = or_(Order.form_token == token, Order.mtx == line.mtx)
        with self.runtime.db.read() as s:
            return s.scalars(select(Order.id).where(made)).first()

    def _link(self, wave: _Wave, number: int, order_id: int) -> None:
        """Mark the lines of a car whose order was made before as ordered."""
        with self.runtime.db.write() as s:
            found = locked_list(s, wave.of.id)
            if found is not None:
                _mark_ordered(s, found, number, order_id, self.runtime.clock())

    def _note_busy(self, wave: _Wave, line: ListLine, error: GuardBusy) -> bool:
        """Keep which rides the guest has, so that a yes is about these and no others.

        True if a person has said yes already: all are of this list, which names the guest twice.
        """
        ids = [each.order_id for each in error.rides]
        with self.runtime.db.write() as s:
            locked_list(s, wave.of.id)
            row = s.get_one(ListLine, line.id, populate_existing=True)
            if row.state != LineState.WAITING or not _is_same(row.plan, line.plan):
                return False
            assert row.plan is not None
            groups = set(s.scalars(select(Order.group_key).where(Order.id.in_(ids))))
            is_meant = bool(row.plan.get("twice")) and groups == {wave.of.group_key}
            row.plan = {**row.plan, "beside" if is_meant else "busy": list(error.seen)}
            return is_meant

    def _ask(self, wave: _Wave, line: ListLine, asks: _Asks) -> bool:
        """Stop this line with its question. False when the list is not ours any more."""
        with self.runtime.db.write() as s:
            found = locked_list(s, wave.of.id)
            row = s.get_one(ListLine, line.id, populate_existing=True)
            if found is None or found.state != ListState.RUNNING:
                return False
            if row.state == LineState.WAITING and _is_same(row.plan, line.plan):
                ask(row, asks.code, asks.price_minor)
                touch(found, self.runtime.clock())
            return True

    def _end(self, wave: _Wave, code: str | None) -> None:
        """Free the list: the next wave, a stop, or the end."""
        now = self.runtime.clock()
        with self.runtime.db.write() as s:
            found = locked_list(s, wave.of.id)
            if found is None or found.owner != self.runtime.owner:
                return
            found.owner = found.lease_until = None
            if found.state != ListState.RUNNING:
                return
            waits = any(line.state == LineState.WAITING for line in lines_of(s, found.id))
            if not waits:
                found.state = ListState.DONE
                found.next_at = None
                found.code = None
                touch(found, now)
            elif code is not None:
                self._postpone(found, code, now)
            else:
                found.tries = 0
                found.next_at = now + WAVE_EVERY
                if found.code is not None:
                    found.code = None
                    touch(found, now)

    def _postpone(self, found: GuestList, code: str, now: datetime) -> None:
        if found.pressed_at is not None and now - found.pressed_at > PATIENCE and found.tries:
            stop_list(found, LIST_SILENT, now)
            return
        found.tries += 1
        found.next_at = now + wait_after(found.tries)
        if found.code != code:
            found.code = code
            touch(found, now)


class _LineHooks:
    """What a list adds to the commit of an order: its line is locked, and marked as ordered."""

    def __init__(self, driver: ListDriver, wave: _Wave, line: ListLine) -> None:
        self.driver = driver
        self.wave = wave
        self.number = line.number
        self.plan = line.plan

    def before(self, s: Session, _offer: Offer, now: datetime) -> None:
        """Check again, with the list locked, that the line is to be booked. Raises _Gone."""
        found = locked_list(s, self.wave.of.id)
        if found is None or found.state != ListState.RUNNING:
            raise _Gone
        is_ours = found.owner == self.driver.runtime.owner and not self.driver.closed
        if not is_ours or not self.driver.watch.is_current(s):
            raise _Gone
        line = _line(s, found, self.number)
        if line is None or line.state != LineState.WAITING or not _is_same(line.plan, self.plan):
            raise _Gone
        found.lease_until = now + LEASE

    def after(self, s: Session, order_id: int, now: datetime) -> None:
        """Mark the lines of the car as ordered."""
        _mark_ordered(s, s.get_one(GuestList, self.wave.of.id), self.number, order_id, now)


def trip_of_line(line: ListLine) -> Trip:
    """The trip of a line, as it was at the press."""
    trip = _facts(line)["trip"]
    start = trip["pickup"]
    pickup = LatLng(start["lat"], start["lng"])
    end = trip.get("drop")
    if not end:
        return Trip(pickup, start["name"] or None, None, None)
    return Trip(pickup, start["name"] or None, LatLng(end["lat"], end["lng"]), end["name"])


def _due(now: datetime) -> tuple[Any, ...]:
    free = or_(
        GuestList.lease_until.is_(None),
        GuestList.lease_until <= now,
        GuestList.lease_until > now + 2 * LEASE,  # written by a clock that has stepped back since
    )
    return GuestList.state == ListState.RUNNING, GuestList.next_at <= now, free


def _is_same(plan: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two plans order the same: the line was not corrected and pressed anew meanwhile."""
    if plan is None or other is None:
        return False
    notes = ("busy", "beside")
    return all(plan.get(each) == other.get(each) for each in {*plan, *other} if each not in notes)


def _facts(line: ListLine) -> dict[str, Any]:
    return line.plan or {}


def _line(s: Session, of: GuestList, number: int) -> ListLine | None:
    query = select(ListLine).where(ListLine.list_id == of.id, ListLine.number == number)
    return s.scalars(query.execution_options(populate_existing=True)).first()


def _check_price(product: Product, line: ListLine) -> None:
    """Raise _Asks where the present price is more than the one that was shown, or is unknown."""
    if line.shown_minor is None:
        return
    price = price_of(product, None)
    if price is None or product.currency not in (line.currency, None):
        raise _Asks(NO_PRICE)
    minor = in_minor(price)
    if is_metered(product) and not line.metered:
        raise _Asks(LIST_METERED, minor)
    if minor > line.shown_minor:
        raise _Asks(LIST_PRICE, minor)


def _request(of: GuestList, line: ListLine, offer_id: int) -> BookingRequest:
    facts = _facts(line)
    trip = facts["trip"]
    at = facts["pickup_at"]
    beside = tuple(facts.get("beside", ()))
    return BookingRequest(
        property_id=of.property_id,
        actor=by_staff(of.pressed_by),
        margin=timedelta(minutes=trip["margin_min"]),
        tz=ZoneInfo(trip["zone"]),
        form_token=token_of(of.form_token, line.number),
        pickup_at=datetime.fromisoformat(at) if at else None,
        offer_id=offer_id,
        guest_name=facts["name"],
        guest_room=facts["room"],
        guest_phone=facts["phone"],
        guest_phone2=facts.get("phone2"),
        note=facts["note"],
        flight=facts["flight"],
        payment=trip.get("payment"),
        account_id=trip["account_id"],
        cost_centre_id=trip.get("cost_centre_id"),
        group=of.group_key,
        reference=line.mtx,
        override_guard=bool(beside),
        second_to=beside,
    )


def _mark_ordered(s: Session, of: GuestList, number: int, order_id: int, now: datetime) -> None:
    """The lines of a car are ordered: from now on the order knows its guests."""
    for line in lines_of(s, of.id):
        plan = line.plan or {}
        rides_along = plan.get("head") == number and line.state == LineState.WAITING
        if line.number == number or rides_along:
            name = plan.get("with")
            if name and rides_along:
                s.add(_companion(of, plan, order_id))
            line.state = LineState.ORDERED
            line.order_id = order_id
            line.code = None
            line.data = {}
            line.offer_id = None
            line.price_minor = None
            line.plan = {"with": name, "room": plan.get("room")} if name else None
    touch(of, now)


def _companion(of: GuestList, plan: dict[str, Any], order_id: int) -> Companion:
    """The row of a guest who rides along. A plan of an earlier release has the name alone."""
    return Companion(
        property_id=of.property_id,
        order_id=order_id,
        name=plan.get("name") or plan["with"],
        room=plan.get("room"),
        phone=plan.get("phone"),
        phone2=plan.get("phone2"),
    )


def _is_failing(s: Session, of: GuestList) -> bool:
    """Whether the last orders for now, since the press, have all ended without a booking."""
    query = (
        select(Order.state, Order.code)
        .where(Order.group_key == of.group_key, Order.pickup_at.is_(None))
        .where(Order.created_at >= (of.pressed_at or of.created_at))
        .where(Order.state.not_in(BEING_SENT))
        .order_by(Order.id.desc())
        .limit(WAVE)
    )
    found = [(state, code) for state, code in s.execute(query) if code not in OUR_OWN]
    bad = (OrderState.REJECTED, OrderState.NOT_SENT, OrderState.UNKNOWN)
    return len(found) >= FEW and all(state in bad for state, _code in found)
