"""Every answer to random input is a JSON object, never a traceback or a web page."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.sandbox_desk import Desk, far_drop

POSTS = (
    "/v1.5/bookings/create",
    "/v1/bookings/abort",
    "/v1/bookings/drop_location",
    "/v1/bookings/cancel",
    "/v1/bookings/feedback",
)
GETS = ("/v1/bookings/track_ride", "/v1/products", "/v1.5/bookings/feedback/options")
NAMES = (
    "pickup_lat",
    "pickup_lng",
    "drop_lat",
    "drop_lng",
    "category",
    "pickup_mode",
    "payment_instrument_type",
    "fare_id",
    "affiliate_uid",
    "coupon_code",
    "merchant_txn_id",
    "seats",
    "retry",
    "booking_id",
    "reason",
    "rating",
    "feedback",
    "comments",
    "txn_id",
    "sub_category",
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(
        ["now", "mini", "share", "auto", "suv", "rental", -38.507015, -128.010112, 1, 2, 0]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)
BODIES = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), VALUES, max_size=12)


@pytest.fixture(scope="module")
def desk():
    with tempfile.TemporaryDirectory() as folder:
        made = Desk(Path(folder))
        yield made
        made.close()


def checked_body(answer):
    assert answer.mimetype == "application/json"
    body = json.loads(answer.data, parse_constant=refuse)
    assert isinstance(body, dict)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text
    return body


def refuse(name):
    raise AssertionError(f"{name} in an answer")


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(POSTS), body=BODIES)
def test_any_object_as_a_body_is_answered_in_json(desk, path, body):
    checked_body(
        desk.web.post(
            path, data=json.dumps(body), headers=desk.headers, content_type="application/json"
        )
    )


@settings(max_examples=120, deadline=None)
@given(
    path=st.sampled_from(POSTS),
    body=st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()),
)
def test_any_bytes_as_a_body_are_answered_in_json(desk, path, body):
    checked_body(
        desk.web.post(path, data=body, headers=desk.headers, content_type="application/json")
    )


@settings(max_examples=150, deadline=None)
@given(change=BODIES)
def test_a_valid_payload_with_random_changes_is_booked_or_refused_in_json(desk, change):
    body = desk.payload("suv", drop=far_drop()) | change
    answer = desk.web.post("/v1.5/bookings/create", data=json.dumps(body), headers=desk.headers)
    read = checked_body(answer)
    assert read.get("status") in ("SUCCESS", "FAILURE") or read["message"] == "BOOKING_FAILED"


@settings(max_examples=120, deadline=None)
@given(
    path=st.sampled_from(GETS),
    query=st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30), max_size=6),
)
def test_any_query_is_answered_in_json(desk, path, query):
    checked_body(desk.web.get(path, query_string=query, headers=desk.headers))


@settings(max_examples=60, deadline=None)
@given(fare_id=st.text(max_size=120) | st.binary(max_size=60).map(lambda raw: raw.hex()))
def test_no_random_fare_id_is_accepted(desk, fare_id):
    body = desk.payload("mini") | {"fare_id": fare_id}
    answer = desk.web.post("/v1.5/bookings/create", data=json.dumps(body), headers=desk.headers)
    assert checked_body(answer)["status"] == "FAILURE"


@settings(max_examples=60, deadline=None)
@given(
    token=st.text(
        alphabet=st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"),
        max_size=40,
    )
)
def test_any_header_value_is_refused_in_json(desk, token):
    for headers in ({"X-APP-TOKEN": token}, desk.headers | {"Authorization": token}):
        answer = desk.web.get(
            "/v1/bookings/track_ride", query_string={"booking_id": "PT1"}, headers=headers
        )
        assert answer.status_code in (401, 403)
        checked_body(answer)
