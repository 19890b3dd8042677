"""What is known about an order and its ride, gathered once for all that the presenters say."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.lifecycle import cancel_free_until
from ridedash.service.ratecards import CancellationPolicy
from ridedash.service.tracks import Snapshot
from ridedash.store.orders import Action, OrderPage
from ridedash.views.formats import clock_time, minutes, money, zone
from ridedash.views.invoices import payable_of, total_of
from ridedash.wire import Kind
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class RideFacts:
    """One order seen at one moment, by one reader. Everything below is derived and never raises."""

    page: OrderPage
    now: datetime
    pace: float
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

    @property
    def status(self) -> str | None:
        """The booking status that leads the page: that of an order which is booked, else None."""
        ride = self.page.ride
        return ride.status if ride is not None and self.page.order.state == "BOOKED" else None

    @property
    def currency(self) -> str | None:
        return self.page.offer.currency or self.page.property.currency

    @cached_property
    def policy(self) -> CancellationPolicy | None:
        """The cancellation policy of the offer, when it names a fee."""
        try:
            policy = CancellationPolicy.model_validate(self.page.offer.cancellation or {})
        except ValidationError:
            return None
        return policy if policy.charge is not None else None

    @property
    def fee(self) -> str:
        policy = self.policy
        return money(policy.charge, policy.currency or self.currency, self.locale) if policy else ""

    @property
    def fee_from(self) -> datetime | None:
        """From when cancelling costs the policy's fee; None before a driver is allotted, or without a policy."""
        policy, ride = self.policy, self.page.ride
        if policy is None or ride is None or policy.applies_after is None:
            return None
        return cancel_free_until(float(policy.applies_after.seconds), ride.allotted_at, self.pace)

    @property
    def charged(self) -> bool:
        """Whether a ride that was cancelled had a driver for longer than is free."""
        ended = self.since(wire.BOOKING_CANCELLED) or self.now
        return self.fee_from is not None and ended >= self.fee_from

    @cached_property
    def drop(self) -> tuple[LatLng, str] | None:
        """Where the ride goes: the newest drop change that wasn't refused, else the offer's drop."""
        for action in reversed(self.page.actions):
            if action.name == "drop" and action.state == "done":
                place = _payload_place(action)
                if place:
                    return place
        offer = self.page.offer
        if offer.drop_lat is None or offer.drop_lng is None:
            return None
        return LatLng(offer.drop_lat, offer.drop_lng), offer.drop_name or _("the pinned place")

    @property
    def pickup(self) -> tuple[LatLng, str]:
        offer = self.page.offer
        return LatLng(offer.pickup_lat, offer.pickup_lng), offer.pickup_name or _("the pinned place")

    @property
    def total(self) -> Decimal | None:
        """What the ride comes to as far as known; for an auto its payable amount."""
        if self.kind is Kind.AUTO:
            return payable_of(self.snapshot.trip)
        return total_of(self.snapshot.price)

    def since(self, name: str) -> datetime | None:
        """When the order or the ride last came to a state."""
        return next((m.at for m in reversed(self.page.moments) if m.name == name), None)

    def last(self, name: str) -> Action | None:
        """The newest action of a name."""
        return next((a for a in reversed(self.page.actions) if a.name == name), None)

    @cached_property
    def for_words(self) -> dict[str, str | None]:
        """The slots of ridedash.wording."""
        order, seen = self.page.order, self.snapshot
        total = money(self.total, self.currency, self.locale)
        return {
            "driver": seen.driver_name,
            "eta": minutes(seen.eta.seconds) if seen.eta else None,
            "pickup": self.pickup[1],
            "drop": self.drop[1] if self.drop else _("wherever the guest says"),
            "fare": total,
            "payable": total,
            "fee": self.fee if self.charged else "",
            "who": self._who(),
            "booking_id": order.booking_id,
            "asked": self.at(order.sent_at, seconds=True),
            "next_try": self._next_try(),
            "ends": self.at(order.booking_timeout_at, seconds=True),
            "closed": self.at(order.resolved_at),
            "due": self.at(order.due_at),
            "order_at": self.at(order.ready_at or order.due_at),
        }

    def at(self, instant: datetime | None, *, seconds: bool = False) -> str:
        """An instant on the property's clock."""
        return clock_time(instant, self.tz, self.locale, seconds=seconds)

    def _who(self) -> str | None:
        asked = any(a.name in ("abort", "cancel") and a.state == "done" for a in self.page.actions)
        if self.page.order.state == "CLOSED_NOT_BOOKED" or asked:
            return _("us") if self.page.staff is None else _("our desk")
        return None

    def _next_try(self) -> str | None:
        text = self.page.order.next_retry
        try:
            parsed = datetime.fromisoformat(text) if text else None
            return self.at(parsed, seconds=True) if parsed and parsed.tzinfo else text
        except (ValueError, OverflowError):  # no time, or one that the property's zone puts outside the calendar
            return text


def _payload_place(action: Action) -> tuple[LatLng, str] | None:
    lat, lng = action.payload.get("lat"), action.payload.get("lng")
    if not isinstance(lat, (int, float)) or not isinstance(lng, (int, float)):
        return None
    return LatLng(lat, lng), str(action.payload.get("name") or _("the pinned place"))
