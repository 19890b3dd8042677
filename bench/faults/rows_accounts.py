"""A token expires in the middle of a shift, or a fixed price expires before its order is sent.

Rows 13 and 31 of the fault matrix (docs/reliability.md 2).
"""

import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from sqlalchemy import update

from bench.faults.scoreboard import Case, Verdict, row
from bench.faults.shop import APP_TOKEN, Service, Shop, csrf_of, shop
from ridedash.sandbox import SandboxSettings, create_sandbox, mint_token
from ridedash.sandbox.city.city import cities
from ridedash.store.accounts import keep_tokens
from ridedash.store.models.people import Account
from ridedash.store.orders import Offer, Ride

RIDES: Final = 10
RECONNECT: Final = "The account needs reconnecting"


@row(13, "401 in the middle of a shift")
def token_ended(case: Case) -> Verdict:
    """Ten simultaneous 401 answers cause one refresh; a refused refresh shows "Reconnect".

    The last known details of rides stay visible.
    """
    rounds, wrong, errors = case.size(30, 2), Counter[str](), 0
    service = Service()
    with shop(case.folder, service.handle, durable=False) as desk:
        orders = _ten_rides(desk, service)
        for number in range(rounds):
            service.tokens = {"another one"}
            wrong["refreshes"] += _polled_at_once(desk, service, orders) != 1
            wrong["a ride was not polled"] += any(
                desk.ride(each).seen_at != desk.clock() for each in orders
            )
            wrong["account"] += _account(desk).state != "ok" or service.refreshes != number + 1
        for status, state in ((503, "ok"), (400, "reconnect")):
            errors += _refused_refresh(desk, service, orders, status, wrong)
            wrong[f"account after HTTP {status}: {_account(desk).state}"] += (
                _account(desk).state != state
            )
    note = f"{rounds} x {RIDES} at once; {dict(+wrong) or 'one refresh each; last facts stay'}"
    return Verdict(rounds * RIDES, errors500=errors, ok=not +wrong, note=note)


def _ten_rides(desk: Shop, service: Service) -> list[int]:
    orders = [desk.send() for _ in range(RIDES)]
    for order_id in orders:
        booking = str(desk.order(order_id).booking_id)
        facts = {
            "booking_id": booking,
            "booking_status": "CALL_DRIVER",
            "driver_name": "Driver Cedar",
        }
        service.tracks[booking] = [facts]
    return orders


def _polled_at_once(desk: Shop, service: Service, orders: list[int]) -> int:
    """Poll all rides in threads of the worker. Returns the number of refreshes."""
    before = service.refreshes
    desk.clock.go(10)
    stop = threading.Event()
    worker = threading.Thread(target=desk.worker.run, args=(stop,))
    worker.start()
    for _ in range(1200):
        if all(desk.ride(each).seen_at == desk.clock() for each in orders) or stop.wait(0.05):
            break
    stop.set()
    desk.worker.wake()
    worker.join(30)
    return service.refreshes - before


def _account(desk: Shop) -> Account:
    with desk.s.db.read() as s:
        return s.get_one(Account, desk.account_id)


def _refused_refresh(
    desk: Shop, service: Service, orders: list[int], status: int, wrong: Counter[str]
) -> int:
    """Let the refresh be answered with HTTP `says`: 503 is no clear answer, 400 a final refusal.

    Pages must still show the last known details. Returns the number of their 500 answers.
    """
    body = {"error": "invalid_grant"} if status == 400 else {"message": "away"}
    service.tokens, service.token = {"another one"}, lambda: httpx.Response(status, json=body)  # type: ignore[method-assign]
    with desk.s.db.write() as s:
        s.execute(update(Account).values(expires_at=desk.clock() - timedelta(seconds=1)))
        s.execute(update(Ride).where(Ride.order_id == orders[0]).values(status="COMPLETED"))
    desk.clock.go(40)
    for _ in range(3):
        desk.worker.step()
    browser, errors = desk.browser(), 0
    point = "pickup_lat=-38.5&pickup_lng=-128&drop_lat=-38.52&drop_lng=-128.03"
    for path in (
        "/",
        f"/rides/{orders[0]}",
        f"/rides/{orders[1]}",
        f"/products.json?{point}",
        f"/rides/new?show=1&{point}",
    ):
        answer = browser.get(path)
        errors += answer.status_code == 500
        wrong[f"{path}: {answer.status_code}"] += answer.status_code != 200
    page = unescape(browser.get(f"/rides/{orders[1]}").text)
    wrong["facts gone"] += (
        "Driver Cedar" not in page or desk.ride(orders[1]).status != "CALL_DRIVER"
    )
    wrong["no word of reconnecting"] += (RECONNECT in page) != (status == 400)
    return errors


@row(31, "A fixed price runs out between estimate and send")
def fare_expired(case: Case) -> Verdict:
    """The order is REJECTED; the form shows old and new price; one press books."""
    rounds, wrong = case.size(10, 1), Counter[str]()
    for number in range(rounds):
        with _sandbox_desk(case.sub(f"desk-{number}")) as (desk, clock):
            for fault in _expired_round(desk, clock):
                wrong[fault] += 1
    return Verdict(
        rounds,
        ok=not wrong,
        note=str(dict(wrong) or "REJECTED, old and new price, booked by one press"),
    )


class _SandboxDesk:
    """A property whose service is the sandbox; `ahead` advances the sandbox's clock."""

    def __init__(self, folder: Path) -> None:
        self.ahead = timedelta()
        self.base = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
        settings = SandboxSettings(
            database=folder / "sandbox.db",
            app_token=APP_TOKEN,
            client_id="id",
            client_secret="secret",
            clock=lambda: self.base + self.ahead,
        )
        home = cities()[0]
        home.roads.snap(home.center)  # builds the streets now, or the first estimate would be slow
        self._wire = httpx.WSGITransport(app=create_sandbox(settings))
        self._shop = shop(folder, lambda request: self._wire.handle_request(request), durable=False)
        self.user = mint_token(settings.database, "house")

    def __enter__(self) -> "tuple[Shop, _SandboxDesk]":
        desk = self._shop.__enter__()
        with desk.s.db.write() as s:
            keep_tokens(
                s.get_one(Account, desk.account_id),
                desk.s.vault,
                self.user,
                None,
                None,
                desk.clock(),
            )
        return desk, self

    def __exit__(self, *error: Any) -> None:
        self._shop.__exit__(*error)


_sandbox_desk = _SandboxDesk


def _expired_round(desk: Shop, clock: _SandboxDesk) -> list[str]:
    browser, places = desk.browser(), cities()[0].places
    start, end = (
        next(p for p in places if p.id == "grand-meridian-hotel").position,
        places[-1].position,
    )
    trip = {
        "pickup_lat": start.lat,
        "pickup_lng": start.lng,
        "drop_lat": end.lat,
        "drop_lng": end.lng,
    }
    page = browser.get("/rides/new?" + urlencode({**trip, "show": 1})).text
    offer = next(each for each in _offers(desk, page) if each.fare_id)
    answer = browser.post("/rides/new", data=_filled(desk, page, offer))
    order_id = int(answer.headers["Location"].rsplit("/", 1)[1])
    clock.ahead = timedelta(seconds=400)
    with desk.s.db.write() as s:  # fakes another shown price: the sandbox's price stays the same
        s.execute(update(Offer).where(Offer.id == offer.id).values(seat_prices={"": "1"}))
    desk.worker.step()
    order = desk.order(order_id)
    faults = (
        []
        if (order.state, order.code) == ("REJECTED", "FARE_EXPIRED")
        else [f"{order.state} {order.code}"]
    )
    shown = browser.get(f"/rides/{order_id}").text
    back = browser.post(f"/rides/{order_id}/again", data={"csrf_token": csrf_of(shown)})
    page = browser.get(back.headers["Location"]).text
    again = next(each for each in _offers(desk, page) if each.category == offer.category)
    if f"Price changed from ₹1 fixed to {again.price_text}" not in unescape(page):
        faults.append("no old and new price")
    pressed = browser.post(
        "/rides/new", data=_filled(desk, page, again) | {"supersedes": str(order_id)}
    )
    desk.worker.step()
    newest = desk.orders()[-1]
    if (pressed.status_code, newest.state, newest.supersedes) != (303, "BOOKED", order_id):
        faults.append(f"HTTP {pressed.status_code}, {newest.state}")
    return faults


def _offers(desk: Shop, page: str) -> list[Offer]:
    """The offers of the cards on a page, in their order."""
    ids = [int(each) for each in re.findall(r'name="offer"[^>]*value="(\d+)"', page)]
    with desk.s.db.read() as s:
        return [s.get_one(Offer, each) for each in dict.fromkeys(ids)]


def _filled(desk: Shop, page: str, offer: Offer) -> dict[str, str]:
    trip = {
        "pickup_lat": offer.pickup_lat,
        "pickup_lng": offer.pickup_lng,
        "drop_lat": offer.drop_lat,
        "drop_lng": offer.drop_lng,
    }
    return desk.form(page, offer=offer.id, guest_name="Guest Heron", **trip)
