"""The same car for the same trip, asked for again when a planned ride comes due: what it costs now, or why not."""

from typing import Final

from ridedash import wire
from ridedash.rides.accounts import AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.classify import NO_ANSWER, NO_CONNECTION, RATE_LIMITED, RECONNECT
from ridedash.service.bookings import NewBooking
from ridedash.service.client import RideClient
from ridedash.service.errors import Held, NoAnswer, RateLimited, Refused, ServiceError, Unauthorized
from ridedash.service.products import Product, ProductList
from ridedash.service.traffic import Lane
from ridedash.store.order_tables import Order
from ridedash.store.orders import Trip

# why a planned ride can't be ordered yet, beside our codes of classify.py and the service's own
CAR_GONE: Final = "PLAN_CAR_GONE"  # the category is not offered at the pickup now
NO_PRICE: Final = "PLAN_NO_PRICE"  # a fixed price is due and the service gave none
GUARD_BUSY: Final = "PLAN_GUARD_BUSY"  # the guest has an open ride from there
NO_BOX: Final = "PLAN_NO_BOX"  # an answer could not be kept, so nothing is sent
NO_WORKER: Final = "PLAN_NO_WORKER"  # nobody was there to try
REFUSED: Final = "PLAN_REFUSED"  # the service refused to say, and gave no code

SHORT_S: Final = 5.0  # a wait for a turn that the sender has time for


class NotYet(Exception):
    """A planned ride can't be ordered now; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def check_room(client: RideClient) -> None:
    """Raise NotYet while a send would be held back: READY lasts 30 s only."""
    if client.traffic.wait_s(Lane.WRITE) > SHORT_S:
        raise NotYet(NO_CONNECTION if client.traffic.is_open(write=True) else RATE_LIMITED)


def ask_again(client: RideClient, tokens: AccountTokens, order: Order, trip: Trip, *, fixed: bool) -> Product:
    """The order's car as it is offered now, to its account; `fixed`: its price was. Raises NotYet."""
    try:
        listed = _listed(client, tokens, order, trip)
    except ServiceError as error:
        raise NotYet(_why(error)) from error
    except (NeedsReconnect, NoRefreshNow) as error:
        raise NotYet(error.code) from None
    product = listed.product(order.category)
    if product is None:
        raise NotYet(CAR_GONE)
    if not _priced(product, order.seats, fixed):
        raise NotYet(NO_PRICE)
    return product


def _listed(client: RideClient, tokens: AccountTokens, order: Order, trip: Trip) -> ProductList:
    token = tokens.bearer(order.account_id)
    try:
        return client.products(trip.pickup, trip.drop, order.category, token)
    except Unauthorized:
        fresh = tokens.refreshed(order.account_id, token)
        return client.products(trip.pickup, trip.drop, order.category, fresh)


def _priced(product: Product, seats: int | None, fixed: bool) -> bool:
    """Whether a price is there where one must be: fixed for shared rides, fixed or by the meter where it was fixed."""
    if product.kind is wire.Kind.SHARE:
        fares = product.share.fares if product.share else ()
        return any(fare.seats == seats and fare.cost is not None for fare in fares)
    estimate = product.estimate
    by_meter = estimate is not None and (estimate.amount_min or estimate.amount_max) is not None
    return not fixed or by_meter or (estimate is not None and estimate.upfront)


def _why(error: ServiceError) -> str:
    if isinstance(error, RateLimited) or (isinstance(error, Held) and error.why == Held.LIMITED):
        return RATE_LIMITED
    if isinstance(error, Unauthorized):
        return RECONNECT
    if isinstance(error, Refused):
        wanted = wire.normal_code(error.code or "")
        gone = {wire.normal_code(code) for code in (wire.INVALID_CAR_CATEGORY, wire.INVALID_CITY_CAR_CATEGORY)}
        return CAR_GONE if wanted in gone else error.code or REFUSED
    return NO_CONNECTION if isinstance(error, NoAnswer) and not error.sent else NO_ANSWER


def same_with(body: str, fare_id: str | None) -> str:
    """The frozen request with today's fixed price. Raises pydantic.ValidationError."""
    asked = NewBooking.model_validate_json(body).model_dump()
    return NewBooking.model_validate(asked | {"fare_id": fare_id}).model_dump_json()
