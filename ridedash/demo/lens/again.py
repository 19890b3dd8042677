"""Repeats a recorded call that only reads. The program's client makes it, so it is recorded too."""

from functools import partial
from typing import Final
from urllib.parse import parse_qsl

from ridedash.demo.lens.operations import query_of
from ridedash.demo.lens.store import RecordedCall
from ridedash.extensions import services
from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.service.errors import NoAnswer, ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.store.accounts import default_account
from ridedash.store.models.orders import Order

# not the labels of feedback: the client caches them for a day, so no call would be made
MAY_REPEAT: Final = frozenset({"products", "track_ride"})


class NotRepeated(Exception):
    """No account could make the call, or the call got no answer."""


def repeat(call: RecordedCall, property_id: int) -> None:
    """Repeat a call. Raises NotRepeated.

    A call that was made with a user's token is repeated with the account of its order, or else with
    the property's default account.
    """
    query = dict(parse_qsl(query_of(call.path)))
    try:
        if "Authorization" not in call.request.headers:
            _repeat(call.operation, query, None)
            return
        again = partial(_repeat, call.operation, query)
        call_with_token(services().tokens, _account(call, property_id), again)
    except (NeedsReconnect, NoRefreshNow, NoAnswer) as error:
        raise NotRepeated from error
    except ServiceError:
        pass  # a refusal is an answer too: the lens shows it


def _repeat(operation: str, query: dict[str, str], token: str | None) -> None:
    client = services().client
    if operation == "products":
        drop = _place(query, "drop") if "drop_lat" in query else None
        client.products(_place(query, "pickup"), drop, query.get("category"), token)
        return
    ids = {name: query.get(name) for name in ("booking_id", "txn_id")}
    client.track_ride(token or "", priority=Priority.PAGE, **ids)


def _place(query: dict[str, str], end: str) -> LatLng:
    return LatLng(float(query[f"{end}_lat"]), float(query[f"{end}_lng"]))


def _account(call: RecordedCall, property_id: int) -> int:
    with services().db.read() as s:
        order = s.get(Order, call.order) if call.order else None
        account = default_account(s, property_id)
    if order is not None:
        return order.account_id
    if account is None:
        raise NotRepeated
    return account.id
