"""A recorder gets each call as it happened; without a recorder, no record is made."""

import httpx
import pytest

from ridedash.service.errors import NoAnswer, ServiceError, Throttled, Unreadable
from ridedash.service.hooks import Exchange, MarkedCall, NoHooks, exchange_of
from ridedash.service.transport.http import Marks
from tests.service.bodies import PRODUCTS, SNAPSHOT
from tests.service.test_client import APP_TOKEN, OPERATIONS, ORDER, PICKUP, TOKEN, Service


class Recorded(NoHooks):
    """Hooks that keep every call."""

    records = True

    def __init__(self) -> None:
        self.all: list[Exchange] = []

    def exchange(self, exchange: Exchange) -> None:
        self.all.append(exchange)


def recorded(*answers):
    service, exchanges = Service(*answers), Recorded()
    client = service.client()
    client.traffic.hooks = exchanges
    return client, exchanges


@pytest.mark.parametrize(("call", "method", "path", "body"), OPERATIONS)
def test_each_operation_is_given_with_request_and_answer(call, method, path, body):
    client, exchanges = recorded(body)
    call(client)
    (seen,) = exchanges.all
    assert (seen.operation, seen.request.method, seen.outcome) == (path, method, "2xx")
    assert seen.answer is not None
    assert seen.answer.status == 200
    assert seen.request.sent_headers()["X-APP-TOKEN"] == APP_TOKEN
    assert seen.first_byte_s is not None
    assert 0 <= seen.waited_s <= seen.total_s
    assert 0 <= seen.first_byte_s <= seen.total_s
    assert seen.request.attempt == 1


def test_a_repeated_call_is_given_twice_with_its_attempt():
    client, exchanges = recorded(httpx.Response(503), PRODUCTS)
    client.products(PICKUP)
    assert [(each.request.attempt, each.outcome) for each in exchanges.all] == [
        (1, "5xx"),
        (2, "2xx"),
    ]


def test_a_call_without_an_answer_says_why():
    client, exchanges = recorded(httpx.ReadTimeout("slow"))
    with pytest.raises(NoAnswer):
        client.create_booking(ORDER, TOKEN)
    (seen,) = exchanges.all
    assert (seen.answer, seen.outcome) == (None, "unanswered")
    assert seen.failure == "no answer (ReadTimeout), sent"
    assert seen.first_byte_s is None


def test_a_call_without_a_permit_is_given_as_one_that_was_not_made():
    client, exchanges = recorded(httpx.ConnectError("down"))
    for _ in range(50):
        with pytest.raises(ServiceError):
            client.track_ride(TOKEN, booking_id="CRN1")
    assert exchanges.all[-1].outcome == "held"
    with pytest.raises(Throttled):
        client.track_ride(TOKEN, booking_id="CRN1")
    assert exchanges.all[-1].waited_s == pytest.approx(exchanges.all[-1].total_s)


def test_without_a_recorder_nothing_is_made(monkeypatch):
    made: list[object] = []
    monkeypatch.setattr(Marks, "__init__", lambda self: made.append(self))
    service = Service(SNAPSHOT)
    client = service.client()
    client.track_ride(TOKEN, booking_id="CRN1")
    assert made == []
    assert NoHooks.records is False


def test_an_unreadable_answer_is_stored_as_evidence():
    noted = Marks()
    noted.failed(Unreadable(200, "too long", "{{"))
    assert (noted.failure, noted.evidence) == ("unreadable answer: too long (HTTP 200)", "{{")
    noted = Marks()
    noted.failed(ServiceError())
    assert (noted.failure, noted.evidence) == ("ServiceError", "")


def test_a_call_has_waited_until_it_got_its_permit():
    noted, call = Marks(), MarkedCall("track_ride", "2xx", "rest", 100.0, 5.0)
    unpermitted = exchange_of(None, noted, call, None)
    assert (unpermitted.waited_s, unpermitted.first_byte_s, unpermitted.total_s) == (5.0, None, 5.0)
    noted.permitted, noted.answered = 102.0, 103.5
    made = exchange_of(None, noted, call, None)
    assert (made.waited_s, made.first_byte_s, made.total_s) == (2.0, 1.5, 5.0)
    assert (made.operation, made.outcome, made.lane) == ("track_ride", "2xx", "rest")
