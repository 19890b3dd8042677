"""Faults on each route of a visit: what the guest reads, which is never untrue.

What the page does by itself when no answer comes is tested in test_faults_browser.py.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from ridedash.rides.kiosk.opening import DAYS
from ridedash.rides.orders import resolve
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from tests.views.kiosk.lobby import DROP, Lobby, desk, lobby

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database
ROUTES = ("cars", "order", "ride", "cancel", "help", "end")
TRIPS = itertools.count(10)
NOTHING = "Nothing was booked."
LOST = None  # 503: the page repeats the request for five seconds, then says "Out of order"


@contextmanager
def away(lobby: Lobby) -> Iterator[None]:
    lobby.desk.service.down = True
    yield
    lobby.desk.service.down = False


@contextmanager
def out_of_order(lobby: Lobby) -> Iterator[None]:
    lobby.set(out_of_order=True)
    yield
    lobby.set(out_of_order=False)


@contextmanager
def closed(lobby: Lobby) -> Iterator[None]:
    shut = {day: [["03:00", "03:01"]] for day in DAYS}
    lobby.set(hours=shut)
    yield
    lobby.set(hours={})


@contextmanager
def failing(error: Exception) -> Iterator[None]:
    @contextmanager
    def write(_db: Database) -> Iterator[Any]:
        raise error
        yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "write", write)
        yield


@contextmanager
def locked(_lobby: Lobby) -> Iterator[None]:
    with failing(DatabaseBusy("locked")):
        yield


@contextmanager
def cut(_lobby: Lobby) -> Iterator[None]:
    with failing(CommitUnknown("gone")):
        yield


# by fault: its cause, and the answers before there is an order: LOST, or a state and a headline
FAULTS: dict[str, tuple[Callable[[Lobby], Any], dict[str, tuple[str, str] | None]]] = {
    "service away": (
        away,
        {"cars": ("trouble", "We can't ask for cars now."), "order": ("sending", "")},
    ),
    "out of order": (
        out_of_order,
        {
            "cars": ("trouble", "We can't book cars from this screen now."),
            "order": ("trouble", "We can't book cars from this screen now."),
        },
    ),
    "closed": (
        closed,
        {
            "cars": ("trouble", "This screen is closed now."),
            "order": ("trouble", "This screen is closed now."),
        },
    ),
    "database locked": (
        locked,
        {
            "cars": LOST,
            "order": ("trouble", "We can't book cars from this screen now."),
            "ride": LOST,
            "cancel": LOST,
            "help": LOST,  # the page says "We could not call. Please come to the desk."
            "end": LOST,
        },
    ),
    "commit cut": (
        cut,
        dict.fromkeys(ROUTES, LOST) | {"order": ("sending", "Booking your ride")},
    ),
}


def answered(lobby: Lobby, route: str, **form: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of an answer; {} without JSON."""
    given = {"visit": lobby.visit, "form_token": lobby.token, "screen": "car"}
    given["name"] = f"Room {lobby.visit[-3:]}"
    given |= {"drop_lat": f"-38.55{next(TRIPS)}"}  # a new drop, for which no list of cars is stored
    headers = {"Accept": "application/json"}
    answer = lobby.client.post(f"/kiosk/{route}", data=DROP | given | form, headers=headers)
    return answer.status_code, answer.get_json(silent=True) or {}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_before_an_order_is_explained_in_words_for_guests(lobby: Lobby, fault: str) -> None:
    broken, expected_of = FAULTS[fault]
    offer = lobby.offer()
    for route in ROUTES:
        for language in ("en", "ar"):
            lobby.next_guest()
            with ExitStack() as during:
                during.enter_context(broken(lobby))
                form = {"offer": offer, "number": "1", "pin": "1234", "lang": language}
                status, body = answered(lobby, route, **form)
            expected = expected_of.get(route, ("", ""))
            if expected is LOST:
                assert status == 503, route
                continue
            assert status in (200, 204), (fault, route)
            words = body.get("words", {})
            shown = " ".join(words.values())
            if expected[0]:
                assert body["state"] == expected[0], (fault, route)
            if expected[1] and language == "en":
                assert words["headline"] == expected[1]
            if language == "ar" and shown:
                assert not any("a" <= letter <= "z" for letter in shown), shown
            assert NOTHING not in shown or lobby.orders() == [], (fault, route)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_after_an_order_never_says_that_nothing_was_ordered(
    lobby: Lobby, fault: str
) -> None:
    offer = lobby.offer()
    ride = lobby.order(offer=offer)["ride"]
    ticket = {"number": "1", "pin": ride["pin"]}
    lobby.become(lobby.ride(1), "BOOKED")
    for route in ROUTES:
        with ExitStack() as during:
            during.enter_context(FAULTS[fault][0](lobby))
            status, body = answered(lobby, route, offer=offer, **ticket)
        lost = route != "order" and FAULTS[fault][1].get("ride", "") is LOST
        assert status in ((503,) if lost else (200, 204)), (fault, route)
        shown = " ".join(body.get("words", {}).values())
        assert bool(shown) == (not lost and route in ("cars", "order", "cancel")), (fault, route)
        if route != "cars":
            assert NOTHING not in shown, (fault, route)
        assert "Nothing has changed" not in shown
        if route == "order" and status == 200:
            assert (body["state"], body["ride"]["number"]) == ("booked", "K1"), fault
    assert len(lobby.orders()) == 1


def test_a_cancel_that_may_have_arrived_is_not_reported_as_unsent(lobby: Lobby) -> None:
    ride = lobby.order()["ride"]
    with cut(lobby):
        assert answered(lobby, "cancel", number="1", pin=ride["pin"])[0] == 503
    known = {"number": "1", "pin": ride["pin"]}
    with pytest.MonkeyPatch.context() as patch:

        def unknown(*_args: object) -> None:
            raise CommitUnknown("gone")

        patch.setattr(resolve, "withdraw", unknown)
        answer = lobby.post("cancel", **known)
    assert (answer["state"], answer["words"]["headline"]) == ("trouble", "Please wait a moment.")


def test_a_page_that_only_looks_orders_nothing(lobby: Lobby) -> None:
    offer = lobby.offer()
    assert lobby.order(offer=offer, look="1")["state"] == "sending"
    assert lobby.orders() == []
    lobby.order(offer=offer)
    assert lobby.order(offer=offer, look="1")["ride"]["number"] == "K1"
