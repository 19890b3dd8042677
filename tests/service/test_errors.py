"""The error tree: one base, every class drawn; the names of codes, and what a log may show."""

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
