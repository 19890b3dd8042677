"""What answers tell the client's traffic, and calls not made while the service is silent."""

import json
import math

import httpx
import pytest

from ridedash.geo import LatLng
from ridedash.service import responses
from ridedash.service.client import RideClient
from ridedash.service.errors import NoAnswer, ServiceError, Throttled
from ridedash.service.throttle.traffic import Priority, Result, Traffic
from ridedash.service.transport.http import Answer, Http
from ridedash.service.types.bookings import NewBooking
from tests.service.bodies import PRODUCTS

PICKUP = LatLng(12.1, 77.1)
ORDER = NewBooking(pickup=PICKUP, category="mini", merchant_txn_id="rd-1")
REFUSAL = {"status": "FAILURE", "code": "INVALID_CITY"}


class Stage:
    """A client with a clock that tests set, and a service that repeats one answer, `answer`."""

    def __init__(self, answer, rate=math.inf):
        self.answer, self.calls, self.now = answer, 0, 0.0
        self.traffic = Traffic(
            rate, monotonic=lambda: self.now, pause=self.pause, chance=lambda: 0.0
        )
        clock = {"monotonic": lambda: self.now, "pause": self.pause}
        http = Http(httpx.MockTransport(self.play))
        self.client = RideClient(
            http, "https://rides.example", "key", **clock, traffic=self.traffic
        )

    def pause(self, seconds):
        self.now += seconds

    def play(self, _request):
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return (
            self.answer
            if isinstance(self.answer, httpx.Response)
            else httpx.Response(200, json=self.answer)
        )

    def ask(self, call, times=1):
        for _ in range(times):
            with pytest.raises(ServiceError) as caught:
                call(self.client)
        return caught.value


def products(client):
    return client.products(PICKUP)


def track(client):
    return client.track_ride("t", booking_id="C1")


def create(client):
    return client.create_booking(ORDER, "t")


def cancel(client):
    return client.cancel_booking("C1", "changed mind", "t")


@pytest.mark.parametrize(
    ("status", "body", "result"),
    [
        (200, b'{"status": "SUCCESS"}', Result.ANSWERED),
        (200, b' \n{"status": "FAILURE"}', Result.ANSWERED),
        (200, b"<html>sign in to this network</html>", Result.FAILED),
        (200, b"", Result.FAILED),
        (300, b'{"status": "SUCCESS"}', Result.FAILED),
        (302, b"", Result.FAILED),
        (400, b"<html>", Result.ANSWERED),
        (401, b"", Result.ANSWERED),
        (404, b"", Result.ANSWERED),
        (429, b"", Result.LIMITED),
        (500, json.dumps(REFUSAL).encode(), Result.ANSWERED),
        (500, b'{"code": "SOMETHING"}', Result.FAILED),
        (500, b"[" * 5000, Result.FAILED),
        (502, b"<html>", Result.FAILED),
        (503, b"", Result.FAILED),
    ],
)
def test_a_refusal_and_a_4xx_are_answers_and_a_gateway_is_none(status, body, result):
    assert responses.result_of(Answer(status, {}, body)) is result


KEY = {"status": "FAILURE", "code": "invalid_partner_key"}


@pytest.mark.parametrize(
    ("status", "body", "result"),
    [
        (403, KEY, Result.KEY_REFUSED),
        (401, KEY, Result.KEY_REFUSED),
        (200, KEY, Result.KEY_REFUSED),
        (200, {"message": "no", "code": "INVALID PARTNER KEY"}, Result.KEY_REFUSED),
        (403, {"message": "Forbidden"}, Result.KEY_REFUSED),
        (403, "<html>", Result.KEY_REFUSED),
        (403, {"status": "FAILURE", "code": "BANNED USER"}, Result.ANSWERED),
        (401, {"code": "invalid_token"}, Result.ANSWERED),
        (401, {"message": "the partner says no"}, Result.ANSWERED),
        (200, {"status": "SUCCESS", "message": "our partner drives"}, Result.ANSWERED),
    ],
)
def test_an_answer_that_refuses_the_partners_key_is_distinguished_from_one_about_the_user(
    status, body, result
):
    assert responses.result_of(Answer(status, {}, json.dumps(body).encode())) is result


@pytest.mark.parametrize(
    ("status", "result"),
    [(200, Result.FAILED), (401, Result.ANSWERED), (429, Result.LIMITED), (503, Result.FAILED)],
)
def test_of_an_answer_that_can_not_be_read_the_status_says_what_it_can(status, result):
    cut = Answer(status, {}, b'{"status": "FAILURE", "code": "INVALID_CITY"', "too long")
    assert responses.result_of(cut) is result


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (NoAnswer("ConnectError", sent=False), Result.FAILED),
        (NoAnswer("ConnectTimeout", sent=False), Result.FAILED),
        (NoAnswer("PoolTimeout", sent=False), Result.FAILED),
        (NoAnswer("ReadTimeout", sent=True), Result.FAILED),
        (NoAnswer("UnicodeEncodeError", sent=False), Result.VOID),
        (NoAnswer("LocalProtocolError", sent=False), Result.VOID),
    ],
)
def test_what_could_not_be_built_is_our_fault_and_says_nothing_of_the_service(error, result):
    assert responses.result_of_error(error) is result


@pytest.mark.parametrize("call", [create, cancel])
def test_five_writes_without_an_answer_throttle_the_sixth_which_was_not_sent(call):
    stage = Stage(httpx.ConnectError("refused"))
    stage.ask(call, 5)
    held = stage.ask(call)
    assert isinstance(held, Throttled)
    assert (held.sent, held.why, held.wait_s, stage.calls) == (False, "silent", 5, 5)
    stage.now += 5
    stage.answer = {"status": "SUCCESS", "booking_id": "C1"}
    call(stage.client)
    assert not stage.traffic.is_open(write=True)


def test_reads_are_throttled_at_once_and_without_a_second_try():
    stage = Stage(httpx.ReadTimeout("late"))
    stage.ask(track, 5)
    before = stage.now
    assert isinstance(stage.ask(products), Throttled)
    assert (stage.calls, stage.now) == (5, before)
    assert stage.client.feedback_options("mini", "t").from_document


def test_refusals_a_hundred_times_open_nothing():
    stage = Stage(REFUSAL)
    stage.ask(cancel, 100)
    assert not stage.traffic.is_open(write=True)
    assert stage.traffic.silent_since is None


def test_a_second_try_is_made_only_within_the_budget_of_repeats():
    stage = Stage(httpx.Response(500))
    calls = []
    for _ in range(3):
        before = stage.calls
        stage.ask(products)
        calls.append(stage.calls - before)
        stage.answer = PRODUCTS
        products(stage.client)
        stage.answer = httpx.Response(500)
    assert calls == [2, 2, 1]


def test_a_call_of_ours_that_can_not_be_built_leaves_the_breaker_alone():
    stage = Stage(PRODUCTS)
    for _ in range(30):
        with pytest.raises(NoAnswer):
            stage.client.track_ride("a – token", booking_id="C1")
    assert not stage.traffic.is_open(write=False)
    products(stage.client)


def test_polls_have_the_priority_that_they_ask_for_and_never_wait():
    stage = Stage({"booking_id": "C1", "booking_status": "CALL_DRIVER"}, rate=45)
    while stage.traffic.capacity(Priority.WAITING):
        stage.client.track_ride("t", booking_id="C1", priority=Priority.WAITING)
    before = stage.now
    assert isinstance(stage.ask(track), Throttled)
    assert stage.now == before
    stage.client.track_ride("t", booking_id="C1", priority=Priority.PAGE)


def test_the_time_for_waiting_counts_as_time_of_the_call():
    stage, given = Stage(PRODUCTS, rate=10), []

    class Timed(Http):
        def call(self, request):
            given.append(request.total_s)
            return super().call(request)

    client = RideClient(
        Timed(httpx.MockTransport(stage.play)),
        "https://rides.example",
        "key",
        traffic=stage.traffic,
    )
    for _ in range(4):
        stage.traffic.settle(stage.traffic.enter(Priority.WRITE), Result.ANSWERED)
    products(client)
    assert stage.now > 0.1
    assert given == [pytest.approx(4 - stage.now)]
