"""What each answer to a create proves about its order."""

import itertools

import pytest

from ridedash.rides.state.outcome import classify
from ridedash.service.errors import NoAnswer, Throttled, Unreadable
from ridedash.service.types.bookings import CreateAnswer, CreateBody
from ridedash.store.models.orders import OrderState

MTX = "RD-TEST-1"
CODES = [
    "INVALID_CAR_CATEGORY",
    "INVALID_CITY",
    "SAME_PICKUP_DROP",
    "BANNED USER",
    "OUTSTANDING_DUE",
    "PAYMENT_PENDING",
    "SVC_CREDIT_DUE",
    "INVALID_DROP_LOCATION",
    "NO_CABS_AVAILABLE",
    "INVALID_CITY_CAR_CATEGORY",
    "invalid_partner_key",
]


def answer(http: int, readable: bool = True, **body: object) -> CreateAnswer:
    return CreateAnswer(
        http_status=http, body=CreateBody(**body) if body else None, readable=readable
    )


@pytest.mark.parametrize(("code", "http"), list(itertools.product(CODES, [200, 400, 422, 500])))
def test_every_code_is_a_refusal_whatever_the_http_status_and_with_or_without_a_status(
    code: str, http: int
) -> None:
    for body in (
        {"status": "FAILURE", "code": code},
        {"code": code, "message": "BOOKING_FAILED"},
        {"code": code},
    ):
        outcome = classify(answer(http, **body), MTX)
        assert (outcome.state, outcome.code) == (OrderState.REJECTED, code)


@pytest.mark.parametrize("http", [200, 400, 422, 500])
def test_a_failure_without_a_code_or_with_an_unlisted_one_is_a_refusal(http: int) -> None:
    assert (
        classify(answer(http, status="FAILURE", message="No cabs that way"), MTX).state
        == "REJECTED"
    )
    outcome = classify(answer(http, status="FAILURE", code="SOLAR_FLARE", message="Try later"), MTX)
    assert (outcome.state, outcome.code, outcome.message) == (
        "REJECTED",
        "SOLAR_FLARE",
        "Try later",
    )


@pytest.mark.parametrize("http", [200, 400, 422, 500])
def test_a_refusal_that_carries_an_id_is_a_contradiction_and_an_alarm(http: int) -> None:
    for ids in ({"booking_id": "C1"}, {"txn_id": "T1"}):
        outcome = classify(answer(http, status="FAILURE", code="INVALID_CITY", **ids), MTX)
        assert (outcome.state, outcome.alarm) == ("UNKNOWN", True)
        assert (outcome.booking_id, outcome.txn_id) == (None, None)
        assert outcome.named in ids.values(), "staff ask the service about it"


@pytest.mark.parametrize("http", [200, 201, 202])
def test_success_with_a_booking_id_is_booked_when_the_echo_is_ours_or_absent(http: int) -> None:
    for echo in (None, MTX):
        outcome = classify(
            answer(http, status="SUCCESS", booking_id="C1", merchant_txn_id=echo), MTX
        )
        assert (outcome.state, outcome.booking_id) == ("BOOKED", "C1")


@pytest.mark.parametrize("http", [200, 201, 202])
def test_success_with_only_a_txn_id_is_matching(http: int) -> None:
    outcome = classify(
        answer(http, status="SUCCESS", txn_id="T1", retry_timeout_s=180, next_retry_time="14:02"),
        MTX,
    )
    assert (outcome.state, outcome.txn_id, outcome.booking_timeout_s) == ("MATCHING", "T1", 180)


@pytest.mark.parametrize("http", [200, 400, 422, 500])
def test_another_echo_is_never_believed(http: int) -> None:
    for body in (
        {"status": "SUCCESS", "booking_id": "C1"},
        {"status": "FAILURE", "code": "INVALID_CITY"},
    ):
        outcome = classify(answer(http, merchant_txn_id="RD-OTHER", **body), MTX)
        assert (outcome.state, outcome.alarm, outcome.booking_id) == ("UNKNOWN", True, None)


def test_success_without_any_id_is_unknown_and_an_alarm() -> None:
    outcome = classify(answer(200, status="SUCCESS"), MTX)
    assert (outcome.state, outcome.alarm) == ("UNKNOWN", True)


@pytest.mark.parametrize("http", [300, 302, 400, 404, 409, 500, 503])
def test_success_under_an_http_status_that_is_no_success_is_unknown(http: int) -> None:
    assert classify(answer(http, status="SUCCESS", booking_id="C1"), MTX).state == "UNKNOWN"


@pytest.mark.parametrize("http", [400, 403, 404, 405, 413, 415, 422])
def test_a_refusal_without_a_body_of_the_service_is_rejected(http: int) -> None:
    outcome = classify(answer(http, readable=False), MTX)
    assert (outcome.state, outcome.code) == ("REJECTED", f"HTTP_{http}")


@pytest.mark.parametrize("http", [400, 403, 404, 405, 413, 415, 422])
def test_a_status_of_refusal_with_an_unreadable_body_proves_nothing(http: int) -> None:
    """A body that is too long, in an unrequested encoding, or torn after an id may say SUCCESS."""
    assert classify(CreateAnswer(http_status=http, unread=True), MTX).state == "UNKNOWN"
    assert classify(CreateAnswer(http_status=http, names_id=True), MTX).state == "UNKNOWN"
    assert classify(CreateAnswer(http_status=http, evidence="<h1>No</h1>"), MTX).state == "REJECTED"


@pytest.mark.parametrize(
    "http", [100, 200, 204, 301, 302, 307, 402, 406, 408, 409, 410, 418, 425, 500, 502, 503, 504]
)
def test_any_other_wordless_answer_is_unknown(http: int) -> None:
    assert classify(answer(http, readable=False), MTX).state == "UNKNOWN"


def test_a_message_alone_or_a_strange_status_proves_nothing() -> None:
    assert classify(answer(200, message="hello"), MTX).state == "UNKNOWN"
    assert classify(answer(200, code="SOMETHING_NEW"), MTX).state == "UNKNOWN"
    assert classify(answer(200, status="PARTIAL", booking_id="C1"), MTX).state == "UNKNOWN"
    assert classify(answer(500, code="SOMETHING_NEW"), MTX).state == "UNKNOWN"


@pytest.mark.parametrize("http", [401, 429])
def test_a_401_or_429_that_names_a_ride_is_not_sent_again(http: int) -> None:
    answered = CreateAnswer(
        http_status=http,
        readable=True,
        names_id=True,
        body=CreateBody(status="SUCCESS", booking_id="C1"),
    )
    assert (
        classify(answered, MTX).state,
        classify(answered, MTX).retry,
        classify(answered, MTX).alarm,
    ) == (
        "UNKNOWN",
        "",
        True,
    )


def test_401_and_429_are_not_sent_and_may_be_tried_once_more() -> None:
    assert (
        classify(answer(401, status="FAILURE"), MTX).state,
        classify(answer(401), MTX).retry,
    ) == (
        "NOT_SENT",
        "auth",
    )
    limited = classify(CreateAnswer(http_status=429, retry_after_s=7), MTX)
    assert (limited.state, limited.retry, limited.retry_after_s) == ("NOT_SENT", "rate", 7)


@pytest.mark.parametrize(("http", "retry"), [(401, "auth"), (429, "rate")])
def test_of_a_401_or_429_whose_body_can_not_be_read_the_status_counts(
    http: int, retry: str
) -> None:
    outcome = classify(CreateAnswer(http_status=http, unread=True), MTX)
    assert (outcome.state, outcome.retry) == ("NOT_SENT", retry)


def test_a_401_for_the_partners_key_is_a_refusal_and_no_reason_to_link_an_account() -> None:
    for more in ({}, {"status": "FAILURE"}):
        outcome = classify(answer(401, code="invalid_partner_key", **more), MTX)
        assert (outcome.state, outcome.retry, outcome.code) == (
            "REJECTED",
            "",
            "invalid_partner_key",
        )


def test_only_proof_that_no_byte_left_makes_an_error_not_sent() -> None:
    assert classify(NoAnswer("ConnectError", sent=False), MTX).state == "NOT_SENT"
    for error in (
        NoAnswer("ReadTimeout", sent=True),
        Unreadable(200, "too long"),
        RuntimeError("x"),
    ):
        assert classify(error, MTX).state == "UNKNOWN"


def test_an_unreadable_success_is_never_booked() -> None:
    assert (
        classify(answer(200, readable=False, status="SUCCESS", booking_id="C1"), MTX).state
        == "UNKNOWN"
    )


def test_our_own_limit_is_no_call_and_may_be_tried_once_more_after_its_wait() -> None:
    limited = classify(Throttled(Throttled.LIMITED, 7.0), MTX)
    assert (limited.state, limited.retry, limited.retry_after_s) == ("NOT_SENT", "rate", 7.0)
    assert limited.code == "RATE_LIMITED"
    silent = classify(Throttled(Throttled.SILENT, 7.0), MTX)
    assert (silent.state, silent.retry, silent.code) == ("NOT_SENT", "", "NO_CONNECTION")


def test_a_torn_body_of_the_service_is_no_refusal_and_a_whole_one_is() -> None:
    for readable, state in ((False, "UNKNOWN"), (True, "REJECTED")):
        assert classify(answer(400, readable, merchant_txn_id=MTX), MTX).state == state


def test_a_success_that_can_not_be_believed_is_an_alarm() -> None:
    for http, readable in ((300, True), (200, False)):
        outcome = classify(
            answer(http, readable, status="SUCCESS", booking_id="C1", message="ok"), MTX
        )
        assert (outcome.state, outcome.code, outcome.message) == ("UNKNOWN", "UNCLEAR", "ok")
        assert outcome.alarm


def test_a_search_lasts_as_long_as_its_retries_or_else_its_booking() -> None:
    for facts, seconds in (
        ({"booking_timeout_s": 240}, 240),
        ({"booking_timeout_s": 240, "retry_timeout_s": 180}, 180),
    ):
        found = classify(answer(200, status="SUCCESS", txn_id="T1", **facts), MTX)
        assert (found.booking_timeout_s, found.code) == (seconds, None)


def test_a_torn_refusal_is_a_contradiction() -> None:
    torn = classify(answer(400, False, status="FAILURE", code="INVALID_CITY"), MTX)
    assert (torn.state, torn.code, torn.alarm) == ("UNKNOWN", "CONTRADICTION", True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"message": "m", "text": "t", "header": "h"}, "h – m – t"),
        ({"text": "t", "header": "h"}, "h – t"),
        ({"text": "t", "message": "t", "header": "Failure"}, "t"),
        ({"header": "h"}, "h"),
        ({}, None),
    ],
)
def test_a_refusal_keeps_the_services_words(words: dict[str, str], message: str | None) -> None:
    assert classify(answer(200, status="FAILURE", **words), MTX).message == message


@pytest.mark.parametrize(
    ("http", "body", "state", "code"),
    [
        (200, {"message": "booking failed"}, "REJECTED", None),
        (400, {"message": "hello"}, "REJECTED", "HTTP_400"),
        (400, {"code": "SOMETHING_NEW", "message": "hello"}, "REJECTED", "SOMETHING_NEW"),
        (400, {"code": "SUCCESS"}, "UNKNOWN", "UNCLEAR"),
        (400, {"status": "PARTIAL", "message": "hello"}, "UNKNOWN", "UNCLEAR"),
        (200, {"status": "PARTIAL", "code": "INVALID_CITY"}, "UNKNOWN", "UNCLEAR"),
    ],
)
def test_words_without_a_status_are_a_refusal_where_the_code_or_the_http_status_is_one(
    http: int, body: dict[str, str], state: str, code: str | None
) -> None:
    outcome = classify(answer(http, **body), MTX)
    assert (outcome.state, outcome.code) == (state, code)
    if "message" in body:
        assert outcome.message == body["message"]


def test_a_refusal_by_the_http_status_alone_names_no_ride() -> None:
    answered = CreateAnswer(
        http_status=400, body=CreateBody(message="hello"), readable=True, names_id=True
    )
    assert classify(answered, MTX).state == "UNKNOWN"


def test_the_answer_is_stored_with_what_it_proves() -> None:
    answered = CreateAnswer(http_status=404, evidence="<h1>No</h1>")
    outcome = classify(answered, MTX)
    assert (outcome.http_status, outcome.evidence) == (404, "<h1>No</h1>")
    assert (outcome.retry, outcome.alarm) == ("", False)
