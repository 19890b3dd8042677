"""What an HTTP answer means, whatever its status: success, a refusal by its code, or neither."""

import json

import pytest

from ridedash.service import responses
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    Throttled,
    Unauthorized,
    Unreadable,
)
from ridedash.service.throttle.traffic import Result
from ridedash.service.transport.http import Answer


def wire_answer(body, status=200, **headers):
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, sent)


@pytest.mark.parametrize(
    "code",
    [
        "INVALID_CAR_CATEGORY",
        "INVALID_CITY",
        "SAME_PICKUP_DROP",
        "BANNED USER",
        "OUTSTANDING_DUE",
        "PAYMENT_PENDING",
        "SVC_CREDIT_DUE",
        "INVALID_DROP_LOCATION",
        "BOOKING_ALLOTED",
        "CANCELLATION_NOT_ALLOWED",
        "BOOKING_ALREADY_CANCELLED",
        "RIDE_IN_PROGRESS",
        "BOOKING_ALREADY_COMPLETED",
        "NO_CABS_AVAILABLE",
        "INVALID_CITY_CAR_CATEGORY",
        "invalid_partner_key",
        "rate_limit",
        "NO_BOOKING",
        "banned_user",
    ],
)
@pytest.mark.parametrize("status", [200, 400, 422, 500])
def test_every_known_code_is_a_refusal_with_any_http_status(code, status):
    assert responses.is_known_code(code)
    with pytest.raises(Refused) as caught:
        responses.object_of(wire_answer({"message": "sorry", "code": code}, status))
    assert (caught.value.code, caught.value.message) == (code, "sorry")


def test_a_refusal_of_cancel_carries_reason_header_and_text():
    body = {
        "status": "FAILURE",
        "request_type": "BOOKING_CANCEL",
        "reason": "CANCELLATION_NOT_ALLOWED",
        "header": "Oops!",
        "text": "The ride can't be cancelled now",
    }
    with pytest.raises(Refused) as caught:
        responses.success_of(wire_answer(body))
    error = caught.value
    assert (error.code, error.reason, error.header, error.text) == (
        None,
        "CANCELLATION_NOT_ALLOWED",
        "Oops!",
        "The ride can't be cancelled now",
    )


@pytest.mark.parametrize("more", [{}, {"status": "FAILURE"}])
def test_a_401_that_names_the_partners_key_says_nothing_about_the_users_token(more):
    with pytest.raises(Refused) as caught:
        responses.object_of(wire_answer({"code": "INVALID_PARTNER_KEY", **more}, 401))
    assert (caught.value.code, caught.value.http_status) == ("INVALID_PARTNER_KEY", 401)


def test_an_unlisted_code_refuses_but_not_out_of_a_gateway():
    with pytest.raises(Refused):
        responses.object_of(wire_answer({"message": "no", "code": "NEW_ONE"}, 409))
    with pytest.raises(BadStatus) as caught:
        responses.object_of(wire_answer({"message": "upstream", "code": "GW12"}, 502))
    assert (caught.value.status, caught.value.code) == (502, "GW12")


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"code": "invalid_token", "message": "no"}, 401, Unauthorized),
        (b"<html>", 401, Unauthorized),
        ({"status": "FAILURE", "code": "rate_limit"}, 429, RateLimited),
        (b"", 429, RateLimited),
        (b"<html>", 500, BadStatus),
        ({"message": "boom"}, 503, BadStatus),
        ({"status": "SUCCESS"}, 500, BadStatus),
        (b"", 302, BadStatus),
        (b"", 404, BadStatus),
        (b"<html>", 200, Unreadable),
        (b"", 204, Unreadable),
        ([], 200, Unreadable),
        ("SUCCESS", 200, Unreadable),
        ({}, 200, Unreadable),
        ({"status": "MAYBE"}, 200, Unreadable),
        ({"status": ["SUCCESS"]}, 200, Unreadable),
    ],
)
def test_what_is_neither_success_nor_refusal(body, status, error):
    with pytest.raises(error) as caught:
        responses.success_of(wire_answer(body, status))
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("body", "status", "result"),
    [
        (b'{"status": "SUCC', 200, Result.ANSWERED),  # the body is read later, if at all
        (b"<html>", 200, Result.FAILED),
        (b"", 204, Result.FAILED),
        (b"", 404, Result.ANSWERED),
        (b"", 429, Result.LIMITED),
        (b"{}", 302, Result.FAILED),
        ({"status": "SUCCESS"}, 500, Result.FAILED),
        ({"message": "no", "code": "INVALID_CITY"}, 500, Result.ANSWERED),
    ],
)
def test_whether_the_service_answers_at_all(body, status, result):
    assert responses.result_of(wire_answer(body, status)) is result


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ("12", 12),
        ("0", 1),
        ("1000000000", 300),
        ("9" * 400, 300),
        ("Sat, 21 Nov 2026 10:00:30 GMT", 30),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 1),
        ("Sat, 21 Nov 2036 09:00:00 GMT", 300),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_held_between_1_and_300(sent, seconds):
    answer = wire_answer({}, 429, retry_after=sent, date="Sat, 21 Nov 2026 10:00:00 GMT")
    assert responses.retry_after_s(answer) == seconds
    assert responses.bad_status(answer, {}).retry_after_s == seconds


def test_a_retry_after_date_without_the_answers_own_date_is_none():
    assert (
        responses.retry_after_s(wire_answer({}, 429, retry_after="Sat, 21 Nov 2026 10:00:30 GMT"))
        is None
    )


@pytest.mark.parametrize(("status", "error"), [(299, None), (300, BadStatus), (199, BadStatus)])
def test_a_success_has_an_http_status_of_success(status, error):
    answered = wire_answer({"status": "SUCCESS"}, status)
    if error is None:
        assert responses.success_of(answered) == {"status": "SUCCESS"}
    else:
        with pytest.raises(error):
            responses.success_of(answered)
    expected = Result.FAILED if error else Result.ANSWERED
    assert responses.result_of(answered) is expected


@pytest.mark.parametrize(("status", "error"), [(499, Refused), (500, BadStatus)])
def test_an_unlisted_code_counts_up_to_the_errors_of_a_gateway(status, error):
    answered = wire_answer({"message": "no", "code": "NEW_ONE"}, status)
    with pytest.raises(error):
        responses.object_of(answered)
    expected = Result.ANSWERED if error is Refused else Result.FAILED
    assert responses.result_of(answered) is expected
    assert not responses.is_known_code("NEW_ONE")
    assert not responses.is_known_code(None)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"booking_id": "C1"}', True),
        (b'{"Booking_ID":"C1', True),
        (b"{'txn_id': 1", True),
        ('{"booking_id": "C1"}'.encode("utf-16"), True),
        (b'{"booking_id": null, "txn_id": ""}', False),
        (b'{"merchant_txn_id": "RD-1"}', False),
        (b"", False),
    ],
)
def test_a_body_names_the_id_of_a_ride_also_when_it_is_torn(body, named):
    assert responses.names_an_id(wire_answer(body)) is named


@pytest.mark.parametrize(
    ("ended", "label"),
    [
        (wire_answer({}, 200), "2xx"),
        (wire_answer({}, 299), "2xx"),
        (wire_answer({}, 401), "401"),
        (wire_answer({}, 404), "4xx"),
        (wire_answer({}, 429), "429"),
        (wire_answer({}, 503), "5xx"),
        (Throttled(Throttled.SILENT, 1.0), "held"),
        (NoAnswer("x", sent=True), "unanswered"),
        (NoAnswer("x", sent=False), "not_sent"),
        (Answer(200, {}, b"", "in a content encoding"), "unreadable"),
        (Answer(401, {}, b"", "in a content encoding"), "401"),
    ],
)
def test_how_a_call_ended_is_a_short_label(ended, label):
    assert responses.outcome_of(ended) == label


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (NoAnswer("ConnectError", sent=False), Result.FAILED),
        (NoAnswer("LocalProtocolError", sent=False), Result.VOID),
        (NoAnswer("ReadTimeout", sent=True), Result.FAILED),
        (NoAnswer("LocalProtocolError", sent=True), Result.FAILED),
    ],
)
def test_a_request_that_could_not_be_built_is_our_own_failure(error, result):
    assert responses.result_of_error(error) is result


def test_a_bad_status_keeps_what_the_body_says():
    answered = wire_answer({"code": "C", "message": "m"}, 503, retry_after="12")
    error = responses.bad_status(answered, {"code": "C", "message": "m"})
    assert type(error) is BadStatus
    assert (error.status, error.code, error.message, error.retry_after_s) == (503, "C", "m", 12)
    assert error.evidence == answered.evidence != ""
