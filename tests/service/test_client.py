"""The eight operations: exactly what each of them sends, and what comes back."""

import gzip
import itertools
import json
import logging
import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.geo import LatLng
from ridedash.rides.state.outcome import classify
from ridedash.service.client import DATE_LASTS_S, RideClient
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    ServiceError,
    Unauthorized,
    Unreadable,
)
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import CreateBody, NewBooking
from tests.service.bodies import CREATED, PRODUCTS, RETRYING, SNAPSHOT
from tests.service.servers import answer, serving

BASE = "https://rides.example/api"
APP_TOKEN = "canary-app-token-77b1"
TOKEN = "canary-user-token-9f3a"
PICKUP, DROP = LatLng(12.1, 77.1), LatLng(12.2, 77.2)
ORDER = NewBooking(pickup=PICKUP, category="mini", merchant_txn_id="rd-1")
DONE = {"status": "SUCCESS", "request_type": "X", "header": "SUCCESS", "text": "It is done"}
OPTIONS = {"status": "SUCCESS", "driver_feedback_options": {"1": ["Late"], "5": ["Kind"]}}


class Service:
    """Gives the answers in turn, repeats the last one, and keeps the requests."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        self.now = 0.0

    def __call__(self, request):
        self.requests.append(request)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(given, Exception):
            raise given
        return given if isinstance(given, httpx.Response) else httpx.Response(200, json=given)

    def client(self):
        http = Http(httpx.MockTransport(self))
        clock = {"pause": self.pause, "monotonic": lambda: self.now}
        return RideClient(http, BASE + "/", APP_TOKEN, **clock, traffic=Traffic(math.inf, **clock))

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds

    @property
    def last(self):
        return self.requests[-1]


OPERATIONS = [
    (lambda c: c.products(PICKUP), "GET", "/v1/products", PRODUCTS),
    (lambda c: c.create_booking(ORDER, TOKEN), "POST", "/v1.5/bookings/create", CREATED),
    (lambda c: c.abort_booking("CRN1", TOKEN), "POST", "/v1/bookings/abort", DONE),
    (
        lambda c: c.update_drop_location("CRN1", DROP, TOKEN),
        "POST",
        "/v1/bookings/drop_location",
        DONE,
    ),
    (
        lambda c: c.cancel_booking("CRN1", "Guest changed plans", TOKEN),
        "POST",
        "/v1/bookings/cancel",
        DONE,
    ),
    (lambda c: c.track_ride(TOKEN, booking_id="CRN1"), "GET", "/v1/bookings/track_ride", SNAPSHOT),
    (lambda c: c.submit_feedback("CRN1", 5, TOKEN), "POST", "/v1/bookings/feedback", DONE),
    (
        lambda c: c.feedback_options("mini", TOKEN),
        "GET",
        "/v1.5/bookings/feedback/options",
        OPTIONS,
    ),
]
NAMES = [path.rsplit("/", 1)[-1] for _, _, path, _ in OPERATIONS]
WITHOUT_CREATE = [each for each in OPERATIONS if each[2] != "/v1.5/bookings/create"]


@pytest.mark.parametrize(("call", "method", "path", "body"), OPERATIONS, ids=NAMES)
def test_each_operation_has_its_method_path_and_headers(call, method, path, body):
    service = Service(body)
    call(service.client())
    request = service.last
    assert (request.method, request.url.path) == (method, "/api" + path)
    assert request.headers["X-APP-TOKEN"] == APP_TOKEN
    assert request.headers.get("Authorization") == (
        None if path == "/v1/products" else f"Bearer {TOKEN}"
    )
    assert request.headers.get("Content-Type") == ("application/json" if method == "POST" else None)
    assert request.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (
            lambda c: c.create_booking(ORDER, TOKEN),
            {
                "pickup_lat": 12.1,
                "pickup_lng": 77.1,
                "category": "mini",
                "pickup_mode": "now",
                "merchant_txn_id": "rd-1",
            },
        ),
        (lambda c: c.abort_booking("CRN1", TOKEN), {"booking_id": "CRN1"}),
        (
            lambda c: c.update_drop_location("CRN1", DROP, TOKEN),
            {"drop_lat": 12.2, "drop_lng": 77.2, "booking_id": "CRN1"},
        ),
        (
            lambda c: c.cancel_booking("CRN1", "Plans changed", TOKEN),
            {"booking_id": "CRN1", "reason": "Plans changed"},
        ),
        (
            lambda c: c.submit_feedback("CRN1", 2, TOKEN, ["Late", "Unsafe Driving"], "too fast"),
            {
                "booking_id": "CRN1",
                "rating": 2,
                "feedback": "Late,Unsafe Driving",
                "comments": "too fast",
            },
        ),
        (lambda c: c.submit_feedback("CRN1", 1, TOKEN), {"booking_id": "CRN1", "rating": 1}),
        (lambda c: c.submit_feedback("CRN1", 5, TOKEN), {"booking_id": "CRN1", "rating": 5}),
    ],
)
def test_each_payload_has_exactly_the_documents_names(call, sent):
    service = Service(DONE)
    call(service.client())
    assert json.loads(service.last.content) == sent


@pytest.mark.parametrize(
    ("call", "query"),
    [
        (lambda c: c.products(PICKUP), {"pickup_lat": "12.1000000", "pickup_lng": "77.1000000"}),
        (
            lambda c: c.products(PICKUP, DROP, "share"),
            {
                "pickup_lat": "12.1000000",
                "pickup_lng": "77.1000000",
                "drop_lat": "12.2000000",
                "drop_lng": "77.2000000",
                "category": "share",
            },
        ),
        (lambda c: c.track_ride(TOKEN, booking_id="CRN1"), {"booking_id": "CRN1"}),
        (lambda c: c.track_ride(TOKEN, txn_id="T&1"), {"txn_id": "T&1"}),
        (lambda c: c.feedback_options("mini", TOKEN), {"category": "mini"}),
        (
            lambda c: c.feedback_options("rental", TOKEN, "micro"),
            {"category": "rental", "sub_category": "micro"},
        ),
    ],
)
def test_each_query_has_exactly_the_documents_names(call, query):
    service = Service(PRODUCTS | SNAPSHOT | OPTIONS)
    call(service.client())
    assert dict(service.last.url.params) == query
    assert service.last.content == b""


def test_products_carry_the_users_token_when_there_is_one():
    service = Service(PRODUCTS)
    assert service.client().products(PICKUP, token=TOKEN).product("mini").display_name == "Mini"
    assert service.last.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.track_ride(TOKEN),
        lambda c: c.track_ride(TOKEN, booking_id="a", txn_id="b"),
        lambda c: c.track_ride(TOKEN, booking_id=""),
        lambda c: c.submit_feedback("CRN1", 0, TOKEN),
        lambda c: c.submit_feedback("CRN1", 6, TOKEN),
        lambda c: c.products(LatLng(float("nan"), 1)),
        lambda c: c.products(PICKUP, LatLng(1, 181)),
        lambda c: c.update_drop_location("CRN1", LatLng(99, 1), TOKEN),
    ],
)
def test_local_nonsense_is_refused_before_anything_is_sent(call):
    service = Service(DONE)
    with pytest.raises(ValueError):
        call(service.client())
    assert service.requests == []


@pytest.mark.parametrize(
    "base", ["http://rides.example", "ftp://rides.example", "", "https://key@rides.example"]
)
def test_a_base_address_that_would_leak_the_tokens_is_refused(base):
    with pytest.raises(ValueError):
        RideClient(Http(httpx.MockTransport(Service(DONE))), base, APP_TOKEN)


# ---------------------------------------------------------------- create


def created(given):
    service = Service(given)
    got = service.client().create_booking(ORDER, TOKEN)
    assert len(service.requests) == 1
    return got


def test_create_gives_the_body_of_a_success():
    got = created(CREATED)
    assert (got.http_status, got.readable, got.body) == (200, True, CreateBody.from_wire(CREATED))
    assert created(RETRYING).body.txn_id == "TXN1"


@pytest.mark.parametrize("begin", [b"", b'"text": "' + b"0" * 30_000 + b'", '])
def test_a_body_that_is_no_json_may_name_a_booking_wherever_it_does(begin):
    torn = b"{" + begin + b'"Booking_ID": "C1", "message": NaN}'
    got = created(httpx.Response(422, content=torn))
    assert (got.body, got.names_id) == (None, True)
    assert not created(httpx.Response(422, content=b"<h1>No</h1>")).names_id


@pytest.mark.parametrize(
    "content",
    [
        b'[{"status": "SUCCESS", "booking_id": "C1"}]',
        b'"{\\"booking_id\\": \\"C1\\"}"',
        b'{"data": {"booking_id": "C1"}}',
        b'{"message": "see below", "data": {"booking_id": "C1"}}',
        b'{"status": "SUCCESS", "txn_id": "T1", "x": NaN}',
        b'{"booking_id": null, "txn_id": "null"}',
        '{"booking_id": "C1"}'.encode("utf-16"),
    ],
)
def test_an_id_is_seen_in_a_body_of_any_shape_so_a_4xx_with_it_proves_no_refusal(content):
    got = created(httpx.Response(400, content=content))
    assert got.names_id
    assert classify(got, "MTX-1").state == "UNKNOWN"


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b'"no"',
        b"<h1>No</h1>",
        b'{"merchant_txn_id": "MTX-1", "x": NaN}',
        b'{"booking_id" : null, "txn_id":null}',
        b'{"booking_id ": null, "txn_id": ""}',
        b'"{\\"booking_id\\": null}"',
    ],
)
def test_an_echo_and_ids_of_null_name_no_ride(content):
    assert classify(created(httpx.Response(400, content=content)), "MTX-1").state == "REJECTED"


@pytest.mark.parametrize("status", [200, 400, 401, 403, 409, 422, 429, 500, 503])
def test_create_never_raises_for_an_http_answer(status):
    refused = {"status": "FAILURE", "code": "BANNED USER", "message": "sorry"}
    got = created(httpx.Response(status, json=refused, headers={"Retry-After": "7"}))
    assert (got.http_status, got.readable, got.body.code, got.retry_after_s) == (
        status,
        True,
        "BANNED USER",
        7,
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b'"SUCCESS"',
        b"null",
        b'{"status":"SUCC',
        b"[" * 5000,
        b'{"booking_id":' + b"7" * 5000 + b"}",
        b'{"booking_id": NaN}',
        b'{"booking_id":"A","booking_id":"B"}',
        '{"status":"SUCCESS"}'.encode("utf-16"),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_create_gives_an_unreadable_answer_as_such_with_evidence(content):
    got = created(httpx.Response(200, content=content))
    assert (got.http_status, got.body, got.readable) == (200, None, False)
    assert len(got.evidence) <= 2048


def test_create_gives_a_body_above_the_cap_as_unreadable():
    got = created(httpx.Response(200, content=b"{" + b" " * (1 << 20) + b"}"))
    assert (got.http_status, got.readable) == (200, False)


NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)


def dated(at, **headers):
    headers["Date"] = format_datetime(at, usegmt=True)
    return httpx.Response(200, json=PRODUCTS, headers=headers)


def test_the_date_of_the_last_answer_says_by_how_much_a_clock_is_ahead():
    service = Service(dated(NOW - timedelta(minutes=3)))
    client = service.client()
    assert client.clock_ahead_s(NOW) is None
    client.products(PICKUP)
    assert client.clock_ahead_s(NOW) == 180
    service.now += 20
    assert client.clock_ahead_s(NOW) == 160, "the service's clock has gone on"
    service.now += DATE_LASTS_S
    assert client.clock_ahead_s(NOW) is None


@pytest.mark.parametrize(
    "headers", [{}, {"Date": "soon"}, {"Date": "Tue, 24 Nov 2026 12:00:00 GMT", "Age": "600"}]
)
def test_an_answer_without_a_date_or_out_of_a_cache_says_nothing_of_a_clock(headers):
    client = Service(httpx.Response(200, json=PRODUCTS, headers=headers)).client()
    client.products(PICKUP)
    assert client.clock_ahead_s(NOW) is None


def compressed(status, **headers):
    """An answer in an encoding that was not requested, as a proxy may send it."""
    body = gzip.compress(b'{"status": "SUCCESS", "booking_id": "C1"}')
    return httpx.Response(status, content=body, headers={"Content-Encoding": "gzip", **headers})


@pytest.mark.parametrize("status", [200, 400, 403, 404, 500])
def test_a_create_whose_answer_is_compressed_may_have_booked(status):
    got = created(compressed(status))
    assert (got.http_status, got.body, got.unread) == (status, None, True)
    assert classify(got, "rd-1").state == "UNKNOWN"


def test_of_a_compressed_401_or_429_the_status_counts():
    assert classify(created(compressed(401)), "rd-1").retry == "auth"
    limited = classify(created(compressed(429, **{"Retry-After": "7"})), "rd-1")
    assert (limited.retry, limited.retry_after_s) == ("rate", 7)
    with pytest.raises(Unauthorized):
        Service(compressed(401)).client().track_ride(TOKEN, booking_id="CRN1")
    with pytest.raises(RateLimited) as caught:
        Service(compressed(429, **{"Retry-After": "7"})).client().products(PICKUP)
    assert caught.value.retry_after_s == 7


def test_create_gives_a_body_with_a_strange_booking_id_as_unreadable():
    got = created({"status": "FAILURE", "code": "X", "booking_id": ["CRN1"]})
    assert (got.body.code, got.readable) == ("X", False)


@pytest.mark.parametrize(
    ("raised", "sent"), [(httpx.ConnectError, False), (httpx.ReadTimeout, True)]
)
def test_create_raises_no_answer_and_says_truly_whether_it_was_sent(raised, sent):
    service = Service(raised("boom"))
    with pytest.raises(NoAnswer) as caught:
        service.client().create_booking(ORDER, TOKEN)
    assert caught.value.sent is sent
    assert len(service.requests) == 1


# docs/booking-protocol.md 2; the answer to a create is awaited until the end of its lease, although
# its order is UNKNOWN after 20 s
TIMES_S = {
    "/v1/products": 4,
    "/v1.5/bookings/create": 60,
    "/v1/bookings/abort": 8,
    "/v1/bookings/drop_location": 8,
    "/v1/bookings/cancel": 8,
    "/v1/bookings/track_ride": 5,
    "/v1/bookings/feedback": 5,
    "/v1.5/bookings/feedback/options": 4,
}


class Stopwatch(Http):
    """Notes how long each call may take."""

    def __init__(self, service):
        super().__init__(httpx.MockTransport(service))
        self.times = []

    def call(self, request):
        self.times.append((request.connect_s, request.total_s))
        return super().call(request)


@pytest.mark.parametrize(("call", "method", "path", "body"), OPERATIONS)
def test_each_operation_has_two_seconds_to_connect_and_its_own_for_all(call, method, path, body):
    http = Stopwatch(Service(body))
    call(RideClient(http, BASE, APP_TOKEN))
    assert http.times == [(2, TIMES_S[path])]


def test_create_and_the_other_writes_use_a_connection_of_their_own():
    def behave(line, stop):
        line.sendall(answer(json.dumps(DONE).encode()))

    with Http() as http, serving(behave, keep=True) as server:
        client = RideClient(http, server.url, APP_TOKEN)
        client.track_ride(TOKEN, booking_id="CRN1")
        client.track_ride(TOKEN, booking_id="CRN1")
        assert server.connections == 1
        writes = [call for call, method, _, _ in OPERATIONS if method == "POST"]
        for number, call in enumerate(writes, 2):
            call(client)
            assert server.connections == number


# ---------------------------------------------------------------- other operations


@pytest.mark.parametrize(("call", "method", "path", "body"), WITHOUT_CREATE)
@pytest.mark.parametrize(
    ("given", "error"),
    [
        (httpx.Response(401), Unauthorized),
        (httpx.Response(200, json={"status": "FAILURE", "code": "NO_BOOKING"}), Refused),
    ],
)
def test_every_operation_raises_the_tree(call, method, path, body, given, error):
    with pytest.raises(error):
        call(Service(given).client())


@pytest.mark.parametrize(("call", "method", "path", "body"), WITHOUT_CREATE[1:-1])
@pytest.mark.parametrize(
    ("given", "error"),
    [
        (httpx.Response(429, headers={"Retry-After": "3"}), RateLimited),
        (httpx.Response(500), BadStatus),
        (httpx.Response(200, text="<html>"), Unreadable),
        (httpx.Response(200, json={}), Unreadable),
        (httpx.ReadTimeout("late"), NoAnswer),
    ],
)
def test_an_action_or_a_poll_is_tried_once(call, method, path, body, given, error):
    service = Service(given)
    with pytest.raises(error):
        call(service.client())
    assert len(service.requests) == 1


def test_a_refused_drop_change_carries_header_and_text():
    refused = {"status": "FAILURE", "header": "Invalid Drop Location", "Text ": "Another city"}
    with pytest.raises(Refused) as caught:
        Service(refused).client().update_drop_location("CRN1", DROP, TOKEN)
    assert (caught.value.code, caught.value.header, caught.value.text) == (
        None,
        "Invalid Drop Location",
        "Another city",
    )


def test_done_carries_the_services_words():
    done = Service(DONE).client().cancel_booking("CRN1", "x", TOKEN)
    assert (done.status, done.header, done.text) == ("SUCCESS", "SUCCESS", "It is done")


@pytest.mark.parametrize(
    "unclear", [httpx.ReadTimeout("late"), httpx.Response(502), httpx.Response(200, text="<html>")]
)
def test_products_are_requested_twice_with_a_short_pause(unclear):
    service = Service(unclear, PRODUCTS)
    assert service.client().products(PICKUP).product("mini")
    assert len(service.requests) == 2
    assert len(service.pauses) == 1
    assert 0.1 <= service.pauses[0] <= 0.3


def test_products_are_not_requested_a_third_time():
    service = Service(httpx.ReadTimeout("late"))
    with pytest.raises(NoAnswer):
        service.client().products(PICKUP)
    assert len(service.requests) == 2


@pytest.mark.parametrize(("after", "requests"), [(3.19, 2), (3.21, 1), (3.9, 1)])
def test_products_are_requested_again_if_half_a_second_is_left_for_it(after, requests):
    """Half a second of the four must be left after the longest pause."""
    service = Service(httpx.ReadTimeout("late"))
    clock = itertools.chain([0.0], itertools.repeat(after))
    http = Http(httpx.MockTransport(service))
    client = RideClient(
        http, BASE, APP_TOKEN, pause=service.pauses.append, monotonic=lambda: next(clock)
    )
    with pytest.raises(NoAnswer):
        client.products(PICKUP)
    assert len(service.requests) == requests


@pytest.mark.parametrize(
    "final",
    [httpx.Response(401), httpx.Response(429), {"status": "FAILURE", "code": "INVALID_CITY"}],
)
def test_a_clear_no_to_products_is_final(final):
    service = Service(final)
    with pytest.raises((BadStatus, Refused)):
        service.client().products(PICKUP)
    assert len(service.requests) == 1


def test_feedback_options_are_cached_for_a_day_by_category():
    service = Service(OPTIONS)
    client = service.client()
    assert client.feedback_options("mini", TOKEN).for_rating(1) == ("Late",)
    service.now = 23 * 3600
    client.feedback_options("mini", "another-users-token")
    assert len(service.requests) == 1
    client.feedback_options("rental", TOKEN, "micro")
    assert len(service.requests) == 2
    service.now = 25 * 3600
    client.feedback_options("mini", TOKEN)
    assert len(service.requests) == 3


def test_feedback_options_of_ever_more_categories_do_not_fill_the_memory():
    service = Service(OPTIONS)
    client = service.client()
    for n in range(100):
        client.feedback_options(f"c{n}", TOKEN)
    client.feedback_options("c0", TOKEN)
    assert len(service.requests) == 100, "a hundred are cached"
    client.feedback_options("one more", TOKEN)
    client.feedback_options("c0", TOKEN)
    assert len(service.requests) == 102, "the older ones were forgotten"


@pytest.mark.parametrize(
    "unclear",
    [
        httpx.ReadTimeout("late"),
        httpx.Response(500),
        httpx.Response(429),
        {"driver_feedback_options": {"9": ["x"]}},
        [],
    ],
)
def test_without_a_clear_answer_the_documented_options_are_used_and_not_cached(unclear):
    service = Service(unclear, unclear, OPTIONS)
    client = service.client()
    got = client.feedback_options("mini", TOKEN)
    assert got.from_document
    assert got.for_rating(5)[-1] == "Value for Money"
    service.now += 5  # a 429 that names no time stops all calls for a second or two
    client.feedback_options("mini", TOKEN)
    service.now += 5
    assert not client.feedback_options("mini", TOKEN).from_document


hostile = (
    st.binary(max_size=60)
    | st.sampled_from([b"[" * 5000, b"7" * 5000, b"NaN", "{}".encode("utf-16"), b"\xef\xbb\xbf{}"])
    | st.fixed_dictionaries(
        {},
        optional={
            name: st.none() | st.integers() | st.text(max_size=9) | st.lists(st.none(), max_size=2)
            for name in (
                "status",
                "code",
                "message",
                "booking_id",
                "booking_status",
                "categories",
                "Text ",
                "header",
            )
        },
    ).map(lambda body: json.dumps(body).encode())
)
http_statuses = st.sampled_from([200, 201, 204, 302, 400, 401, 404, 422, 429, 500, 503])


@given(hostile, http_statuses, st.sampled_from(OPERATIONS))
def test_no_body_raises_anything_but_the_tree_and_create_raises_nothing(content, status, operation):
    call, _, path, _ = operation
    try:
        call(Service(httpx.Response(status, content=content)).client())
    except ServiceError:
        assert path != "/v1.5/bookings/create"


# ---------------------------------------------------------------- secrets


def test_no_token_is_in_any_log_error_repr_or_result(caplog):
    caplog.set_level(logging.DEBUG)
    echo = {
        "status": "FAILURE",
        "code": f"X {APP_TOKEN}",
        "message": f"Bearer {TOKEN}",
        "text": TOKEN,
    }
    seen = []
    for body in (
        echo,
        httpx.Response(500, json=echo),
        httpx.Response(401, json=echo),
        httpx.ReadTimeout(TOKEN),
    ):
        for call in [
            *(call for call, *_ in OPERATIONS[1:]),
            lambda c: c.products(PICKUP, token=TOKEN),
        ]:
            client = Service(body).client()
            try:
                seen.append(repr(call(client)))
            except Exception as error:
                seen += [
                    repr(error),
                    str(error),
                    repr(vars(error)),
                    repr(error.__cause__),
                    repr(error.__context__),
                ]
            seen.append(repr(client))
    text = caplog.text + "".join(seen)
    assert TOKEN not in text
    assert APP_TOKEN not in text
