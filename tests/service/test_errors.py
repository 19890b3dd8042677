"""The error tree and its drawing; the names of codes; and the evidence that a log may show."""

import inspect
import json

import pytest

from ridedash import wire
from ridedash.observability.redaction import evidence
from ridedash.service import errors
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    ServiceError,
    Throttled,
    Unauthorized,
    Unreadable,
)


def test_every_error_has_the_base_and_stands_in_the_drawing():
    classes = [
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if each.__module__ == errors.__name__
    ]
    assert {
        NoAnswer,
        Throttled,
        BadStatus,
        Unauthorized,
        RateLimited,
        Refused,
        Unreadable,
        ServiceError,
    } == set(classes)
    for each in classes:
        assert issubclass(each, ServiceError)
        assert each.__name__ in errors.__doc__


def test_every_code_and_header_of_the_two_error_tables_has_a_name():
    named = {
        "INVALID_CAR_CATEGORY": wire.INVALID_CAR_CATEGORY,
        "INVALID_CITY": wire.INVALID_CITY,
        "SAME_PICKUP_DROP": wire.SAME_PICKUP_DROP,
        "BANNED USER": wire.BANNED_USER,
        "OUTSTANDING_DUE": wire.OUTSTANDING_DUE,
        "PAYMENT_PENDING": wire.PAYMENT_PENDING,
        "SVC_CREDIT_DUE": wire.SVC_CREDIT_DUE,
        "INVALID_DROP_LOCATION": wire.INVALID_DROP_LOCATION,
        "BOOKING_FAILED": wire.BOOKING_FAILED,
        "BOOKING_ALLOTED": wire.BOOKING_ALLOTED,
        "CANCELLATION_NOT_ALLOWED": wire.CANCELLATION_NOT_ALLOWED,
        "Invalid Drop Location": wire.HEADER_INVALID_DROP,
        "Oops!": wire.HEADER_OOPS,
    }
    assert all(literal == name for literal, name in named.items())


def test_evidence_is_short_printable_and_without_secrets():
    body = {
        "access_token": "aaaa.bbbb",
        "X-APP-TOKEN": "cccc",
        "driver_number": "+910000000000",
        "otp": {"start_trip": {"text": "tell", "value": "0412"}},
        "header": "Bearer dddd.eeee",
        "text": "call +91 98765 43210 \u202e now",
        "booking_id": "CRN7",
    }
    seen = evidence(json.dumps(body, ensure_ascii=False).encode() + b"\xff" * 9000)
    for secret in ("aaaa", "cccc", "0000000", "0412", "dddd", "98765", "\u202e"):
        assert secret not in seen
    assert "CRN7" in seen
    assert len(seen) <= 2048
    seen.encode("utf-8")


@pytest.mark.parametrize("unit", ['"otp":{', '"token" : ', '"', "+1 ", "Bearer ", '"otp" "'])
def test_evidence_of_hostile_bodies_is_made_at_once(unit):
    assert len(evidence((unit * 8192).encode())) <= 2048


def test_an_error_has_its_text_and_all_details_of_the_answer():
    bad = BadStatus(503, retry_after_s=7.0, code="X", message="later", evidence="{}")
    assert str(bad) == "HTTP 503, X"
    assert str(BadStatus(503)) == "HTTP 503"
    assert vars(bad) == {
        "status": 503,
        "retry_after_s": 7.0,
        "code": "X",
        "message": "later",
        "evidence": "{}",
    }
    odd = Unreadable(200, "too long", "{{")
    assert str(odd) == "unreadable answer: too long (HTTP 200)"
    assert vars(odd) == {"http_status": 200, "why": "too long", "evidence": "{{"}
    silent = NoAnswer("ConnectError", sent=False, cause="refused")
    assert str(silent) == "no answer (ConnectError), nothing was sent"
    assert str(NoAnswer("ReadTimeout", sent=True)) == "no answer (ReadTimeout), sent"
    assert vars(silent) == {"why": "ConnectError", "sent": False, "cause": "refused"}
    full = Throttled(Throttled.LIMITED, 3.0)
    assert (full.why, full.sent, full.wait_s) == ("limited", False, 3.0)


def test_a_refusal_is_named_by_the_first_of_its_words():
    words = {"reason": "r", "header": "h", "message": "m", "text": "t"}
    assert str(Refused("C", **words)) == "C"
    assert [str(Refused(**{name: words[name]})) for name in words] == ["r", "h", "m", "refused"]
    assert vars(Refused("C", **words)) == {"code": "C", **words, "http_status": 200}


@pytest.mark.parametrize(
    ("error", "limited"),
    [
        (RateLimited(429), True),
        (Throttled(Throttled.LIMITED, 1.0), True),
        (Throttled(Throttled.SILENT, 1.0), False),
        (NoAnswer("x", sent=True), False),
        (BadStatus(503), False),
    ],
)
def test_a_rate_limit_is_the_services_or_ours(error, limited):
    assert errors.is_rate_limited(error) is limited


@pytest.mark.parametrize(
    ("code", "of_caller"),
    [
        ("invalid_partner_key", True),
        ("INVALID PARTNER KEY", True),
        ("rate_limit", True),
        ("NO_BOOKING", False),
        (None, False),
    ],
)
def test_a_refusal_of_the_caller_says_nothing_of_a_booking(code, of_caller):
    assert Refused(code).is_of_caller is of_caller
