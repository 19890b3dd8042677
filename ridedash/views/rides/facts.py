"""The facts about an order and its ride, gathered once for all modules that put them in words."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Final
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.places import coordinates_text
from ridedash.rides.tracking import totals
from ridedash.rides.tracking.ends import end_of
from ridedash.rides.tracking.intervals import cancel_free_until, search_ends
from ridedash.rides.tracking.merge import DRIVER_LOST
from ridedash.service.parsing.units import service_time
from ridedash.service.types.rate_cards import CancellationPolicy
from ridedash.service.types.tracking import Snapshot
from ridedash.service_time import ServiceTime
from ridedash.store.orders import Action, OrderPage
from ridedash.text import one_line
from ridedash.views.web.formatting import (
    clock_time,
    day_time,
    full_time,
    minutes,
    money,
    planned_time,
    time_left,
    zone,
)
from ridedash.wire import Kind
from ridedash.wording import (
    PAYMENT_NOT_KNOWN,
    Audience,
    payment_words,
    price_told,
    service_quote,
)
from ridedash.wording import gettext as _

# for so long after a stop, the answer to an earlier poll may still be recorded
CONFIRMED_FOR: Final = timedelta(seconds=5)


def status_of(page: OrderPage) -> str | None:
    """The last reported status; a stop that the service has just confirmed counts at once."""
    ride = page.ride
    if ride is None:
        return None
    if page.order.state != "BOOKED" or ride.status in wire.TERMINAL:
        return ride.status
    stops = (
        a.settled_at
        for a in page.actions
        if a.name in ("abort", "cancel") and a.state == "done" and a.settled_at
    )
    latest = max(stops, default=None)
    if latest is not None and (ride.seen_at is None or ride.seen_at < latest + CONFIRMED_FOR):
        return wire.BOOKING_CANCELLED
    return ride.status


@dataclass(frozen=True)
class RideFacts:
    """One order at one moment, for one reader. All methods only derive values."""

    page: OrderPage
    now: datetime
    time: ServiceTime
    locale: str

    @cached_property
    def kind(self) -> Kind:
        return wire.kind_of(self.page.order.category)

    @cached_property
    def tz(self) -> ZoneInfo:
        return zone(self.page.property.timezone)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The merged facts; an empty snapshot when there are none or they can't be read."""
        if self.page.ride is None:
            return Snapshot()
        try:
            return Snapshot.model_validate(self.page.ride.facts)
        except ValidationError:
            return Snapshot()

    @cached_property
    def status(self) -> str | None:
        """The status of the booking, as `status_of` gives it; None unless the order is BOOKED."""
        if self.page.order.state != "BOOKED":
            return None
        return status_of(self.page)

    @property
    def payment(self) -> str | None:
        """How the ride is paid; not known of an order that was recovered after a restore."""
        order = self.page.order
        if order.payment is None and order.recovered_at is not None:
            return PAYMENT_NOT_KNOWN
        return order.payment

    @property
    def currency(self) -> str | None:
        """The currency of the offer; else the one of the bill; else the property's present one."""
        page = self.page
        return page.offer.currency or page.order.currency or page.property.currency

    @cached_property
    def policy(self) -> CancellationPolicy | None:
        """The cancellation policy of the offer, when it names a fee."""
        try:
            policy = CancellationPolicy.model_validate(self.page.offer.cancellation or {})
        except ValidationError:
            return None
        if policy.charge is None:
            return None
        return policy

    @property
    def fee(self) -> str:
        policy = self.policy
        if policy is None:
            return ""
        return money(policy.charge, policy.currency or self.currency, self.locale)

    @property
    def fee_from(self) -> datetime | None:
        """The instant from which cancelling costs a fee.

        None without a driver, without a policy that has a free time, and while the service's clock
        is stopped before that instant.
        """
        policy = self.policy
        ride = self.page.ride
        if policy is None or ride is None or policy.applies_after is None:
            return None
        return cancel_free_until(float(policy.applies_after.seconds), ride.allotted_at, self.time)

    @property
    def charged(self) -> bool:
        """Whether a ride was cancelled too late to be free, or would be now; not without a driver.

        The free time counts from the first driver. A ride whose driver was lost is without a driver
        until another one comes.
        """
        policy = self.policy
        ride = self.page.ride
        if self._is_without_driver:
            return False
        if any(a.name == "abort" and a.state == "done" for a in self.page.actions):
            return False
        if policy is None or not policy.charge or ride is None or ride.allotted_at is None:
            return False
        if policy.applies_after is None:
            return True
        return self.fee_from is not None and self._stopped_at >= self.fee_from

    @property
    def held_free(self) -> bool:
        """Whether cancelling stays free for as long as the service's clock is stopped."""
        policy = self.policy
        ride = self.page.ride
        timed = policy is not None and policy.applies_after is not None
        driver = ride is not None and ride.allotted_at is not None
        return self.time.held and timed and driver and self.fee_from is None

    @property
    def _is_without_driver(self) -> bool:
        """Whether the driver was lost, and no other one came before the ride ended."""
        lost = self.since(DRIVER_LOST)
        came = [at for at in map(self.since, wire.CAB_KNOWN) if at is not None]
        return lost is not None and max(came, default=lost) <= lost

    @property
    def free(self) -> bool:
        """Whether our own stop of a ride cost nothing by the policy of its offer.

        False too if the service's answer contains a number, which may be a charge.
        """
        if self.policy is None or not self.is_stopped_by_us or self.charged:
            return False
        answer = self._answer("abort", "cancel").replace(self.page.order.booking_id or " ", "")
        return not any(letter.isdigit() for letter in answer)

    @property
    def _stopped_at(self) -> datetime:
        stopped = [
            a.made_at
            for a in self.page.actions
            if a.name in ("abort", "cancel") and a.state == "done"
        ]
        return max(stopped, default=None) or self.since(wire.BOOKING_CANCELLED) or self.now

    @property
    def drop_change(self) -> Action | None:
        """The newest change of drop that the service accepted."""
        done = (a for a in reversed(self.page.actions) if a.name == "drop" and a.state == "done")
        return next((action for action in done if _payload_place(action)), None)

    @cached_property
    def drop(self) -> tuple[LatLng, str] | None:
        """The drop: the newest change that the service accepted, else that of the offer.

        Of a ride that was booked without one: where it ended, once it is over.
        """
        changed = self.drop_change
        if changed is not None:
            return _payload_place(changed)
        offer = self.page.offer
        if offer.drop_lat is None or offer.drop_lng is None:
            return self._end
        return LatLng(offer.drop_lat, offer.drop_lng), offer.drop_name or _("the pinned place")

    @property
    def drop_name(self) -> str:
        """The name of the drop; "" without one."""
        return self.drop[1] if self.drop else ""

    @property
    def _end(self) -> tuple[LatLng, str] | None:
        """Where a completed ride without a drop ended, with its address or else its point."""
        ride = self.page.ride
        if ride is None or self.status != wire.COMPLETED:
            return None
        if ride.end_lat is not None and ride.end_lng is not None:
            end = LatLng(ride.end_lat, ride.end_lng)
            return end, ride.end_name or coordinates_text(end)
        found = end_of(self.snapshot, ride.ended_at, ride.position_at)
        if found is None:
            return None
        return found, coordinates_text(found)

    @property
    def pickup(self) -> tuple[LatLng, str]:
        offer = self.page.offer
        return LatLng(offer.pickup_lat, offer.pickup_lng), offer.pickup_name or _(
            "the pinned place"
        )

    def accepted_message(self, *names: str) -> str:
        """The service's words, quoted, when it accepted the newest of these actions; for staff."""
        return service_quote(self._answer(*names))

    def _answer(self, *names: str) -> str:
        done = [a for a in self.page.actions if a.name in names and a.state == "done"]
        if not done:
            return ""
        return wire.said(done[-1].header, done[-1].text)

    @property
    def answered(self) -> str:
        """The service's words in its last answer to the order; "" if `message` is our own."""
        order = self.page.order
        is_answer = order.state == "REJECTED" or order.http_status is not None
        if not is_answer:
            return ""
        return order.message or ""

    @property
    def create_message(self) -> str:
        """The service's words, quoted, when it accepted the order; for staff.

        With a `code` the message belongs to a refusal or an unknown outcome and is not used.
        """
        order = self.page.order
        if order.state not in ("BOOKED", "MATCHING") or order.code is not None:
            return ""
        return service_quote(order.message)

    @property
    def handover_message(self) -> str:
        """The service's words, quoted, when it found a driver for a shared ride; for staff."""
        if not self.page.order.txn_id:
            return ""
        return service_quote(self.snapshot.message)

    def sent(self, name: str) -> str:
        """A text of the request that was or will be sent, such as `coupon_code`; "" without it."""
        try:
            value = json.loads(self.page.order.body).get(name)
        except (ValueError, AttributeError):
            return ""
        return one_line(value)

    @property
    def ceiling(self) -> str:
        """The highest price of a ride that the guest starts; "" for any other ride."""
        minor = self.page.order.ceiling_minor
        if minor is None:
            return ""
        return money(Decimal(minor) / 100, self.currency, self.locale)

    @property
    def metered(self) -> bool:
        """Whether the offer has no fixed price: the ride may cost more than its estimate."""
        return not self.page.offer.seat_prices

    @property
    def price_refused(self) -> str:
        """The price that was above the ceiling at the last try to start the ride; else ""."""
        order = self.page.order
        if order.state != "WAITING" or not order.message:
            return ""
        return money(Decimal(order.message), self.currency, self.locale)

    @property
    def picked_up(self) -> str:
        """When the guest was picked up according to the service, in the property's time; or "".

        A time that can't be parsed is shown as text.
        """
        sent = self.snapshot.pickup_time
        if sent is None:
            return ""
        if sent.at is None:
            return sent.text
        return full_time(sent.at, self.tz, self.locale)

    @property
    def total(self) -> Decimal | None:
        """The price of the ride, as far as it is known."""
        return totals.total(self.kind, self.snapshot)

    @property
    def payable(self) -> Decimal | None:
        """The part of the price that is still to be paid: an auto may take an advance."""
        if self.kind is Kind.AUTO:
            return totals.payable_of(self.snapshot.trip)
        return self.total

    def since(self, name: str) -> datetime | None:
        """The time of the newest event with this name, e.g. a status; None if there is none."""
        return next((m.at for m in reversed(self.page.events) if m.name == name), None)

    def last(self, name: str) -> Action | None:
        """The newest action with this name."""
        return next((a for a in reversed(self.page.actions) if a.name == name), None)

    @property
    def eta_s(self) -> float | None:
        """In how many seconds the cab is at the pickup, then at the drop; None if unknown."""
        eta = self.snapshot.eta
        return eta.seconds if eta else None

    @cached_property
    def for_words(self) -> dict[str, str | None]:
        """The values of the placeholders in sentences of ridedash.wording, by name."""
        order = self.page.order
        total = money(self.total, self.currency, self.locale)
        left = money(self.payable, self.currency, self.locale)
        ahead = time_left(self.eta_s)
        return {
            "driver": self.snapshot.driver_name,
            "eta": minutes(self.eta_s),
            "left": ahead,
            "left_line": ahead[:1].upper() + ahead[1:],
            "pickup": self.pickup[1],
            "drop": self.drop_name or _("wherever the guest says"),
            # T: critical
            "forget": _("Forget the old number plate") if self.since(DRIVER_LOST) else None,
            "fare": total,
            "payable": left,
            "pays": payment_words(Audience.STAFF, self.payment, left),
            "guest_pays": payment_words(Audience.GUEST, self.payment, left),
            "price_told": price_told(self.kind, self.payment, total),
            "fee": self.fee if self.charged else "",
            "free": _("Cancelled in time: free.") if self.free else "",
            "said": self.accepted_message("abort", "cancel"),
            "who": self._who(),
            "booking_id": order.booking_id,
            "asked": self.at(order.sent_at, seconds=True),
            "next_try": self._next_try(),
            "ends": self.at(self.search_ends, seconds=True),
            "closed": self.at(order.resolved_at),
            "due": self.planned(order.pickup_at or order.due_at),
            "order_at": self._order_at(),
            "until": day_time(order.guest_until, self.now, self.tz, self.locale),
            "ceiling": self.ceiling,
            "retry": self._retry(),
        }

    def planned(self, instant: datetime) -> str:
        """An instant in the property's time, with its day in words."""
        return planned_time(instant, self.now, self.tz, self.locale)

    def _order_at(self) -> str:
        """When a planned ride is ordered; with its day if that differs from the pickup's."""
        order = self.page.order
        at = order.ready_at or order.due_at
        pickup = order.pickup_at or order.due_at
        if at.astimezone(self.tz).date() == pickup.astimezone(self.tz).date():
            return clock_time(at, self.tz, self.locale)
        return self.planned(at)

    def at(self, instant: datetime | None, *, seconds: bool = False) -> str:
        """An instant in the property's time; in a demo, as the sandbox's clock showed it."""
        return clock_time(self._shown(instant), self.tz, self.locale, seconds=seconds)

    def day_at(self, instant: datetime | None) -> str:
        """An instant as `at` shows it, with its day unless that is today."""
        return day_time(self._shown(instant), self.time.shown(self.now), self.tz, self.locale)

    def full_at(self, instant: datetime | None) -> str:
        """An instant as `at` shows it, with its date and zone."""
        return full_time(self._shown(instant), self.tz, self.locale)

    def _shown(self, instant: datetime | None) -> datetime | None:
        return self.time.shown(instant) if instant else None

    def _who(self) -> str | None:
        """Who ended the order or the ride; None if that was not us."""
        if self.page.order.state != "CLOSED_NOT_BOOKED" and not self.is_stopped_by_us:
            return None
        if self.page.staff is None:
            return _("us")
        return _("our desk")

    @property
    def is_stopped_by_us(self) -> bool:
        """Whether the desk or the guest had the ride stopped, and the service did it."""
        return any(a.name in ("abort", "cancel") and a.state == "done" for a in self.page.actions)

    @property
    def search_ends(self) -> datetime | None:
        """When the service stops its search; None if that is unknown or its clock is stopped."""
        order, ride = self.page.order, self.page.ride
        answered_at = ride.created_at if ride else None
        return search_ends(
            order.booking_timeout_at, answered_at, order.booking_timeout_s, self.time
        )

    @property
    def next_retry(self) -> datetime | None:
        """When the service tries again, by its own clock; None if it stated no readable instant."""
        read = service_time(self.page.order.next_retry)
        if read is None or read.at is None:
            return None
        try:
            return read.at.astimezone(self.tz)
        except OverflowError:  # the property's time zone puts it outside the calendar
            return None

    def _retry(self) -> str:
        """When we try again to send the order; "" before the first try, and during one."""
        order = self.page.order
        if not order.tries or order.owner is not None:
            return ""
        return clock_time(order.lease_until, self.tz, self.locale, seconds=True)

    def _next_try(self) -> str | None:
        """The next try, as the service stated it in its answer to create.

        None when it has passed, or when the service's time is unknown.
        """
        at = self.next_retry
        if at is None:
            return self.page.order.next_retry
        known = bool(self.time.turns) or self.time.pace == 1
        if not known or at <= self.time.shown(self.now):
            return None
        return clock_time(at, self.tz, self.locale, seconds=True)

    @property
    def retries_at(self) -> datetime | None:
        """The wall time of the service's next try; None if unknown or its clock is stopped."""
        at = self.next_retry
        if at is None or not self.time.turns:
            return at
        return self.time.due(self.now, (at - self.time.shown(self.now)).total_seconds())


def _payload_place(action: Action) -> tuple[LatLng, str] | None:
    lat = action.payload.get("lat")
    lng = action.payload.get("lng")
    if not isinstance(lat, (int, float)) or not isinstance(lng, (int, float)):
        return None
    return LatLng(lat, lng), str(action.payload.get("name") or _("the pinned place"))
